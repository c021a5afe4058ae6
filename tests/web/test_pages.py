"""Search with facets, usage, files, threads, lineage, what is under way, decisions: the pages."""

from __future__ import annotations

import csv
import http.client
import io
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

import pytest

from minutebook.archive.facets import FACETS, Narrowing, narrowed
from minutebook.archive.hit import Hit
from minutebook.derive.usage.tally import DIMENSIONS
from minutebook.model.lineage import Edge, Evidence, Lineage, Node
from minutebook.web.charts import over_time
from minutebook.web.graph import graph_of
from minutebook.web.lineage import began_of, newest_first
from tests.web.conftest import Served, start

NEW = ("/usage", "/files", "/threads", "/lineage", "/engagements", "/decisions", "/search")


def verb(served: Served, *arguments: str) -> Any:
    """What a verb of the command line says, as JSON."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "minutebook", *arguments, "--json"),
            *("--root", str(served.root), "--archive", str(served.archive)),
        ],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "/usr/bin:/bin", "TZ": "UTC", "HOME": str(served.archive)},
    )
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def nothing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("nothing")
    (folder / "claude").mkdir()
    served = start(folder / "claude", folder / "archive")
    yield served
    served.stop()


# -- search


def links(page: str, part: str) -> list[tuple[str, int | None]]:
    """Addresses of the options in a part of the page, and the counts beside them."""
    found = re.findall(rf'<nav class="facet" data-facet="{part}".*?</nav>', page, re.DOTALL)
    options = re.findall(
        r'<a href="([^"]+)"[^>]*><bdi>.*?</bdi>(?: <small>([\d,]+)</small>)?', "".join(found)
    )
    return [(unescape(url), int(n.replace(",", "")) if n else None) for url, n in options]


def shown(page: str) -> int:
    """How many results a page says there are."""
    match = re.search(r"\d+ to \d+ of (?:at least )?([\d,]+)", page)
    return int(match[1].replace(",", "")) if match else 0


@pytest.mark.parametrize(
    "query", ["the", "login", "test", "the&sort=date", "how people log in&mode=semantic"]
)
def test_a_count_is_what_choosing_it_shows(viewer: Served, query: str) -> None:
    """VIEW-23: of every facet, of whose words and where, one after the other."""
    page = viewer.get(f"/search?q={query.replace(' ', '+')}")[2]
    tried = 0
    for part in (*FACETS, "side", "where"):
        for url, count in links(page, part):
            assert count is not None
            assert shown(viewer.get(url)[2]) == count, url
            tried += 1
    assert tried > 8


def test_counts_hold_where_something_is_chosen(viewer: Served) -> None:
    """VIEW-23: a second facet counts within the first, and the first can be changed."""
    project = next(iter(viewer.json("/api/v1/search?q=the")["facets"]["project"]))
    page = viewer.get(f"/search?q=the&project={quote(project)}")[2]
    for part in (*FACETS, "side", "where"):
        for url, count in links(page, part):
            chosen = parse_qs(urlsplit(url).query)
            if part == "project" and "project" not in chosen:
                continue  # takes the choice back: everything is shown again
            assert shown(viewer.get(url)[2]) == count, url


def test_narrowed_hits_are_among_those_found(viewer: Served) -> None:
    """VIEW-23: choosing a value takes from the hits there were, in their order."""
    every = viewer.json("/api/v1/search?q=the&limit=500")
    for dimension, counts in every["facets"].items():
        for value, count in counts.items():
            query = urlencode({"q": "the", "limit": 500, dimension: value})
            found = viewer.json(f"/api/v1/search?{query}")
            assert (found["total"], found["whole"]) == (count, every["total"])
            places = [(hit["session_id"], hit["round"]) for hit in found["hits"]]
            order = [(hit["session_id"], hit["round"]) for hit in every["hits"]]
            assert places == [place for place in order if place in places]


def test_a_search_is_all_in_its_address(viewer: Served) -> None:
    """VIEW-14, VIEW-23: mode, surfaces, side, order and facets; each link keeps the others."""
    asked = {"q": "the", "mode": "lexical", "in": "turns", "side": "asked", "sort": "date"}
    page = viewer.get(f"/search?{urlencode(asked)}")[2]
    for url, _ in links(page, "project") + links(page, "month"):
        kept = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        assert asked.items() <= kept.items()
    assert viewer.json(f"/api/v1/search?{urlencode(asked)}")["mode"] == "lexical"


@pytest.mark.parametrize("wrong", ["mode=best", "sort=size", "side=left", "in=pockets"])
def test_nonsense_in_a_search_is_said(viewer: Served, wrong: str) -> None:
    """VIEW-11: one sentence with what to choose from, on the page and in the API."""
    for base in ("/search", "/api/v1/search"):
        status, _, body = viewer.get(f"{base}?q=the&{wrong}")
        assert status == 400 and "choose" in body


def test_what_has_no_side_says_so(viewer: Served) -> None:
    """VIEW-11: commands were not said by anybody: the page tells what to leave out."""
    page = viewer.get("/search?q=pytest&in=tools&side=asked")[2]
    assert "has no sides" in page


def test_nothing_typed_lists_what_is_starred(viewer: Served) -> None:
    """UND-07: stars can be looked at without a word; none has words of its own."""
    assert "marked with a star yet" in viewer.get("/search?starred=1")[2]


def test_a_secret_in_a_project_is_no_facet(tmp_path: Path) -> None:
    """ARC-06: values are masked before they are counted."""
    key = "sk-ant-api03-" + "a1B2c3D4" * 10
    hit = Hit(
        kind="turn",
        session_id="s",
        round=1,
        at="2026-03-01T10:00:00Z",
        name=None,
        agent=f"Reed {key}",
        project=str(tmp_path / key),
    )
    kept, counts = narrowed([hit], Narrowing())
    assert kept == [hit]
    assert key not in str(counts) and counts["month"] == {"2026-03": 1}


# -- usage


@pytest.mark.parametrize("by", DIMENSIONS)
def test_usage_is_what_the_command_line_counts(viewer: Served, by: str) -> None:
    """USE-04: the page's total is that of `minutebook usage --json`, by every dimension."""
    told = verb(viewer, "usage", by)["usage"]["total"]
    page = viewer.get(f"/usage?by={by}")[2]
    assert float(_said(page, "usd")) == told["cost"]["usd"]
    assert int(_said(page, "output")) == told["tokens"]["output"]
    assert int(_said(page, "sessions")) == told["sessions"]
    seconds = told["times"]["active_clock_s"] if told["times"] else ""
    assert _said(page, "seconds") == str(seconds)


