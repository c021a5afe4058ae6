"""An archive to build contexts from."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from minutebook.record.layout import Layout
from minutebook.record.roster import load_roster
from minutebook.extract.offline import OfflineExtractor
from minutebook.model import Roster
from minutebook.sources.library import Library
from minutebook.verbs.ingest import ingest
from minutebook.verbs.materialise import Shelf

Run = Callable[..., subprocess.CompletedProcess[str]]


def taken(root: Path, archive: Path) -> Shelf:
    """The minutes of some transcripts, offline."""
    layout, library = Layout(archive), Library([root])
    ingest(layout, Roster(), library.transcripts, OfflineExtractor(), ended=True)
    return Shelf(layout, library, load_roster(archive))


@pytest.fixture(scope="session")
def shelf(examples: Path, tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    """The example sessions, ingested; for tests that change nothing."""
    return taken(examples, tmp_path_factory.mktemp("shelf") / "archive")


def session_of(shelf: Shelf, words: str) -> str:
    """The id of the example session whose first prompt has these words."""
    for id in shelf.minutes.records():
        if words in str(shelf.open(id).round(1).user):
            return id
    raise AssertionError(words)


@pytest.fixture
def run(shelf: Shelf, examples: Path) -> Run:
    """The command line on the example archive."""

    def call(*args: object, ok: bool = True, **env: str) -> subprocess.CompletedProcess[str]:
        places = ["--root", str(examples)] if args[0] != "export-claude" else []
        done = subprocess.run(
            [
                *(sys.executable, "-m", "minutebook", *map(str, args), *places),
                *("--archive", str(shelf.layout.root)),
            ],
            capture_output=True,
            text=True,
            env={**os.environ, **env},
            timeout=120,
        )
        assert (done.returncode == 0) is ok, done.stderr
        assert "Traceback" not in done.stderr
        return done

    return call


def told(done: subprocess.CompletedProcess[str]) -> Any:
    return json.loads(done.stdout)
