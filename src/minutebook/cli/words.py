"""A command whose arguments are words to look for."""

from __future__ import annotations

from collections import deque
from difflib import get_close_matches

import click

from minutebook.cli.values import refuse_option


class WordsCommand(click.Command):
    """A command in which whatever is not one of its options is a word: ``-word`` leaves a word
    out, ``-rf`` is part of a line that was copied, and so is ``-n`` without a number."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if ctx.resilient_parsing:  # a shell that completes a line: it is not whole yet
            return super().parse_args(ctx, args)
        return super().parse_args(ctx, sorted_out(args, self.get_params(ctx)))


def sorted_out(args: list[str], params: list[click.Parameter]) -> list[str]:
    """Arguments with all options first, and then the words, which no longer look like any."""
    named = {
        name: option
        for option in params
        if isinstance(option, click.Option)
        for name in (*option.opts, *option.secondary_opts)
    }
    takes_value = {name: not (option.is_flag or option.count) for name, option in named.items()}
    numbers = {
        name
        for option in params
        if isinstance(option, click.Option) and isinstance(option.type, click.types.IntParamType)
        for name in option.opts
        if not name.startswith("--")
    }
    options: list[str] = []
    words: list[str] = []
    left = deque(args)
    while left:
        arg = left.popleft()
        if arg == "--":
            words += left
            break
        bare = arg in numbers and not (left and left[0].isdecimal())
        if bare or not _is_option(arg, takes_value):
            words.append(arg)
            continue
        options.append(arg)
        last = arg if arg.startswith("--") else f"-{arg[-1]}"
        if takes_value.get(last) and not _has_value(arg, takes_value):
            if not left or left[0] == "--":
                raise click.BadOptionUsage(last, f"Option '{last}' requires a value.")
            refuse_option(named[last], left[0])
            options.append(left.popleft())
    return [*options, "--", *words]


def _is_option(arg: str, takes_value: dict[str, bool]) -> bool:
    if arg.startswith("--"):
        name = arg.partition("=")[0]
        # What is nearly an option is a mistake, for which click has a suggestion.
        return name in takes_value or bool(get_close_matches(name, takes_value))
    if len(arg) < 2 or not arg.startswith("-"):
        return False
    letters = arg[1:]
    if _has_value(arg, takes_value):
        return True
    flags = all(takes_value.get(f"-{letter}") is False for letter in letters[:-1])
    return flags and f"-{letters[-1]}" in takes_value and len({*letters}) == len(letters)


def _has_value(arg: str, takes_value: dict[str, bool]) -> bool:
    """Whether a short option's value is in the same argument: ``-k5``; ``-password`` is a word."""
    return bool(takes_value.get(arg[:2])) and arg[2:3].isdecimal()
