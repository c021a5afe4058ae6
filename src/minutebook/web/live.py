"""Changes on disk and progress, as server-sent events to open pages.

The kernel tells of changes (inotify and its kin), so an idle server reads nothing at all.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

from minutebook.record.layout import Layout
from minutebook.verbs.watch import AT_MOST_MS, QUIET_MS, matters

_PULSE = 25.0  # seconds; proxies and laptops forget connections that say nothing


class Hub:
    """Everybody who is looking."""

    def __init__(self) -> None:
        self._waiting: set[asyncio.Queue[str | None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.progress: dict[str, Any] | None = None
        """Where an ingest is, while one is running."""
        self._ended: dict[str, Any] | None = None
        """How the last one ended."""

    def start(self) -> None:
        self._loop = asyncio.get_running_loop()

    def publish(self, event: str, **data: Any) -> None:
        """Tell everybody; may be called from any thread."""
        if event == "progress":
            ended = bool(data.get("done"))
            self.progress, self._ended = (None, data) if ended else (data, None)
        message = f"event: {event}\ndata: {json.dumps(data)}\n\n"
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._put, message)

    def close(self) -> None:
        """Let everybody go: the server is about to stop."""
        self._put(None)

    def _put(self, message: str | None) -> None:
        for queue in self._waiting:
            queue.put_nowait(message)

    async def listen(self) -> AsyncGenerator[str]:
        queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._waiting.add(queue)
        try:
            yield "retry: 1000\n\n"
            # One that ended while the page was on its way is told of, too.
            if (told := self.progress or self._ended) is not None:
                yield f"event: progress\ndata: {json.dumps(told)}\n\n"
            while True:
                try:
                    message = await asyncio.wait_for(queue.get(), _PULSE)
                except TimeoutError:
                    message = ": still here\n\n"
                if message is None:
                    return
                yield message
        finally:
            self._waiting.discard(queue)


Heard = Callable[[set[Path]], None]


async def watch_archive(layout: Layout, heard: Heard, stop: asyncio.Event) -> None:
    """Changes of the minutes and of what people say of them: names, corrections, tags."""
    files = (layout.engagements, layout.corrections, layout.tags, layout.ledger)
    wanted = {path.name for path in (*files, layout.roster, layout.settings)}
    places = [place for place in (layout.root, layout.sessions) if place.is_dir()]
    await _watch(places, heard, stop, lambda _, path: Path(path).name in wanted, recursive=False)


async def watch_sources(places: list[Path], heard: Heard, stop: asyncio.Event) -> None:
    """Changes of transcripts."""
    await _watch(places, heard, stop, matters, recursive=True)


async def _watch(
    places: list[Path],
    heard: Heard,
    stop: asyncio.Event,
    wanted: Callable[[str, str], bool],
    *,
    recursive: bool,
) -> None:
    if not places:
        return
    from watchfiles import awatch

    known: dict[Path, tuple[int, int, int] | None] = {}
    async for changes in awatch(
        *places,
        watch_filter=lambda change, path: wanted(change.name, path),
        step=QUIET_MS,
        debounce=AT_MOST_MS,
        stop_event=stop,
        recursive=recursive,
        rust_timeout=60_000,
        ignore_permission_denied=True,
    ):
        # SQLite sets owner and mode of a log that it opens: a change that changes nothing.
        states = {Path(path): _state(Path(path)) for _, path in changes}
        changed = {p for p, state in states.items() if p not in known or known[p] != state}
        known |= {path: states[path] for path in changed}
        if changed:
            heard(changed)


def _state(path: Path) -> tuple[int, int, int] | None:
    """What tells one state of a file from another; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
