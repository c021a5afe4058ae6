"""``minutebook export-claude``."""

from __future__ import annotations

from typing import Any

import click

from minutebook.cli.exporting import export, export_options


@click.command("export-claude")
@export_options
def command(**options: Any) -> None:
    """Restore a session for `claude --resume`: write it as a transcript.

    Works for sessions of any agent; it names what Claude Code will not see. Secrets are not masked:
    the export is the record itself. --full-after, --engagement, --compress-engagement, --merge and
    --split write a new transcript with its own id, which says where it comes from.

    \b
    Examples:
      minutebook export-claude Reed
      minutebook export-claude Reed --full-after 2026-03-04 --out resumed.jsonl
    """
    export("claude-code", **options)
