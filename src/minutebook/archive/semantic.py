"""Which embedder compares meanings, and embedding what has no vectors yet."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import msgspec

from minutebook.archive.fetching import fetch, fetchable
from minutebook.errors import BadArgument, Locked, MinutebookError
from minutebook.index.database import index_text, open_search
from minutebook.index.engine import Engine
from minutebook.record.layout import Layout
from minutebook.record.store import make_folder, private, write_atomically, writing

if TYPE_CHECKING:
    from minutebook.index.embedders import Embedder

AT_ONCE = {"static": 5_000}
"""Entries that are embedded before an answer; more are left to the background."""
_AT_ONCE_OTHERS = 64


class Choice(msgspec.Struct, frozen=True):
    """The embedder a person chose."""

    kind: str = "static"
    """``static`` (in the box), ``onnx`` (a folder), ``endpoint`` (a URL)."""
    where: str = ""
    model: str = ""


class State(msgspec.Struct, frozen=True):
    choice: Choice
    entries: int
    waiting: int


def chosen(layout: Layout) -> Choice:
    try:
        return msgspec.json.decode(layout.semantic.read_bytes(), type=Choice)
    except (OSError, msgspec.DecodeError):
        return Choice()


def choose(layout: Layout, what: str, model: str = "") -> Choice:
    """Use another embedder: `static`, a folder with ONNX and tokenizer.json, or an endpoint."""
    if what == "static":
        choice = Choice()
    elif what.startswith(("http://", "https://")):
        if not model:
            raise BadArgument(
                "An endpoint needs the name of its embedding model.", remedy="embedding-model"
            )
        choice = Choice("endpoint", what, model)
    elif what == "fastembed":
        choice = Choice("onnx", str(fetch(fetchable())))
    else:
        folder = Path(what).expanduser().resolve()
        if not what.strip() or not folder.is_dir():
            raise BadArgument(
                f"'{what}' is not an embedder: name a folder with an .onnx file and "
                "tokenizer.json, an endpoint (http://…), fastembed or static."
            )
        choice = Choice("onnx", str(folder))
    load(choice)  # what does not work is said now, not at the next search
    make_folder(layout.sessions)
    write_atomically(layout.semantic, msgspec.json.encode(choice))
    return choice


def load(choice: Choice) -> Embedder:
    from minutebook.index.embedders import EndpointEmbedder, OnnxEmbedder, Paired
    from minutebook.index.static import StaticEmbedder

    if choice.kind == "onnx":
        return Paired(OnnxEmbedder(Path(choice.where)), StaticEmbedder())
    if choice.kind == "endpoint":
        return EndpointEmbedder(choice.where, choice.model)
    return StaticEmbedder()


class Ways(TypedDict, total=False):
    """How meanings are compared: with what, and what to embed before."""

    embedder: Callable[[], Embedder]
    ready: Callable[[Engine], int]


class Meaning:
    """The chosen embedder of an archive, loaded when it is first needed."""

    def __init__(self, layout: Layout) -> None:
        self._layout, self._choice = layout, chosen(layout)
        self._loaded: Embedder | None = None

    @cached_property
    def trouble(self) -> str | None:
        """Why the chosen embedder cannot be used, so that only words can be found."""
        try:
            self.embedder()
        except MinutebookError as error:
            return f"{error} Found by words only (`minutebook semantic use static`)."
        return None

    def embedder(self) -> Embedder:
        if self._loaded is None:
            self._loaded = load(self._choice)
        return self._loaded

    @property
    def ways(self) -> Ways:
        """What `search` needs to compare meanings; empty where it cannot."""
        return Ways() if self.trouble else Ways(embedder=self.embedder, ready=self.ready)

    def ready(self, engine: Engine) -> int:
        """Embed a little of what is missing, and leave the rest to the background."""
        most = AT_ONCE.get(self._choice.kind, _AT_ONCE_OTHERS)
        try:
            with ExitStack() as stack:
                if engine.is_writable:  # else it is embedded aside, if nobody ever did
                    stack.enter_context(writing(self._layout.embed_lock, "semantic embed"))
                    stack.enter_context(private())
                waiting = engine.embed_missing(self.embedder(), most)
        except (Locked, OSError):
            # Somebody is at it, or the archive can only be read: what has vectors is compared.
            return engine.count_missing(self.embedder())
        if waiting and engine.is_writable:
            _embed_in_background(self._layout)
        return waiting


def embed(layout: Layout, progress: Callable[[int], None] | None = None) -> int:
    """Embed everything that is missing, and complete ``entries_fts``; how many entries it was."""
    engine = Engine(layout.search_database, layout.search)
    embedder = load(chosen(layout))
    with (
        writing(layout.search_lock, "semantic embed"),
        private(),
        open_search(layout.search_database) as text,
    ):
        index_text(text)
    with writing(layout.embed_lock, "semantic embed"), private():
        before = engine.count_missing(embedder)
        engine.embed_missing(embedder, progress=progress)
        return before


def state(layout: Layout) -> State:
    engine = Engine(layout.search_database, layout.search)
    choice = chosen(layout)
    return State(choice, engine.count(), engine.count_missing(load(choice)))


def _embed_in_background(layout: Layout) -> None:
    """A worker process, which nobody waits for; nothing is imported from the folder it is in."""
    work = f"from minutebook.archive.semantic import embed_at; embed_at({str(layout.root)!r})"
    subprocess.Popen(
        [sys.executable, "-P", "-c", work],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def embed_at(root: str) -> None:
    """What the worker does."""
    embed(Layout(Path(root)))
