"""What adapters share whose sessions are files of their own."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from pathlib import Path

import msgspec

from minutebook.sources.base import Exporter, Reading, Transcript, Trouble

_HEAD = 4096


def current_file(transcript: Transcript) -> Transcript | None:
    """A transcript with the size its file has now; None where it was deleted since."""
    try:
        stat = transcript.path.stat()
    except OSError:
        return None
    return msgspec.structs.replace(transcript, size=stat.st_size, mtime=stat.st_mtime)


def head_of_file(path: Path, size: int) -> str:
    """A digest of the first bytes of a file, as far as it reached when it had this size."""
    with path.open("rb") as file:
        return hashlib.sha256(file.read(min(size, _HEAD))).hexdigest()[:16]


class FileSource:
    """Defaults for an adapter: one file is one session, it only grows, nothing stands beside it,
    nothing deletes it, and nobody can write it."""

    @property
    def exporter(self) -> Exporter | None:
        return None

    def default_root(self) -> Path:
        raise NotImplementedError

    def current(self, transcript: Transcript) -> Transcript | None:
        return current_file(transcript)

    def head(self, transcript: Transcript, size: int) -> str:
        return head_of_file(transcript.path, size)

    def beside(self, transcript: Transcript) -> str:
        del transcript
        return ""

    def orphans(self, folder: Path, session_ids: Collection[str]) -> list[Trouble]:
        del folder, session_ids
        return []

    def retention_days(self, root: Path) -> int | None:
        del root
        return None

    def resume(self, transcript: Transcript, checkpoint: bytes) -> Reading | None:
        del transcript, checkpoint
        return None

    def folders(self, places: Iterable[Path]) -> list[Path]:
        """What to watch: these places, else the default root."""
        chosen = list(places) or [self.default_root()]
        return [place for place in chosen if place.exists()]

    def matters(self, path: Path) -> bool:
        return path.suffix == ".jsonl"

    def sessions_of(self, paths: Iterable[Path]) -> set[str]:
        """What the sessions of changed files may be called."""
        return {path.stem for path in paths}
