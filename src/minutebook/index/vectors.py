"""Vectors of all entries: int8, memory-mapped, compared exactly.

A row of the database is a row of two matrices, one for what was asked and one for what was
answered. A scale of 0 means that a side is not embedded yet. With a filter only the allowed
rows are compared, before and not after the best are taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numkong
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

Side = Literal["asked", "answered"]
SIDES: tuple[Side, ...] = ("asked", "answered")
_GROWTH = 4_096  # rows
_BLOCK = 1_024


class Vectors:
    """The matrices of one embedder."""

    def __init__(self, folder: Path, dimensions: int) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder, self._dimensions = folder, dimensions
        self._codes: dict[Side, np.memmap[tuple[int, int], np.dtype[np.int8]]] = {}
        self._scales: dict[Side, np.memmap[tuple[int], np.dtype[np.float32]]] = {}
        self._open()

    @property
    def rows(self) -> int:
        """How many rows there is room for."""
        return int(self._scales["asked"].shape[0]) if self._scales else 0

    def notice_growth(self) -> None:
        """See what another process has added."""
        try:
            count = (self._folder / "asked.f32").stat().st_size // 4
        except OSError:
            return
        if count != self.rows:
            self._open()

    def missing(self, rows: Sequence[int]) -> list[int]:
        """Those of some rows that are not embedded yet, in their order."""
        wanted = np.asarray(rows, dtype=np.int64)
        known = np.zeros(len(wanted), dtype=bool)
        inside = wanted < self.rows
        if self._scales:
            known[inside] = self._scales["asked"][wanted[inside]] > 0
        return [int(row) for row in wanted[~known]]

    def put(self, rows: Sequence[int], asked: Floats, answered: Floats) -> None:
        """Store the vectors of rows; a side without words gets a vector that is like nothing."""
        self._grow(max(rows, default=-1) + 1)
        places = np.asarray(rows, dtype=np.int64)
        for side, vectors in (("asked", asked), ("answered", answered)):
            peaks = np.maximum(np.abs(vectors).max(axis=1, keepdims=True), 1e-9)
            self._codes[side][places] = np.round(vectors / peaks * 127).astype(np.int8)  # type: ignore[index]
            self._scales[side][places] = (peaks[:, 0] / 127).astype(np.float32)  # type: ignore[index]

    def side(self, side: Side) -> Floats:
        """All vectors of a side, as they were before they were made small."""
        codes = np.asarray(self._codes[side], dtype=np.float32)
        vectors: Floats = codes * np.asarray(self._scales[side])[:, None]
        return vectors

    def flush(self) -> None:
        for side in SIDES:
            if side in self._codes:
                self._codes[side].flush()
                self._scales[side].flush()

    def search(
        self, vector: Floats, k: int, sides: Sequence[Side], allowed: Sequence[int] | None = None
    ) -> list[tuple[int, float]]:
        """The rows most like a vector, best first, with the cosine of their better side."""
        if not self.rows:
            return []
        peak = max(float(np.abs(vector).max()), 1e-9)
        code = np.round(vector / peak * 127).astype(np.int8)[None, :]
        places = None
        if allowed is not None:
            places = np.asarray(allowed, dtype=np.int64)
            places = places[places < self.rows]
            if not len(places):
                return []
        best: NDArray[np.float32] | None = None
        for side in sides:
            codes = self._codes[side] if places is None else self._codes[side][places]
            scales = self._scales[side] if places is None else self._scales[side][places]
            dots = np.asarray(numkong.dots_packed(codes, numkong.dots_pack(code))).ravel()
            scores = np.multiply(dots, np.asarray(scales), dtype=np.float32, casting="unsafe")
            best = scores if best is None else np.maximum(best, scores, out=best)
        assert best is not None
        top = _top(best, k)
        rows = top if places is None else places[top]
        unit = peak / 127
        return [(int(row), float(best[place]) * unit) for row, place in zip(rows, top, strict=True)]

    def _open(self) -> None:
        scales = self._folder / "asked.f32"
        count = scales.stat().st_size // 4 if scales.exists() else 0
        if not self._is_whole(count):
            # Cut short or missing in part: nobody can say what is what. It is made again.
            for path in self._folder.iterdir():
                path.unlink()
            count = 0
        self._codes, self._scales = {}, {}
        if not count:
            return
        shape = (count, self._dimensions)
        for side in SIDES:
            codes, scale = self._folder / f"{side}.i8", self._folder / f"{side}.f32"
            self._codes[side] = np.memmap(codes, dtype=np.int8, mode="r+", shape=shape)
            self._scales[side] = np.memmap(scale, dtype=np.float32, mode="r+", shape=(count,))

    def _is_whole(self, count: int) -> bool:
        """Whether all four files have the length they should have."""
        sizes = {path.name: path.stat().st_size for path in self._folder.iterdir()}
        expected: dict[str, int] = {}
        for side in SIDES:
            expected |= {f"{side}.i8": count * self._dimensions, f"{side}.f32": count * 4}
        return sizes == (expected if count else {})

    def remove(self, rows: Sequence[int]) -> None:
        """Rows that are gone are like nothing any more."""
        places = np.asarray([row for row in rows if row < self.rows], dtype=np.int64)
        for side in SIDES:
            if side in self._scales:
                self._scales[side][places] = 0

    def _grow(self, rows: int) -> None:
        if rows <= self.rows:
            return
        self.flush()
        count = max(rows + _GROWTH, self.rows + self.rows // 8)
        self._codes, self._scales = {}, {}
        for name, width in (("i8", self._dimensions), ("f32", 4)):
            for side in reversed(SIDES):
                path = self._folder / f"{side}.{name}"
                path.touch(mode=0o600)
                with path.open("r+b") as file:
                    file.truncate(count * width)
        self._open()


def _top(scores: Floats, k: int) -> NDArray[np.intp]:
    """Positions of the highest scores, best first, of equals the first.

    A partition slows down five-fold over many equal scores, and short prompts have them all.
    The k-th best of the blocks' maxima is a bound that at least k scores reach.
    """
    whole = len(scores) // _BLOCK
    candidates = np.arange(len(scores))
    if whole > k:
        peaks = scores[: whole * _BLOCK].reshape(whole, _BLOCK).max(axis=1)
        bound = np.partition(peaks, whole - k)[whole - k]
        candidates = np.flatnonzero(scores >= bound)
    order = np.argsort(-scores[candidates], kind="stable")
    return candidates[order[:k]]
