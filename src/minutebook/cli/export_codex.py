"""``minutebook export-codex``."""

from __future__ import annotations

from typing import Any

import click

from minutebook.cli.exporting import export, export_options


@click.command("export-codex")
@export_options
def command(**options: Any) -> None:
    """Write an inscribed session as a transcript that `codex resume` accepts.

    The session may be of any agent; what the transcript holds and Codex will not see is named.
    Secrets are not masked: the export is the record itself.

    With --full-after, --engagement, --compress-engagement, --merge or --split it is a new
    transcript with an id of its own, which says where it comes from.
    """
    export("codex", **options)
