"""Phase graphs: those in the box, a person's own, and broken ones (FUT-01)."""

from __future__ import annotations

from pathlib import Path

import pytest

from minutebook import engagement
from minutebook.errors import BadArgument
from minutebook.model.engagement import METHODS, PHASES
from minutebook.record.phase_graphs import read_graphs


def test_the_eleven_methods_have_graphs() -> None:
    """FUT-01: in one file; each has steps of its own beside ING-14's phases."""
    graphs = read_graphs(None, None)
    assert set(graphs.methods) == set(METHODS) and graphs.problems == {}
    for method in METHODS:
        assert set(PHASES) < set(graphs.of(method).steps), method


@pytest.mark.parametrize("method", METHODS)
def test_every_step_can_be_reached_and_left(method: str) -> None:
    """FUT-01: from started to completed, and from every step onwards to an end."""
    graph = read_graphs(None, None).of(method)
    seen, waiting = {"started"}, ["started"]
    while waiting:
        for step in graph.allowed(waiting.pop()):
            if step not in seen:
                seen.add(step)
                waiting.append(step)
    assert seen == set(graph.steps)
    ends = [s for s in graph.steps if not graph.allowed(s)]
    assert sorted(ends) == ["abandoned", "completed"]


def own(folder: Path, text: str) -> Path:
    (folder / "phases.toml").write_text(text)
    return folder


def test_a_persons_file_wins(tmp_path: Path) -> None:
    """FUT-01: a method named in the archive's or the project's file replaces the one in the box."""
    archive, project = tmp_path / "archive", tmp_path / "project"
    archive.mkdir()
    (project / "engagements").mkdir(parents=True)
    own(archive, '[build]\nstarted = ["sketch"]\n[gardening]\nstarted = ["dig"]\n')
    engagement.start(project, "Beds", "gardening", archive=archive)
    assert "dig" in engagement.status(project, archive=archive).allowed
    own(project / "engagements", '[gardening]\nstarted = ["water"]\nwater = ["completed"]\n')
    found = engagement.status(project, archive=archive)
    assert "water" in found.allowed and "dig" not in found.allowed
    assert "reproduce" in read_graphs(archive, project).of("debug").allowed("started")


BROKEN = {
    "[build": "not TOML",
    "build = 3": "not a table",
    "[build]\nstarted = 3": "not a list of steps",
    '[build]\nstarted = ["a b"]': "not the name of a step",
    '[build]\ncompleted = ["started"]': "is an end",
}


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_file_is_reported_in_a_sentence(tmp_path: Path, text: str) -> None:
    """FUT-01: it is left out, the graphs in the box hold."""
    own(tmp_path, text)
    project = tmp_path / "p"
    project.mkdir()
    found = engagement.start(project, "Topic", "build", archive=tmp_path)
    (problem,) = found.problems
    assert BROKEN[text] in problem and str(tmp_path / "phases.toml") in problem
    assert "implement" in found.allowed


def test_an_unknown_method_names_those_there_are(tmp_path: Path) -> None:
    """FUT-01: and nothing is written."""
    with pytest.raises(BadArgument, match="review, write, design"):
        engagement.start(tmp_path, "Topic", "gardening")
    assert list(tmp_path.iterdir()) == []
