"""Search over one index: words, meanings, or both, with filters applied before ranking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from minutebook.errors import NotFound
from minutebook.index import database as db
from minutebook.index.entry import Entry
from minutebook.index.lexical import Lexical, Side, TantivyQuery, Unreadable, fields_of
from minutebook.index.query import Query
from minutebook.index.ranking import adjusted, fuse

if TYPE_CHECKING:
    from minutebook.index.embedders import Embedder
    from minutebook.index.vectors import Vectors

Mode = Literal["lexical", "semantic", "hybrid"]
DEPTH = 200
"""Entries each engine contributes."""
_MOST_FILTERED = 2_000_000
_EXACT = 0.25  # share of its weight that meaning keeps where entries have every word
_ALIKE = 0.2  # cosine under which two texts have nothing in common
_RELATED = 0.35  # asked of a neighbour that has none of the words, where others have all
_CERTAIN = 0.45  # asked of a query none of whose words is known: nonsense is like anything a little
_FEWEST_WORDS = 3  # "ok" and "b" are like everything


class Scope(msgspec.Struct, frozen=True):
    """Where to look: an index query's worth of filters, names resolved."""

    kinds: tuple[str, ...] = ()
    sessions: tuple[str, ...] | None = None


class Ranked(msgspec.Struct, frozen=True):
    row: int
    score: float
    entry: Entry
    whole: bool = False
    """Whether it has every word of the query."""


