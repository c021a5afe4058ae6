"""The command line as a process: pipes, colours, start-up, the README's commands."""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from minutebook.cli.main import VERBS
from tests.cli.conftest import Run
from tests.conftest import PROJECT


def test_python_m_minutebook_works(spawn: Run, examples: Path) -> None:
    """The module runs like the command."""
    ran = spawn("sessions", "--root", examples)
    assert ran.status == 0
    assert "Reed" in ran.out


def test_a_closed_pipe_is_no_error(examples: Path) -> None:
    """``minutebook … | head`` ends quietly."""
    command = f"{sys.executable} -m minutebook show Reed --full --root {examples}"
    done = subprocess.run(
        ["bash", "-c", f"{command} | true; exit ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert done.returncode in (0, 141)


def in_terminal(args: list[str], **environment: str) -> str:
    """What a person sees on a terminal."""
    parent, child = pty.openpty()
    env = {**os.environ, "TERM": "xterm-256color", **environment}
    process = subprocess.Popen(
        [sys.executable, "-m", "minutebook", *args], stdout=child, stderr=child, env=env
    )
    os.close(child)
    seen = b""
    while True:
        try:
            piece = os.read(parent, 65536)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    process.wait()
    os.close(parent)
    return seen.decode()


def test_colours_only_where_they_are_welcome(spawn: Run, examples: Path) -> None:
    """On a terminal; not in a pipe, and not with ``NO_COLOR``."""
    args = ["show", "Reed", "--root", str(examples)]
    assert "\x1b[" in in_terminal(args)
    assert "\x1b[" not in in_terminal(args, NO_COLOR="1")
    assert "\x1b[" not in spawn(*args).out


def test_prose_wraps_at_words_on_a_terminal(examples: Path) -> None:
    """Long paragraphs are broken between words, not in them."""
    seen = in_terminal(["show", "Reed#1", "--root", str(examples)], COLUMNS="60", NO_COLOR="1")
    lines = seen.replace("\r", "").split("\n")
    assert max(len(line) for line in lines) <= 60
    assert "let triggers keep the index in step." in " ".join(lines)


def test_ctrl_c_ends_with_a_word() -> None:
    """Interrupting is status 130, without a traceback."""
    process = subprocess.Popen(
        [sys.executable, "-c", _SLOW], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert err.strip() == "Stopped."


_SLOW = """
import sys, time
from minutebook.archive import Archive
def slow(*args, **kwargs):
    print("ready", flush=True)
    time.sleep(30)
Archive.sessions = slow
from minutebook.cli.main import main
main(["sessions"])
"""


def test_a_bug_shows_a_traceback_only_with_debug() -> None:
    """A bug is one sentence and status 1; ``--debug`` has the details."""
    code = (
        "from minutebook.archive import Archive\n"
        "def broken(*args, **kwargs): raise RuntimeError('boom')\n"
        "Archive.sessions = broken\n"
        "from minutebook.cli.main import main\n"
        "import sys; main(sys.argv[1:])\n"
    )
    plain = subprocess.run(
        [sys.executable, "-c", code, "sessions"], capture_output=True, text=True, check=False
    )
    assert plain.returncode == 1
    assert "This is a bug in minutebook: RuntimeError: boom" in plain.stderr
    assert "Traceback" not in plain.stderr
    debug = subprocess.run(
        [sys.executable, "-c", code, "--debug", "sessions"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" in debug.stderr


def test_a_run_with_nothing_to_do_loads_no_rules(
    spawn: Run, examples: Path, tmp_path: Path
) -> None:
    """Patterns, models and numpy take longer to load than looking at what changed (ING-25)."""
    root = shutil.copytree(examples, tmp_path / "root")
    for path in root.rglob("*.jsonl"):
        os.utime(path, (1_700_000_000, 1_700_000_000))  # over: nothing waits for the next run
    arguments = ["ingest", "--extractor", "offline", "--root", str(root)]
    spawn(*arguments)
    program = (
        "import atexit, sys\n"
        "loaded = lambda: {'numpy', 'minutebook.extract.offline.features'} & sys.modules.keys()\n"
        "atexit.register(lambda: print('loaded:', sorted(loaded()), file=sys.stderr))\n"
        "from minutebook.cli.main import main\n"
        f"main({arguments!r})\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "loaded: []" in done.stderr


def test_help_imports_no_verb() -> None:
    """Start-up is a feature: ``--help`` loads click and nothing else of weight."""
    code = (
        "import sys\n"
        "from minutebook.cli.main import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "import json; print(json.dumps(sorted(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stderr))
    heavy = {"msgspec", "multiprocessing", "concurrent.futures", "minutebook.archive"}
    assert loaded & heavy == set()


@pytest.mark.parametrize("verb", VERBS)
def test_the_short_help_is_the_verbs_own(run: Run, verb: str) -> None:
    """The list in ``--help`` is written by hand for speed; it may not drift."""
    ran = run(verb, "--help")
    assert ran.status == 0
    first = VERBS[verb].rstrip(".").split(":")[0].split(",")[0].split(";")[0]
    assert first in " ".join(ran.out.split())


def readme_commands() -> list[str]:
    """``minutebook …`` lines of the README's shell blocks."""
    text = (PROJECT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    lines = [line.split("  #")[0].strip() for block in blocks for line in block.splitlines()]
    return [
        line.removeprefix("$ ")
        for line in lines
        if line.removeprefix("$ ").startswith("minutebook")
    ]


def test_the_readme_is_true(
    run: Run, examples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every command of the README runs, in its order."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(examples))
    monkeypatch.chdir(tmp_path)
    for command in readme_commands():
        ran = run(*shlex.split(command)[1:])
        assert ran.status == 0, (command, ran.err)
        assert ran.out or ran.err, command  # of a file written, what it holds


def test_the_readmes_python_is_true(examples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it shows of the library runs, and finds something."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(examples))
    text = (PROJECT / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    found: dict[str, object] = {}
    exec(code, found)  # the README's own words
    assert found["decisions"] and found["rounds"]


def test_the_readme_is_short_and_names_both_commands() -> None:
    """Under 150 lines; ``make run`` and ``make test``; every verb there is."""
    text = (PROJECT / "README.md").read_text(encoding="utf-8")
    assert text.count("\n") < 150
    assert "make run" in text
    assert "make test" in text
    assert [verb for verb in VERBS if f"minutebook {verb}" not in text] == []
    assert len(readme_commands()) >= 5
