"""A session → a transcript that ``claude --resume`` accepts. Pure: values in, bytes out.

The shape is the one every tried version resumes completely: a linear chain, compact JSON,
one record a block, results right behind their calls, the title last. What Claude's schema
cannot hold travels in a field of our own (``minutebook``), which the CLI keeps and never
sends; reading the file back gives the same rounds.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from minutebook.model import (
    Attachment,
    Block,
    Message,
    Notice,
    Round,
    ToolCall,
    ToolResult,
)
from minutebook.sources.assembly.seen import SeenIds
from minutebook.sources.base import ExportHeader
from minutebook.sources.claude_code import known
from minutebook.sources.claude_code.carried import Adds, RoundFacts, RoundStart
from minutebook.sources.claude_code.locate import SOURCE
from minutebook.sources.claude_code.wire import (
    Json,
    added,
    added_result,
    api_block,
    api_id,
    api_model,
    comes_back,
    flags_of,
    foreign_block,
    is_plain,
    usage_fields,
    verbatim,
)

_NAMESPACE = uuid.UUID("6d696e75-7465-626f-6f6b-2d6578706f72")
_NO_MODEL = "unknown"
_NO_TIME = "2000-01-01T00:00:00.000Z"


class Emitter:
    """Builds the records of one session, in order."""

    def __init__(self, session_id: str, header: ExportHeader, *, agent: str | None = None) -> None:
        self.session_id = session_id
        self.header = header
        self._foreign = header.program not in (None, SOURCE)
        self._agent = agent
        self._parent: str | None = None
        self._count = 0
        self._calls = SeenIds()
        self._replies = SeenIds()
        self._boundary = False  # a compaction boundary waits for its summary
        self._last_time = _NO_TIME

    def transcript(self, rounds: Iterable[Round]) -> Iterator[bytes]:
        """Lines of the file."""
        for record in self.records(rounds):
            yield msgspec.json.encode(record) + b"\n"

    def records(self, rounds: Iterable[Round]) -> Iterator[Json]:
        yield self._own({"origin": self.header, "clocked": True})
        for index, round in enumerate(rounds):
            if index and round.messages and round.messages[0] is not round.prompt:
                prompted = round.prompt is not None
                yield self._own({"round": RoundStart(round.cwd, round.branch, prompted)})
            for message in round.messages:
                if message.role == "assistant":
                    yield from self._reply(message, round)
                else:
                    yield from self._user(message, round)
            if round.duration_ms is not None:
                yield self._chained(
                    round, None, "system", subtype="turn_duration", durationMs=round.duration_ms
                )
            facts = RoundFacts(round.clock, round.progress, round.compactions)
            if facts != RoundFacts():
                yield self._own({"facts": facts})
        yield self._own({"end": True})
        yield from self._title()

    def _title(self) -> Iterator[Json]:
        title = self.header.title
        if self.header.custom_title:
            title = self.header.custom_title
            yield {"type": "custom-title", "customTitle": title, "sessionId": self.session_id}
        elif title:
            yield {"type": "ai-title", "aiTitle": title, "sessionId": self.session_id}

    # ------------------------------------------------------------ the user's side

    def _user(self, message: Message, round: Round) -> Iterator[Json]:
        sent = [api_block(block) for block in message.blocks]
        content = [block for block in sent if block is not None]
        if len(message.blocks) == 1:
            block = message.blocks[0]
            if isinstance(block, Notice) and block.kind in known.NOTICE_SUBTYPES:
                yield self._system(message, round, block)
                return
            if isinstance(block, Attachment) and block.kind in known.ATTACHMENTS:
                yield self._chained(round, message, "attachment", attachment=block.data)
                return
        if not content:
            yield self._own({"message": message})
            return
        flags: Json = flags_of(message)
        carried: Json = {} if comes_back(message, flags) else {"message": message}
        only = content[0]["text"] if len(content) == 1 and "text" in content[0] else content
        if flags.get("isCompactSummary"):
            # The CLI sends what follows the last cut; before a boundary record existed,
            # the summary itself had no parent.
            self._cut_before_summary()
        yield self._chained(
            round,
            message,
            "user",
            message={"role": "user", "content": only},
            **{**flags, **({"minutebook": carried} if carried else {})},
        )

    def _system(self, message: Message, round: Round, notice: Notice) -> Json:
        subtype = known.NOTICE_SUBTYPES[notice.kind]
        if subtype == "compact_boundary":
            self._parent = None
            self._boundary = True
        fields: Json = {"subtype": subtype, "content": notice.text, "isMeta": False}
        return self._chained(round, message, "system", **fields)

    def _cut_before_summary(self) -> None:
        if not self._boundary:
            self._parent = None
        self._boundary = False

    # ------------------------------------------------------------ the assistant's side

    def _reply(self, message: Message, round: Round) -> Iterator[Json]:
        calls = [block for block in message.blocks if isinstance(block, ToolCall)]
        natural = self._is_natural(message, calls)
        carried: Json | None = None if natural else {"message": message}
        reply_id = message.reply_id if natural else None
        reply_id = reply_id or f"msg_{self._id('reply').replace('-', '')[:24]}"
        blocks = [(block, self._api(block, message)) for block in message.blocks]
        sent: list[tuple[Block | None, Json | None]]
        sent = [(block, api) for block, api in blocks if api is not None]
        if not sent and not natural:
            yield self._own({"message": message})
            return
        first: Message | None = message
        # The CLI hangs where a reply has no model.
        model = self._model(message) or (_NO_MODEL if self._foreign else None)
        for block, api in sent or [(None, None)]:
            body: Json = {
                **({"model": model} if model is not None else {}),
                "id": reply_id,
                "type": "message",
                "role": "assistant",
                "content": [api] if api is not None else [],
                "stop_reason": message.stop,
                "stop_sequence": None,
                **({"usage": usage_fields(message)} if message.usage is not None else {}),
            }
            extra: Json = {} if natural else {"minutebook": carried or {}}
            if natural:
                extra = added(message if first is not None else None, block)
            carried = None
            at = block.at if isinstance(block, ToolCall) else message.at
            yield self._chained(round, first, "assistant", at=at, message=body, **extra)
            first = None  # only the first record has the message's id
        for call in calls:
            if call.result is not None:
                yield self._result(call, call.result, round, natural)

    def _api(self, block: Block, message: Message) -> Json | None:
        return foreign_block(block, message.model) if self._foreign else api_block(block)

    def _model(self, message: Message) -> str | None:
        return api_model(message.model) if self._foreign and message.model else message.model

    def _is_natural(self, message: Message, calls: list[ToolCall]) -> bool:
        """Whether a reader of the plain records finds this very message again."""
        fresh = message.reply_id is not None and self._replies.add(message.reply_id)
        met = [call.id for call in calls if not self._calls.add(call.id) or not call.id]
        return (
            fresh
            and not met
            and message.id is not None
            and message.at is not None
            and not message.queued
            and all(is_plain(block) for block in message.blocks)
            and all(self._api(block, message) == api_block(block) for block in message.blocks)
            and bool((message.blocks and message.model) or not self._foreign)
            and self._model(message) == message.model
            and (not calls or message.blocks[0] is not calls[0] or calls[0].at == message.at)
        )

    def _result(self, call: ToolCall, result: ToolResult, round: Round, natural: bool) -> Json:
        content: Any = result.content
        if not isinstance(content, str):
            content = [api_block(part) or verbatim(part) for part in content]
        block: Json = {
            "tool_use_id": self._call_id(call),
            "type": "tool_result",
            "content": content,
        }
        if result.error:
            block["is_error"] = True
        extra: Json = {}
        if not natural:
            extra["minutebook"] = {}
        elif (adds := Adds(agent=call.agent, result=added_result(call, result))) != Adds():
            extra["minutebook"] = {"adds": adds}
        message = {"role": "user", "content": [block]}
        return self._chained(round, None, "user", at=result.at, message=message, **extra)

    def _call_id(self, call: ToolCall) -> str:
        return api_id(call.id) if self._foreign else call.id

    # ------------------------------------------------------------ records

    def _chained(
        self, round: Round, said: Message | None, type: str, *, at: str | None = None, **fields: Any
    ) -> Json:
        """A record of the chain; `said` is the message whose id and time it takes."""
        own = (said.id if said is not None else None) or self._id(type)
        stamp = at or (said.at if said is not None else None) or self._last_time
        self._last_time = stamp
        record = {
            "parentUuid": self._parent,
            "isSidechain": self._agent is not None,
            **({"agentId": self._agent} if self._agent is not None else {}),
            "type": type,
            **fields,
            "uuid": own,
            "timestamp": stamp,
            "userType": "external",
            "entrypoint": "cli",
            **({"cwd": round.cwd} if round.cwd is not None else {}),
            "sessionId": self.session_id,
            **({"version": self.header.version} if self.header.version else {}),
            **({"gitBranch": round.branch} if round.branch is not None else {}),
        }
        self._parent = own
        return record

    def _own(self, carried: Json) -> Json:
        """A record the CLI does not know: it keeps it, and never sends it."""
        return {"type": "minutebook", "minutebook": carried, "sessionId": self.session_id}

    def _id(self, what: str) -> str:
        """An id that is the same at every export (for what never had one)."""
        self._count += 1
        return str(uuid.uuid5(_NAMESPACE, f"{self.session_id}/{self._agent}/{self._count}/{what}"))
