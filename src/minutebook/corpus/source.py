"""`CorpusSource`: turn pairs as a corpus, with an index of its own."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from minutebook.archive import Archive, open_archive
from minutebook.corpus.policy import (
    DEFAULT_DAYS,
    Options,
    Policy,
    Synopsis,
    checked,
    read_options,
    write_options,
)
from minutebook.corpus.reading import ArchiveTurns, FetchedTurns, Fetcher, Turns
from minutebook.corpus.scope import TurnScope
from minutebook.corpus.store import Indexed, Store
from minutebook.corpus.strategy import TurnStrategy
from minutebook.derive.periods import since as parse_since
from minutebook.derive.turn_pairs import TurnPair
from minutebook.errors import Locked, NotFound
from minutebook.index.engine import Engine
from minutebook.record.store import make_folder

if TYPE_CHECKING:
    from minutebook.index.embedders import Embedder


class CorpusSource:
    """A lazy corpus of turn pairs. Nothing is read before it is iterated or searched."""

    def __init__(
        self,
        source: Fetcher | Turns,
        strategy: TurnStrategy,
        folder: Path | None = None,
        *,
        policy: Policy = Policy(),  # noqa: B008 - frozen
        options: Options | None = None,
        embedder: Callable[[], Embedder] | None = None,
    ) -> None:
        self.source: Turns = FetchedTurns(source) if callable(source) else source
        self.strategy = strategy
        self.policy = policy if folder is None else msgspec.structs.replace(policy, storage=folder)
        self.options = options
        """What is written into the folder; None for turns that a function gives."""
        self._make_embedder = embedder

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
        policy: Policy = Policy(),  # noqa: B008 - frozen
        embedder: Callable[[], Embedder] | None = None,
    ) -> CorpusSource:
        """Turn pairs of all sessions, newest session first (CORP-05).

        `since` is a number of days, a date, or None for all there is (CORP-11). `projects` is a
        part of a path, or several: a session counts if one of them is in one of its working
        directories, whatever the case; an empty list lets nothing through. `max_sessions` keeps
        the newest of those (CORP-12). `fetcher` gives the pairs instead (CORP-15). `folder`, or
        `policy.storage`, keeps the index between runs.

        Sessions are read from the `archive` (by default the usual one), and from transcripts
        where that does not have them. With `roots` alone, only sessions found there count.
        Secrets are masked, unless the archive was opened with them.
        """
        options = checked(
            Options(
                since=since.isoformat() if isinstance(since, datetime) else since,
                projects=_several(projects),
                include_full=include_full,
                max_sessions=max_sessions,
                schedule=policy.schedule,
                synopsis_days=policy.synopsis_days,
            )
        )
        _moment(since)  # what is not a date is said now
        kept = folder if folder is not None else policy.storage
        source: Fetcher | Turns = fetcher or ArchiveTurns(
            lambda: archive if isinstance(archive, Archive) else open_archive(archive, roots),
            window=partial(_moment, since),
            projects=options.projects,
            most=max_sessions,
            only_present=archive is None and bool(roots),
        )
        return cls(
            source,
            TurnStrategy(include_full),
            Path(kept).expanduser() if kept is not None else None,
            policy=policy,
            options=options if fetcher is None else None,
            embedder=embedder,
        )

    def __iter__(self) -> Iterator[TurnPair]:
        return iter(self.source)

    @cached_property
    def scope(self) -> TurnScope:
        """Turns by their ids; one that is looked up costs reading its session."""
        return TurnScope(self.source)

    def change_signal(self, pair: TurnPair) -> str:
        """Another signal means that a turn must be indexed again (CORP-06)."""
        return self.strategy.entry(pair).signal

    def refresh(self, *, embed: bool = False) -> Indexed:
        """Index what is new or has changed, and forget what is gone."""
        done = self.store.refresh(self.source)
        if self.options is not None and self.policy.storage is not None:
            write_options(self.store.folder, self.options)
        embedded = self.store.embed(self.embedder()) if embed else 0
        return msgspec.structs.replace(done, embedded=embedded)

    def bring_up_to_date(self, *, embed: bool = False) -> Indexed | None:
        """The same, or None where another process is writing the index: the old one serves."""
        try:
            return self.refresh(embed=embed)
        except (Locked, OSError):
            if not self.store.exists:
                raise
            return None

    def engine(self) -> Engine:
        return self.store.engine()

    def embedder(self) -> Embedder:
        return self._embedder

    @cached_property
    def _embedder(self) -> Embedder:
        if self._make_embedder is not None:
            return self._make_embedder()
        from minutebook.index.static import StaticEmbedder

        return StaticEmbedder()

    @cached_property
    def store(self) -> Store:
        """The index. Without a folder of its own it is in a temporary one."""
        if self.policy.storage is not None:
            folder = Path(self.policy.storage).expanduser()
        else:
            self._temporary = tempfile.mkdtemp(prefix="minutebook-corpus-")
            folder = Path(self._temporary)
        make_folder(folder)
        return Store(folder, self.strategy, self.policy)

    def __del__(self) -> None:
        if temporary := getattr(self, "_temporary", None):
            shutil.rmtree(temporary, ignore_errors=True)


PRESETS: dict[str, Callable[..., CorpusSource]] = {"sessions": CorpusSource.from_claude_sessions}
"""Corpora by name (CORP-09)."""


def preset(name: str, **options: Any) -> CorpusSource:
    """A registered corpus, with its smart defaults."""
    if name not in PRESETS:
        raise NotFound(f"'{name}' is not a corpus; choose one of {', '.join(sorted(PRESETS))}.")
    return PRESETS[name](**options)


def kept_corpus(
    archive: Archive,
    name: str = "sessions",
    *,
    synopsis: Synopsis | None = None,
    anew: bool = False,
    **changes: Any,
) -> CorpusSource:
    """The corpus that an archive keeps, as `minutebook corpus` builds and searches it.

    Its options are those it was last built with, unless `anew`; `changes` (fields of `Options`)
    win over them.
    """
    folder = archive.layout.corpora / name
    known = None if anew else read_options(folder)
    options = msgspec.structs.replace(known or Options(), **changes)
    policy = Policy(
        schedule=options.schedule,
        synopsis=synopsis,
        synopsis_days=options.synopsis_days,
        storage=folder,
    )
    from minutebook.archive.semantic import Meaning

    return preset(
        name,
        since=options.since,
        projects=options.projects,
        include_full=options.include_full,
        max_sessions=options.max_sessions,
        archive=archive,
        policy=policy,
        embedder=Meaning(archive.layout).embedder,
    )


def with_synopsis(
    corpus: CorpusSource, synopsis: Synopsis, *, days: int | None = None
) -> CorpusSource:
    """The same turns, found by a synopsis too: of all sessions, or of those active in the last
    `days`. Nothing asks a model by default (CORP-10)."""
    policy = Policy(schedule=corpus.policy.schedule, synopsis=synopsis, synopsis_days=days)
    return CorpusSource(corpus.source, corpus.strategy, policy=policy, embedder=corpus.embedder)


def _several(projects: str | Collection[str] | None) -> tuple[str, ...] | None:
    if projects is None:
        return None
    return (projects,) if isinstance(projects, str) else tuple(projects)


def _moment(since: int | str | datetime | None) -> datetime | None:
    if since is None or isinstance(since, datetime):
        return since.astimezone() if since is not None else None
    return parse_since(since if isinstance(since, str) else f"{since} days")
