"""What only some need is offered by name at the moment it is needed."""

from __future__ import annotations

import json
import shutil
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from minutebook import extras
from minutebook.cli.program import program
from minutebook.errors import MissingExtra
from minutebook.extract.choose import auto_is_offline, choose_extractor, has_key
from minutebook.index import vectors
from tests.cli.conftest import Run
from tests.cli.conftest import run as run  # the command line in this process
from tests.conftest import PROJECT


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> None:
    """An installation of the base alone."""
    for module, _ in extras.EXTRAS.values():
        monkeypatch.setitem(sys.modules, module, None)


@pytest.mark.usefixtures("without")
def test_asking_claude_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Named outright it is an error with the command; `auto` goes on offline, and can tell."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-made-up")
    with pytest.raises(MissingExtra) as error:
        choose_extractor("anthropic")
    assert str(error.value).endswith("-m pip install 'minutebook[anthropic]'")
    assert choose_extractor("auto").name == "offline"
    assert auto_is_offline() and has_key()
    assert choose_extractor("auto", dry=True).name == "anthropic"  # a forecast needs no SDK


@pytest.mark.parametrize(
    ("prefix", "command"),
    [
        ("/home/you/.local/share/pipx/venvs/minutebook", "pipx install --force"),
        ("/home/you/.local/share/uv/tools/minutebook", "uv tool install --force"),
        ("/home/you/project/.venv", f"{sys.executable} -m pip install"),
    ],
)
def test_the_command_fits_the_installation(
    prefix: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What mends it depends on what made it."""
    monkeypatch.setattr(sys, "prefix", prefix)
    assert extras.install_command("mcp") == f"{command} 'minutebook[mcp]'"


def test_the_command_fits_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment without pip is one of uv's; cmd.exe knows double quotation marks alone."""
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    uv = f"uv pip install --python {sys.executable}"
    assert extras.install_command("mcp") == f"{uv} 'minutebook[mcp]'"
    monkeypatch.setattr(sys, "platform", "win32")
    assert extras.install_command("mcp") == f'{uv} "minutebook[mcp]"'


@pytest.mark.usefixtures("without")
def test_the_help_of_a_team_needs_no_extra(run: Run) -> None:
    """OPS: what a command would do can be read before it is installed."""
    ran = run("team", "push", "--help")
    assert (ran.status, ran.err) == (0, "") and "Usage: minutebook team push" in ran.out


@pytest.mark.usefixtures("without")
def test_a_team_names_its_extra(run: Run) -> None:
    """Every verb of a team's, with the one command and status 2."""
    for verb in (["status"], ["push"], ["serve-local"], ["init", "--url", "postgresql://x@y/z"]):
        ran = run("team", *verb)
        assert (ran.status, ran.out) == (2, "")
        assert ran.err.strip().endswith("-m pip install 'minutebook[team]'")


@pytest.mark.usefixtures("without")
def test_what_uvx_made_for_one_run_is_called_by_uvx(monkeypatch: pytest.MonkeyPatch) -> None:
    """A path in uv's cache would not be there tomorrow; extras that are there come along."""
    monkeypatch.setattr(sys, "prefix", "/home/you/.cache/uv/archive-v0/x2NSQqVz")
    assert program()[1:] == ["--from", "minutebook", "minutebook"]
    monkeypatch.delitem(sys.modules, "mcp")
    assert program()[1:] == ["--from", "minutebook[mcp]", "minutebook"]
    assert Path(program()[0]).name == "uvx"


def test_every_extra_is_known_by_its_module() -> None:
    """The table of extras and pyproject.toml name the same."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    assert {*project["optional-dependencies"]} - {"all", "dev"} == {*extras.EXTRAS}
    (everything,) = project["optional-dependencies"]["all"]
    assert everything == f"minutebook[{','.join(sorted(extras.EXTRAS))}]"


def test_meanings_are_compared_alike_without_the_fast_library(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same whole numbers, also for more rows than are converted at a time."""
    random = np.random.default_rng(7)
    codes = random.integers(-127, 128, (10_000, 64), dtype=np.int8)
    code = random.integers(-127, 128, (1, 64), dtype=np.int8)
    fast = vectors._dots(codes, code)
    monkeypatch.setattr(vectors, "numkong", None)
    assert np.array_equal(fast, vectors._dots(codes, code))


@pytest.mark.usefixtures("without")
def test_what_was_set_up_and_lacks_its_extra_is_named(
    run: Run, examples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`doctor` and the first screen name it with what mends it; `mcp` ends with that, status 2."""
    home = tmp_path / "home"
    shutil.copytree(examples, home)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home))
    said = f"{sys.executable} -m pip install 'minutebook[mcp]'"
    assert said not in run("doctor").err + run().err
    servers = {"mcpServers": {"minutebook": {"command": "minutebook", "args": ["mcp"]}}}
    (home / ".claude.json").write_text(json.dumps(servers))
    assert said in run("doctor").err
    assert said in run().err
    assert json.loads(run("doctor", "--json").out)["lacking"][0]["extra"] == "mcp"
    ran = run("mcp")
    assert (ran.status, ran.out) == (2, "") and said in ran.err
    (home / ".claude.json").write_text("{ half")
    assert said not in run("doctor").err
