"""From sessions to the engagement index (ING-01 … ING-33), as a recipe of named stages.

    select → read and record → extract → say what will be sent → ask → fold copies → index

Each session's record is written as soon as it is there, so however a run ends, the next one
goes on where it stopped. A session is read from its transcript where that has something new,
else from the archive: with every transcript gone, all of this works as before (ARC-02).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from types import TracebackType

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.run import WritingRun
from minutebook.archive.upkeep import index_minutes, is_indexed, is_said_indexed
from minutebook.extract.extractor import Extraction, Extractor, Failed
from minutebook.extract.material import Material
from minutebook.extract.offline import warm_up
from minutebook.extract.prompt import sent_chars
from minutebook.extract.records import extracted_record
from minutebook.extract.second_look import is_long
from minutebook.model import Usage
from minutebook.model.engagement import SessionRecord
from minutebook.record.engagements import append_record
from minutebook.record.store import writing
from minutebook.sources.base import Transcript
from minutebook.sources.fan_out import fan_out, without_collection
from minutebook.sources.registry import SOURCES
from minutebook.verbs.ask import Asked, ask_all
from minutebook.verbs.copies import not_sent, with_copies
from minutebook.verbs.inscribe import Inscribed, InscribeReport, outcome_of
from minutebook.verbs.label import Labelling, Minuted, Seen
from minutebook.verbs.select import OFFLINE, Selected, select


class Forecast(msgspec.Struct, frozen=True):
    """What is about to happen: said before the first call."""

    calls: int
    chars: int
    cost_usd: float | None
    destination: str | None
    extractor: str
    model: str | None
    backlog: bool = False
    """Whether these are sessions that only an upgrade made due: a person must say yes."""
    second_looks: int = 0
    """Calls for long sessions beyond the first."""


class Failure(msgspec.Struct, frozen=True):
    session_id: str
    reason: str


class Backlog(msgspec.Struct, frozen=True):
    """Sessions that an upgrade made due: labelled offline, until somebody asks for a model."""

    sessions: int = 0
    cost_usd: float | None = None


class IngestReport(msgspec.Struct, frozen=True, kw_only=True):
    sessions: int
    ingested: int
    """Sessions whose engagements were found in this run."""
    ghosts: int
    unchanged: int
    failures: list[Failure]
    engagements: int
    copies: int = 0
    """Sessions that took the engagements of one they are a copy of: not extracted, not paid."""
    only_copies: int = 0
    """Of these, those that are neither ingested nor unchanged: nothing but the copy was made."""
    calls: int
    usage: Usage
    cost_usd: float
    left: int = 0
    """Sessions that were not asked about, and copies of them: the run was stopped before."""
    stopped: str | None = None
    interrupted: bool = False
    inscribed: InscribeReport
    held_back: int = 0
    """Sessions whose last rounds are not archived yet, because they may still grow."""
    forecast: Forecast
    backlog: Backlog = Backlog()
    held: dict[str, int] = {}
    """Sessions that no model may be asked about, by program (`minutebook config allow`)."""


def ingest(
    archive: Archive,
    extractor: Extractor,
    transcripts: Sequence[Transcript] | None = None,
    *,
    confirm: Callable[[Forecast], bool] = lambda _: True,
    batch: bool = False,
    concurrency: int = 4,
    again: bool = False,
    skip_existing: bool = False,
    ended: bool = False,
    backlog: bool = False,
) -> IngestReport:
    """Ingest sessions from beginning to end: what is new or has changed, or everything `again`.

    `ended` says that these sessions are over, however young their files are.
    """
    with Ingestion(
        archive,
        extractor,
        transcripts,
        again=again,
        skip_existing=skip_existing,
        ended=ended,
        backlog=backlog,
    ) as run:
        for _ in run.read():
            pass
        if run.pending and confirm(run.forecast(batch=batch)):
            for _ in run.ask(batch=batch, concurrency=concurrency):
                pass
        return run.finish(batch=batch)


class Ingestion:
    """One run, stage by stage: `read`, then `ask` where a model is to be asked, then `finish`."""

    def __init__(
        self,
        archive: Archive,
        extractor: Extractor,
        transcripts: Sequence[Transcript] | None = None,
        *,
        sessions: Sequence[str] | None = None,
        again: bool = False,
        skip_existing: bool = False,
        ended: bool = False,
        backlog: bool = False,
        scheduler: str | None = None,
    ) -> None:
        self._archive, self._extractor = archive, extractor
        self._layout = archive.layout
        self._transcripts = transcripts
        self._sessions = sessions
        self._again, self._skip_existing, self._ended = again, skip_existing, ended
        self._backlog = backlog
        self._scheduler = scheduler
        self._stack = ExitStack()
        self._records: dict[str, SessionRecord] = {}
        self._seen: dict[str, SessionRecord] = {}
        self._changed: set[str] = set()
        self._same: set[str] = set()
        """Sessions whose file was moved, touched or restored, and that keep their labels."""
        self._written: set[str] = set()
        """Sessions whose document and database have their engagements already."""
        self._failures: list[Failure] = []
        self._ghosts = self._ingested = 0
        self._left_over: list[float | None] = []
        self._asked = Asked()
        self._inscribed = InscribeReport([])
        self._selected: set[str] = set()
        self._waiting: dict[str, SessionRecord] = {}
        """Copies nobody need be asked about, until the session they are a copy of is known."""
        self._copies = 0
        self.pending: list[Material] = []
        """What a model is to be asked about, once everything is read."""

    def __enter__(self) -> Ingestion:
        self._stack.enter_context(writing(self._layout.ingest_lock, "ingest"))
        self._stack.callback(self._extractor.close)
        self._records = dict(self._archive.minutes.stored())
        self._complete = is_indexed(self._layout)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    # -- stages

    def read(self) -> Iterator[Selected]:
        """Read and record what has changed, and label it where no model is needed."""
        with WritingRun(self._archive, "ingest", ended=self._ended) as run:
            selected = select(
                run,
                self._records,
                self._extractor,
                self._transcripts,
                self._sessions,
                again=self._again,
                skip_existing=self._skip_existing,
                backlog=self._backlog,
            )
            self._selected = {item.session_id for item in selected}
            outcomes: dict[str, Inscribed] = {}
            traces: dict[str, bytes] = {}
            busy = [item for item in selected if item.is_busy]
            if busy:
                # Once, before there are several processes; where nothing changed, none is loaded.
                from minutebook.archive.lineage import keep_traces
            for item, seen in self._labelled(run, busy):
                if seen.done is not None and item.transcript is not None:
                    run.note(item.transcript, seen.done)
                    outcomes[item.transcript.location] = outcome_of(item.transcript, seen.done)
                if seen.trace:
                    traces[item.session_id] = seen.trace
                self._sort_out(item, seen)
                yield item
            told = [outcomes.get(item.place) or item.told for item in selected if item.told]
            self._inscribed = InscribeReport(told, run.remarks)
        if traces:
            keep_traces(self._archive, traces)
        self._leave_copies_out()

    def _labelled(
        self, run: WritingRun, busy: Sequence[Selected]
    ) -> Iterator[tuple[Selected, Seen]]:
        """What came of each session, read here or by the workers of a scheduler."""
        knowledge = Minuted(self._records, self._archive.minutes)
        if self._scheduler is not None:
            from minutebook.verbs.cluster import label_on_workers

            return label_on_workers(
                self._scheduler,
                run,
                knowledge,
                self._extractor,
                busy,
                ended=self._ended,
                again=self._again,
                backlog=self._backlog,
            )
        label = Labelling(run, knowledge, self._extractor, again=self._again, backlog=self._backlog)
        return fan_out(label, busy, load=warm_up if self._extractor.name == OFFLINE else None)

    def forecast(self, *, batch: bool = False) -> Forecast:
        """What asking will take."""
        costs = [self._extractor.forecast(material) for material in self.pending]
        return Forecast(
            calls=len(self.pending),
            chars=sum(map(sent_chars, self.pending)),
            cost_usd=total_cost(costs, batch=batch),
            destination=self._extractor.destination,
            extractor=self._extractor.name,
            model=self._extractor.model,
            backlog=self._backlog,
            second_looks=0 if batch else sum(map(is_long, self.pending)),
        )

    def ask(self, *, batch: bool = False, concurrency: int = 4) -> Iterator[Asked]:
        """Ask a model about what is pending; each answer is written down as it comes."""
        self._asked = asked = Asked(total=len(self.pending))
        if not batch and self._extractor.name == "anthropic" and self._layout.batch.exists():
            kept = self._layout.batch
            asked.stop(
                f"a batch is under way, and a run with batches picks it up ({kept} keeps it)"
            )
            return
        if batch:
            from minutebook.verbs.ask_batch import ask_batch

            answers = ask_batch(self._layout, self._extractor, self.pending, asked)
        else:
            answers = ask_all(self._extractor, self.pending, asked, concurrency)
        for material, answer in answers:
            self._take(material, answer)
            yield asked

    def finish(self, *, batch: bool = False) -> IngestReport:
        """Bring what follows from the records up to date, and say what was done."""
        asked, forecast = self._asked, self.forecast(batch=batch)
        if self.pending and not asked.total:
            asked = Asked(total=len(self.pending))
            asked.stop("not confirmed")
        with without_collection():
            self._take_copies()
            self._index()
        unasked = asked.total - asked.done
        return IngestReport(
            sessions=len(self._selected),
            ingested=self._ingested,
            ghosts=self._ghosts,
            unchanged=max(0, self._unchanged - unasked),
            failures=self._failures,
            engagements=sum(len(self._records[id].engagements) for id in self._changed),
            copies=self._copies,
            only_copies=len(self._waiting.keys() & self._changed),
            calls=asked.spent.calls,
            usage=asked.spent.usage,
            cost_usd=asked.spent.cost_usd,
            left=unasked + len(self._waiting.keys() - self._changed),
            stopped=asked.stopped,
            interrupted=bool(asked.interrupts),
            inscribed=self._inscribed,
            held_back=self._inscribed.held_back,
            forecast=forecast,
            backlog=Backlog(
                sum(record.backlog for record in self._records.values() if self._may_send(record)),
                total_cost(self._left_over, batch=batch) if self._left_over else None,
            ),
            held=dict(
                Counter(
                    SOURCES.program_of(record.source)
                    for record in self._records.values()
                    if record.backlog and not self._may_send(record)
                )
            ),
        )

    def _index(self) -> None:
        """Bring up to date what is made from the records."""
        if self._changed or not self._complete or not is_said_indexed(self._layout):
            # What a killed run left behind was never indexed.
            stale = self._changed if self._complete else set(self._records)
            index_minutes(self._archive, stale, self._written)

    def _may_send(self, record: SessionRecord) -> bool:
        return self._archive.settings.may_send(SOURCES.program_of(record.source))

    @property
    def _unchanged(self) -> int:
        touched = len(self._selected & ((self._changed - self._same) | self._waiting.keys()))
        return max(0, len(self._selected) - touched - self._inscribed.count("unusable"))

    # -- copies

    def _leave_copies_out(self) -> None:
        """What another session's answer will hold for is not asked about (UND-08)."""
        begun = {m.info.id: [round.id for round in m.rounds] for m in self.pending}
        left = not_sent(self._archive, begun, self._records, self._extractor, again=self._again)
        self._waiting = {id: self._seen[id] for id in left}
        self.pending = [m for m in self.pending if m.info.id not in left]

    def _take_copies(self) -> None:
        # What a killed run labelled was never compared with copies of it.
        news = sorted(self._changed if self._complete else self._records)
        asked = {material.info.id for material in self.pending}
        for record in with_copies(self._archive, news, self._waiting, self._records):
            self._copies += record.session_id not in asked
            self._written.discard(record.session_id)
            self._write(record)

    # -- records

    def _sort_out(self, item: Selected, seen: Seen) -> None:
        """Record what needs no call, at once: a page that is open sees the index grow."""
        if seen.record is None:
            if seen.failure is not None:
                self._failures.append(Failure(item.session_id, seen.failure))
            return
        self._seen[item.session_id] = seen.record
        if seen.failure is not None:
            self._fail(seen.record, seen.failure)
        elif seen.material is not None:
            self.pending.append(seen.material)
        else:
            self._ghosts += seen.record.ghost
            self._ingested += not (seen.record.ghost or seen.kept)
            if seen.kept and not seen.record.ghost:
                self._same.add(item.session_id)
            if seen.forecast is not None:
                self._left_over.append(seen.forecast.cost_usd)
            if seen.done is not None and seen.done.published is not None:
                self._written.add(item.session_id)
            self._write(seen.record)

    def _take(self, material: Material, result: Extraction | Failed) -> None:
        """Write down what came of a session."""
        base = self._seen[material.info.id]
        if isinstance(result, Failed):
            self._fail(base, str(result))
            return
        self._ingested += 1
        known = self._records.get(base.session_id)
        self._write(extracted_record(base, material, result, self._extractor, known))

    def _fail(self, base: SessionRecord, reason: str) -> None:
        self._failures.append(Failure(base.session_id, reason))
        # What was known before is worth more than nothing; its failure makes it be retried.
        known = self._records.get(base.session_id)
        kept = known if known is not None and known.engagements else base
        self._write(msgspec.structs.replace(kept, failure=reason))

    def _write(self, record: SessionRecord) -> None:
        append_record(self._layout, record)
        self._records[record.session_id] = record
        self._changed.add(record.session_id)


def total_cost(costs: Sequence[float | None], *, batch: bool) -> float | None:
    """What several forecasts come to; None where one is not known."""
    known = [cost for cost in costs if cost is not None]
    if len(known) != len(costs):
        return None
    return sum(known) / (2 if batch else 1)
