"""What made a record of Claude Code: a person, the agent, or neither (USE-03)."""

from __future__ import annotations

from typing import Any

from minutebook.sources.assembly.clocks import LETTERS
from minutebook.sources.claude_code.records import FullBlock, FullMessage, Record

SYNTHETIC_MODEL = "<synthetic>"
"""The model of replies that the agent made up itself: errors, and "No response requested"."""

REPLY, OTHER = LETTERS["reply"], LETTERS["other"]
_RESULT, _COMMAND, _PROMPT = LETTERS["result"], LETTERS["command"], LETTERS["prompt"]
MAKERS = {
    "user": _PROMPT,
    "assistant": REPLY,
    "progress": LETTERS["progress"],
    "system": OTHER,
    "attachment": OTHER,
}
"""What made a record, by its type, as a clock's letter; for a user's, `made_user_record` tells."""


def made_user_record(record: Record[Any]) -> str:
    """Whether an agent made a user's record (a result), a person, or neither; a clock's letter."""
    message = record.message
    content = message.content if type(message) is FullMessage else None
    if type(content) is list:
        blocks = [block for block in content if type(block) is FullBlock]
        for block in blocks:
            if block.type == "tool_result":
                return _RESULT
        text = " ".join([block.text or "" for block in blocks])
    else:
        text = content if type(content) is str else ""
    if record.isMeta or record.isCompactSummary:
        return OTHER
    opening = text[:200].lstrip() or text.lstrip()
    if opening.startswith("<task-notification"):
        return OTHER
    return _COMMAND if opening.startswith(("<command-", "<local-command")) else _PROMPT
