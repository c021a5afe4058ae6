"""Sessions of another agent are sent to a model only once that agent was allowed (issue 17)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from minutebook.archive import Archive
from minutebook.archive.settings import allow
from minutebook.cli.main import cli
from minutebook.errors import BadArgument
from minutebook.extract.extractor import Extraction
from minutebook.extract.material import Material
from minutebook.extract.offline import OfflineExtractor
from minutebook.sources.registry import SOURCES
from minutebook.team.address import Address
from minutebook.team.choice import Choice, Team, remember
from minutebook.verbs.ingest import IngestReport, ingest
from minutebook.verbs.survey import counted, forecast_of, survey
from minutebook.verbs.watch import Watcher


class Model(OfflineExtractor):
    """Answers as a model would, and remembers what it was sent."""

    name = "a-model"
    destination: str | None = "a model"  # type: ignore[assignment]  # the rules send nothing

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[str] = []

    def extract(self, material: Material) -> Extraction:
        self.sent.append(material.info.id)
        return super().extract(material)

    def forecast(self, material: Material) -> float | None:
        del material
        return 0.01


def session(root: Path, id: str, rounds: int = 4, cwd: str = "/w/orchard") -> None:
    """A session as pi writes it."""
    lines: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": id, "timestamp": stamp(0), "cwd": cwd}
    ]
    for n in range(rounds):
        words = [{"type": "text", "text": f"Fix the login redirect of step {n} in the orchard app"}]
        said = [{"type": "text", "text": f"The login redirect of step {n} is fixed. " * 20}]
        told = {"role": "assistant", "content": said, "model": "m", "stopReason": "stop"}
        for role, message in (("u", {"role": "user", "content": words}), ("a", told)):
            entry = {"type": "message", "id": f"{id}-{role}{n}", "timestamp": stamp(n * 2 + 1)}
            lines.append({**entry, "message": message})
    folder = root / "sessions" / "--w-orchard--"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"2026-03-01T10-00-00-000Z_{id}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def stamp(minutes: int) -> str:
    return f"2026-03-01T10:{minutes:02d}:00.000Z"


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    session(tmp_path / "agent", "pi-one")
    return Archive(tmp_path / "archive", (tmp_path / "agent",))


def run(archive: Archive, model: Model, **options: Any) -> IngestReport:
    archive.look_again()
    return ingest(archive, model, ended=True, **options)


def test_a_new_agent_is_labelled_offline(archive: Archive) -> None:
    """Nothing of an agent that was never allowed is sent; it has minutes all the same."""
    model = Model()
    report = run(archive, model)
    assert model.sent == []
    assert report.held == {"pi": 1}
    assert archive.records()["pi-one"].engagements
    assert archive.records()["pi-one"].extractor == "offline"


def test_a_dry_run_does_not_count_it_as_sent(archive: Archive) -> None:
    """ING-27: what a model may not be asked about is labelled offline, and has a number of its
    own."""
    model = Model()
    found = survey(archive, model)
    assert (counted(found).due, counted(found).offline) == (0, 1)
    assert forecast_of(found, model).calls == 0


@pytest.mark.parametrize("first", ["model", "offline"])
def test_what_was_labelled_before_waits_for_a_word(archive: Archive, first: str) -> None:
    """Once allowed, the backlog is sent only when it was asked for; new sessions are."""
    if first == "model":
        run(archive, Model())
    else:
        ingest(archive, OfflineExtractor(), ended=True)
    allow(archive.layout, "pi")
    model = Model()
    session(archive.places[0], "pi-two")
    report = run(archive, model)
    assert model.sent == ["pi-two"]
    assert (report.held, report.backlog.sessions) == ({}, 1)
    run(archive, model, backlog=True)
    assert model.sent == ["pi-two", "pi-one"]
    assert archive.records()["pi-one"].extractor == "a-model"


def test_a_backlog_of_what_is_not_allowed_is_not_sent(archive: Archive) -> None:
    """``--backlog`` is no way around it, and neither is ``--again``."""
    model = Model()
    run(archive, model)
    run(archive, model, backlog=True)
    run(archive, model, again=True)
    assert model.sent == []


def test_a_word_can_be_taken_back(archive: Archive) -> None:
    """``config disallow``; an unknown program and the first one are refused with a sentence."""
    allow(archive.layout, "pi")
    assert archive.settings.may_send("pi")
    allow(archive.layout, "pi", send=False)
    assert not archive.settings.may_send("pi")
    with pytest.raises(BadArgument, match="choose one of"):
        allow(archive.layout, "emacs")
    first = next(iter(SOURCES.values())).program
    assert archive.settings.may_send(first)
    with pytest.raises(BadArgument, match="nothing to take back"):
        allow(archive.layout, first, send=False)


def test_watching_sends_only_what_was_allowed(archive: Archive) -> None:
    """FUT-05: a model in the background is not asked about a program before it was allowed; of
    what was labelled offline till then, only about what is new."""
    model = Model()
    one = Watcher(archive, OfflineExtractor, lambda _: model, None, quiet=3600)

    def all_is_over() -> None:
        one._quiet = 0.0
        list(one._heard(set()))
        one._quiet = 3600

    list(one._catch_up())
    all_is_over()
    assert model.sent == []
    allow(archive.layout, "pi")
    session(archive.places[0], "pi-two")
    list(one._heard(set(archive.places[0].rglob("*.jsonl"))))
    all_is_over()
    assert model.sent == ["pi-two"]


def test_allowing_names_what_a_team_would_be_sent(archive: Archive) -> None:
    """TEAM-02: how many sessions, and to whom; without a yes nothing is allowed."""
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    ingest(archive, OfflineExtractor(), ended=True)
    team = Team(address="postgresql://ada@db.example/team", choice=Choice(projects=("orchard",)))
    remember(archive.layout, Address(team.address), lambda _: team)
    for answer, allowed in (("n", False), ("y", True)):
        typed = ["config", "allow", "pi", "--archive", str(archive.root)]
        done = CliRunner().invoke(cli, typed, input=f"{answer}\n")
        assert "1 session of pi would go to postgresql://ada@db.example/team" in done.output
        assert archive.settings.may_send("pi") == allowed