class Engine:
    """An index, open for reading."""

    def __init__(self, database: Path, folder: Path) -> None:
        if not database.exists():
            raise NotFound("There is no search index yet: leave --no-refresh out, and it is made.")
        self._database = database
        with db.open_search(database, readonly=True) as connection:
            self._folder = folder / db.index_id(connection)
        try:
            self._lexical = Lexical(self._folder / "lexical")
        except Unreadable as error:
            raise db.Outdated(str(error)) from None
        self._matrices: dict[str, Vectors] = {}
        self._kept: tuple[object, Sequence[int]] | None = None

    def search(
        self,
        query: Query,
        *,
        mode: Mode = "hybrid",
        side: Side = "both",
        scope: Scope = Scope(),  # noqa: B008 - frozen
        embedder: Callable[[], Embedder] | None = None,
        depth: int = DEPTH,
    ) -> list[Ranked]:
        """The best entries, best first."""
        with db.open_search(self._database, readonly=True) as connection:
            within = self._within(connection, query, scope)
            words = self._lexical.search(query, depth, side, within)
            lexical = [] if mode == "semantic" else words.rows
            semantic: list[int] = []
            weight = 1.0
            if mode != "lexical" and embedder is not None and query.text.strip():
                engine = embedder()
                known = words.rows or self._lexical.search(query, 1).rows
                least = _ALIKE if known else _CERTAIN
                demanded = self._lexical.with_phrases(query, side, within)
                allowed = self._allowed(connection, query, scope, side, demanded)
                likes = self._likes(engine, query, side, allowed, depth)
                if words.whole and mode == "hybrid":
                    least = _RELATED
                named = set(words.rows)
                semantic = [row for row, cosine in likes if cosine >= least or row in named]
                unwanted = self._lexical.having(query.excluded, semantic)
                semantic = [row for row in semantic if row not in unwanted]
                if mode == "hybrid":
                    weight = engine.weight * (_EXACT if words.whole else 1.0)
            scores = fuse(lexical, semantic, weight)
            whole = set(words.rows[: words.whole])
            found = db.fetch(connection, list(scores))
        ranked = [
            Ranked(
                row,
                adjusted(scores[row], quoted=item.entry.quoted),
                item.entry,
                row in whole,
            )
            for row, item in found.items()
            if self._has_phrases(item.entry, query, side)
        ]
        # Rows come as sessions were read, which is never the same twice.
        return sorted(ranked, key=_order)

    def _has_phrases(self, entry: Entry, query: Query, side: Side) -> bool:
        texts = [getattr(entry, name) for name in fields_of(side)]
        return all(any(self._lexical.holds(p, text) for text in texts) for p in query.phrases)

    def like(
        self, entry: Entry, embedder: Callable[[], Embedder], depth: int = DEPTH
    ) -> list[Ranked]:
        """Entries that are about the same as one."""
        engine = embedder()
        (vector,) = engine.embed([f"{entry.asked}\n{entry.answered}"])
        hits = dict(self.vectors(engine).search(vector, depth, ("asked", "answered")))
        with db.open_search(self._database, readonly=True) as connection:
            found = db.fetch(connection, list(hits))
        ranked = [Ranked(row, hits[row], item.entry) for row, item in found.items()]
        return sorted(ranked, key=_order)

    def entry(self, session_id: str, round: int) -> Entry | None:
        """The turn of a round."""
        with db.open_search(self._database, readonly=True) as connection:
            row = connection.execute(
                "SELECT row FROM entries WHERE session_id = ? AND round = ? AND kind = 'turn'",
                (session_id, round),
            ).fetchone()
            return db.fetch(connection, [row[0]])[row[0]].entry if row else None

    def count(self) -> int:
        return self._lexical.count

    def count_missing(self, embedder: Embedder) -> int:
        """Entries without vectors."""
        with db.open_search(self._database, readonly=True) as connection:
            rows = [row for (row,) in connection.execute("SELECT row FROM entries")]
        return len(self.vectors(embedder).missing(rows))

    def embed_missing(
        self,
        embedder: Embedder,
        most: int | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> int:
        """Embed what has no vectors yet, newest first; how many are still missing."""
        with db.open_search(self._database, readonly=True) as connection:
            rows = [
                row for (row,) in connection.execute("SELECT row FROM entries ORDER BY at DESC")
            ]
            vectors = self.vectors(embedder)
            missing = vectors.missing(rows)
            wanted = missing if most is None else missing[:most]
            for start in range(0, len(wanted), embedder.batch):
                part = wanted[start : start + embedder.batch]
                entries = db.fetch(connection, part)
                known = [row for row in part if row in entries]
                asked = embedder.embed([_words(entries[row].entry.asked) for row in known])
                answered = embedder.embed([_words(entries[row].entry.answered) for row in known])
                vectors.put(known, asked, answered)
                if progress is not None:
                    progress(len(part))
            vectors.flush()
        return len(missing) - len(wanted)

    def _likes(
        self,
        embedder: Embedder,
        query: Query,
        side: Side,
        allowed: Sequence[int] | None,
        depth: int,
    ) -> list[tuple[int, float]]:
        (vector,) = embedder.embed([query.text])
        sides: Sequence[Literal["asked", "answered"]] = (
            ("asked", "answered")
            if side == "both"
            else ("asked" if side == "asked" else "answered",)
        )
        return self.vectors(embedder).search(vector, depth, sides, allowed)

    def _allowed(
        self,
        connection: db.Connection,
        query: Query,
        scope: Scope,
        side: Side,
        within: TantivyQuery | None,
    ) -> Sequence[int] | None:
        """The rows that pass the filters; kept for the next query with the same ones."""
        if within is None:
            return None
        state = f"{db.fact(connection, 'refreshed')} {db.fact(connection, 'count')}"
        key = (state, query.filters, scope, side if query.phrases else "both", query.phrases)
        if self._kept is None or self._kept[0] != key:
            self._kept = (key, self._lexical.rows(within, _MOST_FILTERED))
        return self._kept[1]

    def vectors(self, embedder: Embedder) -> Vectors:
        """The vectors of one embedder."""
        from minutebook.index.vectors import Vectors

        # Kept open: mapping a matrix anew means touching all of its pages again.
        known = self._matrices.get(embedder.fingerprint)
        if known is None:
            folder = self._folder / "vectors" / embedder.fingerprint
            known = self._matrices[embedder.fingerprint] = Vectors(folder, embedder.dimensions)
        known.notice_growth()
        with db.open_search(self._database, readonly=True) as connection:
            known.remove([row for (row,) in connection.execute("SELECT row FROM removed")])
        return known

    def _within(self, connection: db.Connection, query: Query, scope: Scope) -> TantivyQuery | None:
        limits = query.filters
        return self._lexical.within(
            kinds=scope.kinds,
            sessions=_sessions(connection, scope.sessions, limits.session),
            projects=_named(connection, "project", limits.project),
            branches=_named(connection, "branch", limits.branch),
            models=_named(connection, "model", limits.model),
            tools=limits.tools,
            after=limits.after,
            before=limits.before,
        )


def _sessions(
    connection: db.Connection, allowed: Sequence[str] | None, start: str | None
) -> Sequence[str] | None:
    """The sessions to look in, of those whose id begins as asked for."""
    if start is None:
        return allowed
    found = db.sessions(connection, start.lower())
    return found if allowed is None else [id for id in allowed if id in set(found)]


def _named(connection: db.Connection, field: str, part: str | None) -> list[str] | None:
    return None if part is None else db.named(connection, field, part)


def _words(text: str) -> str:
    """A text worth comparing; nothing where it is too short to be about anything."""
    return text if len(text.split()) >= _FEWEST_WORDS else ""


def _order(hit: Ranked) -> tuple[float, int, str, int, str]:
    entry = hit.entry
    return -hit.score, -entry.at, entry.session_id, entry.round, entry.key
