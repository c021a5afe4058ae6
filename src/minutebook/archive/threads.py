"""The threads of an archive: pieces of work that span several sessions (FUT-06)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.folding import once, visible
from minutebook.archive.lineage import ties
from minutebook.archive.masking import hidden
from minutebook.archive.names import nearest
from minutebook.derive.evidence import reasons
from minutebook.derive.genealogy import Pair
from minutebook.derive.references import pulled
from minutebook.derive.threads import Key, Origin, Part, Thread, threads_of
from minutebook.derive.times import instant
from minutebook.errors import NotFound
from minutebook.extract.validation import one_line
from minutebook.model.engagement import OPEN_PHASES, Engagement, SessionRecord
from minutebook.model.said import Thread as Said
from minutebook.model.session import project_of

if TYPE_CHECKING:  # the search behind it takes long to load, and `ingest` needs none
    from minutebook.archive.hit import Hit

_MOST_NUMBERS = 4
"""Work that names more issues than this is about none of them: a triage, a release."""
_SURE = 0.9
"""From this confidence on, an inferred continuation ties threads: a plan that was handed over, a
session that is named. What a branch says ties them by itself."""


class Threads(msgspec.Struct, frozen=True):
    """What is one piece of work, and where each engagement belongs."""

    every: list[Thread]
    """The one with the newest work first."""
    by_key: dict[Key, Thread]
    copies: dict[Key, Key]
    """Engagements of copied conversations → the one that is shown."""
    pairs: dict[Key, Pair]

    def of(self, session_id: str, engagement_id: str) -> Thread | None:
        key = (session_id, engagement_id)
        return self.by_key.get(self.copies.get(key, key))

    def still_open(self, pairs: Iterable[Pair]) -> set[Key]:
        """Which of these were left open; one that another of them goes on with, in any project, is
        a step of its thread."""
        left: set[Key] = set()
        places: dict[Key, tuple[str, int]] = {}
        newest: dict[str, int] = {}
        for record, engagement in pairs:
            key = (record.session_id, engagement.id)
            if engagement.phase in OPEN_PHASES:
                left.add(key)
            if (thread := self.of(*key)) is not None:
                place = thread.members.index(self.copies.get(key, key))
                places[key] = (thread.id, place)
                newest[thread.id] = max(newest.get(thread.id, 0), place)
        return {key for key in left if key not in places or places[key] in newest.items()}

    def named(self, name: str) -> Thread:
        """The thread of an id, or of the start of one."""
        ids = [thread.id for thread in self.every]
        meant = name.casefold()
        fitting = [t for t in self.every if t.id.casefold() == meant]
        fitting = fitting or [t for t in self.every if t.id.casefold().startswith(meant)]
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            told = ", ".join(thread.id for thread in fitting[:5])
            raise NotFound(f"'{name}' fits several threads ({told}): write more of it.")
        raise NotFound(f"There is no thread '{name}'.{nearest(name, ids)}", remedy="threads")

    def needed_by(self, thread: Thread) -> list[Thread]:
        return [t for t in self.every if any(d.thread == thread.id for d in t.depends_on)]


_known: WeakKeyDictionary[Archive, tuple[object, Threads]] = WeakKeyDictionary()


def threads(archive: Archive) -> Threads:
    """The threads there are; found once, as long as nothing changes."""
    version = archive.minutes.version
    kept = _known.get(archive)
    if kept is None or kept[0] != version:
        kept = (version, _found(archive))
        _known[archive] = kept
    return kept[1]


def keys_of(archive: Archive, name: str) -> frozenset[Key]:
    """The engagements of a thread, as a filter takes them."""
    return frozenset(threads(archive).named(name).members)


def with_threads(archive: Archive, hits: Iterable[Hit]) -> list[Hit]:
    """Hits that say which thread they belong to."""
    known = threads(archive)
    return [
        msgspec.structs.replace(hit, thread=thread.id)
        if hit.engagement is not None
        and (thread := known.of(hit.session_id, hit.engagement.id)) is not None
        else hit
        for hit in hits
    ]


def _found(archive: Archive) -> Threads:
    records = archive.records()
    shown, _ = once(archive, visible(records.values()))
    pairs = {
        (record.session_id, engagement.id): (record, engagement) for record, engagement in shown
    }
    copies = _copies(records.values(), pairs)
    spelled = _spelled(archive)
    said = {
        key: spelled.get(engagement.said_thread.casefold(), engagement.said_thread) or None
        for key, (_, engagement) in pairs.items()
        if engagement.said_thread is not None
    }
    every = threads_of((_part(*pair) for pair in shown), _origins(archive), said)
    by_key = {key: thread for thread in every for key in thread.members}
    return Threads(every, by_key, copies, pairs)


def _spelled(archive: Archive) -> dict[str, str]:
    """Names of threads as a person first wrote them, by their small letters."""
    found: dict[str, str] = {}
    for item in archive.minutes.all_said():
        if isinstance(item.statement, Said) and not item.undone:
            name = one_line(item.statement.name)
            found.setdefault(name.casefold(), name)
    return found


def _origins(archive: Archive) -> dict[str, list[Origin]]:
    """Which sessions a session goes on with, by its lineage."""
    found: dict[str, list[Origin]] = {}
    for edge in ties(archive):
        if edge.kind == "delegated" or edge.evidence[0].what == "shared-messages":
            continue  # what copies share is one engagement already
        if edge.recorded:
            found.setdefault(edge.newer, []).append(Origin(edge.older))
        elif edge.kind == "continues" and edge.confidence >= _SURE:
            told = "; ".join(reasons(hidden(edge, archive.hide), archive.short))
            sure = Origin(edge.older, "lineage", told, edge.confidence)
            found.setdefault(edge.newer, []).append(sure)
    return found


def _copies(records: Iterable[SessionRecord], shown: Mapping[Key, Pair]) -> dict[Key, Key]:
    moments = {(engagement.id, engagement.started): key for key, (_, engagement) in shown.items()}
    found: dict[Key, Key] = {}
    for record in records:
        for engagement in record.engagements:
            key = (record.session_id, engagement.id)
            other = moments.get((engagement.id, engagement.started))
            if key not in shown and other is not None:
                found[key] = other
    return found


def _part(record: SessionRecord, engagement: Engagement) -> Part:
    opened = pulled(engagement.pull_requests)
    named = engagement.references if len(engagement.references) <= _MOST_NUMBERS else ()
    return Part(
        key=(record.session_id, engagement.id),
        topic=engagement.topic,
        project=project_of(engagement.project or record.cwd or ""),
        started=_seconds(engagement.started or record.started),
        ended=_seconds(engagement.ended),
        first=engagement.turn_range[0],
        branches=record.branches_of(engagement),
        numbers=tuple(dict.fromkeys((*opened, *named))),
        needs=engagement.needs,
        files=engagement.files,
    )


def _seconds(timestamp: str | None) -> float:
    moment = instant(timestamp)
    return moment.timestamp() if moment is not None else 0.0
