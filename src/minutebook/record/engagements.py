"""``engagements.jsonl``: one record a session, the last one wins (ING-20, ING-21).

A run appends a line as soon as a session is done, so a killed run has lost nothing; at
its end the file is compacted in one step. A person's corrections are kept aside and win
over whatever an extractor says later (ING-33).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

import msgspec

from minutebook.record.layout import Layout
from minutebook.record.store import append_line, make_folder, write_atomically
from minutebook.model.engagement import Correction, SessionRecord

T = TypeVar("T")


def read_records(layout: Layout) -> dict[str, SessionRecord]:
    """The last record of every session; lines nobody can read are passed over."""
    found: dict[str, SessionRecord] = {}
    for record in _decoded(_content(layout.engagements), SessionRecord):
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


class _Key(msgspec.Struct):
    session_id: str
    started: str | None = None


def compact(layout: Layout) -> None:
    """One line a session, the last, oldest session first.

    Lines are kept as they are: a newer version may have written more into them.
    """
    last: dict[str, tuple[str, bytes]] = {}
    decoder = msgspec.json.Decoder(_Key)
    for line in _content(layout.engagements).split(b"\n"):
        try:
            key = decoder.decode(line)
        except msgspec.DecodeError:
            continue  # half a line of a killed writer
        last[key.session_id] = (key.started or "", line)
    ordered = sorted(last.items(), key=lambda item: (item[1][0], item[0]))
    write_atomically(layout.engagements, b"".join(line + b"\n" for _, (_, line) in ordered))


def read_corrections(layout: Layout) -> dict[str, list[Correction]]:
    """Corrections by session, in the order they were made."""
    found: dict[str, list[Correction]] = {}
    for correction in _decoded(_content(layout.corrections), Correction):
        found.setdefault(correction.session_id, []).append(correction)
    return found


def add_correction(layout: Layout, correction: Correction) -> None:
    make_folder(layout.sessions)
    append_line(layout.corrections, msgspec.json.encode(correction))


def _content(path: Path) -> bytes:
    """A file's bytes; none where it is not there yet. Any other trouble is trouble."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def _decoded(content: bytes, kind: type[T]) -> Iterator[T]:
    decoder = msgspec.json.Decoder(kind)
    for line in content.split(b"\n"):
        try:
            yield decoder.decode(line)
        except msgspec.DecodeError:
            continue  # half a line of a killed writer, or a newer version's
