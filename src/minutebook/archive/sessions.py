"""Every session there is, archived or not, as lists show it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

import msgspec

from minutebook.archive.settings import Settings
from minutebook.derive.genealogy import shared_history
from minutebook.derive.identity import Identity, identify
from minutebook.derive.times import instant
from minutebook.model import Link, Roster, SessionInfo
from minutebook.record.ledger import Entry
from minutebook.sources.base import Transcript, Trouble

NAMELESS = "(nothing said)"


class SessionSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A session without its rounds."""

    info: SessionInfo
    identity: Identity
    ghost: bool
    links: tuple[Link, ...] = ()
    archived: bool = False
    """Whether it is in the archive, at least in part."""
    present: bool = False
    """Whether its transcript is still there."""
    path: str | None = None
    """Its transcript, or where that was."""
    size: int = 0
    """Bytes of its transcript, when it was last seen."""
    mtime: float = 0.0

    @property
    def id(self) -> str:
        return self.info.id

    @property
    def name(self) -> str:
        """What a person calls the session: its agent's name, else its title."""
        return self.identity.name or self.info.title or NAMELESS

    @property
    def names(self) -> list[str]:
        """Everything it can be called by, in small letters."""
        known = (self.identity.name, self.info.title, self.info.slug)
        return [name.lower() for name in known if name]

    @property
    def when(self) -> datetime:
        """Last activity, in local time."""
        known = instant(self.info.ended)
        return known or datetime.fromtimestamp(max(0.0, self.mtime)).astimezone()


class SessionList(msgspec.Struct, frozen=True):
    """What a list shows, and what it leaves out."""

    sessions: list[SessionSummary]
    ghosts_hidden: int
    others_hidden: int
    """Sessions that a filter left out."""
    unusable: list[Trouble]

    @property
    def total(self) -> int:
        return len(self.sessions)


def of_entry(
    entry: Entry, transcript: Transcript | None, roster: Roster, settings: Settings, labelled: bool
) -> SessionSummary:
    """An archived session that has not changed since."""
    info = entry.info
    if transcript is None:  # what was still growing when it was last read is gone with it
        info = msgspec.structs.replace(info, rounds=entry.rounds)
    return SessionSummary(
        info=info,
        identity=identify(info, roster),
        ghost=settings.is_ghost(info) and not labelled,
        archived=True,
        present=transcript is not None,
        path=entry.source,
        size=max(entry.size, 0),
        mtime=max(entry.mtime, 0.0),
    )


def of_transcript(
    info: SessionInfo,
    transcript: Transcript,
    entry: Entry | None,
    roster: Roster,
    settings: Settings,
    labelled: bool,
) -> SessionSummary:
    """A session whose transcript has been read just now."""
    return SessionSummary(
        info=info,
        identity=identify(info, roster),
        ghost=settings.is_ghost(info) and not labelled,
        archived=entry is not None,
        present=True,
        path=transcript.location,
        size=transcript.size,
        mtime=transcript.mtime,
    )


def linked(sessions: Iterable[SessionSummary]) -> list[SessionSummary]:
    """The sessions with their ties to each other: recorded ones, and messages they share."""
    known = list(sessions)
    shared = shared_history((session.id, session.info.prompt_ids) for session in known)
    return [msgspec.structs.replace(s, links=(*s.info.links, *shared.get(s.id, ()))) for s in known]


def chosen(
    sessions: Mapping[str, SessionSummary],
    unusable: list[Trouble],
    *,
    project: str | None = None,
    since: datetime | None = None,
    ghosts: bool = False,
) -> SessionList:
    """Sessions that pass, newest activity first; ghosts only when asked for."""
    wanted = [s for s in sessions.values() if _fits(s, project, since)]
    shown = [session for session in wanted if ghosts or not session.ghost]
    shown.sort(key=lambda session: (session.when, session.id), reverse=True)
    return SessionList(
        shown,
        len(wanted) - len(shown),
        len(sessions) - len(wanted),
        sorted(unusable, key=lambda trouble: str(trouble.path)),
    )


def _fits(session: SessionSummary, project: str | None, since: datetime | None) -> bool:
    if since is not None and session.when < since:
        return False
    if project is None:
        return True
    return any(project.lower() in cwd.lower() for cwd in session.info.cwds)
