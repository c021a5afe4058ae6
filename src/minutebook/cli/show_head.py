"""The head of ``minutebook show``: what a session is called, what was said of it, what was done."""

from __future__ import annotations

from collections.abc import Sequence

import click

from minutebook.archive import Archive
from minutebook.archive.folding import stands_for
from minutebook.archive.remote import person_of
from minutebook.archive.sessions import SessionSummary
from minutebook.cli import terminal
from minutebook.derive.times import instant
from minutebook.derive.wording import spans_text
from minutebook.model.engagement import Engagement, SessionRecord
from minutebook.sources.registry import SOURCES

_WIDEST = 12  # cells that rounds may take before they push what follows aside


def print_head(
    book: Archive, session_id: str, rounds: int, shown: range, *, only_minutes: bool
) -> None:
    """Title and facts; role, summary, notes; and the engagements of the rounds that are shown.

    Where minutes are all there is (`only_minutes`), with what was decided and achieved.
    """
    summary, record = book.summary(session_id), book.record(session_id)
    _print_title(summary, rounds, person_of(book, session_id))
    _print_said(summary, record, _named(book, stands_for(book, session_id)))
    engagements = [e for e in record.engagements if only_minutes or any(map(e.covers, shown))]
    print_engagements(record, engagements, whole=only_minutes)


def _print_title(summary: SessionSummary, rounds: int, person: str | None) -> None:
    info = summary.info
    started = instant(info.started)
    title = terminal.one_line(summary.name)
    title = f"★ {title}" if summary.starred else title
    terminal.say(click.style(terminal.fit(title, terminal.columns()), bold=True))
    facts = [  # the higher its number, the sooner one is left out on a narrow terminal
        (3, person),
        (4, None if info.source == next(iter(SOURCES)) else SOURCES.title_of(info.source)),
        (2, info.project),
        (7, info.branch),
        (6, info.model),
        (0, f"{started:%Y-%m-%d}" if started else None),
        (1, terminal.plural(rounds or info.rounds, "round")),
        (5, terminal.plural(info.subagents, "subagent") if info.subagents else None),
    ]
    told = [(rank, terminal.one_line(fact)) for rank, fact in facts if fact]
    terminal.say(terminal.quiet(terminal.first_that_fit(told, terminal.columns())))
    terminal.say(terminal.quiet(terminal.one_line(info.id)))


def _named(book: Archive, session_id: str | None) -> str:
    if session_id is None:
        return ""
    return f"{book.short(session_id)}, {book.summary(session_id).name}"


def _print_said(summary: SessionSummary, record: SessionRecord, copy_of: str) -> None:
    """Who held the session, what it is a copy of, and what a person said of it."""
    told = (
        ("copy of", copy_of),
        ("role", summary.identity.role),
        ("hidden", "from lists and statistics" if summary.hidden else ""),
        ("summary", record.session_summary if "summary" in record.corrected else ""),
        ("note", record.note),
    )
    for what, text in told:
        if text:
            terminal.say(f"{terminal.quiet(f'{what}:')} {terminal.one_line(text)}")


def print_engagements(
    record: SessionRecord, engagements: Sequence[Engagement], *, whole: bool
) -> None:
    """One line each: rounds, method and phase, topic, as a person corrected them; below it where
    that was, what came of it and what was decided, if a person said so or all is told (`whole`)."""
    places = [terminal.one_line(f"#{spans_text(e.ranges)}") for e in engagements]
    labels = [terminal.one_line(f"{e.method}, {e.step or e.phase}") for e in engagements]
    place = min(_WIDEST, max(map(len, places), default=0))
    label = max(map(terminal.width, labels), default=0)
    for engagement, where, how in zip(engagements, places, labels, strict=True):
        star = "★" if engagement.starred else " "
        lead = f"{star} {where:{place}}  {how}{' ' * (label - terminal.width(how))}  "
        hidden = "(hidden) " if engagement.hidden else ""
        note = f" ({engagement.note})" if engagement.note else ""
        topic = terminal.one_line(f"{hidden}{engagement.topic}{note}")
        indent = terminal.width(lead)
        line = terminal.hanging(f"{lead}{topic}", indent)
        terminal.say(terminal.method_mark(line[: len(lead)], engagement.method) + line[len(lead) :])
        for text in _details(record, engagement, whole=whole):
            terminal.say(terminal.quiet(terminal.hanging(f"{' ' * indent}{text}", indent + 2)))


def _details(record: SessionRecord, engagement: Engagement, *, whole: bool) -> list[str]:
    """What does not fit into the line of an engagement."""

    def told(field: str) -> bool:
        return whole or f"{engagement.id}.{field}" in record.corrected

    found = [f"project: {engagement.project}"] if told("project") and not whole else []
    found += [f"outcome: {engagement.outcome}"] if told("outcome") and engagement.outcome else []
    if told("key_decisions"):
        found += [f"decided: {decision}" for decision in engagement.key_decisions]
    return [terminal.one_line(text) for text in found]
