"""The embedder in the box: vectors of words, pieces of words and word pairs, added up.

Trained for this tool (docs/decisions.md, Search); numpy alone runs it. One file holds everything,
and what it was made from; it is mapped into memory, so that a query reads the few rows it needs.
"""

from __future__ import annotations

import json
import re
import unicodedata
import zlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

CHARS = 2_000  # of a text; its first words say what it is about
MAGIC = b"MBEMBED1"
HASHED = 1_024  # rows at the end of the words, for what has no row of its own
_CACHED = 300_000
_LONGEST_PIECE = 20
_WORD = re.compile(r"[^\W_]+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W_A-Za-z0-9]+")
_SIGNS = (
    ("\u2e80", "\u30ff"),
    ("\u31c0", "\ua4cf"),
    ("\uf900", "\ufaff"),
    ("\U00020000", "\U0003ffff"),
)
_HEX = re.compile(r"(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,}")
_MARKS = re.compile(r"[\u0300-\u036f]+")


def parts(word: str) -> list[str]:
    """Parts of camelCase, letters and numbers apart, each Chinese or Japanese sign by itself."""
    found = [part.lower() for part in _PART.findall(word)]
    if word.isascii():
        return found
    return [piece for part in found for piece in ([part] if part.isascii() else _signs(part))]


def _signs(part: str) -> list[str]:
    result: list[str] = []
    joined = False
    for sign in part:
        alone = any(first <= sign <= last for first, last in _SIGNS)
        if alone or not joined:
            result.append(sign)
        else:
            result[-1] += sign
        joined = not alone
    return result


class Tokenizer:
    """Text → rows of the table. Greedy, the longest known piece first; every word is looked up
    once and then remembered."""

    def __init__(self, words: Sequence[str]) -> None:
        self._rows = {word: row for row, word in enumerate(words)}
        self._first_hashed = len(words)
        self._cache: dict[str, tuple[int, ...]] = {}

    def rows(self, text: str) -> list[int]:
        text = text[:CHARS]
        if not text.isascii():
            folded = unicodedata.normalize("NFKD", text)
            text = unicodedata.normalize("NFC", _MARKS.sub("", folded))
        cache = self._cache
        result: list[int] = []
        for word in _WORD.findall(text):
            found = cache.get(word)
            if found is None:
                if len(cache) > _CACHED:
                    cache.clear()
                found = cache[word] = tuple(self._word(word))
            result += found
        return result

    def _word(self, word: str) -> Iterable[int]:
        lower = word.lower()
        row = self._rows.get(lower)
        if row is not None:
            yield row
        elif _HEX.fullmatch(lower):
            yield self._hashed(lower)
        else:
            for part in parts(word):
                yield from self._part(part)

    def _part(self, part: str) -> Iterable[int]:
        rows = self._rows
        row = rows.get(part)
        if row is not None:
            yield row
            return
        if not part.isascii():
            yield self._hashed(part[:5])  # its stem, roughly
            return
        start = 0
        while start < len(part):
            for end in range(min(len(part), start + _LONGEST_PIECE), start, -1):
                piece = part[start:end]
                row = rows.get("##" + piece) if start else rows.get(piece)
                if row is None and start and end - start > 3:
                    row = rows.get(piece)
                if row is not None:
                    yield row
                    start = end
                    break
            else:
                yield self._hashed(part[start])
                start += 1

    def _hashed(self, word: str) -> int:
        return self._first_hashed + zlib.crc32(word.encode("utf-8", "replace")) % HASHED


class Likeness:
    """What cosines of an embedder mean, and what they count beside words, by and large."""

    alike, related, certain = 0.2, 0.35, 0.45
    weight = 2.0

    def embed(self, texts: Sequence[str]) -> Matrix:
        raise NotImplementedError

    def embed_query(self, text: str) -> Matrix:
        vector: Matrix = self.embed([text])[0]
        return vector


