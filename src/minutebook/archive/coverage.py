"""A record as every front end sees it: what an extractor found, then all corrections.

One function for everybody (ARC-05). What a person said wins; the later word over the earlier.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from minutebook.derive.activity import Activity
from minutebook.model import PullRequest
from minutebook.model.engagement import Engagement, SessionRecord
from minutebook.model.said import (
    SESSION_FIELDS,
    Hide,
    Join,
    Move,
    Note,
    Ranges,
    Renumber,
    Said,
    Set,
    Split,
    Star,
    Tag,
    Undo,
    Unhide,
    Unread,
    Unstar,
    Written,
)
from minutebook.record.header import Header, summary_line

if TYPE_CHECKING:  # imported where somebody said something: most archives open without it
    from minutebook.extract.corrections import Applying


class SaidOfCopy(Said, frozen=True, kw_only=True):
    """What was said of a copy of a session, with the numbers that rounds have in it."""

    shared: Ranges
    """The rounds that both have."""


Spans = list[tuple[int, int, str]]
"""First round, last round and id of engagements."""


class Work(msgspec.Struct, frozen=True):
    """What was done in a session, for the facts of engagements that a person cut anew."""

    rounds: Sequence[Activity] = ()
    pull_requests: Sequence[PullRequest] = ()


class SaidSummary(msgspec.Struct, frozen=True):
    """A person's own summary of a session, and every other one they ever gave."""

    text: str | None = None
    known: frozenset[str] = frozenset()

    def is_by_hand(self, header: Header) -> bool:
        """Whether a person wrote the summary of a document into it, and nowhere else so far."""
        return header.edited and header.summary not in self.known


NOTHING_SAID = SaidSummary()


class SessionSaid(msgspec.Struct, frozen=True):
    """What a person said of a session as a whole."""

    title: str | None = None
    agent_name: str | None = None
    agent_role: str | None = None
    summary: str | None = None
    starred: bool = False
    hidden: bool = False
    note: str = ""


def covered(
    record: SessionRecord, said: Sequence[Said], work: Callable[[], Work] = Work
) -> SessionRecord:
    """A record with everything a person said of its session."""
    from minutebook.extract.corrections import Applying

    extracted = {engagement.id for engagement in record.engagements}
    tagged = {s.statement.engagement for s in said if isinstance(s.statement, Tag)}
    made = {id for id in tagged - extracted if id is not None}
    applying = Applying(record.engagements, record.rounds, made)
    for statement, shared in _in_order(said, made, record.rounds):
        if isinstance(statement, Tag):
            _lay(applying, record, statement)
        else:
            applying.apply(statement, shared)
    told = session_said(said)
    named = [f for f in SESSION_FIELDS if getattr(told, f) is not None]
    engagements = _with_facts(record.engagements, applying.engagements, work)
    return msgspec.structs.replace(
        record,
        engagements=engagements,
        ghost=record.ghost and not engagements,
        title=told.title or record.title,
        agent_name=told.agent_name or record.agent_name,
        agent_name_source="said" if told.agent_name else record.agent_name_source,
        agent_role=told.agent_role or record.agent_role,
        session_summary=told.summary or record.session_summary,
        starred=told.starred,
        hidden=told.hidden,
        note=told.note,
        corrected=(*applying.set, *named),
    )


def resummed(before: SessionRecord, now: SessionRecord) -> SessionRecord:
    """A record whose summary, where rules made it of topics, is made of the topics it has now."""
    by_rules = now.extractor == "offline" and not now.modelled and "summary" not in now.corrected
    was = [engagement.topic for engagement in before.engagements]
    topics = [engagement.topic for engagement in now.engagements if not engagement.hidden]
    if not by_rules or not before.session_summary or (topics == was and now.given_title is None):
        return now
    from minutebook.derive.titles import topics_summary
    from minutebook.extract.validation import one_line

    told = before.session_summary
    title = told.removesuffix(topics_summary(None, was)).removesuffix(". ")
    if title == told:  # made of other topics, by an older version or of a copy
        title = before.title if before.title and told.startswith(f"{before.title}. ") else ""
    title = now.given_title or title or ("" if topics else now.title or "")
    summary = one_line(topics_summary(title, topics))
    return msgspec.structs.replace(now, session_summary=summary)


def session_said(said: Sequence[Said]) -> SessionSaid:
    """What holds of what was said of a session as a whole."""
    from minutebook.extract.validation import one_line

    found: dict[str, object] = {}
    for item in said:
        statement = item.statement
        if item.undone or getattr(statement, "engagement", None) != "":
            continue
        match statement:
            case Set(values=values):
                found |= {  # an empty one takes back what was said of the field
                    field: one_line(text) or None
                    for field, text in values.items()
                    if field in SESSION_FIELDS and isinstance(text, str)
                }
            case Star() | Unstar():
                found["starred"] = isinstance(statement, Star)
            case Hide() | Unhide():
                found["hidden"] = isinstance(statement, Hide)
            case Note(text=text):
                found["note"] = one_line(text)
    return msgspec.convert(found, SessionSaid)


