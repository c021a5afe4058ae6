"""Say which thread an engagement belongs to; a person's word wins over what was found (FUT-06)."""

from __future__ import annotations

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.saying import find_engagement
from minutebook.archive.threads import threads
from minutebook.errors import BadArgument, NotFound
from minutebook.record.store import writing
from minutebook.record.thread_names import ThreadName, add_thread_name

_LONGEST = 80


class Threaded(msgspec.Struct, frozen=True):
    session_id: str
    engagement_id: str
    thread: str | None
    """Where it belongs now."""


def set_thread(
    archive: Archive, session: str, engagement: str, name: str | None, *, forget: bool = False
) -> Threaded:
    """Put an engagement into a thread, by a new name or the id of one there is; without a name
    into none. `forget` takes back what was said of it."""
    label = " ".join(name.split()) if name is not None else None
    if label is not None and (not label or not label.isprintable() or len(label) > _LONGEST):
        raise BadArgument(f"A thread's name is a word or slug of at most {_LONGEST} characters.")
    session_id = archive.resolve(session)
    with writing(archive.layout.ingest_lock, "thread"):
        record = archive.minutes.records().get(session_id)
        if record is None:
            raise NotFound(
                f"Nobody has taken the minutes of {session_id[:8]} yet: `minutebook ingest`."
            )
        chosen = find_engagement(record, engagement)
        said = ThreadName(session_id, chosen.id, chosen.turn_range, "" if forget else label)
        add_thread_name(archive.layout, said)
    now = threads(archive).of(session_id, chosen.id)
    return Threaded(session_id, chosen.id, now.id if now is not None else None)
