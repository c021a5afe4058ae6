"""``minutebook show``."""

from __future__ import annotations

from base64 import b64encode
from functools import partial
from pathlib import Path
from typing import Any

import click
import msgspec

from minutebook.archive import Archive
from minutebook.archive.names import parse_block
from minutebook.archive.session import OpenSession
from minutebook.archive.sessions import SessionSummary
from minutebook.cli import terminal
from minutebook.cli.json_output import print_json
from minutebook.cli.options import archive_options, json_option, opened, secrets_option
from minutebook.cli.transcript import PARTS, TranscriptPrinter
from minutebook.derive.times import instant
from minutebook.derive.wording import rounds_text
from minutebook.errors import BadArgument, NotFound
from minutebook.model import Round, Subagent
from minutebook.model.engagement import SessionRecord


@click.command("show")
@click.argument("session")
@archive_options
@click.option(
    "--only",
    metavar="PARTS",
    help=f"Which parts to show, with commas: {', '.join(PARTS)}. [default: user,assistant,calls]",
)
@click.option("--full", is_flag=True, help="Everything, and nothing shortened.")
@secrets_option
@json_option
def command(
    session: str,
    roots: tuple[str, ...],
    archive: str | None,
    only: str | None,
    full: bool,
    secrets: bool,
    as_json: bool,
) -> None:
    """Read a session, or some rounds of it.

    SESSION is the start of an id, a title, a name, a slug or a file. Add #ROUND or #FROM-TO
    for some of its rounds: minutebook show 3f2a#12-14; #ROUND.BLOCK for one block in full, as
    search names it. Secrets are masked, also in --json.
    """
    alone = parse_block(session) is not None
    parts = _parts(only, full or alone)
    book = opened(archive, roots, secrets=secrets)
    session_id, wanted = book.address(session)
    summary = _summary(book, session_id)
    reading = book.open(session_id)
    numbers = _numbers(reading, wanted)
    if as_json:
        rounds = list(reading.rounds(numbers))
        print_json(
            session=summary.info,
            identity=summary.identity,
            starred=summary.starred,
            hidden=summary.hidden,
            note=summary.note,
            path=Path(summary.path) if summary.path else reading.document,
            rounds=[_with_pictures(msgspec.to_builtins(r), reading) for r in rounds],
            subagents=[
                _with_pictures(msgspec.to_builtins(agent), reading)
                for agent in _subagents(reading, rounds, everything=wanted is None)
            ],
        )
        return
    _print_header(summary, reading.count)
    _print_said(book.record(session_id))
    printer = TranscriptPrinter(
        parts, shorten=not (full or alone), subagent=partial(_subagent, reading, _known(reading))
    )
    block = parse_block(session)
    for round in reading.rounds(numbers):
        if block is not None:
            _print_block(round, block, printer)
        else:
            printer.print_round(round)
    printer.print_hidden()


def _print_block(round: Round, number: int, printer: TranscriptPrinter) -> None:
    """One block in full, and how to see what is around it."""
    count = len(round.blocks)
    if not 1 <= number <= count:
        blocks = terminal.plural(count, "block")
        raise NotFound(f"Round {round.number} has {blocks}; there is no block {number}.")
    printer.print_block(round, number - 1)
    terminal.note(f"Block {number} of {count}; without .{number}, the whole round.")


def _parts(only: str | None, full: bool) -> frozenset[str]:
    if only is None:
        return frozenset(PARTS if full else ("user", "assistant", "calls"))
    chosen = {part.strip().lower() for part in only.split(",") if part.strip()}
    if odd := chosen - set(PARTS):
        raise BadArgument(f"--only knows {', '.join(PARTS)}; not {', '.join(sorted(odd))}.")
    if not chosen:
        raise BadArgument(f"--only needs at least one of {', '.join(PARTS)}.")
    return frozenset(chosen)


def _summary(archive: Archive, session_id: str) -> SessionSummary:
    """A session as lists have it; of a file that is not a transcript, why."""
    try:
        return archive.summary(session_id)
    except NotFound:
        transcript = archive.transcript(session_id)
        for trouble in archive.sessions().unusable:
            if transcript is not None and trouble.path == transcript.path:
                raise NotFound(f"{trouble.path} cannot be shown: {trouble.reason}.") from None
        raise


def _numbers(reading: OpenSession, wanted: range | None) -> range:
    """The rounds asked for; a range may end beyond the session."""
    if wanted is None:
        return range(1, reading.count + 1)
    if wanted.start > reading.count:
        raise NotFound(
            f"Session {reading.short} has {terminal.plural(reading.count, 'round')}; "
            f"there is no round {wanted.start}."
        )
    return range(wanted.start, min(wanted.stop, reading.count + 1))


# -- subagents and pictures


def _known(reading: OpenSession) -> set[str]:
    return {agent.id for agent in reading.subagents()}


def _subagent(reading: OpenSession, known: set[str], agent_id: str) -> Subagent | None:
    """A subagent with its rounds; None where they are gone."""
    try:
        return reading.subagent(agent_id) if agent_id in known else None
    except NotFound:
        return None


def _subagents(reading: OpenSession, rounds: list[Round], *, everything: bool) -> list[Subagent]:
    """Subagents that the shown rounds called; all of them where all rounds are shown."""
    called = {call.id for round in rounds for call in round.calls}
    facts = [a for a in reading.subagents() if everything or a.call_id in called]
    found = (_subagent(reading, {fact.id}, fact.id) for fact in facts)
    return [agent for agent in found if agent is not None]


def _with_pictures(value: Any, reading: OpenSession) -> Any:
    """JSON of a round with its pictures inside: `file` names nothing outside the archive."""
    if isinstance(value, list):
        return [_with_pictures(item, reading) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("type") in ("image", "document") and isinstance(value.get("file"), str):
        content = reading.picture(value["file"])
        if content is not None:
            return {**value, "data": b64encode(content).decode()}
    return {key: _with_pictures(item, reading) for key, item in value.items()}


def _print_header(summary: SessionSummary, rounds: int) -> None:
    info = summary.info
    started = instant(info.started)
    title = terminal.one_line(summary.name)
    title = f"★ {title}" if summary.starred else title
    terminal.say(click.style(terminal.fit(title, terminal.columns()), bold=True))
    facts = [
        info.project,
        info.branch,
        info.model,
        f"{started:%Y-%m-%d}" if started else None,
        terminal.plural(rounds, "round"),
        terminal.plural(info.subagents, "subagent") if info.subagents else None,
    ]
    line = " · ".join(terminal.one_line(fact) for fact in facts if fact)
    terminal.say(terminal.quiet(terminal.fit(line, terminal.columns())))
    terminal.say(terminal.quiet(terminal.one_line(info.id)))


def _print_said(record: SessionRecord) -> None:
    """What a person said of the session and its engagements."""
    if record.corrected or record.note or record.hidden:
        told = (
            ("hidden", "from lists and statistics" if record.hidden else ""),
            ("summary", record.session_summary if "summary" in record.corrected else ""),
            ("note", record.note),
        )
        for what, text in told:
            if text:
                terminal.say(f"{terminal.quiet(f'{what}:')} {terminal.one_line(text)}")
    for engagement in record.engagements:
        if engagement.starred or engagement.note:
            star = "★ " if engagement.starred else ""
            topic = f"{star}{rounds_text(engagement.ranges)}: {engagement.topic}"
            note = f" ({engagement.note})" if engagement.note else ""
            terminal.say(terminal.one_line(topic + note))
