"""The library's own verbs, for ``import minutebook``."""

from __future__ import annotations

from pathlib import Path

from minutebook.config import expanded, settings
from minutebook.errors import NotFound
from minutebook.model import Session
from minutebook.sources.base import Transcript
from minutebook.sources.base import read_session as read_all
from minutebook.sources.library import Library, open_transcript


def find_transcripts(*places: str | Path) -> list[Transcript]:
    """Transcripts under folders or files, newest first; without any, the agents' own homes."""
    return Library(settings(places).roots).transcripts


def read_session(path: str | Path) -> Session:
    """A session in full: every block of every round, and its subagents."""
    return read_all(open_transcript(_one(path), "full"))


def skim_session(path: str | Path) -> Session:
    """A session's metadata and words; tool calls are only counted. Several times faster."""
    return read_all(open_transcript(_one(path), "skim"))


def _one(path: str | Path) -> Transcript:
    if not expanded(path).is_file():
        raise NotFound(f"There is no transcript at {path}.")
    return find_transcripts(path)[0]
