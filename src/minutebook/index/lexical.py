"""The full-text engine (tantivy): top hits of a million turns in milliseconds."""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

import tantivy
from tantivy import Filter, Occur, TextAnalyzer, TextAnalyzerBuilder, Tokenizer
from tantivy import Query as TantivyQuery

from minutebook.index.analysis import has_cjk, pairs, parted, variants
from minutebook.index.entry import Prepared
from minutebook.index.query import Query

__all__ = ["Lexical", "Matches", "Side", "TantivyQuery", "Unreadable", "Writer", "fields_of"]

Side = Literal["asked", "answered", "final", "both"]
"""``final``: the last words of an answer only."""

_HEAP = 120_000_000  # bytes the writer may hold before it writes a segment
_LONGEST_WORD = 80
_FORM, _REST = 0.4, 0.35  # what another form, and a word of the deliberation, counts
_SAME = 0.02  # two scores a fiftieth apart are as good as each other
_TIE = 0.2  # what the second-best field adds
_FIELDS: dict[Side, tuple[tuple[str, float], ...]] = {
    "asked": (("asked", 1.0),),
    "answered": (("answered", 1.0), ("rest", _REST)),
    "final": (("answered", 1.0),),
    "both": (("asked", 1.0), ("answered", 1.0), ("rest", _REST)),
}