def _said(page: str, name: str) -> str:
    match = re.search(rf'data-{name}="([^"]*)"', page)
    assert match is not None
    return match[1]


def test_usage_of_a_filter_is_the_same_count(viewer: Served) -> None:
    """USE-04: with filters, and as CSV, and in the API."""
    project = viewer.json("/api/v1/usage?by=project")["usage"]["rows"][0]["key"]
    told = verb(viewer, "usage", "model", "--project", project)["usage"]
    query = urlencode({"by": "model", "project": project})
    assert float(_said(viewer.get(f"/usage?{query}")[2], "usd")) == told["total"]["cost"]["usd"]
    _, headers, body = viewer.get(f"/usage.csv?{query}")
    rows = list(csv.DictReader(io.StringIO(body)))
    kinds = {name.lower(): value for name, value in headers.items()}
    assert kinds["content-type"].startswith("text/csv")
    assert [row["key"] for row in rows] == [row["key"] for row in told["rows"]]
    total = sum(float(row["usd"]) for row in rows)
    assert total == pytest.approx(told["total"]["cost"]["usd"])


def test_figures_of_several_methods_lead_to_their_usage(viewer: Served) -> None:
    """VIEW-17: two methods chosen in the legend: the cost's link shows the same cost."""
    home = viewer.get("/?method=build,debug")[2]
    found = [a for a in re.findall(r'href="(/usage\?[^"]*)"', home) if "method" in a]
    status, _, page = viewer.get(unescape(found[0]))
    assert status == 200
    one = [viewer.json(f"/api/v1/usage?method={name}") for name in ("build", "debug")]
    cost = sum(usage["usage"]["total"]["cost"]["usd"] for usage in one)
    assert float(_said(page, "usd")) == pytest.approx(cost)
    assert cost > 0


