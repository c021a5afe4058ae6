"""Labelling one session, in the process that reads it: what `ingest` does to each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.coverage import covered, summary_said
from minutebook.archive.minutes import Minutes
from minutebook.archive.run import WritingRun, problem_of
from minutebook.archive.writing import Done
from minutebook.derive.identity import identify
from minutebook.derive.titles import session_title
from minutebook.errors import NotFound
from minutebook.extract.extractor import Extractor, Failed
from minutebook.extract.material import OPENING_CHARS, Material, MaterialBuilder, rest_of
from minutebook.extract.records import base_record, extracted_record, free_id
from minutebook.model import SessionInfo
from minutebook.model.engagement import Engagement, SessionRecord
from minutebook.model.said import Said
from minutebook.sources.base import Transcript
from minutebook.verbs.select import OFFLINE, Selected, is_outdated


class Cost(msgspec.Struct, frozen=True):
    cost_usd: float | None


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """A session as the reading process hands it over."""

    record: SessionRecord | None = None
    """Complete for a ghost and where rules extracted; else what is known without a model."""
    material: Material | None = None
    """What a model is to be asked about."""
    failure: str | None = None
    kept: bool = False
    """Whether the record is the one there was, for a file that was only touched or moved."""
    done: Done | None = None
    """What became of its transcript."""
    trace: bytes = b""
    """What may tie a new session to others (`archive.lineage`), packed; empty for one that has
    grown, of which not every round may have passed by."""
    forecast: Cost | None = None
    """What a model would cost for a session that was labelled offline instead."""


class Knowledge(Protocol):
    """What is known of a session before it is read."""

    def stored(self, session_id: str) -> SessionRecord | None:
        """Its record, as the last run wrote it."""
        ...

    def merged(self, session_id: str) -> SessionRecord | None:
        """The same, with everything a person said."""
        ...

    def heard(self, session_id: str) -> Sequence[Said]:
        """What a person said of it, and of its copies."""
        ...


class Minuted(NamedTuple):
    """What the archive at hand knows."""

    records: dict[str, SessionRecord]
    minutes: Minutes

    def stored(self, session_id: str) -> SessionRecord | None:
        return self.records.get(session_id)

    def merged(self, session_id: str) -> SessionRecord | None:
        return self.minutes.records().get(session_id)

    def heard(self, session_id: str) -> Sequence[Said]:
        return self.minutes.heard(session_id)


class Labelling:
    """Reads a session, records it, and labels it where no model has to be asked."""

    def __init__(
        self,
        run: WritingRun,
        knowledge: Knowledge,
        extractor: Extractor,
        *,
        again: bool,
        backlog: bool,
    ) -> None:
        self._run, self._knowledge, self._extractor = run, knowledge, extractor
        self._again, self._backlog = again, backlog

    def __call__(self, item: Selected) -> Seen:
        if item.transcript is not None and item.is_stale:
            return self._from_transcript(item, item.transcript)
        try:
            return self._from_archive(item)
        except OSError as error:
            return Seen(failure=str(error))

    def _from_transcript(self, item: Selected, transcript: Transcript) -> Seen:
        from minutebook.archive.lineage import tracer  # a run without a new session needs none

        seen = Seen()
        try:
            with self._run.write(transcript) as session:
                builder, traced = MaterialBuilder(), tracer()
                new = self._run.entry(item.session_id) is None
                for round in session.rounds() if item.is_due else session.new_rounds():
                    if item.is_due:
                        builder.add(round)
                    if new:
                        traced.add(round)
                if not session.foreign and item.is_due:
                    material = builder.material(session.info, session.identity)
                    seen = self._labelled(item, material, session.agent_id)
                heard = self._knowledge.heard(item.session_id)
                known = (
                    self._knowledge.merged(item.session_id)
                    if seen.record is None
                    else covered(seen.record, heard)
                )
                done = session.finish(record=known, said=summary_said(heard))
                whole = new and done.published is not None and not done.waiting
                trace = msgspec.msgpack.encode(traced.trace()) if whole else b""
                return msgspec.structs.replace(seen, done=done, trace=trace)
        except Exception as error:
            if (problem := problem_of(error, transcript)) is None:
                raise
            return msgspec.structs.replace(seen, done=Done(problem=problem))

    def _from_archive(self, item: Selected) -> Seen:
        entry = self._run.entry(item.session_id)
        if entry is None:
            return Seen()
        builder = MaterialBuilder()
        for round in self._run.archive.open(item.session_id).stored_rounds():
            builder.add(round)
        identity = identify(entry.info, self._run.archive.roster)
        return self._labelled(item, builder.material(entry.info, identity), entry.agent_id)

    def _labelled(self, item: Selected, material: Material, agent_id: str) -> Seen:
        base = base_record(material, item.origin, agent_id)
        known = self._knowledge.stored(item.session_id)
        if would_be_ghost(self._run.archive, material.info, known):
            return Seen(record=msgspec.structs.replace(base, ghost=True))
        if known is not None and not self._again and self._is_the_same(known, base):
            return Seen(record=refreshed(base, known), kept=True)
        waits = not item.allowed or (item.backlog and not self._backlog)
        if self._extractor.destination is not None and not waits:
            return Seen(record=base, material=_light(material))
        try:
            record = self._by_rules(base, material, known)
        except Failed as error:
            return Seen(record=base, failure=str(error))
        forecast = None
        if waits:
            record = msgspec.structs.replace(record, backlog=True)
            forecast = Cost(self._extractor.forecast(material)) if item.allowed else None
        return Seen(record=record, forecast=forecast)

    def _is_the_same(self, known: SessionRecord, now: SessionRecord) -> bool:
        return is_the_same(known, now, self._extractor) and not (self._backlog and known.backlog)

    def _by_rules(
        self, base: SessionRecord, material: Material, known: SessionRecord | None
    ) -> SessionRecord:
        """Rules on the spot; what a model said of the rounds it saw is kept."""
        from minutebook.extract.offline import OfflineExtractor

        rules = self._extractor if self._extractor.name == OFFLINE else OfflineExtractor()
        kept = seen_by_model(known) if known is not None and not self._again else ()
        if known is None or not kept or base.rounds <= kept[-1].turn_range[1]:
            return extracted_record(base, material, rules.extract(material), rules, known)
        last = kept[-1].turn_range[1]
        rest = rest_of(material, last)
        record = extracted_record(base, rest, rules.extract(rest), rules, known)
        found = (*kept, *_with_own_ids(record.engagements, {e.id for e in kept}))
        return msgspec.structs.replace(
            record,
            title=session_title(material.info, found),
            session_summary=known.session_summary,
            engagements=found,
            extractor_model=known.extractor_model,
            modelled=last,
            usage=known.usage,
            cost_usd=known.cost_usd,
        )


def read_material(
    archive: Archive, session_id: str, info: SessionInfo | None = None
) -> Material | None:
    """A session as extractors see it; None where its file is not a transcript.

    `info` is what is known of it, where the caller knows; looking it up gathers all sessions.
    """
    opened = archive.open(session_id)
    builder = MaterialBuilder()
    for round in opened.stored_rounds():
        builder.add(round)
    try:
        info = info or archive.stored_summary(session_id).info
    except NotFound:
        return None
    if (entry := archive.ledger().sessions.get(session_id)) is not None:
        # Not the title a person gave: taken back, it would still be in the minutes.
        own = entry.info
        info = msgspec.structs.replace(info, title=own.title, names=own.names)
    return builder.material(info, identify(info, archive.roster))


def would_be_ghost(archive: Archive, info: SessionInfo, known: SessionRecord | None) -> bool:
    """Whether a session gets no labels; one that has some is no ghost."""
    labelled = known is not None and bool(known.engagements)
    return archive.settings.is_ghost(info) and not labelled


def seen_by_model(record: SessionRecord) -> tuple[Engagement, ...]:
    """The engagements a model found, where one was asked."""
    if record.extractor is None:
        return ()
    if record.extractor != OFFLINE and not record.modelled:
        return record.engagements
    return tuple(e for e in record.engagements if e.turn_range[1] <= record.modelled)


def is_the_same(known: SessionRecord, now: SessionRecord, extractor: Extractor) -> bool:
    """Only the file was touched or moved: nothing an extractor sees has changed.

    After a failure a model is asked again; rules leave alone what a model said before it.
    """
    if known.digest != now.digest or not known.engagements:
        return False
    if is_outdated(known, extractor) and not known.backlog:
        return False
    return known.failure is None or extractor.name == OFFLINE


_EXTRACTED = (
    *("session_summary", "engagements", "extractor", "extractor_model", "prompt_version"),
    *("usage", "cost_usd", "agent_name_guess", "corrected", "modelled", "backlog", "remarks"),
    *("copy_of", "copied"),
)


def refreshed(now: SessionRecord, known: SessionRecord) -> SessionRecord:
    """What the transcript says now, with the engagements there were."""
    kept = {name: getattr(known, name) for name in _EXTRACTED}
    return msgspec.structs.replace(now, **kept)


def _with_own_ids(found: Sequence[Engagement], taken: set[str]) -> Iterator[Engagement]:
    for engagement in found:
        id = free_id(engagement.id, taken)
        taken.add(id)
        yield msgspec.structs.replace(engagement, id=id)


def _light(material: Material) -> Material:
    """Material with no more words of its rounds than a second look needs: what travels between
    processes is copied."""
    rounds = tuple(
        msgspec.structs.replace(r, prompt=r.prompt[:OPENING_CHARS], answer="")
        for r in material.rounds
    )
    return msgspec.structs.replace(material, rounds=rounds)
