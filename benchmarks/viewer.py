"""What the viewer costs, in a real Chromium: first paint, opening, scrolling, typing, idling.

    PYTHONPATH=. python benchmarks/viewer.py [--peer AGENTSVIEW]

Three archives are made in a temporary folder: 1,500 generated sessions, the corpus, and one
session of 80 MB (the corpus' largest, repeated). Times are of this machine; the same pages
of a peer in the same run say what they are worth.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.generated import CORPUS, generate

FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
_SESSIONS = 1_500
_LARGE = 80_000_000
_RUNS = 5
_IDLE = 60.0
_WATCH = """
window.blocks = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.blocks.push(entry.duration);
}).observe({ type: "longtask", buffered: true });
"""
_FIRST_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"
_WEIGHT = """
[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
.reduce((sum, entry) => sum + (entry.transferSize || 0), 0)"""


def _port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        found: int = probe.getsockname()[1]
        return found


@contextmanager
def serving(roots: list[Path], archive: Path) -> Iterator[tuple[str, int]]:
    """The viewer of an archive that is complete; its address and process."""
    base = [sys.executable, "-m", "minutebook"]
    places = [
        *(word for root in roots for word in ("--root", str(root))),
        "--archive",
        str(archive),
    ]
    for verb in (["ingest", "--extractor", "offline"], ["refresh"]):
        subprocess.run([*base, *verb, *places], check=True, capture_output=True)
    port = _port()
    process = subprocess.Popen(
        [*base, "serve", "--port", str(port), *places], stdout=subprocess.DEVNULL
    )
    address = f"http://127.0.0.1:{port}"
    try:
        _await(f"{address}/api/v1/status", process)
        yield address, process.pid
    finally:
        process.terminate()
        process.wait()


def _await(address: str, process: subprocess.Popen[bytes]) -> None:
    for _ in range(1_200):
        with suppress(OSError):
            urllib.request.urlopen(address, timeout=5).close()
            return
        if process.poll() is not None:
            break
        time.sleep(0.1)
    raise SystemExit(f"nobody answers at {address}")


def fresh(browser: Browser) -> Page:
    page = browser.new_context(viewport={"width": 1280, "height": 860}).new_page()
    page.add_init_script(_WATCH)
    return page


def opened(browser: Browser, url: str, ready: str) -> dict[str, float]:
    """Medians of some openings, each in a browser that has never been there."""
    rows: list[dict[str, float]] = []
    for _ in range(_RUNS):
        page = fresh(browser)
        page.goto(url)
        page.wait_for_selector(ready)
        shown = page.evaluate("performance.now()")
        page.wait_for_timeout(700)
        rows.append(
            {
                "first paint ms": page.evaluate(_FIRST_PAINT) or -1,
                "shown ms": shown,
                "nodes": page.evaluate("document.querySelectorAll('*').length"),
                "weight KB": page.evaluate(_WEIGHT) / 1000,
                "longest block ms": max(page.evaluate("window.blocks"), default=0),
            }
        )
        page.context.close()
    return {name: statistics.median(row[name] for row in rows) for name in rows[0]}


def scrolled(browser: Browser, url: str) -> dict[str, float]:
    """The longest time the main thread was busy while somebody scrolls and jumps."""
    page = fresh(browser)
    page.goto(url)
    page.wait_for_selector("html[data-ready]")
    page.wait_for_timeout(500)
    page.evaluate("window.blocks.length = 0")
    nodes = 0
    page.mouse.move(640, 500)
    for step in range(120):
        page.mouse.wheel(0, 900)
        page.wait_for_timeout(30)
        if step % 20 == 10:
            page.evaluate("scrollTo(0, document.documentElement.scrollHeight * Math.random())")
            page.wait_for_timeout(250)
            nodes = max(nodes, page.evaluate("document.querySelectorAll('*').length"))
    page.keyboard.press("End")
    page.wait_for_timeout(600)
    blocks = page.evaluate("window.blocks")
    page.context.close()
    return {
        "longest block ms": max(blocks, default=0),
        "blocks over 50 ms": len(blocks),
        "most nodes": nodes,
    }


def typed(browser: Browser, url: str, words: str) -> list[float]:
    """Milliseconds from each keystroke to its results."""
    page = fresh(browser)
    page.goto(url)
    page.wait_for_selector("html[data-ready]")
    page.keyboard.press("Control+k")
    page.wait_for_selector("#palette[open]")
    page.wait_for_timeout(400)
    page.evaluate(
        """() => {
          window.times = [];
          let began = 0;
          const input = document.querySelector('#pq');
          const found = document.querySelector('#palette-results');
          input.addEventListener('input', () => (began = performance.now()), true);
          new MutationObserver(() => window.times.push(performance.now() - began))
            .observe(found, { attributes: true, attributeFilter: ['data-for'] });
        }"""
    )
    for letter in words:
        page.keyboard.type(letter)
        page.wait_for_timeout(350)
    found: list[float] = page.evaluate("window.times")
    page.context.close()
    return sorted(found)


def idled(browser: Browser, url: str, pid: int) -> dict[str, float]:
    """Reads and processor time of a server that a page is open at, over a minute."""
    page = fresh(browser)
    page.goto(url)
    page.wait_for_selector("html[data-ready]")
    time.sleep(8)  # the index is looked after once, at the start
    before = _spent(pid)
    time.sleep(_IDLE)
    after = _spent(pid)
    page.context.close()
    return {
        "file bytes read": after["bytes"] - before["bytes"],
        "files opened (atime-free: read calls)": after["calls"] - before["calls"],
        "CPU %": 100 * (after["cpu"] - before["cpu"]) / _IDLE,
    }


def _spent(pid: int) -> dict[str, float]:
    io = dict(line.split(": ") for line in Path(f"/proc/{pid}/io").read_text().strip().splitlines())
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    ticks = int(fields[11]) + int(fields[12])
    return {
        "bytes": int(io["rchar"]),
        "calls": int(io["syscr"]),
        "cpu": ticks / os.sysconf("SC_CLK_TCK"),
    }


def largest() -> Path:
    return max((CORPUS / "claude").rglob("*.jsonl"), key=lambda path: path.stat().st_size)


def write_large(folder: Path) -> str:
    """One session of 80 MB: the largest of the corpus again and again, with ids of its own."""
    source = largest()
    id = "80000000-0000-4000-8000-000000000000"
    target = folder / "projects" / "-home-bench-large" / f"{id}.jsonl"
    target.parent.mkdir(parents=True)
    lines = [line for line in source.read_bytes().split(b"\n") if line.strip()]
    with target.open("wb") as file:
        copy = 0
        while file.tell() < _LARGE:
            copy += 1
            for line in lines:
                record: dict[str, Any] = json.loads(line)
                record["sessionId"] = id
                for name in ("uuid", "parentUuid", "messageId"):
                    if isinstance(record.get(name), str):
                        record[name] = f"{copy:04d}{record[name][4:]}"
                message = record.get("message")
                if isinstance(message, dict) and isinstance(message.get("id"), str):
                    message["id"] += f"-{copy}"
                file.write(json.dumps(record).encode() + b"\n")
    return id


def show(title: str, facts: dict[str, float]) -> None:
    print(f"{title}: " + ", ".join(f"{name} {value:,.1f}" for name, value in facts.items()))


def peer(browser: Browser, program: str, folder: Path) -> None:
    """The same home page of agentsview, over the same transcripts, its first sync done."""
    port = _port()
    home = folder / "peer"
    environment = {
        **os.environ,
        "HOME": str(home),
        "CLAUDE_PROJECTS_DIR": str(folder / "many/projects"),
    }
    (home / ".claude").mkdir(parents=True)
    (home / ".claude/projects").symlink_to(folder / "many/projects")
    process = subprocess.Popen(
        [program, "serve", "--port", str(port), "--no-browser"],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _await(f"http://127.0.0.1:{port}/", process)
        time.sleep(20)
        show(
            f"agentsview home, {_SESSIONS:,} sessions",
            opened(browser, f"http://127.0.0.1:{port}/", "body *"),
        )
    finally:
        process.terminate()
        process.wait()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument("--peer", help="agentsview, to open beside ours")
    options.add_argument("--keep", type=Path, help="make the archives here, and leave them")
    given = options.parse_args()
    folder = given.keep or Path(tempfile.mkdtemp(prefix="viewer-bench-"))
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if not (folder / "many").exists():
        generate(folder / "many", _SESSIONS * 40)
    large = "80000000-0000-4000-8000-000000000000"
    if not (folder / "large").exists():
        write_large(folder / "large")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        with serving([folder / "many"], folder / "many-archive") as (url, pid):
            show(f"home, {_SESSIONS:,} sessions", opened(browser, f"{url}/", "html[data-ready]"))
            times = typed(browser, f"{url}/", "passkey login fails")
            show(
                "keystroke to results",
                {
                    "p50 ms": statistics.median(times),
                    "slowest ms": times[-1],
                    "keystrokes": len(times),
                },
            )
            show("idle, a page open", idled(browser, f"{url}/", pid))
        with serving([CORPUS / "claude"], folder / "corpus-archive") as (url, _):
            show(
                f"the corpus' largest session ({largest().stat().st_size / 1e6:.1f} MB)",
                opened(browser, f"{url}/session/{largest().stem}", "html[data-ready] .round"),
            )
        with serving([folder / "large"], folder / "large-archive") as (url, _):
            show(
                "80 MB session",
                opened(browser, f"{url}/session/{large}", "html[data-ready] .round"),
            )
            show("80 MB session, scrolled", scrolled(browser, f"{url}/session/{large}"))
        if given.peer:
            peer(browser, given.peer, folder)
        browser.close()
    if given.keep is None:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
