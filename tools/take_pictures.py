"""Takes the pictures of the documentation: `make pictures`.

The viewer shows what `minutebook demo` writes, in a Chromium of the machine's own.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from minutebook.examples.weeks import statement_cache

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
WIDE, HIGH = 1280, 860


def chromium() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    sys.exit("This needs Chromium: sudo apt-get install chromium")


def take(page: Page, address: str, name: str) -> None:
    page.goto(address)
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(500)
    page.screenshot(path=IMAGES / name)
    print(f"docs/images/{name}: {page.title()}")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        program = [sys.executable, "-m", "minutebook"]
        subprocess.run([*program, "demo", "--into", folder], check=True, capture_output=True)
        places = ["--root", folder, "--archive", f"{folder}/archive"]
        address = f"http://127.0.0.1:{(port := free_port())}"
        server = subprocess.Popen(
            [*program, "serve", "--port", str(port), *places],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        try:
            assert server.stdout is not None
            next(line for line in server.stdout if address in line)
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path=chromium(), args=["--no-sandbox"]
                )
                page = browser.new_page(viewport={"width": WIDE, "height": HIGH})
                take(page, f"{address}/", "timeline.png")
                take(page, f"{address}/session/{statement_cache().session_id}", "session.png")
                browser.close()
        finally:
            server.terminate()
            server.wait()


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


if __name__ == "__main__":
    main()
