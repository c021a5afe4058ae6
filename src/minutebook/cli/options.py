"""Options several verbs share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

root_option = click.option(
    "--root",
    "roots",
    multiple=True,
    metavar="PATH",
    help="Where the transcripts are: a configuration folder, a folder of transcripts or one "
    "file; may be given several times. [default: $CLAUDE_CONFIG_DIR, else ~/.claude]",
)
archive_option = click.option(
    "--archive",
    metavar="PATH",
    help="The archive. [default: $MINUTEBOOK_ARCHIVE, else your data folder]",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")


def house_options(command: F) -> F:
    """``--root`` and ``--archive``."""
    return root_option(archive_option(command))
