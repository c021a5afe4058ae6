"""Pictures and documents: files beside the rounds, named by their hash."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Callable
from pathlib import Path

import msgspec

from minutebook.model import Block, Document, Image, Message, Round, StrayResult, ToolCall
from minutebook.model.blocks import ToolResult
from minutebook.record.store import make_folder, write_atomically

FOLDER = "media"
_Change = Callable[[Image | Document], Image | Document]


class MediaStore:
    """Takes pictures out of rounds, and writes them as files when asked to."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    def keep(self, media_type: str, data: str) -> str | None:
        """The name content is kept under; None where it is not the base64 it claims to be."""
        try:
            content = base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError):
            return None
        if base64.b64encode(content).decode() != data:
            return None  # would come back different
        digest = hashlib.sha256(content).hexdigest()[:32]
        import mimetypes  # for the few sessions with pictures

        ending = mimetypes.guess_extension(media_type) if media_type.isascii() else None
        name = digest + (ending or ".bin")
        self._kept[name] = content
        return name

    def flush(self, folder: Path) -> None:
        """Write what was kept since the last time; a picture that is there already stays."""
        if self._kept:
            make_folder(folder)
        for name, content in self._kept.items():
            write_atomically(folder / name, content)
        self._kept.clear()

    def clear(self) -> None:
        """Forget what was kept."""
        self._kept.clear()

    def content(self, name: str) -> bytes | None:
        """A picture that is not written yet."""
        return self._kept.get(name)


def without_pictures(round: Round, media: MediaStore) -> Round:
    """A round as it is kept: its pictures are files, and the blocks only name them."""
    return _mapped(round, lambda picture: _outside(picture, media))


def with_pictures(round: Round, folder: Path) -> Round:
    """A round with its pictures inside again; one whose file is gone stays without."""
    return _mapped(round, lambda picture: _inside(picture, folder))


def pictures_of(round: Round) -> list[str]:
    """Names of the pictures of a round that are files."""
    names: list[str] = []

    def note(picture: Image | Document) -> Image | Document:
        if picture.file is not None:
            names.append(Path(picture.file).name)
        return picture

    _mapped(round, note)
    return names


def _outside(picture: Image | Document, media: MediaStore) -> Image | Document:
    name = media.keep(picture.media_type, picture.data) if picture.data else None
    if name is None:  # by reference, or not the base64 it claims to be
        return picture
    return msgspec.structs.replace(picture, data="", file=f"{FOLDER}/{name}")


def _inside(picture: Image | Document, folder: Path) -> Image | Document:
    if picture.file is None:
        return picture
    try:
        content = (folder / Path(picture.file).name).read_bytes()
    except OSError:
        return picture
    data = base64.b64encode(content).decode()
    return msgspec.structs.replace(picture, data=data, file=None)


def _mapped(round: Round, change: _Change) -> Round:
    if not any(_has_picture(block) for m in round.messages for block in m.blocks):
        return round
    messages = tuple(_message(message, change) for message in round.messages)
    return msgspec.structs.replace(round, messages=messages)


def _message(message: Message, change: _Change) -> Message:
    if not any(_has_picture(block) for block in message.blocks):
        return message
    blocks = tuple(_block(block, change) for block in message.blocks)
    return msgspec.structs.replace(message, blocks=blocks)


def _has_picture(block: Block) -> bool:
    if isinstance(block, Image | Document):
        return True
    result = block.result if isinstance(block, ToolCall | StrayResult) else None
    if result is None or isinstance(result.content, str):
        return False
    return any(isinstance(part, Image | Document) for part in result.content)


def _block(block: Block, change: _Change) -> Block:
    if isinstance(block, Image | Document):
        return change(block)
    if isinstance(block, ToolCall | StrayResult) and block.result is not None:
        return msgspec.structs.replace(block, result=_result(block.result, change))
    return block


def _result(result: ToolResult, change: _Change) -> ToolResult:
    if isinstance(result.content, str):
        return result
    parts = tuple(change(p) if isinstance(p, Image | Document) else p for p in result.content)
    return msgspec.structs.replace(result, content=parts)
