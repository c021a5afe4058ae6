"""Sessions to ingest, and somebody to ask about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from minutebook.archive import Archive
from minutebook.derive.identity import identify
from minutebook.examples.script import Script, thinking
from minutebook.extract.material import Material, material_of
from minutebook.model.engagement import SessionRecord
from minutebook.record.layout import Layout
from minutebook.sources.base import Transcript
from minutebook.sources.library import Library, open_file, open_transcript
from tests.extract.stub import Stub, good_reply, serve

HIDDEN = "TOOL-OR-THINKING-TEXT"
"""Stands in every tool call, result and thought of the sessions below."""

WriteSession = Callable[..., Path]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A configuration folder without sessions."""
    (tmp_path / "config" / "projects" / "-home-mara-orchard").mkdir(parents=True)
    return tmp_path / "config"


@pytest.fixture
def write_session(config: Path) -> WriteSession:
    """Writes a session with so many prompts."""

    def write(name: str, prompts: int, *, words: str = "", say: str = "Done.") -> Path:
        script = Script(name, cwd="/home/mara/orchard", start="2026-03-02T09:00:00")
        for number in range(1, prompts + 1):
            script.user(f"{name}: request number {number} {words}".strip())
            script.reply(
                thinking(f"{HIDDEN} of thinking"),
                "I look.",
                call := script.call("Bash", {"command": f"echo {HIDDEN}"}),
                stop="tool_use",
            )
            script.answer(call["id"], f"{HIDDEN} of a result")
            script.reply(say)
        path = config / "projects" / "-home-mara-orchard" / f"{script.session_id}.jsonl"
        path.write_bytes(script.to_bytes())
        return path

    return write


@pytest.fixture
def three_too_long(write_session: WriteSession) -> None:
    """Three sessions that are asked about first, and a fourth that fits."""
    write_session("fits", 3)
    for number in range(3):
        write_session(f"huge-{number}", 3, words="HUGE")


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(tmp_path / "archive")


@pytest.fixture
def stub() -> Iterator[Stub]:
    """A model server that gives a good answer to everything."""
    with serve(lambda *_: good_reply((1, 1))) as running:
        yield running


def found(config: Path) -> list[Transcript]:
    return Library([config]).transcripts


def archive_at(layout: Layout, config: Path | None = None) -> Archive:
    """The archive, with the transcripts of a configuration folder or with none."""
    return Archive(layout.root, (config or layout.root / "nothing",), lenient=True)


def read_records(layout: Layout) -> dict[str, SessionRecord]:
    """The minutes as everybody sees them."""
    return archive_at(layout).minutes.records()


def material(path: Path) -> Material:
    """A session as an extractor is given it."""
    reading = open_transcript(open_file(path))
    rounds = list(reading.rounds())
    info = reading.info()
    return material_of(info, identify(info), rounds)
