"""``minutebook export``."""

from __future__ import annotations

import click

from minutebook.cli import terminal
from minutebook.cli.json_output import print_json
from minutebook.cli.options import archive_options, for_a_file, format_of, json_option, opened
from minutebook.config import expanded
from minutebook.errors import BadArgument
from minutebook.verbs.share import FORMATS, Format, SharedFile, export, save


@click.command("export")
@click.argument("what", metavar="SESSION[#ROUNDS]|ENGAGEMENT")
@click.argument("engagement", required=False)
@archive_options
@click.option(
    "--format",
    "kind",
    type=click.Choice(FORMATS),
    metavar="FORMAT",
    help="html, md or json. [default: FILE's ending, else html]",
)
@click.option("--rounds", metavar="3,7-12", help="Only these rounds.")
@click.option(
    "--only",
    metavar="PARTS",
    help="user, assistant, thinking, calls, results; separate with commas. [default: all]",
)
@click.option("--out", metavar="FILE", help="Write to FILE instead of standard output.")
@click.option("--force", is_flag=True, help="Overwrite FILE if it exists.")
@json_option
def command(
    what: str,
    engagement: str | None,
    roots: tuple[str, ...],
    archive: str | None,
    kind: Format | None,
    rounds: str | None,
    only: str | None,
    out: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Write a session to a file for other people; or an engagement, or some rounds.

    ENGAGEMENT is its id, the start of its id, or the number of a round in it. An HTML file needs
    no network, runs no script, and folds and unfolds in any browser. Secrets are masked in every
    format; you are told what was masked before anything is written.

    \b
    Examples:
      minutebook export Reed --out reed.html
      minutebook export Reed 2 --out fix.html      # the engagement with round 2
      minutebook export Reed#1-2 --format md --only user,assistant
    """
    if force and out is None:
        raise BadArgument("--force overwrites a file: add --out FILE.")
    if as_json and out is None:
        raise BadArgument("--json describes the file that is written: add --out FILE.")
    format: Format = format_of(out, kind, FORMATS) or "html"
    if out is None:
        for_a_file(format)
    book = opened(archive, roots)
    made = export(book, what, engagement, format=format, only=only, rounds=rounds)
    _say_what_is_masked(made)
    if out is None:
        click.echo(made.content, nl=False)
        return
    path = expanded(out)
    save(book, path, made.content, force=force)
    size = len(made.content)
    if as_json:
        print_json(
            exported={
                "path": path,
                "format": made.format,
                "title": made.title,
                "bytes": size,
                "sessions": made.sessions,
                "rounds": made.rounds,
                "masked": made.masked,
                "pictures": made.pictures,
            }
        )
        return
    count = terminal.plural(made.rounds, "round")
    of = f" of {made.sessions} sessions" if made.sessions > 1 else ""
    terminal.note(f"{count}{of} written to {out} ({terminal.size(size)}).")


def _say_what_is_masked(made: SharedFile) -> None:
    words = made.masked_words
    terminal.note(f"Masked: {words}." if words else "Nothing that looks like a secret was found.")
    if made.pictures and made.format != "md":
        many = terminal.plural(made.pictures, "picture")
        terminal.note(f"{many} included; text in pictures is not masked.")
