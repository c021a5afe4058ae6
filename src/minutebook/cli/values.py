"""Options that need a value do not take the next option for it."""

from __future__ import annotations

import click


def keep_options(ctx: click.Context, command: click.Command, args: list[str]) -> None:
    """Refuse arguments in which an option that needs a value is followed by another option."""
    takes = {
        name: option
        for option in command.get_params(ctx)
        if isinstance(option, click.Option) and option.nargs == 1
        if not (option.is_flag or option.count)
        for name in option.opts
    }
    left = iter(enumerate(args))
    for at, arg in left:
        if arg == "--":
            return
        if arg in takes:
            _, value = next(left, (at, ""))
            refuse_option(takes[arg], value)
        elif isinstance(command, click.Group) and not arg.startswith("-"):
            if (inner := command.get_command(ctx, arg)) is not None:
                keep_options(ctx, inner, args[at + 1 :])
            return


def refuse_option(option: click.Option, value: str) -> None:
    """Refuse an option as the value of another, unless ``=`` says that it is meant."""
    if value.startswith("--") and len(value) > 2:
        name = next((n for n in option.opts if n.startswith("--")), option.opts[0])
        raise click.UsageError(
            f"{name} needs a value; to use '{value}' itself, write {name}={value}."
        )
