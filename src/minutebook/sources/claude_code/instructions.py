"""What a transcript of Claude Code holds of CLAUDE.md and its like (FUT-03; see README.md)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from minutebook.derive.calls import path_of
from minutebook.derive.instructions import Given
from minutebook.model import Attachment, Block, ToolCall

_NAMES = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md")
_RULE = re.compile(r"(?:^|/)\.claude/rules/.+\.md$")
# The context of a session quotes each file under such a heading.
_CONTENTS = re.compile(r"^Contents of (?P<path>[^\n]+?)(?: \([^\n]*\))?:\n\n", re.MULTILINE)
_NUMBERED = re.compile(r"^ *(?P<line>\d+)(?:→|\t)(?P<text>.*)$")
_REMINDER = "<system-reminder>"


def of_home(root: Path) -> list[Path]:
    """Instructions for every project."""
    rules = sorted((root / "rules").glob("*.md")) if (root / "rules").is_dir() else []
    return [root / "CLAUDE.md", *rules]


def instructions(block: Block) -> tuple[Given, ...]:
    """Files of instructions that a block attaches, reads or changes."""
    if isinstance(block, Attachment):
        if block.kind == "nested_memory":
            return _nested(block.data)
        if block.kind == "session_context":
            return _context(block.data)
    elif isinstance(block, ToolCall) and block.kind in ("read", "edit", "write"):
        return _touched(block)
    return ()


def is_instructions(path: str) -> bool:
    plain = path.replace("\\", "/")
    return plain.rsplit("/", 1)[-1] in _NAMES or bool(_RULE.search(plain))


def _nested(data: dict[str, Any]) -> tuple[Given, ...]:
    """``rawContent`` is the file where the model saw less of it: without its frontmatter, say."""
    inner = data.get("content")
    path = data.get("path")
    if not isinstance(inner, dict) or not isinstance(path, str):
        return ()
    text = inner.get("rawContent")
    text = text if isinstance(text, str) else inner.get("content")
    return (Given(path, "attached", text),) if isinstance(text, str) else ()


def _context(data: dict[str, Any]) -> tuple[Given, ...]:
    context = data.get("context")
    quoted = context.get("claudeMd") if isinstance(context, dict) else None
    if not isinstance(quoted, str):
        return ()
    found = list(_CONTENTS.finditer(quoted))
    ends = [*(match.start() for match in found[1:]), len(quoted)]
    return tuple(
        Given(match["path"], "attached", quoted[match.end() : end])
        for match, end in zip(found, ends, strict=True)
    )


def _touched(call: ToolCall) -> tuple[Given, ...]:
    path = path_of(call)
    if path is None or not is_instructions(path) or call.result is None or call.result.error:
        return ()
    if call.kind == "read":
        return (Given(path, "read", _whole(call)),)
    return (Given(path, "written"),)


def _whole(call: ToolCall) -> str | None:
    """The file that was read; None where only a part of it was."""
    asked = call.input if isinstance(call.input, dict) else {}
    if asked.get("offset") or asked.get("limit") or call.result is None:
        return None
    told = call.result.text.split(f"\n{_REMINDER}", 1)[0].rstrip("\n")
    lines = [_NUMBERED.match(line) for line in told.split("\n")]
    if len(lines) >= 2000:  # where the tool stops by itself
        return None
    texts = []
    for number, match in enumerate(lines, 1):
        if match is None or int(match["line"]) != number:
            return None
        texts.append(match["text"])
    return "\n".join(texts)
