"""``minutebook inscribe``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from minutebook.archive import Archive
from minutebook.cli import completion, terminal
from minutebook.cli.bars import WORTH_A_BAR
from minutebook.cli.json_output import print_json
from minutebook.cli.options import archive_options, json_option, opened
from minutebook.errors import BadArgument, NotFound
from minutebook.sources.base import Transcript
from minutebook.verbs.inscribe import Inscribed, InscribeReport, Inscription

_MOST = 10


@click.command("inscribe")
@click.argument("sessions", shell_complete=completion.sessions, nargs=-1, metavar="[SESSION]...")
@archive_options
@click.option("--all", "everything", is_flag=True, help="Inscribe every session.")
@click.option("--ended", is_flag=True, help="Treat the sessions as finished, however recent.")
@json_option
def command(
    sessions: tuple[str, ...],
    roots: tuple[str, ...],
    archive: str | None,
    everything: bool,
    ended: bool,
    as_json: bool,
) -> None:
    """Archive sessions; do not look for engagements.

    Writes documents, rounds, databases and indexes. Archived sessions are only appended to. If a
    session may still be running (its file written to in the last ten minutes, its last word less
    than an hour old), its last round waits for the next run; --ended includes it now.

    \b
    Examples:
      minutebook inscribe --all
      minutebook inscribe Reed --ended
    """
    if everything == bool(sessions):
        raise BadArgument("Name sessions, or use --all.")
    book = opened(archive, roots, create=True)
    chosen = book.library.transcripts if everything else transcripts_of(book, sessions)
    inscribe_and_report(book, chosen, ended, as_json)


def transcripts_of(archive: Archive, names: Sequence[str]) -> list[Transcript]:
    """The transcripts of the sessions a person names; one that is gone is an error."""
    found: dict[str, Transcript] = {}
    for name in names:
        session_id = archive.resolve(name)
        transcript = archive.transcript(session_id)
        if transcript is None:
            raise NotFound(
                f"There is nothing to add to {archive.short(session_id)}: the source is gone. "
                f"`minutebook show {archive.short(session_id)}` reads what is archived."
            )
        found[session_id] = transcript
    return list(found.values())


def inscribe_and_report(
    archive: Archive, transcripts: list[Transcript], ended: bool, as_json: bool
) -> None:
    """What `inscribe` and `append` have in common."""
    report = _run(archive, transcripts, ended)
    if as_json:
        print_json(archive=archive.root, sessions=report.sessions)
    else:
        _print_report(archive, report)
    if report.count("failed"):
        raise click.exceptions.Exit(2)


def _run(archive: Archive, transcripts: list[Transcript], ended: bool) -> InscribeReport:
    run = Inscription(archive, transcripts, ended=ended)
    total = sum(transcript.size for transcript in transcripts)
    if not sys.stderr.isatty() or total < WORTH_A_BAR:
        for _ in run:
            pass
        return run.report
    with click.progressbar(length=total, label="Inscribing", file=sys.stderr) as bar:
        for session in run:
            bar.update(session.transcript.size)
    return run.report


def _print_report(archive: Archive, report: InscribeReport) -> None:
    counts = [
        (report.count("new"), "new"),
        (report.count("grown"), "grown"),
        (report.count("unchanged"), "unchanged"),
        (report.count("waiting"), "still running"),
        (report.count("empty"), "empty"),
        (report.count("unusable"), "skipped (not transcripts)"),
        (report.count("duplicate"), "with an id another file has too"),
        (report.count("failed"), "failed"),
    ]
    said = ", ".join(f"{count} {what}" for count, what in counts if count) or "nothing to do"
    terminal.say(f"{terminal.plural(len(report.sessions), 'session')}: {said}.")
    added = sum(session.rounds_added for session in report.sessions)
    if added:
        terminal.say(f"{terminal.plural(added, 'round')} added to {archive.layout.sessions}")
    print_waiting(report)
    for session in report.sessions:
        _print_differences(archive, session)
    for remark in report.remarks:
        terminal.note(terminal.one_line(remark))
    failed = [session for session in report.sessions if session.outcome == "failed"]
    for session in failed[:_MOST]:
        problem = terminal.one_line(session.problem or "")
        terminal.note(f"{archive.short(session.transcript.session_id)}: {problem}")
    if len(failed) > _MOST:
        terminal.note(f"… and {len(failed) - _MOST} more.")


def print_waiting(report: InscribeReport) -> None:
    """Sessions whose last round is not archived yet, and when it will be."""
    if report.held_back:
        terminal.note(held_back(report.held_back))


def held_back(sessions: int) -> str:
    """How many sessions are not archived to their end, and when they will be (RND-06)."""
    if sessions == 1:
        what = "The last round of 1 session is held back, for it may still grow: it is"
        over = "the session is"
    else:
        what = f"The last rounds of {sessions:,} sessions are held back, for they may still grow: "
        what, over = f"{what}each is", "its session is"
    return (
        f"{what} archived by the next `minutebook ingest` once {over} over "
        "(its file quiet for ten minutes or its last word an hour old; a day, where a call still "
        "waits for its result), or now with `minutebook inscribe --all --ended`."
    )


def _print_differences(archive: Archive, session: Inscribed) -> None:
    """Where the source has become another one since it was written down."""
    name = archive.short(session.transcript.session_id)
    if session.late:
        late = terminal.plural(session.late, "older message")
        terminal.note(f"{name}: {late} not inserted.")
    if session.changed:
        count = terminal.plural(session.changed, "message")
        terminal.note(
            f"{name}: {count} read differently in the source; the document stays as it is."
        )
    if session.gone:
        count = terminal.plural(session.gone, "message")
        terminal.note(f"{name}: the source has lost {count}; the document keeps them.")
