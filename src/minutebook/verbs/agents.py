"""Which coding agents can be read, where, and what there is of each (AGT-01, AGT-02)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import msgspec

from minutebook.archive.archive import Archive
from minutebook.sources.registry import SOURCES


class AgentReport(msgspec.Struct, frozen=True, kw_only=True):
    """One coding agent, as far as this machine and this archive know it."""

    program: str
    title: str
    home: str
    """Where its transcripts are, for people."""
    root: Path
    present: bool
    """Whether that folder is there."""
    transcripts: int
    archived: int
    retention_days: int | None
    """After how many days it deletes a transcript; None: never."""
    models_allowed: bool
    """Whether a model may be asked about its sessions."""


class Agents(msgspec.Struct, frozen=True):
    agents: list[AgentReport]
    problems: dict[str, str]
    """Installed adapters that could not be used → why."""


def agents(archive: Archive) -> Agents:
    found = Counter(transcript.source for transcript in archive.library.transcripts)
    archived = Counter(entry.info.source for entry in archive.ledger().sessions.values())
    settings = archive.settings
    reports = []
    for source in SOURCES.values():
        root = source.default_root()
        present = root.is_dir()
        reports.append(
            AgentReport(
                program=source.program,
                title=source.title,
                home=source.home,
                root=root,
                present=present,
                transcripts=found[source.name],
                archived=archived[source.name],
                retention_days=source.retention_days(root) if present else None,
                models_allowed=settings.may_send(source.program),
            )
        )
    return Agents(reports, dict(SOURCES.problems))
