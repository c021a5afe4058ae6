"""What a tool call did, in one line."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from minutebook.derive.changes import changes_of
from minutebook.model import ToolCall

_PATHS = ("file_path", "filePath", "absolute_path", "path", "notebook_path")
_COMMANDS = ("command", "cmd")
_PATCHES = ("patch", "input", "command")
_PATCHED = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.{1,4096})$", re.MULTILINE)
_TELLING = ("command", "pattern", "query", "url", "description", "skill", "prompt", "subject")

_PLAN_CHARS = 4_000
_LISTS = ("todos", "plan", "tasks", "items")
_ITEMS = ("content", "step", "subject", "description", "title")
_MOST_ITEMS = 20
_ITEM_CHARS = 300
_ANSWERED = re.compile(r'"([^"]{3,500})"="([^"]{1,500})"')


class Choice(msgspec.Struct, frozen=True):
    """What a person chose when they were asked."""

    question: str
    answer: str
    others: tuple[str, ...] = ()


def path_of(call: ToolCall) -> str | None:
    """The file a call is about, under any of the names tools use for it (FMT-10); of several in a
    patch the first."""
    return next(iter(paths_of(call)), None)


def paths_of(call: ToolCall) -> list[str]:
    """All files a call is about: a patch may change several."""
    named = _first(call.input, _PATHS)
    if named is not None:
        return [named]
    if call.kind != "edit":
        return []
    given = call.input
    if isinstance(given, dict):
        given = next((given[name] for name in _PATCHES if name in given), None)
        given = given[-1] if isinstance(given, list) and given else given
    return _PATCHED.findall(given) if isinstance(given, str) else []


def command_of(call: ToolCall) -> str:
    """The shell command of a call; empty where it is none."""
    told = _first(call.input, _COMMANDS)
    if told is not None or call.kind != "run" or not isinstance(call.input, dict):
        return told or ""
    words = call.input.get("command")
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        return ""
    # A shell that is given one line: the line is what was meant.
    return words[2] if len(words) == 3 and words[1] in ("-c", "-lc") else shlex.join(words)


def describe(call: ToolCall) -> str:
    """The telling argument of a call: a command, a path, a pattern, a task."""
    detail = command_of(call) or path_of(call) or _first(call.input, _TELLING)
    if detail is None and isinstance(call.input, dict):
        detail = next((v for v in call.input.values() if isinstance(v, str) and v.strip()), "")
    line = next((line.strip() for line in (detail or "").splitlines() if line.strip()), "")
    added, removed = line_change(call)
    return f"{line} (+{added} -{removed})" if added or removed else line


def line_change(call: ToolCall) -> tuple[int, int]:
    """Lines an edit put in and took out, as its diff shows them."""
    if call.kind not in ("edit", "write"):
        return 0, 0
    changes = changes_of(call)
    return sum(change.added for change in changes), sum(change.removed for change in changes)


def plan_of(call: ToolCall) -> str:
    """The plan that a call hands over; empty where it hands over none."""
    return _first(call.input, ("plan",)) or ""


def plan_heading(call: ToolCall) -> str:
    """The first heading of a plan that a call hands over; empty where it hands over none."""
    if not (plan := plan_of(call)):
        return ""
    begun = plan if len(plan) <= _PLAN_CHARS else plan[:_PLAN_CHARS].rpartition("\n")[0]
    lines = (line.strip() for line in begun.splitlines())
    return next((line.lstrip("# ").strip() for line in lines if line.startswith("#")), "")


def planned(call: ToolCall, hide: Callable[[str], str] = str) -> Iterator[str]:
    """What a call puts on a list of things to do, or gives to a subagent, a line each; `hide` takes
    secrets out of it before it is cut."""
    given = call.input
    if not isinstance(given, dict) or call.kind not in ("plan", "delegate"):
        return
    for key in _LISTS:
        items = given[key] if isinstance(given.get(key), list) else []
        for item in items[:_MOST_ITEMS]:
            yield from _lined(_first(item, _ITEMS), hide)
    yield from _lined(_first(given, ("subject", "description")), hide)


def settled(call: ToolCall, hide: Callable[[str], str] = str) -> Iterator[Choice]:
    """Questions a call put to the person, with the answer and what else could have been chosen."""
    asked = call.input.get("questions") if isinstance(call.input, dict) else None
    if not isinstance(asked, list) or call.result is None or call.result.error:
        return
    answers = dict(_ANSWERED.findall(call.result.text[:_PLAN_CHARS]))
    for item in asked[:_MOST_ITEMS]:
        question = _first(item, ("question",))
        answer = answers.get(question or "")
        if not question or not answer:
            continue
        options = item["options"] if isinstance(item.get("options"), list) else []
        labels = tuple(label for option in options if (label := _first(option, ("label",))))
        others = (hide(label) for label in labels if label not in answer)
        yield Choice(hide(question), hide(answer), tuple(others))


def _lined(text: str | None, hide: Callable[[str], str]) -> Iterator[str]:
    if text:
        yield " ".join(hide(text)[:_ITEM_CHARS].split())


def _first(value: Any, keys: tuple[str, ...]) -> str | None:
    if not isinstance(value, dict):
        return None
    for key in keys:
        text = value.get(key)
        if isinstance(text, str) and text and not text.isspace():
            return text
    return None
