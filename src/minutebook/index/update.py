"""Changing an index: entries flow into rows and full text, and are committed in step."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from types import TracebackType

from minutebook.index import database as db
from minutebook.index.entry import Entry, Prepared, Touch, prepare, session_entry
from minutebook.index.lexical import Lexical, Writer

_CHUNK = 250_000  # entries between two commits
_FLOW = 2_000  # entries handed over at a time
_TEXT_AT_ONCE = 5_000  # rows of `entries_fts` made right away

State = tuple[str, int, float]
"""Path, size and time of a source."""


class Update:
    """One run of changes. What is not committed when it breaks off is taken back."""

    def __init__(self, connection: db.Connection, lexical: Lexical) -> None:
        self._connection, self._lexical = connection, lexical
        self._open: ExitStack | None = None
        self._writer: Writer | None = None
        self._new: list[Prepared] = []
        self._old: list[int] = []
        self._sessions: set[int] = set()
        """Rows of sessions as a whole, which nobody counts as entries."""
        self._noted: list[tuple[str, str, int, float]] = []
        self._forgotten: list[tuple[str]] = []
        self._files: dict[str, Sequence[Touch]] = {}
        self._uncommitted = 0
        self.sessions = self.added = self.removed = 0

    def __enter__(self) -> Update:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """What is not committed is taken back, in both stores."""
        if self._open is not None:
            self._open.__exit__(kind, error, trace)

    def mend(self) -> None:
        """After a kill between the two commits: what only one of them has is taken out of it.

        The sessions it was of count as changed, and are read again.
        """
        expected = int(db.fact(self._connection, "count") or 0)
        if self._lexical.count == expected and not self._lexical.unfinished:
            return
        known: dict[int, str] = dict(
            self._connection.execute("SELECT row, session_id FROM entries").fetchall()
        )
        there = set(self._lexical.all_rows())
        with self._lexical.writing() as writer:
            writer.remove(sorted(there - known.keys()))
        lost = sorted(known.keys() - there)
        with db.transaction(self._connection):
            db.remove(self._connection, lost)
            ids = {known[row] for row in lost}
            self._connection.executemany(
                "DELETE FROM sources WHERE session_id = ?", [(id,) for id in ids]
            )
            db.set_fact(self._connection, "engagements", "")
            db.set_fact(self._connection, "count", str(len(known) - len(lost)))
        self._lexical.finished()

    def put(
        self, session_id: str, kinds: Sequence[str], entries: Iterable[Prepared | Entry]
    ) -> None:
        """Make a session's entries these; those that are the same are left alone.

        What comes unprepared is prepared only where it has changed.
        """
        whole = "turn" in kinds
        known = db.signals(self._connection, session_id, (*kinds, "session") if whole else kinds)
        items: dict[str, Prepared | Entry] = {}
        for item in entries:
            key = item.entry.key if isinstance(item, Prepared) else item.key
            items.setdefault(key, item)  # two of one name, in a file somebody edited: the first
        turns = [item for item in items.values() if isinstance(item, Prepared)]
        if whole and turns:
            items["session"] = session_entry(session_id, turns)
        if "session" in known:
            self._sessions.add(known["session"][0])
        for key, item in items.items():
            row, signal = known.pop(key, (0, ""))
            if signal != item.signal:
                self._new.append(item if isinstance(item, Prepared) else prepare(item))
                if row:
                    self._old.append(row)
        self._old += [row for row, _ in known.values()]
        if len(self._new) >= _FLOW:
            self._flow()
        if self._uncommitted >= _CHUNK:
            self.commit()

    def note(
        self, session_id: str, state: State, files: Sequence[Touch] = (), *, counts: bool = True
    ) -> None:
        """A session's entries and files are now those of its source in this state; what turned
        out not to be a transcript does not count."""
        self._files[session_id] = files
        self._noted.append((session_id, *state))
        self.sessions += counts

    def forget(self, session_id: str) -> None:
        """Take a session out whose source is gone."""
        self.put(session_id, ("turn", "title"), [])
        self._files[session_id] = ()
        self._forgotten.append((session_id,))
        self.sessions += 1

    def states(self) -> dict[str, State]:
        """What the sources of all sessions were like when they were read."""
        found = self._connection.execute("SELECT * FROM sources")
        return {session_id: (path, size, mtime) for session_id, path, size, mtime in found}

    def finish(self) -> None:
        self.commit()
        db.index_text(self._connection, _TEXT_AT_ONCE)
        db.set_fact(self._connection, "refreshed", str(time.time()))

    def _flow(self) -> None:
        """Hand over what has come, so that the engine works while the next sessions are read."""
        if not self._new and not self._old:
            return
        if self._open is None:
            self._open = ExitStack()
            self._open.push(self._both_committed)
            self._lexical.begin()
            self._writer = self._open.enter_context(self._lexical.writing())
            self._open.enter_context(db.transaction(self._connection))
        assert self._writer is not None
        db.remove(self._connection, self._old)
        self._writer.remove(self._old)
        rows = db.insert(self._connection, self._new)
        for row, item in zip(rows, self._new, strict=True):
            self._writer.add(row, item)
        self.added += sum(item.entry.kind != "session" for item in self._new)
        self.removed += len(self._old) - sum(row in self._sessions for row in self._old)
        self._uncommitted += len(self._new)
        count = int(db.fact(self._connection, "count") or 0) + len(self._new) - len(self._old)
        db.set_fact(self._connection, "count", str(count))
        self._new, self._old = [], []

    def _both_committed(self, kind: type[BaseException] | None, *_: object) -> None:
        """Last. Where one commit failed the mark stays, and the next run mends what differs."""
        if kind is None:
            self._lexical.finished()

    def commit(self) -> None:
        """Rows and full text, in step; the count tells whether both have happened."""
        self._flow()
        with ExitStack() as stack:
            if self._open is None:
                stack.enter_context(db.transaction(self._connection))
            self._note_sources()
        self._uncommitted = 0
        if self._open is not None:
            opened, self._open, self._writer = self._open, None, None
            opened.close()

    def _note_sources(self) -> None:
        self._connection.executemany(
            "INSERT INTO sources VALUES (?, ?, ?, ?) ON CONFLICT (session_id) DO UPDATE SET "
            "path = excluded.path, size = excluded.size, mtime = excluded.mtime",
            self._noted,
        )
        self._connection.executemany("DELETE FROM sources WHERE session_id = ?", self._forgotten)
        for session_id, files in self._files.items():
            db.put_files(self._connection, session_id, files)
        self._noted, self._forgotten, self._files = [], [], {}
