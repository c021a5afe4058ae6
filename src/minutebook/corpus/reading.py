"""Where a corpus has its turns from: an archive and its transcripts, or a function (CORP-15)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime
from functools import cached_property, partial
from typing import Protocol

import msgspec

from minutebook.archive import Archive
from minutebook.archive.masking import reveal
from minutebook.archive.turns import (
    Candidate,
    SessionTurns,
    candidates,
    in_projects,
    in_window,
    session_turns,
    turns,
)
from minutebook.derive.turn_pairs import TurnPair
from minutebook.index.entry import seconds
from minutebook.index.update import State
from minutebook.sources.fan_out import fan_out

Fetcher = Callable[[], Iterable[TurnPair]]


class Looked(msgspec.Struct, frozen=True):
    """What an earlier read said of a session: where it worked, None if it is no transcript."""

    state: State
    cwds: tuple[str, ...] | None


class Read(msgspec.Struct, frozen=True):
    """A session that was read just now."""

    session_id: str
    state: State
    at: float
    """Its last activity."""
    pairs: list[TurnPair]


class Progress:
    """What a look at all sessions finds out beside what it reads."""

    def __init__(self, known: Mapping[str, State], looked: Mapping[str, Looked]) -> None:
        self.known, self.looked = known, looked
        self.kept: set[str] = set()
        """Sessions that are indexed as they are."""
        self.news: dict[str, Looked] = {}
        """Sessions that were read."""

    @property
    def is_current(self) -> bool:
        """Whether all that is indexed is as it was, once everything was looked at."""
        return self.kept == self.known.keys() and not self.news


class Turns(Protocol):
    """A source of turns."""

    @property
    def mark(self) -> str:
        """What the same turns would differ by in another corpus."""
        ...

    @property
    def since(self) -> datetime | None:
        """The beginning of the window."""
        ...

    def __iter__(self) -> Iterator[TurnPair]: ...

    def changed(self, progress: Progress) -> Iterator[Read]:
        """Sessions that must be indexed again."""
        ...

    def find(self, id: str) -> TurnPair | None:
        """A turn by its id; at most its session is read."""
        ...


class ArchiveTurns:
    """Turns of the sessions of an archive, newest session first."""

    def __init__(
        self,
        opened: Callable[[], Archive],
        *,
        window: Callable[[], datetime | None],
        projects: Collection[str] | None,
        most: int | None,
        only_present: bool,
    ) -> None:
        self._opened, self._window = opened, window
        self._projects, self._most, self._only_present = projects, most, only_present
        self._last: tuple[Candidate, SessionTurns] | None = None

    @cached_property
    def _archive(self) -> Archive:
        return self._opened()

    @property
    def mark(self) -> str:
        return "secrets" if self._archive.hide is reveal else "masked"

    @property
    def since(self) -> datetime | None:
        return self._window()

    def __iter__(self) -> Iterator[TurnPair]:
        self._archive.look_again()
        return turns(
            self._archive,
            since=self.since,
            projects=self._projects,
            most=self._most,
            only_present=self._only_present,
        )

    def _candidates(self) -> list[Candidate]:
        self._archive.look_again()
        return candidates(self._archive, since=self.since, only_present=self._only_present)

    def changed(self, progress: Progress) -> Iterator[Read]:
        left, taken, since = self._candidates(), 0, self.since
        # Of a batch as large as what may still be taken, all that fits is taken: the order in
        # which its sessions are read does not matter.
        while left and (self._most is None or taken < self._most):
            count = len(left) if self._most is None else self._most - taken
            batch, left = left[:count], left[count:]
            unread: list[Candidate] = []
            for candidate in batch:
                if not self._may_fit(candidate, progress):
                    continue
                if progress.known.get(candidate.session_id) == candidate.state:
                    progress.kept.add(candidate.session_id)
                    taken += 1
                else:
                    unread.append(candidate)
            for candidate, found in self._read(unread):
                if found is None:  # not now: it stays as it was, and the next refresh tries again
                    if candidate.session_id in progress.known:
                        progress.kept.add(candidate.session_id)
                    continue
                id, state = candidate.session_id, candidate.state
                progress.news[id] = Looked(state, found.cwds)
                if in_projects(found.cwds, self._projects):
                    taken += 1
                    pairs = [pair for pair in found.pairs if in_window(pair.metadata, since)]
                    yield Read(id, state, candidate.at, pairs)

    def _may_fit(self, candidate: Candidate, progress: Progress) -> bool:
        """Whether a session is of the projects, as far as that is known without reading it."""
        cwds = candidate.cwds
        if cwds is None:
            looked = progress.looked.get(candidate.session_id)
            if looked is None or looked.state != candidate.state:
                return True
            cwds = looked.cwds
        return in_projects(cwds, self._projects)

    def _read(self, unread: list[Candidate]) -> Iterator[tuple[Candidate, SessionTurns | None]]:
        decoder = msgspec.msgpack.Decoder(SessionTurns)
        for candidate, packed in fan_out(partial(_packed, self._archive), unread):
            yield candidate, decoder.decode(packed) if packed else None

    def find(self, id: str) -> TurnPair | None:
        chosen = self._chosen(id)
        if chosen is None:
            return None
        if self._last is None or self._last[0] != chosen:
            try:
                self._last = (chosen, session_turns(self._archive, chosen.session_id))
            except OSError:
                return None  # deleted just now
        found = self._last[1]
        if not in_projects(found.cwds, self._projects):
            return None
        since = self.since
        return next((p for p in found.pairs if p.id == id and in_window(p.metadata, since)), None)

    def _chosen(self, id: str) -> Candidate | None:
        """The session of a turn, if it is one of those that count."""
        taken = 0
        for candidate in self._candidates():
            if self._most is not None and taken >= self._most:
                return None
            if id.startswith(f"{candidate.session_id}:"):
                return candidate
            if self._most is not None:
                taken += self._fits(candidate)
        return None

    def _fits(self, candidate: Candidate) -> bool:
        """Whether a session is of the projects; it is read where nothing else tells."""
        if candidate.cwds is not None:
            return in_projects(candidate.cwds, self._projects)
        try:
            return in_projects(
                session_turns(self._archive, candidate.session_id).cwds, self._projects
            )
        except OSError:
            return False


def _packed(archive: Archive, candidate: Candidate) -> bytes:
    """A session as it travels between processes; nothing where it could not be read."""
    try:
        return msgspec.msgpack.encode(session_turns(archive, candidate.session_id))
    except (OSError, RecursionError):
        return b""


class FetchedTurns:
    """Turns that a function gives; it is called once a refresh, for nobody else can tell what
    has changed."""

    mark = "fetched"
    since = None

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher

    def __iter__(self) -> Iterator[TurnPair]:
        return iter(self._fetcher())

    def changed(self, progress: Progress) -> Iterator[Read]:  # noqa: ARG002 - all of it
        sessions: dict[str, list[TurnPair]] = {}
        for pair in self:
            sessions.setdefault(pair.metadata.session_id, []).append(pair)
        for session_id, pairs in sessions.items():
            last = max(seconds(pair.metadata.timestamp) for pair in pairs)
            yield Read(session_id, ("fetched", len(pairs), 0.0), last, pairs)

    def find(self, id: str) -> TurnPair | None:
        return next((pair for pair in self if pair.id == id), None)
