"""From transcripts to the engagement index (ING-01 … ING-33), as a recipe of named stages.

    select → read and inscribe → sort out ghosts → say what will be sent → extract → index

Each session's record is written as soon as it is there, so however a run ends, the next
one goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing

import msgspec

from minutebook.archive.engagements import append_record, read_corrections, read_records
from minutebook.archive.layout import Layout
from minutebook.archive.store import writing
from minutebook.derive.activity import Activity
from minutebook.derive.identity import Identity
from minutebook.extract.corrections import corrected
from minutebook.extract.extractor import Extraction, Extractor, Failed
from minutebook.extract.material import Material, material_of
from minutebook.extract.records import base_record, extracted_record
from minutebook.model import Roster, Round, SessionInfo, Usage
from minutebook.model.engagement import Origin, SessionRecord
from minutebook.model.session import GHOST_THRESHOLD
from minutebook.sources.base import Transcript
from minutebook.verbs.ask import Asked, ask_all, ask_batch
from minutebook.verbs.index_engagements import index_engagements, is_indexed
from minutebook.verbs.inscribe import InscribeReport, inscribe

OFFLINE = "offline"


class Forecast(msgspec.Struct, frozen=True):
    """What is about to happen: said before the first call."""

    calls: int
    chars: int
    cost_usd: float | None
    destination: str | None
    extractor: str
    model: str | None


class Failure(msgspec.Struct, frozen=True):
    session_id: str
    reason: str


class IngestReport(msgspec.Struct, frozen=True, kw_only=True):
    sessions: int
    ingested: int
    """Sessions whose engagements were found in this run."""
    ghosts: int
    unchanged: int
    failures: list[Failure]
    engagements: int
    calls: int
    usage: Usage
    cost_usd: float
    left: int = 0
    """Sessions that were not asked about: the run was stopped before."""
    stopped: str | None = None
    interrupted: bool = False
    inscribed: InscribeReport
    forecast: Forecast


class Seen(msgspec.Struct, frozen=True):
    """A session as the reading process hands it over."""

    material: Material
    extraction: Extraction | None = None
    failure: str | None = None


class _Reader:
    """Sees sessions while they are inscribed; offline, it extracts on the spot."""

    def __init__(self, due: set[str], extractor: Extractor, ghosts_below: int) -> None:
        self._due, self._extractor, self._ghosts_below = due, extractor, ghosts_below
        self.seen: dict[str, tuple[Transcript, str, Seen]] = {}

    def wants(self, transcript: Transcript) -> bool:
        return transcript.session_id in self._due

    def see(self, info: SessionInfo, identity: Identity, rounds: Sequence[Round]) -> Seen:
        material = material_of(info, identity, rounds)
        if self._extractor.destination is not None or info.is_ghost(self._ghosts_below):
            return Seen(_light(material))
        try:
            extraction = self._extractor.extract(material)
        except Failed as error:
            return Seen(_light(material), failure=str(error))
        return Seen(_light(msgspec.structs.replace(material, skeleton="")), extraction)

    def hear(self, transcript: Transcript, agent_id: str, seen: Seen) -> None:
        self.seen[transcript.session_id] = (transcript, agent_id, seen)


def ingest(
    layout: Layout,
    roster: Roster,
    transcripts: Sequence[Transcript],
    extractor: Extractor,
    *,
    again: bool = False,
    skip_existing: bool = False,
    ghosts_below: int = GHOST_THRESHOLD,
    concurrency: int = 4,
    batch: bool = False,
    confirm: Callable[[Forecast], bool] | None = None,
    reading: Callable[[int], None] | None = None,
    asking: Callable[[Asked], None] | None = None,
) -> IngestReport:
    """Ingest sessions: what is new or has changed, or everything `again`."""
    with writing(layout.ingest_lock, "ingest"), closing(extractor):
        records = read_records(layout)
        complete = is_indexed(layout)
        due = {
            t.session_id
            for t in transcripts
            if again or is_due(t, records.get(t.session_id), extractor, skip_existing, ghosts_below)
        }
        reader = _Reader(due, extractor, ghosts_below)
        inscribed = inscribe(layout, roster, transcripts, progress=reading, witness=reader)
        run = _Run(layout, records, extractor, reader)
        pending = run.sort_out(again, ghosts_below)
        forecast = _forecast(extractor, pending)
        asked = Asked(total=len(pending))
        if pending and (confirm is None or confirm(forecast)):
            ask = ask_batch if batch else ask_all
            ask(layout, extractor, pending, run.take, asked, concurrency, asking)
        elif pending:
            asked.stopped = "not confirmed"
        if run.changed or not complete:
            # A run that was killed left records behind that nobody indexed.
            index_engagements(layout, records, run.changed if complete else records)
        return IngestReport(
            sessions=len({t.session_id for t in transcripts}),
            ingested=run.ingested,
            ghosts=run.ghosts,
            unchanged=sum(
                t.session_id in records and t.session_id not in run.changed for t in transcripts
            ),
            failures=run.failures,
            engagements=sum(len(records[id].engagements) for id in run.changed),
            calls=asked.calls,
            usage=asked.usage,
            cost_usd=asked.cost_usd,
            left=asked.total - asked.done,
            stopped=asked.stopped,
            interrupted=asked.interrupted,
            inscribed=inscribed,
            forecast=forecast,
        )


def is_due(
    transcript: Transcript,
    record: SessionRecord | None,
    extractor: Extractor,
    skip_existing: bool,
    ghosts_below: int,
) -> bool:
    """Whether a session must be looked at: new, changed, failed, or made by other rules."""
    if record is None or record.failure is not None or record.origin is None:
        return True
    origin = Origin(str(transcript.path), transcript.size, transcript.mtime)
    if record.origin != origin or record.ghost != (record.user_messages < ghosts_below):
        return True
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


class _Run:
    """The records of one run, each written down as soon as it is known."""

    def __init__(
        self,
        layout: Layout,
        records: dict[str, SessionRecord],
        extractor: Extractor,
        reader: _Reader,
    ) -> None:
        self._layout, self._records, self._extractor = layout, records, extractor
        self._seen = reader.seen
        self._corrections = read_corrections(layout)
        self.changed: set[str] = set()
        self.failures: list[Failure] = []
        self.ghosts = self.ingested = 0

    def sort_out(self, again: bool, ghosts_below: int) -> list[Material]:
        """Record what needs no call; what is left are the sessions to ask about."""
        pending = []
        for session_id, (_, _, seen) in self._seen.items():
            known = self._records.get(session_id)
            if seen.material.info.is_ghost(ghosts_below):
                self.ghosts += 1
                self._write(msgspec.structs.replace(self._base(session_id), ghost=True))
            elif seen.extraction is not None:
                self.take(seen.material, seen.extraction)
            elif seen.failure is not None:
                self.take(seen.material, Failed(seen.failure))
            elif known is not None and not again and self._is_the_same(known, seen.material):
                self._write(self._refreshed(session_id, known))
            else:
                pending.append(seen.material)
        return pending

    def take(self, material: Material, result: Extraction | Failed) -> None:
        """Write down what came of a session."""
        session_id = material.info.id
        base, known = self._base(session_id), self._records.get(session_id)
        if isinstance(result, Failed):
            self.failures.append(Failure(session_id, str(result)))
            # What was known before is worth more than nothing; its digest makes it be retried.
            kept = known if known is not None and known.engagements else base
            self._write(msgspec.structs.replace(kept, failure=str(result)))
            return
        self.ingested += 1
        record = extracted_record(base, material, result, self._extractor, known)
        self._write(self._with_corrections(record, material.rounds))

    def _is_the_same(self, known: SessionRecord, material: Material) -> bool:
        """Only the file was touched: nothing an extractor sees has changed."""
        return (
            known.digest == material.digest
            and bool(known.engagements)
            and known.failure is None
            and not is_outdated(known, self._extractor)
        )

    def _refreshed(self, session_id: str, known: SessionRecord) -> SessionRecord:
        """A record with what the transcript says now, and the engagements it had."""
        base = self._base(session_id)
        kept = {
            name: getattr(known, name)
            for name in (
                *("session_summary", "engagements", "extractor", "extractor_model", "usage"),
                *("prompt_version", "cost_usd", "agent_name_guess", "corrected"),
            )
        }
        return msgspec.structs.replace(base, **kept)

    def _base(self, session_id: str) -> SessionRecord:
        transcript, agent_id, seen = self._seen[session_id]
        origin = Origin(str(transcript.path), transcript.size, transcript.mtime)
        return base_record(seen.material, origin, agent_id or None)

    def _with_corrections(self, record: SessionRecord, rounds: Sequence[Activity]) -> SessionRecord:
        made = self._corrections.get(record.session_id)
        return corrected(record, made, rounds) if made else record

    def _write(self, record: SessionRecord) -> None:
        append_record(self._layout, record)
        self._records[record.session_id] = record
        self.changed.add(record.session_id)


def _forecast(extractor: Extractor, pending: Sequence[Material]) -> Forecast:
    costs = [extractor.forecast(material) for material in pending]
    known = [cost for cost in costs if cost is not None]
    return Forecast(
        calls=len(pending),
        chars=sum(len(material.skeleton) for material in pending),
        cost_usd=sum(known) if len(known) == len(costs) else None,
        destination=extractor.destination,
        extractor=extractor.name,
        model=extractor.model,
    )


def _light(material: Material) -> Material:
    """Material without the words of its rounds: they need not travel between processes."""
    rounds = tuple(msgspec.structs.replace(r, prompt="", answer="") for r in material.rounds)
    return msgspec.structs.replace(material, rounds=rounds)
