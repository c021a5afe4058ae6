"""What all requests share: one archive, one search at a time, and whether the index is stale."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path

from minutebook.archive import Archive
from minutebook.archive.finding import Answer, Sort, search
from minutebook.archive.masking import mark
from minutebook.archive.names import existing_file, transcript_file
from minutebook.archive.refreshing import refresh
from minutebook.archive.semantic import Meaning
from minutebook.errors import Locked, MinutebookError, NotFound
from minutebook.index.engine import Engine, Mode
from minutebook.index.query import Filters, parse_query

_EVERYTHING = Filters()
_PATIENCE = 30.0  # seconds; the kernel reports changes long before (VIEW-03)


class ServerState:
    """One per server; its methods are called from worker threads."""

    def __init__(self, root: Path, places: tuple[Path, ...]) -> None:
        self.archive = Archive(root, places, hide=mark, patience=_PATIENCE, lenient=True)
        self.stale = True
        """Whether transcripts changed since the search index was refreshed."""
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
        self.stale = True

    @property
    def is_writable(self) -> bool:
        """Whether minutes can be taken here; an archive that is not there yet can be made."""
        place = self.archive.root
        while not place.exists() and place != place.parent:
            place = place.parent
        return os.access(place, os.W_OK)

    # -- searching

    @property
    def is_indexed(self) -> bool:
        return self.archive.layout.search_database.exists()

    def refresh_index(self) -> None:
        """Bring the search index up to date; if another process is doing that, leave it to it."""
        try:
            self.stale = False
            refresh(self.archive)
            self._embed()
        except (Locked, OSError):
            self.stale = True

    def _embed(self) -> None:
        layout = self.archive.layout
        with suppress(MinutebookError):  # the chosen model was removed: words still find
            self._loaded().ready(Engine(layout.search_database, layout.search))

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
        filters: Filters = _EVERYTHING,
    ) -> Answer:
        """Search as the command line does; the last word may still be in the middle of typing."""
        page = slice(offset, offset + limit)
        with self._searching:
            answer = self._search(typed, where, mode, sort, page, filters)
            words = typed.split()
            half = words and typed[-1:].isalnum() and len(words[-1]) > 1 and ":" not in words[-1]
            if not answer.total and half:
                return self._search(f"{typed}*", where, "lexical", sort, page, filters)
            return answer

    def _search(
        self, typed: str, where: str, mode: Mode, sort: Sort, page: slice, filters: Filters
    ) -> Answer:
        query = parse_query(typed, filters)
        meaning = self._loaded()
        if meaning.trouble:
            mode = "lexical"  # the chosen model was removed: words still find
        return search(
            self.archive,
            query,
            where=where,
            mode=mode,
            sort=sort,
            limit=page.stop - page.start,
            offset=page.start,
            fresh=False,
            embedder=meaning.embedder,
        )