def test_usage_shows_every_filter(viewer: Served) -> None:
    """VIEW-14: what narrows the figures is in sight, and can be taken away."""
    page = viewer.get("/usage?method=build&phase=completed&date=2026-03-02")[2]
    for name, value in (("method", "build"), ("phase", "completed"), ("date", "2026-03-02")):
        assert f'<input name="{name}" value="{value}"' in page
    assert '<input type="hidden" name="date"' in viewer.get("/usage?date=today")[2]


def test_usage_says_what_it_leaves_out(viewer: Served) -> None:
    """USE-06: what the figures are, and every remark of the count."""
    page = viewer.get("/usage")[2]
    assert "not what you paid" in page
    for remark in viewer.json("/api/v1/usage")["usage"]["remarks"]:
        assert remark in unescape(page)


def test_the_chart_has_words(viewer: Served) -> None:
    """VIEW-21: every column has a title, and the picture a name."""
    page = viewer.get("/usage?by=day")[2]
    rows = viewer.json("/api/v1/usage?by=day")["usage"]["rows"]
    drawn = re.findall(r'<rect class="column"[^>]*><title>([^<]+)</title>', page)
    assert [title.partition(":")[0] for title in drawn] == [row["label"] for row in rows]
    assert 'role="img" aria-label="Cost at API prices by day' in page


def test_a_day_without_work_is_a_gap() -> None:
    """VIEW-21: columns stand in their places in time."""
    chart = over_time("day", [("2026-03-01", 2.0, "a"), ("2026-03-05", 1.0, "b")], "x", str)
    assert [(bar.x, bar.height) for bar in chart.bars] == [(0.0, 100.0), (80.0, 50.0)]
    assert (
        over_time("month", [("2026-12", 1.0, "a"), ("2027-02", 1.0, "b")], "x", str).bars[1].x > 60
    )


def test_a_single_day_is_a_column() -> None:
    """VIEW-21: one bar does not fill the page."""
    (bar,) = over_time("day", [("2026-03-01", 2.0, "a")], "x", str).bars
    assert bar.width < 20


@pytest.mark.parametrize("wrong", ["by=mood", "show=fun", "since=never", "date=someday"])
def test_nonsense_in_usage_is_said(viewer: Served, wrong: str) -> None:
    """VIEW-11: one sentence."""
    assert viewer.get(f"/usage?{wrong}")[0] == 400


# -- files


def test_a_file_has_the_rounds_its_list_counts(viewer: Served) -> None:
    """VIEW-21: the list and the history of each file agree, for changes and for reads."""
    for more in ("", "&read=1"):
        listed = viewer.json(f"/api/v1/files?limit=500{more}")
        assert listed["total"] == len(listed["files"]) > 0
        for file in listed["files"]:
            told = viewer.json(f"/api/v1/files?path={quote(file['path'])}{more}")
            assert (told["rounds"], told["sessions"]) == (file["rounds"], file["sessions"])
            assert told["hits"][0]["at"] == file["at"]


def test_a_file_is_found_by_parts_of_its_path(viewer: Served) -> None:
    """VIEW-21: words, or a glob; filters narrow."""
    every = viewer.json("/api/v1/files?limit=500")["files"]
    path = every[0]["path"]
    name = path.rsplit("/", 1)[-1]
    for typed in (name, name.upper(), f"*{name}"):
        found = viewer.json(f"/api/v1/files?q={quote(typed)}")["files"]
        assert path in {file["path"] for file in found}
    assert viewer.json("/api/v1/files?q=xyzzy")["total"] == 0
    assert "No file fits" in viewer.get("/files?q=xyzzy")[2]
    assert viewer.json("/api/v1/files?to=1999-01-01")["total"] == 0


