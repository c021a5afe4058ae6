"""``minutebook show``."""

from __future__ import annotations

import click
import msgspec

from minutebook.cli import terminal
from minutebook.cli.json_output import print_json
from minutebook.cli.options import house_options, json_option
from minutebook.cli.transcript import PARTS, TranscriptPrinter
from minutebook.compose import open_house
from minutebook.config import settings
from minutebook.derive.secrets import masked
from minutebook.derive.times import instant
from minutebook.errors import BadArgument
from minutebook.model import Round
from minutebook.verbs.show import Shown, show


@click.command("show")
@click.argument("session")
@house_options
@click.option(
    "--only",
    metavar="PARTS",
    help=f"Which parts to show, with commas: {', '.join(PARTS)}. [default: user,assistant,calls]",
)
@click.option("--full", is_flag=True, help="Everything, and nothing shortened.")
@click.option("--secrets", is_flag=True, help="Leave keys and tokens as they are.")
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

    SESSION is a UUID prefix, a title, a name, a slug or a file, with #ROUND or #FROM-TO
    behind it where not all of it is wanted: minutebook show 3f2a#12-14
    """
    parts = _parts(only, full)
    house = open_house(settings(roots, archive))
    shown = show(house.library, house.roster, house.layout, session)
    if as_json:
        print_json(
            session=shown.info,
            identity=shown.identity,
            path=shown.path,
            rounds=shown.rounds,
            subagents=shown.subagents,
        )
        return
    _print_header(shown)
    printer = TranscriptPrinter(parts, shorten=not full, subagents=shown.subagents)
    for round in shown.rounds:
        printer.print_round(round if secrets else _masked(round))
    printer.print_hidden()


def _masked(round: Round) -> Round:
    """A round without keys and tokens in any of its texts."""
    hidden: Round = msgspec.convert(masked(msgspec.to_builtins(round)), Round)
    return hidden


def _parts(only: str | None, full: bool) -> frozenset[str]:
    if only is None:
        return frozenset(PARTS if full else ("user", "assistant", "calls"))
    chosen = {part.strip().lower() for part in only.split(",") if part.strip()}
    if odd := chosen - set(PARTS):
        raise BadArgument(f"--only knows {', '.join(PARTS)}; not {', '.join(sorted(odd))}.")
    if not chosen:
        raise BadArgument(f"--only needs at least one of {', '.join(PARTS)}.")
    return frozenset(chosen)


def _print_header(shown: Shown) -> None:
    info = shown.info
    started = instant(info.started)
    title = terminal.one_line(shown.identity.name or info.title or "(nothing said)")
    terminal.say(click.style(terminal.fit(title, terminal.columns()), bold=True))
    facts = [
        info.project,
        info.branch,
        info.model,
        f"{started:%Y-%m-%d}" if started else None,
        terminal.plural(info.rounds, "round"),
        terminal.plural(info.subagents, "subagent") if info.subagents else None,
    ]
    line = " · ".join(terminal.one_line(fact) for fact in facts if fact)
    terminal.say(terminal.quiet(terminal.fit(line, terminal.columns())))
    terminal.say(terminal.quiet(terminal.one_line(info.id)))
