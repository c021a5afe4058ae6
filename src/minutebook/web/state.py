"""What all requests share: one archive, one search at a time, and whether the index is stale."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path

from minutebook.archive import Archive
from minutebook.archive.facets import EVERYTHING, Narrowing
from minutebook.archive.finding import Answer, Sort, search
from minutebook.archive.masking import mark
from minutebook.archive.minutes import version_of
from minutebook.archive.names import existing_file, transcript_file
from minutebook.archive.opening import reopened
from minutebook.archive.refreshing import refresh
from minutebook.archive.remote import engine_of
from minutebook.archive.semantic import Meaning
from minutebook.errors import Locked, MinutebookError, NotFound
from minutebook.index.clauses import Side
from minutebook.index.engine import Mode
from minutebook.index.query import Filters, parse_query
from minutebook.web.counting import BackgroundCount

_NO_FILTERS = Filters()
_MOST_KEPT = 24
_PATIENCE = 30.0  # seconds; the kernel reports changes long before (VIEW-03)


class LastUsed:
    """What pages were made of last, while nothing has changed."""

    def __init__(self) -> None:
        self._version: object = None
        self._kept: dict[object, object] = {}
        self._lock = threading.Lock()

    def get(self, version: object, key: object) -> object | None:
        with self._lock:
            if version != self._version:
                self._version = version
                self._kept.clear()
            return self._kept.get(key)

    def keep(self, version: object, key: object, value: object) -> None:
        with self._lock:
            if version == self._version:
                while len(self._kept) >= _MOST_KEPT:
                    del self._kept[next(iter(self._kept))]
                self._kept[key] = value


class ServerState:
    """One per server; its methods are called from worker threads."""

    def __init__(self, root: Path, places: tuple[Path, ...], team: Archive | None = None) -> None:
        archive = team if team is not None else Archive(root, places)
        self.archive = reopened(archive, hide=mark, patience=_PATIENCE, lenient=True)
        self.shared = reopened(archive, patience=_PATIENCE, lenient=True)
        """The same for files that are given away: secrets are words, as on the command line."""
        self.stale = True
        """Whether transcripts changed since the search index was refreshed."""
        self.count = BackgroundCount(self.archive)
        self.boards = LastUsed()
        self._meaning: Meaning | None = None
        self._searching = threading.Lock()

    def session_id(self, name: str) -> str:
        """The session an address names, in any of the ways the command line takes; but an
        address opens no file by its path."""
        named = name.endswith(".md") and existing_file(name) is not None
        if named or transcript_file(name) is not None:
            raise NotFound(f"No session is called '{name}'.")
        return self.archive.resolve(name)

    def look_again(self) -> None:
        """Transcripts changed."""
        self.archive.look_again()
        self.shared.look_again()
        self.stale = True

    def grows(self, growing: bool) -> None:
        """Whether minutes are being taken: pages show what there is so far."""
        self.archive.growing = self.shared.growing = growing

    @property
    def is_writable(self) -> bool:
        """Whether minutes can be taken here; an archive that is not there yet can be made."""
        if self.archive.remote is not None:
            return False
        place = self.archive.root
        while not place.exists() and place != place.parent:
            place = place.parent
        return os.access(place, os.W_OK)

    @property
    def version(self) -> object:
        """Another one means that lists and figures may have changed."""
        archive = self.archive
        lineage = version_of(archive.layout.lineage)
        return archive.minutes.version, archive.library, lineage, self.count.made, archive.growing

    # -- searching

    @property
    def is_indexed(self) -> bool:
        archive = self.archive
        return archive.remote is not None or archive.layout.search_database.exists()

    def refresh_index(self) -> None:
        """Bring the search index up to date; if another process is doing that, leave it to it."""
        try:
            self.stale = False
            if self.archive.remote is not None:
                return  # whoever pushes keeps it up to date
            refresh(self.archive)
            self._embed()
        except (Locked, OSError):
            self.stale = True

    def _embed(self) -> None:
        with suppress(MinutebookError):  # the chosen model was removed: words still find
            self._loaded().ready(engine_of(self.archive))

    def _loaded(self) -> Meaning:
        if self._meaning is None:
            self._meaning = Meaning(self.archive.layout)
        return self._meaning

    def warm(self) -> None:
        """Load what searching needs, so that the first keystroke does not wait for it."""
        if self.is_indexed:
            with suppress(MinutebookError, OSError):
                self.search("minutes", limit=1)

    def search(
        self,
        typed: str,
        *,
        where: str = "all",
        mode: Mode = "hybrid",
        sort: Sort = "relevance",
        limit: int = 20,
        offset: int = 0,
        filters: Filters = _NO_FILTERS,
        side: Side = "both",
        narrowing: Narrowing = EVERYTHING,
    ) -> Answer:
        """Search as the command line does; the last word may still be in the middle of typing."""

        def ask(words: str, mode: Mode) -> Answer:
            return search(
                self.archive,
                parse_query(words, filters),
                where=where,
                side=side,
                mode="lexical" if meaning.trouble else mode,  # the chosen model was removed
                sort=sort,
                limit=limit,
                offset=offset,
                fresh=False,
                embedder=meaning.embedder,
                narrowing=narrowing,
            )

        with self._searching:
            meaning = self._loaded()
            answer = ask(typed, mode)
            words = typed.split()
            half = words and typed[-1:].isalnum() and len(words[-1]) > 1 and ":" not in words[-1]
            if not answer.whole and half and mode != "semantic":
                return ask(f"{typed}*", "lexical")
            return answer
