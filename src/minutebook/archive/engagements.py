"""Which rounds belong to an engagement, wherever they are."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from minutebook.archive.archive import Archive
from minutebook.archive.names import nearest
from minutebook.errors import Ambiguous, NotFound
from minutebook.model.engagement import Engagement

_MOST_NAMED = 8


def rounds_of_engagement(
    archive: Archive, engagement_id: str, sessions: Collection[str] | None = None
) -> dict[str, list[int]]:
    """Session → numbers of an engagement's rounds; it may go over several sessions.

    Ids are made from topics, so sessions that have nothing to do with each other may have the
    same one: unless `sessions` are named, only those are joined of which somebody said that they
    belong together, and copies of one conversation.
    """
    found: dict[str, list[int]] = {}
    known: set[str] = set()
    for session_id, record in archive.minutes.records().items():
        if sessions is not None and session_id not in sessions:
            continue
        known |= {archive.hide(engagement.id) for engagement in record.engagements}
        ranges = [r for e in _called(record.engagements, engagement_id) for r in e.ranges]
        if ranges and (archive.transcript(session_id) or session_id in archive.ledger().sessions):
            count = archive.open(session_id).count
            found[session_id] = [
                number for first, last in ranges for number in range(first, min(last, count) + 1)
            ]
    for session_id in list(found):
        # The rounds of a copy are in the session it is a copy of (UND-08).
        record = archive.minutes.records()[session_id]
        if record.copy_of in found:
            found[session_id] = [n for n in found[session_id] if n > record.copied]
    found = {id: numbers for id, numbers in found.items() if numbers}
    if not found:
        raise NotFound(
            f"There is no engagement '{engagement_id}'.{nearest(engagement_id, sorted(known))}",
            remedy="engagements",
        )
    if sessions is None and len(found) > 1:
        _refuse_strangers(archive, engagement_id, found)
    return found


def engagement_called(archive: Archive, name: str) -> str:
    """The id of an engagement of any session, by the whole of it or by its start."""
    known = {
        id
        for record in archive.minutes.records().values()
        for engagement in record.engagements
        for id in (engagement.id, engagement.prospective)
        if id and id.startswith(name)
    }
    if name in known or not known:
        return name
    if len(known) > 1:
        ids = ", ".join(archive.hide(id) for id in sorted(known)[:_MOST_NAMED])
        more = f" and {len(known) - _MOST_NAMED} more" if len(known) > _MOST_NAMED else ""
        raise Ambiguous(f"'{name}' fits the engagements {ids}{more}: write more of it.")
    return known.pop()


def _called(engagements: Iterable[Engagement], id: str) -> list[Engagement]:
    return [e for e in engagements if id in (e.id, e.prospective)]


def _refuse_strangers(archive: Archive, id: str, sessions: Collection[str]) -> None:
    """Refuse an id that sessions have by chance: joined, they would tell strangers of each other.

    A tag of a person puts rounds into the engagement of that id; a project's file names those
    that took part.
    """
    from minutebook.archive.lineage import copies  # most ids are of one session

    records = archive.minutes.records()
    tagged = {s for s in sessions if any(e.tagged for e in _called(records[s].engagements, id))}
    told = tagged | {
        s for s in sessions if any(e.prospective == id for e in _called(records[s].engagements, id))
    }
    kin = copies(archive)
    others = {frozenset({s, *kin.get(s, ())}) for s in sessions if s not in told}
    if not others or (len(others) == 1 and (tagged or not told)):
        return
    names = [archive.short(s) for s in sessions]
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    raise Ambiguous(
        f"Several sessions have an engagement '{archive.hide(id)}', and they are not known to "
        f"belong together: {', '.join(names[:_MOST_NAMED])}{more}.",
        remedy="one-of-sessions",
    )
