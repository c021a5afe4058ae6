"""Instructions in force: which files told an agent what to do, and how that is known (FUT-03)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Literal

import msgspec

How = Literal["attached", "read", "written"]
"""The agent put it into the window itself; a tool read it; the session changed it."""
Grade = Literal["recorded", "git", "present", "unknown"]
"""In the transcript; the commit in force at the start; the file as it is, unchanged since."""
Scope = Literal["home", "parent", "project", "nested"]
"""For all projects; of a folder above; of the folder itself; of a folder inside it."""
_ORDER: dict[str, int] = {"home": 0, "parent": 1, "project": 2, "nested": 3}
_DIGITS = 16
_MOST_CHARS = 262_144


class Given(msgspec.Struct, frozen=True):
    """A file of instructions that a block of a transcript is about."""

    path: str
    how: How
    content: str | None = None
    """All of it, where the block has that."""


class Sighting(msgspec.Struct, frozen=True):
    """The same, with the round it was met in."""

    round: int
    given: Given


class Instruction(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One file of instructions as it was when a session began."""

    path: str
    scope: Scope
    grade: Grade
    hash: str | None = None
    """The version; None where the content is not known."""
    size: int = 0
    """Bytes of the content."""
    how: How | None = None
    round: int | None = None
    """Of what is recorded: by whom, and the round it was met in."""
    commit: str | None = None
    committed: str | None = None
    """Of what git knows: the commit, and when it was made."""
    changed: str | None = None
    """When the file was last changed, where its present state was looked at."""
    note: str | None = None
    """Why more is not known."""


class Change(msgspec.Struct, frozen=True):
    """A file of instructions that the session itself changed."""

    path: str
    round: int


def normal(content: str) -> str:
    """A content as versions are compared by: line ends, and those at the very end, do not count."""
    return content.replace("\r\n", "\n").rstrip("\n") + "\n"


def version_hash(content: str) -> str:
    """The name of a version: the first digits of its SHA-256."""
    told = normal(content).encode("utf-8", "surrogatepass")
    return hashlib.sha256(told).hexdigest()[:_DIGITS]


def is_reasonable(content: str) -> bool:
    """Whether a content is short enough to be instructions that somebody wrote."""
    return len(content) <= _MOST_CHARS


def recorded(
    sightings: Iterable[Sighting], cwd: str | None
) -> tuple[dict[str, tuple[Instruction, str]], tuple[Change, ...]]:
    """What a transcript records: the first content of each file, unless the session had changed
    it before; and what it changed."""
    found: dict[str, tuple[Instruction, str]] = {}
    changes: dict[tuple[str, int], Change] = {}
    touched: set[str] = set()
    for sighting in sightings:
        given, key = sighting.given, same_path(sighting.given.path)
        if given.how == "written":
            touched.add(key)
            changes.setdefault((key, sighting.round), Change(given.path, sighting.round))
            continue
        content = given.content
        if content is None or key in touched or not is_reasonable(content):
            continue
        known = found.get(key)
        if known is not None and (known[0].how == "attached" or given.how != "attached"):
            continue
        instruction = Instruction(
            path=given.path,
            scope=scope_of(given.path, cwd),
            grade="recorded",
            hash=version_hash(content),
            size=len(normal(content).encode("utf-8", "surrogatepass")),
            how=given.how,
            round=sighting.round,
        )
        found[key] = (instruction, content)
    return found, tuple(changes.values())


def scope_of(path: str, cwd: str | None) -> Scope:
    """Where a file stands, seen from the folder a session began in.

    What is in a hidden folder belongs to the folder that has it.
    """
    folder, here = same_path(path).rpartition("/")[0], same_path(cwd or "").rstrip("/")
    parts = folder.split("/")
    hidden = next((at for at, part in enumerate(parts) if part.startswith(".")), len(parts))
    owner = "/".join(parts[:hidden])
    if not here or owner == here:
        return "project"
    if owner.startswith(f"{here}/"):
        return "nested"
    return "parent" if here.startswith(f"{owner}/") or not owner else "home"


def same_path(path: str) -> str:
    """A path as it is compared: with slashes of one kind."""
    return path.replace("\\", "/")


def in_order(files: Iterable[Instruction]) -> tuple[Instruction, ...]:
    return tuple(sorted(files, key=lambda file: (_ORDER[file.scope], same_path(file.path))))
