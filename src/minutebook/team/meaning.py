"""One vector of each entry: what it is about, as PostgreSQL has it.

It is the mean of the entry's passages, which is nearer to each of them than a vector of all words
at once (docs/decisions.md has how much).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from minutebook.errors import Conflict
from minutebook.index.entry import Entry
from minutebook.index.passages import passages_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from minutebook.index.embedders import Embedder

    Vector = NDArray[np.float32]


def vectors_of(entries: Sequence[Entry], embedder: Embedder) -> Iterator[Vector | None]:
    """A vector for each entry; None for one too short to be about anything."""
    for start in range(0, len(entries), embedder.batch):
        part = entries[start : start + embedder.batch]
        passages = [[text for _, text in passages_of(entry)] for entry in part]
        vectors = embedder.embed([text for own in passages for text in own])
        first = 0
        for own in passages:
            vector = vectors[first : first + len(own)].sum(axis=0)
            first += len(own)
            yield vector / float((vector @ vector) ** 0.5) if vector.any() else None


def written(vector: Vector) -> str:
    """A vector as pgvector reads it."""
    return "[" + ",".join(map("%.4g".__mod__, vector.tolist())) + "]"


def check_embedder(known: str | None, own: Embedder) -> None:
    """Vectors of different embedders are never compared."""
    if known is not None and known != own.fingerprint:
        raise Conflict(
            f"The team compares meanings by {known}, and this minutebook by {own.fingerprint}: "
            "use the version of minutebook that the team uses."
        )
