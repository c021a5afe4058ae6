"""Every front end gives the same answer: names, numbers, counts, engagements, masks.

One archive, asked through the command line (text and JSON), the viewer's pages and API, the
tools for agents and the library; first with its transcripts, then without them (ARC-01 … ARC-06).
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from minutebook.archive import Archive
from minutebook.archive.folding import once
from minutebook.archive.refreshing import refresh
from minutebook.cli.main import main
from minutebook.derive.usage.tally import DIMENSIONS
from minutebook.extract.offline import OfflineExtractor
from minutebook.mcp.tools import Tools
from minutebook.verbs.correct import correct
from minutebook.verbs.ingest import ingest
from minutebook.verbs.inscribe import inscribe
from minutebook.verbs.tag import tag
from minutebook.verbs.usage import plain_usage
from tests.agents.planted import ID as PLANTED
from tests.agents.planted import corrected, planted
from tests.conftest import assistant, user
from tests.web.conftest import Served, start

REED = "eb82c016-c70f-5ceb-a51c-144afda4b7b3"
WENT_ON = "77777777-2222-4333-8444-555555555555"
pytestmark = pytest.mark.xdist_group("front-ends")


def words(number: int) -> str:
    return f"marker-{number:02}-{'abcdefghij'[number]}"


def went_on(path: Path, parts: int) -> None:
    """A session of which the second round is inscribed early, and goes on."""
    at = [f"2026-03-05T10:{n:02}:00.000Z" for n in range(10)]
    records = [
        user(f"first\n{words(1)}", uuid="w1", timestamp=at[0], cwd="/w/went", sessionId=WENT_ON),
        assistant("one", id="m1", uuid="w2", timestamp=at[1]),
        user(f"second\n{words(2)}", uuid="w3", timestamp=at[2]),
        assistant("two", id="m2", uuid="w4", timestamp=at[3]),
        assistant(f"and on {words(3)}", id="m3", uuid="w5", timestamp=at[4]),
        user(f"third\n{words(4)}", uuid="w6", timestamp=at[5]),
        assistant("three", id="m4", uuid="w7", timestamp=at[6]),
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records[:parts]))


class Place:
    """One archive and every way to ask it."""

    def __init__(self, root: Path, config: Path, served: Served) -> None:
        self.root, self.config, self.served = root, config, served

    @property
    def archive(self) -> Archive:
        return Archive(self.root, (self.config,), lenient=True)

    def cli(self, *args: str) -> str:
        """Standard output of a verb; it must succeed."""
        status, out, err = self.called(*args)
        assert status == 0, (args, err)
        return out

    def called(self, *args: str) -> tuple[int, str, str]:
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
        before = os.umask(0o022)
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                places = ["--archive", str(self.root)]
                if args[0] != "export-claude":
                    places += ["--root", str(self.config)]
                try:
                    main([*args, *places])
                except SystemExit as end:
                    return int(end.code or 0), _text(out), _text(err)
        finally:
            os.umask(before)
        raise AssertionError("main always exits")

    def json(self, *args: str) -> Any:
        return json.loads(self.cli(*args, "--json"))

    @property
    def tools(self) -> Tools:
        return Tools(self.archive)


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    stream.seek(0)
    return stream.read()


@pytest.fixture(scope="module")
def made(examples: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Place, Any]]:
    folder = tmp_path_factory.mktemp("front-ends")
    config = folder / "config"
    shutil.copytree(examples, config)
    secrets = planted(config)
    growing = config / "projects" / "-w-went" / f"{WENT_ON}.jsonl"
    went_on(growing, 4)
    inscribe(Archive(folder / "archive", (config,)), ended=True)
    went_on(growing, 7)
    archive = Archive(folder / "archive", (config,))
    ingest(archive, OfflineExtractor(), ended=True)
    corrected(archive, secrets)
    tag(archive, "Reed", "2-3", "by-hand")
    chosen = archive.record(WENT_ON).engagements[0]
    correct(archive, WENT_ON, chosen.id, "topic=A topic that a person has chosen here")
    correct(archive, WENT_ON, chosen.id, "project=/some/other-project")
    refresh(archive)
    served = start(config, folder / "archive", "--no-ingest")
    served.settle()
    yield Place(folder / "archive", config, served), secrets
    served.stop()


@pytest.fixture(scope="module", params=["with transcripts", "without"])
def place(request: pytest.FixtureRequest, made: tuple[Place, Any]) -> Place:
    """The same place, before and after every transcript is deleted."""
    found, _ = made
    if request.param == "without":
        shutil.rmtree(found.config)
        found.config.mkdir()
    return found


NAMES = [REED, REED[:8], REED[:4].upper(), "Reed", "reed", "Ree"]
ASKED: dict[str, Callable[[Place, str], str]] = {
    "show": lambda place, name: place.json("show", name)["session"]["id"],
    "context": lambda place, name: place.json("context", name)["context"]["pieces"][0][
        "session_id"
    ],
    "tag": lambda place, name: place.json("tag", name, "1", "tagged-by-name")["tagged"][
        "session_id"
    ],
    "check": lambda place, name: place.json("check", name)["checks"][0]["session_id"],
    "API": lambda place, name: place.served.json(f"/api/v1/sessions/{name}")["session"][
        "session_id"
    ],
    "page": lambda place, name: page_of(place.served.get(f"/session/{name}")),
    "MCP": lambda place, name: whole(place, place.tools.show(f"{name}#1")),
    "library": lambda place, name: place.archive.session(name).session_id,
}


def page_of(answer: tuple[int, dict[str, str], str]) -> str:
    status, _, text = answer
    assert status == 200, text[:300]
    found = re.search(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", text)
    assert found is not None
    return found[0]


def whole(place: Place, text: str) -> str:
    found = re.search(r"([0-9a-f]{8})", text)
    assert found is not None, text
    return place.archive.resolve(found[1])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("front", ASKED)
def test_one_way_to_name_a_session(place: Place, front: str, name: str) -> None:
    """ARC-04: the start of an id, a name, a part of it, in any case, everywhere."""
    assert ASKED[front](place, name) == REED


TOLD: dict[str, Callable[[Place, int], str]] = {
    "show": lambda place, n: place.cli("show", f"{WENT_ON}#{n}", "--full"),
    "show --json": lambda place, n: json.dumps(place.json("show", f"{WENT_ON}#{n}")["rounds"]),
    "context": lambda place, n: place.cli("context", f"{WENT_ON}#{n}", "--full"),
    "API": lambda place, n: json.dumps(
        place.served.json(f"/api/v1/sessions/{WENT_ON}/rounds?rounds={n}")["rounds"]
    ),
    "page": lambda place, n: place.served.get(f"/session/{WENT_ON}/markdown?rounds={n}")[2],
    "MCP": lambda place, n: place.tools.show(f"{WENT_ON}#{n}"),
    "library": lambda place, n: str(place.archive.open(WENT_ON).round(n)),
    "round file": lambda place, n: (
        place.archive.folder(WENT_ON).round(n).read_text(encoding="utf-8")
    ),
}


@pytest.mark.parametrize("number", [1, 2, 3, 4])
@pytest.mark.parametrize("front", TOLD)
def test_one_numbering(place: Place, front: str, number: int) -> None:
    """ARC-03: `#N` is the same round everywhere, also after a round was closed and went on."""
    told = TOLD[front](place, number)
    assert words(number) in told
    assert not [n for n in (1, 2, 3, 4) if n != number and words(n) in told]


def test_found_where_it_is(place: Place) -> None:
    """ARC-03: search gives the number that show takes."""
    for number in (1, 2, 3, 4):
        (hit,) = place.json("search", f'"{words(number)}"', "--mode", "lexical")["hits"]
        assert (hit["session_id"], hit["round"]) == (WENT_ON, number)


COUNTED: dict[str, Callable[[Place], dict[str, int]]] = {
    "sessions --json": lambda place: {
        row["id"]: row["rounds"]
        for row in place.json("sessions", "--ghosts", "--copies")["sessions"]
    },
    "API": lambda place: {
        row["session_id"]: row["rounds"]
        for row in place.served.json("/api/v1/sessions?ghosts=1&copies=1&limit=500")["sessions"]
    },
    "show": lambda place: {
        id: place.json("show", id)["session"]["rounds"] for id in place.archive.ids()
    },
    "open": lambda place: {id: place.archive.open(id).count for id in place.archive.ids()},
    "records": lambda place: {id: r.rounds for id, r in place.archive.records().items()},
}


@pytest.mark.parametrize("front", COUNTED)
def test_one_count(place: Place, front: str) -> None:
    """Invariant 7: as many sessions, and as many rounds of each, in every front end."""
    every = {s.id: s.info.rounds for s in place.archive.sessions(ghosts=True, copies=True).sessions}
    assert every[WENT_ON] == 4
    assert COUNTED[front](place) == every


COVERED: dict[str, Callable[[Place], set[tuple[str, str]]]] = {
    "search --json": lambda place: {
        (hit["session_id"], hit["engagement"]["id"])
        for hit in place.json("search", "--copies", "--limit", "1000")["hits"]
    },
    "API": lambda place: {
        (row["session_id"], row["id"])
        for row in place.served.json("/api/v1/engagements?limit=500")["engagements"]
    },
    "library": lambda place: {(r.session_id, e.id) for r, e in place.archive.engagements()},
}


@pytest.mark.parametrize("front", COVERED)
def test_one_coverage(place: Place, front: str) -> None:
    """ARC-05: what `tag` and `correct` said is what everybody sees, at once; in the viewer and the
    library copies are one (UND-08)."""
    found = [(r, e) for r in place.archive.records().values() for e in r.engagements]
    expected = {(r.session_id, e.id) for r, e in found}
    if front in ("API", "library"):
        expected = {(r.session_id, e.id) for r, e in once(place.archive, found)[0]}
    assert (REED, "by-hand") in expected
    assert COVERED[front](place) == expected


def test_tags_and_corrections_are_seen(place: Place) -> None:
    """ARC-05, ING-12: by statistics, pages, agents and the index page too."""
    topic = "A topic that a person has chosen here"
    assert topic in place.tools.engagements(limit=100)
    assert topic in place.served.get("/?view=engagements&from=2026-01-01&to=2027-01-01")[2]
    assert topic in place.archive.layout.engagements_index.read_text("utf-8")
    assert "other-project" in place.json("stats")["stats"]["projects"]
    assert "other-project" in place.served.json("/api/v1/stats")["stats"]["projects"]
    assert "other-project" in place.tools.stats()
    found = place.json("search", "-p", "other-project")["hits"]
    assert {hit["session_id"] for hit in found} == {WENT_ON}
    total = place.json("stats")["stats"]
    assert place.served.json("/api/v1/stats")["stats"] == total
    rounds = place.json("context", "--engagement", "by-hand")["context"]["pieces"]
    assert [piece["first"] for piece in rounds if piece["told"] == "full"] == [2, 3]


HIDDEN: dict[str, Callable[[Place], str]] = {
    "sessions": lambda place: place.cli("sessions", "--ghosts"),
    "sessions --json": lambda place: place.cli("sessions", "--ghosts", "--json"),
    "bare": lambda place: place.cli("sessions"),
    "show": lambda place: place.cli("show", PLANTED, "--full"),
    "show --json": lambda place: place.cli("show", PLANTED, "--json"),
    "context": lambda place: place.cli("context", PLANTED, "--full"),
    "context --json": lambda place: place.cli("context", PLANTED, "--full", "--json"),
    "context --query": lambda place: place.cli("context", "--query", "deploy garden"),
    "search": lambda place: place.cli("search", "admin password garden"),
    "search --json": lambda place: place.cli("search", "admin password garden", "--json"),
    "search engagements": lambda place: place.cli("search", "--in", "engagements", "--json"),
    "search --stats": lambda place: place.cli("search", "-s"),
    "similar": lambda place: place.cli("similar", f"{PLANTED}#2", "--json"),
    "similar to others": lambda place: place.cli("similar", "Reed#1", "--json"),
    "stats": lambda place: place.cli("stats", "--json"),
    "status": lambda place: place.cli("status", "--json"),
    "explain": lambda place: place.cli("ingest", "--explain", "--session", PLANTED, "--json"),
    "dry run": lambda place: place.cli("ingest", "--dry-run", "--json"),
    "check": lambda place: place.cli("check", PLANTED),
    "did you mean": lambda place: place.called("show", "Deploi")[2],
    "MCP search": lambda place: place.tools.search("admin password garden"),
    "MCP show": lambda place: place.tools.show(
        f"{PLANTED}#1-9", thinking="full", tool_input="full", tool_output="full"
    ),
    "MCP engagements": lambda place: place.tools.engagements(limit=100),
    "MCP decisions": lambda place: place.tools.decisions(limit=100),
    "MCP context": lambda place: place.tools.context(sessions=[PLANTED], budget=20_000),
    "MCP stats": lambda place: place.tools.stats(),
    "library": lambda place: str(
        [*place.archive.open(PLANTED).rounds(), place.archive.record(PLANTED)]
    ),
    "board": lambda place: place.served.get("/?from=2026-01-01&to=2027-01-01")[2],
    "board of sessions": lambda place: place.served.get("/?view=sessions&ghosts=1")[2],
    "decisions": lambda place: place.served.get("/decisions")[2],
    "search page": lambda place: place.served.get("/search?q=admin+password+garden")[2],
    "session": lambda place: place.served.get(
        f"/session/{PLANTED}?show=user,assistant,thinking,calls,results"
    )[2],
    "markdown": lambda place: place.served.get(f"/session/{PLANTED}/markdown")[2],
    "blocks": lambda place: "".join(
        place.served.get(f"/session/{PLANTED}/{kind}/1/{n}")[2]
        for kind in ("blocks", "raw")
        for n in range(14)
    ),
    "API": lambda place: "".join(
        place.served.get(f"/api/v1/{path}")[2]
        for path in (
            "sessions?ghosts=1&limit=500",
            "engagements?limit=500",
            "decisions?limit=500",
            "stats",
            *(f"usage?by={by}" for by in DIMENSIONS),
            "timeline?from=2026-01-01",
            f"sessions/{PLANTED}",
            f"sessions/{PLANTED}/rounds?rounds=1-9",
            f"sessions/{PLANTED}/outline",
            f"sessions/{PLANTED}/find?q=admin",
            "search?q=admin+password+garden",
        )
    ),
}


USED = ("replies", "tokens", "web_searches", "cost", "work")


def used(told: dict[str, Any]) -> tuple[Any, ...]:
    """What of a total is the same by any dimension."""
    return tuple(told[name] for name in USED)


@pytest.mark.parametrize("narrowed", [{}, {"project": "orchard"}, {"since": "2026-03-02"}])
def test_one_count_of_what_was_used(place: Place, narrowed: dict[str, str]) -> None:
    """USE-04: command line, CSV, API, tools and library give the same totals by any dimension."""
    totals: list[Any] = []
    flags = [word for name, value in narrowed.items() for word in (f"--{name}", value)]
    query = "".join(f"&{name}={value}" for name, value in narrowed.items())
    texts = set()
    for by in DIMENSIONS:
        found = place.json("usage", by, *flags)["usage"]
        served = place.served.json(f"/api/v1/usage?by={by}{query}")["usage"]
        library = plain_usage(place.archive.usage(by, **narrowed))
        totals += [used(told["total"]) for told in (found, served, library)]
        rows = list(csv.DictReader(io.StringIO(place.cli("usage", by, "--csv", *flags))))
        assert sum(int(row["output"]) for row in rows) == found["total"]["tokens"]["output"]
        usd = sum(float(row["usd"]) for row in rows)
        assert usd == pytest.approx(found["total"]["cost"]["usd"], abs=1e-9)
        text = place.tools.usage(by, **narrowed)  # type: ignore[arg-type]
        texts.add(re.search(r"Total: .*? at API prices", text)[0])  # type: ignore[index]
    assert totals[0][0] > 0
    assert all(total == totals[0] for total in totals)
    assert len(texts) == 1


@pytest.mark.parametrize("front", HIDDEN)
def test_one_mask(place: Place, made: tuple[Place, Any], front: str) -> None:
    """ARC-06: planted secrets of every kind, in every place, appear nowhere."""
    _, secrets = made
    assert secrets.found_in(HIDDEN[front](place)) == {}


def test_secrets_are_shown_to_the_person_who_asks(place: Place, made: tuple[Place, Any]) -> None:
    """ARC-06: `--secrets` at a terminal; and an export gives the record back."""
    _, secrets = made
    assert "answer" in secrets.found_in(place.cli("show", PLANTED, "--full", "--secrets"))
    out = place.root.parent / f"export-{len(list(place.config.iterdir()))}.jsonl"
    place.cli("export-claude", PLANTED, "--out", str(out))
    assert "answer" in secrets.found_in(out.read_text("utf-8"))
    assert "not masked" in place.cli("export-claude", "--help")
