"""Kinds of notices: words of a user message that neither the person nor the model wrote.

Each source decides what is which (FMT-14); the kinds are the same for all.
"""

from __future__ import annotations

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


def gist(text: str) -> str:
    """What a notice comes down to, for a line that points at it: its summary, where it has one."""
    start = text.find("<summary>")
    end = text.find("</summary>", start)
    return text[start + len("<summary>") : end].strip() if 0 <= start < end else text
