"""Copies of a conversation are labelled once, and paid for once (UND-08).

A fork, or a transcript that was copied on resume, begins with the messages of another session.
Of such sessions the one that a model read, else the one that goes on longest, is extracted; the
others take its engagements for the rounds they share, and only the rounds of their own are
extracted anew. A model needs the whole conversation, so a fork is sent as a whole; unless fewer
than `OWN_ROUNDS` are its own, which the rules label well enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.prompts import as_one, of_copies, prompt_ids
from minutebook.derive.activity import Activity
from minutebook.derive.genealogy import Copy, copied, first_id
from minutebook.extract.extractor import Extractor, Failed
from minutebook.extract.material import Material, rest_of
from minutebook.extract.records import extracted_record, free_id, with_facts
from minutebook.model.engagement import Engagement, SessionRecord
from minutebook.verbs.label import read_material
from minutebook.verbs.select import OFFLINE, is_outdated

OWN_ROUNDS = 3
"""A fork with fewer rounds of its own is not sent to a model."""


def not_sent(
    archive: Archive,
    pending: Mapping[str, Sequence[str]],
    records: Mapping[str, SessionRecord],
    extractor: Extractor,
    *,
    again: bool = False,
) -> dict[str, str]:
    """Sessions a model need not be asked about → the session whose answer holds for them.

    `pending` has the ids of the prompts of those that would be sent.
    """
    found: dict[str, str] = {}
    for members in _families(archive, pending):
        usable = {
            id: prompt_ids(archive, id)
            for id in members - pending.keys()
            if not again and _is_current(records.get(id), extractor)
        }
        asked = {id: pending[id] for id in members & pending.keys()}
        known = as_one(archive, {**usable, **asked})
        for id, copy in copied(_in_order(known, dict.fromkeys(usable, 1))).items():
            if id in pending and len(known[id]) - len(copy.rounds) < OWN_ROUNDS:
                found[id] = copy.session_id
    return found


def with_copies(
    archive: Archive,
    changed: Sequence[str],
    waiting: Mapping[str, SessionRecord],
    records: Mapping[str, SessionRecord],
) -> Iterator[SessionRecord]:
    """Records that take engagements from a session they are a copy of, where that is news.

    `waiting` are sessions nobody was asked about, with what is known of them otherwise. Each
    record is to be among `records` before the next is asked for.
    """
    entries, news = archive.ledger().sessions, {*changed, *waiting}
    begun = {id: entries[id].info.prompt_ids for id in news if id in entries}
    for members in _families(archive, begun):
        known = of_copies(
            archive,
            [
                id
                for id in sorted(members)
                if id in waiting or ((record := records.get(id)) is not None and record.engagements)
            ],
        )
        ranks = {id: 1 if id in waiting else 2 * (records[id].extractor != OFFLINE) for id in known}
        open_ends = set(waiting)
        for id, copy in copied(_in_order(known, ranks)).items():
            source = records.get(copy.session_id)
            if source is None or copy.session_id in open_ends:
                continue
            if id in waiting and (source.failure or source.extractor == OFFLINE):
                continue  # it is asked about by the next run
            base = waiting.get(id) or records[id]
            if not news & {id, copy.session_id} and _is_of(base, copy):
                continue
            material = _material(archive, id)
            if material is None:
                continue
            open_ends.discard(id)
            record = _taken(base, material, copy, source, waits=id in waiting)
            if record != records.get(id):
                yield record


def _families(archive: Archive, begun: Mapping[str, Sequence[str]]) -> Iterator[set[str]]:
    """Sessions that begin with one message, of which one is among these."""
    firsts = {first: id for id, ids in begun.items() if (first := first_id(ids)) is not None}
    found: dict[str, set[str]] = {}
    for id, entry in archive.ledger().sessions.items():
        if (first := first_id(entry.info.prompt_ids)) in firsts and first is not None:
            found.setdefault(first, set()).add(id)
    for id, ids in begun.items():
        if (first := first_id(ids)) is not None:
            found.setdefault(first, set()).add(id)
    return (members for members in found.values() if len(members) > 1)


def _material(archive: Archive, session_id: str) -> Material | None:
    """A session as an extractor sees it; None for one that cannot be read."""
    entry = archive.ledger().sessions.get(session_id)
    try:
        return read_material(archive, session_id, entry.info if entry is not None else None)
    except OSError:
        return None


def _in_order(
    rounds: Mapping[str, Sequence[str]], ranks: Mapping[str, int]
) -> list[tuple[str, Sequence[str]]]:
    """The session whose engagements count before those that take them: by rank, then length."""
    found = sorted(
        ((ranks.get(id, 0), len(known), id) for id, known in rounds.items()), reverse=True
    )
    return [(id, rounds[id]) for _, _, id in found]


def _is_current(record: SessionRecord | None, extractor: Extractor) -> bool:
    """Whether a model's answer of an earlier run holds."""
    if record is None or not record.engagements or record.failure is not None:
        return False
    return record.extractor != OFFLINE and not is_outdated(record, extractor)


