"""What an ingest would do, session by session. Writes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Literal

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.run import RunView
from minutebook.derive.titles import session_title
from minutebook.extract.extractor import Extractor
from minutebook.extract.prompt import sent_chars
from minutebook.extract.second_look import is_long
from minutebook.model.engagement import SessionRecord
from minutebook.sources.base import reason_of
from minutebook.sources.fan_out import fan_out
from minutebook.verbs.copies import not_sent
from minutebook.verbs.ingest import Forecast, total_cost
from minutebook.verbs.label import is_the_same, read_material, would_be_ghost
from minutebook.verbs.select import Selected, select


class Surveyed(msgspec.Struct, frozen=True):
    """One session, as an ingest would find it (ING-27)."""

    session_id: str
    title: str | None
    bytes: int
    chars: int
    """Length of the whole skeleton."""
    sent: int
    """Length of what would be sent: the skeleton, shortened where it is too long, with facts."""
    user_messages: int
    ghost: bool
    truncated: bool
    due: bool
    cost_usd: float | None = None
    problem: str | None = None
    second_look: bool = False
    """Whether a model would be asked twice, the session being long."""
    copy_of: str | None = None
    """The session whose engagements it takes: it is not sent, and costs nothing."""
    waits: bool = False
    """Whether it would be labelled offline although a model is asked about others."""

    @property
    def fate(self) -> Literal["skipped", "ghosts", "copies", "unchanged", "offline", "due"]:
        """What would become of it: one of the fields of `Counts`."""
        if self.problem is not None:
            return "skipped"
        if self.ghost:
            return "ghosts"
        if not self.due:
            return "unchanged"
        if self.copy_of is not None:
            return "copies"
        return "offline" if self.waits else "due"


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """How many sessions would be treated how: each is in one of these numbers."""

    due: int = 0
    """Sent to the model, or labelled offline where none is used."""
    offline: int = 0
    """Labelled offline, because no model may be asked about them or nobody said so yet."""
    copies: int = 0
    """They take the engagements of another session: not sent."""
    ghosts: int = 0
    unchanged: int = 0
    skipped: int = 0
    """Not transcripts, or not readable."""


def counted(found: Sequence[Surveyed]) -> Counts:
    return Counts(**Counter[str](session.fate for session in found))


def forecast_of(
    found: Sequence[Surveyed], extractor: Extractor, *, batch: bool = False, backlog: bool = False
) -> Forecast:
    """What asking about these sessions would take: what a run says before it asks."""
    asks = extractor.destination is not None
    due = [session for session in found if asks and session.fate == "due"]
    return Forecast(
        calls=len(due),
        chars=sum(session.sent for session in due),
        cost_usd=total_cost([session.cost_usd for session in due], batch=batch),
        destination=extractor.destination,
        extractor=extractor.name,
        model=extractor.model,
        backlog=backlog,
        second_looks=0 if batch else sum(session.second_look for session in due),
    )


def survey(
    archive: Archive,
    extractor: Extractor,
    sessions: Sequence[str] | None = None,
    *,
    again: bool = False,
    skip_existing: bool = False,
    backlog: bool = False,
) -> list[Surveyed]:
    """Read sessions and say what an ingest would make of them."""
    records = archive.minutes.stored()
    selected = select(
        RunView(archive, archive.ledger()),
        records,
        extractor,
        None,
        sessions,
        again=again,
        skip_existing=skip_existing,
        backlog=backlog,
    )
    chosen = [item for item in selected if item.told is None or item.told.outcome != "duplicate"]
    look = partial(_look, archive, records, extractor, again, backlog)
    found = {item.session_id: seen for item, seen in fan_out(look, chosen)}
    begun = {id: ids for id, (seen, ids) in found.items() if seen.fate == "due"}
    copies: dict[str, str] = {}
    if extractor.destination is not None:
        copies = not_sent(archive, begun, records, extractor, again=again)
    told = [_without_cost(seen, copies.get(id)) for id, (seen, _) in found.items()]
    return sorted(told, key=lambda item: (-item.chars, item.session_id))


def _without_cost(seen: Surveyed, copy_of: str | None) -> Surveyed:
    if copy_of is None:
        return seen
    return msgspec.structs.replace(seen, copy_of=copy_of, cost_usd=0.0)


def _look(
    archive: Archive,
    records: dict[str, SessionRecord],
    extractor: Extractor,
    again: bool,
    backlog: bool,
    item: Selected,
) -> tuple[Surveyed, Sequence[str]]:
    """A session, and the ids of its prompts: copies share them."""
    try:
        material = read_material(archive, item.session_id)
    except OSError as error:
        return _unreadable(item, reason_of(error)), ()
    if material is None:
        return _unreadable(item, "not a transcript"), ()
    info, record, due = material.info, records.get(item.session_id), item.is_due
    ghost = would_be_ghost(archive, info, record)
    if due and not again and record is not None:
        now = msgspec.structs.replace(record, digest=material.digest)
        due = not is_the_same(record, now, extractor) or (backlog and record.backlog)
    asks = extractor.destination is not None
    waits = asks and (not item.allowed or (item.backlog and not backlog))
    title = session_title(info, record.engagements if record is not None else ())
    seen = Surveyed(
        item.session_id,
        archive.hide(title) if title else None,
        item.size,
        material.chars,
        sent_chars(material),
        info.prompts,
        ghost,
        material.truncated,
        due,
        extractor.forecast(material) if due and not ghost and not waits else 0.0,
        second_look=asks and is_long(material),
        waits=waits,
    )
    return seen, [round.id for round in material.rounds]


def _unreadable(item: Selected, problem: str) -> Surveyed:
    return Surveyed(
        item.session_id,
        None,
        item.size,
        0,
        0,
        0,
        ghost=True,
        truncated=False,
        due=False,
        problem=problem,
    )
