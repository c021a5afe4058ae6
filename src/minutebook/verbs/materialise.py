"""From what somebody asks for to the sessions, rounds and fidelity of a context (CTX-02)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Literal

import msgspec

from minutebook.record.layout import Layout
from minutebook.errors import BadArgument, NotFound
from minutebook.index.query import parse_query
from minutebook.model import Roster
from minutebook.model.engagement import SessionRecord
from minutebook.sources.library import Library
from minutebook.verbs.context import Context, Source, build_context
from minutebook.verbs.engagement_rounds import numbers, rounds_of_engagement
from minutebook.verbs.find import parse_address
from minutebook.verbs.minutes import Minutes
from minutebook.verbs.name_session import known_ids, session_called, shortest
from minutebook.verbs.open_session import OpenSession, open_session
from minutebook.verbs.round_text import EVERYTHING, Fidelity, Level
from minutebook.verbs.search import relevant_rounds
from minutebook.verbs.semantic import Meaning

Mode = Literal["full", "compressed", "recent"]
_RELEVANT = 8  # rounds in full for a query, where no budget says how many
_LINES = 40  # rounds worth a line, for a query that names no session
_SESSIONS = 5  # sessions for a query that names none
_ROUNDS = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")


class Shelf:
    """Sessions by name, opened once."""

    def __init__(
        self,
        layout: Layout,
        library: Library,
        roster: Roster,
        minutes: Minutes | None = None,
        meaning: Meaning | None = None,
    ) -> None:
        self.layout, self.library, self.roster = layout, library, roster
        self.minutes = minutes or Minutes(layout)
        self.meaning = meaning or Meaning(layout)

    def called(self, name: str) -> str:
        records = self.minutes.records()
        return session_called(self.layout, self.library, self.roster, records, name)

    def open(self, session_id: str) -> OpenSession:
        found = (t for t in self.library.transcripts if t.session_id == session_id)
        entry = self.minutes.entry(session_id)
        return open_session(self.layout, session_id, entry, next(found, None))

    def record(self, session_id: str) -> SessionRecord | None:
        return self.minutes.records().get(session_id)

    def source(
        self, session_id: str, wanted: Sequence[int] = (), known: Sequence[int] = ()
    ) -> Source:
        record = self.record(session_id)
        short = self.short(session_id)
        return Source(self.open(session_id), record, tuple(wanted), tuple(known), short)

    def short(self, session_id: str) -> str:
        """The start of an id that names no other session."""
        return shortest(session_id, self._ids)

    @cached_property
    def _ids(self) -> set[str]:
        return known_ids(self.layout, self.library, self.minutes.records())


def materialise(
    shelf: Shelf,
    names: Sequence[str],
    *,
    mode: Mode = "recent",
    engagement: str | None = None,
    rounds: str | None = None,
    query: str | None = None,
    budget: int | None = None,
    thinking: Level | None = None,
    tool_input: Level | None = None,
    tool_output: Level | None = None,
    secrets: bool = False,
) -> Context:
    """The context somebody asks for; keys and tokens are masked unless `secrets` are wanted."""
    if budget is not None and budget < 1:
        raise BadArgument("A budget is a number of tokens, like 20000.")
    if not names and engagement is None and query is None:
        raise BadArgument("Name a session, or say what it should be about with --query.")
    asked = [what for what in (engagement, rounds, query) if what is not None]
    if len(asked) > 1 or (asked and any(parse_address(name)[1] for name in names)):
        raise BadArgument(
            "Rounds are chosen by numbers, by an engagement or by a query: one of them."
        )
    usual = EVERYTHING if mode == "full" else Fidelity()
    fidelity = Fidelity(
        thinking or usual.thinking, tool_input or usual.tool_input, tool_output or usual.tool_output
    )
    if engagement is not None:
        sources = _by_engagement(shelf, names, engagement)
    elif query is not None:
        sources = _by_query(shelf, names, query, budget)
    else:
        sources = [_by_address(shelf, name, mode, rounds, budget) for name in names]
    if mode == "compressed":
        sources = [msgspec.structs.replace(source, wanted=()) for source in sources]
    return build_context(sources, budget=budget, fidelity=fidelity, secrets=secrets)


def _by_address(
    shelf: Shelf, name: str, mode: Mode, rounds: str | None, budget: int | None
) -> Source:
    called, chosen = _address(shelf, name)
    session = shelf.open(called)
    everything = range(1, session.count + 1)
    if rounds is not None:
        wanted = parse_rounds(rounds, session.count)
        return shelf.source(called, wanted[::-1], sorted(wanted))
    known = [n for n in chosen if n <= session.count] if chosen is not None else list(everything)
    if chosen is not None and not known:
        raise NotFound(f"Session {called[:8]} has {session.count} rounds; not {chosen.start}.")
    if mode == "compressed" or (mode == "recent" and budget is None and chosen is None):
        return shelf.source(called, (), known)
    return shelf.source(called, known[::-1], known)


def _address(shelf: Shelf, name: str) -> tuple[str, range | None]:
    called, chosen = parse_address(name)
    try:
        return shelf.called(called), chosen
    except NotFound:
        if chosen is None:
            raise
        return shelf.called(name), None  # a title that ends like an address


def _by_engagement(shelf: Shelf, names: Sequence[str], engagement: str) -> list[Source]:
    within = {_address(shelf, name)[0] for name in names} if names else None
    found = rounds_of_engagement(shelf.layout, engagement, within)
    sources = []
    for session_id, ranges in found.items():
        wanted = numbers(ranges, shelf.open(session_id).count)
        sources.append(shelf.source(session_id, wanted[::-1], wanted))
    return sources


def _by_query(shelf: Shelf, names: Sequence[str], text: str, budget: int | None) -> list[Source]:
    query = parse_query(text)
    if query.is_empty:
        raise BadArgument("Say what it should be about: --query 'passkey login'.")
    called = list(dict.fromkeys(_address(shelf, name)[0] for name in names))
    meaning = shelf.meaning
    found = relevant_rounds(
        shelf.layout,
        shelf.library,
        query,
        called,
        embedder=meaning.embedder,
        ready=meaning.ready,
    )
    if not called:
        found = found[:_LINES]
    sessions = called or list(dict.fromkeys(id for id, _ in found))[:_SESSIONS]
    if not sessions:
        raise NotFound(f"Nothing is about '{text}'. Other words may help.")
    best = found if budget is not None else found[:_RELEVANT]
    sources = []
    for session_id in sessions:
        wanted = [round for id, round in best if id == session_id]
        # Without a named session only what is relevant is worth a line.
        known = () if called else sorted({round for id, round in found if id == session_id})
        sources.append(shelf.source(session_id, wanted, known))
    return sources


def parse_rounds(text: str, count: int, *, beyond: bool = True) -> list[int]:
    """``3,7-12`` as numbers, in order; those the session does not have are said.

    A range may end `beyond` the session: it is as long as the session is.
    """
    found: set[int] = set()
    for piece in text.split(","):
        match = _ROUNDS.fullmatch(piece.strip())
        first = int(match[1]) if match else 0
        last = int(match[2] or match[1]) if match else 0
        if not 1 <= first <= last:
            raise BadArgument(f"'{piece}' is no round and no range: write them like 3,7-12.")
        if first > count or (last > count and not beyond):
            number = first if first > count else last
            raise NotFound(f"There are {count} rounds; there is no round {number}.")
        found.update(range(first, min(last, count) + 1))
    return sorted(found)
