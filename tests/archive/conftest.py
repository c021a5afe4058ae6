"""An archive of one's own, and ways to look at all of it."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from minutebook.record.layout import Layout
from minutebook.sources.library import Library
from minutebook.verbs.inscribe import InscribeReport
from tests.archive.steps import inscribe

LONG_AGO = 1_700_000_000


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(tmp_path / "archive")


Write = Callable[..., InscribeReport]


@pytest.fixture
def write(layout: Layout) -> Write:
    """Inscribe everything at some places; finished sessions unless `live`."""

    def run(*places: Path, live: bool = False) -> InscribeReport:
        return inscribe(layout, Library(places).transcripts, ended=not live)

    return run


def snapshot(root: Path) -> dict[str, bytes]:
    """Every durable file by its bytes, every database by what it says."""
    found: dict[str, bytes] = {}
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if path.suffix == ".db":
            found[name] = dump(path).encode()
        elif path.is_file() and not path.name.endswith((".lock", ".digest")):
            found[name] = path.read_bytes()
            if name == "instructions/sessions.jsonl":
                found[name] = _last_words(found[name])
    return found


def dump(path: Path) -> str:
    """The rows of a database, and proof that its full-text index is in step."""
    connection = sqlite3.connect(path)
    try:
        rows = connection.execute("SELECT * FROM rounds ORDER BY session_id, round").fetchall()
        connection.execute("INSERT INTO rounds_fts(rounds_fts, rank) VALUES ('integrity-check', 1)")
        return "\n".join(map(repr, rows))
    finally:
        connection.close()


def times(root: Path) -> dict[str, int]:
    return {
        str(p.relative_to(root)): p.stat().st_mtime_ns
        for p in root.rglob("*")
        if p.is_file() and not p.name.endswith(".lock")
    }


def age(path: Path) -> None:
    """Make a file look long finished."""
    os.utime(path, (LONG_AGO, LONG_AGO))


def _last_words(lines: bytes) -> bytes:
    """What a file says to which lines are added: the last line of each session, whatever came
    before, without the clock's part of it (when the project's folder was looked at)."""
    said = re.sub(rb'"looked":"[^"]*"', b'"looked":"then"', lines)
    last = {msgspec.json.decode(line)["session_id"]: line for line in said.splitlines()}
    return b"\n".join(last[id] for id in sorted(last))
