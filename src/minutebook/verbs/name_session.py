"""The session a person or an agent means, whether its transcript or its inscription is left.

By the start of its id first, then by what the minutes call it; only what neither knows is
looked for in the transcripts themselves, which takes a skim of them all.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from minutebook.record.layout import Layout
from minutebook.record.ledger import load_ledger
from minutebook.errors import Ambiguous, BadArgument, NotFound
from minutebook.model import Roster
from minutebook.model.engagement import SessionRecord
from minutebook.sources.library import Library
from minutebook.verbs.find import find_session


def session_called(
    layout: Layout,
    library: Library,
    roster: Roster,
    records: dict[str, SessionRecord],
    name: str,
) -> str:
    """The id of the one session that fits."""
    wanted = name.strip().lower()
    if not wanted:
        raise BadArgument("Name a session: the start of its id, a title or a name.")
    ids = known_ids(layout, library, records)
    by_id = [id for id in ids if id.lower().startswith(wanted)]
    exact = [id for id in by_id if id.lower() == wanted]
    if by_id:
        return _only(exact or by_id, name)
    named = {
        record.session_id: [
            text.lower() for text in (record.agent_name, record.title, record.slug) if text
        ]
        for record in records.values()
    }
    whole = [id for id, names in named.items() if wanted in names]
    part = [id for id, names in named.items() if any(wanted in text for text in names)]
    if whole or part:
        return _only(whole or part, name)
    try:
        return find_session(library, roster, name).session_id
    except NotFound:
        near = nearest(name, (text for names in named.values() for text in names))
        raise NotFound(f"No session is called '{name}'.{near}") from None


def nearest(name: str, known: Iterable[str]) -> str:
    """``Did you mean …?`` with names that are spelt like one; empty where none is."""
    found = get_close_matches(name.lower(), list(dict.fromkeys(known)), 3)
    return f" Did you mean {' or '.join(repr(text) for text in found)}?" if found else ""


def known_ids(layout: Layout, library: Library, records: dict[str, SessionRecord]) -> set[str]:
    """Every session there is, in whatever form."""
    ids = {transcript.session_id for transcript in library.transcripts}
    return ids | set(load_ledger(layout).sessions) | set(records)


def shortest(id: str, others: Iterable[str]) -> str:
    """The start of an id, of eight characters or more, that none of the others has."""
    alike = [other for other in others if other != id and other.startswith(id[:8])]
    length = 8
    while length < len(id) and any(other.startswith(id[:length]) for other in alike):
        length += 1
    return id[:length]


def _only(found: list[str], name: str) -> str:
    if len(found) == 1:
        return found[0]
    some = ", ".join(sorted(shortest(id, found) for id in found)[:5])
    raise Ambiguous(f"'{name}' fits {len(found)} sessions: {some}. Give a longer prefix.")
