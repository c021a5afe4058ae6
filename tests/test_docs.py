"""The documentation is true: commands run, links lead somewhere, the reference is current."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from minutebook.examples import write_demonstration
from tests.cli.conftest import Run
from tests.cli.conftest import run as run  # the command line in this process
from tests.conftest import PROJECT

DOCS = PROJECT / "docs"
PAGES = sorted(path for path in PROJECT.glob("*.md")) + sorted(DOCS.rglob("*.md"))
TAUGHT = sorted(
    {DOCS / "tutorial.md", *(DOCS / "howto").glob("*.md")} - {DOCS / "howto" / "team.md"}
)
"""Those about teams are run with a server: tests/team/test_team_pages.py."""


def commands(page: Path) -> list[str]:
    """``minutebook …`` lines of a page's shell blocks."""
    blocks = re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    return [line.split("  #")[0].strip() for block in blocks for line in block.splitlines()]


@pytest.mark.parametrize("page", TAUGHT, ids=lambda page: page.stem)
def test_every_command_of_a_page_runs(
    page: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In its order, on the sessions that `demo` writes, with their minutes taken."""
    write_demonstration(tmp_path / "examples")
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "examples"))
    monkeypatch.chdir(tmp_path)
    assert run("ingest", "--extractor", "offline").status == 0
    assert commands(page)
    for command in commands(page):
        assert command.startswith("minutebook"), command
        ran = run(*shlex.split(command)[1:])
        assert ran.status == 0, (command, ran.err)
        assert ran.out or ran.err, command


def slug(heading: str) -> str:
    """The anchor a heading gets."""
    kept = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return kept.replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    """Files that are there, and headings that are in them; nothing of the network is asked."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    text = re.sub(r"`[^`\n]*`", "", text)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        assert path.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in map(slug, headings), target


def test_every_page_is_on_the_site() -> None:
    """The index names each of them once."""
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    named = re.findall(r"^([a-z-]+(?:/[a-z-]+)?)$", index, re.MULTILINE)
    there = {str(p.relative_to(DOCS).with_suffix("")) for p in DOCS.rglob("*.md")} - {"index"}
    assert sorted(named) == sorted(there)


def test_the_reference_is_current() -> None:
    """Verbs, API, glossary and man page are written from the code (`make reference`)."""
    tool = PROJECT / "tools" / "write_reference.py"
    done = subprocess.run(
        [sys.executable, str(tool), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_no_page_takes_the_name_of_one_that_sphinx_makes() -> None:
    """`search.html` and `genindex.html` are Sphinx's own, and would replace ours."""
    assert not {"search", "genindex"} & {page.stem for page in DOCS.glob("*.md")}
