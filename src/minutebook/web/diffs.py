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
from minutebook.model.blocks import Hunk
from minutebook.web.prose import plain

_MOST_LINES = 1_500  # on one side; comparing longer ones takes too long for a page
_CONTEXT = 3
_OLD = ("old_string", "old_str")
_NEW = ("new_string", "new_str", "content", "file_text", "new_source")
GIVEN = frozenset({"file_path", "path", "notebook_path", "edits", *_OLD, *_NEW})
"""Fields of a call that its diff shows already."""


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
    """The change a call made; None where it is not an edit.

    What the agent recorded of it has the lines around and is aligned; without that, what the
    call asked for is compared.
    """
    if not _is_edit(call):
        return None
    patch = call.result.patch if call.result is not None else ()
    lines = [line for hunk in patch for line in _recorded(hunk)]
    if not lines and isinstance(call.input, dict):
        lines = [line for old, new in _changes(call.input) for line in _compared(old, new)]
    if not lines:
        return None
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


def _is_edit(call: ToolCall) -> bool:
    if call.kind in ("edit", "write"):
        return True
    # A tool nobody has classified, but which says itself what is to be replaced by what.
    given = call.input
    return call.kind == "other" and isinstance(given, dict) and _text(given, *_OLD) is not None


def _recorded(hunk: Hunk) -> Iterator[str]:
    yield "@"
    for line in hunk.lines:
        if not line.startswith("\\"):  # "\ No newline at end of file"
            yield line if line[:1] in ("+", "-", " ") else f" {line}"


def _changes(given: dict[str, Any]) -> Iterator[tuple[str, str]]:
    edits = given["edits"] if isinstance(given.get("edits"), list) else [given]
    for edit in edits:
        if not isinstance(edit, dict):
            continue
        old, new = _text(edit, *_OLD), _text(edit, *_NEW)
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
