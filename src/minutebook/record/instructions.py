"""``instructions/``: what agents were told to do, kept so that it outlives the repository (FUT-03).

Each version is a file named by its hash; ``sessions.jsonl`` says which session had which, a line
each, and the last line of a session counts.
"""

from __future__ import annotations

import msgspec

from minutebook.derive.instructions import Change, Instruction, normal, version_hash
from minutebook.record.layout import Layout
from minutebook.record.lines import read_lines
from minutebook.record.store import append_line, make_folder, write_atomically

VERSION = 1


class KeptInstructions(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The instructions of one session, as they are written down."""

    version: int
    session_id: str
    looked: str | None = None
    """When the project's folder was looked at; None where it was gone already."""
    files: tuple[Instruction, ...] = ()
    changed: tuple[Change, ...] = ()
    """Files the session itself changed."""
    project: str = "there"
    """``there``, ``gone``, or ``unknown`` where the session names none."""


def keep_version(layout: Layout, content: str) -> str:
    """Write a version down, unless it is there; its hash."""
    name = version_hash(content)
    path = layout.instructions / f"{name}.md"
    if not path.is_file():
        make_folder(layout.instructions)
        write_atomically(path, normal(content).encode("utf-8", "surrogatepass"))
    return name


def read_version(layout: Layout, name: str) -> str | None:
    """The content of a version; None where it is not kept."""
    try:
        return (layout.instructions / f"{name}.md").read_bytes().decode("utf-8", "replace")
    except OSError:
        return None


def add_session(layout: Layout, kept: KeptInstructions) -> None:
    make_folder(layout.instructions)
    append_line(layout.session_instructions, msgspec.json.encode(kept))


def read_sessions(layout: Layout) -> tuple[dict[str, KeptInstructions], str | None]:
    """The instructions of every session that has some kept, and what is wrong with the file."""
    found = read_lines(layout.session_instructions, KeptInstructions)
    known = [kept for kept in found.values if kept.version <= VERSION]
    problem = found.problem
    if len(known) < len(found.values):
        problem = "a newer minutebook wrote some of it"
    return {kept.session_id: kept for kept in known}, problem
