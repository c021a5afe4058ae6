"""``minutebook search``."""

from __future__ import annotations

import shlex
import time
from typing import TYPE_CHECKING, Any

import click
import msgspec
from click.core import ParameterSource

from minutebook.archive.finding import Answer, search
from minutebook.archive.passing import PLACES
from minutebook.cli import terminal
from minutebook.cli.file_hits import show_file
from minutebook.cli.filters import Filtering, filter_options, filters_of
from minutebook.cli.hits import print_hits, print_total
from minutebook.cli.json_output import print_json
from minutebook.cli.new_index import telling_of_a_new_index
from minutebook.cli.options import archive_options, json_option, opened, team_option
from minutebook.cli.words import WordsCommand
from minutebook.errors import BadArgument
from minutebook.index.query import Filters, Query, parse_query

if TYPE_CHECKING:
    from minutebook.archive import Archive
    from minutebook.archive.semantic import Ways
    from minutebook.index.engine import Mode

_NOT_OF_FILES = {"command", "error", "has_tools", "side", "sort", "where", "mode", "as_stats"}


class _Search(WordsCommand, Filtering):
    """Words and filters."""


@click.command("search", cls=_Search)
@click.argument("query", nargs=-1)
@archive_options
@team_option
@filter_options
@click.option(
    "--in",
    "where",
    metavar="PLACES",
    default="all",
    help=f"Where to look (separate with commas): {', '.join(PLACES)}.",
)
@click.option(
    "--side",
    type=click.Choice(["asked", "answered", "both"]),
    default="both",
    metavar="SIDE",
    help="asked (by you), answered or both (default).",
)
@click.option(
    "--mode",
    type=click.Choice(["lexical", "semantic", "hybrid"]),
    default="hybrid",
    metavar="MODE",
    help="hybrid (default), lexical (words) or semantic (meaning).",
)
@click.option(
    "--file",
    "path",
    metavar="PATH",
    help="Rounds that read or changed a file (path end or glob).",
)
@click.option(
    "--instructions", metavar="HASH", help="Only sessions with this version of the instructions."
)
@click.option("--thread", metavar="ID", help="Only engagements of this thread.")
@click.option("--threads", is_flag=True, help="List threads: work over several sessions.")
@click.option("--chain", metavar="ADDRESS", help="What came before and after it in its thread.")
@click.option("--deps", metavar="ID", help="What a thread depends on, and what depends on it.")
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(1, 1000),
    default=10,
    metavar="N",
    show_default=True,
    help="How many hits.",
)
@click.option(
    "--page", type=click.IntRange(1, 10_000), default=1, metavar="N", help="Which page of hits."
)
@click.option(
    "--sort",
    type=click.Choice(["relevance", "date"]),
    default="relevance",
    metavar="ORDER",
    help="relevance (default) or date (newest first).",
)
@click.option("-v", "--verbose", is_flag=True, help="Show more about each hit.")
@click.option(
    "--no-refresh", is_flag=True, help="Search the index as it is; do not look for changes."
)
@click.option("-s", "--stats", "as_stats", is_flag=True, help="Show counts instead of hits.")
@json_option
def command(
    query: tuple[str, ...],
    roots: tuple[str, ...],
    archive: str | None,
    team: bool,
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

    A query has words, "quoted phrases", -excluded words, prefix*, and project:X agent:X method:X
    branch:X before:DATE after:DATE. Without a query: the engagements that pass the filters.

    \b
    Examples:
      minutebook search passkey login
      minutebook search '"second tab"' -staging --side answered
      minutebook search --file auth/views.py
    """
    book = opened(archive, roots, team=team)
    filters = _narrowed(book, filters_of(options), instructions, thread)
    if threads or chain is not None or deps is not None:
        if query or path is not None or threads + (chain is not None) + (deps is not None) > 1:
            raise BadArgument("Choose one of words, --file, --threads, --chain and --deps.")
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
            raise BadArgument("Choose words or --file, not both.")
        _only_of_files(click.get_current_context())
        with telling_of_a_new_index(book):
            show_file(
                book, path, filters, page=page, limit=limit, fresh=not no_refresh, json=as_json
            )
        return
    parsed = parse_query(" ".join(query), filters)
    if as_stats:
        from minutebook.cli.stats import show_stats

        show_stats(book, parsed, as_json)
        return
    if query and parsed.says_nothing(filters):
        raise BadArgument("The query has no word in it.")
    mode, meaning = _meaning(book, parsed, mode)
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
        _print_json(book, answer)
        return
    by_budget = parsed.filters.budget is not None
    print_hits(book, answer.hits, verbose=verbose, windows=by_budget)
    _print_footer(answer, page, limit)
    if answer.hits and len(query) == 1 and (phrase := _as_phrase(query[0])):
        terminal.note(f"For these words in this order: minutebook search {phrase}")


def _narrowed(
    book: Archive, filters: Filters, instructions: str | None, thread: str | None
) -> Filters:
    """Filters with the sessions of a version of instructions, and the work of a thread."""
    if instructions is not None:
        from minutebook.archive.instructions import sessions_with

        filters = msgspec.structs.replace(filters, sessions=sessions_with(book, instructions))
    if thread is not None:
        from minutebook.archive.threads import keys_of

        filters = msgspec.structs.replace(filters, among=keys_of(book, thread))
    return filters


def _meaning(book: Archive, query: Query, mode: Mode) -> tuple[Mode, Ways]:
    """How meanings are compared; by words alone where they cannot be and nobody insists."""
    if mode == "lexical" or query.is_empty:
        return mode, {}
    from minutebook.archive.semantic import Meaning

    chosen = Meaning(book.layout)
    if mode == "semantic":
        chosen.embedder()  # what cannot be done is an error: it was asked for
    elif chosen.trouble:
        terminal.note(chosen.trouble)
        mode = "lexical"
    return mode, chosen.ways


def _print_json(book: Archive, answer: Answer) -> None:
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


def _as_phrase(typed: str) -> str | None:
    """Several words that one pair of quotes held together: the shell took it, and we need one."""
    if len(typed.split()) < 2 or '"' in typed or ":" in typed:
        return None
    return shlex.quote(f'"{terminal.one_line(typed)}"')


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
