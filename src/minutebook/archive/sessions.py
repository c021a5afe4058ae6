"""Every session there is, archived or not, as lists show it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from minutebook.archive.coverage import SessionSaid
from minutebook.archive.names import transcript_file
from minutebook.archive.programs import in_project, is_agent
from minutebook.archive.projects import named
from minutebook.archive.settings import Settings
from minutebook.derive.copies import mere_copies
from minutebook.derive.genealogy import shared_history
from minutebook.derive.identity import Identity, identify, titled
from minutebook.derive.times import instant
from minutebook.derive.titles import session_title
from minutebook.index.query import Filters
from minutebook.model import Link, Roster, SessionInfo
from minutebook.model.engagement import SessionRecord
from minutebook.model.session import called
from minutebook.record.facts import standing
from minutebook.record.ledger import Entry
from minutebook.sources.base import Transcript, Trouble
from minutebook.sources.library import Library, Overview, open_file, overview
from minutebook.sources.registry import SOURCES

if TYPE_CHECKING:
    from minutebook.model.lineage import Edge

NAMELESS = "(nothing said)"


class SessionSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A session without its rounds."""

    info: SessionInfo
    identity: Identity
    ghost: bool
    title: str | None = None
    """The title somebody gave it, else what it was about (UND-06)."""
    given_title: str | None = None
    """The title, where a person gave it."""
    links: tuple[Link, ...] = ()
    archived: bool = False
    """Whether it is in the archive, at least in part."""
    present: bool = False
    """Whether its transcript is still there."""
    unarchived: int = 0
    """Rounds of its transcript that the archive does not have yet."""
    lost: int = 0
    """Rounds that were still growing when its transcript was deleted: they are nowhere now."""
    path: str | None = None
    """Its transcript, or where that was."""
    size: int = 0
    """Bytes of its transcript, when it was last seen."""
    mtime: float = 0.0
    starred: bool = False
    hidden: bool = False
    """Whether a person wants it left out of lists."""
    note: str = ""
    """A person's note."""
    summary: str = ""
    """What it came to: a person's words, else an extractor's."""
    copies: tuple[str, ...] = ()
    """Sessions that a list leaves out because they are nothing but copies of it (UND-08)."""

    @property
    def id(self) -> str:
        return self.info.id

    @property
    def name(self) -> str:
        """What the session is called in headings and lists."""
        return called(self.identity.name, self.given_title, self.title) or NAMELESS

    @property
    def names(self) -> list[str]:
        """Everything it can be called by, in small letters."""
        known = (self.identity.name, self.title, self.info.title, self.info.slug)
        return list(dict.fromkeys(name.lower() for name in known if name))

    @property
    def program(self) -> str:
        """The coding agent that held it, by its command: ``codex``."""
        return SOURCES.program_of(self.info.source)

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
    hidden: int = 0
    """Sessions that a person hid."""
    hidden_ghosts: int = 0
    """Those of them that are ghosts, which a list with hidden ones leaves out all the same."""
    hidden_copies: int = 0
    """Those that are nothing but copies of others, likewise."""
    copies_hidden: int = 0
    """Sessions that are nothing but copies of others."""

    @property
    def total(self) -> int:
        return len(self.sessions)

    def __len__(self) -> int:
        return len(self.sessions)

    def __iter__(self) -> Iterator[SessionSummary]:
        return iter(self.sessions)


