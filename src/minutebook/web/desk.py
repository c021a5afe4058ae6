"""What the server has at hand: the house, read again whenever a file has changed."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from minutebook.record.layout import Layout
from minutebook.record.roster import load_roster
from minutebook.errors import Locked, MinutebookError, NotFound
from minutebook.index.engine import Engine, Mode
from minutebook.index.query import Filters, parse_query
from minutebook.model.engagement import SessionRecord
from minutebook.sources.base import Transcript
from minutebook.sources.library import Library, overview
from minutebook.verbs.minutes import Minutes, card
from minutebook.verbs.open_session import OpenSession, open_session
from minutebook.verbs.refresh import refresh
from minutebook.verbs.search import Answer, In, search
from minutebook.verbs.semantic import Meaning

_DIRECTORY_SECONDS = 30.0  # VIEW-03; the watcher tells of changes long before
_OPEN = 3  # sessions kept open


class Desk:
    """One per server; its methods are called from worker threads."""

    def __init__(self, layout: Layout, places: tuple[Path, ...]) -> None:
        self.layout, self.places = layout, places
        self.minutes = Minutes(layout)
        self._library: tuple[float, Library] | None = None
        self._cards: dict[str, tuple[int, float, SessionRecord | None]] = {}
        self._open: OrderedDict[str, tuple[object, OpenSession]] = OrderedDict()
        self._meaning: Meaning | None = None
        self._lock = threading.RLock()
        self._searching = threading.Lock()
        self.stale = True
        """Whether transcripts changed since the search index was refreshed."""

    # -- what there is

    def library(self) -> Library:
        """The transcripts there are; found again after 30 s, or when something changed."""
        with self._lock:
            now = time.monotonic()
            if self._library is None or now - self._library[0] > _DIRECTORY_SECONDS:
                library = Library(self.places, lenient=True)
                _ = library.transcripts  # found now, not while somebody waits for more
                self._library = (now, library)
            return self._library[1]

    def forget_directories(self) -> None:
        with self._lock:
            self._library = None
            self.stale = True

    def transcript(self, session_id: str) -> Transcript | None:
        for _ in range(2):
            found = [t for t in self.library().transcripts if t.session_id == session_id]
            if found or session_id in self.records():
                return found[0] if found else None
            with self._lock:
                if self._library is not None and time.monotonic() - self._library[0] > 1:
                    self._library = None  # it may be newer than what was found
        return None

    def records(self) -> dict[str, SessionRecord]:
        """Every session with minutes."""
        with self._lock:
            return self.minutes.records()

    def all_records(self) -> dict[str, SessionRecord]:
        """Those without minutes too, as far as they have been looked into."""
        records = self.records()
        cards = (self._cards.get(str(t.path)) for t in self._unread(records))
        found = {known[2].session_id: known[2] for known in cards if known and known[2]}
        return {**found, **records}

    def _unread(self, records: dict[str, SessionRecord]) -> Iterator[Transcript]:
        return (t for t in self.library().transcripts if t.session_id not in records)

    def look_into_new(self) -> int:
        """Skim sessions nobody has taken minutes of; how many were news."""
        roster = load_roster(self.layout.root)
        news = 0
        for transcript in self._unread(self.records()):
            known = self._cards.get(str(transcript.path))
            if known is not None and known[:2] == (transcript.size, transcript.mtime):
                continue
            info = overview(transcript).info
            made = card(info, roster) if info is not None else None
            self._cards[str(transcript.path)] = (transcript.size, transcript.mtime, made)
            news += made is not None
        return news

    # -- one session

    def record(self, session_id: str) -> SessionRecord:
        """A session's record, or a card made from its transcript or its inscription."""
        known = self.records().get(session_id)
        if known is not None:
            return known
        transcript = self.transcript(session_id)
        info = overview(transcript).info if transcript is not None else None
        if info is not None:
            return card(info, load_roster(self.layout.root))
        entry = self.minutes.entry(session_id)
        if entry is None:
            raise NotFound("There is no such session here (any more).")
        return SessionRecord(
            session_id=session_id,
            title=entry.title,
            started=entry.started,
            ended=entry.ended,
            rounds=entry.rounds,
        )

    def open(self, session_id: str) -> OpenSession:
        """A session for reading; the last few stay open while nothing about them changes."""
        with self._lock:
            entry = self.minutes.entry(session_id)
            transcript = self._current(self.transcript(session_id))
            version = (
                (entry.rounds, entry.waiting, entry.size, entry.mtime) if entry else None,
                (transcript.size, transcript.mtime) if transcript else None,
            )
            known = self._open.get(session_id)
            if known is not None and known[0] == version:
                self._open.move_to_end(session_id)
                return known[1]
            opened = open_session(self.layout, session_id, entry, transcript)
            self._open[session_id] = (version, opened)
            while len(self._open) > _OPEN:
                self._open.popitem(last=False)
            return opened

    @staticmethod
    def _current(transcript: Transcript | None) -> Transcript | None:
        """A transcript with the size it has now; None where it was deleted since."""
        if transcript is None:
            return None
        try:
            stat = transcript.path.stat()
        except OSError:
            return None
        return Transcript(
            transcript.path,
            transcript.source,
            transcript.session_id,
            stat.st_size,
            stat.st_mtime,
            transcript.root,
        )

    # -- searching

    @property
    def is_indexed(self) -> bool:
        return self.layout.search_database.exists()

    def refresh_index(self) -> None:
        """Bring the search index up to date; where somebody else is at it, leave it to them."""
        try:
            self.stale = False
            refresh(self.layout, Library(self.places, lenient=True))
            self._embed()
        except (Locked, OSError):
            self.stale = True

    def _embed(self) -> None:
        with suppress(MinutebookError):  # a model somebody chose and removed: words still find
            meaning = self._loaded()
            meaning.ready(Engine(self.layout.search_database, self.layout.search))

    def _loaded(self) -> Meaning:
        if self._meaning is None:
            self._meaning = Meaning(self.layout)
        return self._meaning

    def warm(self) -> None:
        """Load what searching needs, so that the first keystroke does not wait for it."""
        if self.is_indexed:
            with suppress(MinutebookError, OSError):
                self.search("minutes", limit=1)

    def search(
        self, typed: str, *, where: In = "all", mode: Mode = "hybrid", limit: int = 20
    ) -> Answer:
        """As the command line searches; a last word still being typed may be a beginning."""
        with self._searching:
            answer = self._search(typed, where, mode, limit)
            words = typed.split()
            half = words and typed[-1:].isalnum() and len(words[-1]) > 1 and ":" not in words[-1]
            if not answer.hits and half:
                return self._search(f"{typed}*", where, "lexical", limit)
            return answer

    def _search(self, typed: str, where: In, mode: Mode, limit: int) -> Answer:
        query = parse_query(typed, Filters())
        meaning = self._loaded()
        try:
            meaning.embedder()
        except MinutebookError:
            mode = "lexical"  # a model somebody chose and removed: words still find
        return search(
            self.layout,
            self.library(),
            query,
            where=where,
            mode=mode,
            limit=limit,
            fresh=False,
            embedder=meaning.embedder,
            records=self.records(),
        )
