"""Who read or changed a file: `search --file` (SRCH-17), and all files (VIEW-21)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from fnmatch import fnmatchcase
from itertools import chain
from typing import get_args

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.hit import iso
from minutebook.archive.masking import hidden
from minutebook.archive.passing import passes, suits
from minutebook.archive.programs import in_project, within
from minutebook.archive.projects import of_project
from minutebook.archive.remote import person_of, rows_of
from minutebook.archive.sessions import NAMELESS
from minutebook.derive.calls import paths_of
from minutebook.errors import BadArgument, MinutebookError
from minutebook.index import database as db
from minutebook.index.entry import How, Touch
from minutebook.index.query import Filters
from minutebook.model import ToolCall
from minutebook.model.engagement import SessionRecord

HOWS: tuple[How, ...] = get_args(How)
CHANGING: tuple[How, ...] = ("edited", "written")


class FileHit(msgspec.Struct, frozen=True, kw_only=True):
    """A round in which tools read or changed a file."""

    session_id: str
    round: int
    at: str | None
    path: str
    how: dict[How, int]
    """What was done to it, and how often."""
    name: str
    project: str | None
    person: str | None = None
    """Whose session it is, in a team's archive."""


class FileAnswer(msgspec.Struct, frozen=True, kw_only=True):
    hits: list[FileHit]
    total: int
    """How many hits there are, of which `hits` is a page: one for each file of a round."""
    rounds: int
    files: int
    """How many files the pattern fits."""
    sessions: int
    left_out: int
    """Rounds that touched such a file, but do not pass the filters."""


def find_file(
    archive: Archive,
    pattern: str,
    filters: Filters,
    *,
    limit: int = 10,
    offset: int = 0,
    by_round: bool = False,
    exact: bool = False,
    hows: Collection[How] = HOWS,
    once: bool = False,
) -> FileAnswer:
    """Rounds that touched files of a name, the newest first.

    `pattern` is the end of a path, or a glob. A page has so many hits, or with `by_round` all
    hits of so many rounds. The index must be there. With `exact` it is one whole path; with
    `once` a round that copies of a conversation share counts once.
    """
    if filters.tools is not None or filters.of_rounds:
        raise BadArgument(
            "Filters on rounds do not apply to a file's history.", remedy="no-round-filters"
        )
    filters = of_project(archive, filters)
    fits = matcher(pattern) if not exact else pattern.__eq__
    records: dict[str, SessionRecord] = {}
    known = archive.ids()
    found: dict[tuple[str, int, str], FileHit] = {}
    left_out: set[tuple[str, int]] = set()
    is_first = _first_of_copies(archive) if once else _any_of_copies
    with rows_of(archive) as rows:
        wanted = [path for path in rows.paths() if fits(path)]
        for id, touch in rows.touches(wanted):
            if id not in known:
                continue  # deleted since the index was made
            if touch.how not in hows or not is_first(id, touch.round, touch.path, touch.at):
                continue
            record = records.get(id) or records.setdefault(id, archive.record(id))
            if _passes(record, touch, filters):
                key = (id, touch.round, touch.path)
                hit = found.setdefault(key, _hit(record, touch, person_of(archive, id)))
                hit.how[touch.how] = touch.times
            else:
                left_out.add((id, touch.round))
    newest = sorted(found.values(), key=lambda h: (h.at or "", h.session_id, h.round, h.path))[::-1]
    rounds: dict[tuple[str, int], list[FileHit]] = {}
    for hit in newest:
        rounds.setdefault((hit.session_id, hit.round), []).append(hit)
    page = slice(offset, offset + limit)
    shown = newest[page] if not by_round else chain.from_iterable([*rounds.values()][page])
    return FileAnswer(
        hits=[hidden(hit, archive.hide) for hit in shown],
        total=len(newest),
        rounds=len(rounds),
        files=len({hit.path for hit in newest}),
        sessions=len({hit.session_id for hit in newest}),
        left_out=len(left_out - rounds.keys()),
    )


class FileSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A file, and what is known of who touched it."""

    path: str
    sessions: int
    rounds: int
    at: str | None
    """The last time."""
    session_id: str
    """Where that was."""
    round: int
    name: str
    project: str | None


class FileList(msgspec.Struct, frozen=True):
    """A page of files, and how many there are."""

    files: list[FileSummary]
    total: int


def list_files(
    archive: Archive,
    words: str,
    filters: Filters,
    *,
    read: bool = False,
    limit: int = 100,
    offset: int = 0,
) -> FileList:
    """Files that were changed, or with `read` touched at all, the latest first; the index must be
    there. What copies of a conversation share counts once.

    `words` are parts of the path, or one glob. What filters say of a session counts; a method or a
    phase, which only a round has, is not asked here.
    """
    filters = of_project(archive, filters)
    fits = _worded(words)
    records: dict[str, SessionRecord | None] = {}
    wanted = msgspec.structs.replace(filters, hidden=True)
    known = archive.ids()
    found: dict[str, list[db.Touched]] = {}
    hows = HOWS if read else CHANGING
    is_first = _first_of_copies(archive)
    fitting: dict[str, bool] = {}
    with rows_of(archive) as rows:
        for one in rows.touched(hows, filters.after, filters.before):
            if one.path not in fitting:
                fitting[one.path] = fits(one.path)
            id = one.session_id
            if not fitting[one.path] or id not in known:
                continue
            if not is_first(id, one.round, one.path, one.at):
                continue
            if id not in records:
                record = archive.record(id)
                passing = passes(record, wanted) and in_project(filters, record.cwd)
                records[id] = record if passing else None
            if records[id] is not None:
                found.setdefault(one.path, []).append(one)
    files = [_summary(own, records) for own in found.values()]
    files.sort(key=lambda file: (file.at or "", file.path), reverse=True)
    shown = [hidden(file, archive.hide) for file in files[offset : offset + limit]]
    return FileList(files=shown, total=len(files))


def _summary(own: list[db.Touched], records: dict[str, SessionRecord | None]) -> FileSummary:
    last = max(own, key=lambda one: (one.at, one.session_id))
    record = records[last.session_id]
    assert record is not None
    return FileSummary(
        path=last.path,
        sessions=len({one.session_id for one in own}),
        rounds=len(own),
        at=iso(last.at),
        session_id=last.session_id,
        round=last.round,
        name=record.called or NAMELESS,
        project=record.cwd,
    )


def _any_of_copies(_id: str, _round: int, _path: str, _at: int) -> bool:
    return True


def _first_of_copies(archive: Archive) -> Callable[[str, int, str, int], bool]:
    """Whether a round is not one that was met already in a copy of its conversation: a copied
    round has the time of the original."""
    from minutebook.archive.lineage import copies  # most searches for files need none of it

    kin = copies(archive)
    met: dict[tuple[str, str, int], tuple[str, int]] = {}

    def is_first(id: str, round: int, path: str, at: int) -> bool:
        if not at or id not in kin:
            return True
        family = min(id, *kin[id])
        return met.setdefault((family, path, at), (id, round)) == (id, round)

    return is_first


def _worded(words: str) -> Callable[[str], bool]:
    """Whether a path has every word, in letters of either size; or fits a glob."""
    if any(sign in words for sign in "*?["):
        return matcher(words)
    wanted = words.lower().split()
    return lambda path: all(word in path.lower() for word in wanted)


def change_of(archive: Archive, session_id: str, round: int, path: str) -> int | None:
    """The block of a round in which a file was changed (else touched), counted from 1."""
    touching = _touching(archive, session_id, round, {path})
    changing = [at for at, changes in touching if changes]
    return changing[0] if changing else touching[0][0] if touching else None


def changes_of_files(
    archive: Archive, session_id: str, round: int, paths: Collection[str]
) -> list[int]:
    """The blocks of a round in which some files were changed, counted from 1."""
    return [at for at, changes in _touching(archive, session_id, round, paths) if changes]


def _touching(
    archive: Archive, session_id: str, round: int, paths: Collection[str]
) -> list[tuple[int, bool]]:
    """Blocks that are about some files, and whether they change them."""
    try:
        blocks = archive.open(session_id).round(round).blocks
    except (MinutebookError, OSError):
        return []  # gone since the index was made
    return [
        (at, block.kind in ("edit", "write"))
        for at, block in enumerate(blocks, 1)
        if isinstance(block, ToolCall) and not set(paths).isdisjoint(paths_of(block))
    ]


def matcher(pattern: str) -> Callable[[str], bool]:
    """Whether a path is meant: it ends so, in whole names; or a glob fits it or its end."""
    end = pattern.strip().replace("\\", "/").removeprefix("./").strip("/")
    whole = f"/{end}"

    def fits(path: str) -> bool:
        plain = "/" + path.replace("\\", "/").lstrip("/")
        if not end or plain.endswith(whole):  # a name may have brackets of its own
            return bool(end)
        return any(sign in end for sign in "*?[") and fnmatchcase(plain, f"*/{end}")

    return fits


def _passes(record: SessionRecord, touch: Touch, filters: Filters) -> bool:
    if filters.after is not None and touch.at < filters.after:
        return False
    if filters.before is not None and touch.at >= filters.before:
        return False
    engagement = next((e for e in record.engagements if e.covers(touch.round)), None)
    if not suits(record, engagement, filters):
        return False
    place = engagement.project if engagement is not None else record.cwd
    branches = record.branches_of(engagement) if engagement is not None else record.branches
    if filters.branch and not within(filters.branch, *branches):
        return False
    everything = msgspec.structs.replace(filters, hidden=True)  # a search, not a list
    return passes(record, everything) and in_project(filters, place)


def _hit(record: SessionRecord, touch: Touch, person: str | None) -> FileHit:
    return FileHit(
        session_id=record.session_id,
        round=touch.round,
        at=iso(touch.at),
        path=touch.path,
        how={},
        name=record.called or NAMELESS,
        project=record.cwd,
        person=person,
    )
