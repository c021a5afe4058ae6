"""Is the archive as a whole sound: do records, databases and indexes agree? (OPS-14)"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.coverage import ranges_of
from minutebook.archive.finding import fresh_at
from minutebook.archive.semantic import Choice
from minutebook.archive.upkeep import page_of
from minutebook.errors import MinutebookError
from minutebook.extract.batches import PendingBatch
from minutebook.index.engine import Engine
from minutebook.record.database import Broken, integrity, open_database
from minutebook.record.indexes import index_pages
from minutebook.record.layout import Layout, SessionFolder
from minutebook.record.recover import reason
from minutebook.sources.base import Trouble

_RUN = "the next run that writes makes it again"


def check_archive(archive: Archive) -> list[Trouble]:
    """Everything that is wrong with what is not one session's alone."""
    found: dict[Path, str] = {trouble.path: trouble.reason for trouble in archive.troubles()}
    for path, why in _problems(archive):
        found.setdefault(path, why)
    return [Trouble(path, why) for path, why in sorted(found.items())]


def _problems(archive: Archive) -> Iterator[tuple[Path, str]]:
    layout = archive.layout
    if not archive.exists:
        return
    yield from _json_problems(layout)
    yield from _roster_problems(layout)
    yield from _database_problems(archive)
    yield from _search_problems(layout)
    ledger = archive.ledger()
    pages = index_pages(layout, ledger.sessions.values())
    if layout.engagements.exists():
        pages[layout.engagements_index] = page_of(archive)
    for page, content in pages.items():
        try:
            if page.read_bytes() != content:
                yield page, "it is not current; `minutebook rebuild` makes it again"
        except OSError as error:
            yield page, f"{reason(error)}; `minutebook rebuild` makes it again"
    known = {layout.folder(e.agent_id, id) for id, e in ledger.sessions.items()}
    for name, agent in layout.present().items():
        folder = SessionFolder(layout.agent(agent) / name)
        if folder.path not in known:
            yield folder.path, "nothing of this session can be read"
    present = {transcript.session_id for transcript in archive.library.transcripts}
    for name in archive.minutes.stored().keys() - present - ledger.sessions.keys():
        yield layout.engagements, f"it has a record of {archive.short(name)}, which is not here"


def _json_problems(layout: Layout) -> Iterator[tuple[Path, str]]:
    kinds: tuple[tuple[Path, type], ...] = (
        (layout.semantic, Choice),
        (layout.batch, PendingBatch),
        (layout.watch_spending, dict),
    )
    for path, kind in kinds:
        try:
            msgspec.json.decode(path.read_bytes(), type=kind)
        except FileNotFoundError:
            continue
        except (OSError, msgspec.DecodeError) as error:
            yield path, f"{reason(error)}; it is not used"


def _roster_problems(layout: Layout) -> Iterator[tuple[Path, str]]:
    try:
        lines = layout.roster.read_bytes().split(b"\n")
    except FileNotFoundError:
        return
    except OSError as error:
        yield layout.roster, reason(error)
        return
    bad = 0
    if lines == [b""]:
        yield layout.roster, "it is empty"
    for line in lines if lines != [b""] else ():
        try:
            if line.strip():
                bad += not isinstance(msgspec.json.decode(line), dict)
        except msgspec.DecodeError:
            bad += 1
    if bad:
        yield layout.roster, f"{bad} lines cannot be read"


def _database_problems(archive: Archive) -> Iterator[tuple[Path, str]]:
    """``sessions.db`` against the round files and what engagements cover."""
    layout, entries = archive.layout, archive.ledger().sessions
    if not entries:
        return
    path = layout.database
    if not path.exists():
        yield path, f"it is missing; {_RUN}"
        return
    try:
        with open_database(path, readonly=True) as database:
            if (problem := integrity(database)) is not None:
                yield path, f"{problem}; `minutebook rebuild` makes it again"
                return
            query = "SELECT session_id, count(*) FROM rounds GROUP BY session_id"
            held = dict(database.execute(query).fetchall())
            tagged = database.execute(
                "SELECT session_id, round, engagement_id FROM rounds "
                "WHERE engagement_id IS NOT NULL"
            ).fetchall()
    except (Broken, OSError) as error:
        yield path, f"{reason(error)}; `minutebook rebuild` makes it again"
        return
    wrong = [id for id, entry in entries.items() if held.get(id, 0) != entry.rounds]
    if wrong or held.keys() - entries.keys():
        count = len(wrong) + len(held.keys() - entries.keys())
        yield path, f"{count} sessions have other rounds in it; `minutebook rebuild` mends it"
        return
    covered = {
        (id, number, engagement)
        for id, record in archive.minutes.records().items()
        if id in entries
        for first, last, engagement in ranges_of(record)
        for number in range(first, min(last, entries[id].rounds) + 1)
    }
    if covered != set(tagged):
        yield path, "its engagements are not those of the records; `minutebook rebuild` mends it"


def _search_problems(layout: Layout) -> Iterator[tuple[Path, str]]:
    path = layout.search_database
    if not path.exists():
        return
    try:
        fresh_at(layout)
        Engine(path, layout.search).count()
    except (MinutebookError, OSError) as error:
        yield path, f"{reason(error)} The next search makes it again."
