"""A command whose arguments are words to look for."""

from __future__ import annotations

import re

import click

_EXCLUSION = re.compile(r"-[^\W\d_]\w{2,}")  # longer than any cluster of short options


class WordsCommand(click.Command):
    """A command in which ``-word`` leaves a word out, although it looks like options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        known = {name for parameter in self.params for name in parameter.opts}
        meant = [
            # A minus sign instead of a hyphen: nothing takes that for an option.
            f"\u2212{arg[1:]}" if _EXCLUSION.match(arg) and arg not in known else arg
            for arg in args
        ]
        return super().parse_args(ctx, meant)
