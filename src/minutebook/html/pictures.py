"""Pictures of a transcript: which of them a page can show, and what stands for the others."""

from __future__ import annotations

from markupsafe import Markup

from minutebook.derive.plain import one_line
from minutebook.html.prose import plain
from minutebook.model import Document, Image, ToolResult

_SHOWABLE = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


def picture_words(block: Image | Document) -> Markup:
    """What stands for a picture, or beside it."""
    words = "picture" if isinstance(block, Image) else "document"
    name = block.title if isinstance(block, Document) and block.title else block.url
    return plain(one_line(f"{words} {name or block.media_type}"))


def kept_picture(block: Image | Document) -> str | None:
    """The name of a picture that a page can show."""
    if isinstance(block, Image) and block.media_type in _SHOWABLE and block.file:
        return block.file.rsplit("/", 1)[-1]
    return None


def pictures_of(result: ToolResult) -> list[str]:
    """The names of pictures in an answer that a page can show."""
    parts = result.content if not isinstance(result.content, str) else ()
    found = (kept_picture(part) for part in parts if isinstance(part, Image))
    return [name for name in found if name is not None]
