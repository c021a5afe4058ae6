"""Running the command line as a person does: as a process, or quickly in this one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from minutebook.cli.main import main


@dataclass(frozen=True)
class Ran:
    status: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """The command line in this process, which gets its umask back."""

    def call(*args: object, columns: int = 100) -> Ran:
        monkeypatch.setenv("COLUMNS", str(columns))
        with pytest.raises(SystemExit) as exit:
            main([str(arg) for arg in args])
        captured = capfd.readouterr()
        return Ran(int(exit.value.code or 0), captured.out, captured.err)

    before = os.umask(0o022)
    yield call
    os.umask(before)


@pytest.fixture
def spawn(own_home: Path) -> Run:
    """The command line as a process of its own."""

    def call(*args: object, stdout: int = subprocess.PIPE) -> Ran:
        done = subprocess.run(
            [sys.executable, "-m", "minutebook", *map(str, args)],
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "HOME": str(own_home)},
            check=False,
        )
        return Ran(done.returncode, done.stdout or "", done.stderr)

    return call
