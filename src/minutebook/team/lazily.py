"""Values of sessions that are fetched when they are asked for, several together where one can."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, ItemsView, Iterable, Iterator, ValuesView
from typing import TypeVar

T = TypeVar("T")


class Lazily(dict[str, T]):
    """A value for each of some ids. Whoever goes through all of them has all of them fetched."""

    def __init__(
        self, ids: Collection[str], fetch: Callable[[Collection[str]], dict[str, T]]
    ) -> None:
        super().__init__()
        self._ids, self._fetch = ids, fetch
        self._lock = threading.Lock()

    def expect(self, ids: Iterable[str]) -> None:
        """These are asked for next."""
        with self._lock:
            wanted = [id for id in dict.fromkeys(ids) if id in self._ids and not self._has(id)]
            if wanted:
                for id, value in self._fetch(wanted).items():
                    super().__setitem__(id, value)

    def _has(self, id: str) -> bool:
        return super().__contains__(id)

    def __missing__(self, id: str) -> T:
        if id not in self._ids:
            raise KeyError(id)
        self.expect((id,))
        if not self._has(id):  # withdrawn just now
            raise KeyError(id)
        return super().__getitem__(id)

    def get(self, id: str, default: T | None = None) -> T | None:  # type: ignore[override] # one overload is used
        try:
            return self[id]
        except KeyError:
            return default

    def __contains__(self, id: object) -> bool:
        return id in self._ids

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._ids))

    def __len__(self) -> int:
        return len(self._ids)

    def keys(self) -> Collection[str]:  # type: ignore[override] # ids are known without values
        return dict.fromkeys(self._ids).keys()

    def values(self) -> ValuesView[T]:  # type: ignore[override]
        self.expect(self._ids)
        return dict(super().items()).values()

    def items(self) -> ItemsView[str, T]:  # type: ignore[override]
        self.expect(self._ids)
        return dict(super().items()).items()
