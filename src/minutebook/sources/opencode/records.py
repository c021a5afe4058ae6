"""Messages and parts, as far as they are read; the same in the database and in the JSON tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Any

import msgspec

from minutebook.sources.assembly.rings import first_of_rings

Count = Annotated[int, msgspec.Meta(ge=0, le=10**12)]
Millis = int | float


class Family(msgspec.Struct, frozen=True):
    """A session's own row."""

    id: str
    parent: str | None
    directory: str | None
    title: str | None
    version: str | None
    slug: str | None
    agent: str | None
    created: int
    size: int
    """Bytes of its messages and parts."""
    mtime: float
    """When any of it was last written, in seconds."""
    state: str
    """Changes when any of it does."""


class Families:
    """Sessions by their id, and which are whose subagents'."""

    def __init__(self, families: Iterable[Family]) -> None:
        self.by_id = {family.id: family for family in families}
        self._below: dict[str, list[Family]] = {}
        for family in self.by_id.values():
            if family.parent is not None:
                self._below.setdefault(family.parent, []).append(family)
        self._first = first_of_rings({f.id: f.parent for f in self.by_id.values() if f.parent})

    def grouped(self) -> Iterator[list[Family]]:
        """Each session with its subagents'."""
        tops = (f for f in self.by_id.values() if f.parent is None or f.id in self._first)
        return map(self.of, tops)

    def of(self, family: Family) -> list[Family]:
        """A session, its subagents', theirs, and so on; in the order they were begun."""
        found = {family.id: family}
        waiting = [family.id]
        while waiting:
            for one in self._below.get(waiting.pop(), ()):
                if one.id not in found:
                    found[one.id] = one
                    waiting.append(one.id)
        own, *others = found.values()
        return [own, *sorted(others, key=lambda one: (one.created, one.id))]


class Held(msgspec.Struct, frozen=True):
    """A message with its parts, as they stand in the store."""

    id: str
    data: bytes
    parts: list[tuple[str, bytes]]


# ------------------------------------------------------------ sessions in the JSON tree


class SessionTime(msgspec.Struct, gc=False):
    created: Millis | None = None
    updated: Millis | None = None


class SessionFile(msgspec.Struct):
    id: str | None = None
    parentID: str | None = None
    directory: str | None = None
    title: str | None = None
    version: str | None = None
    slug: str | None = None
    time: SessionTime | None = None

    @property
    def began(self) -> int:
        created = self.time.created if self.time is not None else None
        return int(created) if created is not None and abs(created) < 1e15 else 0


# ------------------------------------------------------------ messages


class MessageTime(msgspec.Struct, gc=False):
    created: Millis | None = None
    completed: Millis | None = None


class CacheTokens(msgspec.Struct, gc=False):
    read: Count | None = None
    write: Count | None = None


class Tokens(msgspec.Struct, gc=False):
    """`input` is without what was cached; `output` is with or without `reasoning`, by version."""

    total: Count | None = None
    input: Count | None = None
    output: Count | None = None
    reasoning: Count | None = None
    cache: CacheTokens | None = None


class ErrorData(msgspec.Struct, gc=False):
    message: str | None = None


class ErrorFields(msgspec.Struct, gc=False):
    name: str | None = None
    data: ErrorData | None = None


class Place(msgspec.Struct, gc=False):
    cwd: str | None = None


class ModelName(msgspec.Struct, gc=False):
    modelID: str | None = None


class MessageFields(msgspec.Struct):
    id: str | None = None
    role: str = ""
    time: MessageTime | None = None
    modelID: str | None = None
    providerID: str | None = None
    model: ModelName | str | None = None
    agent: str | None = None
    mode: str | None = None
    path: Place | str | None = None
    tokens: Tokens | None = None
    cost: Any = None
    finish: str | None = None
    error: ErrorFields | None = None
    summary: msgspec.Raw = msgspec.Raw()
    """``true`` where it is a compaction's; of a user message, what was changed since."""

    @property
    def created(self) -> Millis | None:
        return self.time.created if self.time is not None else None

    @property
    def completed(self) -> Millis | None:
        return self.time.completed if self.time is not None else None

    @property
    def model_name(self) -> str | None:
        if self.modelID or not isinstance(self.model, ModelName):
            return self.modelID
        return self.model.modelID

    @property
    def is_summary(self) -> bool:
        return bytes(self.summary) == b"true"


# ------------------------------------------------------------ parts


class Span(msgspec.Struct, gc=False):
    start: Millis | None = None
    end: Millis | None = None


class FileFields(msgspec.Struct, gc=False):
    """A file beside a tool's answer."""

    type: str | None = None
    mime: str | None = None
    url: str | None = None
    filename: str | None = None


class FileDiff(msgspec.Struct, gc=False):
    patch: str | None = None


class ToolFacts(msgspec.Struct, gc=False):
    """What a tool says beside its answer."""

    exit: int | None = None
    diff: str | None = None
    filediff: FileDiff | None = None
    exists: bool | None = None
    """Of a written file: whether it was there before."""
    sessionId: str | None = None
    """The session of the subagent it started."""


class SkimState(msgspec.Struct):
    status: str | None = None
    time: Span | None = None


class ToolState(SkimState):
    input: Any = None
    output: str | None = None
    error: str | None = None
    metadata: ToolFacts | None = None
    attachments: list[FileFields] | None = None


class SkimPart(msgspec.Struct):
    """What a skim needs of a part: not what tools were given, nor what they answered."""

    type: str = ""
    text: str | None = None
    synthetic: bool | None = None
    ignored: bool | None = None
    mime: str | None = None
    url: str | None = None
    auto: bool | None = None
    prompt: str | None = None
    state: SkimState | None = None

    @property
    def is_injected(self) -> bool:
        return bool(self.synthetic or self.ignored)


class Part(SkimPart):
    id: str | None = None
    metadata: Any = None
    filename: str | None = None
    callID: str | None = None
    tool: str | None = None
    state: ToolState | None = None
    tokens: Tokens | None = None
    error: ErrorFields | None = None
