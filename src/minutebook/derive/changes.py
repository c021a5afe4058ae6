"""What an edit changed, line by line: one count for pages, lists and figures.

What the agent recorded has the lines around a change and their numbers. Without that, a patch
that was handed over is read, or the old text is compared with the new one.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from minutebook.model import ToolCall

OLD = ("old_string", "old_str", "oldString", "oldText")
NEW = ("new_string", "new_str", "newString", "newText", "content", "file_text", "new_source")
GIVEN = frozenset({"file_path", "filePath", "path", "notebook_path", "edits", "patch", *OLD, *NEW})
"""Fields of a call that its changes show already."""
_PATCHES = ("patch", "input", "command")
_MOST_LINES = 1_500  # on one side; comparing longer ones takes too long for a page
_CONTEXT = 3
_FILE = re.compile(r"\*\*\* (?:Update|Add|Delete) File: (.{1,4096})")
_ADDED = "*** Add File: "
_HUNK = re.compile(r"@@ -(\d{1,9})(?:,\d{1,9})? \+(\d{1,9})(?:,\d{1,9})? @@")
# How tools show lines of a file: a number, then an arrow, a tab or a bar.
GUTTER = re.compile(r"[ \t]{0,12}(\d{1,7})(?:→|\t|\| )(.*)")


class Line(msgspec.Struct, frozen=True, gc=False):
    """A line of a diff."""

    sign: str
    """``+``, ``-``, a blank, or ``@`` where lines are left out."""
    text: str = ""
    old: int | None = None
    new: int | None = None
    """Its number before and after, where that is known."""


class Change(msgspec.Struct, frozen=True):
    """What became of one file."""

    path: str
    """Empty where the call names the file elsewhere."""
    lines: list[Line]

    @property
    def added(self) -> int:
        return sum(line.sign == "+" for line in self.lines)

    @property
    def removed(self) -> int:
        return sum(line.sign == "-" for line in self.lines)


def changes_of(call: ToolCall) -> list[Change]:
    """The files a call changed, and how; none where it is not an edit."""
    if not _is_edit(call):
        return []
    if (patch := _patch_of(call.input)) is not None:
        return [change for change in _patched(patch) if change.lines]
    recorded = call.result.patch if call.result is not None else ()
    lines = [
        line for hunk in recorded for line in _hunk(hunk.lines, hunk.old_start, hunk.new_start)
    ]
    if not lines and isinstance(call.input, dict):
        lines = _asked(call, call.input)
    return [Change("", lines)] if lines else []


def is_numbered(lines: Iterable[Line]) -> bool:
    """Whether it is known where any of the lines stands."""
    return any(line.old or line.new for line in lines)


def numbers(line: Line) -> str:
    """Its numbers before and after, side by side."""
    return f"{line.old or '':>5} {line.new or '':>5}"


def _is_edit(call: ToolCall) -> bool:
    if call.kind in ("edit", "write"):
        return True
    # A tool that nobody has classified, but which says itself what is to be replaced by what.
    given = call.input
    return call.kind == "other" and isinstance(given, dict) and _text(given, OLD) is not None


def _hunk(lines: Iterable[str], old: int, new: int) -> Iterator[Line]:
    """The lines of a hunk; numbered where it says where it begins."""
    yield Line("@")
    known = old > 0 or new > 0
    for line in lines:
        if line.startswith("\\"):  # "\ No newline at end of file"
            continue
        sign, text = (line[0], line[1:]) if line[:1] in ("+", "-", " ") else (" ", line)
        before = old if known and sign != "+" else None
        after = new if known and sign != "-" else None
        yield Line(sign, text, before, after)
        old += sign != "+"
        new += sign != "-"


# -- what a call asked for


def _asked(call: ToolCall, given: dict[str, Any]) -> list[Line]:
    edits = given["edits"] if isinstance(given.get("edits"), list) else [given]
    found: list[Line] = []
    for edit in edits:
        if not isinstance(edit, dict):
            continue
        old, new = _text(edit, OLD), _text(edit, NEW)
        if old is None and new is None:
            continue
        start = _start(call, new or "") if len(edits) == 1 else 0
        if call.kind == "write" and old is None:
            start = 1
        found += _compared(old or "", new or "", start)
    return found


def _compared(old: str, new: str, start: int) -> Iterator[Line]:
    """The difference of two texts; numbered where it is known which line the new one begins on."""
    before, after = old.splitlines(), new.splitlines()
    if max(len(before), len(after)) > _MOST_LINES or not before or not after:
        lines = [*(f"-{line}" for line in before), *(f"+{line}" for line in after)]
        yield from _hunk(lines, start if before else 0, start)
        return
    at = 0, 0
    held: list[str] = []
    for line in [*list(difflib.unified_diff(before, after, lineterm="", n=_CONTEXT))[2:], "@@"]:
        if not line.startswith("@@"):
            held.append(line)
            continue
        if held:
            yield from _hunk(held, *((start + n - 1 if start else 0) for n in at))
        held = []
        if (found := _HUNK.match(line)) is not None:
            at = int(found[1]), int(found[2])


def _start(call: ToolCall, new: str) -> int:
    """The line the new text begins on, where the answer shows it with its number; else 0."""
    wanted = new.splitlines()[:1]
    if not wanted or not wanted[0].strip() or call.result is None:
        return 0
    shown = (GUTTER.fullmatch(line) for line in call.result.text[:20_000].split("\n"))
    places = [int(found[1]) for found in shown if found is not None and found[2] == wanted[0]]
    return places[0] if len(places) == 1 else 0


def _text(edit: dict[str, Any], names: tuple[str, ...]) -> str | None:
    found = (edit.get(name) for name in names)
    return next((value for value in found if isinstance(value, str)), None)


# -- patches as text


def _patch_of(given: Any) -> str | None:
    """The patch a call hands over; None where it hands over none."""
    if isinstance(given, dict):
        given = next((given[name] for name in _PATCHES if name in given), None)
        given = given[-1] if isinstance(given, list) and given else given
    return given if isinstance(given, str) and "*** Begin Patch" in given else None


def _patched(patch: str) -> Iterator[Change]:
    path, lines = "", list[Line]()
    new = 0
    begun = False
    for line in patch.split("*** Begin Patch", 1)[1].split("\n"):
        if (named := _FILE.fullmatch(line.rstrip("\r"))) is not None:
            yield Change(path, lines)
            path, lines, begun = named[1], [], False
            new = 1 if line.startswith(_ADDED) else 0
        elif line.startswith("*** End Patch"):
            break
        elif line.startswith("@@"):
            lines.append(Line("@"))
            begun = True
        elif path and line[:1] in ("+", "-", " "):
            if not lines and not begun:
                lines.append(Line("@"))
            known = new > 0 and line[0] == "+"
            lines.append(Line(line[0], line[1:], None, new if known else None))
            new += known
    yield Change(path, lines)
