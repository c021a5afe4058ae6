"""``minutebook search``."""

from __future__ import annotations

import time
from typing import Any

import click
import msgspec

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
from minutebook.errors import BadArgument, MinutebookError
from minutebook.index.query import parse_query


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
@click.option("--thread", metavar="ID", help="Only engagements of this piece of work.")
@click.option("--threads", is_flag=True, help="Pieces of work over several sessions, instead.")
@click.option("--chain", metavar="SESSION#ROUND", help="What came before and after in its thread.")
@click.option("--deps", metavar="ID", help="What a thread needs, and what needs it.")
@click.option("--limit", type=click.IntRange(1, 1000), default=10, show_default=True)
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
    if query and parsed.is_empty and parsed.filters == filters:
        raise BadArgument("There is no word in that query.")
    meaning: dict[str, Any] = {}
    if mode != "lexical" and not parsed.is_empty:
        from minutebook.archive.semantic import Meaning

        engine = Meaning(book.layout)
        try:
            engine.embedder()
            meaning = {"embedder": engine.embedder, "ready": engine.ready}
        except MinutebookError as error:
            if mode == "semantic":
                raise
            terminal.note(f"{error} Found by words only (`minutebook semantic use static`).")
            mode = "lexical"
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
            total=answer.total,
            capped=answer.capped,
            ghosts_hidden=answer.ghosts_hidden,
            copies_hidden=answer.copies_hidden,
            hits=with_threads(book, answer.hits),
        )
        return
    print_hits(book, answer.hits, verbose=verbose)
    print_total(answer.total, len(answer.hits), page, limit, capped=answer.capped)
    _print_remarks(answer)


def _print_remarks(answer: Answer) -> None:
    if not answer.total:
        what = f"Nothing found for '{terminal.one_line(answer.query.text)}'."
        terminal.note(what if not answer.query.is_empty else "No engagement passes these filters.")
        terminal.note(
            "Other words, fewer filters, or `minutebook ingest` for engagements, may help."
        )
    if answer.ghosts_hidden:
        terminal.note(f"{terminal.plural(answer.ghosts_hidden, 'ghost')} not shown (--ghosts).")
    if answer.copies_hidden:
        count = terminal.plural(answer.copies_hidden, "engagement")
        terminal.note(f"{count} of copied conversations not shown (--copies).")
    if answer.refreshed is not None and answer.refreshed.anew:
        terminal.note(f"The index was made again: {answer.refreshed.anew}.")
    if answer.waiting:
        count = terminal.plural(answer.waiting, "entry is", "entries are")
        terminal.note(f"{count} still being embedded; until then they are found by words only.")
    if answer.busy:
        terminal.note(
            "The index could not be brought up to date now (it is being written, or may only be "
            "read): this answer is from before."
        )
    elif answer.refreshed is None and answer.fresh_at is not None:
        minutes = round((time.time() - answer.fresh_at) / 60)
        terminal.note(f"The index is {terminal.plural(minutes, 'minute')} old (--no-refresh).")
    elif answer.refreshed is not None:
        changed = answer.refreshed.sessions
        news = f", {terminal.plural(changed, 'session')} updated" if changed else ""
        terminal.note(f"The index is up to date{news}.")
