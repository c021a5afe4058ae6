"""What an edit changed, as a diff in a terminal: numbered where that is known, signed, coloured."""

from __future__ import annotations

import click

from minutebook.cli import terminal
from minutebook.derive.calls import path_of
from minutebook.derive.changes import Change, is_numbered, numbers
from minutebook.model import ToolCall

_INDENT = "    "
_COLORS = {"+": "green", "-": "red"}


def print_changes(call: ToolCall, changes: list[Change]) -> None:
    """Each file a call changed, and its lines."""
    for change in changes:
        path = terminal.one_line(change.path or path_of(call) or "")
        counts = terminal.quiet(f"+{change.added} -{change.removed}")
        terminal.say(f"{_INDENT}{path} {counts}")
        lines = change.lines[1:] if change.lines[0].sign == "@" else change.lines
        numbered = is_numbered(lines)
        for line in lines:
            if line.sign == "@":
                terminal.say(terminal.quiet(f"{_INDENT}…"))
                continue
            gutter = terminal.quiet(f"{numbers(line)} ") if numbered else ""
            text = terminal.one_line_kept(line.text)
            color = _COLORS.get(line.sign)
            signed = f"{line.sign} {text}".rstrip()
            terminal.say(_INDENT + gutter + click.style(signed, fg=color, dim=color is None))
