"""Lines of a transcript, as far as they are read."""

from __future__ import annotations

from typing import Any

import msgspec


class Piece(msgspec.Struct, gc=False):
    """A piece of what was said."""

    type: str = ""
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    id: str | None = None
    name: str | None = None
    input: Any = None
    tool_use_id: str | None = None
    content: Any = None
    is_error: bool | None = None


class Said(msgspec.Struct, gc=False):
    content: str | list[Piece] | None = None

    @property
    def pieces(self) -> list[Piece]:
        if isinstance(self.content, str):
            return [Piece("text", self.content)] if self.content else []
        return self.content or []


class Line(msgspec.Struct, gc=False):
    role: str = ""
    type: str = ""
    message: Said | None = None
    model: str | None = None
