"""Kinds of notices: words of a user message that neither the person nor the model wrote.

Each source decides what is which (FMT-14); the kinds are the same for all.
"""

from __future__ import annotations

import re

import msgspec

_WRAPPED = re.compile(r"\s*<([A-Za-z][\w-]{0,60})>(.*)</\1>\s*", re.DOTALL)

PROMPT = "prompt"
"""No notice at all: a real user message."""

COMPACTION = "compaction"
META = "meta"
COMMAND = "command"
COMMAND_OUTPUT = "command-output"
INTERRUPTION = "interruption"
TASK = "task-notification"
TEAMMATE = "teammate"
MEMORY = "memory"
REMINDER = "reminder"
EDITOR = "editor"
SYSTEM = "system"


def kind_words(kind: str) -> str:
    """What people call a kind of notice: ``added by the agent``, ``task notification``."""
    return "added by the agent" if kind == META else kind.replace("-", " ")


_GIVEN = {
    "edited_text_file": "a file that was edited meanwhile",
    "selected_lines_in_ide": "lines selected in the editor",
    "opened_file_in_ide": "the file open in the editor",
    "nested_memory": "the instructions of a folder",
    "hook_additional_context": "what a hook added",
    "hook_system_message": "a hook's message",
    "hook_blocking_error": "why a hook refused",
    "compact_file_reference": "a file named at the compaction",
}


def attachment_words(kind: str) -> str:
    """What an attachment is, in words: ``given to the model: what a hook added``."""
    return f"given to the model: {_GIVEN.get(kind) or kind.replace('_', ' ').replace('-', ' ')}"


def gist(text: str) -> str:
    """What a notice comes down to, for a line that points at it: its summary, where it has one;
    else its words without the tag around them all."""
    start = text.find("<summary>")
    end = text.find("</summary>", start)
    if 0 <= start < end:
        return text[start + len("<summary>") : end].strip()
    wrapped = _WRAPPED.fullmatch(text)
    inner = wrapped[2].strip() if wrapped is not None else text
    return _words_of_json(inner) if wrapped is not None and inner.startswith("{") else inner


def _words_of_json(text: str) -> str:
    """What reads as words in a note that one program wrote for another; all of it where nothing
    does."""
    try:
        values = [msgspec.json.decode(text)]
    except (msgspec.DecodeError, RecursionError):
        return text
    found = []
    while values:
        value = values.pop()
        if isinstance(value, dict | list):
            values += reversed(value.values() if isinstance(value, dict) else value)
        elif isinstance(value, str) and " " in value:
            found.append(value)
    return "\n\n".join(found) or text
