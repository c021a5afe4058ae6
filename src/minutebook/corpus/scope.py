"""Turns by their ids, read when they are asked for."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping, ValuesView

from minutebook.corpus.reading import Turns
from minutebook.derive.turn_pairs import TurnPair


class TurnScope(Mapping[str, TurnPair]):
    """``scope["session:uuid"]`` reads that session and no other; iterating reads one session
    after the other, `len` all of them. Where a function gives the turns, it is called."""

    def __init__(self, source: Turns) -> None:
        self.source = source

    def __getitem__(self, id: str) -> TurnPair:
        found = self.source.find(id)
        if found is None:
            raise KeyError(id)
        return found

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and self.source.find(id) is not None

    def __iter__(self) -> Iterator[str]:
        return (pair.id for pair in self.source)

    def __len__(self) -> int:
        return sum(1 for _ in self.source)

    def items(self) -> ItemsView[str, TurnPair]:
        return _Items(self)

    def values(self) -> ValuesView[TurnPair]:
        return _Values(self)


# Python's own views look each turn up by its id, which would read its session again.


class _Items(ItemsView[str, TurnPair]):
    _mapping: TurnScope

    def __iter__(self) -> Iterator[tuple[str, TurnPair]]:
        return ((pair.id, pair) for pair in self._mapping.source)


class _Values(ValuesView[TurnPair]):
    _mapping: TurnScope

    def __iter__(self) -> Iterator[TurnPair]:
        return iter(self._mapping.source)
