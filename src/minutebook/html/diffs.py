"""What an edit changed, as a diff on a page: signed, numbered, aligned."""

from __future__ import annotations

import msgspec
from markupsafe import Markup

from minutebook.archive.masking import unmarked
from minutebook.derive.calls import path_of
from minutebook.derive.changes import Change, Line, changes_of, is_numbered, numbers
from minutebook.html.prose import plain
from minutebook.model import ToolCall

_MOST_LINES = 1_000  # on a page; what is longer is opened as a plain file


class Shown(msgspec.Struct, frozen=True):
    """A line of a diff."""

    sign: str
    gutter: str
    """Its numbers before and after, where they are known, and its sign."""
    html: Markup


class Diff(msgspec.Struct, frozen=True):
    path: str
    added: int
    removed: int
    lines: list[Shown]
    numbered: bool
    left_out: int
    """Lines beyond what a page shows."""


def diffs_of(call: ToolCall) -> list[Diff]:
    """The changes a call made, by file; none where it is not an edit."""
    return [_diff(change, path_of(call) or "") for change in changes_of(call)]


def _diff(change: Change, path: str) -> Diff:
    lines = change.lines[1:] if change.lines[0].sign == "@" else change.lines
    numbered = is_numbered(lines)
    shown = [
        Shown(line.sign, _gutter(line, numbered), plain(line.text)) for line in lines[:_MOST_LINES]
    ]
    return Diff(
        path=unmarked(change.path or path),
        added=change.added,
        removed=change.removed,
        lines=shown,
        numbered=numbered,
        left_out=max(0, len(lines) - _MOST_LINES),
    )


def _gutter(line: Line, numbered: bool) -> str:
    sign = line.sign.replace("-", "−")
    return f"{numbers(line)} {sign}" if numbered else f" {sign}"
