"""Pieces of messages as Google's API has them: what agents of that family write down."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import msgspec

from minutebook.model import Document, Image, ResultPart, Text, Unknown

Tokens = Annotated[int, msgspec.Meta(ge=0, le=10**12)]
REFERENCED = "\n--- Content from referenced files ---"
"""What is after it was read from files that the prompt names with an ``@``."""

_TAIL = 1_000  # characters in which the last lines of a shell's answer are looked for
_LABELS = ("Exit Code", "Signal", "Background PIDs", "Process Group PGID")
_NONE = "(none)"


class Blob(msgspec.Struct, gc=False):
    mimeType: str | None = None
    data: str | None = None
    fileUri: str | None = None
    displayName: str | None = None


class FunctionCall(msgspec.Struct, gc=False):
    id: str | None = None
    name: str | None = None
    args: Any = None


class FunctionResponse(msgspec.Struct, gc=False):
    id: str | None = None
    name: str | None = None
    response: Any = None
    parts: list[Part] | None = None


class Part(msgspec.Struct, gc=False):
    text: str | None = None
    thought: bool | None = None
    thoughtSignature: str | None = None
    functionCall: FunctionCall | None = None
    functionResponse: FunctionResponse | None = None
    inlineData: Blob | None = None
    fileData: Blob | None = None


def file_of(part: Part) -> Image | Document | None:
    """The picture, or the file, that a part is."""
    blob = part.inlineData or part.fileData
    if blob is None:
        return None
    kind, data = blob.mimeType or "", blob.data or ""
    if kind.startswith("image/"):
        return Image(kind, data, blob.fileUri)
    return Document(kind, data, blob.fileUri, blob.displayName)


def said_by(response: FunctionResponse) -> str:
    """What a tool answered, in words: its output, its error, else all of it."""
    told = response.response
    if isinstance(told, dict):
        for name in ("output", "error"):
            if isinstance(told.get(name), str):
                return str(told[name])
        if not told:
            return ""
    return told if isinstance(told, str) else json.dumps(told, ensure_ascii=False)


def failed(response: FunctionResponse) -> bool:
    told = response.response
    return isinstance(told, dict) and told.get("error") is not None and "output" not in told


def answer_of(parts: Iterable[Part]) -> str | tuple[ResultPart, ...]:
    """The content of a result: text where there is nothing else."""
    found: list[ResultPart] = []
    for part in parts:
        if part.functionResponse is not None:
            found.append(Text(said_by(part.functionResponse)))
            inner: Sequence[Part] = part.functionResponse.parts or ()
            found += [file for piece in inner if (file := file_of(piece)) is not None]
        elif (file := file_of(part)) is not None:
            found.append(file)
        elif part.text is not None:
            found.append(Text(part.text))
        else:
            found.append(Unknown("part", msgspec.to_builtins(part)))
    if not found:
        return ""
    only = found[0]
    return only.text if len(found) == 1 and isinstance(only, Text) else tuple(found)


def ending_of(text: str, *, error: bool = False) -> tuple[int | None, bool]:
    """How a command ended, from the last lines of what the shell tool answered: its exit code, and
    whether it failed. 0 is not always told; where it never ran (`error`), or a signal ended it,
    there is none."""
    told: dict[str, str] = {}
    for line in reversed(text[-_TAIL:].split("\n")):
        label, _, value = line.partition(": ")
        if label in _LABELS:
            told[label] = value.strip()
        elif line.strip() not in ("", "</untrusted_context>"):
            break
    if told.get("Signal", _NONE) != _NONE:
        return None, True
    code = told.get("Exit Code", "" if error else "0")
    found = int(code) if code.removeprefix("-").isdecimal() and len(code) < 10 else None
    return found, error or bool(found)
