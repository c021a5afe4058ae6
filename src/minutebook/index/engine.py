"""Search over one index: words, meanings, or both, with filters applied before ranking."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from minutebook.derive.surfaces import SURFACES, Surface
from minutebook.errors import NotFound
from minutebook.index import database as db
from minutebook.index.candidates import Candidates
from minutebook.index.clauses import FIELDS, Part, work_fields
from minutebook.index.entry import Entry
from minutebook.index.lexical import Lexical, Side, TantivyQuery, Unreadable, fields_of
from minutebook.index.look import LONELY, PASSAGES, Look
from minutebook.index.passages import passages_of
from minutebook.index.query import Filters, Query
from minutebook.index.rows import OwnRows, Rows
from minutebook.index.words import Words
from minutebook.model.session import project_of

if TYPE_CHECKING:
    from minutebook.index.embedders import Embedder
    from minutebook.index.vectors import Like, Vectors
    from minutebook.index.vectors import Side as Sides

Mode = Literal["lexical", "semantic", "hybrid"]
DEPTH = 300
"""Entries each engine contributes, at least."""
_DEEPEST, _EASY = 2_000, 50_000_000  # of a small index all can be looked at
_LISTED = 10_000
_ROUNDS = 2  # rounds told of each session
_MOST_FILTERED = 2_000_000


class Scope(msgspec.Struct, frozen=True):
    """Where to look: an index query's worth of filters, names resolved."""

    kinds: tuple[str, ...] = ()
    sessions: tuple[str, ...] | None = None
    said: bool = True
    """Whether to look at what people said, and at titles and engagements."""
    surfaces: tuple[Surface, ...] = SURFACES
    """What to look at of what was done."""


class Ranked(msgspec.Struct, frozen=True):
    row: int
    score: float
    entry: Entry
    whole: bool = False
    """Whether it has every word of the query."""
    done: bool = False
    """Whether it was found by what was done rather than said."""
    typed: bool = False
    """Whether all that was typed stands in one piece in what tools did."""
    passage: int | None = None
    """The passage that is most like the query (`passages_of`)."""


class Results(msgspec.Struct, frozen=True):
    """What was found, best first, and whether there may be more."""

    ranked: list[Ranked]
    capped: bool = False