class Known(msgspec.Struct, frozen=True):
    """What is known of sessions beside their transcripts."""

    entries: Mapping[str, Entry]
    roster: Roster
    settings: Settings
    labelled: Set[str]
    """Sessions with engagements: they are no ghosts."""
    said: Mapping[str, SessionSaid]
    """What a person said of a session as a whole."""
    records: Mapping[str, SessionRecord]
    """What is known of the sessions that have a record, and what a person said of them."""

    def of_entry(self, id: str, transcript: Transcript | None) -> SessionSummary:
        """An archived session that has not changed since."""
        entry = self.entries[id]
        info = entry.info
        if transcript is None:  # what was still growing when it was last read is gone with it
            info = msgspec.structs.replace(info, rounds=entry.rounds)
        found = SessionSummary(
            info=info,
            identity=identify(info, self.roster),
            ghost=self._is_ghost(info, id),
            title=self._title(info, id),
            archived=True,
            present=transcript is not None,
            lost=lost_rounds(entry, transcript, info),
            path=entry.source,
            size=max(entry.size, 0),
            mtime=max(entry.mtime, 0.0),
        )
        return self._as_said(found)

    def of_transcript(self, info: SessionInfo, transcript: Transcript) -> SessionSummary:
        """A session whose transcript has been read just now."""
        entry = self.entries.get(transcript.session_id)
        found = SessionSummary(
            info=info,
            identity=identify(info, self.roster),
            ghost=self._is_ghost(info, transcript.session_id),
            title=self._title(info, transcript.session_id),
            archived=entry is not None,
            present=True,
            unarchived=max(0, info.rounds - (entry.rounds if entry is not None else 0)),
            lost=lost_rounds(entry, transcript, info),
            path=transcript.location,
            size=transcript.size,
            mtime=transcript.mtime,
        )
        return self._as_said(found)

    def _as_said(self, found: SessionSummary) -> SessionSummary:
        """A session with its summary, with the title, name and role a person gave it, and their
        marks."""
        said, record = self.said.get(found.id), self.records.get(found.id)
        if record is not None:
            found = msgspec.structs.replace(found, summary=record.session_summary)
        if said is None:
            return found
        info = found.info if said.title is None else titled(found.info, said.title)
        identity = identify(info, self.roster)
        if said.agent_name:
            identity = Identity(said.agent_name, "said", identity.role)
        if said.agent_role:
            identity = msgspec.structs.replace(identity, role=said.agent_role)
        return msgspec.structs.replace(
            found,
            info=info,
            title=said.title or found.title,
            given_title=said.title,
            identity=identity,
            starred=said.starred,
            hidden=said.hidden,
            note=said.note,
            summary=said.summary or found.summary,
        )

    def _title(self, info: SessionInfo, id: str) -> str | None:
        given = session_title(info)
        record = self.records.get(id) if info.title_is_prompt else None
        return (record.title if record is not None else None) or given

    def _is_ghost(self, info: SessionInfo, id: str) -> bool:
        return self.settings.is_ghost(info) and id not in self.labelled


