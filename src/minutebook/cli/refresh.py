"""``minutebook refresh``, for benchmarks and scripts: bring the search index up to date."""

from __future__ import annotations

import click

from minutebook.archive.refreshing import refresh
from minutebook.archive.semantic import embed
from minutebook.cli.options import archive_options, opened


@click.command("refresh")
@archive_options
def command(roots: tuple[str, ...], archive: str | None) -> None:
    """Index what is new, by words and by meaning."""
    book = opened(archive, roots)
    refresh(book)
    embed(book.layout)
