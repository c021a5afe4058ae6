"""The real CLI resumes what we export, and sends the whole conversation (OPS-13).

Needs ``CLAUDE_BIN`` (``make resume`` installs the CLI into a scratch folder) and the corpus.
The CLI talks to a loopback stub; nothing leaves the machine.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from minutebook.archive import Archive, open_archive
from minutebook.archive.session import OpenSession
from minutebook.model import ResultPart, Text
from minutebook.sources.base import Transcript
from minutebook.verbs.export import Exported, export_operated, export_session
from minutebook.verbs.inscribe import inscribe
from minutebook.verbs.surgery import (
    Operated,
    compressed_engagement,
    full_after,
    merged,
    only_engagement,
    split,
)
from tests.conftest import CORPUS, corpus_sessions, needs_corpus, short
from tests.programs.samples import AGENTS, in_folder, programs

CLAUDE = "claude-code"
BIN = os.environ.get("CLAUDE_BIN", "")
pytestmark = [
    needs_corpus,
    pytest.mark.claude,
    pytest.mark.skipif(not BIN, reason="needs the real CLI: set CLAUDE_BIN, or `make resume`"),
]

SESSIONS = [
    *sorted(corpus_sessions("claude/projects/*/*.jsonl"), key=lambda p: p.stat().st_size)[4:30],
    *corpus_sessions("cli-versions/*/projects/*/*.jsonl"),
]


@pytest.fixture(scope="module")
def tools() -> ModuleType:
    """``shared/tools/resume_check.py``: the stub, the way to call the CLI, and `norm`."""
    path = CORPUS.parent / "tools" / "resume_check.py"
    spec = importlib.util.spec_from_file_location("resume_check", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["resume_check"] = module
    spec.loader.exec_module(module)
    return module


# What the CLI rewrites when it loads a transcript, and what it puts behind an unfinished end.
REWORDED = ("<task-notification>", "[Request interrupted", "<system-reminder>")
REFERENCES_REMOVED = [
    {"type": "text", "text": "[Tool references removed - tool search not enabled]"}
]
ADDED = ("No response requested.", "Continue from where you left off.")


def api_messages(path: Path) -> list[dict[str, Any]]:
    """What the export holds for the API, from the last compaction on."""
    messages: list[dict[str, Any]] = []
    for line in path.read_text("utf-8").split("\n"):
        record = json.loads(line) if line else {}
        if record.get("parentUuid", "") is None:
            messages = []  # the CLI sends what follows the last cut
        if record.get("subtype") == "local_command":  # sent as if the user had said it
            content = [{"type": "text", "text": record["content"]}]
            messages.append({"role": "user", "content": content, "id": None})
        if record.get("type") not in ("user", "assistant"):
            continue
        message = record["message"]
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
        key = message.get("id")
        if messages and key is not None and messages[-1].get("id") == key:
            messages[-1]["content"] += blocks
        else:
            messages.append({"role": message["role"], "content": blocks, "id": key})
    return messages


def comparable(messages: list[dict[str, Any]], *, one_model: bool = True) -> list[dict[str, Any]]:
    """Without what the CLI itself adds, drops or rewords on every resume.

    Of several models it sends only one's thinking: signatures are a model's own.
    """
    out: list[dict[str, Any]] = []
    answered = {
        block["tool_use_id"]
        for message in messages
        for block in message["content"]
        if block["type"] == "tool_result"
    }
    for message in messages:
        blocks = []
        for block in message["content"]:
            if block["type"] == "text":
                words = block["text"].strip()
                if not words or words.startswith(REWORDED) or words in ADDED:
                    continue
                block = {"type": "text", "text": words}
            elif block["type"] == "tool_use":
                if block["id"] not in answered:
                    continue  # the CLI drops a call that was never answered
                block = {**block, "input": block["input"] or {}}
            elif block["type"] == "tool_result" and isinstance(block.get("content"), str):
                block = {**block, "content": block["content"].strip()}
            elif block["type"] == "tool_result" and "tool_reference" in str(block):
                block = {**block, "content": REFERENCES_REMOVED}  # no tool search here
            elif block["type"] == "thinking" and not one_model:
                continue
            blocks.append(block)
        if blocks and out and out[-1]["role"] == message["role"]:
            out[-1]["content"] += blocks
        elif blocks:
            out.append({"role": message["role"], "content": blocks})
    return out


@pytest.mark.parametrize("source", SESSIONS, ids=short)
def test_the_real_cli_gets_the_whole_conversation(
    source: Path, tmp_path: Path, tools: ModuleType
) -> None:
    """OPS-13: inscribed, exported, resumed: every message reaches the model."""
    archive = open_archive(tmp_path / "archive", [source], create=True)
    report = inscribe(archive, ended=True)
    assert report.sessions[0].outcome == "new"
    home, cwd = home_of(tmp_path)
    (session_id,) = archive.ledger().sessions
    exported = export_session(archive, session_id, CLAUDE, root=home / ".claude", cwd=str(cwd))
    assert_resumes(exported, home, cwd, tools)


OTHERS = [
    transcript
    for program in programs()
    for transcript in in_folder(AGENTS / program)
    if "public" not in str(transcript.path)
]


@pytest.mark.parametrize("source", OTHERS, ids=lambda t: f"{t.source}-{t.session_id}")
def test_a_session_of_another_agent_goes_on_in_claude(
    source: Transcript, tmp_path: Path, tools: ModuleType
) -> None:
    """AGT-06, OPS-13: whatever agent it is of, its whole conversation reaches the model."""
    archive = open_archive(tmp_path / "archive", [source.path], create=True)
    inscribe(archive, ended=True)
    home, cwd = home_of(tmp_path)
    exported = export_session(
        archive, source.session_id, CLAUDE, root=home / ".claude", cwd=str(cwd)
    )
    sent = assert_resumes(exported, home, cwd, tools)
    rounds = list(archive.open(source.session_id).stored_rounds())
    cuts = [round.number for round in rounds if round.compactions]
    for round in rounds[cuts[-1] if cuts else 0 :]:  # what was compacted is sent as its summary
        said = [round.prompt.said] if round.prompt else []
        answers = [m.text for m in round.replies if m.text]
        results = [
            part.text if isinstance(part, Text) else ""
            for call in round.calls
            if call.result is not None
            for part in _parts(call.result.content)
        ]
        for text in (*said, *answers, *results):
            assert json.dumps(text.strip()[:60])[1:-1] in sent
        assert [call.name for call in round.calls if f'"{call.name}"' not in sent] == []


def _parts(content: str | tuple[ResultPart, ...]) -> tuple[ResultPart, ...]:
    return (Text(content),) if isinstance(content, str) else content


def home_of(tmp_path: Path) -> tuple[Path, Path]:
    """A home of one's own, and a project in it."""
    home = (tmp_path / "home").resolve()
    cwd = home / "proj"
    cwd.mkdir(parents=True, exist_ok=True)
    return home, cwd


