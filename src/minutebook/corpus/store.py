"""The index of a corpus in its folder: entries to find, and the pairs they are of.

Pairs are kept beside the entries, so that a hit is told without reading its session again.
"""

from __future__ import annotations

import re
import secrets
import shutil
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from minutebook.corpus.policy import Policy
from minutebook.corpus.reading import Looked, Progress, Turns
from minutebook.corpus.rewriting import TABLES, Rewrite, unpacked
from minutebook.corpus.strategy import KINDS, TurnStrategy
from minutebook.derive.turn_pairs import TurnMetadata, TurnPair
from minutebook.errors import NotFound
from minutebook.index import database as db
from minutebook.index.engine import Engine
from minutebook.index.entry import Kind
from minutebook.index.lexical import Lexical
from minutebook.index.update import State, Update
from minutebook.record.store import make_folder, private, writing

if TYPE_CHECKING:
    from minutebook.index.embedders import Embedder

_VERSION = 1
_MARK, _CHANGE, _SINCE = "corpus", "corpus change", "corpus since"
_INDEX_ID = re.compile(r"[0-9a-f]{12}")
_AT_ONCE = 250  # sessions looked up by one query

Key = tuple[str, str]
"""Session and key of a pair."""


class _Mark(NamedTuple):
    """What an index was made with."""

    version: int
    source: str
    include_full: bool
    synopsis: str


class Indexed(msgspec.Struct, frozen=True):
    """What a refresh did: only turns whose signal has changed are indexed and embedded."""

    added: int = 0
    removed: int = 0
    embedded: int = 0
    sessions: int = 0
    """Sessions that were read."""


