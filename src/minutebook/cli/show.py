"""``minutebook show``."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import click
import msgspec

from minutebook.archive import Archive
from minutebook.archive.folding import stands_for
from minutebook.archive.names import block_at, parse_block
from minutebook.archive.remote import person_of
from minutebook.archive.session import OpenSession
from minutebook.archive.sessions import SessionSummary
from minutebook.archive.sharing import chosen_blocks
from minutebook.cli import completion, terminal
from minutebook.cli.json_output import print_json
from minutebook.cli.options import (
    archive_options,
    json_option,
    opened,
    secrets_option,
    team_option,
)
from minutebook.cli.show_head import print_head
from minutebook.cli.transcript import PARTS, TranscriptPrinter
from minutebook.derive.wording import lost_with_transcript
from minutebook.errors import BadArgument, NotFound
from minutebook.model import Round, Subagent
from minutebook.verbs.share_text import with_pictures


@click.command("show")
@click.argument("session", shell_complete=completion.sessions)
@archive_options
@team_option
@click.option(
    "--only",
    metavar="PARTS",
    help=f"What to show: {', '.join(PARTS)}; separate with commas. [default: user,assistant,calls]",
)
@click.option("--full", is_flag=True, help="Show everything, shorten nothing.")
@secrets_option
@json_option
def command(
    session: str,
    roots: tuple[str, ...],
    archive: str | None,
    team: bool,
    only: str | None,
    full: bool,
    secrets: bool,
    as_json: bool,
) -> None:
    """Read a session, or some of its rounds.

    SESSION is the start of its id, its title, its agent's name, its slug or its file. Add #ROUND
    or #FROM-TO for some rounds, #ROUND.BLOCK for one block in full. Secrets are masked, also with
    --json, unless you add --secrets.

    \b
    Examples:
      minutebook show Reed
      minutebook show Reed#2-3 --full
      minutebook show Reed#1 --only user,results
    """
    block = parse_block(session)
    alone = block is not None
    parts = _parts(only, full or alone)
    book = opened(archive, roots, secrets=secrets, team=team)
    session_id, wanted = book.address(session)
    summary = _summary(book, session_id)
    reading = book.open(session_id)
    numbers = _numbers(reading, wanted)
    if as_json:
        rounds = list(reading.rounds(numbers))
        if block is not None:
            rounds = [_alone(rounds[0], block)]
        agents = _subagents(reading, rounds, everything=wanted is None)
        if only is not None:
            rounds, agents = _only(rounds, parts), _agents_only(agents, parts)
        print_json(
            session=summary.info,
            identity=summary.identity,
            starred=summary.starred,
            hidden=summary.hidden,
            note=summary.note,
            summary=summary.summary,
            copy_of=stands_for(book, session_id),
            engagements=book.record(session_id).engagements,
            lost=summary.lost,
            path=Path(summary.path) if summary.path else reading.document,
            rounds=[with_pictures(msgspec.to_builtins(r), reading.picture) for r in rounds],
            subagents=[
                with_pictures(msgspec.to_builtins(agent), reading.picture) for agent in agents
            ],
            **_of_team(book, session_id, reading),
        )
        return
    only_minutes = bool(reading.withheld) and not reading.count
    print_head(book, session_id, reading.count, numbers, only_minutes=only_minutes)
    if reading.withheld:
        terminal.note(reading.withheld)
    printer = TranscriptPrinter(
        parts, shorten=not (full or alone), subagent=partial(_subagent, reading, _known(reading))
    )
    for round in reading.rounds(numbers):
        if block is not None:
            _print_block(round, block, printer)
        else:
            printer.print_round(round)
    printer.print_hidden()
    if summary.lost:
        terminal.note(lost_with_transcript(summary.lost))


def _print_block(round: Round, number: int, printer: TranscriptPrinter) -> None:
    """One block in full, and how to see what is around it."""
    at = block_at(round, number)
    printer.print_block(round, at)
    count = len(round.blocks)
    terminal.note(f"Block {number} of {count}; without .{number}, the whole round.")


def _alone(round: Round, number: int) -> Round:
    """A round with one of its blocks, for JSON; the message it is in stays around it."""
    wanted = round.blocks[block_at(round, number)]
    kept = (
        msgspec.structs.replace(message, blocks=(wanted,))
        for message in round.messages
        if any(block is wanted for block in message.blocks)
    )
    return msgspec.structs.replace(round, messages=tuple(kept))


def _only(rounds: Iterable[Round], parts: frozenset[str]) -> list[Round]:
    return [chosen_blocks(round, parts) for round in rounds]


def _agents_only(agents: Iterable[Subagent], parts: frozenset[str]) -> list[Subagent]:
    """Subagents belong to the calls that started them."""
    if "calls" not in parts:
        return []
    return [
        msgspec.structs.replace(agent, rounds=tuple(_only(agent.rounds, parts))) for agent in agents
    ]


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
    if not reading.count and reading.withheld:
        raise NotFound(f"Session {reading.short}: {reading.withheld}")
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


def _of_team(book: Archive, session_id: str, reading: OpenSession) -> dict[str, Any]:
    """Of a team's session: whose it is, and what of it is not shared."""
    if book.remote is None:
        return {}
    return {"person": person_of(book, session_id), "withheld": reading.withheld}
