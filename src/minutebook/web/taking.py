"""Taking the minutes in the background: an offline `ingest` in a process of its own.

Offline only: nothing is sent anywhere because somebody opened a page.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from minutebook.record.layout import Layout
from minutebook.web.live import Hub


class Taker:
    """Runs at most one ingest at a time, and tells of its progress."""

    def __init__(
        self, layout: Layout, places: tuple[Path, ...], hub: Hub, done: Callable[[], None]
    ) -> None:
        self._layout, self._places, self._hub, self._done = layout, places, hub, done
        self._running: asyncio.Task[None] | None = None
        self._again = False
        self._process: asyncio.subprocess.Process | None = None

    @property
    def is_running(self) -> bool:
        return self._running is not None and not self._running.done()

    def start(self) -> bool:
        """Begin; where one is under way, another follows it. Whether it began now."""
        if self.is_running:
            self._again = True
            return False
        self._hub.publish("progress", phase="reading", share=0)
        self._running = asyncio.create_task(self._run())
        return True

    async def stop(self) -> None:
        """End the process; whatever it has written down stays."""
        process = self._process
        if process is not None and process.returncode is None:
            process.terminate()
            try:
                await asyncio.wait_for(process.wait(), 3)
            except TimeoutError:
                process.kill()
                await process.wait()
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)

    async def _run(self) -> None:
        while True:
            self._again = False
            problem: str | None = "it was stopped"
            try:
                problem = await self._call("ingest", "--extractor", "offline", "--progress", "json")
                self._hub.publish("progress", phase="indexing", share=1)
                await self._call("refresh")
            except (OSError, ValueError) as error:
                problem = str(error)
            finally:
                self._hub.publish("progress", done=True, problem=problem)
            self._done()
            if not self._again:
                return

    async def _call(self, verb: str, *options: str) -> str | None:
        """Run a verb; what it complained of, where it failed."""
        places = [part for place in self._places for part in ("--root", str(place))]
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "minutebook", verb, *options, *places),
            *("--archive", str(self._layout.root)),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "NO_COLOR": "1"},
            limit=1 << 20,
        )
        assert self._process.stderr is not None
        last = ""
        async for line in self._process.stderr:
            told = _told(line)
            if told is None:
                last = line.decode(errors="replace").strip() or last
            else:
                self._hub.publish("progress", **told)
        return last if await self._process.wait() else None


def _told(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
