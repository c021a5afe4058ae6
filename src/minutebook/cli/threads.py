"""``search --threads``, ``--chain`` and ``--deps``: threads as a person reads them (FUT-06)."""

from __future__ import annotations

import click

from minutebook.archive import Archive
from minutebook.archive.threads import Threads, threads
from minutebook.cli import terminal
from minutebook.cli.hits import print_total
from minutebook.cli.json_output import print_json
from minutebook.derive.threads import Key, Thread
from minutebook.derive.times import instant
from minutebook.errors import BadArgument, NotFound
from minutebook.index.query import Filters
from minutebook.verbs.threads import (
    address_of,
    passing_threads,
    plain_member,
    plain_needs,
    plain_thread,
    where_it_stands,
)


def print_threads(
    archive: Archive, filters: Filters, *, page: int, limit: int, as_json: bool
) -> None:
    """Threads with an engagement that passes the filters, the newest first."""
    known = threads(archive)
    every = passing_threads(archive, filters)
    shown = every[(page - 1) * limit : page * limit]
    if as_json:
        print_json(total=len(every), threads=[plain_thread(known, thread) for thread in shown])
        return
    for thread in shown:
        _print_thread(known, thread)
    print_total(len(every), len(shown), page, limit, what="thread")
    if not every:
        left = terminal.plural(len(known.every), "thread does", "threads do")
        why = (
            f"{left} not pass the filters" if known.every else "no work here spans several sessions"
        )
        terminal.note(f"No threads found: {why}.")


def print_chain(archive: Archive, address: str, *, as_json: bool) -> None:
    """What came before and after a round's engagement, in its thread."""
    known = threads(archive)
    session_id, rounds = archive.address(address)
    if rounds is None:
        raise BadArgument(f"Name the round: {archive.short(session_id)}#1.")
    record = archive.record(session_id)
    here = next((e for e in record.engagements if e.covers(rounds.start)), None)
    if here is None:
        raise NotFound(f"No engagement covers {terminal.one_line(address)}.")
    thread = known.of(session_id, here.id)
    key = known.copies.get((session_id, here.id), (session_id, here.id))
    members = thread.members if thread is not None else (key,)
    if as_json:
        chain = [
            plain_member(archive, known, thread, member, here=member == key) for member in members
        ]
        print_json(thread=thread.id if thread else None, chain=chain)
        return
    if thread is None:
        terminal.note("It is in no thread: nothing links it to other sessions.")
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
        print_json(thread=thread.id, **plain_needs(known, thread))
        return
    _print_thread(known, thread)
    for dependency in thread.depends_on:
        by = address_of(archive, known, dependency.by)
        what = terminal.one_line(f"{dependency.thread} ({dependency.evidence}, named in {by})")
        terminal.say(f"  needs {what}")
    for other in needed_by:
        terminal.say(f"  is needed by {terminal.one_line(other.id)}")
    if not thread.depends_on and not needed_by:
        terminal.note("It depends on no thread, and none depends on it.")


# -- lines


def _print_thread(known: Threads, thread: Thread) -> None:
    told = plain_thread(known, thread)
    days = " to ".join(dict.fromkeys((told["started"], told["ended"])))
    counts = (
        terminal.plural(told["engagements"], "engagement"),
        terminal.plural(told["sessions"], "session"),
    )
    projects = ", ".join(told["projects"])
    facts = f"{where_it_stands(told)} · {projects} · {days} · {' in '.join(counts)}"
    room = terminal.columns()
    name = terminal.fit(terminal.one_line(thread.id), room)
    terminal.say(click.style(name, fg="cyan"))
    terminal.say(f"  {terminal.fit(terminal.one_line(thread.topic), room - 2)}")
    terminal.say(terminal.quiet(terminal.hanging(f"  {terminal.one_line(facts)}", 2)))


def _print_member(
    archive: Archive, known: Threads, thread: Thread, key: Key, *, here: bool
) -> None:
    record, engagement = known.pairs[key]
    when = instant(engagement.started or record.started)
    day = f"{when:%Y-%m-%d}" if when else "undated   "
    address = terminal.one_line(address_of(archive, known, key))
    mark = "→" if here else " "
    label = terminal.one_line(f"{engagement.method}, {engagement.phase}: {engagement.topic}")
    room = terminal.columns() - len(address) - 16
    styled = click.style(address, fg="cyan")
    terminal.say(f"{mark} {day}  {styled}  {terminal.fit(label, max(10, room))}")
    member = plain_member(archive, known, thread, key, here=here)
    reasons = ["by your word"] if member["said"] else []
    for tie in member["ties"]:
        before = address_of(archive, known, tie.earlier)
        reasons.append(f"{tie.kind} {tie.evidence} ({tie.confidence:.2f}), as {before}")
    for why in reasons:
        told = terminal.fit(terminal.one_line(why), max(10, terminal.columns() - 4))
        terminal.say(terminal.quiet(f"    {told}"))
