"""``minutebook serve``."""

from __future__ import annotations

import os

import click

from minutebook.archive import open_archive
from minutebook.cli import terminal
from minutebook.cli.new_index import note_new_index
from minutebook.cli.options import archive_options, of_team, team_option
from minutebook.errors import BadArgument


@click.command("serve")
@archive_options
@team_option
@click.option(
    "--port", type=click.IntRange(1, 65535), default=18820, metavar="N", show_default=True
)
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Other addresses need --token."
)
@click.option("--token", metavar="WORD", help="Require this token from every visitor.")
@click.option("--open", "open_browser", is_flag=True, help="Open the page in your browser.")
@click.option("--watch", is_flag=True, help="Ingest again, offline, when sessions grow.")
@click.option(
    "--no-ingest", is_flag=True, help="Show what is archived; ingest nothing at the start."
)
@click.option(
    "--read-only",
    is_flag=True,
    help="Change nothing: no ingest, no corrections.",
)
def command(
    roots: tuple[str, ...],
    archive: str | None,
    team: bool,
    port: int,
    host: str,
    token: str | None,
    open_browser: bool,
    watch: bool,
    no_ingest: bool,
    read_only: bool,
) -> None:
    """Start the viewer for your browser: timeline, decisions, transcripts, search.

    Only this machine can reach it. New sessions are ingested first, offline, in the background;
    the page fills in meanwhile.

    \b
    Examples:
      minutebook serve --open
      minutebook serve --read-only --port 8000
    """
    if watch and team:
        raise BadArgument("--watch takes minutes of your own sessions: leave --team out.")
    if watch and no_ingest:
        raise BadArgument("--watch ingests, --no-ingest does not: choose one.")
    if watch and read_only:
        raise BadArgument("--watch ingests, --read-only does not: choose one.")
    import webbrowser

    from minutebook.web.app import Viewer, create_app
    from minutebook.web.server import bound, serve

    # Roots are not asked for yet: a server outlives folders, and waits for new ones.
    book = open_archive(archive, roots, create=True)
    shared = of_team(book) if team else None
    if shared is None and not book.layout.search_database.exists():
        note_new_index(book, "Creating")
    token = token or os.environ.get("MINUTEBOOK_TOKEN") or None
    listening = bound(host, port, token)
    shown = "127.0.0.1" if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{port}/" + (f"?token={token}" if token else "")

    def ready() -> None:
        terminal.say(f"minutebook is at {address}   (press Ctrl-C to stop)")
        if open_browser:
            webbrowser.open(address)

    viewer = Viewer(
        book.layout,
        book.places,
        team=shared,
        take=not (no_ingest or read_only),
        watch=watch,
        read_only=read_only,
    )
    app = create_app(
        viewer, port=port, host=host if host in ("0.0.0.0", "::") else shown, token=token
    )
    serve(app, viewer.hub, listening, ready)
