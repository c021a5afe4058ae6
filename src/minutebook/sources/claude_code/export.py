"""The way back into Claude Code: where transcripts go, what is in them, what of them is sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from minutebook.model import Attachment, Round, StrayResult, Subagent, Thinking, ToolCall, Unknown
from minutebook.sources.assembly.ids import as_uuid
from minutebook.sources.base import ExportHeader, FactReport, FieldFate
from minutebook.sources.claude_code import fidelity, known
from minutebook.sources.claude_code.emit import Emitter
from minutebook.sources.claude_code.locate import (
    SOURCE,
    agent_name,
    encoded_folder,
    transcript_name,
)
from minutebook.sources.claude_code.wire import foreign_block


class ClaudeExporter:
    """Writes transcripts that ``claude --resume`` accepts."""

    matters: tuple[str, ...] = fidelity.MATTERS
    fates = fidelity.FIELDS

    def id_for(self, session_id: str, program: str | None) -> str:
        """Of another agent's session the CLI wants a UUID; its own keep whatever they have."""
        return session_id if program in (None, SOURCE) else as_uuid(session_id)

    def place_for(self, root: Path, cwd: str, session_id: str) -> Path:
        """Where the CLI looks for a session's transcript."""
        return root / "projects" / encoded_folder(cwd) / transcript_name(session_id)

    def emit(
        self, session_id: str, header: ExportHeader, rounds: Iterable[Round]
    ) -> Iterator[bytes]:
        """Lines of the transcript."""
        return Emitter(session_id, header).transcript(rounds)

    def emit_agents(
        self, place: Path, session_id: str, agents: Iterable[Subagent]
    ) -> Iterator[tuple[Path, Iterator[bytes]]]:
        """The subagents' transcripts and notes beside the main file."""
        folder = place.with_suffix("") / "subagents"
        for agent in agents:
            path = folder / agent_name(agent.id)
            emitter = Emitter(session_id, ExportHeader(), agent=agent.id)
            yield path, emitter.transcript(agent.rounds)
            meta = {
                "agentType": agent.kind,
                "description": agent.description,
                "toolUseId": agent.call_id,
                "helper": agent.helper or None,
            }
            present = {key: value for key, value in meta.items() if value is not None}
            yield path.with_suffix(".meta.json"), iter([msgspec.json.encode(present)])

    def not_sent(self, rounds: Iterable[Round], program: str | None = None) -> dict[str, int]:
        """What Claude will not see when it resumes, though the file holds it (OPS-11)."""
        counts: Counter[str] = Counter()
        foreign = program not in (None, SOURCE)
        for round in rounds:
            for message in round.messages:
                for block in message.blocks:
                    if isinstance(block, Thinking):
                        counts["thinking without a signature"] += not block.signature
                        unread = foreign and foreign_block(block, message.model) is None
                        counts["thinking of another provider"] += bool(block.signature) and unread
                    elif isinstance(block, Attachment):
                        counts["attachment"] += foreign and block.kind not in known.ATTACHMENTS
                    elif isinstance(block, Unknown):
                        counts["block Claude cannot take"] += 1
                    elif isinstance(block, StrayResult):
                        counts["result without its call"] += 1
                    elif isinstance(block, ToolCall):
                        counts["call without a result"] += block.result is None
        return {what: count for what, count in counts.items() if count}

    def compare(self, source: Path, exported: Path) -> tuple[list[FactReport], list[FieldFate]]:
        """What of the source is in the export, and what became of every field (OPS-14)."""
        return fidelity.compare(source, exported)