class Store:
    """One index on disk."""

    def __init__(self, folder: Path, strategy: TurnStrategy, policy: Policy) -> None:
        self.folder, self._strategy, self._policy = folder, strategy, policy
        self._database = folder / "search.db"
        self._engine: tuple[str, Engine] | None = None
        self._states: tuple[str | None, dict[str, State], dict[str, Looked]] | None = None
        """What is indexed, by when that was written."""

    @property
    def exists(self) -> bool:
        return self._database.exists()

    # -- refreshing

    def refresh(self, source: Turns) -> Indexed:
        """Index what is new or has changed, and forget what is gone."""
        try:
            return self._refresh(source)
        except db.Outdated:
            self._forget()
            return self._refresh(source)

    def _refresh(self, source: Turns) -> Indexed:
        mark = self._mark(source)
        earliest = source.since.timestamp() if source.since is not None else 0.0
        known = self._known(mark, earliest)
        progress = known or Progress({}, {})
        changed = source.changed(progress)
        first = next(changed, None)
        if first is None and known is not None and known.is_current:
            return Indexed()  # nothing is written: a search of what is known costs nothing more
        make_folder(self.folder)
        if self._policy.synopsis is not None and not self.exists:
            # A database in the making cannot keep what was done before something went wrong.
            with private(), db.open_search(self._database):
                pass
        with (
            writing(self.folder / ".lock", "corpus build"),
            private(),
            db.open_search(self._database) as connection,
            Update(connection, self._lexical(connection)) as run,
        ):
            connection.executescript(TABLES)
            # Broken off, it is an index of neither the old options nor the new ones.
            db.set_fact(connection, _MARK, mark if known is not None else "")
            db.set_fact(connection, _SINCE, str(earliest))
            run.mend()
            rewrite = Rewrite(connection, run, self._strategy, self._policy)
            for read in chain([first] if first is not None else [], changed):
                rewrite.put(read)
            rewrite.forget(run.states().keys() - rewrite.sessions - progress.kept)
            rewrite.note(progress.news)
            run.finish()
            db.set_fact(connection, _MARK, mark)
            if rewrite.wrote or db.fact(connection, _CHANGE) is None:
                db.set_fact(connection, _CHANGE, secrets.token_hex(8))
        return Indexed(rewrite.added, rewrite.removed, sessions=len(rewrite.sessions))

    def _known(self, mark: str, earliest: float) -> Progress | None:
        """What is indexed; None where this corpus cannot use it, and all has to be read."""
        if not self.exists:
            return None
        with db.open_search(self._database, readonly=True) as connection:
            if db.fact(connection, _MARK) != mark or not self._is_whole(connection):
                return None
            if earliest < float(db.fact(connection, _SINCE) or 0):
                return None  # a wider window: sessions have turns that were left out
            written = db.fact(connection, "refreshed")
            if self._states is None or self._states[0] != written:
                sources = connection.execute("SELECT * FROM sources")
                states: dict[str, State] = {id: (path, *rest) for id, path, *rest in sources}
                told = connection.execute("SELECT session_id, told FROM looked")
                looked = {id: msgspec.json.decode(text, type=Looked) for id, text in told}
                self._states = (written, states, looked)
        return Progress(*self._states[1:])

    def _mark(self, source: Turns) -> str:
        """What an index must have been made with to be one of this corpus."""
        synopsis = self._policy.synopsis
        named = getattr(synopsis, "__qualname__", type(synopsis).__name__)
        mark = _Mark(_VERSION, source.mark, self._strategy.include_full, named)
        return msgspec.json.encode(mark).decode()

    def _is_whole(self, connection: db.Connection) -> bool:
        """Whether the full text is there, and no run that wrote it was killed."""
        place = self._place(connection)
        return (place / "lexical").is_dir() and not (place / "lexical.unfinished").exists()

    def _place(self, connection: db.Connection) -> Path:
        return self.folder / db.index_id(connection)

    def _lexical(self, connection: db.Connection) -> Lexical:
        return Lexical(self._place(connection) / "lexical", make=True)

    def _forget(self) -> None:
        """Throw an index away that cannot be used; what else is in the folder stays."""
        self._engine = None
        for path in self.folder.iterdir():
            if path.is_dir() and _INDEX_ID.fullmatch(path.name):
                shutil.rmtree(path, ignore_errors=True)
        for suffix in ("", "-wal", "-shm"):
            Path(f"{self._database}{suffix}").unlink(missing_ok=True)

    def embed(self, embedder: Embedder) -> int:
        """Embed what has no vectors yet; how many texts that were."""
        fact = f"embedded {embedder.fingerprint}"
        engine = self.engine()
        with db.open_search(self._database, readonly=True) as connection:
            change = db.fact(connection, _CHANGE) or ""
            if db.fact(connection, fact) == change and engine.vectors(embedder).count:
                return 0
        with writing(self.folder / ".lock", "corpus build"), private():
            missing = engine.count_missing(embedder)
            engine.embed_missing(embedder)
            with db.open_search(self._database) as connection:
                db.set_fact(connection, fact, change)
        return missing

    # -- searching

    def engine(self) -> Engine:
        """The index, open for reading until it changes."""
        if not self.exists:
            raise NotFound("The corpus is not built yet: `minutebook corpus build`, or refresh().")
        with db.open_search(self._database, readonly=True) as connection:
            change = db.fact(connection, _CHANGE) or ""
        if self._engine is None or self._engine[0] != change:
            self._engine = (change, Engine(self._database, self.folder))
        return self._engine[1]

    def limiting(self, kinds: tuple[Kind, ...]) -> tuple[Kind, ...]:
        """The kinds a search must be limited to; none where the index has no others."""
        with db.open_search(self._database, readonly=True) as connection:
            mark = db.fact(connection, _MARK)
        full = not mark or _Mark(*msgspec.json.decode(mark)).include_full
        there = set(KINDS) if full else set(KINDS) - {"rest"}
        return () if there <= set(kinds) else kinds

    def metadata(self, keys: Sequence[Key]) -> dict[Key, TurnMetadata]:
        """The metadata of some pairs."""
        decode = msgspec.json.Decoder(TurnMetadata).decode
        rows = self._rows("metadata", keys)
        return {(session_id, key): decode(told) for session_id, key, told in rows}

    def pairs(self, keys: Sequence[Key]) -> dict[Key, TurnPair]:
        """Some pairs as they were read."""
        rows = self._rows("metadata, texts", keys)
        return {(session_id, key): unpacked(*kept) for session_id, key, *kept in rows}

    def first_keys(self, sessions: Sequence[str], since: datetime | None) -> dict[str, Key]:
        """The first pair of each session, of those in the window."""
        earliest = since.timestamp() if since is not None else 0
        found: dict[str, Key] = {}
        with db.open_search(self._database, readonly=True) as connection:
            for start in range(0, len(sessions), _AT_ONCE):
                part = sessions[start : start + _AT_ONCE]
                rows = connection.execute(
                    "SELECT session_id, key, min(position) FROM pairs "
                    f"WHERE session_id IN ({', '.join('?' * len(part))}) "
                    "AND (at = 0 OR at >= ?) GROUP BY session_id",
                    (*part, earliest),
                )
                found |= {session_id: (session_id, key) for session_id, key, _ in rows}
        return found

    def count(self, since: datetime | None = None) -> tuple[int, int]:
        """Sessions and pairs that can be found."""
        earliest = since.timestamp() if since is not None else 0
        with db.open_search(self._database, readonly=True) as connection:
            query = "SELECT count(DISTINCT session_id), count(*) FROM pairs"
            found = connection.execute(f"{query} WHERE at = 0 OR at >= ?", (earliest,))
            sessions, pairs = found.fetchone()
        return sessions, pairs

    def _rows(self, columns: str, keys: Sequence[Key]) -> Iterator[Sequence[Any]]:
        query = f"SELECT session_id, key, {columns} FROM pairs WHERE session_id = ? AND key = ?"
        with db.open_search(self._database, readonly=True) as connection:
            for key in keys:  # one by one: a list of both makes SQLite look at every row
                yield from connection.execute(query, key)
