"""List the sessions there are."""

from __future__ import annotations

from datetime import datetime

import msgspec

from minutebook.derive.genealogy import shared_history
from minutebook.derive.identity import Identity, identify
from minutebook.derive.times import instant
from minutebook.model import Link, Roster, SessionInfo
from minutebook.sources.base import Transcript, Trouble
from minutebook.sources.library import Library


class SessionRow(msgspec.Struct, frozen=True):
    """A session as a list shows it."""

    transcript: Transcript
    info: SessionInfo
    identity: Identity
    ghost: bool
    links: tuple[Link, ...] = ()

    @property
    def name(self) -> str:
        """What a person calls the session: its agent's name, else its title."""
        return self.identity.name or self.info.title or "(nothing said)"

    @property
    def when(self) -> datetime:
        """Last activity, in local time."""
        known = instant(self.info.ended)
        return known or datetime.fromtimestamp(self.transcript.mtime).astimezone()


class SessionList(msgspec.Struct, frozen=True):
    rows: list[SessionRow]
    ghosts_hidden: int
    others_hidden: int
    """Sessions that a filter left out."""
    unusable: list[Trouble]


def list_sessions(
    library: Library,
    roster: Roster,
    *,
    project: str | None = None,
    since: datetime | None = None,
    ghosts: bool = False,
) -> SessionList:
    """Sessions, newest activity first; ghosts only when asked for."""
    unusable = list(library.troubles)
    rows: list[SessionRow] = []
    histories: list[tuple[str, tuple[str, ...]]] = []
    for transcript, overview in library.overviews():
        if overview.info is None:
            unusable.append(Trouble(transcript.path, overview.problem or "cannot be read"))
            continue
        info = overview.info
        histories.append((info.id, overview.prompt_ids))
        rows.append(SessionRow(transcript, info, identify(info, roster), info.is_ghost()))
    shared = shared_history(histories)
    rows = [
        msgspec.structs.replace(row, links=(*row.info.links, *shared.get(row.info.id, ())))
        for row in rows
    ]
    wanted = [row for row in rows if _fits(row, project, since)]
    shown = [row for row in wanted if ghosts or not row.ghost]
    shown.sort(key=lambda row: (row.when, row.info.id), reverse=True)
    return SessionList(
        shown, len(wanted) - len(shown), len(rows) - len(wanted), sorted_troubles(unusable)
    )


def sorted_troubles(troubles: list[Trouble]) -> list[Trouble]:
    return sorted(troubles, key=lambda trouble: str(trouble.path))


def _fits(row: SessionRow, project: str | None, since: datetime | None) -> bool:
    if since is not None and row.when < since:
        return False
    if project is None:
        return True
    return any(project.lower() in cwd.lower() for cwd in row.info.cwds)
