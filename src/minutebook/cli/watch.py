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
from minutebook.cli.remedies import worded
from minutebook.errors import BadArgument, MinutebookError
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
    metavar="NAME",
    help=f"One of {', '.join(EXTRACTORS[1:])}. A model reads only sessions that have ended.",
)
@click.option("--model", metavar="NAME", help="The model that extractor uses.")
@click.option("--base-url", metavar="URL", help="Endpoint for openai or anthropic.")
@click.option(
    "--daily-cap",
    type=click.FloatRange(0),
    metavar="USD",
    help="Spend at most this per day; required with a paid model.",
)
@click.option("--push", is_flag=True, help="Also push what you chose to your team.")
@json_option
def command(
    roots: tuple[str, ...],
    archive: str | None,
    extractor: str,
    model: str | None,
    base_url: str | None,
    daily_cap: float | None,
    push: bool,
    as_json: bool,
) -> None:
    """Keep the archive up to date while sessions grow; stop with Ctrl-C.

    Offline unless you name an extractor.

    \b
    Examples:
      minutebook watch
      minutebook watch --extractor anthropic --daily-cap 1.00
    """
    paid = extractor not in ("openai", "offline")
    if paid and daily_cap is None:
        raise BadArgument(
            "A model in the background needs a limit, such as --daily-cap 1.00 (dollars)."
        )
    if daily_cap is not None and not paid:
        raise BadArgument(f"{extractor} has no prices: leave out --daily-cap.")
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
    if push:
        _pushed(book)  # what is missing is said now, not at night
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    for root in book.places:
        if not root.exists():
            terminal.note(f"There is no {root}: it is not watched.")

    def ready() -> None:
        if not as_json:
            terminal.note("Watching; press Ctrl-C to stop.")

    for taken in watcher.run(stop, ready):
        if as_json:
            print_json(on_one_line=True, taken=taken)
        else:
            _print(taken)
        if push:
            try:
                _pushed(book)
            except MinutebookError as error:  # the next burst sends it
                terminal.note(terminal.one_line(worded(error)))


def _pushed(book: Archive) -> None:
    """Bring the team one joined last up to date with what one chose."""
    from minutebook.team.choice import chosen_team, team_of
    from minutebook.team.pushing import push

    address = chosen_team(book.layout, None)
    team = team_of(book.layout, address)
    if team is None or team.choice is None:
        raise BadArgument("Choose what to share first: `minutebook team push` shows what there is.")
    push(book, address, team, team.choice)


def _print(taken: Taken) -> None:
    at = time.strftime("%H:%M:%S", time.localtime(taken.at))
    told = [
        terminal.plural(taken.sessions, "session"),
        terminal.plural(taken.engagements, "new engagement"),
        f"${taken.cost_usd:.2f}" if taken.cost_usd else "",
        terminal.one_line(taken.problem or ""),
    ]
    terminal.say(f"{at}  {', '.join(part for part in told if part)}")
