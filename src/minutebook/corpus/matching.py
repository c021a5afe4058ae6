"""Which surface of a turn a query was found by."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from minutebook.corpus.strategy import Surface
from minutebook.index.analysis import has_cjk, parted, parts_of
from minutebook.index.clauses import stems, words
from minutebook.index.query import Query

_words, _stems = cache(words), cache(stems)


def _tokens(text: str) -> set[str]:
    """A text as the index sees it: its words, the parts of compound ones, and their stems."""
    whole = f"{text}\n{parts_of(text)}".encode("utf-8", "replace").decode()
    return {*_words().analyze(whole), *_stems().analyze(whole)}


class Matcher:
    """How much of a query stands in a text."""

    def __init__(self, query: Query) -> None:
        pieces = (*query.telling, *query.phrases)
        self._cjk = ["".join(piece.lower().split()) for piece in pieces if has_cjk(piece)]
        plain = [piece for piece in pieces if not has_cjk(piece)]
        self._words = [(_analyzed(piece), _stemmed(piece)) for piece in plain]
        self._prefixes = [token for prefix in query.prefixes for token in _analyzed(prefix)]

    @property
    def has_cjk(self) -> bool:
        """Whether the index cannot say by itself on which side a word stands."""
        return bool(self._cjk)

    def count(self, text: str) -> int:
        """How many pieces of the query a text has, in any of their forms."""
        if not text:
            return 0
        tokens = _tokens(text)
        joined = "".join(text.lower().split()) if self._cjk else ""
        return (
            sum(exact <= tokens or (bool(stem) and stem <= tokens) for exact, stem in self._words)
            + sum(any(token.startswith(start) for token in tokens) for start in self._prefixes)
            + sum(piece in joined for piece in self._cjk)
        )

    def best(
        self, texts: Mapping[Surface, str], alike: Surface | None, *, by_meaning: bool
    ) -> Surface:
        """The surface with most of the query; of equals the one that is alike, then the first."""

        def rank(surface: Surface) -> tuple[int, int]:
            told, near = self.count(texts[surface]), int(surface == alike)
            return (near, told) if by_meaning else (told, near)

        return max(texts, key=rank)


def _analyzed(piece: str) -> set[str]:
    return set(_words().analyze(parted(piece)))


def _stemmed(piece: str) -> set[str]:
    return set(_stems().analyze(parted(piece)))
