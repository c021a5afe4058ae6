"""Board signatures: how agents sign what they write (ID-05).

``[claude:opus::Reed]`` and ``[claude:opus:1a2b3c4d:Reed]``. Only what a session itself wrote
names it: not what it replaced, searched for or quoted, and not the placeholder of a rule
that says how to sign.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from minutebook.sources.claude_code.records import FullBlock

_SIGNATURE = re.compile(r"\[claude:([\w.\-]+):([0-9A-Za-z]{8})?:([^\[\]:\n]{1,60})\]")
_ID_LENGTH = 8
_PLACEHOLDERS = frozenset(
    """
    name names yourname myname agentname agent handle persona placeholder example sample nickname
    somename xxx foo bar
    """.split()
)
_TEMPLATE = re.compile(r"[<>{}$%…]|\.\.\.")

# Languages whose quotation marks are content rather than the ends of a string.
_PROSE = frozenset({"", ".md", ".markdown", ".mdx", ".txt", ".rst", ".org", ".adoc"})
_DATA = frozenset({".json", ".jsonl", ".yaml", ".yml", ".toml", ".csv", ".tsv", ".log"})
_FENCE = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})")
_TICKS = re.compile(r"`+")
_SEARCHES = re.compile(
    r"\s*(?:\w+=\S+\s+|sudo\s+|xargs\s+(?:-\S+\s+)*|git\s+)*"
    r"(?:[efz]?grep|rg|ag|ack|sed|awk|find|fd|jq|log)\b"
)
_SHELL_BREAK = re.compile(r"\|\||&&|[|;&]")
_HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)")


def own_signature(blocks: list[FullBlock | str], session_id: str) -> str | None:
    """The first name that a reply signs with for itself."""
    for block in blocks:
        for text in _written(block):
            for found in _SIGNATURE.finditer(text):
                if name := _name(found, session_id):
                    return name
    return None


def _name(found: re.Match[str], session_id: str) -> str | None:
    model, id, name = found[1], found[2], found[3].strip()
    if id is not None and id.lower() != session_id[:_ID_LENGTH].lower():
        return None  # another session's: this one only passes it on
    plain = re.sub(r"[\W_]", "", name).lower()
    if not plain or plain in _PLACEHOLDERS or _TEMPLATE.search(name) or model.lower() == "model":
        return None
    return name


def _written(block: FullBlock | str) -> Iterator[str]:
    """Texts that a block puts into the world, without what it quotes."""
    if isinstance(block, str):
        yield _prose(block)
    elif block.type == "text" and block.text:
        yield _prose(block.text)
    elif block.type == "tool_use" and isinstance(block.input, dict):
        yield from _put(block.name or "", block.input)


def _put(tool: str, given: dict[str, Any]) -> Iterator[str]:
    if tool == "Bash":
        yield from _told_shell(given.get("command"))
        return
    path = given.get("file_path") or given.get("notebook_path") or given.get("path")
    suffix = PurePosixPath(path.replace("\\", "/")).suffix.lower() if isinstance(path, str) else ""
    for text in _new_texts(tool, given):
        if not isinstance(text, str):
            continue
        if suffix in _DATA:
            yield text
        elif suffix in _PROSE:
            yield _prose(text)
        else:
            yield _unquoted(text)


def _new_texts(tool: str, given: dict[str, Any]) -> Iterator[Any]:
    """What an editing tool puts in; what it takes out was somebody else's."""
    if tool == "Write":
        yield given.get("content")
    elif tool == "Edit":
        yield given.get("new_string")
    elif tool == "NotebookEdit":
        yield given.get("new_source")
    elif tool == "MultiEdit":
        edits = given.get("edits")
        for edit in edits if isinstance(edits, list) else ():
            yield edit.get("new_string") if isinstance(edit, dict) else None


def _prose(text: str) -> str:
    """A text without its code blocks, code spans and quotations."""
    kept: list[str] = []
    fence = ""
    for line in text.split("\n"):
        if mark := _FENCE.match(line):
            if not fence:
                fence = mark[1]
            elif mark[1].startswith(fence):
                fence = ""
        elif not fence and not line.lstrip().startswith(">"):
            kept.append(_without_spans(line))
    return "\n".join(kept)


def _without_spans(line: str) -> str:
    """A line without ``code``. Not by an expression: one that backtracks would hang on ticks."""
    runs = [found.span() for found in _TICKS.finditer(line)]
    closing: dict[int, int] = {}  # by length, the next run that could close a span
    closed_by: list[int | None] = [None] * len(runs)
    for at in range(len(runs) - 1, -1, -1):
        length = runs[at][1] - runs[at][0]
        closed_by[at] = closing.get(length)
        closing[length] = at
    pieces, position, at = [], 0, 0
    while at < len(runs):
        end = closed_by[at]
        if end is not None:
            pieces.append(line[position : runs[at][0]])
            position, at = runs[end][1], end
        at += 1
    return "".join(pieces) + line[position:]


def _unquoted(text: str) -> str:
    """Program code without the lines where a signature stands inside a string."""
    return "\n".join(line for line in text.split("\n") if not _is_quoted(line))


def _is_quoted(line: str) -> bool:
    found = _SIGNATURE.search(line)
    return found is not None and any(line.count(mark, 0, found.start()) % 2 for mark in "\"'`")


def _told_shell(command: Any) -> Iterator[str]:
    """Lines of a command that say something: not those that look for it."""
    until: str | None = None  # inside a here-document
    for line in command.split("\n") if isinstance(command, str) else ():
        if until is not None:
            until = None if line.strip() == until else until
            yield _prose(line)
            continue
        if document := _HEREDOC.search(line):
            until = document[1]
        found = _SIGNATURE.search(line)
        if found is not None:
            before = _SHELL_BREAK.split(line[: found.start()])[-1]
            if not _SEARCHES.match(before):
                yield line
