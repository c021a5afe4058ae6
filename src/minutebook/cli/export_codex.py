"""``minutebook export-codex``."""

from __future__ import annotations

from typing import Any

import click

from minutebook.cli.exporting import export, export_options


@click.command("export-codex")
@export_options
def command(**options: Any) -> None:
    """Restore a session for `codex resume`: write it as a transcript.

    Works for sessions of any agent; it names what Codex CLI will not see. Secrets are not masked:
    the export is the record itself. --full-after, --engagement, --compress-engagement, --merge and
    --split write a new transcript with its own id, which says where it comes from.

    \b
    Examples:
      minutebook export-codex Reed
      minutebook export-codex Reed --full-after 2026-03-04 --out rollout.jsonl
    """
    export("codex", **options)
