"""Unified diffs, as agents record what an edit changed."""

from __future__ import annotations

import re

from minutebook.model import Hunk

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")


def hunks_of(diff: str) -> tuple[Hunk, ...]:
    """The changed places of a unified diff; what is not a line of one is passed over."""
    found: list[Hunk] = []
    start: tuple[int, int, int, int] | None = None
    lines: list[str] = []

    def close() -> None:
        if start is not None:
            found.append(Hunk(start[0], start[1], start[2], start[3], tuple(lines)))

    for line in diff.split("\n"):
        if (match := _HUNK.match(line)) is not None:
            close()
            old, old_lines, new, new_lines = match.groups()
            start = (int(old), int(old_lines or 1), int(new), int(new_lines or 1))
            lines = []
        elif start is None or (line.startswith(("--- ", "+++ ")) and _is_full(start, lines)):
            continue
        elif line[:1] in (" ", "+", "-"):
            lines.append(line)
        elif not line and not _is_full(start, lines):
            lines.append(" ")  # editors strip the blank of an empty line
    close()
    return tuple(found)


def _is_full(start: tuple[int, int, int, int], lines: list[str]) -> bool:
    """Whether a hunk has all the lines its head promises."""
    old = sum(line[0] != "+" for line in lines)
    new = sum(line[0] != "-" for line in lines)
    return old >= start[1] and new >= start[3]


def added_lines(content: str) -> tuple[Hunk, ...]:
    """A file that was not there before, as one changed place."""
    lines = content.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return (Hunk(0, 0, 1, len(lines), tuple("+" + line for line in lines)),) if lines else ()


def removed_lines(content: str) -> tuple[Hunk, ...]:
    """A file that is no longer there, as one changed place."""
    lines = content.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return (Hunk(1, len(lines), 0, 0, tuple("-" + line for line in lines)),) if lines else ()