def summary_said(said: Sequence[Said]) -> SaidSummary:
    """The summary a person gave a session, by the archive's words or in its document."""
    every = [
        text
        for item in said
        if isinstance(item.statement, Set) and not item.statement.engagement
        if isinstance(text := item.statement.values.get("summary"), str) and text
    ]
    lines = frozenset(line for text in every for line in (text, summary_line(text)))
    return SaidSummary(session_said(said).summary, lines)


def ranges_of(record: SessionRecord) -> Spans:
    """First round, last round and id of what the engagements of a session cover."""
    return [(*part, e.id) for e in record.engagements for part in e.ranges]


# -- order


def _in_order(
    said: Sequence[Said], made: set[str], rounds: int
) -> Iterator[tuple[Written, Ranges | None]]:
    """What holds of what was said, in its order, with the numbers rounds have now; and with the
    rounds that are shared, where it was said of a copy.

    Older versions kept tags in a file of their own, laid over all corrections but those of what
    a tag had made.
    """
    from minutebook.extract.corrections import joined, without

    current = renumbered(said)
    old = [item for item in current if item.old]
    tags = [item for item in old if isinstance(item.statement, Tag)]
    others = [item for item in old if not isinstance(item.statement, Tag)]
    after = [item for item in others if getattr(item.statement, "engagement", "") in made]
    before = [item for item in others if item not in after]
    ordered = [*before, *tags, *after, *(item for item in current if not item.old)]
    taken_off: Ranges = ()
    kept: list[tuple[Written, Ranges | None]] = []
    for item in reversed(ordered):  # a tag taken off leaves what was found
        statement = item.statement
        if item.undone or isinstance(statement, Unread | Undo | Renumber):
            continue
        if isinstance(statement, Tag):
            last = min(statement.last or rounds, rounds)
            place = ((statement.first, max(last, statement.first)),)
            if statement.engagement is None:
                taken_off = joined((*taken_off, *place))
                continue
            parts = without(place, taken_off)[::-1]
            kept += [(Tag(*part, statement.engagement), None) for part in parts]
        else:
            kept.append((statement, item.shared if isinstance(item, SaidOfCopy) else None))
    return reversed(kept)


def renumbered(said: Sequence[Said]) -> list[Said]:
    """Statements with the numbers that rounds have since an upgrade (ARC-03)."""
    found: list[Said] = []
    for item in said:
        statement = item.statement
        if isinstance(statement, Renumber):
            found = [_mapped(known, statement.places) for known in found]
        found.append(item)
    return found


def _mapped(said: Said, places: dict[int, tuple[int, int]]) -> Said:
    statement = said.statement
    if isinstance(statement, Tag | Undo | Renumber | Unread):
        return said  # tags had the archive's numbers always

    def ranges(old: Ranges) -> Ranges:
        return tuple(_span(part, places) for part in old)

    changes: dict[str, object] = {"rounds": ranges(statement.rounds)}
    match statement:
        case Move(first=first, last=last):
            changes["first"], changes["last"] = _span((first, last), places)
        case Split(round=round):
            changes["round"] = _span((round, round), places)[0]
        case Join(other_rounds=rounds):
            changes["other_rounds"] = ranges(rounds)
        case Set(values={"turn_range": (int(first), int(last))}):
            span = _span((first, last), places)
            changes["values"] = {**statement.values, "turn_range": span}
    return msgspec.structs.replace(said, statement=msgspec.structs.replace(statement, **changes))


def _span(span: tuple[int, int], places: dict[int, tuple[int, int]]) -> tuple[int, int]:
    first, last = span
    return places.get(first, span)[0], places.get(last, (last, last))[1]


# -- engagements


def _lay(applying: Applying, record: SessionRecord, tag: Tag) -> None:
    """An engagement that a person made by tagging rounds: its id is all they said of it.

    How the work was done is what was found for those rounds.
    """
    id, last = tag.engagement or "", tag.last or tag.first

    def make() -> Engagement:
        under = next((e for e in applying.engagements if e.covers(tag.first)), None)
        return Engagement(
            id=id,
            topic=" ".join(id.replace("-", " ").replace("_", " ").split()) or id,
            project=(under.project if under else None) or record.cwd or "system",
            method=under.method if under else "discuss",
            phase=under.phase if under else "in-progress",
            turn_range=(tag.first, last),
            tagged=True,
        )

    applying.lay(tag.first, last, make, id)


def _with_facts(
    before: Sequence[Engagement], now: Sequence[Engagement], work: Callable[[], Work]
) -> tuple[Engagement, ...]:
    """Engagements with when they were and what they left behind, where they were cut anew."""
    from minutebook.extract.records import with_facts

    known = {engagement.id: engagement.ranges for engagement in before}
    if all(known.get(engagement.id) == engagement.ranges for engagement in now):
        return tuple(now)
    done = work()
    if not done.rounds:
        return tuple(now)
    return tuple(
        engagement
        if known.get(engagement.id) == engagement.ranges
        else with_facts(
            engagement,
            [round for round in done.rounds if engagement.covers(round.number)],
            done.pull_requests,
        )
        for engagement in now
    )
