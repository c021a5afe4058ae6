"""What an edit changed ↔ a diff in the document, which a person can read. Exactly reversible."""

from __future__ import annotations

import re

import msgspec

from minutebook.model import Hunk
from minutebook.record.notation import carrier, fence, parse_carrier, read_fence

_HEAD = re.compile(r"@@ -(-?\d+),(-?\d+) \+(-?\d+),(-?\d+) @@")


class Malformed(ValueError):
    """A document that is not an inscription any more."""


def write_patch(patch: tuple[Hunk, ...]) -> list[str]:
    """Lines of a patch: a diff, or JSON where a diff could not be read back."""
    if any("\n" in line or _HEAD.match(line) for hunk in patch for line in hunk.lines):
        return [carrier("patch", {"hunks": msgspec.to_builtins(patch)})]
    lines: list[str] = []
    for hunk in patch:
        old, new = f"{hunk.old_start},{hunk.old_lines}", f"{hunk.new_start},{hunk.new_lines}"
        lines += [f"@@ -{old} +{new} @@", *hunk.lines]
    return [carrier("patch"), "", *fence("\n".join(lines), "diff")]


def read_patch(lines: list[str], at: int) -> tuple[tuple[Hunk, ...], int]:
    """The patch that begins at a line, and the line after it."""
    found = parse_carrier(lines[at])
    if found is None or found[0] != "patch":
        raise Malformed("a patch is missing")
    if "hunks" in found[1]:
        return msgspec.convert(found[1]["hunks"], tuple[Hunk, ...]), at + 1
    text, at = read_fence(lines, at + 2)
    hunks: list[Hunk] = []
    inside: list[str] = []
    head: tuple[int, int, int, int] | None = None
    for line in text.split("\n"):
        if match := _HEAD.fullmatch(line):
            if head is not None:
                hunks.append(Hunk(*head, tuple(inside)))
            a, b, c, d = map(int, match.groups())
            head, inside = (a, b, c, d), []
        else:
            inside.append(line)
    if head is None:
        raise Malformed("a patch has no head")
    hunks.append(Hunk(*head, tuple(inside)))
    return tuple(hunks), at
