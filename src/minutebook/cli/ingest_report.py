"""What an ingest reports when it is done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from minutebook.archive import Archive
from minutebook.archive.folding import once
from minutebook.cli import terminal
from minutebook.derive.genealogy import Pair
from minutebook.derive.times import instant
from minutebook.model.engagement import Engagement, SessionRecord
from minutebook.verbs.ingest import IngestReport

_MOST = 10


def print_report(archive: Archive, report: IngestReport) -> None:
    """What came of it, and where to look."""
    ghosts = "ghost" if report.ghosts == 1 else "ghosts"
    counts = [
        (report.ingested, "ingested"),
        (report.ghosts, ghosts),
        (report.only_copies, "copy" if report.only_copies == 1 else "copies"),
        (report.unchanged, "unchanged"),
        (len(report.failures), "failed"),
        (report.inscribed.count("unusable"), "skipped (not transcripts)"),
        (report.left, "left for the next run"),
    ]
    said = ", ".join(f"{count:,} {what}" for count, what in counts if count) or "nothing to do"
    terminal.say(f"{terminal.plural(report.sessions, 'session')}: {said}.")
    if doubles := report.inscribed.count("duplicate"):
        what = terminal.plural(doubles, "file has", "files have")
        terminal.say(f"{what} the id of a session that another file has.")
    if report.ingested:
        by = f"by {report.forecast.extractor}"
        if report.forecast.destination is None:
            by = "offline: nothing left this machine"
        terminal.say(f"{terminal.plural(report.engagements, 'engagement')} found, {by}.")
        terminal.say()
        print_engagements(archive)
    if report.copies:
        by_model = report.forecast.destination is not None
        terminal.say(repeated(report.copies, by_model=by_model))
    if report.calls:
        usage = report.usage
        terminal.say(
            f"{terminal.plural(report.calls, 'call')}, {usage.total:,} tokens, "
            f"${report.cost_usd:.2f}."
        )
    print_backlog(report)
    print_held(report)
    _print_problems(archive, report)


def repeated(count: int, *, by_model: bool) -> str:
    """What a run makes of copies."""
    what = terminal.plural(count, "session repeats", "sessions repeat")
    once = "extracted and paid for once" if by_model else "extracted once"
    return f"{what} rounds of another; they are {once}."


def print_backlog(report: IngestReport) -> None:
    """Sessions that an upgrade made due: labelled, and not sent without being asked."""
    waiting, model = report.backlog, report.forecast.destination is not None
    fresh = waiting.cost_usd is not None  # labelled in this run
    if not waiting.sessions or not (model or fresh):
        return
    became = "that an upgrade or a setting made due"
    one, many = f"session {became} was", f"sessions {became} were"
    price = f", for about ${waiting.cost_usd:.2f}" if model and fresh else ""
    terminal.note(
        f"{terminal.plural(waiting.sessions, one, many)} labelled offline. "
        f"`minutebook ingest --backlog` asks {'the' if model else 'a'} model about them{price}."
    )


def print_held(report: IngestReport) -> None:
    """Sessions of programs that no model may be asked about."""
    if report.forecast.destination is None:
        return
    for program, count in sorted(report.held.items()):
        of = f"of {program}"
        sessions = terminal.plural(count, f"session {of} was", f"sessions {of} were")
        terminal.note(
            f"{sessions} labelled offline: nothing {of} is sent to a model until you type "
            f"`minutebook config allow {program}`. `minutebook ingest --backlog` then names their "
            "number and cost, and asks."
        )


def print_engagements(archive: Archive) -> None:
    """The newest engagements, what there is of which method, and where to read on."""
    pairs, copies = once(archive, archive.engagements(copies=True))
    print_newest(archive, pairs)
    methods = Counter(engagement.method for _, engagement in pairs)
    told = ", ".join(f"{count:,} {method}" for method, count in methods.most_common())
    if told:
        terminal.say()
        terminal.say(terminal.prose(f"Total: {terminal.one_line(told)}."))
    if copies:
        what = terminal.plural(copies, "engagement")
        terminal.say(f"{what} of copied conversations counted once.")
    terminal.say(f"All of them: {archive.layout.engagements_index}")


def print_newest(archive: Archive, pairs: Iterable[Pair]) -> None:
    """The newest engagements, one per line."""
    rows = sorted(pairs, key=lambda row: row[1].started or row[0].started or "", reverse=True)
    shown = rows[:_MOST]
    addresses = [_address(archive, *row) for row in shown]
    cells = max(map(len, addresses), default=0)
    for row, address in zip(shown, addresses, strict=True):
        terminal.say(engagement_line(*row, address, cells))
    if len(rows) > _MOST:
        terminal.say(terminal.quiet(f"… and {len(rows) - _MOST:,} older ones."))


def _address(archive: Archive, record: SessionRecord, engagement: Engagement) -> str:
    first, last = engagement.turn_range
    rounds = f"{first}-{last}" if last != first else str(first)
    return f"{terminal.one_line(archive.short(record.session_id))}#{rounds}"


def engagement_line(record: SessionRecord, engagement: Engagement, address: str, cells: int) -> str:
    """Date, method, phase, topic and address (of so many cells), cut to the terminal."""
    when = instant(engagement.started or record.started)
    day = when.strftime("%Y-%m-%d") if when else " " * 10
    room = max(20, terminal.columns() - 10 - 2 - 9 - 12 - 2 - cells)
    method = terminal.one_line(engagement.method)
    mark = terminal.method_mark(terminal.pad(method, 9), method)
    phase = terminal.pad(terminal.one_line(engagement.phase), 12)
    topic = terminal.pad(terminal.one_line(engagement.topic), room)
    return f"{day}  {mark}{phase}{topic}  {terminal.quiet(address)}"


def _print_problems(archive: Archive, report: IngestReport) -> None:
    for failure in report.failures[:_MOST]:
        terminal.note(f"{archive.short(failure.session_id)}: {terminal.one_line(failure.reason)}")
    if len(report.failures) > _MOST:
        terminal.note(f"… and {len(report.failures) - _MOST} more.")
    if report.failures:
        terminal.note("Run the same command again to retry what failed; the rest is kept.")
    for session in report.inscribed.sessions:
        if session.outcome == "failed":
            name = archive.short(session.transcript.session_id)
            terminal.note(f"{name}: not inscribed: {session.problem}")
    for remark in report.inscribed.remarks:
        terminal.note(terminal.one_line(remark))
    if report.stopped:
        terminal.note(
            f"Stopped: {report.stopped}. What is done is kept; run the same command again to go on."
        )
