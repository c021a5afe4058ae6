"""From what a person typed to queries of the full-text engine."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal, Protocol

import tantivy
from tantivy import Filter, Occur, TextAnalyzer, TextAnalyzerBuilder, Tokenizer
from tantivy import Query as TantivyQuery

from minutebook.derive.surfaces import SURFACES, Surface
from minutebook.index.analysis import STOP_WORDS, has_cjk, pairs, parted, variants
from minutebook.index.query import Query

Side = Literal["asked", "answered", "final", "both"]
"""``final``: the last words of an answer only."""
Fields = Sequence[tuple[str, float]]
"""Fields of the index, and what a word in each counts."""
Part = Any
"""A query, or a piece of one, as the engine at hand has it."""
Clause = tuple[Occur, Part]
_LONGEST_WORD = 80
_NAME = re.compile(r"\w[_./:]\w|[a-z][A-Z]")  # one thing, although it has parts
_FORM, _REST = 0.4, 0.35  # what another form, and a word of the deliberation, counts
_TIE = 0.2  # what the second-best field adds
FIELDS: dict[Side, Fields] = {
    "asked": (("asked", 1.0),),
    "answered": (("answered", 1.0), ("rest", _REST)),
    "final": (("answered", 1.0),),
    "both": (("asked", 1.0), ("answered", 1.0), ("rest", _REST)),
}
_WORK: dict[Surface, float] = {
    "commands": 1.0,
    "errors": 1.0,
    "paths": 1.0,
    "subagents": 0.9,
    "output": 0.8,
    "thinking": 0.7,
}


EVERYWHERE: Fields = (*FIELDS["both"], *_WORK.items())


def fields_of(side: Side) -> list[str]:
    """What is looked at for a side."""
    return [name for name, _ in FIELDS[side]]


def work_fields(surfaces: Sequence[Surface]) -> Fields:
    return [(name, _WORK[name]) for name in surfaces]


def schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("row", stored=False, indexed=True, fast=True)
    builder.add_integer_field("at", indexed=True, fast=True)
    builder.add_integer_field("budget", indexed=True)
    for name in ("kind", "session", "project", "branch", "model", "tools"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in ("asked", "answered", "rest", *SURFACES):
        builder.add_text_field(name, tokenizer_name="words", index_option="position")
    for name in ("said", "whole"):
        builder.add_text_field(name, tokenizer_name="stems", index_option="freq")
    for name in ("asked", "answered", "rest", *SURFACES):
        builder.add_text_field(cjk_of(name), tokenizer_name="pairs", index_option="position")
    return builder.build()


def cjk_of(field: str) -> str:
    """The field with the pairs of characters of another."""
    return f"cjk_{field}"


def words() -> TextAnalyzer:
    """Words as they stand there, in small letters and without accents."""
    return _plain().build()


def stems() -> TextAnalyzer:
    """Words without their endings, and without those that say nothing."""
    named = _plain().filter(Filter.custom_stopword(sorted(STOP_WORDS)))
    return named.filter(Filter.stemmer("english")).build()


def _plain() -> TextAnalyzerBuilder:
    builder = TextAnalyzerBuilder(Tokenizer.simple()).filter(Filter.remove_long(_LONGEST_WORD))
    return builder.filter(Filter.lowercase()).filter(Filter.ascii_fold())


class Parts(Protocol):
    """What queries are put together from. The engine of this machine has its own; a team's database
    has others of the same meaning."""

    def term(self, field: str, token: str) -> Part: ...

    def phrase(self, field: str, tokens: Sequence[str]) -> Part: ...

    def starting(self, field: str, tokens: Sequence[str]) -> Part:
        """Words in their order, of which the last may go on."""
        ...

    def letter(self, field: str, letter: str) -> Part:
        """A pair of characters with this one in it."""
        ...

    def weighed(self, part: Part, weight: float) -> Part: ...

    def best(self, parts: Sequence[Part], tie: float = 0.0) -> Part:
        """One of some; it counts as the best of them, and a little as the others."""
        ...

    def either(self, parts: Sequence[Part]) -> Part:
        """One of some; each that holds counts."""
        ...

    def every(self, parts: Sequence[Part]) -> Part: ...

    def nothing(self) -> Part: ...


class TantivyParts:
    """The parts of the engine of this machine."""

    def __init__(self, schema: tantivy.Schema) -> None:
        self._schema = schema

    def term(self, field: str, token: str) -> TantivyQuery:
        return TantivyQuery.term_query(self._schema, field, token, index_option="freq")

    def phrase(self, field: str, tokens: Sequence[str]) -> TantivyQuery:
        return TantivyQuery.phrase_query(self._schema, field, list(tokens))

    def starting(self, field: str, tokens: Sequence[str]) -> TantivyQuery:
        *before, last = tokens
        if before:
            words: list[Any] = [*before, last]
            return TantivyQuery.phrase_prefix_query(self._schema, field, words)
        return TantivyQuery.regex_query(self._schema, field, re.escape(last) + ".*")

    def letter(self, field: str, letter: str) -> TantivyQuery:
        plain = re.escape(letter)
        return TantivyQuery.regex_query(self._schema, field, f"{plain}.?|.{plain}")

    def weighed(self, part: TantivyQuery, weight: float) -> TantivyQuery:
        return TantivyQuery.boost_query(part, weight)

    def best(self, parts: Sequence[TantivyQuery], tie: float = 0.0) -> TantivyQuery:
        return TantivyQuery.disjunction_max_query(list(parts), tie)

    def either(self, parts: Sequence[TantivyQuery]) -> TantivyQuery:
        return TantivyQuery.boolean_query([(Occur.Should, part) for part in parts])

    def every(self, parts: Sequence[TantivyQuery]) -> TantivyQuery:
        return TantivyQuery.boolean_query([(Occur.Must, part) for part in parts])

    def nothing(self) -> TantivyQuery:
        return TantivyQuery.empty_query()


class Clauses:
    """The pieces of a query as an engine understands them."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._words, self._stems = words(), stems()

    # -- of a whole query

    def every(self, query: Query, fields: Fields) -> list[Clause]:
        """All words and phrases, each somewhere in some fields."""
        return [(Occur.Must, self._piece(piece, fields)) for piece in self._pieces(query)]

    def some(self, query: Query, fields: Fields) -> list[Clause]:
        """Some of the telling words, and every phrase."""
        pieces = self._pieces(query, telling=True)
        return self._either(
            [self._piece(piece, fields) for piece in pieces if piece[0] != "phrase"], query, fields
        )

    def about(self, query: Query, field: Literal["said", "whole"], fields: Fields) -> list[Clause]:
        """Some of the words in any of their forms, and every phrase."""
        names = [word for word in query.telling if has_cjk(word) or _NAME.search(word)]
        words = [word for word in query.telling if field == "whole" or word not in names]
        said = " ".join((*words, *map(parted, words)))
        ways = [self._term(field, token) for token in dict.fromkeys(self._stems.analyze(said))]
        if field == "said":
            ways += [self.word(name, fields) for name in names]
            ways += [self._prefix(prefix, fields) for prefix in query.prefixes]
        return self._either(ways, query, fields if field == "said" else ())

    def _either(self, ways: list[Part], query: Query, fields: Fields) -> list[Clause]:
        some = [(Occur.Must, self._parts.either(ways))] if ways else []
        return [*some, *self.phrases(query, fields)]

    def phrases(self, query: Query, fields: Fields) -> list[Clause]:
        return [(Occur.Must, self.quoted(text, fields)) for text in query.phrases if fields]

    def typed(self, text: str, fields: Fields) -> Part | None:
        """All of what was typed, word by word, as a line that somebody copied would be."""
        if has_cjk(text):
            pieces = [piece for piece in text.split() if self.analyzed(piece)]
            return self._parts.every([self.quoted(piece, fields) for piece in pieces])
        tokens = self.analyzed(text)
        return self._phrase(tokens, fields, exact=True) if tokens else None

    def without(self, query: Query) -> list[Clause]:
        """Not what was left out, wherever it stands: in what was said, or in what was done."""
        return [(Occur.MustNot, self.excluded(text)) for text in query.excluded]

    def excluded(self, text: str) -> Part:
        if text.endswith("*"):
            return self._prefix(text.rstrip("*"), EVERYWHERE)
        return self.word(text, EVERYWHERE)

    # -- of a piece

    def analyzed(self, text: str) -> list[str]:
        return list(self._words.analyze(text))

    def word(self, text: str, fields: Fields) -> Part:
        if has_cjk(text):
            return self._cjk(text, fields)
        tokens = self.analyzed(parted(text))
        whole = self.analyzed(text)
        if len(tokens) > 1:
            ways = [self._phrase(tokens, fields)]
            if len(whole) == 1:
                ways.append(self._terms(whole[0], fields))
            return self._parts.best(ways)
        return self._terms(tokens[0], fields) if tokens else self._parts.nothing()

    def quoted(self, text: str, fields: Fields) -> Part:
        """What somebody put in quotes: these words in this order, in no other form."""
        if has_cjk(text):
            return self._cjk(text, fields)
        return self._phrase(self.analyzed(text), fields, exact=True)

    def _pieces(self, query: Query, telling: bool = False) -> list[tuple[str, str]]:
        words = query.telling if telling else query.words
        pieces = [("word", word) for word in words]
        pieces += [("phrase", phrase) for phrase in query.phrases]
        pieces += [("prefix", prefix) for prefix in query.prefixes]
        return [piece for piece in pieces if self.analyzed(piece[1]) or has_cjk(piece[1])]

    def _piece(self, piece: tuple[str, str], fields: Fields) -> Part:
        kind, text = piece
        if kind == "phrase":
            return self.quoted(text, fields)
        if kind == "prefix":
            return self._prefix(text, fields)
        return self.word(text, fields)

    def _term(self, field: str, token: str) -> Part:
        return self._parts.term(field, token)

    def _terms(self, token: str, fields: Fields) -> Part:
        ways = []
        forms = variants(token)
        for name, weight in fields:
            ways.append(self._parts.weighed(self._term(name, token), weight))
            if name != "rest":
                other = weight * _FORM
                ways += [self._parts.weighed(self._term(name, f), other) for f in forms]
        return self._parts.best(ways, _TIE)

    def _phrase(self, tokens: list[str], fields: Fields, exact: bool = False) -> Part:
        if not tokens:
            return self._parts.nothing()
        if len(tokens) == 1 and not exact:
            return self._terms(tokens[0], fields)
        ways = [
            self._parts.weighed(
                self._parts.phrase(name, tokens)
                if len(tokens) > 1
                else self._term(name, tokens[0]),
                weight,
            )
            for name, weight in fields
        ]
        return self._parts.best(ways, _TIE)

    def _prefix(self, text: str, fields: Fields) -> Part:
        tokens = self.analyzed(text)
        if not tokens:
            return self._parts.nothing()
        return self._parts.best([self._parts.starting(name, tokens) for name, _ in fields], _TIE)

    def _cjk(self, text: str, fields: Fields) -> Part:
        found = pairs(text)
        ways = [
            self._parts.weighed(self._pairs(found, cjk_of(name)), weight) for name, weight in fields
        ]
        return self._parts.best(ways, _TIE)

    def _pairs(self, found: list[str], field: str) -> Part:
        if len(found) == 1 and len(found[0]) == 1:
            return self._parts.letter(field, found[0])
        if len(found) == 1:
            return self._term(field, found[0])
        return self._parts.phrase(field, found)
