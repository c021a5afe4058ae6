"""Make the databases again from what is durable: documents and tags (DB-09)."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from pathlib import Path

import msgspec

from minutebook.record.blocks import Malformed
from minutebook.record.database import open_database, put_rows
from minutebook.record.indexes import write_indexes
from minutebook.record.inscription import refresh_database
from minutebook.record.layout import Layout
from minutebook.record.ledger import Entry, load_ledger, save_ledger
from minutebook.record.media import MediaStore
from minutebook.record.reading import Inscription, read_inscription
from minutebook.record.rounds import RoundRow, round_file, row_of
from minutebook.record.store import (
    make_folder,
    partial_name,
    sweep,
    write_atomically,
    writing,
)
from minutebook.record.tags import apply_tags
from minutebook.errors import NotFound


class Rebuilt(msgspec.Struct, frozen=True):
    sessions: int
    rounds: int
    restored: int
    """Round files that were missing, and are there again."""
    problems: list[str]


def rebuild(layout: Layout) -> Rebuilt:
    """All databases, index files and missing round files, from the documents."""
    if not layout.sessions.is_dir():
        raise NotFound(f"There is no archive at {layout.root} yet: `minutebook inscribe --all`.")
    with writing(layout.lock, "rebuild"):
        sweep(layout.sessions, "", "*/")
        ledger = load_ledger(layout)
        sessions = restored = 0
        problems: list[str] = []
        every: list[RoundRow] = []
        for path in layout.documents():
            try:
                inscription = _indexable(path, problems)
            except (Malformed, OSError) as error:
                problems.append(f"{path}: {error}")
                continue
            rows, made = _rebuild_session(layout, inscription)
            sessions += 1
            restored += made
            every += rows
            header = inscription.header
            known = ledger.sessions.get(header.session_id)
            entry = ledger.sessions[header.session_id] = Entry.of(header)
            entry.rounds = len(rows)
            if known is not None:
                entry.size, entry.mtime = known.size, known.mtime
                entry.head, entry.beside, entry.waiting = known.head, known.beside, known.waiting
        _write_sessions_database(layout, every)
        write_indexes(layout, ledger.sessions.values())
        save_ledger(layout, ledger)
        return Rebuilt(sessions, len(every), restored, problems)


def _indexable(path: Path, problems: list[str]) -> Inscription:
    """A document, if need be without its pictures: the index does not need them."""
    try:
        return read_inscription(path)
    except Malformed as error:
        inscription = read_inscription(path, pictures=False)
        problems.append(f"{path}: {error}")
        return inscription


def _rebuild_session(layout: Layout, inscription: Inscription) -> tuple[list[RoundRow], int]:
    header, folder = inscription.header, inscription.folder
    make_folder(folder.rounds)
    sweep(folder.path, "", "rounds/", "media/", "subagents/")
    media = MediaStore(folder.path.name)
    made = 0
    for round in inscription.rounds:
        file = folder.round(round.number)
        if not file.exists():
            write_atomically(file, round_file(header.session_id, round, media))
            made += 1
    rows = index_rows(layout, inscription)
    folder.database.unlink(missing_ok=True)
    refresh_database(layout, folder, header, rows)
    return rows, made


def index_rows(layout: Layout, inscription: Inscription) -> list[RoundRow]:
    """The index rows of all rounds of a document."""
    folder, id = inscription.folder, inscription.header.session_id
    return [
        row_of(id, round, layout.relative(folder.round(round.number)))
        for round in inscription.rounds
    ]


def rebuild_sessions_database(layout: Layout) -> Counter[str]:
    """``sessions.db`` alone, and how many rounds each session has; the caller holds the lock."""
    rows: list[RoundRow] = []
    for path in layout.documents():
        with suppress(Malformed, OSError):  # `rebuild` and `check` name it
            rows += index_rows(layout, read_inscription(path, pictures=False))
    _write_sessions_database(layout, rows)
    return Counter(row.session_id for row in rows)


def _write_sessions_database(layout: Layout, rows: list[RoundRow]) -> None:
    fresh = partial_name(layout.database)
    fresh.unlink(missing_ok=True)
    with open_database(fresh, scratch=True) as database:
        put_rows(database, rows)
        apply_tags(layout, database)
    fresh.replace(layout.database)
