"""What an ingest would do, and why the offline extractor decides as it does. Writes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.run import RunView
from minutebook.derive.titles import session_title
from minutebook.extract.extractor import Extractor
from minutebook.extract.material import Material
from minutebook.extract.offline.extractor import Explanation, extract_offline
from minutebook.extract.prompt import sent_chars
from minutebook.extract.reply import Reply
from minutebook.extract.second_look import is_long
from minutebook.model.engagement import SessionRecord
from minutebook.sources.base import reason_of
from minutebook.sources.fan_out import fan_out
from minutebook.verbs.copies import not_sent
from minutebook.verbs.label import is_the_same, read_material
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
    begun = {id: ids for id, (seen, ids) in found.items() if seen.due and not seen.ghost}
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
    labelled = record is not None and bool(record.engagements)
    ghost = archive.settings.is_ghost(info) and not labelled
    if due and not again and record is not None:
        now = msgspec.structs.replace(record, digest=material.digest)
        due = not is_the_same(record, now, extractor) or (backlog and record.backlog)
    # Labelled offline, so that nothing is sent:
    waits = not item.allowed or (item.backlog and not backlog)
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
        second_look=is_long(material),
    )
    return seen, [round.id for round in material.rounds]


def explain(archive: Archive, session_id: str) -> tuple[Material, Reply, list[Explanation]] | None:
    """The offline extractor's answer for a session, with its reasons; None for an empty one."""
    material = read_material(archive, session_id)
    if material is None or not material.rounds:
        return None
    reply, reasons = extract_offline(material.rounds, material.info.title, material.project)
    return material, reply, reasons


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
