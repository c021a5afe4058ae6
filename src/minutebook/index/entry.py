"""Entries: what can be found. A turn pair, a session's title, an engagement, a session's words."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal

import msgspec

from minutebook.derive.surfaces import Surface
from minutebook.derive.times import millis
from minutebook.derive.turn_pairs import TurnPair
from minutebook.index.analysis import has_cjk, pairs, parts_of
from minutebook.model.engagement import SessionRecord

Kind = Literal["turn", "title", "engagement", "session", "rest"]
_LONGEST_SESSION = 2_000_000  # characters of a session as one text
_LONGEST = 200_000  # characters of a side; what follows is hardly ever words
_OWN_OUTPUT = "minutebook show "


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One searchable thing, with what it can be filtered by."""

    kind: Kind
    session_id: str
    key: str
    """Unique in its session, and the same however the session grows."""
    round: int
    at: int = 0
    """Seconds since the epoch; 0 where nobody knows."""
    project: str = ""
    branch: str = ""
    """Of an engagement all its branches, a line each: a filter looks for a part."""
    model: str = ""
    tools: bool = False
    asked: str = ""
    answered: str = ""
    """The final words of the round: what was done, without the deliberation."""
    rest: str = ""
    """Other words of the answer."""
    quoted: bool = False
    """Whether this is mostly our own search output, quoted back at us."""
    budget: int = -1
    """How full the window was, in tenths of a percent; -1 where nobody knows."""
    blocks: str = ""
    """Where the texts of an answer are: ``2:120 5:77``, blocks and lengths; empty if unknown."""

    @property
    def signal(self) -> str:
        """The change signal: another one means that the entry must be indexed again."""
        said = msgspec.json.encode(
            (
                *(self.round, self.at, self.project, self.branch, self.model, self.tools),
                *(self.blocks, self.budget),
            )
        )
        return _digest(said, self.asked, self.answered, self.rest)

    @property
    def full(self) -> str:
        """All of the answer."""
        return f"{self.rest}\n\n{self.answered}" if self.rest else self.answered


TITLE = "title"
"""The key of a session's title."""

How = Literal["read", "edited", "written"]


class Touch(msgspec.Struct, frozen=True):
    """A file that tools read or changed in a round."""

    round: int
    at: int
    how: How
    path: str
    times: int = 1


Work = dict[Surface, list[str]]
"""What is found in a round beside its words; only in the full text, not in the database."""


class Prepared(msgspec.Struct, frozen=True):
    """An entry with everything the index needs of it; made where sessions are read."""

    entry: Entry
    signal: str
    parts: tuple[str, str, str] = ("", "", "")
    """Parts of compound words: of what was asked, answered, and the rest."""
    pairs: dict[str, list[str]] = {}
    """Pairs of characters of runs without spaces, by the field they are in."""
    work: Work = {}
    whole: str = ""
    """Of a session: everything that was said in it."""
    others: tuple[Entry, ...] = ()
    """Of a session: its turns, for what they can be filtered by."""


def prepare(entry: Entry, work: Work | None = None) -> Prepared:
    signal = entry.signal
    if work:
        signal = _digest(
            signal.encode(), *(f"{name}\0{chr(0).join(done)}" for name, done in work.items())
        )
    return Prepared(
        entry,
        signal,
        (parts_of(entry.asked), parts_of(entry.answered), parts_of(entry.rest)),
        _pairs({name: [getattr(entry, name)] for name in _SAID}) | _pairs(work or {}),
        work or {},
    )


_SAID = ("asked", "answered", "rest")


def _pairs(texts: Mapping[Any, Sequence[str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {
        name: [" ".join(pairs(text)) for text in some if not text.isascii() and has_cjk(text)]
        for name, some in texts.items()
    }
    return {name: some for name, some in found.items() if some}


def session_entry(session_id: str, turns: Sequence[Prepared]) -> Prepared:
    """A session as one text, which says what it was about better than any of its turns."""
    first = turns[0].entry
    entry = Entry(
        kind="session", session_id=session_id, key="session", round=first.round, at=first.at
    )
    signal = _digest(b"", *(turn.signal for turn in turns))
    said = (
        text
        for turn in turns
        for text in (turn.entry.asked, turn.entry.rest, turn.entry.answered, *turn.parts)
        if text
    )
    return Prepared(
        entry,
        signal,
        whole="\n".join(said)[:_LONGEST_SESSION],
        others=tuple(turn.entry for turn in turns),
    )


def _digest(first: bytes, *texts: str) -> str:
    digest = hashlib.blake2b(first, digest_size=8)
    digest.update("\0".join(texts).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def turn_entry(pair: TurnPair) -> Entry:
    """A turn pair as an entry."""
    meta = pair.metadata
    full, summary = pair.assistant_full, pair.assistant_summary
    rest = full[: -len(summary)] if summary and full.endswith(summary) else full
    return Entry(
        kind="turn",
        session_id=meta.session_id,
        key=pair.id.removeprefix(f"{meta.session_id}:"),
        round=meta.round,
        at=seconds(meta.timestamp),
        project=meta.cwd or meta.project or "",
        branch=meta.branch or "",
        model=meta.model or "",
        tools=meta.has_tool_use,
        asked=pair.user_prompt[:_LONGEST],
        answered=summary[:_LONGEST],
        rest=rest.strip()[:_LONGEST],
        quoted=full.count(_OWN_OUTPUT) > 2,
    )


def title_entry(session_id: str, title: str, turns: Iterable[Entry]) -> Entry:
    """A session's title, one a session (CORP-13)."""
    first = next(iter(turns), None)
    return Entry(
        kind="title",
        session_id=session_id,
        key=TITLE,
        round=first.round if first else 1,
        at=first.at if first else 0,
        project=first.project if first else "",
        branch=first.branch if first else "",
        model=first.model if first else "",
        asked=title,
    )


def engagement_entries(record: SessionRecord) -> Iterator[Entry]:
    """Topics, decisions and outcomes of a session."""
    for engagement in record.engagements:
        yield Entry(
            kind="engagement",
            session_id=record.session_id,
            key=f"engagement:{engagement.id}",
            round=engagement.turn_range[0],
            at=seconds(engagement.started or record.started),
            project=engagement.project or record.cwd or "",
            branch="\n".join(record.branches_of(engagement)),
            model=record.model or "",
            asked=engagement.topic,
            answered="\n".join((engagement.outcome, *engagement.key_decisions)).strip(),
            rest=" . ".join(
                text
                for text in (
                    *(record.session_summary, engagement.method, engagement.phase),
                    *(engagement.project, record.agent_name, record.agent_role, record.slug),
                    *(engagement.note, record.note),
                )
                if text
            ),
        )


@lru_cache(maxsize=100_000)  # the same engagements are looked at again and again
def seconds(timestamp: str | None) -> int:
    """A timestamp in seconds since the epoch; 0 for what is none."""
    return millis(timestamp) // 1000
