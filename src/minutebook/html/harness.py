"""Words of the harness without its tags: `<command-name>` and the like are for programs."""

from __future__ import annotations

import re

from minutebook.model import Text

# What each tag means to a person; nothing where the words in it speak for themselves.
_MEANING = {
    "system-reminder": "Note to the model",
    "system_reminder": "Note to the model",
    "command-name": "Command",
    "command-message": None,
    "command-args": "Arguments",
    "command-contents": "",
    "local-command-stdout": "",
    "local-command-stderr": "Error output",
    "local-command-caveat": "Caveat",
    "bash-input": "Ran",
    "bash-stdout": "",
    "bash-stderr": "Error output",
    "tool_use_error": "",
    "persisted-output": "",
    "task-notification": "",
    "agent-notification": "",
    "task-id": None,
    "task_id": None,
    "task_type": "Kind",
    "agent-id": None,
    "tool-use-id": None,
    "tool_use_id": None,
    "output-file": "Output in",
    "output_file": "Output in",
    "retrieval_status": None,
    "exit_code": "Exit status",
    "subagent_tokens": "Tokens",
    "total_tokens": "Tokens",
    "tool_uses": "Tool calls",
    "duration_ms": "Milliseconds",
    "worktree": "Worktree",
    "worktreePath": "Worktree",
    "worktreeBranch": "Branch",
    "user-prompt-submit-hook": "A hook added",
    "ide_opened_file": "In the editor",
    "ide_selection": "Selected in the editor",
    "ide_diagnostics": "Problems in the editor",
    "new-diagnostics": "New problems in the editor",
    "teammate-message": "From a teammate",
    "environment_context": "Environment",
    "user_instructions": "Instructions",
    "user_query": "",
    "turn_aborted": "",
    "subagent_notification": "",
    "thinking_mode": None,
    "usage": "Used",
}
# Tags that others use too: the harness' own only within one of those above.
_INNER = {
    "summary": "",
    "status": "Status",
    "result": "",
    "note": "Note",
    "output": "",
}
_NAMES = "|".join(map(re.escape, sorted(_MEANING, key=len, reverse=True)))
_ANY = "|".join(map(re.escape, sorted(_MEANING | _INNER, key=len, reverse=True)))
_OWN = re.compile(rf"<(?:{_NAMES})(?:\s[^<>\n]{{0,300}})?>")
_EMPTY = re.compile(rf"<({_ANY})>\s*</\1>")
# A run of blanks is looked at from its beginning only: else long ones take quadratic time.
_BLANKS = r"(?:(?<![ \t])[ \t]+)?"
_TAG = re.compile(rf"{_BLANKS}<(/?)({_ANY})(?:\s[^<>\n]{{0,300}})?>[ \t]*")
_LOST = [name for name, meaning in _MEANING.items() if meaning is None]
_LOST_NAMES = "|".join(map(re.escape, _LOST))
_DROPPED = re.compile(rf"{_BLANKS}<({_LOST_NAMES})>[^<]{{0,2000}}</\1>[ \t]*\n?")
_RESULT_OWN = re.compile(rf"^[ \t]*<(?:{_NAMES})(?:\s[^<>\n]{{0,300}})?>", re.MULTILINE)
_GAPS = re.compile(r"\n{3,}")


def is_tagged(text: str) -> bool:
    """Whether a text begins with a tag of the harness."""
    return _OWN.match(text.lstrip()[:400]) is not None


def in_words(text: str) -> str:
    """What the harness wrote, with its tags in words."""
    if "<" not in text or _OWN.search(text) is None:
        return text
    text = _EMPTY.sub("", _DROPPED.sub("", text))
    return _GAPS.sub("\n\n", _TAG.sub(_word, text)).strip("\n")


def answer_in_words(text: str) -> str:
    """The same of a tool's answer: only lines that begin with such a tag are the harness' own."""
    return in_words(text) if "<" in text and _RESULT_OWN.search(text) is not None else text


def _word(tag: re.Match[str]) -> str:
    if tag[1]:
        return "\n"
    meaning = (_MEANING | _INNER)[tag[2]]
    return f"\n{meaning}: " if meaning else "\n"


def typed_words(block: Text) -> str:
    """What a person typed; where the harness spoke in their name, its tags in words."""
    return in_words(block.spoken) if is_tagged(block.spoken) else block.spoken
