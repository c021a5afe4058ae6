"""``engagements.jsonl``: one record per session, the last one wins (ING-20, ING-21).

A run appends a line as soon as a session is done, so a killed run has lost nothing; at
its end the file is compacted in one step. What a person says is kept aside (`record.said`)
and wins over whatever an extractor says later (ING-33).
"""

from __future__ import annotations

import msgspec

from minutebook.model.engagement import SessionRecord
from minutebook.record.layout import Layout
from minutebook.record.lines import Lines, read_lines
from minutebook.record.store import append_line, copy_aside, make_folder, write_atomically


def read_records(layout: Layout) -> Lines[SessionRecord]:
    """Every record, in the order they were written: the last of a session counts."""
    return read_lines(layout.engagements, SessionRecord)


def append_record(layout: Layout, record: SessionRecord) -> None:
    make_folder(layout.sessions)
    append_line(layout.engagements, msgspec.json.encode(record))


class _Key(msgspec.Struct):
    session_id: str
    started: str | None = None


def compact(layout: Layout) -> None:
    """One line per session, the last, oldest session first.

    Lines are kept as they are: a newer version may have written more into them. A file with
    lines that cannot be read is copied aside before they are left out.
    """
    try:
        content = layout.engagements.read_bytes()
    except FileNotFoundError:
        return
    if read_records(layout).lost:
        copy_aside(layout.engagements)  # not moved: what was paid for is here however this ends
    last: dict[str, tuple[str, bytes]] = {}
    decoder = msgspec.json.Decoder(_Key)
    for line in content.split(b"\n"):
        try:
            key = decoder.decode(line)
        except (msgspec.DecodeError, RecursionError):
            continue  # half a line of a killed writer, or damaged
        last[key.session_id] = (key.started or "", line)
    ordered = sorted(last.items(), key=lambda item: (item[1][0], item[0]))
    write_atomically(layout.engagements, b"".join(line + b"\n" for _, (_, line) in ordered))
