"""Fields of messages and parts in the model's terms."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from minutebook.model import (
    Billing,
    Document,
    Hunk,
    Image,
    ResultPart,
    Text,
    ToolResult,
    Unknown,
    Usage,
)
from minutebook.sources.assembly.diffs import added_lines, hunks_of
from minutebook.sources.opencode.records import (
    FileFields,
    MessageFields,
    Millis,
    Part,
    SkimPart,
    Tokens,
    ToolState,
)

_END_OF_TIME = 253_402_300_800_000  # the year 10000
_SEALS = (("signature", False), ("redactedData", True), ("reasoningEncryptedContent", True))


def stamp(millis: Millis | None) -> str | None:
    """A time as every source writes it."""
    if millis is None or not 0 < millis < _END_OF_TIME:
        return None
    minutes, rest = divmod(int(millis), 60_000)
    return f"{_minute(minutes)}:{rest // 1000:02d}.{rest % 1000:03d}Z"


@lru_cache(maxsize=64)
def _minute(number: int) -> str:
    return f"{datetime.fromtimestamp(number * 60, UTC):%Y-%m-%dT%H:%M}"


# ------------------------------------------------------------ words and files


def typed(text: str) -> Text:
    """Words of a prompt. ``opencode run "a b"`` puts them between quotes (until 1.2 with a line
    end), and a backslash before each quote among them."""
    body = text.removesuffix("\n")
    if len(body) < 3 or not (body[0] == body[-1] == '"') or " " not in body:
        return Text(text)
    said = body[1:-1]
    return Text(text) if '"' in said.replace('\\"', "") else Text(text, said.replace('\\"', '"'))


def file_of(part: SkimPart | FileFields) -> Image | Document | None:
    """A picture or document that is in the part itself."""
    head, comma, data = (part.url or "").partition(",")
    if not comma or not head.startswith("data:") or not head.endswith(";base64"):
        return None
    media = part.mime or head[5:-7]
    if media.startswith("image/"):
        return Image(media, data)
    return Document(media, data, title=getattr(part, "filename", None))


def sealed(metadata: Any) -> tuple[str | None, bool]:
    """What a provider needs to get its reasoning back, and whether that is all there is."""
    for fields in metadata.values() if isinstance(metadata, dict) else ():
        for name, redacted in _SEALS if isinstance(fields, dict) else ():
            if isinstance(fields.get(name), str):
                return fields[name], redacted
    return None, False


# ------------------------------------------------------------ tools


def agent_of(part: Part) -> str | None:
    """The session of the subagent a call started."""
    facts = part.state.metadata if part.state is not None else None
    return (facts.sessionId or None) if facts is not None and part.tool == "task" else None


def result_of(part: Part, state: ToolState, at: str | None) -> ToolResult:
    """A tool's answer; a command that failed is `completed`, and only its exit code tells."""
    facts = state.metadata
    code = facts.exit if facts is not None else None
    if state.status == "error":
        text = state.error if state.error is not None else state.output or ""
    else:
        text = state.output if state.output is not None else state.error or ""
    files = [_beside(file) for file in state.attachments or ()]
    content: str | tuple[ResultPart, ...] = (Text(text), *files) if files else text
    failed = state.status == "error" or bool(code)
    return ToolResult(content, failed, at, patch=_patch(part, state), exit_code=code)


def _beside(file: FileFields) -> ResultPart:
    made = file_of(file)
    if isinstance(made, Image):
        return made
    return Unknown("file", {"mime": file.mime, "url": file.url, "filename": file.filename})


def _patch(part: Part, state: ToolState) -> tuple[Hunk, ...]:
    facts = state.metadata
    if facts is None or state.status == "error":
        return ()
    diff = facts.diff or (facts.filediff.patch if facts.filediff is not None else None)
    if diff:
        return hunks_of(diff)
    content = state.input.get("content") if isinstance(state.input, dict) else None
    if part.tool == "write" and facts.exists is False and isinstance(content, str):
        return added_lines(content)
    return ()


# ------------------------------------------------------------ usage


def reply_id(message: MessageFields, id: str) -> str:
    """What a reply is counted by: a fork copies it under another id, with its times and tokens."""
    if message.created is None or message.completed is None:
        return id
    tokens = message.tokens or Tokens()
    words = f"{message.providerID} {message.model_name} {tokens} {message.cost}"
    digest = hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()[:12]
    return f"{message.created}-{message.completed}-{digest}"


def usage_of(message: MessageFields, parts: list[Part]) -> Usage:
    """A message says what its last step used, so that of several the steps are added up."""
    steps = [part.tokens for part in parts if part.type == "step-finish" and part.tokens]
    if len(steps) < 2:
        steps = [message.tokens] if message.tokens is not None else steps
    usage = Usage()
    for tokens in steps:
        usage += _usage(tokens)
    return usage


def _usage(tokens: Tokens) -> Usage:
    """`output` has the reasoning up to 1.1 and not later; `total` tells which it is."""
    read = (tokens.cache.read if tokens.cache is not None else None) or 0
    write = (tokens.cache.write if tokens.cache is not None else None) or 0
    given, made, thought = tokens.input or 0, tokens.output or 0, tokens.reasoning or 0
    if tokens.total is not None:
        apart = tokens.total >= given + made + thought + read + write
    else:
        apart = thought > made  # then it cannot be among it
    return Usage(given, made + thought if apart else made, read, write)


def billing_of(message: MessageFields) -> Billing | None:
    """What the program itself says it cost; nothing is what it says of prices it does not know."""
    usd = message.cost
    if isinstance(usd, bool) or not isinstance(usd, int | float) or not 0 < usd < 1e9:
        return None
    return Billing(cost_usd=float(usd))
