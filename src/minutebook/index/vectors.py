"""Vectors of all passages: int8, memory-mapped, compared exactly.

Four files, one place a passage: codes, scales, numbers of passages, rows of the database. The
rows are written last, so their count is what is whole. A row of 0 is nobody's any more. With a
filter only passages of allowed rows are compared, before and not after the best are taken.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

numkong: Any
try:
    import numkong
except ImportError:  # the extra `scale`; the same numbers without it, three times slower
    numkong = None

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

Side = Literal["asked", "answered", "both"]
_BLOCK = 1_024
_FEW = 0.3  # share of allowed passages up to which they are copied rather than all compared
_CONVERTED = 4_096  # rows at a time, so that they stay in the processor's cache
_SPARE = 20_000  # places that nobody needs before the files are written anew


class Like(NamedTuple):
    """A passage, and how alike it is."""

    row: int
    passage: int
    cosine: float


class Vectors:
    """The passages of one embedder."""

    def __init__(self, folder: Path, dimensions: int) -> None:
        self._folder, self._dimensions = folder, dimensions
        self._open()

    @property
    def count(self) -> int:
        return len(self._rows)

    def notice_growth(self) -> None:
        """See what another process has added."""
        try:
            found = (self._folder / "rows.i4").stat()
        except OSError:
            return
        if (found.st_size // 4, found.st_ino) != (self.count, self._inode):
            self._open()

    def missing(self, rows: Sequence[int]) -> list[int]:
        """Those of some rows that are not embedded yet, in their order."""
        wanted = np.asarray(rows, dtype=np.int64)
        known = self._table(self._rows, int(wanted.max(initial=0)))
        return [int(row) for row in wanted[~known[wanted]]]

    def put(self, rows: Sequence[int], passages: Sequence[int], vectors: Floats) -> None:
        """Add passages. A row without any gets one that is like nothing: it is done, too."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        peaks = np.maximum(np.abs(vectors).max(axis=1, keepdims=True, initial=0), 1e-9)
        codes = np.round(vectors / peaks * 127).astype(np.int8)
        scales = (peaks[:, 0] / 127).astype(np.float32)
        count = self.count
        parts = (
            ("codes.i8", self._dimensions, codes),
            ("scales.f4", 4, scales),
            ("passages.i2", 2, np.asarray(passages, dtype=np.int16)),
            ("rows.i4", 4, np.asarray(rows, dtype=np.int32)),
        )
        for name, width, values in parts:
            path = self._folder / name
            path.touch(mode=0o600)
            with path.open("r+b") as file:
                file.truncate(count * width)  # what a killed process left half written
                file.seek(0, 2)
                file.write(values.tobytes())
        self._open()

    def keep(self, rows: Sequence[int]) -> None:
        """Forget the passages of all other rows."""
        if not self.count:
            return
        alive = self._table(np.asarray(rows, dtype=np.int64), int(self._rows.max(initial=0)))
        alive[0] = False
        dead = int((~alive[self._rows]).sum())
        if dead > max(_SPARE, self.count // 2):
            self._compact(alive)
        elif dead > int((self._rows == 0).sum()):
            gone = ~alive[self._rows]
            # Without a scale they are like nothing, and take no place among the best.
            for name, kind in (("scales.f4", np.float32), ("rows.i4", np.int32)):
                path = self._folder / name
                mapped = np.memmap(path, dtype=kind, mode="r+", shape=(self.count,))
                mapped[gone] = 0
                mapped.flush()
            self._open()

    def search(
        self,
        vector: Floats,
        k: int,
        side: Side = "both",
        allowed: Sequence[int] | None = None,
        without: Sequence[int] = (),
    ) -> list[Like]:
        """The passages most like a vector, best first, with their cosines."""
        if not self.count:
            return []
        peak = max(float(np.abs(vector).max()), 1e-9)
        code = np.round(vector / peak * 127).astype(np.int8)[None, :]
        within = self._within(side, allowed)
        places = None
        if within is not None and within.mean() < _FEW:
            places = np.flatnonzero(within)
            if not len(places):
                return []
        codes: Any = self._codes if places is None else self._codes[places]
        scales = self._scales if places is None else self._scales[places]
        dots = _dots(codes, code)
        scores = np.multiply(dots, np.asarray(scales), dtype=np.float32, casting="unsafe")
        if places is None and within is not None:
            scores[~within] = -np.inf
        if without:
            rows = self._rows if places is None else self._rows[places]
            scores[np.isin(rows, np.asarray(without, dtype=np.int32))] = -np.inf
        best = _top(scores, k)
        best = best[scores[best] > 0]
        found = best if places is None else places[best]
        rows, passages = self._rows[found].tolist(), self._passages[found].tolist()
        cosines = (scores[best] * (peak / 127)).tolist()
        likes = map(Like, rows, passages, cosines)
        return [like for like in likes if like.row]

    def _within(self, side: Side, allowed: Sequence[int] | None) -> NDArray[np.bool_] | None:
        """Which passages may be compared; None for all."""
        found: NDArray[np.bool_] | None = None
        if allowed is not None:
            table = self._table(np.asarray(allowed, dtype=np.int64), int(self._rows.max(initial=0)))
            table[0] = False
            found = table[self._rows]
        if side != "both":
            sided = self._passages > 0 if side == "asked" else self._passages < 0
            found = sided if found is None else found & sided
        return found

    @staticmethod
    def _table(rows: NDArray[Any], highest: int) -> NDArray[np.bool_]:
        """Which rows are among some, by their numbers: quicker than looking each of them up."""
        table = np.zeros(max(highest, int(rows.max(initial=0))) + 1, dtype=bool)
        table[rows] = True
        return table

    def _open(self) -> None:
        shapes = {"codes.i8": (np.int8, self._dimensions), "scales.f4": (np.float32, 1)}
        shapes |= {"passages.i2": (np.int16, 1), "rows.i4": (np.int32, 1)}
        try:
            found = (self._folder / "rows.i4").stat()
            count, self._inode = found.st_size // 4, found.st_ino
            arrays: list[Any] = [
                self._mapped(name, kind, count, width) for name, (kind, width) in shapes.items()
            ]
        except (OSError, ValueError):
            # Not there, or cut short: nobody can say what is what. It is made again.
            self._inode = 0
            arrays = [np.zeros((0, width)[: 1 + (width > 1)], k) for k, width in shapes.values()]
        self._codes, self._scales, self._passages, self._rows = arrays

    def _mapped(self, name: str, kind: Any, count: int, width: int) -> Any:
        shape = (count, width) if width > 1 else (count,)
        if not count:
            return np.zeros(shape, kind)
        return np.memmap(self._folder / name, dtype=kind, mode="r", shape=shape)

    def _compact(self, alive: NDArray[np.bool_]) -> None:
        """Write the files anew without what is gone; who has the old ones open may go on."""
        new, old = self._folder.with_suffix(".new"), self._folder.with_suffix(".old")
        for folder in (new, old):
            shutil.rmtree(folder, ignore_errors=True)
        new.mkdir(mode=0o700)
        kept = np.flatnonzero(alive[self._rows])
        for name, values in (
            ("codes.i8", self._codes),
            ("scales.f4", self._scales),
            ("passages.i2", self._passages),
            ("rows.i4", self._rows),
        ):
            path = new / name
            path.touch(mode=0o600)
            path.write_bytes(values[kept].tobytes())
        self._folder.rename(old)
        new.rename(self._folder)
        shutil.rmtree(old)
        self._open()


def _dots(codes: Any, code: NDArray[np.int8]) -> NDArray[Any]:
    """The products of every row with one; whole numbers below 2^24, so exact either way."""
    if numkong is not None:
        return np.asarray(numkong.dots_packed(codes, numkong.dots_pack(code))).ravel()
    found = np.empty(len(codes), np.float32)
    wanted = code[0].astype(np.float32)
    room = np.empty((min(_CONVERTED, len(codes)), len(wanted)), np.float32)
    for start in range(0, len(codes), _CONVERTED):
        some = codes[start : start + _CONVERTED]
        np.copyto(room[: len(some)], some)
        np.dot(room[: len(some)], wanted, out=found[start : start + len(some)])
    return found


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
    if len(candidates) > 4 * k:
        left = scores[candidates]
        bound = np.partition(left, len(left) - k)[len(left) - k]
        candidates = candidates[left >= bound]
    order = np.argsort(-scores[candidates], kind="stable")
    return candidates[order[:k]]
