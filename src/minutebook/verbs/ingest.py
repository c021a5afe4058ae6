"""From transcripts to the engagement index (ING-01 … ING-33), as a recipe of named stages.

    select → read and inscribe → sort out ghosts → say what will be sent → extract → index

Each session's record is written as soon as it is there, so however a run ends, the next
one goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing

import msgspec

from minutebook.record.engagements import (
    Ranges,
    append_record,
    read_corrections,
    read_records,
)
from minutebook.record.layout import Layout
from minutebook.record.ledger import load_ledger
from minutebook.record.store import writing
from minutebook.derive.identity import Identity
from minutebook.extract.corrections import corrected
from minutebook.extract.extractor import Extraction, Extractor, Failed
from minutebook.extract.material import Material, material_of
from minutebook.extract.records import base_record, extracted_record, free_id
from minutebook.model import Roster, Round, SessionInfo, Usage
from minutebook.model.engagement import Engagement, Origin, SessionRecord
from minutebook.model.session import GHOST_THRESHOLD
from minutebook.sources.base import Transcript
from minutebook.verbs.ask import Asked, ask_all
from minutebook.verbs.index_engagements import index_engagements, is_indexed
from minutebook.verbs.inscribe import InscribeReport, doubles_of, inscribe

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

    record: SessionRecord
    """Complete for a ghost and where rules extracted; else what is known without a model."""
    material: Material | None = None
    """What a model is to be asked about."""
    failure: str | None = None
    kept: bool = False
    """Whether the record is the one there was, for a file that was only touched or moved."""


class _Reader:
    """Sees sessions while they are inscribed; offline, it extracts on the spot."""

    def __init__(
        self,
        layout: Layout,
        records: dict[str, SessionRecord],
        due: set[str],
        extractor: Extractor,
        again: bool,
        ghosts_below: int,
    ) -> None:
        self._records, self._due, self._extractor = records, due, extractor
        self._again, self._ghosts_below = again, ghosts_below
        self.corrections = read_corrections(layout)
        self.seen: dict[str, Seen] = {}
        self.take: Callable[[Seen], None] | None = None
        """Told of each session as soon as it is read."""

    def wants(self, transcript: Transcript) -> bool:
        return transcript.session_id in self._due

    def see(
        self,
        transcript: Transcript,
        agent_id: str,
        info: SessionInfo,
        identity: Identity,
        rounds: Sequence[Round],
    ) -> tuple[Seen, Ranges]:
        material = material_of(info, identity, rounds)
        origin = Origin(str(transcript.path), transcript.size, transcript.mtime)
        base = base_record(material, origin, agent_id)
        if info.is_ghost(self._ghosts_below):
            return Seen(msgspec.structs.replace(base, ghost=True)), []
        known = self._records.get(info.id)
        if known is not None and not self._again and is_the_same(known, base, self._extractor):
            return Seen(_refreshed(base, known), kept=True), []
        if self._extractor.destination is not None:
            return Seen(base, _light(material)), []
        try:
            record = self._by_rules(base, material, known)
        except Failed as error:
            return Seen(base, failure=str(error)), []
        return Seen(record), [(*e.turn_range, e.id) for e in record.engagements]

    def hear(self, transcript: Transcript, seen: Seen) -> None:
        self.seen[transcript.session_id] = seen
        if self.take is not None:
            self.take(seen)

    def _by_rules(
        self, base: SessionRecord, material: Material, known: SessionRecord | None
    ) -> SessionRecord:
        """Rules on the spot; what a model said of the rounds it saw is kept."""
        kept = seen_by_model(known) if known is not None and not self._again else ()
        if known is None or not kept or base.rounds <= kept[-1].turn_range[1]:
            return self.completed(base, material, self._extractor.extract(material))
        last = kept[-1].turn_range[1]
        rest = msgspec.structs.replace(material, rounds=material.rounds[last:])
        record = self.completed(base, rest, self._extractor.extract(rest))
        return msgspec.structs.replace(
            record,
            session_summary=known.session_summary,
            engagements=(*kept, *_with_own_ids(record.engagements, {e.id for e in kept})),
            extractor_model=known.extractor_model,
            modelled=last,
            usage=known.usage,
            cost_usd=known.cost_usd,
            corrected=tuple(dict.fromkeys((*known.corrected, *record.corrected))),
        )

    def completed(
        self, base: SessionRecord, material: Material, extraction: Extraction
    ) -> SessionRecord:
        """A record with its engagements, and with what a person said of them."""
        known = self._records.get(base.session_id)
        record = extracted_record(base, material, extraction, self._extractor, known)
        made = self.corrections.get(base.session_id)
        return corrected(record, made, material.rounds) if made else record


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
    ended: bool = False,
    confirm: Callable[[Forecast], bool] | None = None,
    reading: Callable[[int], None] | None = None,
    asking: Callable[[Asked], None] | None = None,
) -> IngestReport:
    """Ingest sessions: what is new or has changed, or everything `again`.

    `ended` says that these sessions are over, however young their files are.
    """
    with writing(layout.ingest_lock, "ingest"), closing(extractor):
        records = read_records(layout)
        complete = is_indexed(layout)
        due = {
            t.session_id
            for t in without_doubles(layout, transcripts)
            if again or is_due(t, records.get(t.session_id), extractor, skip_existing, ghosts_below)
        }
        reader = _Reader(layout, records, due, extractor, again, ghosts_below)
        run = _Run(layout, records, reader)
        reader.take = run.sort_out
        inscribed = inscribe(
            layout, roster, transcripts, ended=ended, progress=reading, witness=reader
        )
        pending = run.pending
        forecast = _forecast(extractor, pending, batch)
        asked = Asked(total=len(pending))
        if pending and (confirm is None or confirm(forecast)):
            _ask(layout, extractor, pending, run, asked, batch, concurrency, asking)
        elif pending:
            asked.stop("not confirmed")
        if run.changed or not complete:
            # What a killed run left behind was never indexed.
            stale = run.changed if complete else set(records)
            index_engagements(layout, records, stale, run.tagged(inscribed))
        return IngestReport(
            sessions=len({t.session_id for t in transcripts}),
            ingested=run.ingested,
            ghosts=run.ghosts,
            unchanged=sum(
                t.session_id in records and t.session_id not in run.changed for t in transcripts
            ),
            failures=run.failures,
            engagements=sum(len(records[id].engagements) for id in run.changed),
            calls=asked.spent.calls,
            usage=asked.spent.usage,
            cost_usd=asked.spent.cost_usd,
            left=asked.total - asked.done,
            stopped=asked.stopped,
            interrupted=bool(asked.interrupts),
            inscribed=inscribed,
            forecast=forecast,
        )


def _ask(
    layout: Layout,
    extractor: Extractor,
    pending: Sequence[Material],
    run: _Run,
    asked: Asked,
    batch: bool,
    concurrency: int,
    asking: Callable[[Asked], None] | None,
) -> None:
    if not batch and extractor.name == "anthropic" and layout.batch.exists():
        asked.stop(f"a batch is under way: --batch picks it up ({layout.batch} keeps it)")
    elif batch:
        from minutebook.verbs.ask_batch import ask_batch

        ask_batch(layout, extractor, pending, run.take, asked, asking)
    else:
        ask_all(extractor, pending, run.take, asked, concurrency, asking)


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

    def __init__(self, layout: Layout, records: dict[str, SessionRecord], reader: _Reader) -> None:
        self._layout, self._records, self._reader = layout, records, reader
        self.changed: set[str] = set()
        self.failures: list[Failure] = []
        self.pending: list[Material] = []
        """What a model is to be asked about."""
        self.ghosts = self.ingested = 0

    def sort_out(self, seen: Seen) -> None:
        """Record what needs no call, at once: whoever looks sees the index grow."""
        if seen.failure is not None:
            self._fail(seen.record, seen.failure)
        elif seen.material is not None:
            self.pending.append(seen.material)
        else:
            self.ghosts += seen.record.ghost
            self.ingested += not (seen.record.ghost or seen.kept)
            self._write(seen.record)

    def tagged(self, inscribed: InscribeReport) -> set[str]:
        """Sessions that were inscribed with their engagements, because rules found them."""
        new = {s.transcript.session_id for s in inscribed.sessions if s.outcome == "new"}
        seen = self._reader.seen
        return {id for id in new if id in seen and not (seen[id].material or seen[id].kept)}

    def take(self, material: Material, result: Extraction | Failed) -> None:
        """Write down what came of a session."""
        base = self._reader.seen[material.info.id].record
        if isinstance(result, Failed):
            self._fail(base, str(result))
        else:
            self.ingested += 1
            self._write(self._reader.completed(base, material, result))

    def _fail(self, base: SessionRecord, reason: str) -> None:
        self.failures.append(Failure(base.session_id, reason))
        # What was known before is worth more than nothing; its failure makes it be retried.
        known = self._records.get(base.session_id)
        kept = known if known is not None and known.engagements else base
        self._write(msgspec.structs.replace(kept, failure=reason))

    def _write(self, record: SessionRecord) -> None:
        append_record(self._layout, record)
        self._records[record.session_id] = record
        self.changed.add(record.session_id)


def _with_own_ids(found: Sequence[Engagement], taken: set[str]) -> Iterator[Engagement]:
    for engagement in found:
        id = free_id(engagement.id, taken)
        taken.add(id)
        yield msgspec.structs.replace(engagement, id=id)


def seen_by_model(record: SessionRecord) -> tuple[Engagement, ...]:
    """The engagements a model found, where one was asked."""
    if record.extractor != OFFLINE:
        return record.engagements if record.extractor is not None else ()
    return tuple(e for e in record.engagements if e.turn_range[1] <= record.modelled)


def is_the_same(known: SessionRecord, now: SessionRecord, extractor: Extractor) -> bool:
    """Only the file was touched or moved: nothing an extractor sees has changed.

    After a failure a model is asked again; rules leave alone what a model said before it.
    """
    if known.digest != now.digest or not known.engagements or is_outdated(known, extractor):
        return False
    return known.failure is None or extractor.name == OFFLINE


_EXTRACTED = (
    *("session_summary", "engagements", "extractor", "extractor_model", "prompt_version"),
    *("usage", "cost_usd", "agent_name_guess", "corrected", "modelled"),
)


def _refreshed(now: SessionRecord, known: SessionRecord) -> SessionRecord:
    """What the transcript says now, with the engagements there were."""
    kept = {name: getattr(known, name) for name in _EXTRACTED}
    return msgspec.structs.replace(now, **kept)


def without_doubles(layout: Layout, transcripts: Sequence[Transcript]) -> list[Transcript]:
    """One file a session, as `inscribe` chooses it."""
    if len({t.session_id for t in transcripts}) == len(transcripts):
        return list(transcripts)
    doubles = doubles_of(load_ledger(layout), transcripts)
    return [t for t in transcripts if t.path not in doubles]


def _forecast(extractor: Extractor, pending: Sequence[Material], batch: bool) -> Forecast:
    costs = [extractor.forecast(material) for material in pending]
    known = [cost for cost in costs if cost is not None]
    return Forecast(
        calls=len(pending),
        chars=sum(len(material.skeleton) for material in pending),
        cost_usd=sum(known) / (2 if batch else 1) if len(known) == len(costs) else None,
        destination=extractor.destination,
        extractor=extractor.name,
        model=extractor.model,
    )


def _light(material: Material) -> Material:
    """Material without the words of its rounds: they need not travel between processes."""
    rounds = tuple(msgspec.structs.replace(r, prompt="", answer="") for r in material.rounds)
    return msgspec.structs.replace(material, rounds=rounds)