def assert_resumes(exported: Exported, home: Path, cwd: Path, tools: ModuleType) -> str:
    """The CLI takes the file, sends all of it and leaves it alone; what it sent, as text."""
    held = api_messages(exported.path)
    models = set(re.findall(r'"model":"([^"]+)"', exported.path.read_text("utf-8")))
    one_model = len(models - {"<synthetic>"}) < 2
    expected = comparable(tools.norm(held), one_model=one_model)
    before = exported.path.read_bytes()
    with tools.Stub() as stub:
        ran = tools.claude(
            str(home), str(cwd), stub.port, "-p", "--resume", exported.session_id,
            "--no-session-persistence", "NEXT-PROMPT",
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr
        assert "Resume transcript" not in ran.stderr  # the CLI names broken chains there
        sent = stub.last()["messages"]
        got = comparable(tools.norm(sent), one_model=one_model)
    assert got[-1]["content"].pop()["text"] == "NEXT-PROMPT"
    if not got[-1]["content"]:
        got.pop()
    assert exported.path.read_bytes() == before
    assert [m["role"] for m in got] == [m["role"] for m in expected]
    for said, wanted in zip(got, expected, strict=True):
        assert said["content"] == wanted["content"]
    return json.dumps(sent)


# -- surgery (OPS-17)

OPERATED = sorted(corpus_sessions("claude/projects/*/*.jsonl"), key=lambda p: p.stat().st_size)[
    24:48
]


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    """The sessions that are operated on, archived."""
    found = open_archive(tmp_path_factory.mktemp("surgery"), OPERATED, create=True)
    inscribe(found, ended=True)
    return found


@pytest.fixture(scope="module")
def sessions(archive: Archive) -> list[OpenSession]:
    """The first six that have enough rounds."""
    opened = map(archive.open, sorted(archive.ledger().sessions))
    return [session for session in opened if session.count >= 5][:6]


def some(session: OpenSession) -> range:
    """Rounds out of the middle."""
    third = max(1, session.count // 3)
    return range(1 + third, 1 + 2 * third)


def middle(session: OpenSession) -> str:
    """When the round in the middle began."""
    return session.stored(session.count // 2 + 1).started or ""


Operate = Callable[[Archive, OpenSession, OpenSession], list[Operated]]
VARIANTS: dict[str, Operate] = {
    "full-after": lambda a, one, _: [full_after(a, one.session_id, middle(one))],
    "engagement": lambda a, one, _: [only_engagement(a, one.session_id, "work", some(one))],
    "compress-engagement": lambda a, one, _: [
        compressed_engagement(a, one.session_id, "work", some(one))
    ],
    "merge": lambda a, one, other: [merged(a, one.session_id, other.session_id)],
    "split": lambda a, one, _: split(a, one.session_id, {"first": "1-2", "rest": f"2-{one.count}"}),
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("place", range(5))
def test_every_surgery_resumes(
    place: int,
    variant: str,
    archive: Archive,
    sessions: list[OpenSession],
    tmp_path: Path,
    tools: ModuleType,
) -> None:
    """OPS-17: cut, shortened, merged and split transcripts resume, and send what they hold."""
    home, cwd = home_of(tmp_path)
    one, other = sessions[place], sessions[place + 1]
    for operated in VARIANTS[variant](archive, one, other):
        exported = export_operated(archive, operated, CLAUDE, root=home / ".claude", cwd=str(cwd))
        sent = assert_resumes(exported, home, cwd, tools)
        if operated.surgery.references and variant != "merge":
            assert "minutebook show" in sent or "minutebook context" in sent
        if variant == "merge":
            for parent in (one, other):
                prompts = (r.prompt.text for r in parent.stored_rounds() if r.prompt)
                prompt = next(text for text in prompts if text)
                assert json.dumps(prompt.strip()[:40])[1:-1] in sent
