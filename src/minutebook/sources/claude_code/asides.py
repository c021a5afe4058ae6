"""What belongs to a round without being said by either side."""

from __future__ import annotations

from minutebook.derive import messages as kinds
from minutebook.model import Attachment, Compaction, Notice, Unknown
from minutebook.sources.claude_code import known
from minutebook.sources.claude_code.conversation import Conversation
from minutebook.sources.claude_code.records import CompactFields, OtherRecord
from minutebook.sources.claude_code.stream import RecordStream


class Asides:
    """Context, notices, compactions, and whatever is not understood. A skim has none of them."""

    def __init__(self, stream: RecordStream, main: Conversation) -> None:
        self._stream = stream
        self._report = stream.report
        self._main = main
        self.clocked = False
        """Inside an export, which says itself where the compactions were."""

    def attachment(self, record: OtherRecord, kind: str) -> None:
        """Context the model was given (FUT-03); bookkeeping and empty ones are left out."""
        if kind in known.ATTACHMENT_BOOKKEEPING:
            self._report.left_out[f"attachment {kind}"] += 1
            return
        if not self._stream.full:
            return
        data = self._stream.raw().get("attachment")
        if not isinstance(data, dict) or known.is_empty(data):
            self._report.left_out[f"attachment {kind}"] += 1
            return
        if kind not in known.ATTACHMENTS:
            self._report.unknown[f"attachment {kind}"] += 1
        self._main.aside(record, Attachment(kind, data))

    def notice(self, record: OtherRecord, kind: str, content: str) -> None:
        """Words shown to the person, and not sent to the model."""
        if not self._stream.full:
            return
        self._main.aside(record, Notice(kind, content))
        if kind == known.BOUNDARY and not self.clocked:
            told = record.compactMetadata or CompactFields()
            tokens = told.preTokens if told.preTokens is not None and told.preTokens >= 0 else None
            self._main.assembler.compacted(Compaction(record.timestamp, told.trigger, tokens))

    def summarised(self, at: str | None) -> None:
        """A summary is a compaction of its own where no boundary precedes it (to 1.0.11x)."""
        if self.clocked or not self._stream.full:
            return
        notices = (
            block.kind
            for message in reversed(self._main.assembler.round.messages)
            for block in message.blocks
            if isinstance(block, Notice)
        )
        marks = (known.BOUNDARY, kinds.COMPACTION)
        if next((kind for kind in notices if kind in marks), None) != known.BOUNDARY:
            self._main.assembler.compacted(Compaction(at))

    def unknown(self, record: OtherRecord, kind: str) -> None:
        """Kept verbatim where it stands, counted, and named by doctor (FMT-11)."""
        if self._stream.full:
            self._report.unknown[kind] += 1
            self._main.aside(record, Unknown(kind, self._stream.raw()))
