"""The full-text engine (tantivy): top hits of a million turns in milliseconds."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import tantivy
from tantivy import Occur, TextAnalyzerBuilder, Tokenizer
from tantivy import Query as TantivyQuery

from minutebook.index.clauses import (
    Clause,
    Fields,
    Part,
    Side,
    TantivyParts,
    cjk_of,
    fields_of,
    schema,
    stems,
    words,
)
from minutebook.index.entry import Prepared
from minutebook.index.query import Query
from minutebook.index.words import Scores, Words, in_order

__all__ = ["Lexical", "Scores", "Side", "TantivyQuery", "Unreadable", "Writer", "fields_of"]

_HEAP = 120_000_000  # bytes the writer may hold before it writes a segment


class Unreadable(Exception):
    """The full text is not there, or not ours."""


class Lexical(Words):
    """One full-text index on disk."""

    def __init__(self, folder: Path, *, make: bool = False) -> None:
        self._schema = schema()
        self._parts = TantivyParts(self._schema)
        super().__init__(self._parts)
        self._mark = folder.with_name(folder.name + ".unfinished")
        if make:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        elif folder.is_dir() and not os.access(folder, os.W_OK):
            # The engine makes lock files even to read: beside links to what may not be written.
            self._links = tempfile.TemporaryDirectory(prefix="minutebook-")
            folder = _linked(folder, Path(self._links.name))
        try:
            self._index = tantivy.Index(self._schema, path=str(folder))
        except ValueError as error:
            if not make:
                raise Unreadable(str(error)) from None
            # Another version's, or half written: it is disposable.
            shutil.rmtree(folder)
            folder.mkdir(mode=0o700)
            self._index = tantivy.Index(self._schema, path=str(folder))
        self._index.register_tokenizer("words", words())
        self._index.register_tokenizer("stems", stems())
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
        ways = [(Occur.Should, self._clauses.excluded(text)) for text in texts]
        parts = [(Occur.Must, among), (Occur.Must, TantivyQuery.boolean_query(ways))]
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

    def _found(
        self,
        query: Query,
        wanted: list[Clause],
        k: int,
        within: TantivyQuery | None,
        *,
        whole_rounds: bool = True,
    ) -> Scores:
        if not wanted:
            return []
        limits = self._clauses.without(query) if whole_rounds else []
        if within is not None:
            limits.append((Occur.Must, TantivyQuery.const_score_query(within, 0.0)))
        return self._top([*wanted, *limits], k)

    # -- filters

    def _narrowed(self, within: TantivyQuery | None, parts: Sequence[Part]) -> TantivyQuery:
        every = [*parts, within] if within is not None else list(parts)
        return self._parts.every(every)

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
        command: str | None = None,
        error: str | None = None,
        budget: tuple[int, int] | None = None,
    ) -> TantivyQuery | None:
        """A query for everything that passes some filters; None where there are none."""
        parts = []
        for text, surface in ((command, "commands"), (error, "errors")):
            if text is not None:
                said = self._clauses.typed(text, ((surface, 1.0),)) or TantivyQuery.empty_query()
                parts.append((Occur.Must, said))
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
        if budget is not None:
            kind = tantivy.FieldType.Integer
            filled = TantivyQuery.range_query(self._schema, "budget", kind, *budget)
            parts.append((Occur.Must, filled))
        return TantivyQuery.boolean_query(parts) if parts else None

    def rows(self, within: TantivyQuery, most: int) -> list[int]:
        """The rows that pass filters."""
        return self._rows(self._index.searcher().search(within, most, count=False).hits)

    def newest(
        self, query: Query, fields: Fields, within: TantivyQuery | None, most: int
    ) -> tuple[list[int], int]:
        """Rows that pass the filters and have every word in some fields, the newest first; and
        how many there are."""
        parts = [*self._clauses.every(query, fields), *self._clauses.without(query)]
        parts.append((Occur.Must, within if within is not None else TantivyQuery.all_query()))
        searcher = self._index.searcher()
        found = searcher.search(
            TantivyQuery.boolean_query(parts), most, count=True, order_by_field="at"
        )
        return self._rows(found.hits, searcher), int(found.count)  # type: ignore[attr-defined] # not in its stubs

    def outside(self, within: TantivyQuery | None, sessions: Collection[str]) -> TantivyQuery:
        """Filters, and none of some sessions."""
        others = TantivyQuery.term_set_query(self._schema, "session", list(sessions))
        every = within if within is not None else TantivyQuery.all_query()
        return TantivyQuery.boolean_query([(Occur.Must, every), (Occur.MustNot, others)])

    def all_rows(self) -> list[int]:
        return self.rows(TantivyQuery.all_query(), max(1, self.count))

    def _rows(self, found: Any, searcher: Any = None) -> list[int]:
        searcher = searcher or self._index.searcher()
        return searcher.fast_field_values("row", [address for _, address in found])  # type: ignore[no-any-return] # every document has one

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
        return in_order(hits)


def _linked(folder: Path, links: Path) -> Path:
    for path in folder.iterdir():
        if path.suffix != ".lock":
            (links / path.name).symlink_to(path.absolute())
    return links


class Writer:
    """What is being added to an index, and taken out."""

    def __init__(self, writer: Any, schema: Any) -> None:
        self._writer, self._schema = writer, schema

    def add(self, row: int, prepared: Prepared) -> None:
        entry = prepared.entry
        document = tantivy.Document()
        document.add_unsigned("row", row)
        document.add_integer("at", entry.at)
        if entry.budget >= 0:
            document.add_integer("budget", entry.budget)
        document.add_text("kind", entry.kind)
        document.add_text("session", _plain(entry.session_id))
        turns = prepared.others or (entry,)
        for name in ("project", "branch", "model"):
            for value in {getattr(turn, name) for turn in turns}:
                document.add_text(name, _plain(value))
        for had in {turn.tools for turn in turns}:
            document.add_text("tools", "1" if had else "0")
        for at in {turn.at for turn in prepared.others} - {entry.at}:
            document.add_integer("at", at)
        said = ""
        texts = (("asked", entry.asked), ("answered", entry.answered), ("rest", entry.rest))
        for (name, text), parts in zip(texts, prepared.parts, strict=True):
            if text:
                told = _plain(f"{text}\n{parts}" if parts else text)
                document.add_text(name, told)
                said += f"{told}\n"
        if said:
            document.add_text("said", said)
        for surface, done in prepared.work.items():
            for text in done:  # one by one: a phrase does not go from one to the next
                document.add_text(surface, _plain(text))
        if prepared.whole:
            document.add_text("whole", _plain(prepared.whole))
        for name, texts_of in prepared.pairs.items():
            for text in texts_of:
                document.add_text(cjk_of(name), text)
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
