"""Sessions as one HTML file: contents, rounds, calls that unfold without a script (SHARE-01)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import msgspec
from markupsafe import Markup

from minutebook.archive.sharing import BLOCKS, SharedSession, as_data, asked_of
from minutebook.derive.calls import describe
from minutebook.derive.messages import attachment_words, gist, kind_words
from minutebook.derive.plain import one_line
from minutebook.derive.wording import rounds_text
from minutebook.html.opened import Opened, opened
from minutebook.html.pictures import kept_picture
from minutebook.html.prose import plain
from minutebook.html.standing_alone import stand_alone
from minutebook.model import (
    Attachment,
    Document,
    Image,
    Notice,
    Round,
    StrayResult,
    Subagent,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from minutebook.model.engagement import Engagement
from minutebook.model.visit import BlockVisitor
from minutebook.sources.registry import SOURCES

_KINDS = {"png": "image/png", "jpg": "image/jpeg", "gif": "image/gif", "webp": "image/webp"}


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A block in the file."""

    kind: str
    """``user``, ``assistant``, ``thinking``, ``call``, ``result``, ``folded``, ``notice``."""
    body: Opened = Opened()
    name: str = ""
    summary: Markup = Markup("")
    sign: str = ""
    error: bool = False
    picture: str | None = None
    agent: Chapter | None = None
    """The subagent that a call started."""


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """A round in the file."""

    round: Round
    anchor: str
    asked: str
    entries: list[Entry]
    engagement: Engagement | None = None
    """One that begins, or goes on, with this round."""


class Chapter(msgspec.Struct, frozen=True, kw_only=True):
    """A session, or a subagent of one."""

    name: str
    facts: list[str]
    summary: str = ""
    sections: list[Section]
    engagements: list[tuple[Engagement, str, str]] = []
    """Each with its rounds in words and the anchor of its first."""
    media: Mapping[str, str] = {}
    """Addresses that hold the pictures, by their names."""


def session_file(
    title: str, sessions: Sequence[SharedSession], only: Collection[str], masked: str
) -> bytes:
    """One file that needs nothing else; `masked` says what is missing from it."""
    left_out = [name for name in BLOCKS if name not in only]
    return stand_alone(
        "session_file.html",
        title=title,
        chapters=[_chapter(at, session) for at, session in enumerate(sessions)],
        masked=masked,
        left_out=left_out,
    )


def _chapter(at: int, session: SharedSession) -> Chapter:
    record = session.record
    media = {
        name: as_data(_KINDS[kind], content)
        for name, content in session.pictures.items()
        if (kind := name.rsplit(".", 1)[-1]) in _KINDS
    }
    agents = {agent.id: agent for agent in session.subagents}
    begins = f"s{at + 1}-" if at else ""
    engagements = list(session.engagements)
    opening = {first: e for e in engagements for first, _ in e.ranges}
    if session.rounds and (first := session.rounds[0].number) not in opening:
        opening.update((first, e) for e in engagements if e.covers(first))
    sections = [
        _section(round, begins, agents, opening.get(round.number)) for round in session.rounds
    ]
    there = {round.number for round in session.rounds}
    count = len(session.rounds)
    rounds = rounds_text([(r.number, r.number) for r in session.rounds[:1]])
    if count > 1:
        rounds = f"{count} rounds"
    facts = [
        "@".join(word for word in (record.project, record.git_branch) if word),
        SOURCES.title_of(record.source),
        record.model or "",
        rounds if session.whole else f"{rounds} of {record.rounds}",
    ]
    return Chapter(
        name=record.called or "A session without a title",
        facts=[fact for fact in facts if fact],
        summary=record.told_summary,
        sections=sections,
        engagements=[
            (e, rounds_text(e.ranges), f"{begins}round-{_first(e, there)}") for e in engagements
        ],
        media=media,
    )


def _first(engagement: Engagement, there: Collection[int]) -> int:
    return min(number for number in there if engagement.covers(number))


def _section(
    round: Round, begins: str, agents: dict[str, Subagent], engagement: Engagement | None
) -> Section:
    entries: list[Entry] = []
    visitor, typed = _Entries(agents), len(round.asked)
    for at, block in enumerate(round.blocks):
        entries += visitor.visit(block, typed=at < typed)
    return Section(
        round=round,
        anchor=f"{begins}round-{round.number}",
        asked=asked_of(round),
        entries=entries,
        engagement=engagement,
    )


class _Entries(BlockVisitor[list[Entry]]):
    """What stands for one block; its words are those of the viewer's unfolded blocks.

    A subagent stands at the first call that names it, and is taken from `agents`: several calls
    may go on with one, and transcripts may name each other in any number.
    """

    def __init__(self, agents: dict[str, Subagent]) -> None:
        self._agents = agents

    def text(self, block: Text, typed: bool) -> list[Entry]:
        body = opened(block, typed=typed)
        return [Entry(kind="user" if typed else "assistant", body=body)] if block.text else []

    def picture(self, block: Image | Document, typed: bool) -> list[Entry]:
        kind = "user" if typed else "assistant"
        return [Entry(kind=kind, body=opened(block), picture=kept_picture(block))]

    def thinking(self, block: Thinking) -> list[Entry]:
        if not block.text.strip():
            return []
        return [Entry(kind="thinking", body=opened(block), summary=Markup("Thinking"))]

    def call(self, block: ToolCall) -> list[Entry]:
        agent = self._agents.pop(block.agent or "", None)
        answer = block.result.text if block.result is not None else ""
        body = opened(block)
        if not answer:
            body = msgspec.structs.replace(body, result=None)
        return [
            Entry(
                kind="call",
                body=body,
                name=one_line(block.name)[:60],
                summary=plain(one_line(describe(block)), 300),
                sign=_sign(block.result),
                error=block.result is not None and block.result.error,
                agent=self._agent(agent) if agent is not None else None,
            )
        ]

    def _agent(self, agent: Subagent) -> Chapter:
        return Chapter(
            name=agent.description or agent.kind or "Subagent",
            facts=[agent.kind] if agent.kind else [],
            sections=[_section(r, f"{agent.id}-", self._agents, None) for r in agent.rounds],
        )

    def stray(self, block: StrayResult) -> list[Entry]:
        return [Entry(kind="result", body=opened(block), error=block.result.error)]

    def notice(self, block: Notice) -> list[Entry]:
        words = kind_words(block.kind)
        line = plain(one_line(gist(block.text)), 200)
        return [Entry(kind="folded", name=words, summary=line, body=opened(block))]

    def attachment(self, block: Attachment) -> list[Entry]:
        words = plain(one_line(attachment_words(block.kind)), 200)
        return [Entry(kind="folded", name="", summary=words, body=opened(block))]

    def unknown(self, block: Unknown) -> list[Entry]:
        words = plain(one_line(block.kind), 200)
        return [Entry(kind="folded", name="not understood", summary=words, body=opened(block))]


def _sign(result: ToolResult | None) -> str:
    if result is None:
        return "no answer"
    return "✗" if result.error else "✓"