class Engine:
    """An index, open for reading."""

    def __init__(self, database: Path, folder: Path) -> None:
        if not database.exists():
            raise NotFound("There is no search index yet.", remedy="refresh")
        self._database = database
        self.lexical: Words
        with db.open_search(database, readonly=True) as connection:
            self._folder = folder / db.index_id(connection)
        try:
            self.lexical = Lexical(self._folder / "lexical")
        except Unreadable as error:
            raise db.Outdated(str(error)) from None
        self._matrices: dict[str, Vectors] = {}
        self._kept: tuple[object, Sequence[int]] | None = None

    @contextmanager
    def reading(self) -> Iterator[Rows]:
        """The rows, while they are read."""
        with db.open_search(self._database, readonly=True) as connection:
            yield OwnRows(connection)

    def search(
        self,
        query: Query,
        *,
        mode: Mode = "hybrid",
        side: Side = "both",
        scope: Scope = Scope(),  # noqa: B008 - frozen
        embedder: Callable[[], Embedder] | None = None,
        depth: int = DEPTH,
        by_session: bool = True,
    ) -> list[Ranked]:
        """What `results` finds."""
        return self.results(
            query,
            mode=mode,
            side=side,
            scope=scope,
            embedder=embedder,
            depth=depth,
            by_session=by_session,
        ).ranked

    @property
    def depth(self) -> int:
        """How deep to look so that pages of an answer do not depend on each other."""
        return max(DEPTH, min(_DEEPEST, _EASY // max(1, self.lexical.count)))

    def results(
        self,
        query: Query,
        *,
        mode: Mode = "hybrid",
        side: Side = "both",
        scope: Scope = Scope(),  # noqa: B008 - frozen
        embedder: Callable[[], Embedder] | None = None,
        depth: int = DEPTH,
        near: int | None = None,
        by_session: bool = True,
    ) -> Results:
        """The best entries, best first: those of a session together, or each for itself.

        `depth` entries are looked at by words, `near` passages by meaning. Their texts are left
        out (`filled` has them), unless a phrase is looked for.
        """
        with self.reading() as rows:
            look = Look(self, rows, query, mode, side, scope, depth, by_session)
            found = Candidates()
            if scope.said:
                look.for_words(found)
            if scope.said and mode != "lexical" and embedder is not None and query.text.strip():
                look.for_meaning(found, embedder(), near or PASSAGES * depth)
            if scope.surfaces and side == "both" and mode != "semantic":
                look.for_work(found)
            owners = look.owners(found.rows)
            if by_session and (lonely := found.lonely(owners, LONELY)):
                owners |= look.for_rounds_of(found, lonely)
            filters = query.filters
            each = depth if filters.method or filters.phase else _ROUNDS
            order = found.by_session(owners, each) if by_session else found.by_row(owners)
            best = [row for row, _ in order[: 4 * depth]]
            entries = rows.fetch(best, texts=bool(query.phrases))
        passages = found.passages
        done = found.by_work
        ranked = [
            Ranked(
                row,
                score,
                entries[row].entry,
                row in found.whole,
                row in done,
                row in found.typed,
                passages.get(row),
            )
            for row, score in order
            if row in entries
            and (
                not query.phrases
                or row in done
                or self._has_phrases(entries[row].entry, query, side)
            )
        ]
        return Results(ranked, look.capped)

    def filled(self, items: Sequence[Ranked]) -> dict[int, Ranked]:
        """Ranked entries with their texts, by row."""
        with self.reading() as rows:
            found = rows.fetch([item.row for item in items])
        return {
            item.row: msgspec.structs.replace(item, entry=found[item.row].entry)
            for item in items
            if item.row in found
        }

    def listed(self, query: Query, scope: Scope) -> Results:
        """What passes the filters, the newest first."""
        with self.reading() as rows:
            within = self.within(rows, query, scope)
            newest, count = self.lexical.newest(query, (), within, _LISTED)
            found = rows.fetch(newest, texts=False)
        ranked = [Ranked(row, 0.0, found[row].entry, done=True) for row in newest if row in found]
        return Results(ranked, count > len(newest))

    def newest(self, query: Query, side: Side, scope: Scope) -> Results:
        """What has every word, the newest first: what was said, and what tools did."""
        turns = msgspec.structs.replace(scope, kinds=("turn",))
        found: dict[int, bool] = {}
        capped = False
        with self.reading() as rows:
            ways = [(FIELDS[side], scope, False)] if scope.said else []
            if scope.surfaces and side == "both":
                ways.append((work_fields(scope.surfaces), turns, True))
            for fields, own, done in ways:
                within = self.within(rows, query, own)
                newest, count = self.lexical.newest(query, fields, within, _DEEPEST)
                capped |= count > len(newest)
                for row in newest:
                    found.setdefault(row, done)
            entries = rows.fetch(list(found), texts=bool(query.phrases))
        ranked = [
            Ranked(row, 0.0, entries[row].entry, whole=True, done=done)
            for row, done in found.items()
            if row in entries
            and (done or not query.phrases or self._has_phrases(entries[row].entry, query, side))
        ]
        return Results(sorted(ranked, key=_order), capped)

    def holders(
        self, rounds: Sequence[tuple[str, int]]
    ) -> dict[tuple[str, int], list[tuple[str, int]]]:
        """Who else has rounds: see `database.holders`."""
        with self.reading() as rows:
            return rows.holders(rounds)

    def _has_phrases(self, entry: Entry, query: Query, side: Side) -> bool:
        texts = [getattr(entry, name) for name in fields_of(side)]
        return all(any(self.lexical.holds(p, text) for text in texts) for p in query.phrases)

    def like(
        self, entry: Entry, embedder: Callable[[], Embedder], depth: int = DEPTH
    ) -> list[Ranked]:
        """Entries of other sessions that are about the same as one."""
        engine = embedder()
        (vector,) = engine.embed([f"{entry.asked}\n{entry.answered}"])
        hits: dict[int, float] = {}
        with db.open_search(self._database, readonly=True) as connection:
            own = db.rows_of(connection, entry.session_id)
            for like in self.vectors(engine).search(vector, depth * PASSAGES, without=own):
                hits.setdefault(like.row, like.cosine)
            found = db.fetch(connection, list(hits)[:depth])
        ranked = [Ranked(row, hits[row], item.entry) for row, item in found.items()]
        return sorted(ranked, key=_order)

    def turn(self, session_id: str, round: int) -> Ranked | None:
        """The turn of a round."""
        with self.reading() as rows:
            row = rows.turn(session_id, round)
            return Ranked(row, 0.0, rows.fetch([row])[row].entry) if row is not None else None

    def beside(self, row: int, session_id: str, key: str) -> tuple[Entry, Ranked] | None:
        """An entry, and that of a session with a key, such as its title."""
        with self.reading() as rows:
            other = rows.keyed(session_id, key)
            found = rows.fetch([row, other]) if other is not None else {}
        if other is None or not {row, other} <= found.keys():
            return None
        return found[row].entry, Ranked(other, 0.0, found[other].entry)

    def count(self) -> int:
        """Entries that can be found."""
        with self.reading() as rows:
            return rows.count()

    # -- meaning

    @property
    def is_writable(self) -> bool:
        return os.access(self._folder, os.W_OK)

    def count_missing(self, embedder: Embedder) -> int:
        """Entries without vectors."""
        with db.open_search(self._database, readonly=True) as connection:
            return len(self.vectors(embedder).missing(db.rows(connection)))

    def embed_missing(
        self,
        embedder: Embedder,
        most: int | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> int:
        """Embed what has no vectors yet, newest first; how many are still missing."""
        with db.open_search(self._database, readonly=True) as connection:
            rows = db.rows(connection, newest_first=True)
            vectors = self.vectors(embedder)
            missing = vectors.missing(rows)
            wanted = missing if most is None else missing[:most]
            if wanted:
                vectors.keep(rows)
            for start in range(0, len(wanted), embedder.batch):
                part = wanted[start : start + embedder.batch]
                places: list[tuple[int, int]] = []
                texts: list[str] = []
                for row, found in db.fetch(connection, part).items():
                    own = passages_of(found.entry) or [(0, "")]
                    places += [(row, number) for number, _ in own]
                    texts += [text for _, text in own]
                vectors.put([r for r, _ in places], [n for _, n in places], embedder.embed(texts))
                if progress is not None:
                    progress(len(part))
        return len(missing) - len(wanted)

    def vectors(self, embedder: Embedder) -> Vectors:
        """The vectors of one embedder."""
        from minutebook.index.vectors import Vectors

        # Kept open: mapping a matrix anew means touching all of its pages again.
        known = self._matrices.get(embedder.fingerprint)
        if known is None:
            folder = self._folder / "vectors" / embedder.fingerprint
            if not (self.is_writable or folder.is_dir()):
                # Nothing is embedded, and nothing may be written: for as long as this is open.
                self._aside = tempfile.TemporaryDirectory(prefix="minutebook-")
                folder = Path(self._aside.name)
            known = self._matrices[embedder.fingerprint] = Vectors(folder, embedder.dimensions)
        known.notice_growth()
        return known

    def near(
        self, rows: Rows, query: Query, scope: Scope, side: Side, embedder: Embedder, most: int
    ) -> list[Like]:
        """The passages most like a query, of what passes its filters and has its phrases."""
        within = self.within(rows, query, scope)
        demanded = self.lexical.with_phrases(query, side, within)
        key = (query.filters, scope, query.phrases and (query.phrases, side))
        allowed = self._allowed(rows, key, demanded)
        sides: Sides = "answered" if side == "final" else side
        return self.vectors(embedder).search(embedder.embed_query(query.text), most, sides, allowed)

    # -- filters

    def _allowed(
        self, rows: Rows, key: object, within: TantivyQuery | None
    ) -> Sequence[int] | None:
        """The rows that pass the filters; kept for the next query with the same ones."""
        if within is None:
            return None
        assert isinstance(rows, OwnRows) and isinstance(self.lexical, Lexical)
        connection = rows.connection
        state = f"{db.fact(connection, 'refreshed')} {db.fact(connection, 'count')}"
        if self._kept is None or self._kept[0] != (state, key):
            self._kept = ((state, key), self.lexical.rows(within, _MOST_FILTERED))
        return self._kept[1]

    def within(self, rows: Rows, query: Query, scope: Scope) -> Part | None:
        """What passes the filters of a query, as the engine has it."""
        assert isinstance(rows, OwnRows) and isinstance(self.lexical, Lexical)
        connection = rows.connection
        limits = query.filters
        return self.lexical.within(
            kinds=scope.kinds,
            sessions=_sessions(connection, scope.sessions, limits.session),
            projects=_projects(connection, limits),
            branches=_named(connection, "branch", limits.branch),
            models=_named(connection, "model", limits.model),
            tools=limits.tools,
            after=limits.after,
            before=limits.before,
            command=limits.command,
            error=limits.error,
            budget=limits.budget,
        )


def _sessions(
    connection: db.Connection, allowed: Sequence[str] | None, start: str | None
) -> Sequence[str] | None:
    """The sessions to look in, of those whose id begins as asked for."""
    if start is None:
        return allowed
    found = db.sessions(connection, start.lower())
    return found if allowed is None else [id for id in allowed if id in set(found)]


def _projects(connection: db.Connection, limits: Filters) -> list[str] | None:
    """Folders of the projects that are asked for."""
    if limits.projects is None:
        return _named(connection, "project", limits.project)
    return [p for p in db.named(connection, "project", "") if project_of(p) in limits.projects]


def _named(connection: db.Connection, field: str, part: str | None) -> list[str] | None:
    return None if part is None else db.named(connection, field, part)


def _order(hit: Ranked) -> tuple[float, int, str, int, str]:
    entry = hit.entry
    return -hit.score, -entry.at, entry.session_id, entry.round, entry.key
