"""Keep the archive up to date: ingest once per burst of writes, and once more when it is quiet.

The kernel tells of changes; while nothing happens, nothing is read. What was missed (the
watcher was not running, or was killed) is caught up with at the start.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import date
from pathlib import Path

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.refreshing import refresh
from minutebook.archive.writing import QUIET_SECONDS
from minutebook.errors import BadArgument, Conflict, Locked, MinutebookError
from minutebook.extract.extractor import Extractor
from minutebook.record.layout import Layout
from minutebook.record.store import make_folder, write_atomically, writing
from minutebook.sources.base import Transcript
from minutebook.sources.library import may_be_transcript
from minutebook.sources.registry import SOURCES
from minutebook.verbs.ingest import IngestReport, ingest

QUIET_MS, AT_MOST_MS = 300, 2_000
_TICK_MS = 30_000  # how often somebody looks at the clock while a session may have ended
_AGAIN, _ATTEMPTS = 1.0, 20  # seconds, and how often, when the archive is found locked


class Taken(msgspec.Struct, frozen=True):
    """What one burst came to."""

    at: float
    sessions: int
    engagements: int
    problem: str | None = None
    cost_usd: float = 0.0


Choose = Callable[[float | None], Extractor]
"""An extractor that may spend so much."""


class Watcher:
    """Takes the minutes of what changes among an archive's transcripts; never a backlog."""

    def __init__(
        self,
        archive: Archive,
        rules: Callable[[], Extractor],
        model: Choose | None = None,
        daily_cap: float | None = None,
        quiet: float = QUIET_SECONDS + 5,
    ) -> None:
        self._archive, self._layout = archive, archive.layout
        self._rules, self._model, self._cap = rules, model, daily_cap
        self._quiet = quiet
        self._touched: dict[str, float] = {}
        """Sessions that may still be running, and when they were last written to."""
        self._missed: set[Path] = set()
        self._stop = threading.Event()
        self._seen: dict[str, tuple[int, float]] = {}

    def run(
        self, stop: threading.Event, ready: Callable[[], None] = lambda: None
    ) -> Iterator[Taken]:
        """Everything once, then whatever changes, until told to stop."""
        self._stop = stop
        folders = watched(self._archive.places)
        if not folders:
            raise BadArgument("There is no folder to watch.", remedy="root")
        make_folder(self._layout.root)
        try:
            with writing(self._layout.watch_lock, "watch"):
                ready()
                yield from self._catch_up()
                yield from self._catch_up()  # with what was written during the first
                while not stop.is_set():
                    yield from self._watching(folders, stop)
                    folders = watched(self._archive.places)
        except Locked:
            raise Conflict("Another `minutebook watch` looks after this archive already.") from None

    def _watching(self, folders: list[Path], stop: threading.Event) -> Iterator[Taken]:
        """Whatever changes in these folders, until an agent makes its first one, or the end."""
        from watchfiles import watch

        bursts = watch(
            *folders,
            watch_filter=lambda change, path: matters(change.name, path),
            step=QUIET_MS,
            debounce=AT_MOST_MS,
            stop_event=stop,
            rust_timeout=_TICK_MS,
            yield_on_timeout=True,
            raise_interrupt=True,
            ignore_permission_denied=True,
        )
        first = True
        with closing(bursts):
            for changes in bursts:
                if stop.is_set():
                    return
                if first:
                    # Everything, with what was written before the kernel watched.
                    yield from self._catch_up()
                    first = False
                else:
                    yield from self._heard({Path(path) for _, path in changes})
                if not set(folders).issuperset(watched(self._archive.places)):
                    return

    def _catch_up(self) -> Iterator[Taken]:
        """Take everything that is not as it was when it was last looked at."""
        found = self._transcripts()
        changed = [t for t in found if self._seen.get(t.location) != (t.size, t.mtime)]
        self._seen = {t.location: (t.size, t.mtime) for t in found}
        yield from self._take(changed)

    def _heard(self, paths: set[Path]) -> Iterator[Taken]:
        if not all(may_be_transcript(path) for path in paths):
            # A new folder: what was put into it before it was watched, nobody told us.
            yield from self._catch_up()
        paths = {path for path in paths if may_be_transcript(path)} | self._missed
        self._missed = set()
        if paths:
            names = sessions_of(paths)
            found = [t for t in self._transcripts() if t.path in paths or t.session_id in names]
            # A file with several sessions was written to: only some of them may have changed.
            changed = [
                t for t in found if not t.key or self._seen.get(t.location) != (t.size, t.mtime)
            ]
            self._seen.update({t.location: (t.size, t.mtime) for t in changed})
            yield from self._take(changed)
        now = time.time()
        over = {id for id, at in self._touched.items() if now - at > self._quiet}
        if over:
            found = [t for t in self._transcripts() if t.session_id in over]
            self._touched = {id: at for id, at in self._touched.items() if id not in over}
            yield from self._take(found, ended=True)

    def _transcripts(self) -> list[Transcript]:
        """The transcripts as they are now."""
        self._archive.look_again()
        return self._archive.library.transcripts

    def _take(self, transcripts: list[Transcript], *, ended: bool = False) -> Iterator[Taken]:
        if not transcripts:
            return
        now = time.time()
        for transcript in transcripts:
            if not ended and now - transcript.mtime < self._quiet:
                self._touched[transcript.session_id] = transcript.mtime
        try:
            report = self._patiently(transcripts, ask=ended and self._model is not None)
        except (OSError, sqlite3.Error, MinutebookError) as error:
            self._missed |= {transcript.path for transcript in transcripts}
            if ended:  # they are still over when it is tried again
                self._touched |= {t.session_id: t.mtime for t in transcripts}
            yield Taken(now, len(transcripts), 0, str(error))
            return
        problem = report.stopped or next((f.reason for f in report.failures), None)
        yield Taken(now, len(transcripts), report.engagements, problem, report.cost_usd)

    def _patiently(self, transcripts: list[Transcript], *, ask: bool) -> IngestReport:
        """Ingest and index; where somebody else is writing, a few times more."""
        for attempt in range(_ATTEMPTS):
            try:
                # What was said can be searched at once; what it was about, a moment later.
                refresh(self._archive)
                report = self._ingest(transcripts, self._rules())
                if ask:
                    report = self._ask(transcripts)
                refresh(self._archive)
                return report
            except Locked:
                if attempt == _ATTEMPTS - 1:
                    raise
                self._stop.wait(_AGAIN)
        raise AssertionError("unreachable")

    def _ingest(self, transcripts: list[Transcript], extractor: Extractor) -> IngestReport:
        return ingest(self._archive, extractor, transcripts)

    def _ask(self, transcripts: list[Transcript]) -> IngestReport:
        """Ask a model about sessions that are over, within what is left of today's cap."""
        assert self._model is not None
        spent = spent_today(self._layout)
        left = None if self._cap is None else max(0.0, self._cap - spent)
        report = self._ingest(transcripts, self._model(left))
        note_spending(self._layout, spent + report.cost_usd)
        return report


class _Spending(msgspec.Struct):
    day: str
    cost_usd: float


def spent_today(layout: Layout) -> float:
    """What background extraction has cost since midnight."""
    try:
        known = msgspec.json.decode(layout.watch_spending.read_bytes(), type=_Spending)
    except (OSError, msgspec.DecodeError):
        return 0.0
    return known.cost_usd if known.day == date.today().isoformat() else 0.0


def note_spending(layout: Layout, cost_usd: float) -> None:
    spending = _Spending(date.today().isoformat(), round(cost_usd, 6))
    write_atomically(layout.watch_spending, msgspec.json.encode(spending))


def matters(change: str, path: str) -> bool:
    """Transcripts, and new folders that may hold some."""
    place = Path(path)
    if change == "added" and "." not in place.name:
        return True
    return may_be_transcript(place)


def watched(places: tuple[Path, ...]) -> list[Path]:
    """The folders transcripts are in."""
    return [folder for source in SOURCES.values() for folder in source.folders(places)]


def sessions_of(paths: set[Path]) -> set[str]:
    """What the sessions of changed files may be called."""
    return {id for source in SOURCES.values() for id in source.sessions_of(paths)}
