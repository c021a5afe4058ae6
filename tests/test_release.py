"""A release by one command, and what comes with it: the SBOM, the man page, the threat model."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.conftest import PROJECT

NAMED = {
    "GIT_AUTHOR_NAME": "A Tester",
    "GIT_AUTHOR_EMAIL": "tester@example.org",
    "GIT_COMMITTER_NAME": "A Tester",
    "GIT_COMMITTER_EMAIL": "tester@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository to release from, whose `make` notes what it is asked to do."""
    folder = tmp_path / "project"
    (folder / "tools").mkdir(parents=True)
    shutil.copy(PROJECT / "tools" / "release.py", folder / "tools")
    (folder / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n\n- More.\n\n## 1.0.0\n")
    (folder / "pyproject.toml").write_text('[project]\nname = "x"\nversion = "1.0.0"\n')
    make = tmp_path / "bin" / "make"
    make.parent.mkdir()
    make.write_text(f'#!/bin/sh\necho "$1" >>{tmp_path}/made\ntest "$1" != "$REFUSED"\n')
    make.chmod(0o755)
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "Begin"]):
        subprocess.run(["git", *command], cwd=folder, env={**os.environ, **NAMED}, check=True)
    return folder


def release(project: Path, version: str, **more: str) -> subprocess.CompletedProcess[str]:
    path = f"{project.parent / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [sys.executable, "tools/release.py", version],
        cwd=project,
        env={**os.environ, **NAMED, "PATH": path, **more},
        capture_output=True,
        text=True,
        check=False,
    )


def git(project: Path, *args: str) -> str:
    done = subprocess.run(
        ["git", *args], cwd=project, env={**os.environ, **NAMED}, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    return done.stdout


def test_a_release_is_one_command(project: Path) -> None:
    """Version, changelog, every check, a commit and a tag; how to publish is only printed."""
    done = release(project, "1.1.0")
    assert done.returncode == 0, done.stderr
    assert "twine upload" in done.stdout
    assert (project.parent / "made").read_text().split() == [
        "test", "wheel", "docs", "install-check", "sbom",
    ]  # fmt: skip
    assert git(project, "tag").split() == ["v1.1.0"]
    assert 'version = "1.1.0"' in git(project, "show", "v1.1.0:pyproject.toml")
    notes = git(project, "show", "v1.1.0:CHANGELOG.md")
    assert re.search(r"^## 1\.1\.0 \(\d{4}-\d\d-\d\d\)$", notes, re.MULTILINE)
    assert "Unreleased" not in notes and git(project, "status", "--porcelain") == ""


def test_a_release_that_fails_changes_nothing(project: Path) -> None:
    """A failing test, a version that is none or is there already, a changed file: as before."""
    before = git(project, "rev-parse", "HEAD")
    assert release(project, "1.1.0", REFUSED="wheel").returncode == 1
    assert release(project, "one").returncode == 1
    git(project, "tag", "v1.2.0")
    assert release(project, "1.2.0").returncode == 1
    assert git(project, "status", "--porcelain") == ""
    (project / "pyproject.toml").write_text("changed")
    assert release(project, "1.1.0").returncode == 1
    assert git(project, "rev-parse", "HEAD") == before
    assert git(project, "tag").split() == ["v1.2.0"]


def test_the_sbom_names_what_is_installed(tmp_path: Path) -> None:
    """CycloneDX 1.6: each package once, with version and address, and how they depend."""
    file = tmp_path / "sbom.json"
    tool = PROJECT / "tools" / "write_sbom.py"
    subprocess.run([sys.executable, str(tool), str(file)], check=True, capture_output=True)
    found = json.loads(file.read_text())
    assert (found["bomFormat"], found["specVersion"]) == ("CycloneDX", "1.6")
    assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", found["serialNumber"])
    own = found["metadata"]["component"]
    assert own["name"] == "minutebook" and own["type"] == "application"
    refs = [component["bom-ref"] for component in found["components"]]
    assert len(refs) == len({*refs}) and own["bom-ref"] not in refs
    assert all(re.fullmatch(r"pkg:pypi/[a-z0-9-]+@[^@]+", ref) for ref in refs)
    edges = {entry["ref"]: entry["dependsOn"] for entry in found["dependencies"]}
    assert any(ref.startswith("pkg:pypi/click@") for ref in edges[own["bom-ref"]])
    assert {ref for wanted in edges.values() for ref in wanted} <= {*refs}


def test_every_test_of_the_threat_model_is_there() -> None:
    """SECURITY.md says where each threat is tested: files that exist, and folders with tests."""
    text = (PROJECT / "SECURITY.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/.]+)`", text)
    assert len(named) >= 10
    for name in named:
        path = PROJECT / name
        assert path.is_file() and "def test_" in path.read_text(encoding="utf-8"), name
    rows = [line for line in text.splitlines() if re.match(r"\| .* \|$", line)]
    assert all("tests/" in row for row in rows[1:] if "---" not in row and "from whom" not in row)


def test_the_man_page_comes_with_the_wheel() -> None:
    """Where `man` looks for it; pipx and uv link it from there."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    shared = project["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"]
    assert shared == {"docs/reference/minutebook.1": "share/man/man1/minutebook.1"}
    assert (PROJECT / "docs" / "reference" / "minutebook.1").is_file()


def test_the_version_is_the_changelogs() -> None:
    """The newest section with a number is the version of the package."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    notes = (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## (\d+\.\d+\.\d+) ", notes, re.MULTILINE)
    assert newest is not None and newest.group(1) == project["project"]["version"]


@pytest.mark.skipif(shutil.which("man") is None, reason="needs man")
def test_the_man_page_renders_without_a_warning() -> None:
    """As `man` shows it."""
    page = PROJECT / "docs" / "reference" / "minutebook.1"
    done = subprocess.run(
        ["man", "--warnings", "-l", str(page)], env={**os.environ, "LC_ALL": "C.UTF-8"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0 and done.stderr == "" and "minutebook search" in done.stdout
