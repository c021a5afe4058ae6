"""Help, and completion in a shell."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from minutebook.cli.glossary import OVERLAPS, WORDS
from minutebook.cli.main import GROUPS, VERBS
from minutebook.verbs.install_completion import SHELLS
from tests.cli.conftest import Run


def test_verbs_are_grouped_by_what_people_want(run: Run) -> None:
    """Every verb stands once in `--help`, under what it is good for."""
    ran = run("--help", columns=80)
    places = [ran.out.index(f"\n{want}:") for want in GROUPS]
    assert places == sorted(places)
    assert all(ran.out.count(f"\n  {verb} ") == 1 for verb in VERBS)


@pytest.mark.parametrize("word", WORDS)
def test_a_word_is_explained(run: Run, word: str) -> None:
    """Each word of the glossary, also as several."""
    assert run("help", *word.split()).out.startswith(f"{word}: {WORDS[word][:20]}")
    assert run("help", *f"{word}s".split()).status == 0


@pytest.mark.parametrize(("several", "one"), [("copies", "copy"), ("entries", "entry")])
def test_a_plural_of_y_is_explained(run: Run, several: str, one: str) -> None:
    """OPS: a word is understood as one says it of several."""
    assert WORDS[one][:30] in run("help", several).out


@pytest.mark.parametrize("word", ["hidden", "note", "star"])
def test_what_a_person_says_is_explained(run: Run, word: str) -> None:
    """UND-07: marks that lists show are words of the glossary, with the command that sets them."""
    assert "correct " in run("help", word).out


def test_a_verb_is_explained_with_its_neighbours(run: Run) -> None:
    """Its own help, and one line on the verbs that look like it."""
    ran = run("help", "append")
    assert "Usage: minutebook append" in ran.out
    assert OVERLAPS["ingest"] in ran.out
    assert "Usage: minutebook status" in run("help", "status").out


def test_an_unknown_word_is_one_sentence(run: Run) -> None:
    """With what was probably meant, and status 2."""
    ran = run("help", "engagemnt")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.count("\n") == 1 and "Did you mean 'engagement'?" in ran.err


def _asked(words: str, home: Path, **more: str) -> list[str]:
    """What bash is answered for a line whose last word is being completed."""
    env = {**os.environ, **more, "HOME": str(home), "_MINUTEBOOK_COMPLETE": "bash_complete"}
    env |= {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split(" ")) - 1)}
    done = subprocess.run(
        [sys.executable, "-m", "minutebook"], env=env, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return [line.removeprefix("plain,") for line in done.stdout.splitlines() if line]


def test_a_shell_is_told_what_may_follow(run: Run, examples: Path, own_home: Path) -> None:
    """Verbs, options, sessions, their engagements and projects; nothing where there is nothing."""
    archive = own_home / "archive"
    assert run("ingest", "--root", examples, "--archive", archive, "--extractor", "offline").out
    known = {"CLAUDE_CONFIG_DIR": str(examples), "MINUTEBOOK_ARCHIVE": str(archive)}
    assert "search" in _asked("minutebook sea", own_home)
    assert "--limit" in _asked("minutebook sessions --l", own_home)
    assert "Reed" in _asked("minutebook show Re", own_home, **known)
    ids = _asked("minutebook show ", own_home, **known)
    assert len(ids) >= 5 and all(
        run("show", id, "--root", examples, "--archive", archive).status == 0 for id in ids[:2]
    )
    assert _asked("minutebook correct split Reed ", own_home, **known)
    assert any(
        "orchard" in p for p in _asked("minutebook search --project orch", own_home, **known)
    )
    assert _asked("minutebook show zzz", own_home, **known) == []
    assert _asked("minutebook show ", own_home, MINUTEBOOK_ARCHIVE="/dev/null/x") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_each_shell_is_printed(shell: str, own_home: Path) -> None:
    """And not the list of sessions."""
    env = {**os.environ, "HOME": str(own_home), "_MINUTEBOOK_COMPLETE": f"{shell}_source"}
    done = subprocess.run(
        [sys.executable, "-m", "minutebook"], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and f"_MINUTEBOOK_COMPLETE={shell}_complete" in done.stdout


@pytest.mark.parametrize("shell", SHELLS)
def test_completion_is_installed_and_taken_away(
    shell: str, run: Run, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One file where the shell looks for it; somebody else's stays."""
    monkeypatch.setenv("HOME", str(own_home))
    monkeypatch.setenv("SHELL", f"/usr/bin/{shell}")
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    planned = run("install", "completion", "--dry-run").out.splitlines()[0]
    path = Path(planned.removeprefix("would be written: "))
    assert own_home in path.parents and not path.exists()
    assert run("install", "completion").status == 0
    assert f"_MINUTEBOOK_COMPLETE={shell}_complete" in path.read_text()
    assert run("install", "completion", "--uninstall").status == 0 and not path.exists()
    path.write_text("mine")
    assert run("install", "completion").status == 2 and path.read_text() == "mine"


def test_an_unknown_shell_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """With those there are."""
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    ran = run("install", "completion")
    assert ran.status == 2 and "'tcsh'" in ran.err and "bash, zsh, fish" in ran.err
