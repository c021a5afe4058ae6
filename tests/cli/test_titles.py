"""A session has one title, wherever it is named (UND-06)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from minutebook import open_archive, said
from minutebook.archive import Archive
from minutebook.extract.offline import OfflineExtractor
from minutebook.mcp.tools import Tools
from minutebook.record.documents import read_head
from minutebook.verbs.check import check
from minutebook.verbs.check_archive import check_archive
from minutebook.verbs.export import export_header, header_in
from minutebook.verbs.ingest import ingest
from minutebook.verbs.rebuild import rebuild
from minutebook.web.api import sessions
from minutebook.web.state import ServerState
from tests.cli.conftest import Run


def test_a_session_without_a_title_is_named_by_its_topic(
    run: Run, examples: Path, tmp_path: Path
) -> None:
    """UND-06: list, search, record and page of minutes say the topic, not "/review the …"; where a
    title was given, they say that."""
    places = ["--root", str(examples), "--archive", str(tmp_path / "archive")]

    def titles() -> dict[str, str]:
        listed = json.loads(run("sessions", *places, "--json").out)
        return {session["id"][:8]: session["title"] for session in listed["sessions"]}

    assert run("ingest", *places).status == 0
    topic = "Review the rounding branch in test_rounding.py"
    assert titles()["fa23f399"] == topic
    assert titles()["7c8fc3ae"] == "Hide the password form behind a flag"
    with open_archive(tmp_path / "archive", roots=[examples]) as archive:
        record = next(r for id, r in archive.records().items() if id.startswith("fa23f399"))
    assert record.title == topic
    index = (tmp_path / "archive" / "sessions" / "engagements-index.md").read_text("utf-8")
    assert topic in index
    found = json.loads(run("search", "rounding", *places, "--json").out)
    names = {hit["name"] for hit in found["hits"] if hit["session_id"].startswith("fa23f399")}
    assert names <= {topic, record.agent_name}


REVIEW = "fa23f399"
"""A session without a title, of one engagement, that nobody named."""
TITLE = "Pennies & <b>rounding</b>"


@pytest.fixture
def archive(examples: Path, tmp_path: Path) -> Archive:
    config = tmp_path / "config"
    shutil.copytree(examples, config)
    found = Archive(tmp_path / "archive", (config,))
    ingest(found, OfflineExtractor(), ended=True)
    return found


def everywhere(archive: Archive, run: Run) -> dict[str, str]:
    """What the session is called, by who says it."""
    places = ["--root", str(archive.places[0]), "--archive", str(archive.root)]
    id = archive.resolve(REVIEW)
    document = archive.folder(id).document
    listed = json.loads(run("sessions", "--json", *places).out)["sessions"]
    hits = json.loads(run("search", "rounding", "--json", *places).out)["hits"]
    state = ServerState(archive.root, archive.places)
    request: Any = type("Request", (), {"query_params": {}})()
    rows = json.loads(bytes(sessions(state, request).body))["sessions"]
    (line,) = [t for t in Tools(archive).engagements(limit=99).splitlines() if REVIEW in t]
    row = next(
        line
        for line in document.with_name("index.md").read_text().splitlines()
        if f"]({id}.md)" in line
    )
    page = archive.layout.engagements_index.read_text()
    return {
        "document": read_head(document)[0].title or "",
        "agent's index": row.split("[", 1)[1].split("](")[0],
        "sessions": next(s["title"] for s in listed if s["id"] == id),
        "sessions as text": run("sessions", *places, columns=200).out,
        "search": next(h["name"] for h in hits if h["session_id"] == id),
        "API": next(r["title"] for r in rows if r["session_id"] == id),
        "MCP": line,
        "MCP search": Tools(archive).search("rounding"),
        "report": run("report", "--since", "2026-01-01", *places).out,
        "show": run("show", REVIEW, *places).out.splitlines()[0],
        "page of minutes": next(
            x for x in page.splitlines() if x.startswith("  - in [") and id in x
        ),
        "library": archive.record(id).title or "",
    }


def written(name: str) -> str:
    """A title as Markdown has it."""
    return name.replace("<", "&#60;").replace(">", "&#62;")


def lacks(archive: Archive, run: Run, name: str) -> list[str]:
    """Who does not call the session so."""
    told = everywhere(archive, run)
    marked = ("agent's index", "page of minutes", "report")
    return [
        who for who, text in told.items() if (written(name) if who in marked else name) not in text
    ]


def test_a_persons_title_is_everywhere(archive: Archive, run: Run) -> None:
    """UND-06, UND-07: in the document's head and the index pages, too; after the transcripts are
    deleted and after `rebuild` of a lost document; only the head of a document changes; taken
    back, every byte is as before."""
    id = archive.resolve(REVIEW)
    folder = archive.folder(id)
    start = read_head(folder.document)[1]
    before, index = folder.document.read_bytes(), folder.document.with_name("index.md").read_bytes()
    archive.say(id, said.Set(values={"title": TITLE}))
    assert lacks(archive, run, TITLE) == []
    after = read_head(folder.document)[1]
    assert folder.document.read_bytes()[after:] == before[start:]
    assert check(archive, id).problems == [] and check_archive(archive) == []
    with open_archive(archive.root, roots=archive.places) as other:
        assert other.resolve(TITLE) == id
    archive.say(id, said.Undo())
    assert folder.document.read_bytes() == before
    assert folder.document.with_name("index.md").read_bytes() == index
    archive.say(id, said.Set(values={"title": TITLE}))
    shutil.rmtree(archive.places[0])
    archive.places[0].mkdir()
    folder.document.unlink()
    archive.layout.ledger.unlink()
    now = Archive(archive.root, archive.places)
    rebuild(now)
    assert lacks(now, run, TITLE) == []
    assert check_archive(now) == []


def test_a_corrected_topic_names_a_session_without_a_title(archive: Archive, run: Run) -> None:
    """UND-06: it is the best topic there is, for everybody; one that is hidden names nothing."""
    id = archive.resolve(REVIEW)
    archive.say(id, said.Set("1", values={"topic": "Where the pennies went"}))
    assert lacks(archive, run, "Where the pennies went") == []
    assert check(archive, id).problems == [] and check_archive(archive) == []
    ingest(archive, OfflineExtractor(), again=True, ended=True)
    assert lacks(Archive(archive.root, archive.places), run, "Where the pennies went") == []
    archive.say(id, said.Hide("1"))
    assert archive.record(id).title == "/review the rounding branch"


def test_a_corrected_topic_names_no_session_that_has_a_title(archive: Archive) -> None:
    """UND-06: a title that was given comes before every topic."""
    before = archive.record(archive.resolve("a9fcfc80")).title
    archive.say("a9fcfc80", said.Set("1", values={"topic": "Something else"}))
    assert archive.record(archive.resolve("a9fcfc80")).title == before


def test_name_and_role_are_in_the_document(archive: Archive) -> None:
    """UND-07, INS-09: a person's name for the agent is its heading; the transcript's own goes back
    with an export (OPS-09), and its folder stays."""
    id = archive.resolve("Reed")
    document = archive.folder(id).document
    archive.say(id, said.Set(values={"agent_name": "Heron", "agent_role": "harbour master"}))
    header = read_head(document)[0]
    assert (header.name, header.name_source, header.role) == ("Heron", "said", "harbour master")
    assert "\n# Heron · " in document.read_text()
    exported = export_header(header_in(archive.folder(id)))
    assert "Reed" in (exported.custom_title, exported.rename, exported.signature)
    assert check(archive, id).problems == []
    assert archive.folder(id).document == document
