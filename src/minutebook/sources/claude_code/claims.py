"""Whether a file or folder is Claude Code's: other agents write JSON lines, too."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from minutebook.sources.claude_code import known
from minutebook.sources.claude_code.records import DECODE_ERRORS
from minutebook.sources.jsonl import LineReader

_LOOKED_AT = 50  # lines of a file
_OWN = known.BOOKKEEPING | known.TITLES | known.ROUTED


class _Line(msgspec.Struct):
    type: str = ""
    message: Any = None
    uuid: Any = None
    sessionId: Any = None
    leafUuid: Any = None
    payload: msgspec.Raw = msgspec.Raw()
    systemPayload: msgspec.Raw = msgspec.Raw()


_decode = msgspec.json.Decoder(_Line).decode


def claims(path: Path) -> bool:
    """Whether this is a transcript of Claude Code, or a folder of them."""
    if path.is_dir():
        return _is_home(path) or any(map(_is_transcript, path.glob("*.jsonl")))
    return path.is_file() and path.suffix == ".jsonl" and _is_transcript(path)


def _is_home(path: Path) -> bool:
    """Others have a folder of projects, too (Qwen Code, Cursor), with their sessions a level
    deeper."""
    projects = path / "projects"
    if not projects.is_dir():
        return False
    others = (projects.glob(f"*/{name}/") for name in ("chats", "agent-transcripts"))
    if all(next(found, None) is None for found in others):
        return True
    return any(map(_is_transcript, projects.glob("*/*.jsonl")))


def _is_transcript(path: Path) -> bool:
    """The first line that tells decides."""
    try:
        verdicts = (_is_ours(line) for line in islice(_lines(path), _LOOKED_AT))
        return next((verdict for verdict in verdicts if verdict is not None), False)
    except OSError:
        return False


def _lines(path: Path) -> Iterator[_Line]:
    reader = LineReader(path)
    for start, end in reader:
        try:
            yield _decode(reader.view[start:end])
        except DECODE_ERRORS:
            continue


def _is_ours(line: _Line) -> bool | None:
    """None where another agent could have written the line as well."""
    parts = isinstance(line.message, dict) and "parts" in line.message
    if parts or bytes(line.systemPayload):
        return False  # Qwen Code's look-alike
    if bytes(line.payload) or line.type not in _OWN | known.CONVERSATION:
        return None
    tied = isinstance(line.uuid or line.sessionId or line.leafUuid, str)
    if line.type in ("user", "human", "assistant"):
        said = line.message
        return (
            True
            if isinstance(said, str) or (isinstance(said, dict) and "content" in said)
            else None
        )
    return True if tied or line.type in known.CONVERSATION or line.type == "minutebook" else None
