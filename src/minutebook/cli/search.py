"""``minutebook search``."""

from __future__ import annotations

import time
from typing import Any

import click
import msgspec
from click.core import ParameterSource

from minutebook.archive.finding import Answer, search
from minutebook.archive.passing import PLACES
from minutebook.cli import terminal
from minutebook.cli.file_hits import show_file
from minutebook.cli.filters import filter_options, filters_of
from minutebook.cli.hits import print_hits, print_total
from minutebook.cli.json_output import print_json
from minutebook.cli.new_index import telling_of_a_new_index
from minutebook.cli.options import archive_options, json_option, opened
from minutebook.cli.words import WordsCommand
from minutebook.errors import BadArgument
from minutebook.index.query import parse_query

_NOT_OF_FILES = {"command", "error", "has_tools", "side", "sort", "where", "mode", "as_stats"}


@click.command("search", cls=WordsCommand)
@click.argument("query", nargs=-1)
@archive_options
@filter_options
@click.option(
    "--in",
    "where",
    metavar="PLACES",
    default="all",
    show_default=True,
    help=f"Where to look, with commas: {', '.join(PLACES)}.",
)
@click.option(
    "--side",
    type=click.Choice(["asked", "answered", "both"]),
    default="both",
    show_default=True,
    help="What you asked, what was answered.",
)
@click.option(
    "--mode",
    type=click.Choice(["lexical", "semantic", "hybrid"]),
    default="hybrid",
    show_default=True,
    help="By words, by meaning, by both.",
)
@click.option(
    "--file",
    "path",
    metavar="PATH",
    help="Who read or changed a file, the newest first: the end of its path, or a glob.",
)
@click.option("--instructions", metavar="HASH", help="Only sessions that had this version.")
@click.option("--thread", metavar="ID", help="Only engagements of this piece of work.")
@click.option("--threads", is_flag=True, help="Pieces of work over several sessions, instead.")
@click.option("--chain", metavar="SESSION#ROUND", help="What came before and after in its thread.")
@click.option("--deps", metavar="ID", help="What a thread needs, and what needs it.")
@click.option("-n", "--limit", type=click.IntRange(1, 1000), default=10, show_default=True)
@click.option("--page", type=click.IntRange(1, 10_000), default=1, help="The hits after those.")
@click.option(
    "--sort",
    type=click.Choice(["relevance", "date"]),
    default="relevance",
    show_default=True,
    help="The best first, or the newest.",
)
@click.option("-v", "--verbose", is_flag=True, help="More about each hit.")
@click.option("--no-refresh", is_flag=True, help="Do not look for what has changed since.")
@click.option("-s", "--stats", "as_stats", is_flag=True, help="Counts instead of hits.")
@json_option
def command(
    query: tuple[str, ...],
    roots: tuple[str, ...],
    archive: str | None,
    where: str,
    side: Any,
    mode: Any,
    path: str | None,
    limit: int,
    page: int,
    sort: Any,
    verbose: bool,
    no_refresh: bool,
    as_stats: bool,
    as_json: bool,
    instructions: str | None,
    thread: str | None,
    threads: bool,
    chain: str | None,
    deps: str | None,
    **options: Any,
) -> None:
    """Find when you worked on something, what you asked and what was answered.

    Words, '"quoted phrases"', -excluded, prefix*, project:x agent:x method:x branch:x before:DATE
    after:DATE. Without a query: the engagements that pass the filters, newest first.
    """
    book = opened(archive, roots)
    filters = filters_of(options)
    if instructions is not None:
        from minutebook.archive.instructions import sessions_with

        filters = msgspec.structs.replace(filters, sessions=sessions_with(book, instructions))
    if thread is not None:
        from minutebook.archive.threads import keys_of

        filters = msgspec.structs.replace(filters, among=keys_of(book, thread))
    if threads or chain is not None or deps is not None:
        if query or (threads + (chain is not None) + (deps is not None)) > 1:
            raise BadArgument("Say words, --threads, --chain or --deps: one of them.")
        from minutebook.cli.threads import print_chain, print_deps, print_threads

        if chain is not None:
            print_chain(book, chain, as_json=as_json)
        elif deps is not None:
            print_deps(book, deps, as_json=as_json)
        else:
            print_threads(book, filters, page=page, limit=limit, as_json=as_json)
        return
    if path is not None:
        if query:
            raise BadArgument("Say words or --file, not both: --file lists who touched the file.")
        _only_of_files(click.get_current_context())
        with telling_of_a_new_index(book):
            show_file(
                book, path, filters, page=page, limit=limit, fresh=not no_refresh, json=as_json
            )
        return
    if as_stats:
        from minutebook.cli.stats import show_stats

        show_stats(book, parse_query(" ".join(query), filters), as_json)
        return
    parsed = parse_query(" ".join(query), filters)
    if query and parsed.says_nothing(filters):
        raise BadArgument("There is no word in that query.")
    meaning: Any = {}
    if mode != "lexical" and not parsed.is_empty:
        from minutebook.archive.semantic import Meaning

        chosen = Meaning(book.layout)
        if mode == "semantic":
            chosen.embedder()  # what cannot be done is an error: it was asked for
        elif chosen.trouble:
            terminal.note(chosen.trouble)
            mode = "lexical"
        meaning = chosen.ways
    with telling_of_a_new_index(book):
        answer = search(
            book,
            parsed,
            where=where,
            side=side,
            mode=mode,
            limit=limit,
            offset=(page - 1) * limit,
            sort=sort,
            fresh=not no_refresh,
            **meaning,
        )
    if as_json:
        from minutebook.archive.threads import with_threads

        print_json(
            mode=answer.mode,
            fresh_at=answer.fresh_at,
            refreshed=answer.refreshed,
            waiting=answer.waiting,
            busy=answer.busy,
            total=answer.total,
            capped=answer.capped,
            ghosts_hidden=answer.ghosts_hidden,
            copies_hidden=answer.copies_hidden,
            hidden=answer.hidden,
            hits=with_threads(book, answer.hits),
        )
        return
    by_budget = parsed.filters.budget is not None
    print_hits(book, answer.hits, verbose=verbose, windows=by_budget)
    _print_footer(answer, page, limit)


