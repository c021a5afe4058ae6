"""What a tool answered, and whether it failed: the texts tell, each version in its own words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from minutebook.model import Hunk, Image, ResultPart, Text, ToolKind, ToolResult, Unknown
from minutebook.sources.assembly.diffs import added_lines, hunks_of, removed_lines
from minutebook.sources.assembly.repair import verbatim
from minutebook.sources.codex.records import Change, Piece

_HEAD = 4_000  # characters of an output without a mark where its head ends
_HEADED = ("Exit code:", "Chunk ID:", "Command: ", "Wall time")
_EXIT = re.compile(r"^(?:Exit code:|Process exited with code) (-?\d{1,9})$", re.MULTILINE)
_INNER = re.compile(r"\bexit_code: (-?\d{1,9})\b")
_WALL = re.compile(r"^Wall time:? (\d{1,9}(?:\.\d{1,9})?) seconds$", re.MULTILINE)
_FAILED = re.compile(
    r"(?:exec_command|write_stdin|shell|shell_command|apply_patch|apply_patch verification"
    r"|spawn_agent|unified exec) (?:failed|rejected)"
    r"|(?:failed to parse function arguments|execution error|unsupported (?:custom tool )?call"
    r"|command timed out|aborted by user|collab (?:spawn|tool) failed|tool call error"
    r"|exec command rejected|patch rejected|rejected by user|Script failed|Script error)\b"
)
_STOPPED = re.compile(r"aborted by user|rejected by user")
_DATA_URL = re.compile(r"data:([\w.+/-]{0,100})(?:;[\w=-]{1,100}){0,4};base64,")


class End(msgspec.Struct, omit_defaults=True):
    """What an event says of a call, beside its output."""

    exit_code: int | None = None
    error: bool = False
    patch: tuple[Hunk, ...] = ()


def result_of(
    output: str | list[Piece] | Piece | None,
    at: str | None,
    kind: ToolKind,
    end: End | None,
    patch: str | None,
) -> ToolResult:
    """The answer to a call; `patch` is what the call wanted to apply."""
    content, told, milliseconds = _content(output)
    text = content if isinstance(content, str) else _words(content)
    end_of_head = text.find("\nOutput:\n")
    head = text[: end_of_head if end_of_head >= 0 else _HEAD]
    headed = text.startswith(_HEADED)
    code = told if told is not None else _number(_EXIT.search(head)) if headed else None
    failed = _FAILED.match(text) is not None
    if failed and code is None:
        code = _number(_INNER.search(head))
    if code is None and end is not None:
        code = end.exit_code
    if milliseconds is None and headed and (wall := _WALL.search(head)) is not None:
        milliseconds = round(float(wall[1]) * 1000)
    error = failed or bool(code) or (end is not None and end.error)
    hunks = end.patch if end is not None else ()
    if not hunks and patch is not None and not error:
        hunks = envelope_hunks(patch)
    return ToolResult(
        content,
        error,
        at,
        patch=hunks,
        exit_code=code if kind == "run" else None,
        interrupted=_STOPPED.match(text) is not None,
        duration_ms=milliseconds,
    )


def amended(result: ToolResult, end: End) -> ToolResult:
    """An answer whose command ended only after it."""
    code = result.exit_code if result.exit_code is not None else end.exit_code
    return msgspec.structs.replace(
        result,
        exit_code=code,
        error=result.error or end.error or bool(code),
        patch=result.patch or end.patch,
    )


def _content(
    output: str | list[Piece] | Piece | None,
) -> tuple[str | tuple[ResultPart, ...], int | None, int | None]:
    """The words of an output; the exit code and the time, where it is JSON that says so."""
    if isinstance(output, str):
        return _unwrapped(output)
    pieces = [output] if isinstance(output, Piece) else output or []
    parts = tuple(part_of(piece) for piece in pieces)
    if len(parts) == 1 and isinstance(parts[0], Text):
        return parts[0].text, None, None
    return parts or "", None, None


class _Metadata(msgspec.Struct):
    exit_code: int | None = None
    duration_seconds: float | None = None


class _Wrapped(msgspec.Struct, forbid_unknown_fields=True):
    output: str
    metadata: _Metadata


def _unwrapped(output: str) -> tuple[str, int | None, int | None]:
    if not output.startswith('{"output":'):
        return output, None, None
    try:
        inner = msgspec.json.decode(output, type=_Wrapped)
    except (msgspec.DecodeError, RecursionError):
        return output, None, None
    seconds = inner.metadata.duration_seconds
    usable = seconds is not None and 0 <= seconds < 1e9
    return (
        inner.output,
        inner.metadata.exit_code,
        round(seconds * 1000) if usable and seconds is not None else None,
    )


def _number(match: re.Match[str] | None) -> int | None:
    return int(match[1]) if match is not None else None


def _words(parts: Sequence[ResultPart]) -> str:
    return "\n".join(part.text for part in parts if isinstance(part, Text))


def part_of(piece: Piece) -> ResultPart:
    """A piece of a message or of an output; what is neither words nor a picture stays as it is."""
    if piece.text is not None:
        return Text(piece.text)
    if piece.image_url is not None:
        return picture(piece.image_url)
    kept = {name: value for name in piece.__struct_fields__ if (value := getattr(piece, name))}
    return Unknown(f"piece {piece.type}", kept)


def picture(url: str) -> Image:
    if (data := _DATA_URL.match(url)) is not None:
        return Image(data[1], url[data.end() :])
    return Image(url=url)


def agent_of(output: str | list[Piece] | Piece | None) -> str | None:
    """The subagent a call started, as its output names it."""
    if not isinstance(output, str) or '"agent_id"' not in output[:_HEAD]:
        return None
    value = json_or_text(output)
    agent = value.get("agent_id") if isinstance(value, dict) else None
    return agent if isinstance(agent, str) and agent else None


def json_or_text(value: Any) -> Any:
    """Arguments are JSON in a string; kept as the string where they are not."""
    if not isinstance(value, str):
        return value
    try:
        found = msgspec.json.decode(value)
    except (ValueError, RecursionError):  # stricter, and much faster
        try:
            found = verbatim(value)
        except (ValueError, RecursionError):
            return value
    return found if isinstance(found, dict | list) else value


# ------------------------------------------------------------ edits


def change_hunks(changes: dict[str, Change]) -> tuple[Hunk, ...]:
    """What an edit changed, file after file; Codex has them in any order."""
    return tuple(hunk for path in sorted(changes) for hunk in _hunks(changes[path]))


def _hunks(change: Change) -> Iterable[Hunk]:
    if change.unified_diff is not None:
        return hunks_of(change.unified_diff)
    if change.type == "delete":
        return removed_lines(change.content or "")
    return added_lines(change.content or "")


_FILE = re.compile(r"\*\*\* (Update|Add|Delete) File: (.{1,4096})")


def envelope_hunks(patch: str) -> tuple[Hunk, ...]:
    """Changed places of a patch as the model writes it: without line numbers."""
    found: list[Hunk] = []
    lines: list[str] = []

    def close() -> None:
        if any(line[:1] in ("+", "-") for line in lines):
            old = sum(line[0] != "+" for line in lines)
            new = sum(line[0] != "-" for line in lines)
            found.append(Hunk(0, old, 0, new, tuple(lines)))
        lines.clear()

    inside = False
    for line in patch.split("\n"):
        if line.startswith("*** "):
            close()
            inside = _FILE.match(line) is not None or (inside and line.startswith("*** Move to:"))
        elif not inside:
            continue
        elif line.startswith("@@"):
            close()
        elif line[:1] in (" ", "+", "-"):
            lines.append(line)
        elif not line:
            lines.append(" ")
    close()
    return tuple(found)
