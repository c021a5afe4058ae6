"""``minutebook corpus``: the `sessions` preset, kept in the archive's folder."""

from __future__ import annotations

from typing import Any, get_args

import click

from minutebook.archive import Archive
from minutebook.archive.turns import candidates
from minutebook.cli import terminal
from minutebook.cli.hits import marked
from minutebook.cli.json_output import print_json
from minutebook.cli.options import archive_options, json_option, opened
from minutebook.cli.words import WordsCommand
from minutebook.corpus import CorpusSource, Indexed, Surface, TurnHit, kept_corpus
from minutebook.corpus import search as search_corpus
from minutebook.derive.times import instant
from minutebook.errors import BadArgument, MinutebookError
from minutebook.index.entry import Entry
from minutebook.index.query import Query, parse_query
from minutebook.index.snippet import snippet

_NAMES: dict[Surface, str] = {
    "user_prompt": "you",
    "assistant_summary": "agent",
    "assistant_full": "agent",
    "title": "title",
}


@click.group("corpus")
def command() -> None:
    """Build and search a corpus of turn pairs: what you asked, what was answered.

    \b
    Examples:
      minutebook corpus build --since 90d
      minutebook corpus search "login redirect" --surface user_prompt
    """


@command.command("build")
@archive_options
@click.option(
    "--since",
    metavar="DATE",
    help="Only sessions since DATE: 90d (the default), 2026-03-01 … or `all`.",
)
@click.option(
    "--project",
    "projects",
    multiple=True,
    metavar="TEXT",
    help="Only working directories that contain TEXT; repeatable.",
)
@click.option("--full/--no-full", default=None, help="Index whole answers, or only how they end.")
@click.option(
    "--max-sessions", type=click.IntRange(1), metavar="N", help="Only the N newest sessions."
)
@click.option(
    "--schedule",
    type=click.Choice(["search", "manual"]),
    metavar="WHEN",
    help="When to refresh: search (at each one, the default) or manual (on build).",
)
@click.option("--reset", is_flag=True, help="Forget the options of earlier builds.")
@json_option
def build(
    roots: tuple[str, ...],
    archive: str | None,
    since: str | None,
    projects: tuple[str, ...],
    full: bool | None,
    max_sessions: int | None,
    schedule: str | None,
    reset: bool,
    as_json: bool,
) -> None:
    """Bring the corpus up to date.

    Options are remembered for the next build and for searches.

    \b
    Example:
      minutebook corpus build --since 90d --project orchard
    """
    changes: dict[str, Any] = {
        "projects": projects or None,
        "include_full": full,
        "max_sessions": max_sessions,
        "schedule": schedule,
    }
    changes = {name: value for name, value in changes.items() if value is not None}
    if since is not None:
        changes["since"] = None if since.strip().lower() == "all" else since
    book = opened(archive, roots)
    corpus = kept_corpus(book, anew=reset, **changes)
    done = corpus.refresh(embed=True)
    sessions, pairs = corpus.store.count(corpus.source.since)
    older = _older(book, corpus, sessions)
    if as_json:
        print_json(
            folder=corpus.store.folder,
            options=corpus.options,
            sessions=sessions,
            pairs=pairs,
            older=older,
            indexed=done,
        )
        return
    there = f"{terminal.plural(pairs, 'turn')} of {terminal.plural(sessions, 'session')}"
    terminal.say(
        f"{there} in the corpus: {done.added:,} indexed, {done.removed:,} removed, "
        f"{done.embedded:,} embedded."
    )
    if older:
        count = terminal.plural(older, "session is", "sessions are")
        begins = corpus.source.since
        day = f"{begins:%Y-%m-%d}" if begins is not None else ""
        terminal.note(f"{count} older than {day} and left out: --since all includes them.")


def _older(book: Archive, corpus: CorpusSource, sessions: int) -> int:
    """Sessions that the window leaves out."""
    since = corpus.source.since
    if since is None:
        return 0
    everything = candidates(book)
    if not sessions and corpus.options is not None and corpus.options.projects is None:
        return len(everything)  # whenever their files were written
    return len(everything) - len(candidates(book, since=since))


