"""Processes that are started in any project run our code, never the project's (NFR-01)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from minutebook.archive import semantic
from minutebook.cli.program import program
from minutebook.record.layout import Layout
from minutebook.web.ingesting import BackgroundIngest

if TYPE_CHECKING:
    from minutebook.web.live import Hub


@pytest.fixture
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that a package of our name writes when it is imported from the working folder."""
    package = tmp_path / "project" / "minutebook"
    package.mkdir(parents=True)
    mark = tmp_path / "imported"
    (package / "__init__.py").write_text(f"open({str(mark)!r}, 'w').close()\n")
    monkeypatch.chdir(package.parent)
    return mark


def test_embedding_in_the_background(
    mark: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NFR-01: a search in an untrusted checkout starts a worker that imports none of it."""
    started: list[subprocess.Popen[bytes]] = []

    class Noted(subprocess.Popen[bytes]):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Noted)
    semantic._embed_in_background(Layout(tmp_path / "archive"))
    (worker,) = started
    worker.wait(timeout=120)
    assert not mark.exists()


def test_the_command_of_a_hook(mark: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NFR-01: a hook without a `minutebook` on the path runs Python, in the agent's project."""
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.setattr(sys, "argv", ["__main__.py"])
    done = subprocess.run([*program(), "--version"], capture_output=True, timeout=120, check=False)
    assert (done.returncode, mark.exists()) == (0, False)


def test_ingest_of_the_viewer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NFR-01: `serve` in an untrusted checkout takes its minutes in a process of ours."""
    package, mark = tmp_path / "project" / "multiprocessing", tmp_path / "imported"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(f"open({str(mark)!r}, 'w').close()\n")
    monkeypatch.chdir(package.parent)
    nobody = cast("Hub", None)
    ingest = BackgroundIngest(tmp_path / "archive", (tmp_path,), nobody, lambda: None, lambda: None)
    ingest._begin().close()
    assert ingest._process is not None
    ingest._process.join(120)
    assert not mark.exists()
