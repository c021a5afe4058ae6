"""Sessions that other agents wrote, and what was really said and done in them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from minutebook.model import Session, Text, Thinking, ToolCall
from minutebook.sources.base import Transcript, read_session
from minutebook.sources.library import Library, open_transcript
from minutebook.sources.registry import SOURCES
from tests.conftest import CORPUS

AGENTS = CORPUS / "agents"
# Variables that move an agent's folder elsewhere.
MOVED = (
    *(
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
        "CODEX_SQLITE_HOME",
        "XDG_DATA_HOME",
        "OPENCODE_DB",
        "GEMINI_CLI_HOME",
    ),
    *("COPILOT_HOME", "PI_CODING_AGENT_DIR", "PI_CODING_AGENT_SESSION_DIR"),
    *("QWEN_HOME", "QWEN_RUNTIME_DIR"),
)


def programs() -> list[str]:
    """Agents that can be read and that there are samples of."""
    return [s.program for s in SOURCES.values() if (AGENTS / s.program).is_dir()]


def expectations() -> list[Path]:
    return [path for name in programs() for path in sorted((AGENTS / name).glob("*/expected.json"))]


def homes(program: str) -> list[Path]:
    """Folders laid out as on a real machine."""
    return sorted(path for path in (AGENTS / program).glob("**/home") if path.is_dir())


@cache
def found(place: Path) -> list[Transcript]:
    return Library([place]).transcripts


def all_samples() -> Iterator[Transcript]:
    """Every session of every agent's samples, driven and public."""
    for program in programs():
        yield from in_folder(AGENTS / program)


def in_folder(folder: Path) -> list[Transcript]:
    """Whatever sessions there are below a folder; each once."""
    known: dict[str, Transcript] = {}
    for place in [folder, *(path for path in sorted(folder.rglob("*")) if path.is_dir())]:
        for source in SOURCES.values():
            if source.claims(place):
                for transcript in source.discover([place])[0]:
                    known.setdefault(transcript.location, transcript)
    return list(known.values())


def read(transcript: Transcript) -> Session:
    return read_session(open_transcript(transcript))


def expected(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def told(session: Session) -> list[dict[str, Any]]:
    """A session in the words of expected.json: prompts, and what the model said and did."""
    turns: list[dict[str, Any]] = []
    for round in session.rounds:
        if round.prompt is not None:
            turns.append({"prompt": round.prompt.said, "events": []})
        events = turns[-1]["events"] if turns else []
        for message in round.replies:
            for block in message.blocks:
                if isinstance(block, Thinking) and block.text:
                    events.append({"type": "reasoning", "text": block.text})
                elif isinstance(block, Text):
                    events.append({"type": "text", "text": block.text})
                elif isinstance(block, ToolCall):
                    events.append({"type": "call", "call": block})
    return turns