def fields_of(side: Side) -> list[str]:
    """What is looked at for a side."""
    return [name for name, _ in _FIELDS[side]]


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("row", stored=False, indexed=True, fast=True)
    builder.add_integer_field("at", indexed=True, fast=True)
    for name in ("kind", "session", "project", "branch", "model", "tools"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in ("asked", "answered", "rest"):
        builder.add_text_field(name, tokenizer_name="words", index_option="position")
    builder.add_text_field("cjk", tokenizer_name="pairs", index_option="position")
    return builder.build()


def _analyzer() -> TextAnalyzer:
    builder = TextAnalyzerBuilder(Tokenizer.simple()).filter(Filter.remove_long(_LONGEST_WORD))
    return builder.filter(Filter.lowercase()).filter(Filter.ascii_fold()).build()


class Unreadable(Exception):
    """The full text is not there, or not ours."""


class Matches(NamedTuple):
    """Rows, best first; the first `whole` of them have every word of the query."""

    rows: list[int]
    whole: int


class Lexical:
    """One full-text index on disk."""

    def __init__(self, folder: Path, *, make: bool = False) -> None:
        self._schema = _schema()
        self._words = _analyzer()
        self._mark = folder.with_name(folder.name + ".unfinished")
        if make:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            self._index = tantivy.Index(self._schema, path=str(folder))
        except ValueError as error:
            if not make:
                raise Unreadable(str(error)) from None
            # Another version's, or half written: it is disposable.
            shutil.rmtree(folder)
            folder.mkdir(mode=0o700)
            self._index = tantivy.Index(self._schema, path=str(folder))
        self._index.register_tokenizer("words", self._words)
        whitespace = TextAnalyzerBuilder(Tokenizer.whitespace()).build()
        self._index.register_tokenizer("pairs", whitespace)

    @property
    def unfinished(self) -> bool:
        """Whether a change was begun whose end nobody saw: rows and full text may differ."""
        return self._mark.exists()

    def begin(self) -> None:
        self._mark.touch(mode=0o600)

    def finished(self) -> None:
        self._mark.unlink(missing_ok=True)

    def having(self, texts: Sequence[str], rows: Sequence[int]) -> set[int]:
        """Those of some rows that have one of some words."""
        if not texts or not rows:
            return set()
        among = TantivyQuery.term_set_query(self._schema, "row", list(rows))
        words = [(Occur.Should, self._word(text, _FIELDS["both"])) for text in texts]
        parts = [(Occur.Must, among), (Occur.Must, TantivyQuery.boolean_query(words))]
        return {row for row, _ in self._top(parts, len(rows))}

    @property
    def count(self) -> int:
        return int(self._index.searcher().num_docs)

    @contextmanager
    def writing(self) -> Iterator[Writer]:
        """Add and remove entries; all of it appears at once, or nothing."""
        writer = self._index.writer(heap_size=_HEAP, num_threads=2)
        try:
            yield Writer(writer, self._schema)
            writer.commit()
            writer.wait_merging_threads()
        except BaseException:
            writer.rollback()
            raise
        self._index.reload()

    def search(
        self, query: Query, k: int, side: Side = "both", within: TantivyQuery | None = None
    ) -> Matches:
        """Entries with all words first, then those with some of them; with every phrase always."""
        fields = _FIELDS[side]
        required = [(Occur.Must, self._clause(piece, fields)) for piece in self._pieces(query)]
        if not required:
            return Matches([], 0)
        limits = [(Occur.MustNot, self._word(text, fields)) for text in query.excluded]
        if within is not None:
            limits.append((Occur.Must, TantivyQuery.const_score_query(within, 0.0)))
        hits = self._top([*required, *limits], k)
        whole = len(hits)
        if len(hits) < k and len(required) > 1:
            pieces = self._pieces(query, True)
            telling = [(Occur.Should, self._clause(p, fields)) for p in pieces if p[0] != "phrase"]
            phrases = [(Occur.Must, self._clause(p, fields)) for p in pieces if p[0] == "phrase"]
            some = [(Occur.Must, TantivyQuery.boolean_query(telling))] if telling else []
            known = {row for row, _ in hits}
            best = self._top([*some, *phrases, *limits], k)
            hits += [(row, score) for row, score in best if row not in known]
        return Matches([row for row, _ in hits[:k]], whole)

    def with_phrases(
        self, query: Query, side: Side, within: TantivyQuery | None
    ) -> TantivyQuery | None:
        """Filters, and the phrases of a query, which hold whatever else is asked for."""
        if not query.phrases:
            return within
        parts = [(Occur.Must, self._quoted(text, _FIELDS[side])) for text in query.phrases]
        if within is not None:
            parts.append((Occur.Must, within))
        return TantivyQuery.boolean_query(parts)

    def holds(self, phrase: str, text: str) -> bool:
        """Whether a text has the words of a phrase in their order.

        The index alone cannot tell: it has parts of compound words behind the text.
        """
        if has_cjk(phrase):
            return "".join(phrase.lower().split()) in "".join(text.lower().split())
        return f" {' '.join(self._analyzed(phrase))} " in f" {' '.join(self._analyzed(text))} "

    def within(
        self,
        *,
        kinds: Sequence[str] = (),
        sessions: Sequence[str] | None = None,
        projects: Sequence[str] | None = None,
        branches: Sequence[str] | None = None,
        models: Sequence[str] | None = None,
        tools: bool | None = None,
        after: int | None = None,
        before: int | None = None,
    ) -> TantivyQuery | None:
        """A query for everything that passes some filters; None where there are none."""
        parts = []
        named = {"session": sessions, "project": projects, "branch": branches, "model": models}
        named["kind"] = kinds or None
        named["tools"] = None if tools is None else [str(int(tools))]
        for field, values in named.items():
            if values is not None:
                allowed = TantivyQuery.term_set_query(self._schema, field, list(values))
                parts.append((Occur.Must, allowed))
        if after is not None or before is not None:
            upper = None if before is None else before - 1
            kind = tantivy.FieldType.Integer
            spans = TantivyQuery.range_query(self._schema, "at", kind, after, upper)
            parts.append((Occur.Must, spans))
        return TantivyQuery.boolean_query(parts) if parts else None

    def rows(self, within: TantivyQuery, most: int) -> list[int]:
        """The rows that pass filters."""
        searcher = self._index.searcher()
        found = searcher.search(within, most, count=False).hits
        return searcher.fast_field_values("row", [address for _, address in found])  # type: ignore[return-value] # every document has one

    def _top(self, parts: list[tuple[Any, TantivyQuery]], k: int) -> list[tuple[int, float]]:
        searcher = self._index.searcher()
        found = searcher.search(TantivyQuery.boolean_query(parts), k, count=False).hits
        addresses = [address for _, address in found]
        rows = searcher.fast_field_values("row", addresses)
        times = searcher.fast_field_values("at", addresses)
        hits = [
            (int(row), float(score), int(at or 0))
            for (score, _), row, at in zip(found, rows, times, strict=True)
            if row is not None
        ]
        hits.sort(key=lambda hit: (-_step(hit[1]), -hit[2]))
        return [(row, score) for row, score, _ in hits]

    def _pieces(self, query: Query, telling: bool = False) -> list[tuple[str, str]]:
        words = query.telling if telling else query.words
        pieces = [("word", word) for word in words]
        pieces += [("phrase", phrase) for phrase in query.phrases]
        pieces += [("prefix", prefix) for prefix in query.prefixes]
        return [piece for piece in pieces if self._analyzed(piece[1]) or has_cjk(piece[1])]

    def _analyzed(self, text: str) -> list[str]:
        return list(self._words.analyze(text))

    def _clause(self, piece: tuple[str, str], fields: Sequence[tuple[str, float]]) -> TantivyQuery:
        kind, text = piece
        if kind == "phrase":
            return self._quoted(text, fields)
        if kind == "prefix":
            return self._prefix(text, fields)
        return self._word(text, fields)

    def _word(self, text: str, fields: Sequence[tuple[str, float]]) -> TantivyQuery:
        if has_cjk(text):
            return self._cjk(text)
        tokens = self._analyzed(parted(text))
        whole = self._analyzed(text)
        if len(tokens) > 1:
            ways = [self._phrase(tokens, fields)]
            if len(whole) == 1:
                ways.append(self._terms(whole[0], fields))
            return TantivyQuery.disjunction_max_query(ways)
        return self._terms(tokens[0], fields) if tokens else TantivyQuery.empty_query()

    def _terms(self, token: str, fields: Sequence[tuple[str, float]]) -> TantivyQuery:
        ways = []
        forms = variants(token)
        for name, weight in fields:
            exact = TantivyQuery.term_query(self._schema, name, token, index_option="freq")
            ways.append(TantivyQuery.boost_query(exact, weight))
            for form in forms if name != "rest" else ():
                loose = TantivyQuery.term_query(self._schema, name, form, index_option="freq")
                ways.append(TantivyQuery.boost_query(loose, weight * _FORM))
        return TantivyQuery.disjunction_max_query(ways, _TIE)

    def _quoted(self, text: str, fields: Sequence[tuple[str, float]]) -> TantivyQuery:
        """What somebody put in quotes: these words in this order, in no other form."""
        if has_cjk(text):
            return self._cjk(text)
        tokens = self._analyzed(text)
        if len(tokens) != 1:
            return self._phrase(tokens, fields)
        ways = [
            TantivyQuery.boost_query(
                TantivyQuery.term_query(self._schema, name, tokens[0], index_option="freq"), weight
            )
            for name, weight in fields
        ]
        return TantivyQuery.disjunction_max_query(ways, _TIE)

    def _phrase(self, tokens: list[str], fields: Sequence[tuple[str, float]]) -> TantivyQuery:
        if len(tokens) == 1:
            return self._terms(tokens[0], fields)
        ways = [
            TantivyQuery.boost_query(
                TantivyQuery.phrase_query(self._schema, name, list(tokens)), weight
            )
            for name, weight in fields
        ]
        return (
            TantivyQuery.disjunction_max_query(ways, _TIE) if tokens else TantivyQuery.empty_query()
        )

    def _prefix(self, text: str, fields: Sequence[tuple[str, float]]) -> TantivyQuery:
        *before, last = self._analyzed(text) or [""]
        if not last:
            return TantivyQuery.empty_query()
        if before:
            words: list[Any] = [*before, last]
            ways = [
                TantivyQuery.phrase_prefix_query(self._schema, name, words) for name, _ in fields
            ]
        else:
            pattern = re.escape(last) + ".*"
            ways = [TantivyQuery.regex_query(self._schema, name, pattern) for name, _ in fields]
        return TantivyQuery.disjunction_max_query(ways, _TIE)

    def _cjk(self, text: str) -> TantivyQuery:
        found = pairs(text)
        if len(found) == 1 and len(found[0]) == 1:
            letter = re.escape(found[0])
            return TantivyQuery.regex_query(self._schema, "cjk", f"{letter}.?|.{letter}")
        if len(found) == 1:
            return TantivyQuery.term_query(self._schema, "cjk", found[0], index_option="freq")
        return TantivyQuery.phrase_query(self._schema, "cjk", list(found))


def _step(score: float) -> int:
    """Scores that hardly differ are the same: among those the newest comes first."""
    return round(math.log(score) / _SAME) if score > 0 else -(10**6)


class Writer:
    """What is being added to an index, and taken out."""

    def __init__(self, writer: Any, schema: Any) -> None:
        self._writer, self._schema = writer, schema

    def add(self, row: int, prepared: Prepared) -> None:
        entry = prepared.entry
        document = tantivy.Document()
        document.add_unsigned("row", row)
        document.add_integer("at", entry.at)
        for name, value in (
            ("kind", entry.kind),
            ("session", entry.session_id),
            ("project", entry.project),
            ("branch", entry.branch),
            ("model", entry.model),
            ("tools", "1" if entry.tools else "0"),
        ):
            document.add_text(name, _plain(value))
        texts = (("asked", entry.asked), ("answered", entry.answered), ("rest", entry.rest))
        for (name, text), parts in zip(texts, prepared.parts, strict=True):
            if text:
                document.add_text(name, _plain(f"{text}\n{parts}" if parts else text))
        if prepared.pairs:
            document.add_text("cjk", prepared.pairs)
        self._writer.add_document(document)

    def clear(self) -> None:
        self._writer.delete_all_documents()

    def remove(self, rows: Sequence[int]) -> None:
        # By query: the engine's own delete by term takes a number for a signed one, and
        # finds nothing.
        if rows:
            among = TantivyQuery.term_set_query(self._schema, "row", list(rows))
            self._writer.delete_documents_by_query(among)


def _plain(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
