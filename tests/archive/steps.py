"""What tests of the archive do again and again, on an archive given by its paths."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from minutebook.archive import Archive
from minutebook.model import Round, Subagent
from minutebook.record.documents import read_head
from minutebook.record.header import Header
from minutebook.record.layout import Layout, SessionFolder, file_name
from minutebook.record.recover import DocumentRounds
from minutebook.sources.base import Transcript
from minutebook.verbs import check as check_verb
from minutebook.verbs import export as export_verb
from minutebook.verbs import inscribe as inscribe_verb
from minutebook.verbs import rebuild as rebuild_verb
from minutebook.verbs import status as status_verb
from minutebook.verbs import tag as tag_verb


class Inscription(NamedTuple):
    """A document, read as a whole."""

    path: Path
    header: Header
    rounds: list[Round]

    @property
    def folder(self) -> SessionFolder:
        return SessionFolder(self.path.with_suffix(""))

    @property
    def subagents(self) -> list[Subagent]:
        return list(export_verb.stored_agents(self.folder))


def documents(layout: Layout) -> list[Path]:
    """All documents of sessions."""
    found = (layout.agent(agent) / f"{name}.md" for name, agent in layout.present().items())
    return sorted(path for path in found if path.exists())


def read_inscription(path: Path) -> Inscription:
    folder = SessionFolder(path.with_suffix(""))
    return Inscription(path, read_head(path)[0], list(DocumentRounds(folder)))


def archive_at(layout: Layout, *places: Path) -> Archive:
    """An archive without transcripts of anybody else's."""
    return Archive(layout.root, places or (layout.root / "nothing",), lenient=True)


def register(layout: Layout, *entries: tuple[str, str | None, str | None]) -> None:
    """Write a roster: session, name, role."""
    layout.root.mkdir(parents=True, exist_ok=True, mode=0o700)
    lines = [json.dumps({"session": s, "name": n, "role": r}) for s, n, r in entries]
    layout.roster.write_text("\n".join(lines) + "\n")


def inscribe(
    layout: Layout,
    transcripts: Sequence[Transcript],
    *,
    ended: bool = False,
    jobs: int | None = None,
) -> inscribe_verb.InscribeReport:
    archive = archive_at(layout, *{transcript.path for transcript in transcripts})
    return inscribe_verb.inscribe(archive, transcripts, ended=ended, jobs=jobs)


def tag(layout: Layout, session: str, rounds: str, engagement: str) -> tag_verb.Tagged:
    return tag_verb.tag(archive_at(layout), session, rounds, engagement)


def rebuild(layout: Layout) -> rebuild_verb.Rebuilt:
    return rebuild_verb.rebuild(archive_at(layout))


def status(layout: Layout, *places: Path) -> status_verb.Status:
    return status_verb.status(archive_at(layout, *places))


def check(layout: Layout, document: Path, places: Iterable[Path] = ()) -> check_verb.SessionCheck:
    return check_verb.check(archive_at(layout, *places), _id(layout, document))


def export_claude(layout: Layout, document: Path, **options: Any) -> export_verb.Exported:
    return export_verb.export_session(
        archive_at(layout), _id(layout, document), "claude-code", **options
    )


def _id(layout: Layout, document: Path) -> str:
    """The session a document is of, whatever it says itself."""
    known = archive_at(layout).ledger().sessions
    return next(id for id in known if file_name(id) == document.stem)
