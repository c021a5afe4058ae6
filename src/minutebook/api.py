"""Conveniences for ``import minutebook``: transcripts without an archive, and whole runs."""

from __future__ import annotations

from pathlib import Path

from minutebook.archive import Archive, open_archive
from minutebook.config import expanded
from minutebook.errors import NotFound
from minutebook.extract.choose import choose_extractor
from minutebook.extras import needed
from minutebook.model import Session
from minutebook.model.engagement import SessionRecord
from minutebook.sources.base import Transcript
from minutebook.sources.base import read_session as read_all
from minutebook.sources.library import Library, open_transcript
from minutebook.verbs.ingest import IngestReport
from minutebook.verbs.ingest import ingest as run_ingest


def find_transcripts(*places: str | Path) -> list[Transcript]:
    """Transcripts under folders or files, newest first; without any, the agents' own homes."""
    return Library([expanded(place) for place in places]).transcripts


def read_session(path: str | Path) -> Session:
    """A session in full, as its transcript has it: every block, secrets and all."""
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
    """Archive sessions and find their engagements; what is unchanged is left alone."""
    engine = choose_extractor(extractor, model=model, max_cost=max_cost)
    return run_ingest(open_archive(archive, places, create=True), engine)


def engagements(archive: str | Path | None = None) -> dict[str, SessionRecord]:
    """The record of every session whose minutes were taken, by session id."""
    return open_archive(archive).records()


def open_team(archive: str | Path | None = None) -> Archive:
    """What the team that an archive has joined shares, as its person may see it; only to be read.

    As a context manager it lets the connection go at its end.
    """
    needed("team")
    from minutebook.team.opening import open_team as opened

    return opened(open_archive(archive))


def _one(path: str | Path) -> Transcript:
    if not expanded(path).is_file():
        raise NotFound(f"There is no transcript at {path}.")
    return find_transcripts(path)[0]
