"""``minutebook help``: explains a verb, or a word of the glossary."""

from __future__ import annotations

from difflib import get_close_matches

import click

from minutebook.cli import terminal
from minutebook.cli.filters import explained
from minutebook.cli.glossary import OVERLAPS, WORDS
from minutebook.errors import NotFound


@click.command("help")
@click.argument("words", nargs=-1, metavar="[VERB|WORD]")
@click.pass_context
def command(ctx: click.Context, words: tuple[str, ...]) -> None:
    """Explain a verb, or a word such as engagement, round, ghost or thread.

    \b
    Examples:
      minutebook help
      minutebook help search
      minutebook help engagement
    """
    group = ctx.find_root()
    if not words:
        terminal.say(group.get_help())
        terminal.say()
        terminal.say(terminal.prose(f"Words it explains: {', '.join(WORDS)}, filters."))
        return
    asked = " ".join(words).casefold()
    if asked in ("filter", "filters"):
        terminal.say(explained(ctx))
        return
    singulars = (asked, asked.removesuffix("s"), f"{asked.removesuffix('ies')}y")
    meaning = next((WORDS[word] for word in singulars if word in WORDS), None)
    verb = group.command.get_command(ctx, asked) if isinstance(group.command, click.Group) else None
    if meaning is None and verb is None:
        from minutebook.cli.main import MEANT

        known = [*WORDS, *_verbs(group)]
        near = [MEANT[asked]] if asked in MEANT else get_close_matches(asked, known, 1)
        hint = f"Did you mean '{near[0]}'?" if near else "`minutebook help` lists them."
        raise NotFound(f"'{asked}' is neither a verb nor a word of the glossary. {hint}")
    if meaning is not None:
        terminal.say(terminal.prose(f"{asked}: {meaning}"))
    if verb is not None:
        if meaning is not None:
            terminal.say()
        with click.Context(verb, info_name=asked, parent=group) as inner:
            terminal.say(verb.get_help(inner))
    for line in OVERLAPS.values():
        if verb is not None and f"`{asked}`" in line:
            terminal.say()
            terminal.say(terminal.prose(line))


def _verbs(group: click.Context) -> list[str]:
    return group.command.list_commands(group) if isinstance(group.command, click.Group) else []
