"""Who read or changed a file: `search --file` (SRCH-17)."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from itertools import chain

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.hit import iso
from minutebook.archive.masking import hidden
from minutebook.archive.passing import passes
from minutebook.archive.programs import within
from minutebook.archive.sessions import NAMELESS
from minutebook.index import database as db
from minutebook.index.entry import How, Touch
from minutebook.index.query import Filters
from minutebook.model.engagement import SessionRecord


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
) -> FileAnswer:
    """Rounds that touched files of a name, the newest first.

    `pattern` is the end of a path, or a glob. A page has so many hits, or with `by_round` all
    hits of so many rounds. The index must be there.
    """
    fits = matcher(pattern)
    records: dict[str, SessionRecord] = {}
    known = archive.ids()
    found: dict[tuple[str, int, str], FileHit] = {}
    left_out: set[tuple[str, int]] = set()
    with db.open_search(archive.layout.search_database, readonly=True) as connection:
        wanted = [path for path in db.paths(connection) if fits(path)]
        for id, touch in db.touches(connection, wanted):
            if id not in known:
                continue  # deleted since the index was made
            record = records.get(id) or records.setdefault(id, archive.record(id))
            if _passes(record, touch, filters):
                key = (id, touch.round, touch.path)
                hit = found.setdefault(key, _hit(record, touch))
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
    method, phase = (engagement.method, engagement.phase) if engagement else (None, None)
    if (filters.method or method) != method or (filters.phase or phase) != phase:
        return False
    place = engagement.project if engagement is not None else record.cwd
    if filters.starred and not (record.starred or (engagement and engagement.starred)):
        return False
    everything = msgspec.structs.replace(filters, hidden=True)  # a search, not a list
    return passes(record, everything) and (not filters.project or within(filters.project, place))


def _hit(record: SessionRecord, touch: Touch) -> FileHit:
    return FileHit(
        session_id=record.session_id,
        round=touch.round,
        at=iso(touch.at),
        path=touch.path,
        how={},
        name=record.called or NAMELESS,
        project=record.cwd,
    )
