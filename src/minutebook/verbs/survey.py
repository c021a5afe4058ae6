"""What an ingest would do, and why the offline extractor decides as it does. Writes nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from minutebook.record.engagements import read_records
from minutebook.record.layout import Layout
from minutebook.derive.identity import identify
from minutebook.extract.extractor import Extractor
from minutebook.extract.material import Material, material_of
from minutebook.extract.offline.extractor import Explanation, extract_offline
from minutebook.extract.reply import Reply
from minutebook.model import Roster
from minutebook.model.session import GHOST_THRESHOLD
from minutebook.sources.base import Transcript, reason_of
from minutebook.sources.fan_out import fan_out
from minutebook.sources.library import open_transcript
from minutebook.verbs.ingest import is_due, is_the_same, without_doubles


class Surveyed(msgspec.Struct, frozen=True):
    """One session, as an ingest would find it (ING-27)."""

    session_id: str
    title: str | None
    bytes: int
    chars: int
    """Length of the whole skeleton."""
    sent: int
    """Length of what would be sent: the skeleton, shortened where it is too long."""
    user_messages: int
    ghost: bool
    truncated: bool
    due: bool
    cost_usd: float | None = None
    problem: str | None = None


def survey(
    layout: Layout,
    roster: Roster,
    transcripts: Sequence[Transcript],
    extractor: Extractor,
    *,
    again: bool = False,
    skip_existing: bool = False,
    ghosts_below: int = GHOST_THRESHOLD,
    progress: Callable[[int], None] | None = None,
) -> list[Surveyed]:
    """Read sessions and say what an ingest would make of them."""
    records = read_records(layout)

    def look(transcript: Transcript) -> Surveyed:
        record = records.get(transcript.session_id)
        due = again or is_due(transcript, record, extractor, skip_existing, ghosts_below)
        try:
            material = read_material(transcript, roster)
        except OSError as error:
            return _unreadable(transcript, reason_of(error))
        if material is None:
            return _unreadable(transcript, "no transcript")
        info = material.info
        ghost = info.is_ghost(ghosts_below)
        if due and not again and record is not None:
            now = msgspec.structs.replace(record, digest=material.digest)
            due = not is_the_same(record, now, extractor)
        return Surveyed(
            transcript.session_id,
            info.title,
            transcript.size,
            material.chars,
            len(material.skeleton),
            info.prompts,
            ghost,
            material.truncated,
            due,
            extractor.forecast(material) if due and not ghost else 0.0,
        )

    found = []
    for transcript, surveyed in fan_out(look, without_doubles(layout, transcripts)):
        if progress is not None:
            progress(transcript.size)
        found.append(surveyed)
    return sorted(found, key=lambda item: (-item.chars, item.session_id))


def explain(
    transcript: Transcript, roster: Roster
) -> tuple[Material, Reply, list[Explanation]] | None:
    """The offline extractor's answer for a session, with its reasons; None for an empty one."""
    material = read_material(transcript, roster)
    if material is None or not material.rounds:
        return None
    reply, reasons = extract_offline(material.rounds, material.info.title, material.project)
    return material, reply, reasons


def read_material(transcript: Transcript, roster: Roster) -> Material | None:
    """A session as extractors see it; None where the file is no transcript."""
    reading = open_transcript(transcript)
    rounds = list(reading.rounds())
    if reading.report.foreign:
        return None
    info = reading.info()
    return material_of(info, identify(info, roster), rounds)


def _unreadable(transcript: Transcript, problem: str) -> Surveyed:
    return Surveyed(
        transcript.session_id,
        None,
        transcript.size,
        0,
        0,
        0,
        ghost=True,
        truncated=False,
        due=False,
        problem=problem,
    )