class StaticEmbedder(Likeness):
    """Texts → unit vectors."""

    alike, related, certain = 0.25, 0.4, 0.5
    batch = 500

    def __init__(self, path: Path | None = None) -> None:
        self.about, self._arrays = load(path or Path(__file__).with_name("embedder.bin"))
        words = self._arrays["words"].tobytes().decode().split("\n")
        self._tokenizer = Tokenizer(words)
        self._pairs = self._arrays["pairs"]  # sorted: first row << 16 | second row
        self._first_pair = len(words) + HASHED
        self._table: Matrix | None = None
        self.fingerprint: str = self.about["fingerprint"]
        self.dimensions = int(self._arrays["vectors"].shape[1])

    def embed(self, texts: Sequence[str]) -> Matrix:
        import numpy as np

        result = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        rows, owners = self._rows(texts)
        if not len(rows):
            return result
        # A row counts by the root of how often a text has it.
        keys, counts = np.unique(owners << 20 | rows, return_counts=True)
        rows, owners = keys & 0xFFFFF, keys >> 20
        weights = np.sqrt(counts).astype(np.float32)
        starts = np.flatnonzero(np.r_[True, owners[1:] != owners[:-1]]).tolist()
        vectors_of = self._reader(len(rows))
        for start, end in zip(starts, [*starts[1:], len(rows)], strict=True):
            result[owners[start]] = weights[start:end] @ vectors_of(rows[start:end])
        return unit(result)

    def _rows(self, texts: Sequence[str]) -> tuple[Any, Any]:
        """All rows of all texts, and which text each is of."""
        import numpy as np

        found = [self._tokenizer.rows(text) for text in texts]
        lengths = [len(rows) for rows in found]
        rows = np.fromiter((row for item in found for row in item), np.int64, sum(lengths))
        owners = np.repeat(np.arange(len(texts), dtype=np.int64), lengths)
        if len(rows) < 2 or not len(self._pairs):
            return rows, owners
        keys = rows[:-1] << 16 | rows[1:]
        places = np.minimum(np.searchsorted(self._pairs, keys), len(self._pairs) - 1)
        paired = (self._pairs[places] == keys) & (owners[:-1] == owners[1:])
        return (
            np.concatenate([rows, places[paired] + self._first_pair]),
            np.concatenate([owners, owners[:-1][paired]]),
        )

    def _reader(self, wanted: int) -> Callable[[Any], Matrix]:
        """Rows → their vectors. A few are read where they lie; for many, the table is unpacked."""
        import numpy as np

        packed, scales = self._arrays["vectors"], self._arrays["scales"]
        if self._table is None and wanted > len(packed) // 8:
            self._table = packed * scales[:, None]
        table = self._table
        if table is not None:
            return lambda rows: table[rows]
        return lambda rows: packed[rows].astype(np.float32) * scales[rows, None]


def unit(vectors: Matrix) -> Matrix:
    import numpy as np

    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    result: Matrix = (vectors / np.maximum(norms, 1e-9)).astype(np.float32)
    return result


def load(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the file says about itself, and its arrays (mapped, not read)."""
    import numpy as np

    data = np.memmap(path, dtype=np.uint8, mode="r")
    if data[:8].tobytes() != MAGIC:
        raise ValueError(f"{path} is not an embedder.")
    size = int(data[8:12].view("<u4")[0])
    about = json.loads(data[12 : 12 + size].tobytes())
    arrays = {
        name: data[start : start + length].view(kind).reshape(shape)
        for name, (kind, shape, start, length) in about.pop("arrays").items()
    }
    return about, arrays


def save(path: Path, about: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Arrays start at multiples of 64; the header is padded with spaces to its place."""
    places: dict[str, Any] = {}
    start = 1 << 16
    for name, array in arrays.items():
        places[name] = [array.dtype.str, array.shape, start, array.nbytes]
        start += -(-array.nbytes // 64) * 64
    header = json.dumps(about | {"arrays": places}, ensure_ascii=False).encode()
    if len(header) + 12 > 1 << 16:
        raise ValueError("The description is too long.")
    with path.open("wb") as file:
        file.write(MAGIC + len(header).to_bytes(4, "little") + header)
        for name, array in arrays.items():
            file.seek(places[name][2])
            file.write(array.tobytes())
