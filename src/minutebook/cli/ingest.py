"""``minutebook ingest``."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import click

from minutebook.cli import terminal
from minutebook.cli.bars import Bars
from minutebook.cli.ingest_report import print_forecast, print_report, print_survey
from minutebook.cli.json_output import print_json
from minutebook.cli.options import house_options, json_option
from minutebook.compose import EXTRACTORS, House, choose_extractor, open_house
from minutebook.config import settings
from minutebook.derive.times import since as parse_since
from minutebook.errors import BadArgument
from minutebook.extract.extractor import Extractor
from minutebook.model.session import GHOST_THRESHOLD
from minutebook.sources.base import Transcript
from minutebook.verbs.find import find_session
from minutebook.verbs.ingest import Forecast, IngestReport, ingest

_ASK_ABOVE = 1.0  # dollars


@click.command("ingest")
@house_options
@click.option("--since", metavar="DATE|Nd", help="Only sessions modified since then.")
@click.option("--session", metavar="SESSION", help="Only this session.")
@click.option(
    "--skip-existing",
    is_flag=True,
    help="Leave every unchanged session alone that was ever ingested, by whatever extractor.",
)
@click.option("--again", is_flag=True, help="Extract anew, also what has not changed.")
@click.option("--dry-run", is_flag=True, help="Say sizes, ghosts, calls and cost; do nothing.")
@click.option(
    "--extractor",
    type=click.Choice(EXTRACTORS),
    default="auto",
    show_default=True,
    help="auto: Anthropic where there is a key, else offline.",
)
@click.option("--model", metavar="NAME", help="The model; a Sonnet unless you say otherwise.")
@click.option("--base-url", metavar="URL", help="Endpoint of the openai (or anthropic) extractor.")
@click.option("--concurrency", type=click.IntRange(1, 64), default=4, show_default=True)
@click.option("--max-cost", type=click.FloatRange(0), metavar="USD", help="Stop before this.")
@click.option("--batch", is_flag=True, help="By Anthropic's batches: half the price, in a day.")
@click.option("--yes", is_flag=True, help="Do not ask, whatever it costs.")
@click.option(
    "--ghost-threshold",
    type=click.IntRange(0),
    default=GHOST_THRESHOLD,
    show_default=True,
    help="Sessions with fewer messages of yours are ghosts: recorded, not extracted.",
)
@click.option(
    "--progress",
    type=click.Choice(("auto", "json")),
    default="auto",
    help="json: a line a step on standard error, for programs.",
)
@click.option("--explain", is_flag=True, help="Say why offline cuts and labels so; do nothing.")
@json_option
def command(
    roots: tuple[str, ...],
    archive: str | None,
    since: str | None,
    session: str | None,
    extractor: str,
    model: str | None,
    base_url: str | None,
    max_cost: float | None,
    as_json: bool,
    dry_run: bool,
    explain: bool,
    yes: bool,
    progress: str,
    **options: Any,
) -> None:
    """Find out what was worked on, decided and achieved, session by session.

    Reads each session once, inscribes it, and cuts it into engagements: engagements.jsonl
    and engagements-index.md in the archive. What is unchanged is not read again, and never
    paid for twice. Nothing leaves this machine unless a model is asked; what is sent, to
    whom and what it costs is said before.
    """
    house = open_house(settings(roots, archive))
    chosen = _chosen(house, session, since)
    if explain:
        from minutebook.cli.explain import print_explanations

        print_explanations(house, chosen, as_json)
        return
    if options["again"] and options["skip_existing"]:
        raise BadArgument("--again asks for everything, --skip-existing for little: choose one.")
    if options["batch"] and extractor in ("claude-cli", "openai", "offline"):
        raise BadArgument("Only the anthropic extractor has batches: leave --batch out.")
    if max_cost is not None and extractor == "openai":
        raise BadArgument("Nobody knows what that endpoint charges: leave --max-cost out.")
    engine = choose_extractor(
        extractor, model=model, base_url=base_url, max_cost=max_cost, dry=dry_run
    )
    if dry_run:
        _dry_run(house, chosen, engine, options, as_json)
        return
    if extractor == "auto" and engine.name == "offline" and (options["batch"] or max_cost or model):
        terminal.note("There is no key, so nobody is asked: this runs offline, for nothing.")
    run = run_ingest if progress == "auto" else _run_telling
    report = run(house, chosen, engine, confirm=_asking(yes), **_passed(options))
    if as_json:
        print_json(archive=house.layout.root, report=report)
    else:
        print_report(house, report)
    if report.interrupted:
        raise click.exceptions.Exit(130)
    if report.failures or report.stopped or report.inscribed.count("failed"):
        raise click.exceptions.Exit(2)


def _chosen(house: House, session: str | None, since: str | None) -> list[Transcript]:
    """The transcripts a person means: all, one, or what was modified since (ING-23 … ING-26)."""
    if session is not None:
        transcripts = [find_session(house.library, house.roster, session)]
    else:
        transcripts = house.library.transcripts
    if since is not None:
        moment = parse_since(since).timestamp()
        transcripts = [t for t in transcripts if t.mtime >= moment]
    return transcripts


def _passed(options: dict[str, Any]) -> dict[str, Any]:
    """Options under the names the verb has for them."""
    names = {"ghost_threshold": "ghosts_below"}
    return {names.get(name, name): value for name, value in options.items()}


def run_ingest(
    house: House,
    transcripts: list[Transcript],
    extractor: Extractor,
    confirm: Callable[[Forecast], bool] | None = None,
    **options: Any,
) -> IngestReport:
    """Ingest, with progress bars where somebody is watching."""
    args = (house.layout, house.roster, transcripts, extractor)
    if not sys.stderr.isatty():
        return ingest(*args, confirm=confirm, **options)
    with Bars(sum(t.size for t in transcripts)) as bars:

        def pause_and_confirm(forecast: Forecast) -> bool:
            bars.end_reading()
            agreed = confirm is None or confirm(forecast)
            if agreed:
                bars.start_asking(forecast.calls)
            return agreed

        return ingest(
            *args, confirm=pause_and_confirm, reading=bars.read, asking=bars.asked, **options
        )


def _run_telling(
    house: House, transcripts: list[Transcript], extractor: Extractor, **options: Any
) -> IngestReport:
    """Ingest, and tell a program how far it is; ten times a second at most."""
    total, done, told = sum(t.size for t in transcripts) or 1, 0, 0.0

    def reading(bytes: int) -> None:
        nonlocal done, told
        done += bytes
        if time.monotonic() - told >= 0.1:
            told = time.monotonic()
            line = {
                "phase": "reading",
                "share": round(done / total, 4),
                "sessions": len(transcripts),
            }
            click.echo(json.dumps(line), err=True)

    args = (house.layout, house.roster, transcripts, extractor)
    return ingest(*args, reading=reading, **options)


def _asking(yes: bool) -> Callable[[Forecast], bool]:
    """Say what will be sent; above a dollar, ask, if there is somebody to ask."""

    def confirm(forecast: Forecast) -> bool:
        print_forecast(forecast)
        dear = forecast.cost_usd is not None and forecast.cost_usd > _ASK_ABOVE
        if yes or not dear or not sys.stdin.isatty():
            return True
        return click.confirm("Go on?", err=True)

    return confirm


def _dry_run(
    house: House,
    transcripts: list[Transcript],
    extractor: Extractor,
    options: dict[str, Any],
    as_json: bool,
) -> None:
    from minutebook.verbs.survey import survey

    sessions = survey(
        house.layout,
        house.roster,
        transcripts,
        extractor,
        again=options["again"],
        skip_existing=options["skip_existing"],
        ghosts_below=options["ghost_threshold"],
    )
    if as_json:
        print_json(extractor=extractor.name, model=extractor.model, sessions=sessions)
    else:
        print_survey(extractor, sessions, batch=options["batch"])