def _only_of_files(ctx: click.Context) -> None:
    """Refuse options that say nothing about who touched a file (SRCH-17)."""
    given = [
        next(name for name in option.opts if name.startswith("--"))
        for option in ctx.command.params
        if option.name in _NOT_OF_FILES
        and ctx.get_parameter_source(option.name) is not ParameterSource.DEFAULT
    ]
    if given:
        raise BadArgument(f"--file does not go with {', '.join(given)}: leave one of them out.")


def _print_footer(answer: Answer, page: int, limit: int) -> None:
    """At most two lines, so that ten hits and they fit a small terminal (SRCH-16)."""
    filters = answer.query.filters
    if not answer.total:
        if not answer.query.is_empty:
            nothing = f"Nothing found for '{terminal.one_line(answer.query.text)}'."
            terminal.note(f"{nothing} Try other words, or fewer filters.")
        elif filters.of_rounds:
            terminal.note("No round passes these filters. Try other words, or fewer filters.")
        else:
            terminal.note("No engagement passes these filters. Try fewer, or `minutebook ingest`.")
    left_out = []
    if answer.ghosts_hidden:
        left_out.append(f"{terminal.plural(answer.ghosts_hidden, 'ghost')} (--ghosts)")
    if answer.copies_hidden:
        count = terminal.plural(answer.copies_hidden, "copy", "copies")
        left_out.append(f"{count} (--copies)")
    if answer.hidden:
        left_out.append(f"{answer.hidden:,} that you hid (--hidden)")
    print_total(
        answer.total, len(answer.hits), page, limit, capped=answer.capped, left_out=left_out
    )
    if news := _news(answer):
        terminal.note(f"Index: {', '.join(news)}.")


def _news(answer: Answer) -> list[str]:
    """What a reader should know about the index; mostly nothing."""
    news = []
    if answer.busy:
        news.append("could not be brought up to date now, this answer is from before")
    elif answer.refreshed is None and answer.fresh_at is not None:
        minutes = int((time.time() - answer.fresh_at) / 60)
        news += [f"{terminal.plural(minutes, 'minute')} old (--no-refresh)"] if minutes else []
    elif answer.refreshed is not None:
        if answer.refreshed.anew:
            news.append(f"made again ({answer.refreshed.anew})")
        if changed := answer.refreshed.sessions:
            news.append(f"{terminal.plural(changed, 'session')} updated")
    if answer.waiting:
        count = terminal.plural(answer.waiting, "entry", "entries")
        news.append(f"{count} not embedded yet (found by words only)")
    return news
