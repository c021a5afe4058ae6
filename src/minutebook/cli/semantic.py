"""``minutebook semantic``."""

from __future__ import annotations

import sys

import click

from minutebook.archive.fetching import fetchable
from minutebook.archive.semantic import choose, embed, state
from minutebook.cli import terminal
from minutebook.cli.json_output import print_json
from minutebook.cli.options import archive_option, json_option, opened
from minutebook.errors import NotFound
from minutebook.record.layout import Layout


@click.group("semantic")
def command() -> None:
    """Configure semantic search; show embedding progress.

    \b
    Examples:
      minutebook semantic status
      minutebook semantic use static
    """


@command.command("use")
@click.argument("embedder")
@click.option("--model", default="", help="The model to ask for at a URL.")
@archive_option
def use(embedder: str, model: str, archive: str | None) -> None:
    """Choose the embedder that compares meanings.

    EMBEDDER is static (built in), fastembed, a folder with an ONNX model and tokenizer.json, or a
    URL. fastembed downloads a sentence transformer once, after naming it, its size and its place;
    your sessions stay on this machine. A URL receives every text that is embedded.

    \b
    Examples:
      minutebook semantic use static
      minutebook semantic use fastembed
    """
    layout = opened(archive).layout
    if embedder == "fastembed":
        download = fetchable()
        if not download.is_there:
            terminal.note(
                f"Downloading {download.model} ({download.megabytes} MB, {download.licence}) from "
                f"Hugging Face into {download.folder}, once. Nothing is uploaded."
            )
    choice = choose(layout, embedder, model)
    terminal.say(
        f"Meanings are compared by {choice.kind} {choice.where} {choice.model}".rstrip() + "."
    )
    terminal.say(
        "`minutebook semantic embed` embeds everything now; otherwise searches do it bit by bit."
    )


@command.command("embed")
@archive_option
def embed_now(archive: str | None) -> None:
    """Embed everything that has no vectors yet, newest first.

    \b
    Example:
      minutebook semantic embed
    """
    layout = _indexed(archive)
    waiting = state(layout).waiting
    if sys.stderr.isatty() and waiting > 1_000:
        with click.progressbar(length=waiting, label="Embedding", file=sys.stderr) as bar:
            done = embed(layout, bar.update)
    else:
        done = embed(layout)
    terminal.say(f"{terminal.plural(done, 'entry', 'entries')} embedded.")


def _indexed(archive: str | None) -> Layout:
    """Where there is something to embed."""
    layout = opened(archive).layout
    if not layout.search_database.exists():
        raise NotFound("There is no search index yet: `minutebook search` makes it.")
    return layout


@command.command("status")
@archive_option
@json_option
def status(archive: str | None, as_json: bool) -> None:
    """Show which embedder is in use, and how much is left to embed.

    \b
    Example:
      minutebook semantic status
    """
    now = state(_indexed(archive))
    if as_json:
        print_json(state=now)
        return
    terminal.say(f"Embedder: {now.choice.kind} {now.choice.where} {now.choice.model}".rstrip())
    terminal.say(f"{now.entries - now.waiting:,} of {now.entries:,} entries embedded.")
