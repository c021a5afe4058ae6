"""What an export keeps of its source: facts of both files, counted the same way (OPS-14).

Written against the raw JSON, not against our own reader: a check that used the reader twice
could not see what the reader loses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import zip_longest
from pathlib import Path

from minutebook.sources.base import FactReport, FieldFate
from minutebook.sources.claude_code.telling import Teller, records_of

_EXAMPLES = 3

MATTERS = (
    "user text",
    "assistant text",
    "thinking",
    "tool call",
    "tool result",
    "picture",
    "notice",
    "attachment",
    "message id",
    "timestamp",
    "reply id",
    "model",
    "stop reason",
    "usage",
    "turn duration",
    "title",
)
"""Facts whose loss makes a check fail. docs/fidelity.md says why each matters."""

FIELDS: dict[str, tuple[str, str]] = {
    "parentUuid": ("transformed", "a linear chain: forks of parallel calls lose calls on resume"),
    "uuid": ("transformed", "a message keeps its first; further lines of it get derived ones"),
    "timestamp": (
        "transformed",
        "a message and each call and result keep theirs; text lines of one message share it",
    ),
    "message": ("kept", "compared block by block above"),
    "type": ("kept", ""),
    "sessionId": ("transformed", "the session's own on every record"),
    "cwd": ("transformed", "that of the round's first record on all its records"),
    "gitBranch": ("transformed", "that of the round's first record on all its records"),
    "version": ("transformed", "the first version on all records"),
    "isSidechain": ("kept", "sidechains become files of their own"),
    "isMeta": ("kept", "as the kind of the notice"),
    "isCompactSummary": ("kept", "as the kind of the notice"),
    "isVisibleInTranscriptOnly": ("kept", "written with every compaction summary"),
    "entrypoint": ("transformed", "always cli: sessions of the SDK are hidden from the picker"),
    "userType": ("kept", "always external"),
    "subtype": ("kept", "of notices and durations"),
    "content": ("kept", "of notices"),
    "durationMs": ("kept", "a round's durations are added up"),
    "attachment": ("kept", "those that are context; bookkeeping is left behind"),
    "agentId": ("kept", "of subagent files"),
    "customTitle": ("kept", "the last one, as the title"),
    "aiTitle": ("kept", "the last one, as the title"),
    "agentName": ("kept", "says what the title says"),
    "level": ("left behind", "how the interface showed a remark"),
    "toolUseResult": (
        "left behind",
        "the interface's copy; its patch, exit code, duration, interruption, subagent are kept",
    ),
    "requestId": ("left behind", "the provider's own number, of no use elsewhere"),
    "slug": ("left behind", "a random name for plan files"),
    "sourceToolAssistantUUID": ("left behind", "says what tool_use_id says"),
    "sourceToolUseID": ("left behind", "says what tool_use_id says"),
    "promptId": ("left behind", "groups records of a round, as rounds do"),
    "permissionMode": ("left behind", "state of the interface"),
    "todos": ("left behind", "state of the interface; the calls that changed it are kept"),
    "thinkingMetadata": ("left behind", "a setting of the interface"),
    "isApiErrorMessage": ("left behind", "the text says so"),
}
"""Top-level fields of records, and what becomes of each; any other is left behind."""


class Facts:
    """What one transcript says, as counters of comparable texts."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self.counts: dict[str, Counter[str]] = {name: Counter() for name in MATTERS}
        teller = Teller(self._count)
        for record in records_of(lines):
            teller.record(record)
        teller.finish()
        self.fields = teller.fields

    def _count(self, name: str, value: str) -> None:
        self.counts[name][value] += 1


class _Balance:
    """Facts of two transcripts, weighed against each other as they are told.

    Both tell the same things in nearly the same order, so that hardly anything is ever held.
    """

    def __init__(self) -> None:
        self.left: dict[str, Counter[str]] = {name: Counter() for name in MATTERS}
        self.told: Counter[str] = Counter()

    def source(self, name: str, value: str) -> None:
        self.told[name] += 1
        self._weigh(name, value, 1)

    def export(self, name: str, value: str) -> None:
        self._weigh(name, value, -1)

    def _weigh(self, name: str, value: str, by: int) -> None:
        left = self.left[name]
        now = left[value] + by
        if now:
            left[value] = now
        else:
            del left[value]


def compare(source: Path, exported: Path) -> tuple[list[FactReport], list[FieldFate]]:
    """Facts of both files, and the fate of every field of the source (OPS-14)."""
    balance = _Balance()
    before, after = Teller(balance.source), Teller(balance.export)
    with source.open("rb") as one, exported.open("rb") as other:
        for mine, theirs in zip_longest(records_of(one), records_of(other)):
            if mine is not None:
                before.record(mine)
            if theirs is not None:
                after.record(theirs)
    before.finish()
    after.finish()
    titled = bool(balance.told["title"])
    return [_report(balance, name, titled) for name in MATTERS], _fates(before.fields)


def _report(balance: _Balance, name: str, titled: bool) -> FactReport:
    lost = Counter({value: n for value, n in balance.left[name].items() if n > 0})
    added = Counter({value: -n for value, n in balance.left[name].items() if n < 0})
    if name == "title" and not titled:
        added.clear()  # an untitled session is titled by its first prompt
    return FactReport(
        name,
        balance.told[name] - lost.total(),
        lost.total(),
        added.total(),
        [value[:200] for value in list(lost)[:_EXAMPLES]],
        [value[:200] for value in list(added)[:_EXAMPLES]],
    )


def _fates(fields: Counter[str]) -> list[FieldFate]:
    found: dict[str, FieldFate] = {}
    for full, count in fields.items():
        name = full.split(".", 1)[1]
        fate, reason = FIELDS.get(name, ("left behind", "not part of the conversation"))
        known_fate = found.get(name)
        total = count + (known_fate.count if known_fate else 0)
        found[name] = FieldFate(name, total, fate, reason)
    return sorted(found.values(), key=lambda fate: (fate.fate, -fate.count))
