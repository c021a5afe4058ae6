"""What `--help` prints, verb by verb."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from minutebook.cli.filters import Filter
from minutebook.cli.main import cli
from tests.cli.conftest import Run

SCREEN = 40
"""Lines of a terminal that is not small."""

ELSEWHERE = {
    "serve": "runs until Ctrl-C (tests/web)",
    "watch": "runs until Ctrl-C (tests/cli/test_process.py)",
    "mcp": "speaks to an agent (tests/agents)",
    "team": "needs PostgreSQL (tests/team)",
    "install": "writes outside the archive (tests/agents); with --dry-run it is run",
    "ingest": "may ask a model; with --dry-run or --extractor offline it is run",
    "semantic use fastembed": "downloads (tests/cli/test_fastembed.py)",
    "engagement": "each needs the one before (run in order, below)",
    "append Reed 3a4d64e0": "names a session that the examples do not have",
    "correct join": "needs a split before (run in order, below)",
    "export-claude Reed": "its transcript is there, and is not overwritten (tests/test_docs.py)",
    "export-codex Reed": "writes where Codex CLI looks (tests/cli/test_export.py)",
}
"""Examples that are not run here, only parsed, and why."""


def _verbs(
    command: click.Command = cli, path: tuple[str, ...] = ()
) -> Iterator[tuple[str, click.Command]]:
    if path:
        yield " ".join(path), command
    if isinstance(command, click.Group):
        ctx = click.Context(command)
        for name in command.list_commands(ctx):
            found = command.get_command(ctx, name)
            assert found is not None
            yield from _verbs(found, (*path, name))


VERBS = dict(_verbs())


def _help(verb: str) -> str:
    command = VERBS[verb]
    parent = click.Context(cli, info_name="minutebook", terminal_width=80)
    *above, name = verb.split()
    for word in above:
        parent = click.Context(VERBS[word], info_name=word, parent=parent)
    return command.get_help(click.Context(command, info_name=name, parent=parent))


def _examples(verb: str) -> list[str]:
    """The commands below "Examples:", without their comments."""
    _, _, after = _help(verb).partition("Example")
    lines = [line.strip() for line in after.splitlines()]
    return [re.split(r"\s{2,}#", line)[0] for line in lines if line.startswith("minutebook ")]


@pytest.mark.parametrize("verb", VERBS)
def test_help_fits_a_screen_and_has_an_example(verb: str) -> None:
    """OPS: at most 40 lines of 80 columns, and an example."""
    lines = _help(verb).splitlines()
    assert len(lines) <= SCREEN, len(lines)
    assert max(map(len, lines)) <= 80
    assert _examples(verb)


@pytest.mark.parametrize("verb", [v for v, c in VERBS.items() if isinstance(c, click.Group)])
def test_no_command_of_a_verb_is_cut_short(verb: str) -> None:
    """OPS: one whole line for each."""
    assert "..." not in _help(verb).partition("\nCommands:")[2]


def _runs_elsewhere(example: str) -> bool:
    words = example.removeprefix("minutebook ")
    if words.startswith(("install", "ingest")) and (
        "--dry-run" in words or "--extractor offline" in words
    ):
        return False
    return any(words.startswith(name) for name in ELSEWHERE)


EXAMPLES = [example for verb in VERBS for example in _examples(verb)]


@pytest.mark.parametrize("example", dict.fromkeys(EXAMPLES))
def test_every_example_is_understood(example: str) -> None:
    """OPS: verbs, options and values of each example are there."""
    words = shlex.split(example)[1:]
    verb = next(" ".join(words[:n]) for n in (2, 1) if " ".join(words[:n]) in VERBS)
    rest = words[len(verb.split()) :]
    # A session may follow `correct` at once: then fields are set.
    with VERBS["correct set" if verb == "correct" else verb].make_context(verb, rest):
        pass


def test_examples_run(
    run: Run, examples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OPS: in the order of the verbs, on the example sessions with their minutes taken."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(examples))
    monkeypatch.chdir(tmp_path)
    assert run("ingest", "--extractor", "offline").status == 0
    ran = 0
    for example in dict.fromkeys(EXAMPLES):
        if not _runs_elsewhere(example):
            done = run(*shlex.split(example)[1:])
            assert done.status == 0, (example, done.err)
            ran += 1
    assert ran > 60


def test_filters_are_explained_once(run: Run) -> None:
    """OPS: verbs with many filters name them; `help filters` explains each."""
    explained = run("help", "filters", columns=80).out
    for verb in ("search", "stats", "usage", "budget"):
        shared = [p for p in VERBS[verb].params if isinstance(p, Filter)]
        assert len(shared) > 10
        assert all(p.opts[-1] in explained and p.opts[-1] in _help(verb) for p in shared)
