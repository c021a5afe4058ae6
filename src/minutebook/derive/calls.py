"""What a tool call did, in one line."""

from __future__ import annotations

from typing import Any

from minutebook.model import ToolCall

_PATHS = ("file_path", "path", "notebook_path")
_TELLING = ("command", "pattern", "query", "url", "description", "skill", "prompt", "subject")


def path_of(call: ToolCall) -> str | None:
    """The file a call is about, under any of the names tools use for it (FMT-10)."""
    return _first(call.input, _PATHS)


def command_of(call: ToolCall) -> str:
    """The shell command of a call; empty where it is none."""
    return _first(call.input, ("command",)) or ""


def describe(call: ToolCall) -> str:
    """The telling argument of a call: a command, a path, a pattern, a task."""
    detail = command_of(call) or path_of(call) or _first(call.input, _TELLING)
    if detail is None and isinstance(call.input, dict):
        detail = next((v for v in call.input.values() if isinstance(v, str) and v.strip()), "")
    line = next((line.strip() for line in (detail or "").splitlines() if line.strip()), "")
    change = _line_change(call.input) if call.kind in ("edit", "write") else ""
    return f"{line}{change}"


def _first(value: Any, keys: tuple[str, ...]) -> str | None:
    if not isinstance(value, dict):
        return None
    found = (value.get(key) for key in keys)
    return next((text for text in found if isinstance(text, str) and text.strip()), None)


def _line_change(value: Any) -> str:
    if not isinstance(value, dict):
        return ""
    edits = value["edits"] if isinstance(value.get("edits"), list) else [value]
    added = removed = 0
    for edit in edits:
        if isinstance(edit, dict):
            added += _lines(edit.get("new_string")) + _lines(edit.get("content"))
            removed += _lines(edit.get("old_string"))
    return f" (+{added} -{removed})" if added or removed else ""


def _lines(text: Any) -> int:
    return len(text.splitlines()) if isinstance(text, str) else 0