class Skims:
    """Skims of transcripts; one that was read before and has not changed is known."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int, float], Overview] = {}

    def of(
        self, library: Library, transcripts: list[Transcript]
    ) -> list[tuple[Transcript, Overview]]:
        keys = [(t.location, t.size, t.mtime) for t in transcripts]
        unknown = [t for t, key in zip(transcripts, keys, strict=True) if key not in self._known]
        found = {(t.location, t.size, t.mtime): skim for t, skim in library.overviews(unknown)}
        known = self._known | found
        # Only what is there now: a server runs for weeks.
        self._known = {key: known[key] for key in keys}
        return [(t, known[key]) for t, key in zip(transcripts, keys, strict=True)]


def has_grown(entry: Entry, transcript: Transcript) -> bool:
    """Whether a transcript may have something its session in the archive has not."""
    if entry.waiting:
        return True
    if entry.source != transcript.location:
        return False  # another copy: the archived one counts
    return (entry.size, entry.mtime) != (transcript.size, transcript.mtime)


def lost_rounds(
    entry: Entry | None, transcript: Transcript | None, info: SessionInfo | None = None
) -> int:
    """How many rounds of a session were held back and are nowhere now, its transcript deleted.

    `info` is what the transcript says, where that is known.
    """
    if entry is None or not (entry.waiting or entry.lost):
        return 0
    if transcript is None:
        file = transcript_file(entry.source) if entry.source is not None else None
        if file is None:
            return entry.lost_in(None)
        transcript, info = open_file(*file), None  # there, and not in a folder that is read
    if info is None:
        info = overview(transcript).info
    return entry.lost_in(info or entry.info)


def gathered(
    known: Known,
    transcripts: Mapping[str, Transcript],
    *,
    skim: Callable[[list[Transcript]], Iterable[tuple[Transcript, Overview]]],
    count: Callable[[str], int],
) -> tuple[dict[str, SessionSummary], list[Trouble]]:
    """Every session by its id, and the transcripts that cannot be read.

    Only what is not in the archive is skimmed; `count` tells how many rounds a session has
    of which the archive has the beginning.
    """
    found: list[SessionSummary] = []
    unusable: list[Trouble] = []
    unread = [t for id, t in transcripts.items() if id not in known.entries]
    for id, entry in known.entries.items():
        transcript = transcripts.get(id)
        if transcript is not None and has_grown(entry, transcript):
            unread.append(transcript)
        else:
            found.append(known.of_entry(id, transcript))
    for transcript, skimmed in skim(unread):
        archived = known.entries.get(transcript.session_id)
        info = skimmed.info
        if info is None:
            unusable.append(Trouble(transcript.path, skimmed.problem or "cannot be read"))
            if archived is not None:
                found.append(known.of_entry(transcript.session_id, None))
            continue
        if archived is not None:
            info = standing(info, archived.info, archived.rounds)
            info = msgspec.structs.replace(info, rounds=count(transcript.session_id))
        found.append(known.of_transcript(info, transcript))
    return {session.id: session for session in _hidden_with(linked(found))}, unusable


def _hidden_with(sessions: list[SessionSummary]) -> Iterator[SessionSummary]:
    """Sessions of which those are hidden that are nothing but copies of a hidden one."""
    hidden = {session.id for session in sessions if session.hidden}
    stands = mere_copies(session.info for session in sessions) if hidden else {}
    for session in sessions:
        is_hidden = session.hidden or stands.get(session.id) in hidden
        yield msgspec.structs.replace(session, hidden=True) if is_hidden else session


def linked(sessions: Iterable[SessionSummary]) -> list[SessionSummary]:
    """The sessions with their ties to each other: recorded ones, and messages they share."""
    known = list(sessions)
    shared = shared_history((session.id, session.info.prompt_ids) for session in known)
    return [msgspec.structs.replace(s, links=(*s.info.links, *shared.get(s.id, ()))) for s in known]


def chosen(
    sessions: Mapping[str, SessionSummary],
    unusable: list[Trouble],
    records: Mapping[str, SessionRecord],
    *,
    project: str | None = None,
    agent: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    ghosts: bool = False,
    starred: bool = False,
    hidden: bool = False,
    copies: bool = False,
    edges: Callable[[], Iterable[Edge]] = tuple,
) -> SessionList:
    """Sessions that pass, newest activity first; ghosts, hidden ones and mere copies only when
    asked for. A session is of the projects of its engagements; without any, of its folders
    (ING-12)."""
    projects = {id: record.projects(hidden=hidden) for id, record in records.items()}
    worked = {id: projects.get(id) or session.info.cwds for id, session in sessions.items()}
    folders = (folder for s in sessions.values() for folder in (*s.info.cwds, *worked[s.id]))
    within = named(Filters(project=project), folders)
    wanted = [
        s
        for s in sessions.values()
        if in_project(within, *worked[s.id])
        and _fits(s, agent, since, until)
        and s.starred >= starred
    ]
    visible = [session for session in wanted if hidden or not session.hidden]
    passing = [session for session in visible if ghosts or not session.ghost]
    shown = passing if copies else without_copies(passing, edges())
    unseen = [session for session in wanted if session.hidden and not hidden]
    listed = [session for session in unseen if ghosts or not session.ghost]
    with_them = listed if copies or not listed else without_copies([*passing, *listed], edges())
    shown.sort(key=lambda session: (session.when, session.id), reverse=True)
    return SessionList(
        shown,
        len(visible) - len(passing),
        len(sessions) - len(wanted),
        sorted(unusable, key=lambda trouble: str(trouble.path)),
        hidden=len(unseen),
        hidden_ghosts=len(unseen) - len(listed),
        hidden_copies=len(listed) - sum(session.hidden for session in with_them),
        copies_hidden=len(passing) - len(shown),
    )


def without_copies(
    sessions: Iterable[SessionSummary], edges: Iterable[Edge] = ()
) -> list[SessionSummary]:
    """Sessions without those that are nothing but copies of another one of them; which names
    them (UND-08)."""
    known = list(sessions)
    stands = mere_copies((session.info for session in known), edges)
    copies: dict[str, list[str]] = {}
    for id, best in stands.items():
        copies.setdefault(best, []).append(id)
    return [
        msgspec.structs.replace(s, copies=tuple(sorted(copies[s.id]))) if s.id in copies else s
        for s in known
        if s.id not in stands
    ]


def _fits(
    session: SessionSummary,
    agent: str | None,
    since: datetime | None,
    until: datetime | None,
) -> bool:
    if since is not None and session.when < since:
        return False
    if until is not None and (instant(session.info.started) or session.when) >= until:
        return False
    who = session.identity
    return not agent or is_agent(agent, session.info.source, who.name, who.role, session.info.slug)
