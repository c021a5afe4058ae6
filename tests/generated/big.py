"""A session as large as one likes, written in little memory."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from random import Random

from tests.generated import tools, words
from tests.generated.pen import Pen
from tests.generated.versions import VERSIONS


def big_session(path: Path, megabytes: int) -> None:
    """Write a session of about that size; its file name is its id, every round is a fresh one."""
    chance = Random(path.stem)
    start = datetime(2026, 5, 4, 9, 0, tzinfo=UTC)
    pen = Pen(chance, VERSIONS[-1], "/home/dev/orchard", start, session_id=path.stem)
    path.parent.mkdir(parents=True, exist_ok=True)
    written, wanted = 0, megabytes * 1_000_000
    with path.open("wb") as file:
        while written < wanted:
            _round(pen)
            written += file.write(b"".join(pen.lines))
            pen.lines.clear()


def _round(pen: Pen) -> None:
    """A prompt, some tools with answers of all sizes, and the last word."""
    pen.prompt()
    for _ in range(pen.chance.randint(1, 6)):
        used = pen.chance.choice(tools.TOOLS)(pen)
        pen.reply(pen.thinking(), words.reply(pen.chance), used.call, stop="tool_use")
        pen.result(used.call, used.content, used.twin, error=used.error)
    output = words.listing(pen.chance, pen.chance.choice((10, 100, 1_000)))
    call = pen.call("Bash", {"command": "pytest -v", "description": "All of it"})
    pen.reply(call, stop="tool_use")
    pen.result(call, output, {"stdout": output, "stderr": "", "interrupted": False})
    pen.reply(words.reply(pen.chance))
    pen.context = min(pen.context, 150_000)
