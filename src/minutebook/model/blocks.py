"""Blocks: the typed pieces a message is made of.

Agent-neutral on purpose: nothing here knows which tool wrote the transcript. The
tag of each type is also its ``type`` in round files and in ``--json`` output.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

ToolKind = Literal["run", "read", "edit", "write", "search", "fetch", "delegate", "plan", "other"]
"""What a tool does, whatever its agent calls it (AGT-03); sources decide."""


class Text(msgspec.Struct, frozen=True, omit_defaults=True, tag="text"):
    """Words of the person (in a user message) or of the model (in an assistant one)."""

    text: str
    said: str | None = None
    """What the person typed, where the agent wrapped it."""

    @property
    def spoken(self) -> str:
        """The words as they were typed."""
        return self.text if self.said is None else self.said


class Thinking(msgspec.Struct, frozen=True, omit_defaults=True, tag="thinking"):
    """Reasoning of the model; `text` is empty where only a signature was recorded."""

    text: str = ""
    signature: str | None = None
    redacted: bool = False

    @property
    def shown(self) -> str:
        """What a reader sees: the text, or a placeholder where it was withheld."""
        return self.text or "[thinking]"


class Image(msgspec.Struct, frozen=True, omit_defaults=True, tag="image"):
    """A picture: inline (base64 `data`), by `url`, or a `file` beside the rounds."""

    media_type: str = ""
    data: str = ""
    url: str | None = None
    file: str | None = None


class Document(msgspec.Struct, frozen=True, omit_defaults=True, tag="document"):
    """A file given to the model as a whole (a PDF, say)."""

    media_type: str = ""
    data: str = ""
    url: str | None = None
    title: str | None = None
    file: str | None = None


class Notice(msgspec.Struct, frozen=True, tag="notice"):
    """Words that neither the person nor the model wrote: the harness did.

    `kind` says what for: ``compaction``, ``command``, ``interruption`` and so on
    (`minutebook.derive.messages` has the list).
    """

    kind: str
    text: str


class Attachment(msgspec.Struct, frozen=True, tag="attachment"):
    """Context the harness handed to the model: a mentioned file, a diagnostic, a hook's words."""

    kind: str
    data: dict[str, Any]


class Unknown(msgspec.Struct, frozen=True, tag="unknown"):
    """Something this version does not understand, kept verbatim."""

    kind: str
    data: Any


ResultPart = Text | Image | Document | Unknown


class Hunk(msgspec.Struct, frozen=True, omit_defaults=True):
    """A changed place of a file; each line begins with a blank, ``+`` or ``-``."""

    old_start: int = 0
    old_lines: int = 0
    new_start: int = 0
    new_lines: int = 0
    lines: tuple[str, ...] = ()


class ToolResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a tool answered."""

    content: str | tuple[ResultPart, ...] = ""
    error: bool = False
    at: str | None = None
    spilled: str | None = None
    """Name of the file the agent had moved a too large output to; `content` is its text."""
    patch: tuple[Hunk, ...] = ()
    """What an edit changed, as the agent recorded it."""
    exit_code: int | None = None
    interrupted: bool = False
    duration_ms: int | None = None

    @property
    def text(self) -> str:
        """The textual part of the answer."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content if isinstance(part, Text))


class ToolCall(msgspec.Struct, frozen=True, omit_defaults=True, tag="tool_call"):
    """A tool the model called, with its result once there is one."""

    id: str
    name: str
    input: Any = None
    result: ToolResult | None = None
    at: str | None = None
    agent: str | None = None
    """Id of the subagent this call spawned."""
    kind: ToolKind = "other"


class StrayResult(msgspec.Struct, frozen=True, tag="stray_result"):
    """A tool result whose call is not in this session, or belongs to a round long closed."""

    call_id: str
    result: ToolResult


Block = Text | Thinking | ToolCall | StrayResult | Image | Document | Notice | Attachment | Unknown
