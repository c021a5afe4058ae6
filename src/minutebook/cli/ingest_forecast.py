"""What an ingest says before it uses a model: what it would send, to whom, for how much."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from minutebook.archive import Archive
from minutebook.cli import terminal
from minutebook.cli.ingest_report import repeated
from minutebook.extract.choose import SUBSCRIBED, UNKEYED, choose_extractor, unkeyed_program
from minutebook.verbs.ingest import Forecast
from minutebook.verbs.survey import Surveyed, counted, forecast_of, survey

FACTS_SENT = (
    "titles, folders, branches, times, file names, commit subjects, pull request links and counts "
    "of what was done"
)
"""What is sent beside the words: `minutebook.extract.prompt.document`, said to people."""
_MOST = 40  # sessions of a dry run
_MOST_COUNTED = 300
"""Sessions: with more, reading them all to say what they would cost takes seconds."""
_PASSED_ON = ("archive", "session", "since", "model")


def print_forecast(forecast: Forecast, limit: float | None = None) -> None:
    """What is about to be sent, to whom, and what it will cost."""
    if forecast.destination is None:
        return
    model = f" ({forecast.model})" if forecast.model else ""
    limited = limit is not None and (forecast.cost_usd or 0) > limit
    most = f" At most ${limit:.2f} of it is spent (--max-cost)." if limited else ""
    terminal.note(
        f"{'To send: the' if limited else 'Sending the'} skeletons of "
        f"{terminal.plural(forecast.calls, 'session')}, {_words(forecast)} (no tool text, "
        f"no thinking), to {forecast.destination}{model}: {_price(forecast)}.{most}"
    )


def _words(forecast: Forecast) -> str:
    return f"{forecast.chars:,} characters of what you and the agent said with {FACTS_SENT}"


def _price(forecast: Forecast) -> str:
    calls = terminal.plural(forecast.calls + forecast.second_looks, "call")
    if forecast.cost_usd is None:
        return f"{calls}, cost unknown"
    by = (
        " at API prices, or as much of your subscription"
        if forecast.extractor in SUBSCRIBED
        else ""
    )
    return f"{calls}, about ${forecast.cost_usd:.2f}{by}"


# -- the way without a key


class Offer(msgspec.Struct, frozen=True):
    """A program of the person's own could be asked without a key (UND-09)."""

    program: str
    command: str
    """What asks it about the same sessions."""
    forecast: Forecast | None
    """What `--dry-run` of that command says; None where counting would take too long."""


def offer_of(
    archive: Archive,
    sessions: Sequence[str] | None,
    typed: Mapping[str, Any],
    *,
    at_any_length: bool = False,
) -> Offer | None:
    """What that program could be asked about, by options as they were `typed`."""
    program = unkeyed_program()
    if program is None:
        return None
    command = _command(typed)
    if not at_any_length and len(archive.ids() if sessions is None else sessions) > _MOST_COUNTED:
        return Offer(program, command, None)
    extractor = choose_extractor(UNKEYED, model=typed["model"])
    found = survey(archive, extractor, sessions, backlog=typed["backlog"])
    forecast = forecast_of(found, extractor, backlog=typed["backlog"])
    return Offer(program, command, forecast) if forecast.calls else None


def _command(typed: Mapping[str, Any]) -> str:
    """The ingest that was typed, without what makes it do again what is done."""
    words = ["minutebook", "ingest"]
    for root in typed["roots"]:
        words += ["--root", root]
    for name in _PASSED_ON:
        if typed[name] is not None:
            words += [f"--{name}", typed[name]]
    if typed["max_cost"] is not None:
        words += ["--max-cost", f"{typed['max_cost']:g}"]
    words += ["--backlog"] if typed["backlog"] else []
    return shlex.join([*words, "--extractor", UNKEYED])


def print_offer(offer: Offer | None) -> None:
    """How to ask it, what that would send and cost; nothing is sent unasked."""
    if offer is None:
        return
    known = offer.forecast
    about = terminal.plural(known.calls, "session") if known else "your sessions"
    program = terminal.one_line(offer.program)
    there = f"There is no key, but there is a `{program}` on this machine."
    terminal.note(terminal.prose(f"{there} To ask it about {about}, run:"))
    terminal.note(f"  {terminal.one_line_kept(offer.command)}")
    takes = "With --dry-run it says what it would send, and about what that would cost."
    if known:
        takes = f"It sends {_words(known)}, to {known.destination}: {_price(known)}."
    terminal.note(terminal.prose(f"{takes} Nothing is sent unless you run it."))


# -- a dry run


def print_survey(
    sessions: Sequence[Surveyed], forecast: Forecast, names: Mapping[str, str]
) -> None:
    """A dry run: sizes, ghosts, calls, cost (ING-27)."""
    due = [session for session in sessions if session.fate == "due"]
    if due:
        _print_table(due, names)
    asks = forecast.destination is not None
    terminal.say(_counts(sessions, asks=asks))
    if asks and due:
        second = terminal.plural(forecast.second_looks, "second look")
        looks = f", {second} at long sessions among them" if forecast.second_looks else ""
        calls = terminal.plural(forecast.calls + forecast.second_looks, "call")
        terminal.say(f"{calls}{looks}: {forecast.chars:,} characters, facts included.")
    if copies := counted(sessions).copies:
        terminal.say(repeated(copies, by_model=asks))
    model = f" ({terminal.one_line(forecast.model)})" if forecast.model else ""
    if not asks:
        terminal.say("Offline: nothing is sent, nothing is charged.")
    elif forecast.cost_usd is None:
        terminal.say(f"By {forecast.extractor}{model}: the cost is not known.")
    elif due:
        price = _price(forecast).partition(", ")[2]
        terminal.say(f"By {forecast.extractor}{model}: {price}. Offline: nothing.")


def _print_table(due: Sequence[Surveyed], names: Mapping[str, str]) -> None:
    widest = max(len(names[session.session_id]) for session in due)
    heads = f"{'messages':>8}  {'skeleton':>10}  {'sent':>8}  {'cost':>7}  title"
    terminal.say(terminal.quiet(f"{'session':{widest}}  {heads}"))
    for session in due[:_MOST]:
        cost = "" if session.cost_usd is None else f"${session.cost_usd:.3f}"
        title = terminal.one_line(session.title or "")
        line = (
            f"{names[session.session_id]:{widest}}  {session.user_messages:8,}  "
            f"{session.chars:10,}  {session.sent:8,}  {cost:>7}  "
        )
        terminal.say(line + terminal.fit(title, max(10, terminal.columns() - len(line))))
    if len(due) > _MOST:
        terminal.say(f"… and {len(due) - _MOST} more.")


def _counts(sessions: Sequence[Surveyed], *, asks: bool) -> str:
    """How many sessions there are, each in one of the numbers."""
    counts = counted(sessions)
    told = [
        (counts.due, "to send" if asks else "to label"),
        (counts.offline, "to label offline"),
        (counts.copies, "copy" if counts.copies == 1 else "copies"),
        (counts.ghosts, f"{'ghost' if counts.ghosts == 1 else 'ghosts'} (never sent)"),
        (counts.unchanged, "unchanged"),
        (counts.skipped, "skipped (not transcripts)"),
    ]
    said = ", ".join(f"{count:,} {what}" for count, what in told if count) or "nothing to do"
    return terminal.prose(f"{terminal.plural(len(sessions), 'session')}: {said}.")
