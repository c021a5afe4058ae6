"""What an edit changed, as a diff."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import msgspec
from markupsafe import Markup

from minutebook.derive.calls import path_of
from minutebook.model import ToolCall
from minutebook.web.prose import plain

_MOST_LINES = 1_500  # on one side; comparing longer ones takes too long for a page
_CONTEXT = 3
_EDITS = ("Edit", "MultiEdit", "Write", "NotebookEdit", "str_replace_editor", "Update")


class Run(msgspec.Struct, frozen=True):
    """Lines that stand together: added, removed, or around them."""

    sign: str
    html: Markup


class Diff(msgspec.Struct, frozen=True):
    path: str
    added: int
    removed: int
    runs: list[Run]


def diff_of(call: ToolCall) -> Diff | None:
    """The change a call asked for; None where it is no edit."""
    if call.name not in _EDITS or not isinstance(call.input, dict):
        return None
    changes = list(_changes(call.input))
    if not changes:
        return None
    lines = [line for old, new in changes for line in _compared(old, new)]
    runs = [
        Run(sign, plain("\n".join(line[1:] for line in group)))
        for sign, group in groupby(lines, key=lambda line: line[0])
    ]
    return Diff(
        path_of(call) or "",
        sum(line[0] == "+" for line in lines),
        sum(line[0] == "-" for line in lines),
        runs,
    )


def _changes(given: dict[str, Any]) -> Iterator[tuple[str, str]]:
    edits = given["edits"] if isinstance(given.get("edits"), list) else [given]
    for edit in edits:
        if not isinstance(edit, dict):
            continue
        old = _text(edit, "old_string", "old_str")
        new = _text(edit, "new_string", "new_str", "content", "file_text", "new_source")
        if old is not None or new is not None:
            yield old or "", new or ""


def _text(edit: dict[str, Any], *names: str) -> str | None:
    found = (edit.get(name) for name in names)
    return next((value for value in found if isinstance(value, str)), None)


def _compared(old: str, new: str) -> list[str]:
    """Lines with their sign in front."""
    before, after = old.splitlines(), new.splitlines()
    if max(len(before), len(after)) > _MOST_LINES or not before or not after:
        return [*(f"-{line}" for line in before), *(f"+{line}" for line in after)]
    lines = list(difflib.unified_diff(before, after, lineterm="", n=_CONTEXT))[2:]
    return [f"@{line[1:]}" if line.startswith("@@") else line for line in lines]
