"""Search over a team's database: the same look as over an index of one machine.

Only what is found where is different: words by `TeamWords`, meanings by the vectors of the server.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec

from minutebook.index.clauses import Part, Side
from minutebook.index.engine import DEPTH, Engine, Ranked, Results, Scope
from minutebook.index.entry import Entry
from minutebook.index.passages import passages_of
from minutebook.index.query import Query
from minutebook.index.rows import Rows
from minutebook.index.vectors import Like
from minutebook.model.session import project_of
from minutebook.team.database import Database
from minutebook.team.meaning import check_embedder, written
from minutebook.team.rows import Keys, TeamRows
from minutebook.team.words import TeamWords, Within

if TYPE_CHECKING:
    from minutebook.index.embedders import Embedder

_ALIKE = 400
"""Entries most like a query, by one vector each, whose passages are compared."""
_BEST, _MORE = 20, 200
"""Sessions that are looked at again, and how many of their entries."""


class TeamEngine(Engine):
    """A team's database, open for searching."""

    def __init__(
        self, database: Database, keys: Keys, expect: Callable[[Sequence[str]], None]
    ) -> None:
        self._team, self._keys = database, keys
        self.lexical: TeamWords = TeamWords(database, keys)
        self._expect = expect
        self._embedder: str | None = None

    @contextmanager
    def reading(self) -> Iterator[Rows]:
        yield TeamRows(self._team, self._keys)

    @property
    def is_writable(self) -> bool:
        return False

    def count_missing(self, embedder: Embedder) -> int:  # noqa: ARG002 - pushed with its vector
        return 0

    def embed_missing(
        self,
        embedder: Embedder,  # noqa: ARG002
        most: int | None = None,  # noqa: ARG002
        progress: Callable[[int], None] | None = None,  # noqa: ARG002
    ) -> int:
        return 0

    def results(self, query: Query, **how: Any) -> Results:
        found = super().results(query, **how)
        if (projects := query.filters.projects) is not None:  # the server knows parts of paths
            own = [item for item in found.ranked if project_of(item.entry.project) in projects]
            found = msgspec.structs.replace(found, ranked=own)
        self._expect([item.entry.session_id for item in found.ranked])
        return found

    def within(self, rows: Rows, query: Query, scope: Scope) -> Part | None:  # noqa: ARG002
        limits = query.filters
        sessions = scope.sessions
        if limits.session is not None:
            start = limits.session.lower()
            every = sessions if sessions is not None else self._keys.ids()
            sessions = tuple(id for id in every if id.lower().startswith(start))
        least, most = limits.budget if limits.budget is not None else (None, None)
        filters = {
            "kinds": list(scope.kinds) or None,
            "sessions": list(sessions) if sessions is not None else None,
            "project": limits.project and limits.project.removeprefix("="),
            "branch": limits.branch,
            "model": limits.model,
            "tools": limits.tools,
            "after": limits.after,
            "before": limits.before,
            "least": least,
            "most": most,
        }
        demanded = self.lexical.of_work(limits.command, limits.error)
        known = {name: value for name, value in filters.items() if value is not None}
        return Within(known, demanded) if known or demanded else None

    # -- meaning

    def near(
        self, rows: Rows, query: Query, scope: Scope, side: Side, embedder: Embedder, most: int
    ) -> list[Like]:
        within = self.lexical.with_phrases(query, side, self.within(rows, query, scope))
        limits = within if isinstance(within, Within) else Within()
        vector = embedder.embed_query(query.text)
        if limits.demanded:
            likes = self._passages(rows, self.lexical.rows(limits), embedder, vector)
        else:
            likes = self._nearest(rows, embedder, vector, limits)
        if side != "both":
            likes = [like for like in likes if (like.passage > 0) == (side == "asked")]
        return likes[:most]

    def _nearest(self, rows: Rows, embedder: Embedder, vector: Any, limits: Within) -> list[Like]:
        """Passages of the nearest entries; of the sessions that are best by those also of others,
        since several passages of a session count."""
        found = self._alike(embedder, vector, limits, _ALIKE)
        likes = self._passages(rows, found, embedder, vector)
        owners = rows.owners([like.row for like in likes])
        sessions = dict.fromkeys(
            owners[like.row].session_id for like in likes if like.row in owners
        )
        best = replace(limits, filters={**limits.filters, "sessions": list(sessions)[:_BEST]})
        known = set(found)
        more = [row for row in self._alike(embedder, vector, best, _MORE) if row not in known]
        likes += self._passages(rows, more, embedder, vector)
        return sorted(likes, key=lambda like: -like.cosine)

    def like(
        self, entry: Entry, embedder: Callable[[], Embedder], depth: int = DEPTH
    ) -> list[Ranked]:
        engine = embedder()
        (vector,) = engine.embed([f"{entry.asked}\n{entry.answered}"])
        near = self._alike(engine, vector, Within(), _ALIKE)
        hits: dict[int, float] = {}
        with self.reading() as rows:
            owners = rows.owners(near)
            others = [row for row in near if row in owners]
            others = [row for row in others if owners[row].session_id != entry.session_id]
            for like in self._passages(rows, others, engine, vector):
                hits.setdefault(like.row, like.cosine)
            found = rows.fetch(list(hits)[:depth])
        ranked = [Ranked(row, hits[row], item.entry) for row, item in found.items()]
        ranked.sort(key=lambda item: (-item.score, -item.entry.at, item.entry.key))
        self._expect([item.entry.session_id for item in ranked])
        return ranked

    def _alike(self, embedder: Embedder, vector: Any, limits: Within, most: int) -> list[int]:
        """Entries most like a vector, of those that pass filters."""
        self._check(embedder)
        if not vector.any():
            return []
        filters = {**limits.filters, "kinds": list(limits.kinds)}
        found = self._team.ask(
            "SELECT entry, session_key FROM minutebook.find_alike("
            "minutebook.as_vector(%s), %s::jsonb, %s)",
            *(written(vector), msgspec.json.encode(filters).decode(), most),
        )
        return [entry for entry, key in found if self._keys.id_of(key) is not None]

    def _check(self, embedder: Embedder) -> None:
        """Vectors of different embedders are never compared."""
        if self._embedder is None:
            found = self._team.ask("SELECT value FROM minutebook.facts WHERE name = 'embedder'")
            self._embedder = found[0][0] if found else embedder.fingerprint
        check_embedder(self._embedder, embedder)

    def _passages(
        self, rows: Rows, found: Sequence[int], embedder: Embedder, vector: Any
    ) -> list[Like]:
        """The passages of some entries, the most alike first."""
        places: list[tuple[int, int]] = []
        texts: list[str] = []
        for row, one in rows.fetch(found).items():
            for number, text in passages_of(one.entry):
                places.append((row, number))
                texts.append(text)
        if not texts:
            return []
        cosines = (embedder.embed(texts) @ vector).tolist()
        likes = [
            Like(row, number, cosine)
            for (row, number), cosine in zip(places, cosines, strict=True)
            if cosine > 0
        ]
        return sorted(likes, key=lambda like: -like.cosine)
