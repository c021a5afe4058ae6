"""What a call is about, in a few words: by what its tool does, whatever its agent calls it."""

from __future__ import annotations

from typing import Any

import msgspec

from minutebook.derive.calls import command_of, describe, path_of, paths_of, plan_heading
from minutebook.model import ToolCall

_PARTS = 3  # of a path, from its end
_WORDS = 300
_DONE = ("completed", "done")
_PLACES = ("path", "paths", "glob", "include", "dir_path")
_SOUGHT = ("pattern", "query", "queries", "q")
_TELLING = ("query", "pattern", "url", "command", "code", "text", "prompt", "subject", "message")
_TASKS = ("description", "name", "agent_name", "message", "prompt")


class About(msgspec.Struct, frozen=True):
    """A line in two parts: words for people, then what exactly."""

    words: str
    """As people say it: the description of a command, the task of a subagent."""
    exact: str = ""
    """A command, a path, a pattern."""
    whole: str = ""
    """The same where it was shortened."""


def about(call: ToolCall) -> About:
    """What a call is about."""
    given = call.input if isinstance(call.input, dict) else {}
    if call.kind == "run":
        return About(_first(given, "description"), _line(command_of(call)) or _line(describe(call)))
    if call.kind in ("read", "edit", "write") and (path := path_of(call)):
        others = len(paths_of(call)) - 1
        more = f" and {others} more" if others > 0 else _lines_read(given)
        return About("", f"{path_end(path)}{more}", path)
    if call.kind == "search":
        return _search(call, given)
    if call.kind == "fetch":
        return About("", _first(given, "url") or _first(given, *_SOUGHT) or _line(describe(call)))
    if call.kind == "delegate":
        return About(_first(given, *_TASKS) or _line(describe(call)))
    if call.kind == "plan":
        return About(_plan(call, given) or _line(describe(call)))
    questions = given.get("questions")
    if isinstance(questions, list) and questions and isinstance(questions[0], dict):
        return About(_first(questions[0], "question"))
    if skill := _first(given, "skill"):
        return About("", f"{skill} {_first(given, 'args')}".strip())
    words = _first(given, "description")
    return About(words, _first(given, *_TELLING) or _line(describe(call)))


def path_end(path: str) -> str:
    """The end of a path, which tells more than its beginning: ``…/web/static/session.js``."""
    parts = path.replace("\\", "/").rstrip("/").split("/")
    if len(parts) <= _PARTS + 1:
        return path
    return "…/" + "/".join(parts[-_PARTS:])


def _search(call: ToolCall, given: dict[str, Any]) -> About:
    sought = _first(given, *_SOUGHT)
    if not sought:
        return About("", _line(describe(call)))
    place = _first(given, *_PLACES)
    return About("", f"{sought} in {path_end(place)}" if place else sought, place)


def _lines_read(given: dict[str, Any]) -> str:
    offset, limit = given.get("offset"), given.get("limit")
    if isinstance(given.get("view_range"), list):
        offset, last = (*given["view_range"], None, None)[:2]
        limit = last - offset + 1 if isinstance(offset, int) and isinstance(last, int) else None
    if not isinstance(offset, int) or isinstance(offset, bool):
        return ""
    if isinstance(limit, int) and limit > 0:
        return f", lines {offset}–{offset + limit - 1}"
    return f", from line {offset}"


def _plan(call: ToolCall, given: dict[str, Any]) -> str:
    for name in ("todos", "plan", "items", "tasks"):
        steps = given.get(name)
        if isinstance(steps, list) and steps:
            states = [step.get("status") if isinstance(step, dict) else None for step in steps]
            done = sum(state in _DONE for state in states)
            under_way = next(
                (s for s, state in zip(steps, states, strict=True) if state == "in_progress"), None
            )
            current = _first(under_way, "content", "step", "description") if under_way else ""
            told = f"{done} of {len(steps)} done"
            return f"{told}, now: {current}" if current else told
    if given.get("taskId") is not None and given.get("status") is not None:
        return f"task {given['taskId']}: {str(given['status']).replace('_', ' ')}"
    return plan_heading(call) or _first(given, "subject", "title", "description")


def _first(given: Any, *names: str) -> str:
    """The first of these fields that says something, on a line."""
    for name in names if isinstance(given, dict) else ():
        value = given.get(name)
        if isinstance(value, list):
            value = ", ".join(item for item in value if isinstance(item, str))
        if isinstance(value, str) and value.strip():
            return _line(value)
    return ""


def _line(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line[:_WORDS]
