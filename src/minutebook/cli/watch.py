"""``minutebook watch``."""

from __future__ import annotations

import signal
import threading
import time

import click

from minutebook.archive import Archive, open_archive
from minutebook.cli import terminal
from minutebook.cli.json_output import print_json
from minutebook.cli.options import archive_options, json_option
from minutebook.errors import BadArgument
from minutebook.extract.choose import EXTRACTORS, choose_extractor
from minutebook.extract.extractor import Extractor
from minutebook.verbs.watch import Taken, Watcher


@click.command("watch")
@archive_options
@click.option(
    "--extractor",
    type=click.Choice(EXTRACTORS[1:]),
    default="offline",
    show_default=True,
    help="A model is asked only about sessions that are over, and needs --daily-cap.",
)
@click.option("--model", metavar="NAME", help="The model of that extractor.")
@click.option("--base-url", metavar="URL", help="Endpoint of the openai (or anthropic) extractor.")
@click.option(
    "--daily-cap", type=click.FloatRange(0), metavar="USD", help="Never spend more per day."
)
@json_option
def command(
    roots: tuple[str, ...],
    archive: str | None,
    extractor: str,
    model: str | None,
    base_url: str | None,
    daily_cap: float | None,
    as_json: bool,
) -> None:
    """Keep the minutes current by itself, as sessions grow; until Ctrl-C."""
    paid = extractor not in ("openai", "offline")
    if paid and daily_cap is None:
        raise BadArgument("A model in the background needs a limit: --daily-cap 1.00 (dollars).")
    if daily_cap is not None and not paid:
        raise BadArgument(f"{extractor} has no prices: leave --daily-cap out.")
    named = open_archive(archive, roots, create=True)
    # Lenient: a folder that is watched may come and go.
    book = Archive(named.root, named.places, lenient=True)

    def ask(left: float | None) -> Extractor:
        return choose_extractor(extractor, model=model, base_url=base_url, max_cost=left)

    if extractor != "offline":
        ask(daily_cap).close()  # a missing key is said now, not at night
    watcher = Watcher(
        book,
        lambda: choose_extractor("offline"),
        ask if extractor != "offline" else None,
        daily_cap,
    )
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    for root in book.places:
        if not root.exists():
            terminal.note(f"There is no {root}: it is not watched.")

    def ready() -> None:
        if not as_json:
            terminal.note("Watching; Ctrl-C ends it.")

    for taken in watcher.run(stop, ready):
        if as_json:
            print_json(on_one_line=True, taken=taken)
        else:
            _print(taken)


def _print(taken: Taken) -> None:
    at = time.strftime("%H:%M:%S", time.localtime(taken.at))
    told = [
        terminal.plural(taken.sessions, "session"),
        terminal.plural(taken.engagements, "new engagement"),
        f"${taken.cost_usd:.2f}" if taken.cost_usd else "",
        terminal.one_line(taken.problem or ""),
    ]
    terminal.say(f"{at}  {', '.join(part for part in told if part)}")
