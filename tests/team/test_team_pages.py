"""The pages about teams are true: their commands run, against a real PostgreSQL."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.conftest import run as run  # the command line in this process
from tests.conftest import PROJECT
from tests.team.conftest import House

PAGES = ("team.md", "howto/team.md")


def commands(page: str) -> list[str]:
    """``minutebook …`` lines of a page's blocks, without their comments."""
    text = (PROJECT / "docs" / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```\w*\n(.*?)```", text, re.DOTALL)
    lines = [line.split("  #")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line.startswith("minutebook ")]


@pytest.mark.parametrize("page", PAGES)
def test_every_command_about_teams_runs(
    page: str,
    run: Run,
    house: House,
    examples: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """TEAM-01: in its order, with our server for theirs, on the example sessions."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(examples))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    assert run("ingest", "--extractor", "offline").status == 0
    assert len(commands(page)) > 5
    for command in commands(page):
        theirs = re.sub(r"postgresql://(\w+)@\S+", lambda address: house.url(address[1]), command)
        words = shlex.split(theirs)[1:]
        if words == ["serve", "--team"] or "--scheduler" in words:
            # The one would not end, the other asks a machine that is not ours; see
            # test_reading_verbs.py and tests/archive/test_cluster.py.
            continue
        if words[:2] == ["team", "leave"]:
            words.append("--yes")  # nobody is there to be asked
        done = run(*words)
        assert done.status == 0, (command, done.err)
