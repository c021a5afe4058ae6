"""``search --threads``, ``--chain`` and ``--deps``: threads as a person reads them (FUT-06)."""

from __future__ import annotations

from typing import Any

import click

from minutebook.archive import Archive
from minutebook.archive.passing import matching
from minutebook.archive.threads import Threads, threads
from minutebook.cli import terminal
from minutebook.cli.hits import print_total
from minutebook.cli.json_output import print_json
from minutebook.derive.threads import Key, Thread
from minutebook.derive.times import instant
from minutebook.errors import BadArgument, NotFound
from minutebook.index.query import Filters


def print_threads(
    archive: Archive, filters: Filters, *, page: int, limit: int, as_json: bool
) -> None:
    """Threads with an engagement that passes the filters, the newest first."""
    known = threads(archive)
    passing = {(record.session_id, e.id) for record, e in matching(archive.records(), filters)}
    every = [thread for thread in known.every if not passing.isdisjoint(thread.members)]
    shown = every[(page - 1) * limit : page * limit]
    if as_json:
        print_json(total=len(every), threads=[_plain(known, thread) for thread in shown])
        return
    for thread in shown:
        _print_thread(known, thread)
    print_total(len(every), len(shown), page, limit)
    if not every:
        terminal.note("No work goes over several sessions here, as far as one can tell.")


def print_chain(archive: Archive, address: str, *, as_json: bool) -> None:
    """What came before and after a round's engagement, in its thread."""
    known = threads(archive)
    session_id, rounds = archive.address(address)
    if rounds is None:
        raise BadArgument(f"Say which round: {archive.short(session_id)}#1.")
    record = archive.record(session_id)
    here = next((e for e in record.engagements if e.covers(rounds.start)), None)
    if here is None:
        raise NotFound(f"No engagement covers {terminal.one_line(address)}.")
    thread = known.of(session_id, here.id)
    key = known.copies.get((session_id, here.id), (session_id, here.id))
    members = thread.members if thread is not None else (key,)
    if as_json:
        chain = [_member(archive, known, thread, member, member == key) for member in members]
        print_json(thread=thread.id if thread else None, chain=chain)
        return
    if thread is None:
        terminal.note("It belongs to no thread: nothing ties it to other sessions.")
        return
    _print_thread(known, thread)
    for member in members:
        _print_member(archive, known, thread, member, here=member == key)


def print_deps(archive: Archive, name: str, *, as_json: bool) -> None:
    """What a thread needs, and what needs it."""
    known = threads(archive)
    thread = known.named(name)
    needed_by = known.needed_by(thread)
    if as_json:
        print_json(
            thread=thread.id,
            depends_on=thread.depends_on,
            needed_by=[
                dependency
                for other in needed_by
                for dependency in other.depends_on
                if dependency.thread == thread.id
            ],
            needed_by_threads=[other.id for other in needed_by],
        )
        return
    _print_thread(known, thread)
    for dependency in thread.depends_on:
        by = _address(archive, dependency.by)
        what = terminal.one_line(f"{dependency.thread} ({dependency.evidence}, named in {by})")
        terminal.say(f"  needs {what}")
    for other in needed_by:
        terminal.say(f"  is needed by {terminal.one_line(other.id)}")
    if not thread.depends_on and not needed_by:
        terminal.note("Nothing names another thread's branch, issue or pull request here.")


# -- lines


def _print_thread(known: Threads, thread: Thread) -> None:
    told = _plain(known, thread)
    days = " to ".join(dict.fromkeys((told["started"], told["ended"])))
    counts = (
        terminal.plural(told["engagements"], "engagement"),
        terminal.plural(told["sessions"], "session"),
    )
    facts = f"{thread.project} · {days} · {' in '.join(counts)} · {told['phase']}"
    room = terminal.columns()
    name = terminal.fit(terminal.one_line(thread.id), room)
    terminal.say(click.style(name, fg="cyan"))
    terminal.say(f"  {terminal.fit(terminal.one_line(thread.topic), room - 2)}")
    terminal.say(terminal.quiet(f"  {terminal.fit(terminal.one_line(facts), room - 2)}"))


def _print_member(
    archive: Archive, known: Threads, thread: Thread, key: Key, *, here: bool
) -> None:
    record, engagement = known.pairs[key]
    when = instant(engagement.started or record.started)
    day = f"{when:%Y-%m-%d}" if when else "undated   "
    address = terminal.one_line(_address(archive, key))
    mark = "→" if here else " "
    label = terminal.one_line(f"{engagement.method}, {engagement.phase}: {engagement.topic}")
    room = terminal.columns() - len(address) - 16
    styled = click.style(address, fg="cyan")
    terminal.say(f"{mark} {day}  {styled}  {terminal.fit(label, max(10, room))}")
    for tie in thread.ties:
        if tie.later == key:
            before = _address(archive, tie.earlier)
            why = f"{tie.kind} {tie.evidence} ({tie.confidence:.2f}), as {before}"
            told = terminal.fit(terminal.one_line(why), max(10, terminal.columns() - 4))
            terminal.say(terminal.quiet(f"    {told}"))


def _address(archive: Archive, key: Key) -> str:
    first = next((e.turn_range[0] for e in archive.record(key[0]).engagements if e.id == key[1]), 1)
    return f"{archive.short(key[0])}#{first}"


def _plain(known: Threads, thread: Thread) -> dict[str, Any]:
    pairs = [known.pairs[key] for key in thread.members]
    days = [
        f"{moment:%Y-%m-%d}"
        for record, engagement in pairs
        for at in (engagement.started or record.started, engagement.ended)
        if (moment := instant(at)) is not None
    ]
    return {
        "id": thread.id,
        "named": thread.named,
        "topic": thread.topic,
        "project": thread.project,
        "sessions": len({key[0] for key in thread.members}),
        "engagements": len(thread.members),
        "started": min(days, default=""),
        "ended": max(days, default=""),
        "phase": pairs[-1][1].phase,
        "members": thread.members,
        "depends_on": [dependency.thread for dependency in thread.depends_on],
    }


def _member(
    archive: Archive, known: Threads, thread: Thread | None, key: Key, here: bool
) -> dict[str, Any]:
    record, engagement = known.pairs[key]
    return {
        "session_id": record.session_id,
        "address": _address(archive, key),
        "engagement": engagement,
        "here": here,
        "continues": thread.continues(key) if thread is not None else None,
        "ties": [tie for tie in thread.ties if tie.later == key] if thread is not None else [],
    }
