"""Completion in real shells, on a terminal of their own, with a Tab that is typed.

What is completed are words of transcripts: a shell must never obey them.
"""

from __future__ import annotations

import os
import pty
import select
import shlex
import shutil
import sys
import time
from pathlib import Path

import pytest

from minutebook.examples.script import Script
from minutebook.verbs.install_completion import SHELLS
from tests.cli.conftest import Run
from tests.conftest import PROJECT

PATIENCE = 120  # seconds; a machine may be busy
HOSTILE = {
    "substitution": "Sub$(touch${IFS}pwned)",
    "backticks": "Back`touch${IFS}pwned`",
    "semicolon": "Semi;touch${IFS}pwned;",
    "quote": "Quo'$(touch${IFS}pwned)'te",
    "glob": "Glob*[a-z]?",
}
# Completes as the real one; else shows what it was given.
PROGRAM = f"""#!/bin/sh
test -n "$_MINUTEBOOK_COMPLETE" && exec {shlex.quote(sys.executable)} -m minutebook
printf '<%s>' "$@"; echo
"""
START = {
    "bash": ["--norc", "--noprofile", "-i"],
    "zsh": ["-i"],
    "fish": ["--private", "-i"],
}


class Terminal:
    """A shell on a pseudo-terminal."""

    def __init__(self, shell: str, home: Path, environment: dict[str, str]) -> None:
        self.seen = ""
        self.process, self._end = pty.fork()
        if self.process == 0:
            os.chdir(home)
            os.execvpe(shell, [shell, *START[shell]], environment)

    def type(self, line: str, until: str) -> str:
        """Type something, and give what is shown until `until` is."""
        self.seen = ""
        os.write(self._end, line.encode())
        deadline = time.monotonic() + PATIENCE
        while until not in self.seen:
            assert time.monotonic() < deadline, self.seen
            if select.select([self._end], [], [], 1)[0]:
                found = os.read(self._end, 65536).decode(errors="replace")
                self.seen += found
                if "\x1b[c" in found or "\x1b[0c" in found:  # fish asks what terminal this is
                    os.write(self._end, b"\x1b[?62c")
        return self.seen

    def close(self) -> None:
        os.close(self._end)
        os.waitpid(self.process, 0)


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest) -> str:
    if shutil.which(request.param) is None:
        pytest.skip(f"needs the shell {request.param}")
    return str(request.param)


@pytest.fixture
def home(shell: str, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person's home: hostile sessions, an archive, and completion installed."""
    for kind, name in HOSTILE.items():
        script = Script(kind, cwd=f"/home/mara/{kind} {name}", start="2026-03-02T09:12:00")
        for word in ("one", "two", "three"):
            script.user(f"Do {word}.")
            script.reply("Done.")
        script.rename(name)
        for file, content in script.files().items():
            path = tmp_path / ".claude" / "projects" / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    program = tmp_path / "bin" / "minutebook"
    program.parent.mkdir()
    program.write_text(PROGRAM)
    program.chmod(0o755)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert run("install", "completion", "--shell", shell).status == 0
    return tmp_path


@pytest.fixture
def environment(home: Path) -> dict[str, str]:
    return {
        "HOME": str(home),
        "PATH": f"{home / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(PROJECT / "src"),
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "MINUTEBOOK_ARCHIVE": str(home / "archive"),
        "TERM": "xterm",
        "LANG": "C.UTF-8",
        "COLUMNS": "400",
    }


def prepare(shell: str, home: Path, environment: dict[str, str]) -> Terminal:
    """What a person does once: for zsh what the hint says; a new terminal."""
    if shell == "zsh":
        home.joinpath(".zshrc").write_text(
            "fpath+=~/.zfunc; autoload -Uz compinit; compinit -u; unsetopt zle_bracketed_paste\n"
        )
    terminal = Terminal(shell, home, environment)
    if shell == "bash":  # in place of the package bash-completion, which loads it by its name
        file = home / ".local/share/bash-completion/completions/minutebook"
        terminal.type(f"bind 'set enable-bracketed-paste off'; . {file}\n", "\n")
    status = "$status" if shell == "fish" else "$?"
    terminal.type(f"true; printf 'rea%s%s\\n' dy {status}\n", "ready0")
    return terminal


def test_what_a_tab_completes_is_never_obeyed(
    shell: str, home: Path, environment: dict[str, str]
) -> None:
    """Names and projects with `$(…)`, backticks, `;`, quotes, `*` reach the verb as one word."""
    terminal = prepare(shell, home, environment)
    try:
        for kind, name in HOSTILE.items():
            for start, value in (
                (f"search --project {kind}", f"{kind} {name}"),
                (f"show {name[:3]}", name),
            ):
                seen = terminal.type(f"minutebook {start}\t; printf 'fini%s\\n' shed\n", "finished")
                # zsh completes nothing where a name has `$(`.
                whole = f"<{value}>" in seen or (shell == "zsh" and f"<{start[-3:]}>" in seen)
                assert whole, (start, seen)
                assert not (home / "pwned").exists(), start
    finally:
        terminal.close()


def test_a_verb_is_completed_by_the_installed_file(
    shell: str, home: Path, environment: dict[str, str]
) -> None:
    """`minutebook install completion` is all there is to do (and what its hint says)."""
    terminal = prepare(shell, home, environment)
    try:
        assert "<similar>" in terminal.type(
            "minutebook simi\t; printf 'fini%s\\n' shed\n", "finished"
        )
    finally:
        terminal.close()
