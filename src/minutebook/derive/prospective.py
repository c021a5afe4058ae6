"""Sessions and the engagement files kept beside them: who took part, in which phase; pure.

Prospective wins where both speak: what a file says of method, phase and topic replaces what was
found in the session afterwards, and says so (FUT-01, INS-08).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec

from minutebook.derive.times import instant
from minutebook.model.engagement import Engagement, SessionRecord
from minutebook.model.prospective import ENDS, EngagementFile, TiedEngagement

Span = tuple[datetime | None, datetime | None]


def took_part(
    file: EngagementFile,
    session_id: str,
    cwds: Iterable[str],
    started: str | None,
    ended: str | None,
) -> bool:
    """Whether a session took part in an engagement: the file lists it, or it ran in the project
    while the engagement was open."""
    if any(
        session_id == id or (len(id) >= 8 and session_id.startswith(id)) for id in file.sessions
    ):
        return True
    inside = any(_is_inside(cwd, file.project) for cwd in cwds)
    return inside and _meet((instant(started), instant(ended)), span_of(file))


def tied(file: EngagementFile, started: str | None, ended: str | None) -> TiedEngagement:
    """The phases an engagement was in when a session began and ended."""
    first, last = instant(started), instant(ended or started)
    return TiedEngagement(
        id=file.id, phase_at_start=phase_at(file, first), phase_at_end=phase_at(file, last)
    )


def phase_at(file: EngagementFile, moment: datetime | None) -> str | None:
    """The phase at a moment; None before it began, the present one where no time is known."""
    begun = instant(file.started)
    if moment is None:
        return file.phase or None
    if begun is not None and moment < begun:
        return None
    for passed in file.phases_completed:
        left = instant(passed.at)
        if left is not None and moment < left:
            return passed.phase
    return file.phase or None


def span_of(file: EngagementFile) -> Span:
    """From when to when work on it may have gone on; the current one goes on."""
    begun = instant(file.started)
    if begun is None:
        return None, None
    if file.place == "current" and file.phase not in ENDS and not file.gone:
        return begun, None
    times = [instant(file.updated), *(instant(passed.at) for passed in file.phases_completed)]
    return begun, max((at for at in times if at is not None), default=begun)


def with_prospective(record: SessionRecord, files: Sequence[EngagementFile]) -> SessionRecord:
    """A record whose engagements say what the files its session took part in say."""
    if not files:
        return record
    engagements = list(record.engagements)
    for file in sorted(files, key=lambda file: file.started or ""):
        chosen = _meant(file, engagements)
        for at in chosen:
            engagements[at] = _overlaid(engagements[at], file, alone=len(chosen) == 1)
    return msgspec.structs.replace(record, engagements=tuple(engagements))


def _meant(file: EngagementFile, engagements: Sequence[Engagement]) -> list[int]:
    """Which engagements of a session a file is about: those of its time and method, or the only
    one of its time."""
    span = span_of(file)
    near = [
        at
        for at, e in enumerate(engagements)
        if e.started is None or _meet((instant(e.started), instant(e.ended)), span)
    ]
    alike = [at for at in near if engagements[at].method == file.method]
    return alike or (near if len(near) == 1 else [])


def _overlaid(engagement: Engagement, file: EngagementFile, *, alone: bool) -> Engagement:
    titled = file.topic.split() != file.id.replace("-", " ").replace("_", " ").split()
    return msgspec.structs.replace(
        engagement,
        topic=file.topic if alone and titled else engagement.topic,
        method=file.method or engagement.method,
        phase=file.label or engagement.phase,
        kept="prospective",
        prospective=file.id,
        step=file.phase if file.label != file.phase else None,
    )


def _meet(one: Span, other: Span) -> bool:
    """Whether two spans have a moment in common; one without a beginning has none."""
    if one[0] is None or other[0] is None:
        return False
    first_end, second_end = one[1] or one[0], other[1]
    return first_end >= other[0] and (second_end is None or one[0] <= second_end)


def _is_inside(cwd: str, project: str) -> bool:
    return cwd == project or cwd.startswith(f"{project.rstrip('/')}/")
