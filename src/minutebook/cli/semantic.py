"""``minutebook semantic``."""

from __future__ import annotations

import sys

import click

from minutebook.cli import terminal
from minutebook.cli.json_output import print_json
from minutebook.cli.options import archive_option, json_option
from minutebook.compose import open_house
from minutebook.config import settings
from minutebook.verbs.semantic import choose, embed, state


@click.group("semantic")
def command() -> None:
    """Choose what compares meanings, and see how far embedding is."""


@command.command("use")
@click.argument("embedder")
@click.option("--model", default="", help="The model of an endpoint.")
@archive_option
def use(embedder: str, model: str, archive: str | None) -> None:
    """Use static (in the box), a folder with ONNX and tokenizer.json, fastembed, or a URL."""
    house = open_house(settings([], archive))
    choice = choose(house.layout, embedder, model)
    terminal.say(
        f"Meanings are compared by {choice.kind} {choice.where} {choice.model}".rstrip() + "."
    )
    terminal.say(
        "`minutebook semantic embed` prepares everything now; a search does it bit by bit."
    )


@command.command("embed")
@archive_option
def embed_now(archive: str | None) -> None:
    """Embed everything that has no vectors yet, newest first."""
    house = open_house(settings([], archive))
    waiting = state(house.layout).waiting
    if sys.stderr.isatty() and waiting > 1_000:
        with click.progressbar(length=waiting, label="Embedding", file=sys.stderr) as bar:
            done = embed(house.layout, bar.update)
    else:
        done = embed(house.layout)
    terminal.say(f"{terminal.plural(done, 'entry', 'entries')} embedded.")


@command.command("status")
@archive_option
@json_option
def status(archive: str | None, as_json: bool) -> None:
    """Say which embedder is used, and what is still to be embedded."""
    house = open_house(settings([], archive))
    now = state(house.layout)
    if as_json:
        print_json(state=now)
        return
    terminal.say(f"Embedder: {now.choice.kind} {now.choice.where} {now.choice.model}".rstrip())
    terminal.say(f"{now.entries - now.waiting:,} of {now.entries:,} entries embedded.")
