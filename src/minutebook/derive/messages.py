"""Kinds of notices: words of a user message that neither the person nor the model wrote.

Each source decides what is which (FMT-14); the kinds are the same for all.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

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

# Moved to the source that knows them. By name, for derive is below sources.
_MOVED = frozenset({"Command", "classify", "gist", "parse_command", "spoken"})


def __getattr__(name: str) -> Any:
    if name in _MOVED:
        return getattr(import_module("minutebook.sources.claude_code.messages"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
