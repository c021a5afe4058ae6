"""What a message of a session is made of, in our terms."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import pairwise

import msgspec

from minutebook.model import Attachment, Block, Text, ToolResult, Usage
from minutebook.sources.assembly.diffs import hunks_of
from minutebook.sources.assembly.parts import (
    REFERENCED,
    Part,
    answer_of,
    ending_of,
    failed,
    file_of,
    said_by,
)
from minutebook.sources.assembly.repair import Unreadable
from minutebook.sources.gemini.records import (
    Call,
    CallHead,
    Content,
    Display,
    Message,
    S,
    Thought,
    TokenFields,
    typed,
)

_INJECTED = ("<session_context>", "<loaded_context>", "<hook_context>")
_LOADED = "</loaded_context>"
_SUMMARY = "<state_snapshot>"
UNDERSTOOD = "Got it. Thanks for the additional context!"
"""What a compression lets the model say to its summary."""
_BACKGROUND = "Command moved to background"


def maybe(raw: msgspec.Raw, kind: type[S]) -> S | None:
    """A value, or None where there is none."""
    try:
        return typed(raw, kind)
    except Unreadable:
        return None


def parts_of(content: Content | None) -> list[Part]:
    if content is None:
        return []
    pieces = content if isinstance(content, list) else [content]
    return [Part(text=piece) if isinstance(piece, str) else piece for piece in pieces if piece]


def text_of(parts: Sequence[Part]) -> str:
    return "\n\n".join(part.text for part in parts if part.text and not part.thought).strip()


def print_of(message: Message) -> str:
    """What tells a copy of a message: its words; without any, the calls it makes or answers."""
    parts = parts_of(message.content if message.content is not None else message.parts)
    told = text_of(parts) or " ".join(filter(None, _calls(message, parts)))
    known = f"{message.type}\n{told}".encode("utf-8", "replace")
    return hashlib.blake2b(known, digest_size=8).hexdigest()


def _calls(message: Message, parts: Sequence[Part]) -> list[str | None]:
    made = [part.functionCall.id for part in parts if part.functionCall is not None]
    answered = [p.functionResponse.id for p in parts if p.functionResponse is not None]
    heads = [maybe(raw, CallHead) for raw in message.toolCalls or []]
    return made or answered or [head.id for head in heads if head is not None]


def summary_of(fresh: Sequence[Message]) -> Message | None:
    """The message that a compression put in place of the earlier ones."""
    for before, message in pairwise(fresh):
        if before.type == "user" and text_of(parts_of(message.content)) == UNDERSTOOD:
            return before
    texts = ((message, text_of(parts_of(message.content))) for message in fresh)
    return next((m for m, text in texts if m.type == "user" and text.startswith(_SUMMARY)), None)


def asked(parts: Sequence[Part], shown: Sequence[Part]) -> list[Block]:
    """The blocks of a prompt: what was typed, pictures, and what was put around it."""
    typed_words = "\n\n".join(part.text for part in shown if part.text)
    blocks: list[Block] = []
    said = read = False
    for part in parts:
        text = part.text
        if text is None:
            if (file := file_of(part)) is not None:
                blocks.append(file)
            continue
        read = read or text.startswith(REFERENCED)
        inner = text.lstrip()
        task = text.partition(_LOADED)[2].strip() if inner.startswith("<loaded_context>") else ""
        if task:
            blocks.append(Text(text, task))
        elif inner.startswith(_INJECTED) or read or (said and typed_words):
            blocks.append(Attachment("context", {"text": text}))
        else:
            blocks.append(Text(text, typed_words if typed_words not in ("", text) else None))
            said = True
    return blocks


def thought_text(thought: Thought) -> str:
    subject = f"**{thought.subject}**" if thought.subject else ""
    return "\n\n".join(words for words in (subject, thought.description or "") if words)


def agent_kind(call: Call) -> str | None:
    name = call.args.get("agent_name") if isinstance(call.args, dict) else None
    return name if isinstance(name, str) else call.name


def result_of(call: Call) -> ToolResult:
    """A failing command counts as a success there: its exit code is in the text."""
    given = call.result
    parts = given if isinstance(given, list) else [given] if isinstance(given, Part) else []
    response = next((p.functionResponse for p in parts if p.functionResponse is not None), None)
    display = call.resultDisplay
    content = answer_of(parts)
    if not parts:
        content = given if isinstance(given, str) else display if isinstance(display, str) else ""
    error = call.status in ("error", "cancelled") or (response is not None and failed(response))
    code = None
    if call.name == "run_shell_command" and response is not None:
        text = said_by(response)
        if not text.startswith(_BACKGROUND):
            code, error = ending_of(text, error=error)
    return ToolResult(
        content,
        error,
        call.timestamp,
        patch=hunks_of(display.fileDiff or "") if isinstance(display, Display) else (),
        exit_code=code,
        interrupted=call.status == "cancelled",
    )


def usage_of(fields: TokenFields) -> Usage:
    given, cached = fields.input or 0, fields.cached or 0
    output = (fields.output or 0) + (fields.thoughts or 0)
    tool = fields.tool or 0
    if fields.total != given + output + tool:
        tool = 0  # counted in the input
    return Usage(max(0, given - cached) + tool, output, cached)