def test_a_change_opens_at_its_call(viewer: Served) -> None:
    """VIEW-21: the link of a round names the block that changed the file."""
    path = viewer.json("/api/v1/files")["files"][0]["path"]
    page = viewer.get(f"/files?path={quote(path)}")[2]
    href = re.search(r'class="open" href="([^"]+)"', page)
    assert href is not None
    link = urlsplit(unescape(href[1]))
    number = int(link.fragment.removeprefix("round-"))
    block = int(parse_qs(link.query)["block"][0])
    rounds = viewer.json(f"/api/v1/sessions/{link.path[9:]}/rounds?rounds={number}")["rounds"]
    assert path in viewer.get(f"{link.path}/raw/{number}/{block}")[2] and rounds


def test_a_file_nobody_touched_is_said(viewer: Served) -> None:
    """VIEW-11: with where to go on."""
    status, _, body = viewer.get("/files?path=/nowhere/at/all.py")
    assert status == 404 and "exactly this path" in body


# -- threads, lineage, under way, decisions


def test_threads_are_those_of_the_command_line(viewer: Served) -> None:
    """FUT-06: the same list, and each has a page and an answer of its own."""
    told = verb(viewer, "search", "--threads", "--limit", "100")
    found = viewer.json("/api/v1/threads")
    assert (found["total"], found["threads"]) == (told["total"], told["threads"])
    for thread in found["threads"]:
        status, _, page = viewer.get(f"/threads/{quote(thread['id'], safe='')}")
        assert status == 200 and page.count('<li class="row">') == thread["engagements"]
        chain = viewer.json(f"/api/v1/threads/{quote(thread['id'], safe='')}")["chain"]
        assert [[c["session_id"], c["engagement"]["id"]] for c in chain] == thread["members"]
    assert viewer.get("/threads/none-of-them")[0] == 404


def test_every_family_is_drawn_with_its_evidence(viewer: Served) -> None:
    """FUT-02: each tie is an arrow, and is listed with what says so."""
    families = viewer.json("/api/v1/lineage")["families"]
    page = viewer.get("/lineage")[2]
    assert families and page.count('<li class="row">') == len(families)
    for family in families:
        agents = {node["id"] for node in family["nodes"] if node["type"] == "subagent"}
        ties = [edge for edge in family["edges"] if edge["newer"] not in agents]
        session = next(n["id"] for n in family["nodes"] if n["type"] == "session")
        drawn = viewer.get(f"/lineage/{session}")[2]
        assert (
            drawn.count('<path class="tie')
            == drawn.count("<small>recorded") + drawn.count("<small>inferred")
            == len(ties)
        )
        assert session not in re.sub(r'(?:href|src)="[^"]*"', "", drawn)  # no id on screen


def test_what_was_chosen_is_named_as_it_was_offered(viewer: Served) -> None:
    """VIEW-23: a program has one name on the page, beside the results and above them."""
    page = viewer.get("/search?q=the&program=claude")[2]
    assert "program: <bdi>Claude Code</bdi>" in page


def test_families_are_listed_newest_first() -> None:
    """VIEW-21: by the time that each row shows: of the newest work, in whatever notation."""
    ends = ("2026-03-02T09:00:00Z", "2026-03-02T12:00:00+05:00", "2026-03-01T09:00:00Z")
    families = [
        Lineage(
            nodes=(
                Node(id=f"{at}-1", started="2026-01-01T09:00:00Z"),
                Node(id=f"{at}-2", ended=end),
            )
        )
        for at, end in enumerate((ends[2], ends[0], ends[1]))
    ]
    assert [family.ended for family in newest_first(families)] == list(ends)


def test_sessions_of_one_name_differ_by_when_they_began() -> None:
    """FUT-02, VIEW-13: no id on screen; to the second, where they began in the same minute."""
    starts = ("10:00:10", "10:00:40", "10:01:00")
    nodes = tuple(
        Node(id=str(at), name="Pears", started=f"2026-03-02T{start}.000Z")
        for at, start in enumerate(starts)
    )
    began = began_of(Lineage(nodes=nodes))
    assert [began["0"], began["1"]] == ["2 Mar 2026, 10:00:10", "2 Mar 2026, 10:00:40"]
    assert began["2"].endswith("10:01")


