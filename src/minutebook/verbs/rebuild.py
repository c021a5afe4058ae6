"""Make the databases again from what is durable: documents and tags (DB-09)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec

from minutebook.archive.blocks import Malformed
from minutebook.archive.database import open_database, put_rows, tag_rows
from minutebook.archive.header import Header, read_header
from minutebook.archive.indexes import write_indexes
from minutebook.archive.inscription import refresh_database
from minutebook.archive.layout import Layout, SessionFolder
from minutebook.archive.ledger import Entry, load_ledger, save_ledger
from minutebook.archive.markdown import read_rounds
from minutebook.archive.media import MediaStore
from minutebook.archive.rounds import RoundRow, round_file, row_of
from minutebook.archive.store import make_folder, sweep, write_atomically, writing
from minutebook.archive.tags import read_tags
from minutebook.errors import NotFound
from minutebook.model import Round


class Rebuilt(msgspec.Struct, frozen=True):
    sessions: int
    rounds: int
    restored: int
    """Round files that were missing, and are there again."""
    problems: list[str]


class Inscription(msgspec.Struct, frozen=True):
    """A document, read."""

    path: Path
    header: Header
    rounds: list[Round]


def read_inscription(path: Path) -> Inscription:
    """A document as header and rounds; pictures come from the folder beside it."""
    text = path.read_bytes().decode("utf-8")
    header, start = read_header(text)
    media = SessionFolder(path.with_suffix("")).media
    store = MediaStore(path.stem, lambda name: (media / Path(name).name).read_bytes())
    return Inscription(path, header, list(read_rounds(text[start:], store)))


def rebuild(layout: Layout) -> Rebuilt:
    """All databases, index files and missing round files, from the documents."""
    if not layout.sessions.is_dir():
        raise NotFound(f"There is no archive at {layout.root} yet: `minutebook inscribe --all`.")
    with writing(layout.lock, "rebuild"):
        sweep(layout.sessions)
        ledger = load_ledger(layout)
        sessions = restored = 0
        problems: list[str] = []
        every: list[RoundRow] = []
        for path in layout.documents():
            try:
                inscription = read_inscription(path)
            except (Malformed, OSError, UnicodeDecodeError) as error:
                problems.append(f"{path}: {error}")
                continue
            rows, made = _rebuild_session(layout, inscription)
            sessions += 1
            restored += made
            every += rows
            header = inscription.header
            entry = ledger.sessions.setdefault(header.session_id, Entry.of(header))
            entry.rounds = len(rows)
        _write_sessions_database(layout, every)
        save_ledger(layout, ledger)
        write_indexes(layout, ledger.sessions.values())
        return Rebuilt(sessions, len(every), restored, problems)


def _rebuild_session(layout: Layout, inscription: Inscription) -> tuple[list[RoundRow], int]:
    header = inscription.header
    folder = SessionFolder(inscription.path.with_suffix(""))
    make_folder(folder.rounds)
    media = MediaStore(folder.path.name)
    rows, made = [], 0
    for round in inscription.rounds:
        file = folder.round(round.number)
        if not file.exists():
            write_atomically(file, round_file(header.session_id, round, media))
            made += 1
        rows.append(row_of(header.session_id, round, layout.relative(file)))
    folder.database.unlink(missing_ok=True)
    refresh_database(layout, folder, header, rows)
    return rows, made


def rebuild_sessions_database(layout: Layout) -> Counter[str]:
    """``sessions.db`` alone, and how many rounds each session has; the caller holds the lock."""
    rows = list(_all_rows(layout))
    _write_sessions_database(layout, rows)
    return Counter(row.session_id for row in rows)


def _all_rows(layout: Layout) -> Iterator[RoundRow]:
    for path in layout.documents():
        try:
            inscription = read_inscription(path)
        except (Malformed, OSError, UnicodeDecodeError):
            continue  # `rebuild` and `check` name it
        folder = SessionFolder(path.with_suffix(""))
        for round in inscription.rounds:
            file = layout.relative(folder.round(round.number))
            yield row_of(inscription.header.session_id, round, file)


def _write_sessions_database(layout: Layout, rows: list[RoundRow]) -> None:
    fresh = layout.database.with_name(f".partial-{layout.database.name}")
    fresh.unlink(missing_ok=True)
    with open_database(fresh, scratch=True) as database:
        put_rows(database, rows)
        for tag in read_tags(layout):
            tag_rows(database, tag.session_id, tag.first, tag.last, tag.engagement_id)
    fresh.replace(layout.database)
