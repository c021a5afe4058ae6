"""What the server hears of changes on disk."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from minutebook.web.live import Hub, watch_sources


def test_reading_a_database_is_no_change_of_it(tmp_path: Path) -> None:
    """VIEW-03: an idle server reads nothing, also where a source's database keeps a log: SQLite
    sets its owner and mode whenever it is opened, which the kernel tells as a change."""
    log = tmp_path / "opencode.db-wal"
    log.write_bytes(b"x")

    async def watched() -> list[set[Path]]:
        heard: list[set[Path]] = []
        stop = asyncio.Event()
        task = asyncio.create_task(watch_sources([tmp_path], heard.append, stop))

        async def until(count: int, change: Callable[[], None]) -> None:
            for _ in range(100):
                change()
                await asyncio.sleep(0.5)
                if len(heard) >= count:
                    return

        def opened() -> None:
            log.chmod(log.stat().st_mode)

        def written() -> None:
            with log.open("ab") as file:
                file.write(b"y")

        await until(1, written)
        await asyncio.sleep(1)
        count = len(heard)
        for _ in range(4):
            opened()
            await asyncio.sleep(0.5)
        assert len(heard) == count
        await until(count + 1, written)
        stop.set()
        await task
        return heard

    heard = asyncio.run(watched())
    assert len(heard) >= 2 and set().union(*heard) == {log}


def test_a_page_that_comes_late_hears_how_an_ingest_ended() -> None:
    """VIEW-11: an ingest that ends between a page and its events leaves no page waiting."""

    async def first() -> list[str]:
        hub = Hub()
        heard = [message async for message in _some(hub, 1)]
        hub.publish("progress", phase="reading", share=0)
        heard += [message async for message in _some(hub, 2)]
        hub.publish("progress", done=True, problem=None)
        return heard + [message async for message in _some(hub, 2)]

    async def _some(hub: Hub, count: int) -> AsyncIterator[str]:
        listening = hub.listen()
        for _ in range(count):
            yield await anext(listening)
        await listening.aclose()

    heard = [line for message in asyncio.run(first()) for line in message.split("\n")]
    told = [line for line in heard if line.startswith("data: ")]
    assert told == [
        'data: {"phase": "reading", "share": 0}',
        'data: {"done": true, "problem": null}',
    ]
