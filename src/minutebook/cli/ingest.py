"""``minutebook ingest``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import click

from minutebook.archive import Archive
from minutebook.archive.masking import hidden
from minutebook.cli import terminal
from minutebook.cli.bars import Bars
from minutebook.cli.ingest_choice import bytes_to_read, chosen_sessions
from minutebook.cli.ingest_report import print_report
from minutebook.cli.inscribe import print_waiting
from minutebook.cli.json_output import print_json
from minutebook.cli.options import archive_options, json_option, opened
from minutebook.errors import BadArgument
from minutebook.extract.choose import EXTRACTORS, auto_is_offline, choose_extractor, has_key
from minutebook.extract.extractor import Extractor
from minutebook.extras import install_command
from minutebook.verbs.ingest import Forecast, Ingestion, IngestReport

_ASK_ABOVE = 1.0  # dollars
Confirm = Callable[[Forecast], bool]


@click.command("ingest")
@archive_options
@click.option("--since", metavar="DATE", help="Only sessions modified since DATE.")
@click.option("--session", metavar="SESSION", help="Only this session.")
@click.option(
    "--skip-existing",
    is_flag=True,
    help="Skip unchanged sessions, whichever extractor read them.",
)
@click.option("--again", is_flag=True, help="Extract unchanged sessions again, too.")
@click.option(
    "--backlog",
    is_flag=True,
    help="Send sessions that an upgrade marked for relabelling.",
)
@click.option("--dry-run", is_flag=True, help="Show sizes, ghosts, calls and cost; write nothing.")
@click.option(
    "--extractor",
    type=click.Choice(EXTRACTORS),
    default="auto",
    metavar="NAME",
    help=f"One of {', '.join(EXTRACTORS)}. auto (the default) uses a key, or is offline.",
)
@click.option("--model", metavar="NAME", help="The model to use. [default: the current Sonnet]")
@click.option("--base-url", metavar="URL", help="Endpoint for openai or anthropic.")
@click.option(
    "--concurrency", type=click.IntRange(1, 64), default=4, metavar="N", show_default=True
)
@click.option(
    "--max-cost",
    type=click.FloatRange(0),
    metavar="USD",
    help="Stop before spending more than this.",
)
@click.option(
    "--batch", is_flag=True, help="Use Anthropic's batch API: half the price, within a day."
)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation, whatever the cost.")
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Let the workers of this Dask scheduler read sessions: tcp://HOST:PORT.",
)
@click.option(
    "--explain", is_flag=True, help="Show what decided the offline labels; write nothing."
)
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
    **options: Any,
) -> None:
    """Find out what was worked on, decided and achieved, session by session.

    Each session is inscribed and cut into engagements, which go to engagements.jsonl and
    engagements-index.md in the archive. Unchanged sessions are not read again and never paid for
    twice; a session whose transcript is gone is read from the archive. Nothing leaves this
    machine unless you use a model; you first see what would be sent, to whom, and what it costs.

    \b
    Examples:
      minutebook ingest --dry-run
      minutebook ingest --session Reed --extractor offline
      minutebook ingest --since 7d --max-cost 2
    """
    _refuse_odd_options(extractor, options)
    if options["backlog"] and not (yes or dry_run or explain or sys.stdin.isatty()):
        raise BadArgument("--backlog asks for confirmation: add --yes if there is no terminal.")
    book = opened(archive, roots, create=True)
    sessions = chosen_sessions(book, session, since, backlog=options["backlog"])
    if explain:
        from minutebook.cli.explain import print_explanations

        print_explanations(book, sessions, extractor, as_json)
        return
    engine = choose_extractor(
        extractor, model=model, base_url=base_url, max_cost=max_cost, dry=dry_run
    )
    if options["backlog"] and engine.name == "offline":
        raise BadArgument(
            "--backlog asks a model, and there is no key: set ANTHROPIC_API_KEY or choose an "
            "--extractor."
        )
    typed = click.get_current_context().params
    if dry_run:
        _dry_run(book, sessions, engine, typed)
        return
    if extractor == "auto" and engine.name == "offline" and (options["batch"] or max_cost or model):
        terminal.note("No key found, so no model is used: this runs offline, free of charge.")
    report = run_ingest(book, engine, sessions, _asking(yes, max_cost), **options)
    if as_json:
        print_json(archive=book.root, report=report)
    else:
        print_report(book, report)
        if extractor == "auto" and engine.name == "offline" and report.ingested:
            _print_better(book, sessions, typed)
        print_waiting(report.inscribed)
    if report.interrupted:
        raise click.exceptions.Exit(130)
    if report.failures or report.stopped or report.inscribed.count("failed"):
        raise click.exceptions.Exit(2)


def _refuse_odd_options(extractor: str, options: dict[str, Any]) -> None:
    """Options that contradict each other, before anything is read."""
    if options["again"] and options["skip_existing"]:
        raise BadArgument("--again extracts everything, --skip-existing skips: choose one.")
    if options["batch"] and extractor not in ("auto", "anthropic"):
        raise BadArgument("Only the anthropic extractor has batches: leave out --batch.")
    if options["backlog"] and extractor == "offline":
        raise BadArgument("--backlog uses a model, offline does not: choose one.")


def _print_better(archive: Archive, sessions: Sequence[str] | None, typed: dict[str, Any]) -> None:
    """What keeps a model from being asked, or could be asked instead (UND-09)."""
    if has_key():
        terminal.note(
            "There is a key, but using it needs minutebook[anthropic], which is not "
            f"installed, so `ingest` works offline: {install_command('anthropic')}"
        )
        return
    from minutebook.cli.ingest_forecast import offer_of, print_offer

    print_offer(offer_of(archive, sessions, typed))


def run_ingest(
    archive: Archive,
    extractor: Extractor,
    sessions: Sequence[str] | None = None,
    confirm: Confirm = lambda _: True,
    *,
    again: bool = False,
    skip_existing: bool = False,
    ended: bool = False,
    backlog: bool = False,
    batch: bool = False,
    concurrency: int = 4,
    scheduler: str | None = None,
) -> IngestReport:
    """Ingest stage by stage, with progress bars where a person is watching."""
    ingestion = Ingestion(
        archive,
        extractor,
        sessions=sessions,
        again=again,
        skip_existing=skip_existing,
        ended=ended,
        backlog=backlog,
        scheduler=scheduler,
    )
    with ingestion as run, Bars() as bars:
        bars.start_reading(bytes_to_read(archive, sessions, again=again))
        for item in run.read():
            bars.read(item.size)
        bars.end()
        if run.pending and confirm(run.forecast(batch=batch)):
            bars.start_asking(len(run.pending))
            for asked in run.ask(batch=batch, concurrency=concurrency):
                bars.asked(asked)
            bars.end()
        return run.finish(batch=batch)


def _asking(yes: bool, limit: float | None) -> Confirm:
    """Show what will be sent; ask above a dollar if a person is there, for a backlog always."""

    def confirm(forecast: Forecast) -> bool:
        from minutebook.cli.ingest_forecast import print_forecast

        print_forecast(forecast, limit)
        dear = forecast.cost_usd is not None and forecast.cost_usd > _ASK_ABOVE
        if yes or not sys.stdin.isatty() or not (dear or forecast.backlog):
            return True
        return click.confirm("Go on?", err=True)

    return confirm


def _dry_run(
    archive: Archive, sessions: Sequence[str] | None, extractor: Extractor, typed: dict[str, Any]
) -> None:
    """What a run would do; where ``auto`` has no key, also what a model would cost."""
    from minutebook.cli.ingest_forecast import offer_of, print_offer, print_survey
    from minutebook.verbs.survey import counted, forecast_of, survey

    chosen = {name: typed[name] for name in ("again", "skip_existing", "backlog")}
    found = survey(archive, extractor, sessions, **chosen)
    found = [hidden(session, archive.hide) for session in found]
    forecast = forecast_of(found, extractor, batch=typed["batch"], backlog=typed["backlog"])
    offline = typed["extractor"] == "auto" and auto_is_offline()
    keyless = offline and not has_key()
    offer = offer_of(archive, sessions, typed, at_any_length=True) if keyless else None
    if typed["as_json"]:
        print_json(
            extractor="offline" if offline else extractor.name,
            model=None if offline else extractor.model,
            counts=counted(found),
            forecast=forecast,
            offer=offer,
            sessions=found,
        )
        return
    names = {s.session_id: terminal.one_line(archive.short(s.session_id)) for s in found}
    if keyless:
        terminal.say("No key found, so `ingest` would run offline. With a key:")
    print_survey(found, forecast, names)
    if keyless:
        print_offer(offer)
    elif offline:
        _print_better(archive, sessions, typed)
    terminal.say("Dry run: nothing was sent or written.")
