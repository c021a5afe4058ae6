"""Facets of an answer: how many hits each value has, and an answer narrowed to some (VIEW-23).

Narrowing takes from the hits that were found, so a count is what choosing its value shows. (A
filter in the query, `project:orchard`, is applied before ranking, and may find others.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from minutebook.archive.masking import hide
from minutebook.derive.times import instant
from minutebook.model.session import project_of

if TYPE_CHECKING:
    from minutebook.archive.hit import Hit

Counts = dict[str, dict[str, int]]
"""Dimension → value → hits, the most first; months in their order, the newest first."""


class Narrowing(msgspec.Struct, frozen=True):
    """One value of each dimension that was chosen."""

    project: str | None = None
    month: str | None = None
    """``2026-03``, in local time."""
    method: str | None = None
    agent: str | None = None
    """The persona's name."""
    program: str | None = None

    @property
    def chosen(self) -> dict[str, str]:
        return {name: value for name in FACETS if (value := getattr(self, name))}


FACETS = Narrowing.__struct_fields__
EVERYTHING = Narrowing()


def narrowed(hits: list[Hit], narrowing: Narrowing) -> tuple[list[Hit], Counts]:
    """The hits that have every chosen value; and the counts of each dimension, in which all
    chosen values hold but the one of that dimension itself: it can be changed."""
    plain = cache(hide)  # names repeat
    values = [_values(hit, plain) for hit in hits]
    chosen = narrowing.chosen
    counts: Counts = {}
    for dimension in FACETS:
        others = [(name, value) for name, value in chosen.items() if name != dimension]
        found = Counter(
            own[dimension]
            for own in values
            if own[dimension] and all(own[name] == value for name, value in others)
        )
        if (mine := chosen.get(dimension)) is not None:
            found.setdefault(mine, 0)  # what is chosen can be taken back
        counts[dimension] = dict(_ordered(dimension, found))
    kept = [
        hit
        for hit, own in zip(hits, values, strict=True)
        if all(own[name] == value for name, value in chosen.items())
    ]
    return kept, counts


def _values(hit: Hit, plain: Callable[[str], str]) -> dict[str, str]:
    moment = instant(hit.at)
    return {
        "project": plain(project_of(hit.project)) if hit.project else "",
        "month": f"{moment:%Y-%m}" if moment is not None else "",
        "method": plain(hit.engagement.method) if hit.engagement is not None else "",
        "agent": plain(hit.agent or ""),
        "program": plain(hit.program or ""),
    }


def _ordered(dimension: str, found: Counter[str]) -> Sequence[tuple[str, int]]:
    if dimension == "month":
        return sorted(found.items(), reverse=True)
    return sorted(found.items(), key=lambda item: (-item[1], item[0].lower(), item[0]))
