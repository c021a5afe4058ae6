"""Sessions of every coding agent in a real browser: filter, sign, and the command that goes on."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from minutebook.sources.registry import SOURCES
from tests.conftest import needs_corpus
from tests.programs.samples import AGENTS, homes, in_folder, programs
from tests.web.conftest import Served, needs_chromium, ready, start

pytestmark = [needs_corpus, needs_chromium]
# One session of each that is long enough to be no ghost; of Cursor there are only short ones.
SESSIONS = {
    "codex": "01a1e3c2-f3aa-7c13-b14e-f433b2f15256",
    "opencode": "ses_e1c3c6f71ffeerlECB1GiPLuzA",
    "gemini": "54cb1a1d-9b02-4446-9521-d544806d644c",
    "copilot": "f0aa8e27-abc0-4fe0-87bc-2d92af89d65d",
    "pi": "01a1e3c8-fa29-7292-9bd6-d1bdff49afd6",
    "qwen": "8827e74d-2229-4f8c-a9ae-c09f804a7657",
}


@pytest.fixture(scope="module")
def everyone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A home in which people used every agent there are samples of."""
    home = tmp_path_factory.mktemp("everyone")
    for program in programs():
        for sample in homes(program):
            if "maintenance" not in str(sample):
                shutil.copytree(sample, home / program, dirs_exist_ok=True)
    roots = sorted({t.root for p in programs() for t in in_folder(home / p) if t.root})
    options = [part for root in roots[1:] for part in ("--root", str(root))]
    archive: Path = tmp_path_factory.mktemp("archive") / "a"
    served = start(roots[0], archive, *options)
    served.settle(60)
    yield served
    served.stop()


def test_each_agent_has_a_session_here() -> None:
    """AGT-01: whoever adds an agent with samples adds it here."""
    driven = {path.parent.parent.name for path in AGENTS.glob("*/*/expected.json")}
    assert set(SESSIONS) == driven


@pytest.mark.parametrize("program", SESSIONS)
def test_an_agents_sessions_are_found_and_gone_on_with(
    everyone: Served, browser: Browser, program: str
) -> None:
    """AGT-01, VIEW-25: a click shows one agent's sessions, each with its sign; the button on a
    session's page copies what to type in that agent's own words."""
    source = SOURCES.by_program(program)
    assert source is not None
    with browser.new_context(permissions=["clipboard-read", "clipboard-write"]) as context:
        page = ready(context.new_page(), f"{everyone.url}/?from=2025-01-01&to=2027-01-01")
        chip = page.locator(f'.programs [data-program="{program}"]')
        expect(chip).to_contain_text(source.title)  # one name everywhere, and its command
        expect(chip).to_have_attribute("title", re.compile(rf"\({program}\)$"))
        chip.click()
        page.wait_for_url(f"**agent={program}*")
        rows = page.locator(".row a.program")
        expect(rows.first).to_have_text(source.title)
        expect(rows.first).to_have_attribute("title", f"{source.title}: show only its sessions")
        assert len(set(rows.all_inner_texts())) == 1
        page = ready(page, f"{everyone.url}/session/{SESSIONS[program]}")
        page.get_by_role("button", name="Resume").click()
        copied: str = page.evaluate("navigator.clipboard.readText()")
        cwd, command = copied.split(" && ")
        assert cwd == "cd /home/dev/lab/demo"
        words = shlex.split(command)
        assert words[0] == program and SESSIONS[program] in words[-1]
