"""What a person said is what every front end shows, at once (ARC-05, UND-07).

One archive and one server that was started before anything was said; asked through the command
line, the viewer's pages and API, the tools for agents, the index page and the library; first
with its transcripts, then without them.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from minutebook import said
from minutebook.archive import Archive, finding
from minutebook.archive.refreshing import refresh
from minutebook.extract.offline import OfflineExtractor
from minutebook.verbs.ingest import ingest
from tests.test_front_ends import REED, Place
from tests.web.conftest import start

pytestmark = pytest.mark.xdist_group("said-everywhere")
EVER = "from=2026-01-01&to=2027-01-01"
TOPIC, SECOND = "A topic only a person chooses", "What began at round two"
TITLE, ROLE, SUMMARY = "Nineveh by night", "harbour master", "Cargo of ivory and peacocks"
NOTE, ABOUT = "sandalwood cedarwood", "sweet white wine"
SECRET = "A topic that is to be hidden"
OTHER = "fa23f399"
"""A session of which nothing else is said."""


@pytest.fixture(scope="module")
def made(examples: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("said-everywhere")
    config = folder / "config"
    shutil.copytree(examples, config)
    archive = Archive(folder / "archive", (config,))
    ingest(archive, OfflineExtractor(), ended=True)
    refresh(archive)
    served = start(config, folder / "archive", "--no-ingest")
    served.settle()
    made = archive.say("Reed", said.Split("1", round=2)).made
    assert made is not None
    archive.say("Reed", said.Set("1", values={"topic": TOPIC, "key_decisions": ("Sail at dawn",)}))
    archive.say("Reed", said.Set(made.id, values={"topic": SECOND, "method": "deploy"}))
    archive.say("Reed", said.Star(made.id))
    archive.say("Reed", said.Note(made.id, text=NOTE))
    archive.say("Reed", said.Set(values={"title": TITLE, "agent_role": ROLE, "summary": SUMMARY}))
    archive.say("Reed", said.Note(text=ABOUT))
    archive.say("Reed", said.Star())
    archive.say("Wren", said.Set("1", values={"topic": SECRET}))
    archive.say("Wren", said.Hide("1"))
    with pytest.MonkeyPatch.context() as patient:
        # On a busy machine the server may write the index for longer than a search waits.
        patient.setattr(finding, "_MOMENT", 60.0)
        yield Place(folder / "archive", config, served)
    served.stop()


@pytest.fixture(scope="module", params=["with transcripts", "without"])
def place(request: pytest.FixtureRequest, made: Place) -> Place:
    """The same place, before and after every transcript is deleted."""
    if request.param == "without":
        shutil.rmtree(made.config)
        made.config.mkdir()
    return made


SHOWN: dict[str, tuple[Callable[[Place], str], tuple[str, ...]]] = {
    "sessions": (lambda p: p.cli("sessions"), (f"★ Reed · {TITLE}",)),
    "sessions --json": (lambda p: p.cli("sessions", "--json"), (TITLE, ROLE, SUMMARY, ABOUT)),
    "show": (
        lambda p: p.cli("show", "Reed"),
        (f"★ Reed · {TITLE}", SUMMARY, ABOUT, ROLE, "★ #2-3", TOPIC, SECOND, NOTE, "Sail at dawn"),
    ),
    "show --json": (
        lambda p: p.cli("show", TITLE, "--json"),
        (TITLE, ROLE, ABOUT, SUMMARY, TOPIC, SECOND, NOTE, "Sail at dawn"),
    ),
    "search": (lambda p: p.cli("search", "-v", "--limit", "99"), ("★ Reed", SECOND, NOTE)),
    "search topic": (lambda p: p.cli("search", TOPIC), (TOPIC,)),
    "search note": (lambda p: p.cli("search", NOTE, "-v"), (SECOND,)),
    "search title": (lambda p: p.cli("search", "nineveh", "--json"), (TITLE,)),
    "search summary": (lambda p: p.cli("search", "peacocks", "--json"), (REED,)),
    "stats": (lambda p: p.cli("stats"), ("deploy",)),
    "stats of a role": (lambda p: p.cli("stats", "-a", ROLE, "--json"), ('"engagements": 2',)),
    "context": (
        lambda p: p.cli("context", "Reed"),
        (SUMMARY, ABOUT, NOTE, TOPIC, SECOND, "Sail at dawn"),
    ),
    "index page": (
        lambda p: p.archive.layout.engagements_index.read_text("utf-8"),
        (TOPIC, SECOND, NOTE, "★", "Sail at dawn", "1 hidden engagement (`minutebook search"),
    ),
    "page of engagements": (
        lambda p: p.served.get(f"/?{EVER}")[2],
        (SECOND, NOTE, "★", "1 hidden"),
    ),
    "page of sessions": (lambda p: p.served.get(f"/?view=sessions&{EVER}")[2], (ABOUT, "★")),
    "session page": (
        lambda p: p.served.get("/session/Reed")[2],
        (TITLE, ROLE, SUMMARY, ABOUT, TOPIC, SECOND, NOTE, "★"),
    ),
    "decisions page": (lambda p: p.served.get(f"/decisions?{EVER}")[2], ("Sail at dawn", TOPIC)),
    "API session": (
        lambda p: p.served.get(f"/api/v1/sessions/{REED}")[2],
        (TITLE, ROLE, SUMMARY, ABOUT, NOTE, '"starred":true'),
    ),
    "API engagements": (lambda p: p.served.get(f"/api/v1/engagements?{EVER}")[2], (SECOND, NOTE)),
    "MCP engagements": (lambda p: p.tools.engagements(limit=99), ("★ [deploy", SECOND, NOTE)),
    "MCP search": (lambda p: p.tools.search(NOTE), ("★", SECOND)),
    "MCP decisions": (lambda p: p.tools.decisions("dawn"), ("Sail at dawn",)),
    "MCP context": (lambda p: p.tools.context(sessions=["Reed"]), (SUMMARY, ABOUT, NOTE)),
    "library": (lambda p: str(list(p.archive.engagements())), (TOPIC, SECOND, NOTE)),
    "library sessions": (lambda p: str(p.archive.sessions().sessions), (TITLE, ROLE, ABOUT)),
}


@pytest.mark.parametrize("front", SHOWN)
def test_what_was_said_is_shown(place: Place, front: str) -> None:
    """ARC-05, UND-07: fields, cuts, stars and notes, without anything being ingested again."""
    ask, expected = SHOWN[front]
    told = ask(place)
    assert [words for words in expected if words not in told] == []


LEFT_OUT: dict[str, Callable[[Place], str]] = {
    "search": lambda p: p.cli("search", "-v", "--limit", "99"),
    "search --json": lambda p: p.cli("search", "--json", "--limit", "99"),
    "search --stats": lambda p: p.cli("search", "-s", "--json"),
    "index page": lambda p: p.archive.layout.engagements_index.read_text("utf-8"),
    "page of engagements": lambda p: p.served.get(f"/?{EVER}")[2],
    "page of sessions": lambda p: p.served.get(f"/?view=sessions&{EVER}")[2],
    "API engagements": lambda p: p.served.get(f"/api/v1/engagements?{EVER}")[2],
    "API timeline": lambda p: p.served.get(f"/api/v1/timeline?{EVER}")[2],
    "MCP engagements": lambda p: p.tools.engagements(limit=99),
    "context": lambda p: p.cli("context", "Wren"),
    "library": lambda p: str(list(p.archive.engagements())),
}


@pytest.mark.parametrize("front", LEFT_OUT)
def test_what_was_hidden_is_left_out(place: Place, front: str) -> None:
    """UND-07: of every list; the session it is in is still there."""
    assert SECRET not in LEFT_OUT[front](place)


def test_what_was_hidden_can_be_asked_for(place: Place) -> None:
    """UND-07, SRCH-16: by a flag, by its words, and on the page of its session."""
    assert SECRET in place.cli("search", "--hidden", "-v", "--limit", "99")
    assert SECRET in place.cli("search", "topic that is to be hidden", "-v")
    assert SECRET in place.served.get(f"/?hidden=1&{EVER}")[2]
    assert SECRET in place.served.get("/session/Wren")[2]
    assert SECRET in place.tools.engagements(limit=99, hidden=True)
    assert "1 engagement that a person hid" in place.tools.engagements(limit=99)
    assert SECRET in str(list(place.archive.engagements(hidden=True)))


def test_every_front_end_counts_the_same(place: Place) -> None:
    """ARC-05: numbers agree, with what is hidden and without."""
    counted = place.json("stats")["stats"]
    assert counted["hidden"] == 1
    assert place.served.json("/api/v1/stats")["stats"] == counted
    every = place.json("stats", "--hidden")["stats"]
    assert place.served.json("/api/v1/stats?hidden=1")["stats"] == every
    assert every["engagements"] == counted["engagements"] + 1
    many = f"{counted['engagements']} engagements"
    assert many in place.tools.stats() and "1 engagement that a person hid" in place.tools.stats()
    assert many in place.archive.layout.engagements_index.read_text("utf-8")


def test_every_list_of_sessions_has_the_same_summaries(place: Place) -> None:
    """ING-18: those of a person and of an extractor, on the command line as in the API."""
    listed = {row["id"]: row["summary"] for row in place.json("sessions", "--copies")["sessions"]}
    rows = place.served.json("/api/v1/sessions?copies=1")["sessions"]
    assert listed == {row["session_id"]: row["session_summary"] for row in rows}
    assert listed[REED] == SUMMARY and all(listed.values())


def test_a_list_of_starred_sessions_has_those_with_a_star(place: Place) -> None:
    """UND-07: of their own, on the command line as in the API; a star on an engagement is found
    among engagements."""
    place.cli("correct", "star", OTHER, "1")
    try:
        listed = {row["id"] for row in place.json("sessions", "--starred")["sessions"]}
        rows = place.served.json("/api/v1/sessions?starred=1")["sessions"]
        assert listed == {row["session_id"] for row in rows} == {REED}
        found = place.served.json("/api/v1/engagements?starred=1")["engagements"]
        assert {row["session_id"][:8] for row in found} == {REED[:8], OTHER}
    finally:
        place.cli("correct", "undo")


def test_a_running_viewer_finds_new_words(place: Place) -> None:
    """UND-07, VIEW-03: what was said on the command line is found by the viewer's own search."""
    place.cli("correct", "note", "Reed", "quinquereme")
    deadline = time.monotonic() + 20
    hits: list[dict[str, Any]] = []
    while not hits and time.monotonic() < deadline:
        hits = place.served.json("/api/v1/search?q=quinquereme&mode=lexical")["hits"]
        time.sleep(0.1)
    assert {hit["session_id"] for hit in hits} == {REED}
    place.cli("correct", "undo")
