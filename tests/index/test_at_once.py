"""Searching while others write, after a kill, and where nothing may be written."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from minutebook.archive import Archive, finding
from minutebook.archive.finding import search
from minutebook.archive.refreshing import refresh
from minutebook.index.query import parse_query
from minutebook.record.store import writing
from tests.archive.test_operations import put
from tests.conftest import assistant, user


@pytest.fixture
def places(tmp_path: Path) -> list[str]:
    """Thirty sessions of their own words each."""
    for number in range(30):
        name = f"{number:08x}-2222-4333-8444-555555555555"
        records = []
        for turn in range(8):
            own = f"{number}-{turn}"
            records += [
                user(f"Please look after the walnut{number} number {turn}", uuid=f"u{own}"),
                assistant(
                    f"The walnut is well, said gardener {turn}.", id=f"m{own}", uuid=f"a{own}"
                ),
            ]
        put(tmp_path / "p", *records, name=name)
    (tmp_path / "archive").mkdir()
    return ["--root", str(tmp_path / "p"), "--archive", str(tmp_path / "archive")]


def started(*args: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "minutebook", *map(str, args)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True)


def hits(process: subprocess.Popen[str]) -> list[dict[str, Any]]:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    found: list[dict[str, Any]] = json.loads(out)["hits"]
    return found


def test_two_searches_at_once(places: list[str]) -> None:
    """Both make the first index, or one waits; both answer, and rightly."""
    both = [started("search", f"walnut{n}", "--json", *places) for n in (3, 4)]
    for number, process in zip((3, 4), both, strict=True):
        first, *_ = hits(process)
        assert first["session_id"].startswith(f"{number:08x}")


def test_a_search_during_an_ingest(places: list[str]) -> None:
    """What is already there is found while the rest is being written."""
    assert hits(started("search", "walnut7", "--json", *places))
    ingest = started("ingest", "--extractor", "offline", *places)
    answers = [hits(started("search", "walnut7", "--json", *places)) for _ in range(3)]
    assert ingest.communicate(timeout=120) and ingest.returncode == 0
    answers.append(hits(started("search", "walnut7", "--json", *places)))
    assert {found[0]["session_id"][:8] for found in answers} == {"00000007"}


@pytest.mark.parametrize("patience", [60.0, 0.0])
def test_a_search_waits_a_moment_for_another(
    places: list[str], patience: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ARC-05: what is new is found beside a server that writes the index; where that takes longer,
    the old index answers and the answer says so."""
    monkeypatch.setattr(finding, "_MOMENT", patience)
    archive = Archive(Path(places[3]), (Path(places[1]),))
    refresh(archive)
    put(Path(places[1]), user("A hazelnut, too", uuid="hazel"), name="f" * 8 + "-2222-4333-8444-5")
    with ExitStack() as stack:
        stack.enter_context(writing(archive.layout.search_lock, "search"))
        later = threading.Timer(0.3, stack.close)
        if patience:
            later.start()
        answer = search(Archive(archive.root, (Path(places[1]),)), parse_query("hazelnut"))
        if patience:
            later.join()
    assert (answer.busy, len(answer.hits)) == ((False, 1) if patience else (True, 0))


def test_a_killed_refresh_leaves_nothing_wrong(places: list[str]) -> None:
    """Invariant 6: killed anywhere, the next search has every session, once."""
    dice = random.Random(5)
    archive = Path(places[3])
    for _ in range(6):
        process = started("search", "walnut", "--json", "--limit", "50", *places)
        time.sleep(dice.uniform(0.15, 0.8))
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        # One session more each time: there is something to index.
        number = 30 + len(list(Path(places[1]).glob("*.jsonl")))
        name = f"{number:08x}-2222-4333-8444-555555555555"
        put(Path(places[1]), user(f"A walnut for {number}", uuid=f"x{number}"), name=name)
    found = search(
        Archive(archive, (Path(places[1]),)), parse_query("walnut*"), limit=100, mode="lexical"
    )
    ids = [hit.session_id for hit in found.hits]
    assert len(ids) == len(set(ids)) == len(list(Path(places[1]).glob("*.jsonl")))
    assert refresh(Archive(archive, (Path(places[1]),))).added == 0


@pytest.mark.parametrize("embedded", [True, False, None])
def test_a_read_only_archive_is_searched(places: list[str], embedded: bool | None) -> None:
    """ARC-09: by words and by meaning, on a file system that cannot be written; also without
    vectors, and without any index."""
    unshare = shutil.which("unshare")
    mount = f"mount --bind {places[3]} {places[3]} && mount -o remount,ro,bind {places[3]}"
    if (
        unshare is None
        or subprocess.run([unshare, "-m", "sh", "-c", mount], check=False).returncode
    ):
        pytest.skip("needs to mount a folder read-only")
    assert hits(started("search", "walnut5", "--json", *places))
    if embedded is None:
        (Path(places[3]) / "sessions" / "search.db").unlink()
        shutil.rmtree(Path(places[3]) / "sessions" / "search")
    elif not embedded:
        for vectors in Path(places[3]).glob("sessions/search/*/vectors"):
            shutil.rmtree(vectors)
    for mode in ("lexical", "semantic", "hybrid"):
        words = f"'look after walnut5' --mode {mode} --json {' '.join(places)}"
        command = f"{mount} && {sys.executable} -m minutebook search {words}"
        ran = subprocess.run(
            [unshare, "-m", "sh", "-c", command], capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stderr
        found = json.loads(ran.stdout)["hits"]
        assert found[0]["session_id"].startswith("00000005") or mode == "semantic"
        assert found