@command.command("search", cls=WordsCommand, short_help="Find turns, or sessions by title.")
@click.argument("words", nargs=-1)
@archive_options
@click.option(
    "--surface",
    "surfaces",
    multiple=True,
    type=click.Choice(get_args(Surface)),
    metavar="SURFACE",
    help=f"Search only {', '.join(get_args(Surface))}; repeatable.",
)
@click.option(
    "-k",
    "--limit",
    "limit",
    type=click.IntRange(1, 1000),
    default=10,
    metavar="N",
    help="[default: 10]",
)
@click.option(
    "--mode",
    type=click.Choice(["lexical", "semantic", "hybrid"]),
    default="hybrid",
    show_default=True,
    metavar="MODE",
    help="lexical (words), semantic (meaning), hybrid (both).",
)
@click.option(
    "--no-refresh", is_flag=True, help="Search the index as it is; do not look for changes."
)
@json_option
def search(
    words: tuple[str, ...],
    roots: tuple[str, ...],
    archive: str | None,
    surfaces: tuple[str, ...],
    limit: int,
    mode: Any,
    no_refresh: bool,
    as_json: bool,
) -> None:
    """Find turns by what was asked, what was answered, or the session's title.

    \b
    Examples:
      minutebook corpus search "login redirect"
      minutebook corpus search passkey --surface user_prompt --mode lexical
    """
    typed = " ".join(words)
    query = parse_query(typed)
    if query.is_empty:
        raise BadArgument("Give words to search for.")
    book = opened(archive, roots)
    corpus = kept_corpus(book)
    corpus.strategy.look(surfaces or None)  # what it does not have is said before anything is read
    mode = _usable(corpus, mode)
    done = _refreshed(corpus, mode, wanted=not no_refresh)
    hits = search_corpus(
        corpus, typed, k=limit, surfaces=surfaces or None, mode=mode, refresh=False
    )
    if as_json:
        print_json(mode=mode, indexed=done, hits=hits)
        return
    for hit in hits:
        _print_hit(book, hit, query)
    if len(hits) == limit:
        terminal.note(f"The best {limit} (-k for more).")
    elif hits:
        terminal.note(f"{terminal.plural(len(hits), 'turn')}.")
    else:
        terminal.note(f"Nothing found for '{terminal.one_line(query.text)}'.")


def _usable(corpus: CorpusSource, mode: str) -> str:
    """The mode, or words alone where the embedder does not work."""
    if mode == "lexical":
        return mode
    try:
        corpus.embedder()
    except MinutebookError as error:
        if mode == "semantic":
            raise
        terminal.note(f"{error} Found by words only (`minutebook semantic use static`).")
        return "lexical"
    return mode


def _refreshed(corpus: CorpusSource, mode: str, *, wanted: bool) -> Indexed | None:
    """Bring the corpus up to date, where its policy and the person say so."""
    if not (wanted and corpus.policy.refreshes_at_search):
        return None
    new = not corpus.store.exists
    done = corpus.bring_up_to_date(embed=mode != "lexical")
    if done is None:
        terminal.note(
            "The corpus is being written or is read-only: this answer may be out of date."
        )
    elif new:
        terminal.note(
            f"Created a corpus in {corpus.store.folder}. Only you can read it. You may delete it; "
            "it is rebuilt when needed."
        )
    return done


def _print_hit(book: Archive, hit: TurnHit, query: Query) -> None:
    """Two lines: when and where; and the words it was found by."""
    meta = hit.pair.metadata
    when = instant(meta.timestamp)
    day = when.strftime("%Y-%m-%d") if when else "undated   "
    address = terminal.one_line(f"{book.short(meta.session_id)}#{meta.round}")
    told = (meta.title if hit.surface != "title" else None, meta.project)
    who = " · ".join(terminal.one_line(text) for text in told if text)
    room = terminal.columns()
    named = click.style(terminal.fit(who, max(10, room - len(address) - 14)), bold=True)
    terminal.say(f"{day}  {click.style(address, fg='cyan')}  {named}".rstrip())
    shown = Entry(
        kind="turn",
        session_id=meta.session_id,
        key="",
        round=meta.round,
        asked=_text(hit),
    )
    side = f"{_NAMES[hit.surface]}: "
    line = marked(snippet(shown, query, "asked").snippet, room - 2 - len(side))
    terminal.say(f"  {terminal.quiet(side)}{line}")


def _text(hit: TurnHit) -> str:
    """The text of the surface a turn was found by."""
    pair = hit.pair
    return {
        "user_prompt": pair.user_prompt,
        "assistant_summary": pair.assistant_summary,
        "assistant_full": pair.assistant_full,
        "title": pair.metadata.title or "",
    }[hit.surface]
