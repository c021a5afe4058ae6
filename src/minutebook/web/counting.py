"""Count the work in the background, so that no page waits for it.

An idle server counts nothing: a look is taken when a page asks and something has changed.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import suppress

from minutebook.archive.archive import Archive
from minutebook.archive.worked import Counting, Worked, is_whole
from minutebook.errors import MinutebookError
from minutebook.index.query import Filters

_log = logging.getLogger(__name__)
PATIENCE = 0.15
"""Seconds a page waits for figures; those that come later are a piece of news."""


class BackgroundCount:
    """One per server; asked from worker threads."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._counting = Counting(archive)
        self._lock = threading.Lock()
        self._busy: threading.Event | None = None  # set when the count under way is done
        self._version: object = None
        self._ready = False
        self._late = False  # whether a page was answered without the newest figures
        self.made = 0
        """How many counts there were: another number means other figures."""
        self.news: Callable[[], None] = lambda: None
        """Called when figures are there that some page had to do without."""

    def worked(self, filters: Filters, patience: float | None = PATIENCE) -> Worked | None:
        """The newest count that can be had in time, for a range and a model; None if there is
        none yet. Without `patience` it is waited for."""
        self._look(patience)
        if not self._ready:
            return None
        whole = is_whole(filters.after) and is_whole(filters.before)
        ends = (None, None) if whole else (filters.after, filters.before)
        return self._counting.worked(filters.model, *ends)

    def _look(self, patience: float | None) -> None:
        version = (self._archive.minutes.version, self._archive.library, self._archive.growing)
        with self._lock:
            if version == self._version:
                return
            if self._busy is None:
                self._busy = threading.Event()
                counting = threading.Thread(
                    target=self._count, args=(version, self._busy), daemon=True
                )
                counting.start()
            busy, waited = self._busy, self._late and patience is not None
        if waited or not busy.wait(patience):  # one page asks several times, and waits once
            self._late = True

    def _count(self, version: object, done: threading.Event) -> None:
        changed = counted = False
        try:
            with suppress(OSError, MinutebookError):  # an archive in the making: the next look
                changed = self._counting.look()
                self._counting.worked()
            counted = True
        except Exception:  # a thread's error is nobody's: the next page tries again
            _log.exception("the work could not be counted")
        finally:
            with self._lock:
                self._busy = None
                if counted:
                    self._version, self._ready = version, True
                self.made += changed
                late, self._late = self._late, False
            done.set()
        if changed and late:
            self.news()
