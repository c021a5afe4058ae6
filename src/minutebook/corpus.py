"""The turn-pair corpus: what I asked and what was answered, across all sessions (CORP-01 … 17).

>>> from minutebook.corpus import CorpusSource, search
>>> from minutebook.derive.turn_pairs import TurnMetadata, TurnPair
>>> def two_turns():
...     meta = TurnMetadata("a-session", 1, project="orchard")
...     yield TurnPair("a-session:1", "Fix the login redirect", "It keeps the query.", "", meta)
...     meta = TurnMetadata("a-session", 2, project="orchard")
...     yield TurnPair("a-session:2", "Draw a chart", "The bars are green.", "", meta)
>>> corpus = CorpusSource.from_claude_sessions(fetcher=two_turns)
>>> [hit.pair.id for hit in search(corpus, "redirects", mode="lexical")]
['a-session:1']
>>> search(corpus, "redirects", surfaces={"assistant_summary"}, mode="lexical")
[]
>>> corpus.refresh().added  # nothing has changed since
0
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from minutebook.archive import Archive, open_archive
from minutebook.archive.turns import turns
from minutebook.derive.periods import since as parse_since
from minutebook.derive.turn_pairs import TurnMetadata, TurnPair
from minutebook.errors import BadArgument, NotFound
from minutebook.index import database as db
from minutebook.index.engine import Engine, Mode, Scope
from minutebook.index.entry import Entry, Prepared, prepare, turn_entry
from minutebook.index.lexical import Lexical, Side
from minutebook.index.query import Filters, parse_query
from minutebook.index.update import Update

Surface = Literal["user_prompt", "assistant_summary", "assistant_full"]
Fetcher = Callable[[], Iterable[TurnPair]]
Filter = Mapping[str, Any] | Callable[[TurnMetadata], bool]
DEFAULT_DAYS = 90
_MOST = 100_000  # turns a filter function gets to see
_SIDES: dict[frozenset[str], Side] = {
    frozenset({"user_prompt"}): "asked",
    frozenset({"assistant_summary"}): "final",
    frozenset({"assistant_full"}): "answered",
    frozenset({"assistant_summary", "assistant_full"}): "answered",
}


class ClaudeTurn(msgspec.Struct, frozen=True):
    """The indexing strategy: which texts of a turn can be found (CORP-07)."""

    include_full: bool = False

    @property
    def surfaces(self) -> tuple[Surface, ...]:
        lean: tuple[Surface, ...] = ("user_prompt", "assistant_summary")
        return (*lean, "assistant_full") if self.include_full else lean

    def texts(self, pair: TurnPair) -> dict[str, str]:
        """The surfaces of a turn, without the empty ones (CORP-16)."""
        return {name: text for name, text in pair.surfaces().items() if name in self.surfaces}

    def entry(self, pair: TurnPair) -> Entry:
        entry = turn_entry(pair)
        return entry if self.include_full else msgspec.structs.replace(entry, rest="")


class TurnHit(msgspec.Struct, frozen=True):
    """A turn that was found, by its best surface (CORP-17)."""

    pair: TurnPair
    score: float
    surface: Surface


class Indexed(msgspec.Struct, frozen=True):
    """What a refresh did: only turns whose signal has changed are indexed and embedded."""

    added: int
    removed: int
    embedded: int = 0


class CorpusSource:
    """A lazy corpus of turn pairs. Nothing is read before it is iterated or searched."""

    def __init__(self, fetcher: Fetcher, strategy: ClaudeTurn, folder: Path | None = None) -> None:
        self._fetcher, self.strategy, self._given = fetcher, strategy, folder
        self._embedder: Any = None

    @classmethod
    def from_claude_sessions(
        cls,
        *,
        since: int | str | datetime | None = DEFAULT_DAYS,
        projects: str | Collection[str] | None = None,
        include_full: bool = False,
        max_sessions: int | None = None,
        fetcher: Fetcher | None = None,
        roots: Collection[str | Path] = (),
        archive: Archive | str | Path | None = None,
        folder: str | Path | None = None,
    ) -> CorpusSource:
        """Turn pairs of all sessions, newest session first (CORP-05).

        `since` is a number of days, a date, or None for all there is (CORP-11); `projects`
        is a part of a working directory, or several; `max_sessions` keeps the newest (CORP-12).
        `fetcher` gives the pairs instead (CORP-15). `folder` keeps the index between runs.

        Sessions are read from the `archive` (by default the usual one), and from transcripts
        where that does not have them. With `roots` alone, only sessions found there count.
        Secrets are masked, unless the archive was opened with them.
        """
        moment = _moment(since)
        wanted = (projects,) if isinstance(projects, str) else projects

        def fetch() -> Iterator[TurnPair]:
            return turns(
                archive if isinstance(archive, Archive) else open_archive(archive, roots),
                since=moment,
                projects=wanted,
                most=max_sessions,
                only_present=archive is None and bool(roots),
            )

        kept = Path(folder).expanduser() if folder is not None else None
        return cls(fetcher or fetch, ClaudeTurn(include_full), kept)

    def __iter__(self) -> Iterator[TurnPair]:
        return iter(self._fetcher())

    def change_signal(self, pair: TurnPair) -> str:
        """Another signal means that a turn must be indexed again (CORP-06)."""
        return self.strategy.entry(pair).signal

    def refresh(self, *, embed: bool = False) -> Indexed:
        """Index what is new or has changed, and forget what is gone."""
        sessions: dict[str, list[Prepared]] = {}
        for pair in self:
            entry = self.strategy.entry(pair)
            sessions.setdefault(entry.session_id, []).append(prepare(entry))
        with (
            db.open_search(self._database) as connection,
            Update(
                connection, Lexical(self._folder / db.index_id(connection) / "lexical", make=True)
            ) as run,
        ):
            run.mend()
            for session_id in run.states().keys() - sessions.keys():
                run.forget(session_id)
            for session_id, entries in sessions.items():
                run.put(session_id, ("turn",), entries)
                run.note(session_id, ("", len(entries), 0.0))
            run.finish()
        embedded = 0
        if embed:
            engine, embedder = self.engine(), self.embedder()
            embedded = engine.count_missing(embedder)
            engine.embed_missing(embedder)
        return Indexed(run.added, run.removed, embedded)

    def engine(self) -> Engine:
        return Engine(self._database, self._folder)

    def embedder(self) -> Any:
        if self._embedder is None:
            from minutebook.index.static import StaticEmbedder

            self._embedder = StaticEmbedder()
        return self._embedder

    @cached_property
    def _folder(self) -> Path:
        if self._given is not None:
            self._given.mkdir(mode=0o700, parents=True, exist_ok=True)
            return self._given
        self._temporary = tempfile.mkdtemp(prefix="minutebook-corpus-")
        return Path(self._temporary)

    @property
    def _database(self) -> Path:
        return self._folder / "search.db"

    def __del__(self) -> None:
        if temporary := getattr(self, "_temporary", None):
            shutil.rmtree(temporary, ignore_errors=True)


def search(
    corpus: CorpusSource,
    query: str,
    *,
    k: int = 10,
    filter: Filter | None = None,
    surfaces: Collection[str] | None = None,
    mode: Mode = "hybrid",
    refresh: bool = True,
) -> list[TurnHit]:
    """The best turns of a corpus, each by its best surface (CORP-08, CORP-17).

    `filter` holds fields of `TurnMetadata` with the value they must have, or is a function.
    """
    side = _side(corpus, surfaces)
    limits, scope = _limits(filter)
    if mode not in get_args(Mode):
        raise BadArgument(f"The modes are {', '.join(get_args(Mode))}.")
    if refresh:
        corpus.refresh(embed=mode != "lexical")
    ranked = corpus.engine().search(
        parse_query(query, limits),
        mode=mode,
        side=side,
        scope=scope,
        embedder=corpus.embedder,
        # A function can only be asked afterwards, so it gets to see more.
        depth=_MOST if callable(filter) else max(200, 4 * k),
        by_session=False,
    )
    wanted = {(item.entry.session_id, item.entry.key) for item in ranked}
    pairs = (
        {key: pair for pair in corpus if (key := _key(corpus, pair)) in wanted} if wanted else {}
    )
    hits = []
    for item in ranked:
        pair = pairs.get((item.entry.session_id, item.entry.key))
        if pair is not None and _passes(pair.metadata, filter):
            hits.append(TurnHit(pair, item.score, _surface(pair, query, side)))
    return hits[:k]


def _key(corpus: CorpusSource, pair: TurnPair) -> tuple[str, str]:
    entry = corpus.strategy.entry(pair)
    return entry.session_id, entry.key


PRESETS: dict[str, Callable[..., CorpusSource]] = {"sessions": CorpusSource.from_claude_sessions}
"""Corpora by name (CORP-09)."""


def preset(name: str, **options: Any) -> CorpusSource:
    """A registered corpus, with its smart defaults."""
    if name not in PRESETS:
        raise NotFound(f"There is no corpus '{name}': there is {', '.join(sorted(PRESETS))}.")
    return PRESETS[name](**options)


def with_synopsis(corpus: CorpusSource, synopsis: Callable[[TurnPair], str]) -> CorpusSource:
    """A corpus whose answers are found by a synopsis too; nothing asks a model by default
    (CORP-10)."""

    def fetch() -> Iterator[TurnPair]:
        for pair in corpus:
            said = f"{pair.assistant_summary}\n\n{synopsis(pair)}"
            yield msgspec.structs.replace(pair, assistant_summary=said)

    return CorpusSource(fetch, corpus.strategy)


def _moment(since: int | str | datetime | None) -> datetime | None:
    if since is None or isinstance(since, datetime):
        return since.astimezone() if since is not None else None
    if isinstance(since, str):
        return parse_since(since)
    return datetime.now().astimezone() - timedelta(days=since)


def _side(corpus: CorpusSource, surfaces: Collection[str] | None) -> Side:
    if surfaces is None:
        return "both"
    unknown = set(surfaces) - set(corpus.strategy.surfaces)
    if unknown or not surfaces:
        known = ", ".join(corpus.strategy.surfaces)
        raise BadArgument(f"The surfaces of this corpus are {known}.")
    return _SIDES.get(frozenset(surfaces), "both")


def _surface(pair: TurnPair, query: str, side: Side) -> Surface:
    """The surface with most of the query's words; of equals the leaner one."""
    words = [word.lower() for word in parse_query(query).telling]
    texts: dict[Surface, str] = {
        "user_prompt": pair.user_prompt,
        "assistant_summary": pair.assistant_summary,
        "assistant_full": pair.assistant_full,
    }
    if side == "asked":
        return "user_prompt"
    if side in ("answered", "final"):
        del texts["user_prompt"]
    counts = {name: sum(word in text.lower() for word in words) for name, text in texts.items()}
    return max(counts, key=lambda name: counts[name])


def _limits(filter: Filter | None) -> tuple[Filters, Scope]:
    """What of a filter the engine can apply before it ranks."""
    if filter is None or callable(filter):
        return Filters(), Scope()
    if set(filter) - set(TurnMetadata.__struct_fields__):
        known = ", ".join(TurnMetadata.__struct_fields__)
        raise BadArgument(f"Turns are filtered by {known}.")
    session = filter.get("session_id")
    limits = Filters(
        project=filter.get("cwd") or filter.get("project"),
        branch=filter.get("branch"),
        model=filter.get("model"),
        tools=filter.get("has_tool_use"),
    )
    return limits, Scope(sessions=(session,) if session else None)


def _passes(metadata: TurnMetadata, filter: Filter | None) -> bool:
    if filter is None:
        return True
    if callable(filter):
        return filter(metadata)
    return all(getattr(metadata, name) == value for name, value in filter.items())
