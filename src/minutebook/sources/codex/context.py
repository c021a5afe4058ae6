"""What Codex puts before the model in the user's name: told from what a person typed (FMT-14)."""

from __future__ import annotations

import re
from typing import Any

from minutebook.derive import messages as kinds
from minutebook.model import Attachment, Block, Notice, Text
from minutebook.sources.codex.records import Payload, Piece
from minutebook.sources.codex.results import part_of

INSTRUCTIONS = "instructions"
"""Kind of the attachment that holds an AGENTS.md: its data has `folder` and `content`."""

_AGENTS_MD = re.compile(
    r"# AGENTS\.md instructions(?: for ([^\n]{1,4096}))?\n\n"
    r"<INSTRUCTIONS>\n(.*?)\n?</INSTRUCTIONS>\s*",
    re.DOTALL,
)
_USER_INSTRUCTIONS = re.compile(r"<user_instructions>\n*(.*?)\n*</user_instructions>\s*", re.DOTALL)
_WRAPPED = re.compile(r"\s*<([a-z][a-z0-9_-]{1,60})(?: instructions)?(?:>|\s[^<>]{0,500}>)")
_PICTURE = re.compile(r'<image(?: name=[^<>"]{1,400})?(?: path="[^"<>]{0,4096}")?>')
_REQUEST = "## My request for Codex:\n"
_SHELL = re.compile(
    r"\s*<user_shell_command>\s*<command>\n?(.*?)\n?</command>\s*"
    r"<result>\n?(.*?)\n?</result>\s*</user_shell_command>\s*",
    re.DOTALL,
)
_NAMED = {
    "environment_context": "environment",
    "permissions": "permissions",
    "skills_instructions": "skills",
    "skill": "skill",
    "collaboration_mode": "mode",
    "recommended_plugins": "plugins",
}
_NOTICES = {
    "subagent_notification": kinds.TASK,
    "turn_aborted": kinds.INTERRUPTION,
}


def is_persons(piece: Piece, kind: str | None) -> bool:
    """Whether a person gave this piece of a user message; `kind` is what 0.166 says of it."""
    if kind is not None and kind != "unknown":
        return kind.startswith("user.")
    if piece.text is None:
        return True
    return not looks_injected(piece.text)


def looks_injected(text: str) -> bool:
    """By its form: a person may have typed the same, and then an event says so."""
    if text.startswith("# AGENTS.md instructions"):
        return True
    if _PICTURE.fullmatch(text) or text == "</image>":
        return False
    head = _WRAPPED.match(text)
    if head is None:
        return False
    tail = text.rstrip()
    return tail.endswith((f"</{head[1]}>", f"</{head[1]} instructions>"))


def labels(message: Payload) -> list[str | None]:
    """What each piece of a message is said to be."""
    said = message.internal_chat_message_metadata_passthrough
    return list(said.content_item_kinds or ()) if said is not None else []


def aside_of(text: str, role: str) -> Notice | Attachment:
    """Context the model was given, by what it is."""
    if (found := _AGENTS_MD.fullmatch(text)) is not None:
        return Attachment(INSTRUCTIONS, _instructions(found[1], found[2]))
    if (found := _USER_INSTRUCTIONS.fullmatch(text)) is not None:
        return Attachment(INSTRUCTIONS, _instructions(None, found[1]))
    tag = found[1] if (found := _WRAPPED.match(text)) is not None else None
    if tag is not None and tag in _NOTICES:
        return Notice(_NOTICES[tag], text)
    return Attachment(_NAMED.get(tag or "", role), {"text": text})


def _instructions(folder: str | None, content: str) -> dict[str, Any]:
    named: dict[str, Any] = {"name": "AGENTS.md", "content": content}
    return named | ({"folder": folder} if folder else {})


def instructions(content: str) -> Attachment:
    """What the head of a bare rollout has of AGENTS.md."""
    return Attachment(INSTRUCTIONS, _instructions(None, content))


def shell_command(text: str) -> tuple[str, str] | None:
    """A command the person ran themselves, and what it printed."""
    found = _SHELL.fullmatch(text)
    return (found[1], found[2]) if found is not None else None


def prompt_block(piece: Piece) -> Block | None:
    """A piece of a real prompt; None for the marks around a picture."""
    text = piece.text
    if text is None:
        return part_of(piece)
    if text == "</image>":
        return None
    if _PICTURE.fullmatch(text):
        return Attachment("picture", {"text": text})
    if text.lstrip().startswith("# Files mentioned by the user:") and _REQUEST in text:
        return Text(text, text.partition(_REQUEST)[2].strip())
    return Text(text)


_ROLES = {
    "environment": "user",
    "skill": "user",
    "plugins": "user",
    "permissions": "developer",
    "skills": "developer",
    "mode": "developer",
    "developer": "developer",
}


def context_text(attachment: Attachment) -> tuple[str, str] | None:
    """The way back: in whose name Codex says it, and its words; None for another agent's."""
    data = attachment.data
    if attachment.kind == INSTRUCTIONS and isinstance(data.get("content"), str):
        where = f" for {data['folder']}" if data.get("folder") else ""
        body = f"<INSTRUCTIONS>\n{data['content']}\n</INSTRUCTIONS>"
        return "user", f"# AGENTS.md instructions{where}\n\n{body}"
    text = data.get("text")
    role = _ROLES.get(attachment.kind)
    return (role, text) if role is not None and isinstance(text, str) else None
