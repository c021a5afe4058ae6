"""Work out which sessions and rounds a context has, and at which fidelity (CTX-02)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.engagements import rounds_of_engagement
from minutebook.archive.names import parse_rounds
from minutebook.archive.prospective import of_session
from minutebook.archive.relevance import Relevant, relevant_rounds
from minutebook.archive.semantic import Meaning
from minutebook.errors import BadArgument, NotFound
from minutebook.index.query import Query, parse_query
from minutebook.verbs.context import build_context
from minutebook.verbs.context_text import Context, Source
from minutebook.verbs.query_context import LINES, build_query_context
from minutebook.verbs.round_text import COMMANDS, EVERYTHING, Fidelity, Level, Pointers
from minutebook.verbs.session_summary import session_summary

Mode = Literal["full", "compressed", "recent"]
Address = tuple[str, range | None]
"""A session's id, and which of its rounds were named with it."""
_SESSIONS = 5  # sessions for a query that names none


def materialise(
    archive: Archive,
    names: Sequence[str],
    *,
    meaning: Meaning | None = None,
    mode: Mode = "recent",
    engagement: str | None = None,
    rounds: str | None = None,
    query: str | None = None,
    budget: int | None = None,
    thinking: Level | None = None,
    tool_input: Level | None = None,
    tool_output: Level | None = None,
    around: int = 0,
    words: Pointers = COMMANDS,
) -> Context:
    """The context somebody asks for: of sessions, or of what an engagement or a query finds.

    `around` is what the caller's own words cost, in tokens of the budget; `words` are those of
    the front end.
    """
    if budget is not None and budget < 1:
        raise BadArgument("A budget is a number of tokens, like 20000.")
    if not names and engagement is None and query is None:
        raise BadArgument("Name a session or an engagement, or give a query.")
    asked = [what for what in (engagement, rounds, query) if what is not None]
    if len(asked) > 1:
        raise _chosen_twice()
    addresses = [archive.address(name) for name in names]
    if asked and any(chosen is not None for _, chosen in addresses):
        raise _chosen_twice()
    levels = (thinking, tool_input, tool_output)
    fidelity = _fidelity(mode, *levels)
    if query is not None:
        found = _by_query(archive, addresses, query, meaning or Meaning(archive.layout))
        sources = _worded(found.sources, words)
        if mode != "compressed":
            return build_query_context(
                sources,
                found.query,
                found.rounds,
                typed=query,
                every=bool(names),
                budget=budget,
                around=around,
                fidelity=fidelity if mode == "full" or any(levels) else None,
            )
    elif engagement is not None:
        sources = _by_engagement(archive, addresses, engagement)
    else:
        newest = mode == "full" or budget is not None
        sources = [_by_address(archive, address, rounds, newest) for address in addresses]
    if mode == "compressed":
        sources = [msgspec.structs.replace(source, wanted=()) for source in sources]
    sources = _worded(sources, words)
    return build_context(sources, budget=budget, around=around, fidelity=fidelity)


def _worded(sources: Sequence[Source], words: Pointers) -> list[Source]:
    return [msgspec.structs.replace(source, words=words) for source in sources]


def _chosen_twice() -> BadArgument:
    return BadArgument("Choose rounds by numbers, by an engagement or by a query: one of them.")


def _fidelity(
    mode: Mode, thinking: Level | None, tool_input: Level | None, tool_output: Level | None
) -> Fidelity:
    usual = EVERYTHING if mode == "full" else Fidelity()
    return Fidelity(
        thinking or usual.thinking, tool_input or usual.tool_input, tool_output or usual.tool_output
    )


def _source(
    archive: Archive, session_id: str, wanted: Sequence[int], known: Sequence[int]
) -> Source:
    session, record = archive.open(session_id), archive.record(session_id)
    return Source(session, record, tuple(wanted), tuple(known), archive.short(session_id))


def _by_address(archive: Archive, address: Address, rounds: str | None, newest: bool) -> Source:
    """The rounds that were named in full; without any all, the newest in full if asked for."""
    session_id, chosen = address
    session = archive.open(session_id)
    count = session.count
    if session.withheld and not count and (rounds is not None or chosen is not None):
        raise NotFound(f"Session {archive.short(session_id)}: {session.withheld}")
    if rounds is not None:
        known = parse_rounds(rounds, count)
    elif chosen is not None:
        known = parse_rounds(f"{chosen.start}-{chosen.stop - 1}", count)
    else:
        known = list(range(1, count + 1))
        source = _source(archive, session_id, known[::-1] if newest else (), known)
        return msgspec.structs.replace(source, summary=_summary(archive, source))
    return _source(archive, session_id, known[::-1], known)


def _summary(archive: Archive, source: Source) -> tuple[str, ...]:
    session, record = source.session, source.record
    if record is None:
        return ()
    try:
        links = archive.summary(session.session_id).info.pull_requests
    except NotFound:
        links = ()  # only its minutes are left
    kept = of_session(archive, session.session_id)
    told = session_summary(session, record, (link.url for link in links), kept)
    return (*told, f"- {session.withheld}") if session.withheld and session.count else told


def _by_engagement(archive: Archive, addresses: Sequence[Address], engagement: str) -> list[Source]:
    within = {session_id for session_id, _ in addresses} or None
    found = rounds_of_engagement(archive, engagement, within)
    sources = [_source(archive, id, n[::-1], n) for id, n in found.items() if n]
    if not sources:
        raise NotFound(f"The rounds of engagement '{engagement}' are not in the archive.")
    return sources


class _Found(NamedTuple):
    """What a query found, the best first."""

    sources: list[Source]
    query: Query
    rounds: list[Relevant]


def _by_query(
    archive: Archive, addresses: Sequence[Address], text: str, meaning: Meaning
) -> _Found:
    """Rounds about a query, and their sessions: those that were named, or the best few."""
    query = parse_query(text)
    if query.is_empty:
        raise BadArgument("A query says what it should be about, like 'passkey login'.")
    named = list(dict.fromkeys(session_id for session_id, _ in addresses))
    found = relevant_rounds(archive, query, named, **meaning.ways)
    there = archive.ids()  # an index that can only be read may be older
    found = [item for item in found if item.session_id in there]
    best = list(dict.fromkeys(item.session_id for item in found))
    sessions = [*best, *(id for id in named if id not in best)] if named else best[:_SESSIONS]
    if not sessions:
        raise NotFound(f"Nothing is about '{text}'. Other words may help.")
    sources = []
    for id in sessions:
        about = sorted(item.round for item in found[:LINES] if item.session_id == id)
        # Without a named session only what is relevant is worth a line.
        sources.append(_source(archive, id, (), () if named else about))
    counts = {source.session.session_id: source.session.count for source in sources}
    rounds = [i for i in found if i.round <= counts.get(i.session_id, i.round)]
    return _Found(sources, query, rounds)
