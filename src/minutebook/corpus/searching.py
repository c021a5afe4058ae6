"""Search a corpus: the best turns, each by the surface it was found by."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, get_args

import msgspec

from minutebook.archive.turns import in_window
from minutebook.corpus.matching import Matcher
from minutebook.corpus.source import CorpusSource
from minutebook.corpus.store import Key
from minutebook.corpus.strategy import Look, Surface, pair_key
from minutebook.derive.turn_pairs import TurnMetadata, TurnPair
from minutebook.errors import BadArgument
from minutebook.index.engine import Mode, Ranked, Scope
from minutebook.index.query import Filters, Query, parse_query

Filter = Mapping[str, Any] | Callable[[TurnMetadata], bool]
_DEPTH, _DEEPER, _MOST = 100, 8, 100_000
"""Entries looked at first; how many times more where too few of them pass; and at last."""
_FEW = 16  # so many entries can share what is looked at; fewer are all there are


class TurnHit(msgspec.Struct, frozen=True):
    """A turn that was found, by its best surface (CORP-17).

    A hit on a session's title is the session's first turn, with the surface ``title``.
    """

    pair: TurnPair
    score: float
    surface: Surface


class _Found(msgspec.Struct):
    """What speaks for a pair."""

    key: Key
    score: float
    title: str = ""
    """The session's, if it was found by that."""
    turn: bool = False
    """Whether it was found by its own words."""
    alike: Surface | None = None


def search(
    corpus: CorpusSource,
    query: str,
    *,
    k: int = 10,
    filter: Filter | None = None,
    surfaces: Collection[str] | None = None,
    mode: Mode = "hybrid",
    refresh: bool | None = None,
) -> list[TurnHit]:
    """The best turns of a corpus, each by its best surface (CORP-08, CORP-17).

    `filter` holds fields of `TurnMetadata` with the value they must have, or a function of it;
    or is itself a function of the metadata. `surfaces` are looked at, and nothing else. Without
    `refresh`, the corpus' policy says whether to look for changes first.
    """
    look = corpus.strategy.look(surfaces)
    limits, sessions = _limits(filter)
    if mode not in get_args(Mode):
        raise BadArgument(f"The modes are {', '.join(get_args(Mode))}.")
    parsed = _of_turns(parse_query(query, limits))
    if corpus.policy.refreshes_at_search if refresh is None else refresh:
        corpus.bring_up_to_date(embed=mode != "lexical")
    asked = _Asked(corpus, parsed, look, mode, filter)
    engine, depth, seen = corpus.engine(), max(_DEPTH, 4 * k), -1
    scope = Scope(corpus.store.limiting(look.kinds), sessions, surfaces=())
    while True:
        ranked = engine.search(
            asked.query,
            mode=mode,
            side=look.side,
            scope=scope,
            embedder=corpus.embedder,
            depth=depth,
            by_session=False,
        )
        hits = asked.hits(ranked, k)
        short = len(ranked) == seen or len(ranked) < depth // _FEW
        if len(hits) >= k or short or depth >= _MOST:
            return hits
        # Some were left out afterwards: there may be more that pass.
        seen, depth = len(ranked), min(_MOST, depth * _DEEPER)


