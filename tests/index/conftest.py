"""Small indexes to search in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from minutebook.index import database as db
from minutebook.index.engine import Engine
from minutebook.index.entry import Entry, prepare
from minutebook.index.lexical import Lexical
from minutebook.index.static import StaticEmbedder
from minutebook.index.update import Update

Build = Callable[..., Engine]


def turn(
    asked: str, answered: str = "", *, session: str = "s", number: int = 1, **fields: object
) -> Entry:
    return Entry(
        kind="turn",
        session_id=session,
        key=f"{session}-{number}",
        round=number,
        asked=asked,
        answered=answered,
        **fields,  # type: ignore[arg-type] # a test names what it sets
    )


@pytest.fixture(scope="session")
def embedder() -> StaticEmbedder:
    return StaticEmbedder()


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """An index of some texts; a string is a turn of a session of its own."""

    def make(*texts: str | Entry) -> Engine:
        entries = [
            turn(text, session=f"s{number}") if isinstance(text, str) else text
            for number, text in enumerate(texts)
        ]
        put(tmp_path, entries)
        return Engine(tmp_path / "search.db", tmp_path)

    return make


def put(folder: Path, entries: Sequence[Entry]) -> Update:
    """Make these the entries of their sessions."""
    with (
        db.open_search(folder / "search.db") as connection,
        Update(connection, Lexical(folder / db.index_id(connection) / "lexical", make=True)) as run,
    ):
        run.mend()
        for session in {entry.session_id for entry in entries}:
            run.put(session, ("turn",), [prepare(e) for e in entries if e.session_id == session])
            run.note(session, ("", 0, 0.0))
        run.finish()
    return run
