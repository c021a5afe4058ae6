"""What single words tell: weights for some thousand words, from one small file.

A few hundred labelled sessions hold most words too rarely to weigh each by itself. Training weighs
what words mean instead (`training.offline.meanings`), and writes down what that makes of each
word; so a word that no labelled session has counts what words like it count. The file keeps
checksums of words.
"""

from __future__ import annotations

import json
import re
import struct
import zlib
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from operator import mul
from pathlib import Path

from minutebook.extract.offline.words import ENDING

FILE = Path(__file__).with_name("wording.bin")
OPENS = "opens"
"""The group of weights that tells how sessions begin."""
_WORD = re.compile(r"[^\W\d_]{2,30}")
_ASCII_WORD = re.compile(r"[a-z]{2,30}")  # a set of signs is faster than kinds of them
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
            row = self._rows.get(word_key(ENDING.sub("", word)), UNKNOWN)
        if len(self) < _REMEMBERED:
            self[word] = row
        return row


class Wording:
    """Weights of words: for each kind of text a group, with a weight for each class."""

    def __init__(
        self, lexicon: Lexicon, widths: Mapping[str, int], scales: Sequence[float], steps: bytes
    ) -> None:
        self.lexicon = lexicon
        ends = accumulate(widths.values())
        self.groups = {
            name: range(end - widths[name], end) for name, end in zip(widths, ends, strict=True)
        }
        """Kind of text → its columns, one for each class."""
        self._scales, self._steps = scales, array("b", steps)

    def scores(self, group: str, said: Said) -> list[float]:
        """What words say for each class."""
        place, steps, shares = self.groups[group], self._steps, said.shares.values()
        begins = [row * len(self._scales) for row in said.shares]
        known = [steps[at + place.start : at + place.stop] for at in begins]
        columns = zip(*known, strict=True) if known else [()] * len(place)
        return [
            self._scales[at] * sum(map(mul, shares, column))
            for at, column in zip(place, columns, strict=True)
        ]

    def reasons(self, group: str, texts: Sequence[str], column: int) -> list[tuple[str, float]]:
        """What each word of some texts adds to the score of a class."""
        said, words = self.lexicon.read(texts), self.lexicon.spelt(texts)
        place = self.groups[group][column]
        return [
            (words[row], share * self._steps[row * len(self._scales) + place] * self._scales[place])
            for row, share in said.shares.items()
        ]


def word_key(word: str) -> int:
    """What the file keeps of a word: nobody's text is in it."""
    return zlib.crc32(word.encode("utf-8", "replace"))


def unpacked(data: bytes) -> Wording:
    """A file's content, as `training.offline.packing` writes it."""
    line, _, rest = data.partition(b"\n")
    header = json.loads(line)
    end = 4 * header["words"]
    keys = struct.unpack(f"<{header['words']}I", rest[:end])
    return Wording(Lexicon(keys), header["groups"], header["scales"], rest[end:])


@cache
def wording() -> Wording:
    """That of the package."""
    return unpacked(FILE.read_bytes())
