"""The suite itself: Ctrl-C reaches the processes it starts, and nothing is skipped unseen."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import PROJECT
from tests.may_skip import FOREIGN, MAY_SKIP, WITHOUT_ROUNDS, may_skip

_PATIENT = "import time; print('ready', flush=True); time.sleep(60)"


def child_pytest(*args: object, ignoring: bool = False) -> subprocess.CompletedProcess[str]:
    """A run of its own; `ignoring`: as a shell starts what stands before an ``&``."""
    ignore = "trap '' INT; " if ignoring else ""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *map(str, args)]
    return subprocess.run(
        ["sh", "-c", f'{ignore}exec "$@"', "sh", *command],
        cwd=PROJECT,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_process_a_test_starts_can_be_interrupted() -> None:
    """SIGINT ends it as Ctrl-C would, whatever started the suite (the next test relies on it)."""
    process = subprocess.Popen(
        [sys.executable, "-c", _PATIENT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    try:
        _, err = process.communicate(timeout=20)
    finally:
        process.kill()
    assert "KeyboardInterrupt" in err


@pytest.mark.parametrize("workers", [0, 1])
def test_a_suite_that_ignores_ctrl_c_starts_processes_that_do_not(
    workers: int, tmp_path: Path
) -> None:
    """``nohup make test &``: serial, and in a worker of its own."""
    name = f"{__file__}::{test_a_process_a_test_starts_can_be_interrupted.__name__}"
    options = ("-n", workers, f"--basetemp={tmp_path / 'own'}")
    done = child_pytest(name, *options, ignoring=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


_SKIPS = (
    "def test_it(): pytest.skip('no reason at all')\n",
    "@pytest.mark.skip(reason='later')\ndef test_it(): pass\n",
    "pytest.skip('the whole file', allow_module_level=True)\n",
)


def test_a_skip_that_is_not_on_the_list_fails(tmp_path: Path) -> None:
    """A test that stops running is noticed: skipped from inside, by a mark, by the whole file."""
    for number, code in enumerate(_SKIPS):
        (tmp_path / f"test_{number}.py").write_text(f"import pytest\n{code}")
    # the hooks are those of tests/conftest.py, which does not stand above this folder
    options = ("-p", "tests.conftest", f"--rootdir={tmp_path}", "--continue-on-collection-errors")
    # without the summary, which says each reason again where CI is set
    done = child_pytest(*options, "-n", 0, "-rN", tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout.count("skipped, and not on the list in tests/may_skip.py") == len(_SKIPS)


def test_the_list_says_which_file_and_why() -> None:
    """Another reason is another skip; each file on the list is there, and listed once a reason."""
    assert may_skip("tests/test_conservation.py", "needs the real transcripts: none at /x")
    assert not may_skip("tests/test_conservation.py", "no time")
    assert not may_skip("tests/test_suite.py", "needs the real transcripts: none at /x")
    assert [file for file, _ in MAY_SKIP if not (PROJECT / file).is_file()] == []
    for names in (MAY_SKIP, FOREIGN, WITHOUT_ROUNDS):
        assert len(set(names)) == len(names)
