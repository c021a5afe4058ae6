"""What single words tell: weights for some thousand words, from one small file.

A few hundred labelled sessions hold most words too rarely to weigh each by itself. Training weighs
what words mean instead (`training.offline.meanings`), and writes down what that makes of each
word; so a word that no labelled session has counts what words like it count. The file keeps
checksums of words.
"""

from __future__ import annotations

import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

FILE = Path(__file__).with_name("wording.bin")
OPENS = "opens"
"""The group of weights that tells how sessions begin."""
_WORD = re.compile(r"[^\W\d_]{2,30}")
_ASCII_WORD = re.compile(r"[a-z]{2,30}")  # a set of signs is faster than kinds of them
_ENDING = re.compile(r"(?:ing|ed|es|s)$")
_STEMMED = 5  # letters from which a word is looked up without its ending, too
_REMEMBERED = 100_000
UNKNOWN = -1
"""The row of a word that has none."""


@dataclass(frozen=True)
class Said:
    """Known words of some texts."""

    shares: Mapping[int, float]
    """Row → how much of the texts it is: of many words and texts, each counts less."""


class Lexicon:
    """The rows of known words."""

    def __init__(self, keys: Sequence[int]) -> None:
        self.keys = tuple(keys)
        self._found = _Rows({key: row for row, key in enumerate(self.keys)})

    def read(self, texts: Iterable[str]) -> Said:
        """The known words of texts; a text without any is not counted."""
        row_of, several = self._found.__getitem__, 0
        shares: dict[int, float] = {}
        for text in texts:
            counts = Counter(map(row_of, _words(text)))
            counts.pop(UNKNOWN, None)
            if counts:
                several += 1
                total = counts.total()
                for row, count in counts.items():
                    shares[row] = shares.get(row, 0.0) + (count / total) ** 0.5
        return Said({row: share / several**0.5 for row, share in shares.items()})

    def spelt(self, texts: Iterable[str]) -> dict[int, str]:
        """Row → the word, as it was first written."""
        words: dict[int, str] = {}
        for text in texts:
            for word in _words(text):
                words.setdefault(self._found[word], word)
        return words


def _words(text: str) -> list[str]:
    return (_ASCII_WORD if text.isascii() else _WORD).findall(text.lower())


class _Rows(dict[str, int]):
    """Word → its row, or that of the word without its ending; each is looked up once."""

    def __init__(self, rows: Mapping[int, int]) -> None:
        super().__init__()
        self._rows = rows

    def __missing__(self, word: str) -> int:
        row = self._rows.get(word_key(word), UNKNOWN)
        if row == UNKNOWN and len(word) >= _STEMMED:
            row = self._rows.get(word_key(_ENDING.sub("", word)), UNKNOWN)
        if len(self) < _REMEMBERED:
            self[word] = row
        return row


class Wording:
    """Weights of words: for each kind of text a group, with a weight for each class."""

    def __init__(self, lexicon: Lexicon, groups: Mapping[str, Array]) -> None:
        self.lexicon, self.groups = lexicon, groups

    def scores(self, group: str, said: Said) -> Array:
        """What words say for each class."""
        found: Array = self._weighed(group, said).sum(0)
        return found

    def reasons(self, group: str, texts: Sequence[str], column: int) -> list[tuple[str, float]]:
        """What each word of some texts adds to the score of a class."""
        said, words = self.lexicon.read(texts), self.lexicon.spelt(texts)
        added = self._weighed(group, said)[:, column].tolist()
        return [(words[row], value) for row, value in zip(said.shares, added, strict=True)]

    def _weighed(self, group: str, said: Said) -> Array:
        import numpy as np

        shares = np.array(list(said.shares.values()))
        found: Array = shares[:, None] * self.groups[group][list(said.shares)]
        return found


def word_key(word: str) -> int:
    """What the file keeps of a word: nobody's text is in it."""
    return zlib.crc32(word.encode("utf-8", "replace"))


def packed(lexicon: Lexicon, groups: Mapping[str, Array], about: Mapping[str, Any]) -> bytes:
    """The file: a line that says what it is, the checksums, then a byte for each weight."""
    import numpy as np

    table = np.hstack(list(groups.values()))
    scales = [float(f"{most / 127:.4g}") for most in np.maximum(np.abs(table).max(0), 1e-6)]
    header = {
        **about,
        "words": len(lexicon.keys),
        "groups": {name: weights.shape[1] for name, weights in groups.items()},
        "scales": scales,
    }
    steps = np.clip(np.round(table / np.array(scales)), -127, 127).astype(np.int8)
    keys = np.array(lexicon.keys, dtype="<u4")
    return b"".join((json.dumps(header).encode(), b"\n", keys.tobytes(), steps.tobytes()))


def unpacked(data: bytes) -> Wording:
    import numpy as np

    line, _, rest = data.partition(b"\n")
    header = json.loads(line)
    count, widths = header["words"], header["groups"]
    keys = np.frombuffer(rest, "<u4", count)
    steps = np.frombuffer(rest, np.int8, offset=4 * count).reshape(count, -1)
    table: Array = steps * np.array(header["scales"])
    groups, start = {}, 0
    for name, width in widths.items():
        groups[name] = table[:, start : start + width]
        start += width
    return Wording(Lexicon(keys.tolist()), groups)


@cache
def wording() -> Wording:
    """That of the package."""
    return unpacked(FILE.read_bytes())
