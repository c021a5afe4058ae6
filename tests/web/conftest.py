"""A real viewer in a process of its own, and a real Chromium that looks at it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Error, Page, ViewportSize, expect, sync_playwright

from tests.conftest import Record, as_line

CHROMIUM = next(
    (
        found
        for name in ("chromium", "chromium-browser", "google-chrome")
        if (found := shutil.which(name))
    ),
    None,
)
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="needs Chromium: apt-get install chromium (make test does, as root)"
)
expect.set_options(timeout=15_000)  # machines that test are slow, and busy
SIZE: ViewportSize = {"width": 1280, "height": 860}
_FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass
class Served:
    """A running viewer."""

    port: int
    root: Path
    archive: Path
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def get(
        self, path: str, headers: dict[str, str] | None = None, method: str = "GET"
    ) -> tuple[int, dict[str, str], str]:
        """Status, headers and body, whatever the status is."""
        request = urllib.request.Request(self.url + path, headers=headers or {}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, dict(answer.headers), answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, dict(error.headers), error.read().decode()

    def json(self, path: str) -> Any:
        return json.loads(self.get(path)[2])

    def settle(self, seconds: float = 30.0) -> None:
        """Wait until the minutes are taken and the index is made."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            told = self.json("/api/v1/status")
            if told["indexed"] and told["progress"] is None:
                return
            time.sleep(0.1)
        raise AssertionError(f"the viewer is not ready: {self.log.read_text()}")

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
        return self.process.wait()


Serve = Callable[..., Served]


def start(root: Path, archive: Path, *options: str, port: int | None = None) -> Served:
    """`minutebook serve`, answering."""
    port = port or free_port()
    log = archive.parent / f"serve-{port}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "minutebook", "serve", "--port", str(port)),
                *("--root", str(root), "--archive", str(archive), *options),
            ],
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, "TZ": "UTC"},
        )
    served = Served(port, root, archive, process, log)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None:
        try:
            served.get("/api/v1/status")
            return served
        except OSError:
            time.sleep(0.05)
    raise AssertionError(f"the viewer did not start: {log.read_text()}")


@pytest.fixture(scope="session")
def viewer(examples: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The example sessions, ingested and served; for tests that change nothing."""
    served = start(examples, tmp_path_factory.mktemp("viewer") / "archive")
    served.settle()
    yield served
    served.stop()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Start viewers of one's own: `serve(root, *options)`."""
    running: list[Served] = []

    def begin(root: Path, *options: str, settle: bool = True) -> Served:
        served = start(root, tmp_path / "archive", *options)
        running.append(served)
        if settle:
            served.settle()
        return served

    yield begin
    for served in running:
        served.stop()


@dataclass
class Written:
    """A configuration folder that a test fills with transcripts."""

    root: Path
    ids: list[str] = field(default_factory=list)

    def session(
        self, *records: Record | bytes, id: str | None = None, project: str = "orchard"
    ) -> str:
        """Write a transcript; the id of the session."""
        number = len(self.ids) + 1
        id = id or f"{number:08d}-2222-4333-8444-555555555555"
        folder = self.root / "projects" / f"-home-dev-{project}"
        folder.mkdir(parents=True, exist_ok=True)
        full = [
            {"sessionId": id, "uuid": f"u-{number}-{at}", "cwd": f"/home/dev/{project}", **record}
            if isinstance(record, dict)
            else record
            for at, record in enumerate(records)
        ]
        content = b"".join(as_line(record) + b"\n" for record in full)
        (folder / f"{id}.jsonl").write_bytes(content)
        self.ids.append(id)
        return id

    def append(self, id: str, *records: Record) -> None:
        path = next(self.root.rglob(f"{id}.jsonl"))
        with path.open("ab") as file:
            for at, record in enumerate(records):
                whole = {"sessionId": id, "uuid": f"more-{time.time_ns()}-{at}", **record}
                file.write(as_line(whole) + b"\n")


@pytest.fixture
def written(tmp_path: Path) -> Written:
    return Written(tmp_path / "claude")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Closed after each file: while Playwright runs, no other test could start an event loop."""
    if CHROMIUM is None:
        pytest.skip("needs Chromium: apt-get install chromium (make test does, as root)")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=list(_FLAGS))
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def window(browser: Browser) -> Iterator[Page]:
    with browser.new_context(viewport=SIZE, timezone_id="UTC") as context:
        yield context.new_page()


@pytest.fixture
def page(window: Page) -> Iterator[Page]:
    """One page for all tests of a file, which is faster; it fails the test when a script breaks."""
    broken: list[str] = []

    def note(error: Error) -> None:
        broken.append(str(error))

    window.set_viewport_size(SIZE)
    window.on("pageerror", note)
    yield window
    window.remove_listener("pageerror", note)
    window.goto("about:blank")
    assert broken == []


def ready(page: Page, url: str) -> Page:
    """Open an address and wait until the page's scripts have run."""
    page.goto(url)
    page.wait_for_selector("html[data-ready]")
    return page


# -- minutes written by hand


def stamp(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")


def engagement(moment: datetime, method: str, topic: str, **fields: Any) -> Record:
    """An engagement of half an hour."""
    return {
        "id": "work",
        "topic": topic,
        "project": "/home/dev/orchard",
        "method": method,
        "phase": "completed",
        "turn_range": [1, 3],
        "started": stamp(moment),
        "ended": stamp(moment + timedelta(minutes=30)),
        **fields,
    }


def minutes_of(number: int, *engagements: Record, **fields: Any) -> Record:
    """A session's record; its id is made of its number."""
    return {
        "session_id": f"{number:08d}-1111-4222-8333-444444444444",
        "title": f"Session {number}",
        "cwd": engagements[0]["project"] if engagements else "/home/dev/orchard",
        "started": engagements[0]["started"] if engagements else "2026-03-01T09:00:00Z",
        "ended": engagements[-1]["ended"] if engagements else "2026-03-01T09:30:00Z",
        "rounds": 3,
        "extractor": "offline",
        "engagements": list(engagements),
        **fields,
    }


def write_minutes(archive: Path, *records: Record | bytes) -> Path:
    """An archive with these minutes and nothing else."""
    path = archive / "sessions" / "engagements.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(as_line(record) + b"\n" for record in records))
    return path


def shown_minutes(folder: Path, *records: Record | bytes) -> Served:
    """A viewer of minutes written by hand; nothing else is taken."""
    (folder / "claude" / "projects").mkdir(parents=True)
    write_minutes(folder / "archive", *records)
    return start(folder / "claude", folder / "archive", "--no-ingest")
