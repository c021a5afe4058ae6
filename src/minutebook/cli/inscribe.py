"""``minutebook inscribe``."""

from __future__ import annotations

import sys

import click

from minutebook.cli import terminal
from minutebook.cli.json_output import print_json
from minutebook.cli.options import house_options, json_option
from minutebook.compose import House, open_house
from minutebook.config import settings
from minutebook.errors import BadArgument
from minutebook.sources.base import Transcript
from minutebook.verbs.find import find_session
from minutebook.verbs.inscribe import InscribeReport, inscribe

_MOST = 10


@click.command("inscribe")
@click.argument("sessions", nargs=-1, metavar="[SESSION]...")
@house_options
@click.option("--all", "everything", is_flag=True, help="Every session there is.")
@click.option("--ended", is_flag=True, help="The sessions are over, however young their files are.")
@json_option
def command(
    sessions: tuple[str, ...],
    roots: tuple[str, ...],
    archive: str | None,
    everything: bool,
    ended: bool,
    as_json: bool,
) -> None:
    """Write sessions down: documents, rounds, databases, indexes.

    What is inscribed already is only appended to. The last round of a session whose file
    was written in the last ten minutes waits for the next run, or for --ended.
    """
    house = open_house(settings(roots, archive))
    inscribe_and_report(house, _chosen(house, sessions, everything), ended, as_json)


def _chosen(house: House, sessions: tuple[str, ...], everything: bool) -> list[Transcript]:
    """The transcripts a person means."""
    if everything == bool(sessions):
        raise BadArgument("Name sessions, or say --all.")
    if everything:
        return house.library.transcripts
    found = [find_session(house.library, house.roster, name) for name in sessions]
    return list({transcript.path: transcript for transcript in found}.values())


def inscribe_and_report(
    house: House, transcripts: list[Transcript], ended: bool, as_json: bool
) -> None:
    """What `inscribe` and `append` have in common."""
    report = _run(house, transcripts, ended)
    if as_json:
        print_json(archive=house.layout.root, sessions=report.sessions)
    else:
        _print_report(house, report)
    if report.count("failed"):
        raise click.exceptions.Exit(2)


def _run(house: House, transcripts: list[Transcript], ended: bool) -> InscribeReport:
    total = sum(transcript.size for transcript in transcripts)
    if not sys.stderr.isatty() or total < 20_000_000:
        return inscribe(house.layout, house.roster, transcripts, ended=ended)
    with click.progressbar(length=total, label="Inscribing", file=sys.stderr) as bar:
        return inscribe(house.layout, house.roster, transcripts, ended=ended, progress=bar.update)


def _print_report(house: House, report: InscribeReport) -> None:
    counts = [
        (report.count("new"), "new"),
        (report.count("grown"), "grown"),
        (report.count("unchanged"), "unchanged"),
        (report.count("waiting"), "still running"),
        (report.count("empty"), "empty"),
        (report.count("unusable"), "no transcripts"),
        (report.count("duplicate"), "with an id another file has too"),
        (report.count("failed"), "failed"),
    ]
    said = ", ".join(f"{count} {what}" for count, what in counts if count) or "nothing to do"
    terminal.say(f"{terminal.plural(len(report.sessions), 'session')}: {said}.")
    added = sum(session.rounds_added for session in report.sessions)
    if added:
        terminal.say(f"{terminal.plural(added, 'round')} added to {house.layout.sessions}")
    held = sum(bool(session.waiting) for session in report.sessions)
    if held:
        count = terminal.plural(held, "session")
        terminal.note(f"The last round of {count} may still grow: it waits (--ended writes it).")
    for session in report.sessions:
        if session.late:
            late = terminal.plural(session.late, "older message")
            terminal.note(f"{session.transcript.session_id[:8]}: {late} not inserted.")
        if session.changed:
            count = terminal.plural(session.changed, "message")
            terminal.note(
                f"{session.transcript.session_id[:8]}: {count} read differently in the source; "
                "the document stays as it is."
            )
        if session.gone:
            count = terminal.plural(session.gone, "message")
            terminal.note(
                f"{session.transcript.session_id[:8]}: the source has lost {count}; "
                "the document keeps them."
            )
    failed = [session for session in report.sessions if session.outcome == "failed"]
    for session in failed[:_MOST]:
        terminal.note(f"{session.transcript.session_id[:8]}: {session.problem}")
    if len(failed) > _MOST:
        terminal.note(f"… and {len(failed) - _MOST} more.")
