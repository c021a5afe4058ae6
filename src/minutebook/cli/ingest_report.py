"""What an ingest reports: before it uses a model, and when it is done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from minutebook.archive import Archive
from minutebook.archive.folding import once
from minutebook.cli import terminal
from minutebook.derive.genealogy import Pair
from minutebook.derive.times import instant
from minutebook.extract.choose import SUBSCRIBED, keyed_without_sdk, offered
from minutebook.extract.extractor import Extractor
from minutebook.extract.secret import find_secret
from minutebook.extras import install_command
from minutebook.model.engagement import Engagement, SessionRecord
from minutebook.verbs.ingest import Forecast, IngestReport

if TYPE_CHECKING:
    from minutebook.verbs.survey import Surveyed  # brings the offline extractor along

_MOST = 10


def print_forecast(forecast: Forecast) -> None:
    """What is about to be sent, to whom, and what it will cost."""
    if forecast.destination is None:
        return
    sessions = terminal.plural(forecast.calls, "session")
    chars = f"{forecast.chars:,} characters of what you and the agent said"
    model = f" ({forecast.model})" if forecast.model else ""
    calls = terminal.plural(forecast.calls + forecast.second_looks, "call")
    price = _price(forecast.extractor, forecast.cost_usd)
    terminal.note(
        f"Sending the skeletons of {sessions}, {chars} with {FACTS_SENT} (no tool text, "
        f"no thinking), to {forecast.destination}{model}: {calls}, {price}."
    )


FACTS_SENT = (
    "titles, folders, branches, times, file names, commit subjects, pull request links and counts "
    "of what was done"
)
"""What is sent beside the words: `minutebook.extract.prompt.document`, said to people."""


def _price(extractor: str, cost: float | None) -> str:
    if cost is None:
        return "cost unknown"
    by = " at API prices, or as much of your subscription" if extractor in SUBSCRIBED else ""
    return f"about ${cost:.2f}{by}"


def print_offer(skeletons: Sequence[int]) -> None:
    """There is no key but another way: how to use it, what it would send and cost (UND-09)."""
    if keyed_without_sdk():
        terminal.note(
            "There is a key, but using it needs minutebook[anthropic], which is not "
            f"installed, so this was done offline: {install_command('anthropic')}"
        )
        return
    offer = offered(skeletons)
    if offer is None:
        return
    terminal.note(
        f"There is no key, but there is a `{offer.program}` on this machine: `minutebook ingest "
        f"--extractor {offer.extractor}` asks it. That would send {sum(skeletons):,} characters "
        f"or so of what you and the agent said in {terminal.plural(len(skeletons), 'session')}, "
        f"with {FACTS_SENT}, to {offer.destination}: {_price(offer.extractor, offer.cost_usd)}. "
        "Nothing is sent unless you ask for it."
    )


def print_survey(
    archive: Archive, extractor: Extractor, sessions: Sequence[Surveyed], *, batch: bool
) -> None:
    """A dry run: sizes, ghosts, calls, cost (ING-27)."""
    copies = sum(s.copy_of is not None for s in sessions)
    due = [s for s in sessions if s.due and not s.ghost and s.copy_of is None]
    ghosts = sum(s.ghost and s.problem is None for s in sessions)
    if due:
        names = {s.session_id: terminal.one_line(archive.short(s.session_id)) for s in due}
        widest = max(map(len, names.values()))
        heads = f"{'messages':>8}  {'skeleton':>10}  {'sent':>8}  {'cost':>7}  title"
        terminal.say(terminal.quiet(f"{'session':{widest}}  {heads}"))
    for session in due[: 4 * _MOST]:
        cost = "" if session.cost_usd is None else f"${session.cost_usd:.3f}"
        title = terminal.one_line(session.title or "")
        line = (
            f"{names[session.session_id]:{widest}}  {session.user_messages:8,}  "
            f"{session.chars:10,}  {session.sent:8,}  {cost:>7}  "
        )
        terminal.say(line + terminal.fit(title, max(10, terminal.columns() - len(line))))
    if len(due) > 4 * _MOST:
        terminal.say(f"… and {len(due) - 4 * _MOST} more.")
    costs = [session.cost_usd for session in due]
    total = None if None in costs else sum(cost or 0.0 for cost in costs)
    if batch and total is not None:
        total /= 2
    unchanged = sum(not (s.due or s.ghost) for s in sessions)
    again = 0 if batch or extractor.destination is None else sum(s.second_look for s in due)
    calls = terminal.plural(len(due) + again, "call")
    terminal.say(
        f"{terminal.plural(len(sessions), 'session')}: {calls}, "
        f"{terminal.plural(ghosts, 'ghost')} (never sent), {unchanged:,} unchanged."
    )
    if copies:
        terminal.say(_copies(copies, by_model=extractor.destination is not None))
    model = f" ({extractor.model})" if extractor.model else ""
    if extractor.destination is None:
        terminal.say("Offline: nothing is sent, nothing is charged.")
    elif total is None:
        terminal.say(f"By {extractor.name}{model}: the cost is not known.")
    else:
        price = _price(extractor.name, total)
        terminal.say(f"By {extractor.name}{model}: {price}. Offline: nothing.")
    if extractor.name == "anthropic" and find_secret("ANTHROPIC_API_KEY") is None:
        terminal.say("No key found, so `ingest` would run offline.")
        print_offer([session.sent for session in due])
    terminal.say("Dry run: nothing was sent or written.")


def print_report(archive: Archive, report: IngestReport) -> None:
    """What came of it, and where to look."""
    ghosts = "ghost" if report.ghosts == 1 else "ghosts"
    counts = [
        (report.ingested, "ingested"),
        (report.ghosts, ghosts),
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
        terminal.say(_copies(report.copies, by_model=by_model))
    if report.calls:
        usage = report.usage
        terminal.say(
            f"{terminal.plural(report.calls, 'call')}, {usage.total:,} tokens, "
            f"${report.cost_usd:.2f}."
        )
    print_backlog(report)
    print_held(report)
    _print_problems(archive, report)


def _copies(count: int, *, by_model: bool) -> str:
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