def test_a_session_of_its_own_has_no_family(viewer: Served) -> None:
    """VIEW-11: it says so, and leads to the session."""
    tied = {n["id"] for f in viewer.json("/api/v1/lineage")["families"] for n in f["nodes"]}
    sessions = viewer.json("/api/v1/sessions?ghosts=1&copies=1")["sessions"]
    alone = next(s["session_id"] for s in sessions if s["session_id"] not in tied)
    assert "No links to other sessions found" in viewer.get(f"/lineage/{alone}")[2]


def test_what_comes_from_something_stands_below_it() -> None:
    """FUT-02: no box covers another, and every arrow points down."""
    pairs = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("x", "d"), ("c", "e")]
    family = Lineage(
        nodes=tuple(Node(id=id, started=f"2026-03-0{at}") for at, id in enumerate("axbcde", 1)),
        edges=tuple(
            Edge(
                older=older,
                newer=newer,
                kind="continues",
                recorded=False,
                confidence=0.8,
                evidence=(Evidence(what="time"),),
            )
            for older, newer in pairs
        ),
    )
    graph = graph_of(family)
    places = {box.node.id: (box.x, box.y) for box in graph.boxes}
    assert len(set(places.values())) == len(places) == 6
    assert all(places[older][1] < places[newer][1] for older, newer in pairs)
    assert len(graph.arrows) == len(pairs)


def test_open_work_is_what_a_report_says_is_open(viewer: Served) -> None:
    """VIEW-21, SHARE-02: one definition of open; phases narrow it."""
    report = verb(viewer, "report", "--since", "2000-01-01")["report"]
    wanted = {
        (work["session_id"], work["engagement_id"])
        for project in report["projects"]
        for work in project["open"]
    }
    found = viewer.json("/api/v1/open?limit=500")
    assert {(o["session_id"], o["engagement_id"]) for o in found["open"]} == wanted
    by_phase = [viewer.json(f"/api/v1/open?phase={phase}")["total"] for phase in _OPEN]
    assert sum(by_phase) == found["total"] == len(wanted)
    assert viewer.get("/engagements?phase=completed")[0] == 400


_OPEN = ("started", "in-progress", "blocked", "handed-off")


def test_a_decision_leads_to_its_passage(viewer: Served) -> None:
    """VIEW-21: session, date, project; and the round in which it was made, in its engagement."""
    found = viewer.json("/api/v1/decisions")["decisions"]
    assert found
    exact = 0
    for decision in found:
        page = viewer.get(decision["where"])[2]
        assert decision["session_id"] in page
        exact += "block=" in _redirect(viewer, decision["where"])
    assert exact > len(found) / 2
    assert viewer.get("/decisions/where?session=nobody&e=x&n=1")[0] == 404


def _redirect(served: Served, path: str) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", served.port)
    connection.request("GET", path)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    assert answer.status == 303
    return answer.headers["location"]


# -- all of them


@pytest.mark.parametrize("path", NEW)
def test_an_empty_archive_says_what_comes_here(nothing: Served, path: str) -> None:
    """VIEW-11: no page fails, and each has its own words."""
    status, _, page = nothing.get(path)
    words = {
        "/usage": "No usage yet",
        "/files": ("No files yet", "There is no search index yet"),
        "/threads": "No threads yet",
        "/lineage": "No lineage yet",
        "/engagements": "No project has an open engagement file",
        "/decisions": "No decisions found yet",
        "/search": "Words in any order",
    }[path]
    assert status == 200
    assert any(word in page for word in ([words] if isinstance(words, str) else words))


@pytest.mark.parametrize(
    "path", ["/usage", "/files", "/threads", "/lineage", "/open", "/decisions", "/engagement-files"]
)
def test_an_empty_archive_has_answers_for_programs(nothing: Served, path: str) -> None:
    """VIEW-11: lists are empty, not missing; without an index, 503."""
    status, _, body = nothing.get(f"/api/v1{path}")
    assert (
        status in ((200, 503) if path == "/files" else (200,)) and json.loads(body)["version"] == 1
    )


@pytest.mark.parametrize("path", NEW)
def test_no_page_has_inline_code(viewer: Served, path: str) -> None:
    """VIEW-12: nothing that the policy would have to refuse."""
    page = viewer.get(path)[2]
    assert not re.search(r'<script(?![^>]*src=)|<style|\sstyle="|\son\w+="', page)
