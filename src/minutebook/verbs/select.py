"""Which sessions a run of `ingest` has to look at, and why."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from minutebook.archive.run import RunView
from minutebook.extract.extractor import Extractor
from minutebook.model.engagement import Origin, SessionRecord
from minutebook.record.ledger import Entry
from minutebook.sources.base import Transcript
from minutebook.sources.registry import SOURCES
from minutebook.verbs.inscribe import Inscribed, untouched

OFFLINE = "offline"


class Selected(msgspec.Struct, frozen=True, kw_only=True):
    """A session, and what is to be done with it."""

    session_id: str
    transcript: Transcript | None = None
    """Its source, where that is still there."""
    is_stale: bool = False
    """Whether the transcript has to be read and recorded."""
    is_due: bool = False
    """Whether it has to be labelled."""
    backlog: bool = False
    """Whether only an upgrade, or another setting, made it due."""
    allowed: bool = True
    """Whether a model may be asked about sessions of its program (`minutebook config allow`)."""
    origin: Origin | None = None
    told: Inscribed | None = None
    """What there is to say of its transcript before anything was done."""
    size: int = 0

    @property
    def is_busy(self) -> bool:
        return self.is_stale or self.is_due

    @property
    def place(self) -> str:
        return self.transcript.location if self.transcript is not None else ""


def select(
    run: RunView,
    records: dict[str, SessionRecord],
    extractor: Extractor,
    transcripts: Sequence[Transcript] | None = None,
    sessions: Sequence[str] | None = None,
    *,
    again: bool = False,
    skip_existing: bool = False,
    backlog: bool = False,
) -> list[Selected]:
    """Every session asked about; those that need nothing are among them."""
    archive = run.archive
    found = list(archive.library.transcripts if transcripts is None else transcripts)
    if sessions is not None:
        named = [archive.transcript(id) for id in sessions]
        found = [transcript for transcript in named if transcript is not None]
    doubles = run.doubles(found)
    selected: list[Selected] = []
    for transcript in found:
        if transcript.location in doubles:
            problem = f"the same session id as {doubles[transcript.location]}"
            told = Inscribed(transcript, "duplicate", problem=problem)
            selected.append(Selected(session_id=transcript.session_id, told=told))
    chosen = {t.session_id: t for t in found if t.location not in doubles}
    ids = list(chosen)
    if sessions is not None or transcripts is None:
        wanted = run.ledger.sessions if sessions is None else sessions
        ids += [id for id in wanted if id not in chosen]
    for id in ids:
        item = _selected(run, records.get(id), chosen.get(id), run.entry(id), id)
        due = again or _is_due(item, records.get(id), extractor, skip_existing, backlog)
        usable = item.told is None or item.told.outcome != "unusable"
        selected.append(msgspec.structs.replace(item, is_due=due and usable))
    return selected


def _selected(
    run: RunView,
    record: SessionRecord | None,
    transcript: Transcript | None,
    entry: Entry | None,
    id: str,
) -> Selected:
    settings = run.archive.settings
    origin = _origin(transcript, entry)
    revived = (
        record is not None
        and record.ghost
        and record.origin == origin
        and entry is not None
        and not settings.is_ghost(entry.info)
    )
    name = transcript.source if transcript is not None else entry.info.source if entry else ""
    allowed = settings.may_send(SOURCES.program_of(name))
    if transcript is None:
        size = max(entry.size, 0) if entry is not None else 0
        return Selected(session_id=id, origin=origin, backlog=revived, allowed=allowed, size=size)
    return Selected(
        session_id=id,
        transcript=transcript,
        is_stale=not run.is_current(transcript),
        origin=origin,
        backlog=revived,
        allowed=allowed,
        told=untouched(transcript, run),
        size=transcript.size,
    )


def _origin(transcript: Transcript | None, entry: Entry | None) -> Origin | None:
    """The source as it is, or as it was when the archive last saw it."""
    if transcript is not None:
        return Origin(transcript.location, transcript.size, transcript.mtime)
    if entry is not None and entry.source is not None:
        return Origin(entry.source, entry.size, entry.mtime)
    return None


def _is_due(
    item: Selected,
    record: SessionRecord | None,
    extractor: Extractor,
    skip_existing: bool,
    backlog: bool,
) -> bool:
    """Whether a session must be labelled: new, changed, failed, revived, or by better means."""
    if record is None or record.failure is not None or record.origin is None:
        return True
    if record.origin != item.origin or item.backlog:
        return True
    if record.backlog:
        return backlog and item.allowed and extractor.name != OFFLINE
    if not item.allowed and extractor.name != OFFLINE:
        return False  # labelled offline, and no model may see it
    return not skip_existing and is_outdated(record, extractor)


def is_outdated(record: SessionRecord, extractor: Extractor) -> bool:
    """Whether this extractor would do better: a model than rules, a new prompt than an old one.

    The rules never replace what a model said of an unchanged session.
    """
    if record.ghost:
        return False
    by_rules = record.extractor == OFFLINE
    if extractor.name == OFFLINE:
        return by_rules and record.prompt_version != extractor.version
    return by_rules or record.prompt_version != extractor.version
