"""`minutebook config`: the settings of an archive (ING-05)."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from minutebook.archive.settings import NAMES, allow, read_settings
from minutebook.cli.config import MEANINGS
from minutebook.record.layout import Layout
from minutebook.sources.registry import SOURCES
from tests.cli.conftest import Run


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, examples: Path) -> Path:
    monkeypatch.setenv("MINUTEBOOK_ARCHIVE", str(tmp_path / "archive"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(examples))
    (tmp_path / "archive").mkdir()
    return tmp_path / "archive"


@pytest.mark.usefixtures("archive")
def test_settings_are_shown_and_set(run: Run) -> None:
    """All, one, and a new value; what is not the default says what the default is."""
    shown = run("config")
    assert [line.split()[0] for line in shown.out.splitlines()] == [*NAMES, "allowed"]
    assert run("config", "ghost_prompts").out == "3\n"
    assert "ghost_prompts is 5 now" in run("config", "ghost_prompts", "5").out
    assert run("config", "ghost_prompts").out == "5\n"
    assert re.search(r"ghost_prompts +5  .*\(default: 3\)", run("config").out)
    assert json.loads(run("config", "--json").out) == {
        "version": 1,
        "settings": {"ghost_prompts": 5, "ghost_calls": 10, "ghost_chars": 1500, "search_tools": 1},
        "allowed": [next(iter(SOURCES.values())).program],
    }
    assert json.loads(run("config", "ghost_calls", "--json").out)["settings"] == {"ghost_calls": 10}


def test_every_setting_is_explained(run: Run) -> None:
    """A setting that is added is described here too."""
    assert set(MEANINGS) == set(NAMES)
    text = run("config", "--help").out
    assert [name for name in NAMES if name not in text] == []


@pytest.mark.usefixtures("archive")
def test_a_setting_decides_who_is_a_ghost(run: Run) -> None:
    """ING-05: every verb goes by it at once."""
    assert json.loads(run("sessions", "--json").out)["ghosts_hidden"] == 1
    for name in NAMES:
        run("config", name, "100000")
    assert json.loads(run("sessions", "--json").out)["total"] == 0
    assert "9 ghosts (never sent)" in run("ingest", "--dry-run").out


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["colour"], "'colour' is not a setting; choose one of ghost_prompts"),
        (["colour", "red"], "'colour' is not a setting; choose one of ghost_prompts"),
        (["ghost_prompts", "many"], "ghost_prompts is a whole number"),
        (["ghost_prompts", ""], "ghost_prompts is a whole number"),
        (["ghost_prompts", "3.5"], "ghost_prompts is a whole number"),
    ],
)
def test_bad_settings_are_one_sentence(
    run: Run, archive: Path, args: list[str], sentence: str
) -> None:
    """Said, and nothing is written."""
    ran = run("config", *args)
    assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert sentence in ran.err
    assert list(archive.iterdir()) == []


def test_a_damaged_file_is_named(run: Run, archive: Path) -> None:
    """ARC-07: the defaults are used, and nothing is written over it."""
    (archive / "config.json").write_text("{broken")
    ran = run("config", "ghost_prompts")
    assert (ran.status, ran.out) == (0, "3\n")
    assert f"{archive}/config.json is damaged" in ran.err
    refused = run("config", "ghost_prompts", "4")
    assert refused.status == 2 and "cannot be used" in refused.err
    assert (archive / "config.json").read_text() == "{broken"


def test_two_changes_at_once_both_hold(tmp_path: Path) -> None:
    """NFR-02: reading, changing and writing is one step; what a killed writer left is swept."""
    layout = Layout(tmp_path)
    left = layout.settings.with_name(f".partial-1-1-{layout.settings.name}")
    left.write_bytes(b"{")
    programs = [source.program for source in SOURCES.values()][1:]
    with ThreadPoolExecutor(len(programs)) as threads:
        list(threads.map(lambda program: allow(layout, program), programs))
    assert read_settings(layout)[0].allowed == tuple(sorted(programs))
    assert not left.exists()