# -- records


def _taken(
    base: SessionRecord, material: Material, copy: Copy, source: SessionRecord, *, waits: bool
) -> SessionRecord:
    """A record with another's engagements for the beginning, and its own for the rest."""
    count = len(copy.rounds)
    whole = len(material.rounds) == count
    shared = [*_shared(source, copy, material)]
    own = _own(base, material, copy, waits=waits) if not whole else ()
    taken = {engagement.id for engagement in shared}
    rest: list[Engagement] = []
    for engagement in own:
        id = free_id(engagement.id, taken)
        taken.add(id)
        rest.append(msgspec.structs.replace(engagement, id=id))
    modelled = count if source.extractor != OFFLINE else min(source.modelled, count)
    record = msgspec.structs.replace(
        base,
        engagements=(*shared, *rest),
        copy_of=copy.session_id,
        copied=count,
        ghost=False,
    )
    if waits or whole:
        return msgspec.structs.replace(
            record,
            session_summary=source.session_summary if waits else base.session_summary,
            agent_role=base.agent_role or source.agent_role,
            extractor=source.extractor,
            extractor_model=source.extractor_model,
            prompt_version=source.prompt_version,
            modelled=modelled if rest or source.extractor == OFFLINE else 0,
        )
    if base.extractor == OFFLINE:
        return msgspec.structs.replace(record, modelled=max(modelled, base.modelled))
    return record


def _shared(source: SessionRecord, copy: Copy, material: Material) -> Iterator[Engagement]:
    for engagement in source.engagements:
        first, last = engagement.turn_range
        here = [number for number, at in enumerate(copy.rounds, 1) if first <= at <= last]
        if not here:
            continue
        taken = _fitted(engagement, here[0], here[-1], material)
        if copy.rounds[here[0] - 1] == first:  # what waited was sent later, and from a branch
            taken = msgspec.structs.replace(
                taken, started=engagement.started, branches=taken.branches or engagement.branches
            )
        yield taken


def _is_of(record: SessionRecord, copy: Copy) -> bool:
    return record.copy_of == copy.session_id and record.copied == len(copy.rounds)


def _own(
    base: SessionRecord, material: Material, copy: Copy, *, waits: bool
) -> tuple[Engagement, ...]:
    """What a session did after the rounds that are a copy."""
    count = len(copy.rounds)
    own = tuple(e for e in base.engagements if e.turn_range[1] > count)
    if _is_of(base, copy):
        return own
    if not waits and (base.extractor != OFFLINE or base.modelled > count):
        return tuple(
            _fitted(e, max(e.turn_range[0], count + 1), e.turn_range[1], material) for e in own
        )
    from minutebook.extract.offline import OfflineExtractor

    rules = OfflineExtractor()
    rest = rest_of(material, count)
    try:
        return extracted_record(base, rest, rules.extract(rest), rules, base).engagements
    except Failed:
        return own


def _fitted(engagement: Engagement, first: int, last: int, material: Material) -> Engagement:
    """An engagement over these rounds of another session, with what they left behind."""
    now = msgspec.structs.replace(engagement, turn_range=(first, last), parts=())
    rounds: Sequence[Activity] = material.rounds
    return with_facts(now, rounds, material.info.pull_requests)
