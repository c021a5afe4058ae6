"""One way to go over the kinds of blocks; each renderer says what it makes of each kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from minutebook.model.blocks import (
    Attachment,
    Block,
    Document,
    Image,
    Notice,
    StrayResult,
    Text,
    Thinking,
    ToolCall,
    Unknown,
)

T = TypeVar("T")


class BlockVisitor(ABC, Generic[T]):
    """Calls one method for each kind of block. A kind that is added must be added here, and
    every renderer that forgets it fails its type check."""

    def visit(self, block: Block, *, typed: bool = False) -> T:
        """What becomes of a block; `typed` where the person said it."""
        if isinstance(block, Text):
            return self.text(block, typed)
        if isinstance(block, ToolCall):
            return self.call(block)
        if isinstance(block, Thinking):
            return self.thinking(block)
        if isinstance(block, Notice):
            return self.notice(block)
        if isinstance(block, StrayResult):
            return self.stray(block)
        if isinstance(block, Image | Document):
            return self.picture(block, typed)
        if isinstance(block, Attachment):
            return self.attachment(block)
        return self.unknown(block)

    @abstractmethod
    def text(self, block: Text, typed: bool) -> T: ...

    @abstractmethod
    def picture(self, block: Image | Document, typed: bool) -> T: ...

    @abstractmethod
    def thinking(self, block: Thinking) -> T: ...

    @abstractmethod
    def call(self, block: ToolCall) -> T: ...

    @abstractmethod
    def stray(self, block: StrayResult) -> T: ...

    @abstractmethod
    def notice(self, block: Notice) -> T: ...

    @abstractmethod
    def attachment(self, block: Attachment) -> T: ...

    @abstractmethod
    def unknown(self, block: Unknown) -> T: ...
