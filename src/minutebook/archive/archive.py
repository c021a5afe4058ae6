"""`Archive`: one object for names, numbers, counts, coverage and masks.

>>> from minutebook import open_archive
>>> with open_archive() as archive:
...     for session in archive.sessions().sessions:
...         print(session.name, session.info.rounds)
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from minutebook.archive import names
from minutebook.archive import sessions as listing
from minutebook.archive.coverage import Work
from minutebook.archive.formats import format_problem
from minutebook.archive.masking import HiddenRecords, Hide, hide
from minutebook.archive.masking import hidden as masked
from minutebook.archive.minutes import Minutes, card, version_of
from minutebook.archive.names import by_id, by_name, nearest, shortest
from minutebook.archive.prompts import of_copies
from minutebook.archive.session import OpenSession, current_transcript
from minutebook.archive.sessions import Known, SessionList, SessionSummary, Skims
from minutebook.archive.settings import Settings, read_settings
from minutebook.derive.activity import activity
from minutebook.derive.copies import mere_copies
from minutebook.errors import BadArgument, Conflict, NotFound
from minutebook.model import Roster
from minutebook.model.engagement import Engagement, SessionRecord
from minutebook.model.said import Said, Statement
from minutebook.record.layout import Layout, SessionFolder
from minutebook.record.ledger import Entry, Ledger, load_ledger
from minutebook.record.roster import load_roster
from minutebook.sources.base import Transcript, Trouble
from minutebook.sources.library import Library, chosen_copies, open_file

if TYPE_CHECKING:
    from minutebook.archive.budgets import SessionBudget
    from minutebook.archive.finding import Sort
    from minutebook.archive.hit import Hit
    from minutebook.archive.instructions import SessionInstructions
    from minutebook.archive.remote import Remote
    from minutebook.archive.reporting import Report
    from minutebook.archive.saying import Spoken
    from minutebook.archive.semantic import Meaning
    from minutebook.derive.usage.figures import Usage
    from minutebook.index.engine import Mode
    from minutebook.index.query import Query
    from minutebook.model.lineage import Edge, Lineage

_OPEN = 3  # sessions kept open


class Archive:
    """What is archived, and what is still only in transcripts.

    Cheap to open, safe to share between threads. What it hands out is named, numbered, merged
    with what a person said, and masked, unless it was opened with secrets.
    """

    remote: Remote | None = None
    """Where its sessions are, if not in files of this machine: a team's database."""

    def __init__(
        self,
        root: Path,
        places: tuple[Path, ...] = (),
        *,
        hide: Hide = hide,
        patience: float | None = None,
        lenient: bool = False,
    ) -> None:
        self.layout = Layout(root)
        self.places = places
        self.hide = hide
        self.patience = patience
        """Seconds a look at the transcripts' folders holds; None: as long as the archive."""
        self.growing = False
        """Whether another process fills it just now: nobody waits for what is not found yet."""
        self._lenient = lenient
        self._lock = threading.RLock()
        self._library: tuple[float, Library] | None = None
        self._looks = 0  # how often the transcripts were found anew
        self._ledger: tuple[object, Ledger] | None = None
        self._roster: tuple[object, Roster] | None = None
        self._skims = Skims()
        self._named: dict[str, Transcript] = {}
        self._by_session: tuple[object, dict[str, Transcript]] | None = None
        self._open: OrderedDict[str, tuple[object, OpenSession]] = OrderedDict()
        self._shown = HiddenRecords(hide)
        self._shorts: tuple[object, dict[str, str]] | None = None
        self._all: tuple[object, dict[str, SessionSummary], list[Trouble]] | None = None
        roster, settings = (lambda: self.roster), (lambda: self.settings)
        knows = self._entries, roster, settings, self._work, partial(of_copies, self)
        self.minutes = Minutes(self.layout, *knows, self._lock)
        problem = format_problem(self.layout)
        if problem is not None and problem.newer:
            raise Conflict(str(problem))
        self.format_problem = problem

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is held open; it reads well in a `with`."""

    @property
    def root(self) -> Path:
        return self.layout.root

    @property
    def exists(self) -> bool:
        """Whether anything was ever archived here."""
        return self.layout.sessions.is_dir()

    @property
    def is_first_release(self) -> bool:
        """Whether some of it is in the first release's format, until the next run that writes."""
        return any(entry.first_release for entry in self._entries().values())

    @property
    def keeps_findings(self) -> bool:
        """Whether disposable files may be written: not before an upgrade from the first release."""
        return self.exists and not self.is_first_release

    # -- what there is

    @property
    def settings(self) -> Settings:
        return read_settings(self.layout)[0]

    @property
    def library(self) -> Library:
        """The transcripts there are."""
        with self._lock:
            now = time.monotonic()
            known = self._library
            stale = known is not None and self.patience is not None
            if known is None or (stale and now - known[0] > (self.patience or 0)):
                library = Library(self.places, lenient=self._lenient)
                _ = library.transcripts  # found now, not while somebody waits for more
                self._library = known = (now, library)
                self._looks += 1
            return known[1]

    def look_again(self) -> None:
        """Something changed among the transcripts: find them anew when they are needed."""
        with self._lock:
            self._library = None
            self._all = None

    def read_again(self) -> None:
        """Something was written: nothing that is kept in memory counts any more."""
        with self._lock:
            self._ledger = self._roster = self._all = self._by_session = None
            self._shorts = None
            self._open.clear()
            self.minutes.read_again()

    def ledger(self) -> Ledger:
        """What is archived from which source."""
        with self._lock:
            version = version_of(self.layout.ledger)
            if self._ledger is None or self._ledger[0] != version:
                self._ledger = (version, load_ledger(self.layout))
            return self._ledger[1]

    def _entries(self) -> dict[str, Entry]:
        return self.ledger().sessions

    @property
    def roster(self) -> Roster:
        with self._lock:
            _ = self.library
            version = (self._looks, *map(version_of, (self.layout.roster, self.layout.ledger)))
            if self._roster is None or self._roster[0] != version:
                roster = load_roster(self.layout)
                ids = {t.session_id for t in self.library.transcripts} | set(self._entries())
                self._roster = (version, roster.among(ids))
            return self._roster[1]

    def ids(self) -> set[str]:
        """Every session there is, in whatever form."""
        found = {transcript.session_id for transcript in self.library.transcripts}
        return found | self._named.keys() | self._entries().keys() | self.minutes.stored().keys()

    def transcript(self, session_id: str) -> Transcript | None:
        """The transcript of a session; of several copies the archived one, else the largest."""
        if session_id in self._named:
            return self._named[session_id]
        return self._transcripts().get(session_id)

    def _transcripts(self) -> dict[str, Transcript]:
        with self._lock:
            _ = self.library
            version = (self._looks, version_of(self.layout.ledger))
            if self._by_session is None or self._by_session[0] != version:
                chosen = self.chosen_transcripts(self.library.transcripts)
                self._by_session = (version, chosen)
            return self._by_session[1]

    def chosen_transcripts(self, transcripts: Iterable[Transcript]) -> dict[str, Transcript]:
        """One file for each session: of several copies the archived one, else the largest."""
        archived = {id: entry.source for id, entry in self._entries().items() if entry.source}
        return chosen_copies(transcripts, archived)

    # -- lists

    def sessions(
        self,
        *,
        project: str | None = None,
        agent: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        ghosts: bool = False,
        starred: bool = False,
        hidden: bool = False,
        copies: bool = False,
    ) -> SessionList:
        """Sessions, newest activity first, to go over and to count (`len`); ghosts, those a person
        hid, and those that are nothing but copies of another only when asked for."""
        asked: dict[str, Any] = {"project": project, "agent": agent, "since": since, "until": until}
        asked |= {"ghosts": ghosts, "starred": starred, "hidden": hidden, "copies": copies}
        records = self.minutes.records() if project else {}
        found = listing.chosen(*self._everything(), records, **asked, edges=self.known_ties)
        shown = [masked(session, self.hide) for session in found.sessions]
        return msgspec.structs.replace(found, sessions=shown)

    def summary(self, session_id: str) -> SessionSummary:
        """One session as lists show it."""
        return masked(self.stored_summary(session_id), self.hide)

    def lineage(self, session: str | None = None) -> Lineage:
        """Which session comes from which, and what says so: of all, or of one and its kin."""
        from minutebook.archive.lineage import lineage

        return lineage(self, None if session is None else self.resolve(session))

    def mere_copies(self, ids: Iterable[str]) -> dict[str, str]:
        """Which of these sessions are nothing but a copy of another one of them → that (UND-08)."""
        every, _ = self._everything()
        return mere_copies((every[id].info for id in ids if id in every), self.known_ties())

    def known_ties(self) -> tuple[Edge, ...]:
        """Which session comes from which, as far as somebody has asked before."""
        from minutebook.archive import lineage

        return lineage.known_ties(self) if self.layout.lineage.exists() else ()

    def stored_summary(self, session_id: str) -> SessionSummary:
        """The same with its secrets; nothing that leaves the archive."""
        every, _ = self._everything()
        if session_id in every:
            return every[session_id]
        why = f"There is no session {session_id} here (any more)."
        if session_id in self.minutes.stored():
            left = f"Only the minutes of {self.short(session_id)} are left"
            why = f"{left}: its transcript was deleted before it was archived."
        raise NotFound(why)

    def _everything(self) -> tuple[dict[str, SessionSummary], list[Trouble]]:
        with self._lock:
            _ = self.library
            version = (self._looks, self.minutes.version, tuple(self._named))
            if self._all is None or self._all[0] != version:
                sessions, unusable = self._summaries()
                self._all = (version, sessions, unusable)
            return self._all[1], self._all[2]

    def _summaries(self) -> tuple[dict[str, SessionSummary], list[Trouble]]:
        transcripts = {**self._transcripts(), **self._named}
        labelled = {id for id, record in self.minutes.stored().items() if record.engagements}
        said = self.minutes.sessions_said()
        records = self.minutes.records()
        found, unusable = listing.gathered(
            Known(self._entries(), self.roster, self.settings, labelled, said, records),
            transcripts,
            skim=lambda unread: self._skims.of(self.library, unread),
            count=lambda session_id: self.open(session_id).count,
        )
        return found, [*self.library.troubles, *unusable]

    # -- names

    def resolve(self, name: str) -> str:
        """The id of the one session that fits a name (ARC-04)."""
        if not name.strip():
            raise BadArgument("Name a session: the start of its id, a title or a name.")
        if (document := names.document_file(name, self.layout, self._entries())) is not None:
            return document
        if (file := names.transcript_file(name)) is not None:
            return self._of_file(*file)
        found = by_id(name, self.ids())
        if found is None:
            every, _ = self._everything()
            named = {id: session.names for id, session in every.items()}
            found = by_name(name, named, self.mere_copies)
            names.refuse_ending(
                name, found, lambda start: by_id(start, self.ids()) or by_name(start, named)
            )
        if found is None:
            near = nearest(name, (self.hide(text) for names in named.values() for text in names))
            raise NotFound(f"No session is called '{name}'.{near}", remedy="sessions")
        return found

    def _of_file(self, path: Path, key: str) -> str:
        transcript = open_file(path, key)
        known_one = self._transcripts().get(transcript.session_id)
        if known_one is None or known_one.path.resolve() != path.resolve():
            self._named[transcript.session_id] = transcript
        return transcript.session_id

    def address(self, text: str) -> tuple[str, range | None]:
        """Session and rounds of ``<session>[#3-7]``; a title may itself end like an address."""
        name, rounds = names.parse_address(text)
        if rounds is None:
            return self.resolve(name), None
        if by_id(name, self.ids()) is None:
            every, _ = self._everything()
            whole = [id for id, s in every.items() if text.strip().lower() in s.names]
            if len(whole) == 1:
                return whole[0], None
        return self.resolve(name), rounds

    def short(self, session_id: str) -> str:
        """The start of an id that names no other session."""
        with self._lock:
            _ = self.library
            files = (version_of(self.layout.ledger), version_of(self.layout.engagements))
            version = (self._looks, *files, tuple(self._named))
            if self._shorts is None or self._shorts[0] != version:
                self._shorts = (version, shortest(self.ids()))
            return self._shorts[1].get(session_id, session_id)

    # -- one session

    def session(self, name: str) -> OpenSession:
        """The session that fits a name, opened for reading."""
        return self.open(self.resolve(name))

    def open(self, session_id: str) -> OpenSession:
        """A session by its id; the last few stay open while nothing about them changes."""
        with self._lock:
            entry = self._entries().get(session_id)
            transcript = current_transcript(self.transcript(session_id))
            version = (
                (entry.agent_id, entry.rounds, entry.waiting, entry.size, entry.mtime)
                if entry
                else None,
                (transcript.location, transcript.size, transcript.mtime) if transcript else None,
            )
            known = self._open.get(session_id)
            if known is not None and known[0] == version:
                self._open.move_to_end(session_id)
                return known[1]
            folder = self.folder(session_id) if entry is not None else None
            opened = OpenSession(session_id, folder, entry, transcript, self.hide, self.short)
            self._open[session_id] = (version, opened)
            while len(self._open) > _OPEN:
                self._open.popitem(last=False)
            return opened

    def folder(self, session_id: str) -> SessionFolder:
        """Where an archived session is kept."""
        entry = self._entries().get(session_id)
        if entry is None:
            short = self.short(session_id)
            how = f"`minutebook inscribe {short}` writes it down"
            raise NotFound(f"{short} is not in the archive yet: {how}.")
        return SessionFolder(self.layout.folder(entry.agent_id, session_id))

    def _work(self, session_id: str) -> Work:
        """What was done in each round of a session; nothing where it is gone altogether."""
        entry = self._entries().get(session_id)
        if entry is None and self.transcript(session_id) is None:
            return Work()
        rounds = [activity(round) for round in self.open(session_id).stored_rounds()]
        return Work(rounds, entry.info.pull_requests if entry is not None else ())

    # -- minutes

    def records(self) -> dict[str, SessionRecord]:
        """The minutes of every session that has some, as they may be shown."""
        with self._lock:
            return self._shown.of(self.minutes.records())

    def record(self, session_id: str) -> SessionRecord:
        """The minutes of a session; without engagements where nobody has taken them yet."""
        return masked(self.stored_record(session_id), self.hide)

    def stored_record(self, session_id: str) -> SessionRecord:
        """The same with its secrets; nothing that leaves the archive."""
        known = self.minutes.records().get(session_id)
        if known is None:
            entry = self._entries().get(session_id)
            agent_id = entry.agent_id if entry is not None else None
            info = self.stored_summary(session_id).info
            known = self.minutes.merged(card(info, self.roster, self.settings, agent_id))
        return known

    def cards(self) -> dict[str, SessionRecord]:
        """Every session there is as a record: with its minutes, or without."""
        from minutebook.archive.cards import cards_of

        every, _ = self._everything()
        return cards_of(self, every)

    def engagements(
        self, *, hidden: bool = False, copies: bool = False
    ) -> Iterator[tuple[SessionRecord, Engagement]]:
        """Every engagement, with its session's record; hidden ones and copies if asked for."""
        from minutebook.archive import folding  # brings the index's filters along

        return iter(folding.every(self, hidden=hidden, copies=copies))

    # -- what a person says

    def say(self, session: str, statement: Statement) -> Spoken:
        """Write down what a person says of a session: it wins over every extraction."""
        from minutebook.archive.saying import say

        return say(self, session, statement)

    def said(self, session: str | None = None) -> list[Said]:
        """What was said of any session, or of one and its copies, in order; undone is marked."""
        every = self.minutes.heard(self.resolve(session)) if session else self.minutes.all_said()
        return [masked(item, self.hide) for item in every]

    def search(
        self,
        query: str | Query,
        *,
        where: str = "all",
        mode: Mode = "hybrid",
        sort: Sort = "relevance",
        limit: int = 10,
        offset: int = 0,
    ) -> list[Hit]:
        """Engagements and turns about a query, best first; by words alone with ``lexical``."""
        from minutebook.archive.finding import search
        from minutebook.archive.threads import with_threads
        from minutebook.index.query import parse_query

        asked = parse_query(query) if isinstance(query, str) else query
        how: dict[str, Any] = {"where": where, "mode": mode, "sort": sort}
        how |= {"limit": limit, "offset": offset, **self._meaning.ways}
        return with_threads(self, search(self, asked, **how).hits)

    def report(self, session: str | None = None, **period: str | None) -> Report:
        """The minutes of a session, or of a period (this week unless another one is named), by
        project: `project`, `agent`, `since`, `until`, `date`."""
        from minutebook.archive.reporting import reported

        return reported(self, session, **period)

    def budget(self, session: str) -> SessionBudget:
        """How full the model's window was in each round of a session, and with what."""
        from minutebook.archive.budgets import session_budget

        return session_budget(self, session)

    def instructions(self, session: str) -> SessionInstructions:
        """Which instructions a session had when it began, each with its evidence."""
        from minutebook.archive.instructions import instructions_of

        return instructions_of(self, session)

    def usage(self, by: str = "day", *, session: str | None = None, **named: str | None) -> Usage:
        """Tokens, cost, time and work by a dimension, of a `session` or of what passes: `project`,
        `agent`, `method`, `phase`, `branch`, `model`, `since`, `until`, `date`."""
        from minutebook.archive.using import named_filters, usage_of

        id = self.resolve(session) if session is not None else None
        return usage_of(self, by, named_filters(**named), session_id=id, tools=True)

    @cached_property
    def _meaning(self) -> Meaning:
        from minutebook.archive.semantic import Meaning

        return Meaning(self.layout)

    # -- health

    def troubles(self) -> list[Trouble]:
        """Files of the archive that could not be read so far, and why (ARC-07)."""
        from minutebook.archive.damage import troubles_of

        return troubles_of(self, [opened for _, opened in list(self._open.values())])
