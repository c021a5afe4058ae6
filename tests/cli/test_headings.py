"""What a session is called in headings: the title a person gave it, in all of them (UND-06)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from minutebook import said
from minutebook.archive import Archive
from minutebook.extract.offline import OfflineExtractor
from minutebook.mcp.tools import Tools
from minutebook.record.documents import read_head
from minutebook.record.layout import Layout
from minutebook.verbs.check import check
from minutebook.verbs.check_archive import check_archive
from minutebook.verbs.export import export_header, header_in
from minutebook.verbs.ingest import ingest
from minutebook.verbs.rebuild import rebuild
from minutebook.web.pages import name_of
from tests.archive.conftest import age
from tests.archive.steps import archive_at, register
from tests.archive.test_operations import SID, put, turn
from tests.cli.conftest import Run
from tests.conftest import Record, assistant, user

OLD, NEW, HERON = "Thoughts on sails", "Sails that are mended", "Heron"
CUSTOM: Record = {"type": "custom-title", "customTitle": OLD}
SIGNED = assistant("[claude:opus::Heron]", id="m9", uuid="a9", timestamp="2026-03-01T10:09:00Z")
RENAMED = user(f"/rename {OLD}", uuid="u9", timestamp="2026-03-01T10:09:00Z")
NAMED: dict[str, tuple[tuple[Record, ...], str | None]] = {
    "nobody": ((), None),
    "a custom title": ((CUSTOM,), None),
    "/rename": ((CUSTOM, RENAMED), OLD),
    "an agent's name": (({"type": "agent-name", "agentName": HERON},), HERON),
    "a signature": ((CUSTOM, SIGNED), HERON),
    "the roster": ((CUSTOM,), HERON),
    "a person": ((CUSTOM,), HERON),
}
"""Who names the agent: what the transcript has, and the name that stays."""


@pytest.fixture(params=NAMED)
def named(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Archive, str | None]:
    """A session of three rounds that was ingested, and its agent's name without the old title."""
    records, name = NAMED[request.param]
    path = put(tmp_path / "p", *(record for n in range(1, 4) for record in turn(n)), *records)
    age(path)
    archive = archive_at(Layout(tmp_path / "archive"), path.parent)
    if request.param == "the roster":
        register(archive.layout, (SID, HERON, None))
    ingest(archive, OfflineExtractor(), ended=True)
    if request.param == "a person":
        archive.say(SID, said.Set(values={"agent_name": HERON}))
    return archive, name


def headings(archive: Archive, run: Run) -> dict[str, str]:
    """The line that says which session this is, by who says it."""
    places = ["--root", str(archive.places[0]), "--archive", str(archive.root)]

    def told(*words: str) -> list[str]:
        return run(*words, *places, columns=200).out.splitlines()

    def json_of(*words: str) -> Any:
        return json.loads(run(*words, "--json", *places).out)

    tools, short = Tools(archive), archive.short(SID)
    document = archive.folder(SID).document.read_text("utf-8")
    page = archive.layout.engagements_index.read_text("utf-8")
    return {
        "sessions": next(line for line in told("sessions") if short in line),
        "show": told("show", SID)[0],
        "usage": told("usage", SID)[0],
        "usage by session": json_of("usage", "session")["usage"]["rows"][0]["label"],
        "budget": told("budget", SID)[0],
        "lineage": next(line for line in told("lineage", SID) if short in line),
        "lineage --json": json_of("lineage", SID)["lineage"]["nodes"][0]["name"],
        "report": told("report", SID)[0],
        "report --json": json_of("report", SID)["report"]["session"]["name"],
        "instructions": told("instructions", SID)[0],
        "search": json_of("search", "prompt")["hits"][0]["name"],
        "document": next(line for line in document.splitlines() if line.startswith("# ")),
        "page of minutes": next(x for x in page.splitlines() if x.startswith("  - in [")),
        "viewer": name_of(archive.record(SID)),
        "MCP report": next(x for x in tools.report(session=SID).splitlines() if "Minutes of" in x),
        "library": archive.summary(SID).name,
    }


def lacking(archive: Archive, run: Run, wanted: str) -> dict[str, str]:
    """Headings that do not call the session so."""
    return {who: text for who, text in headings(archive, run).items() if wanted not in text}


def test_a_persons_title_is_every_heading(named: tuple[Archive, str | None], run: Run) -> None:
    """UND-06, ID-04: behind the agent's name, where something else than the old title named it; a
    title that had named the agent is nowhere."""
    archive, name = named
    problems = check(archive, SID).problems
    archive.say(SID, said.Set(values={"title": NEW}))
    assert lacking(archive, run, f"{name} · {NEW}" if name else NEW) == {}
    if name != OLD:
        assert [who for who, text in headings(archive, run).items() if OLD in text] == []
    assert archive.record(SID).agent_name == archive.summary(SID).identity.name == name
    assert check(archive, SID).problems == problems and check_archive(archive) == []


def test_a_persons_title_stays_the_heading(named: tuple[Archive, str | None], run: Run) -> None:
    """UND-06, ING-33: when the session grows, after another extraction, without its transcript, and
    where document and ledger are made again."""
    archive, name = named
    (path,) = archive.places[0].glob("*.jsonl")
    archive.say(SID, said.Set(values={"title": NEW}))
    with path.open("a") as file:
        file.writelines(json.dumps(record) + "\n" for record in turn(20))
    age(path)
    archive = archive_at(archive.layout, path.parent)
    ingest(archive, OfflineExtractor(), again=True, ended=True)
    wanted = f"{name} · {NEW}" if name else NEW
    assert lacking(archive, run, wanted) == {}
    path.unlink()
    archive.folder(SID).document.unlink()
    archive.layout.ledger.unlink()
    archive = archive_at(archive.layout, path.parent)
    rebuild(archive)
    assert lacking(archive, run, wanted) == {}


def test_a_title_taken_back_gives_the_old_name_back(
    named: tuple[Archive, str | None],
) -> None:
    """UND-07, OPS-09: every byte of the document is as before, and an export never lacked it."""
    archive, _ = named
    document = archive.folder(SID).document
    before, name = document.read_bytes(), archive.summary(SID).name
    exported = export_header(header_in(archive.folder(SID)))
    archive.say(SID, said.Set(values={"title": NEW}))
    assert export_header(header_in(archive.folder(SID))) == exported
    assert read_head(document)[0].title == NEW
    archive.say(SID, said.Undo())
    assert document.read_bytes() == before
    assert archive.summary(SID).name == name


def test_a_title_given_before_anything_is_archived_is_the_heading(tmp_path: Path, run: Run) -> None:
    """UND-06, UND-07: of a transcript that is ingested later, and until then."""
    path = put(tmp_path / "p", *(record for n in range(1, 4) for record in turn(n)), CUSTOM, SIGNED)
    age(path)
    archive = archive_at(Layout(tmp_path / "archive"), path.parent)
    archive.layout.sessions.mkdir(parents=True)
    archive.say(SID, said.Set(values={"title": NEW}))
    wanted = f"{HERON} · {NEW}"
    (row,) = archive.usage("session").rows
    assert {archive.summary(SID).name, archive.record(SID).called, row.label} == {wanted}
    assert archive.cards()[SID].called == wanted
    ingest(archive, OfflineExtractor(), ended=True)
    assert lacking(archive, run, wanted) == {}