class _Asked:
    """One query, and what its hits must be."""

    def __init__(
        self,
        corpus: CorpusSource,
        query: Query,
        look: Look,
        mode: Mode,
        filter: Filter | None,
    ) -> None:
        self._store, self.query, self._side, self._mode = corpus.store, query, look.side, mode
        self._surfaces, self._filter = look.surfaces, filter
        self._since = corpus.source.since
        self._matcher = Matcher(query)

    def hits(self, ranked: Sequence[Ranked], k: int) -> list[TurnHit]:
        """The best turns that pass."""
        hits: list[TurnHit] = []
        found = self._collapsed(ranked)
        # A part at a time, and more each time: mostly the first ones pass.
        start, count = 0, k
        while start < len(found) and len(hits) < k:
            part = self._passing(found[start : start + count])
            pairs = self._store.pairs([item.key for item in part])
            for item in part:
                hit = self._hit(item, pairs[item.key]) if item.key in pairs else None
                hits += [hit] if hit is not None else []
            start, count = start + count, count * 2
        return hits[:k]

    def _passing(self, found: list[_Found]) -> list[_Found]:
        if self._filter is None and self._since is None:
            return found
        metadata = self._store.metadata([item.key for item in found])
        return [
            item
            for item in found
            if item.key in metadata
            and in_window(metadata[item.key], self._since)
            and _passes(metadata[item.key], self._filter)
        ]

    def _collapsed(self, ranked: Sequence[Ranked]) -> list[_Found]:
        """A pair for all entries that are of it, by the best of them; for a title the first
        pair of its session that counts."""
        titled = [item.entry.session_id for item in ranked if item.entry.kind == "title"]
        first = self._store.first_keys(titled, self._since) if titled else {}
        found: dict[Key, _Found] = {}
        for item in ranked:
            session_id, own = item.entry.session_id, pair_key(item.entry.key)
            key = first.get(session_id) if own is None else (session_id, own)
            if key is None:
                continue
            known = found.setdefault(key, _Found(key, item.score))
            if own is None:
                known.title = item.entry.asked
                known.alike = known.alike or ("title" if item.passage else None)
            else:
                known.turn = True
                known.alike = known.alike or self._alike(item)
        return list(found.values())

    def _alike(self, item: Ranked) -> Surface | None:
        """The surface of the passage that is most like the query."""
        if not item.passage:
            return None
        if item.entry.kind == "rest":
            return "assistant_full"
        if item.passage > 0:
            return "user_prompt"
        return "assistant_summary" if "assistant_summary" in self._surfaces else "assistant_full"

    def _hit(self, item: _Found, pair: TurnPair) -> TurnHit | None:
        texts: dict[Surface, str] = {}
        if item.turn:
            told: dict[Surface, str] = {
                "user_prompt": pair.user_prompt,
                "assistant_summary": pair.assistant_summary,
                "assistant_full": pair.assistant_full,
            }
            texts = {name: text for name, text in told.items() if name in self._surfaces}
        if item.title:
            texts["title"] = item.title
        # The index has runs of Chinese, Japanese and Korean without their side.
        if (
            self._side != "both"
            and self._matcher.has_cjk
            and item.alike is None
            and not any(map(self._matcher.count, texts.values()))
        ):
            return None
        surface = self._matcher.best(texts, item.alike, by_meaning=self._mode == "semantic")
        return TurnHit(pair, item.score, surface)


def _of_turns(query: Query) -> Query:
    """A query, unless it asks for what is said of engagements: a corpus has none."""
    given = [f"{name}:" for name in ("agent", "method", "phase") if getattr(query.filters, name)]
    if given:
        raise BadArgument(
            f"A corpus has turns, not engagements: leave {' and '.join(given)} out of the query."
        )
    return query


def _limits(filter: Filter | None) -> tuple[Filters, tuple[str, ...] | None]:
    """What of a filter the engine can apply before it ranks: filters, and sessions."""
    if filter is None or callable(filter):
        return Filters(), None
    if set(filter) - set(TurnMetadata.__struct_fields__):
        known = ", ".join(TurnMetadata.__struct_fields__)
        raise BadArgument(f"Turns are filtered by {known}.")
    plain = {name: value for name, value in filter.items() if not callable(value)}
    session = plain.get("session_id")
    limits = Filters(
        project=plain.get("cwd"),
        branch=plain.get("branch"),
        model=plain.get("model"),
        tools=plain.get("has_tool_use"),
    )
    return limits, (session,) if session else None


def _passes(metadata: TurnMetadata, filter: Filter | None) -> bool:
    if filter is None:
        return True
    if callable(filter):
        return filter(metadata)
    return all(
        value(getattr(metadata, name)) if callable(value) else getattr(metadata, name) == value
        for name, value in filter.items()
    )
