"""``--json``: versioned, documented in docs/json.md, and never a different shape silently."""

from __future__ import annotations

from typing import Any

import click

from minutebook.cli.options import NOT_TEAM
from minutebook.verbs.json_document import encoded, json_document


def print_json(*, on_one_line: bool = False, **fields: Any) -> None:
    """One JSON object with a version in front; on a line of its own where more will follow.

    Where a team was asked for and one's own archive answers, it says so.
    """
    context = click.get_current_context(silent=True)
    if context is not None and NOT_TEAM in context.meta:
        fields["team"] = False
    click.echo(encoded(fields) if on_one_line else json_document(**fields))
