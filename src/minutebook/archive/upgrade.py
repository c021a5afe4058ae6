"""Upgrades of an archive: one named function per step (ARC-08).

The first release kept neither message boundaries nor what a reply's price depends on in its
round files, and no ``session.json``. Its sessions are written anew, each folder as a whole and
by rename: from their transcripts where those are still there, else from their documents, else
from the old round files. The old folders stay under ``before-upgrade/`` until a person removes
them. Killed at any point, the next run goes on.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.enrich import Enriched
from minutebook.archive.formats import FORMAT, archive_format
from minutebook.archive.upkeep import cover_sessions, write_page
from minutebook.derive.identity import identify
from minutebook.errors import Conflict
from minutebook.model import Subagent
from minutebook.model.engagement import RECORD_FORMAT
from minutebook.model.said import Renumber
from minutebook.record.documents import peek
from minutebook.record.engagements import append_record, compact, read_records
from minutebook.record.facts import SessionFacts
from minutebook.record.header import header_of
from minutebook.record.layout import Layout, SessionFolder
from minutebook.record.patches import Malformed
from minutebook.record.publish import Publication
from minutebook.record.recover import (
    FIRST_RELEASE,
    StoredRounds,
    format_of,
    read_subagent,
    recovered_facts,
)
from minutebook.record.said import add_said, read_said
from minutebook.record.store import make_folder, write_atomically

_STAGING = ".upgrade"
_NUMBERS = "renumber.json"
_ROOM = 2.5  # times the size of the old sessions that must be free


def upgrade(archive: Archive) -> list[str]:
    """Bring an archive up to this version; what a person should know of it. Holds the lock."""
    layout = archive.layout
    remarks: list[str] = []
    for version, step in enumerate(STEPS, start=1):
        if archive_format(layout) <= version < FORMAT:
            remarks += step(archive)
    return remarks


def sessions_in_full(archive: Archive) -> list[str]:
    """1 → 2: sessions of the first release in the present format."""
    layout = archive.layout
    for name, agent_id in layout.present().items():
        _renumber(layout, SessionFolder(layout.agent(agent_id) / name))  # a run was killed there
    old = list(dict.fromkeys(_old_sessions(layout)))
    if not old:
        return []
    _test_room(layout, old)
    for agent_id, name in old:
        _upgrade_session(archive, agent_id, name)
    layout.database.unlink(missing_ok=True)  # made again from what is there now
    archive.read_again()
    cover_sessions(archive, archive.minutes.records().values())
    if layout.engagements.exists():
        compact(layout)
        archive.read_again()
        write_page(archive)
    count = len(old)
    what = "session was" if count == 1 else "sessions were"
    return [
        f"{count} {what} upgraded to format {FORMAT}. The old files are in "
        f"{layout.before_upgrade}: remove that folder once `minutebook check --all` passes."
    ]


STEPS: tuple[Callable[[Archive], list[str]], ...] = (sessions_in_full,)


def _old_sessions(layout: Layout) -> Iterator[tuple[str, str]]:
    """Agent and file name of sessions that are still to be upgraded."""
    for name, agent_id in sorted(layout.present().items()):
        if format_of(SessionFolder(layout.agent(agent_id) / name)) == FIRST_RELEASE:
            yield agent_id, name
    # A run that was killed between two renames left a session only there.
    for document in sorted(layout.before_upgrade.glob("*/*.md")):
        agent_id, name = document.parent.name, document.stem
        place = SessionFolder(layout.agent(agent_id) / name)
        if not place.facts.exists() and not place.document.exists():
            yield agent_id, name


def _test_room(layout: Layout, old: list[tuple[str, str]]) -> None:
    """Refuse to begin what could not be finished."""
    size = sum(_size(layout.agent(agent_id), name) for agent_id, name in old)
    free = shutil.disk_usage(layout.root).free
    if free < size * _ROOM:
        raise Conflict(
            f"The archive at {layout.root} must be upgraded, which needs about "
            f"{size * _ROOM / 1e6:,.0f} MB of free space; there are {free / 1e6:,.0f} MB."
        )


def _size(agent: Path, name: str) -> int:
    total = 0
    for folder, _, files in os.walk(agent / name):
        total += sum((Path(folder) / file).stat().st_size for file in files)
    document = agent / f"{name}.md"
    return total + (document.stat().st_size if document.is_file() else 0)


def _upgrade_session(archive: Archive, agent_id: str, name: str) -> None:
    """One session: made anew out of sight, then exchanged for the old one by renames."""
    layout = archive.layout
    place = SessionFolder(layout.agent(agent_id) / name)
    aside = SessionFolder(layout.before_upgrade / agent_id / name)
    old = place
    if aside.document.exists() or aside.path.exists():  # a run was killed between two renames
        _move(place, aside)
        old = aside
    facts = recovered_facts(old)
    if facts is None:
        return  # nothing of it can be read: it stays where it is, and `check` names it
    staging = Layout(layout.root / _STAGING)
    shutil.rmtree(staging.root, ignore_errors=True)
    rounds = Enriched(archive.library, facts, StoredRounds(old))
    with Publication(staging, agent_id, facts.info.id, None) as publication:
        for round in rounds:
            publication.add(round)
        for agent in _subagents(old, facts, rounds):
            publication.add_subagent(agent)
        now = publication.facts(rounds.facts)
        header = peek(old.document)
        said = header.summary if header is not None and header.edited else None
        identity = identify(now.info, archive.roster)
        document = header_of(now, identity, agent_id, said, edited=said is not None)
        publication.finish(now, document, None)
    made = SessionFolder(staging.folder(agent_id, facts.info.id))
    _copy_pictures(old, made)
    if old is place:
        make_folder(aside.path.parent)
        _move(place, aside)
    if rounds.places:
        told = msgspec.json.encode(_Numbers(facts.info.id, rounds.places))
        write_atomically(made.path / _NUMBERS, told)
    made.path.rename(place.path)
    made.document.rename(place.document)
    shutil.rmtree(staging.root, ignore_errors=True)
    _renumber(layout, place)


def _move(place: SessionFolder, aside: SessionFolder) -> None:
    """The old files out of the way; what was moved before stays there."""
    make_folder(aside.path.parent)
    for here, there in ((place.document, aside.document), (place.path, aside.path)):
        if here.exists() and not there.exists():
            here.rename(there)


class _Numbers(msgspec.Struct, frozen=True):
    """What is still to be renumbered; with a session until that is done."""

    session_id: str
    places: dict[int, tuple[int, int]]
    """Round of the transcript → first and last of those the archive has for it."""


def _renumber(layout: Layout, folder: SessionFolder) -> None:
    """What the first release numbered by the transcript gets the archive's numbers (ARC-03)."""
    try:
        told = msgspec.json.decode((folder.path / _NUMBERS).read_bytes(), type=_Numbers)
    except FileNotFoundError:
        return
    session_id, places = told.session_id, told.places
    record = next(
        (r for r in reversed(read_records(layout).values) if r.session_id == session_id), None
    )
    if record is not None and record.format < RECORD_FORMAT:
        engagements = tuple(
            msgspec.structs.replace(e, turn_range=_renumbered(e.turn_range, places))
            for e in record.engagements
        )
        now = msgspec.structs.replace(record, engagements=engagements, format=RECORD_FORMAT)
        append_record(layout, now)
    said = [item for item in read_said(layout).values if item.session_id == session_id]
    if said and not any(isinstance(item.statement, Renumber) for item in said):
        add_said(layout, session_id, Renumber(places))
    (folder.path / _NUMBERS).unlink()


def _renumbered(span: tuple[int, int], places: dict[int, tuple[int, int]]) -> tuple[int, int]:
    first, last = span
    return places.get(first, span)[0], places.get(last, (last, last))[1]


def _subagents(aside: SessionFolder, facts: SessionFacts, rounds: Enriched) -> Iterator[Subagent]:
    """Subagents as their transcripts have them, else as they were kept."""
    living = rounds.subagents()
    for known in facts.subagents:
        agent = living.pop(known.id, None)
        try:
            yield agent if agent is not None else read_subagent(aside, known)
        except (OSError, Malformed):
            continue  # nothing of it can be read: the old files stay, and `check` names it


def _copy_pictures(aside: SessionFolder, place: SessionFolder) -> None:
    for picture in aside.media.glob("*") if aside.media.is_dir() else ():
        target = place.media / picture.name
        if not target.exists():
            make_folder(place.media)
            shutil.copyfile(picture, target)
            target.chmod(0o600)
