"""The way back into Codex: where rollouts go, what is in them, what of them is sent."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from minutebook.model import (
    Attachment,
    Document,
    Notice,
    Round,
    StrayResult,
    Subagent,
    Thinking,
    ToolCall,
    Unknown,
)
from minutebook.sources.assembly.ids import as_uuid
from minutebook.sources.base import ExportHeader, FactReport, FieldFate
from minutebook.sources.codex import fidelity
from minutebook.sources.codex.carried import AgentNote
from minutebook.sources.codex.context import context_text
from minutebook.sources.codex.emit import Emitter, is_marker, is_readable

_STAMP = re.compile(r"rollout-(\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2})-")


class CodexExporter:
    """Writes rollouts that ``codex resume`` accepts."""

    matters: tuple[str, ...] = fidelity.MATTERS
    fates = fidelity.FIELDS

    def id_for(self, session_id: str, program: str | None) -> str:
        del program
        return as_uuid(session_id)

    def place_for(self, root: Path, cwd: str, session_id: str) -> Path:
        """Where the CLI looks for a session's rollout: by day; one that is there is found again."""
        del cwd
        id = as_uuid(session_id)
        there = sorted(root.glob(f"sessions/*/*/*/rollout-*-{id}.jsonl"))
        if there:
            return there[0]
        moment = _begun(id) or datetime.fromtimestamp(time.time(), UTC)
        day = root / "sessions" / f"{moment:%Y}" / f"{moment:%m}" / f"{moment:%d}"
        return day / f"rollout-{moment:%Y-%m-%dT%H-%M-%S}-{id}.jsonl"

    def emit(
        self, session_id: str, header: ExportHeader, rounds: Iterable[Round]
    ) -> Iterator[bytes]:
        """Lines of the rollout."""
        return Emitter(session_id, header).lines(rounds)

    def emit_agents(
        self, place: Path, session_id: str, agents: Iterable[Subagent]
    ) -> Iterator[tuple[Path, Iterator[bytes]]]:
        """The subagents' rollouts, in the folder of the main one."""
        found = _STAMP.match(place.name)
        stamp = found[1] if found is not None else "2000-01-01T00-00-00"
        for agent in agents:
            note = AgentNote(agent.id, agent.call_id, agent.kind, agent.description, agent.helper)
            emitter = Emitter(agent.id, ExportHeader(), parent=as_uuid(session_id), agent=note)
            path = place.with_name(f"rollout-{stamp}-{as_uuid(agent.id)}.jsonl")
            yield path, emitter.lines(agent.rounds)

    def not_sent(self, rounds: Iterable[Round], program: str | None = None) -> dict[str, int]:
        """What Codex will not see when it resumes, though the file holds it (OPS-11)."""
        del program
        counts: Counter[str] = Counter()
        for round in rounds:
            for message in round.messages:
                for block in message.blocks:
                    if isinstance(block, Thinking):
                        counts["thinking the provider cannot read"] += not is_readable(block)
                    elif isinstance(block, Unknown):
                        counts["block Codex cannot take"] += 1
                    elif isinstance(block, StrayResult):
                        counts["result without its call"] += 1
                    elif isinstance(block, ToolCall):
                        counts["call without a result"] += block.result is None
                    elif isinstance(block, Attachment):
                        own = block.kind in ("system", "picture")
                        counts["attachment"] += not own and context_text(block) is None
                    elif isinstance(block, Notice):
                        known = is_marker(block) or block.kind in ("compaction", "interruption")
                        counts["notice"] += not known
                    elif isinstance(block, Document):
                        counts["document"] += 1
        return {what: count for what, count in counts.items() if count}

    def compare(self, source: Path, exported: Path) -> tuple[list[FactReport], list[FieldFate]]:
        """What of the source is in the export, and what became of every field (OPS-14)."""
        return fidelity.compare(source, exported)


def _begun(id: str) -> datetime | None:
    """The time a UUIDv7 begins with."""
    if id[14:15] != "7":
        return None
    return datetime.fromtimestamp(int(id[:8] + id[9:13], 16) / 1000, UTC)
