"""The library's own verbs, for ``import minutebook``."""

from __future__ import annotations

from pathlib import Path

from minutebook.record.engagements import read_records
from minutebook.record.layout import Layout
from minutebook.compose import choose_extractor, open_house
from minutebook.config import expanded, settings
from minutebook.errors import NotFound
from minutebook.model import Session
from minutebook.model.engagement import SessionRecord
from minutebook.sources.base import Transcript
from minutebook.sources.base import read_session as read_all
from minutebook.sources.library import Library, open_transcript
from minutebook.verbs.ingest import IngestReport
from minutebook.verbs.ingest import ingest as run_ingest


def find_transcripts(*places: str | Path) -> list[Transcript]:
    """Transcripts under folders or files, newest first; without any, the agents' own homes."""
    return Library(settings(places).roots).transcripts


def read_session(path: str | Path) -> Session:
    """A session in full: every block of every round, and its subagents."""
    return read_all(open_transcript(_one(path), "full"))


def skim_session(path: str | Path) -> Session:
    """A session's metadata and words; tool calls are only counted. Several times faster."""
    return read_all(open_transcript(_one(path), "skim"))


def ingest(
    *places: str | Path,
    archive: str | Path | None = None,
    extractor: str = "auto",
    model: str | None = None,
    max_cost: float | None = None,
) -> IngestReport:
    """Inscribe sessions and find their engagements; what is unchanged is left alone."""
    house = open_house(settings(places, archive))
    engine = choose_extractor(extractor, model=model, max_cost=max_cost)
    return run_ingest(house.layout, house.roster, house.library.transcripts, engine)


def engagements(archive: str | Path | None = None) -> dict[str, SessionRecord]:
    """The record of every ingested session, by session id."""
    return read_records(Layout(settings(archive=archive).archive))


def _one(path: str | Path) -> Transcript:
    if not expanded(path).is_file():
        raise NotFound(f"There is no transcript at {path}.")
    return find_transcripts(path)[0]
