"""``engagements.jsonl``: one record a session, the last one wins (ING-20, ING-21).

A run appends a line as soon as a session is done, so a killed run has lost nothing; at
its end the file is compacted in one step. A person's corrections are kept aside and win
over whatever an extractor says later (ING-33).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

import msgspec

from minutebook.archive.layout import Layout
from minutebook.archive.store import append_line, make_folder, write_atomically
from minutebook.model.engagement import Correction, SessionRecord

T = TypeVar("T")


def read_records(layout: Layout) -> dict[str, SessionRecord]:
    """The last record of every session; lines nobody can read are passed over."""
    try:
        content = layout.engagements.read_bytes()
    except OSError:
        return {}
    found: dict[str, SessionRecord] = {}
    for record in _decoded(content, SessionRecord):
        found[record.session_id] = record
    return found


Ranges = list[tuple[int, int, str]]
"""First round, last round and id of engagements."""


class _Range(msgspec.Struct):
    id: str
    turn_range: tuple[int, int]


class _Ranges(msgspec.Struct):
    session_id: str
    engagements: tuple[_Range, ...] = ()


def engagement_ranges(layout: Layout) -> dict[str, Ranges]:
    """The engagements of every session."""
    try:
        stat = layout.engagements.stat()
    except OSError:
        return {}
    return _ranges(layout.engagements, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=1)
def _ranges(path: Path, *_version: int) -> dict[str, Ranges]:
    return {
        record.session_id: [(*part.turn_range, part.id) for part in record.engagements]
        for record in _decoded(path.read_bytes(), _Ranges)
    }


def append_record(layout: Layout, record: SessionRecord) -> None:
    make_folder(layout.sessions)
    append_line(layout.engagements, msgspec.json.encode(record))


def write_records(layout: Layout, records: Iterable[SessionRecord]) -> None:
    """Compact the file: one line a session, oldest first."""
    ordered = sorted(records, key=lambda record: (record.started or "", record.session_id))
    lines = [msgspec.json.encode(record) + b"\n" for record in ordered]
    make_folder(layout.sessions)
    write_atomically(layout.engagements, b"".join(lines))


def read_corrections(layout: Layout) -> dict[str, list[Correction]]:
    """Corrections by session, in the order they were made."""
    try:
        content = layout.corrections.read_bytes()
    except OSError:
        return {}
    found: dict[str, list[Correction]] = {}
    for correction in _decoded(content, Correction):
        found.setdefault(correction.session_id, []).append(correction)
    return found


def add_correction(layout: Layout, correction: Correction) -> None:
    make_folder(layout.sessions)
    append_line(layout.corrections, msgspec.json.encode(correction))


def _decoded(content: bytes, kind: type[T]) -> Iterator[T]:
    decoder = msgspec.json.Decoder(kind)
    for line in content.split(b"\n"):
        try:
            yield decoder.decode(line)
        except msgspec.DecodeError:
            continue  # half a line of a killed writer, or a newer version's
