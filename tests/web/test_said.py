"""Saying something over the JSON API, and who may not (UND-07, VIEW-12)."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import minutebook
from tests.web.conftest import Served, start

pytestmark = pytest.mark.xdist_group("said-server")
REED = "eb82c016-c70f-5ceb-a51c-144afda4b7b3"


def post(
    served: Served, body: object, session: str = "Reed", **headers: str
) -> tuple[int, dict[str, Any]]:
    """Status and answer of a statement, from a page of the viewer unless headers say otherwise."""
    sent = {"Origin": served.url, "Content-Type": "application/json"}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(
        f"{served.url}/api/v1/sessions/{session}/said",
        content,
        {name: value for name, value in sent.items() if value},
        method="POST",
    )
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        with error:
            text = error.read().decode()
            return error.code, json.loads(text) if text.startswith("{") else {"problem": text}


@pytest.fixture(scope="module")
def served(examples: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("said") / "archive"
    minutebook.ingest(examples, archive=folder, extractor="offline")
    minutebook.open_archive(folder).search("x")  # makes the index
    viewer = start(examples, folder, "--no-ingest")
    viewer.settle()
    yield viewer
    viewer.stop()


@pytest.fixture
def clean(served: Served) -> Iterator[Served]:
    """The server, before and after everything that was said is taken back."""
    yield served
    while post(served, {"kind": "undo"})[0] == 200:
        pass


def test_every_kind_can_be_said(clean: Served) -> None:
    """UND-07: as on the command line; the answer has what is shown since."""
    status, told = post(clean, {"kind": "split", "engagement": "1", "round": 2})
    assert (status, told["version"]) == (200, 1)
    assert (told["engagement"]["turn_range"], told["made"]["turn_range"]) == ([1, 1], [2, 3])
    first, second = told["engagement"]["id"], told["made"]["id"]
    statements: list[dict[str, Any]] = [
        {"kind": "set", "engagement": second, "values": {"topic": "By the API"}},
        {"kind": "set", "values": {"title": "A title", "summary": "Its summary"}},
        {"kind": "move", "engagement": first, "first": 1, "last": 2},
        {"kind": "star", "engagement": second},
        {"kind": "note", "engagement": second, "text": "<b>bold</b>"},
        {"kind": "hide", "engagement": first},
        {"kind": "unhide", "engagement": first},
        {"kind": "star"},
        {"kind": "unstar"},
    ]
    for statement in statements:
        assert post(clean, statement)[0] == 200, statement
    record = clean.json(f"/api/v1/sessions/{REED}")["session"]
    assert (record["title"], record["session_summary"]) == ("A title", "Its summary")
    assert [e["turn_range"] for e in record["engagements"]] == [[1, 2], [3, 3]]
    assert record["engagements"][1]["starred"] and not record["engagements"][0]["hidden"]
    page = clean.get("/session/Reed")[2]
    assert "A title" in page and "By the API" in page and "&lt;b&gt;bold" in page and "★" in page
    items = clean.json("/api/v1/sessions/Reed/said")["said"]
    assert [item["statement"]["kind"] for item in items][:2] == ["split", "set"]
    assert all(item["words"] and item["at"] for item in items)
    status, told = post(clean, {"kind": "undo"})
    assert told["undone"]["words"] == "took the star off the session"
    status, told = post(clean, {"kind": "join", "engagement": second, "other": first})
    assert told["engagement"]["turn_range"] == [1, 3]


def test_hidden_and_starred_in_lists(clean: Served) -> None:
    """UND-07: left out and counted; asked for with hidden=1 and starred=1."""
    before = clean.json("/api/v1/stats")["stats"]
    post(clean, {"kind": "hide"})
    after = clean.json("/api/v1/stats")["stats"]
    assert after["engagements"] == before["engagements"] - 1 and after["hidden"] == 1
    assert clean.json("/api/v1/stats?hidden=1")["stats"] == before
    for name in ("engagements", "sessions"):
        ids = {row["session_id"] for row in clean.json(f"/api/v1/{name}")[name]}
        every = {row["session_id"] for row in clean.json(f"/api/v1/{name}?hidden=1")[name]}
        assert REED not in ids and REED in every
    assert "1 hidden" in clean.get("/?from=2026-01-01&to=2027-01-01")[2]
    found = clean.json("/api/v1/search?q=integrity+check")["hits"]
    assert REED in {hit["session_id"] for hit in found}
    post(clean, {"kind": "unhide"})
    post(clean, {"kind": "star"})
    rows = clean.json("/api/v1/engagements?starred=1")["engagements"]
    assert {row["session_id"] for row in rows} == {REED}
    rows = clean.json("/api/v1/sessions?starred=1")["sessions"]
    assert [row["session_id"] for row in rows] == [REED]
    hits = clean.json("/api/v1/search?q=the&starred=1")["hits"]
    assert {hit["session_id"] for hit in hits} == {REED}


def test_hidden_rows_are_marked(clean: Served) -> None:
    """UND-07: on the pages that show them, engagements and sessions."""
    post(clean, {"kind": "hide"})
    for page in ("/?", "/?view=sessions&", "/search?q=integrity+check&"):
        asked = f"{page}from=2026-01-01&to=2027-01-01&hidden=1"
        assert clean.get(asked)[2].count("<i>·</i> hidden") == 1, asked


def test_the_page_of_a_hidden_session_says_so(clean: Served) -> None:
    """UND-07: among its facts, as `show` does."""
    assert '<span class="hid"' not in clean.get("/session/Reed")[2]
    post(clean, {"kind": "hide"})
    assert '<span class="hid"' in clean.get("/session/Reed")[2]


@pytest.mark.parametrize("origin", ["", "http://evil.example", "null", "http://127.0.0.1:1"])
def test_nothing_is_said_for_another_origin(served: Served, origin: str) -> None:
    """VIEW-12: 403, whatever the page of another site sends."""
    assert post(served, {"kind": "star"}, Origin=origin)[0] == 403
    assert served.json("/api/v1/sessions/Reed")["session"]["starred"] is False


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "x/y"])
def test_only_json_is_heard(served: Served, kind: str) -> None:
    """VIEW-12: 415 for everything that a form could send."""
    status, told = post(served, {"kind": "star"}, Content_Type=kind)
    assert status == 415 and "application/json" in told["problem"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"[]", 400),
        (b'{"kind":"weave"}', 400),
        (b'{"kind":"renumber","places":{}}', 400),
        (b'{"kind":"split","engagement":"1"}', 400),
        (b'{"kind":"split","engagement":"1","round":"x"}', 400),
        (b'{"kind":"split","engagement":"1","round":99}', 400),
        (b'{"kind":"set","values":{"colour":"red"}}', 400),
        (b'{"kind":"star","engagement":"nobody"}', 404),
        (b"[" * 60_000, 400),
        (b'{"kind":"note","text":"' + b"x" * 70_000 + b'"}', 413),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_makes_no_sense_is_answered(served: Served, body: bytes, status: int) -> None:
    """VIEW-12, UND-07: a sentence, never a bug; nothing is written."""
    answered, told = post(served, body)
    assert (answered, bool(told["problem"])) == (status, True), told
    assert "bug" not in told["problem"]
    assert post(served, {"kind": "star"}, session="nobody")[0] == 404


def test_a_read_only_viewer_writes_nothing(examples: Path, served: Served) -> None:
    """UND-07: `serve --read-only` answers 403 to what would change the archive, and says so."""
    viewer = start(examples, served.archive, "--read-only")
    try:
        before = (served.archive / "sessions" / "engagements.jsonl").read_bytes()
        status, told = post(viewer, {"kind": "star"})
        assert status == 403 and "read-only" in told["problem"]
        assert viewer.get("/api/v1/ingest", {"Origin": viewer.url}, "POST")[0] == 403
        assert viewer.json("/api/v1/status")["read_only"] is True
        assert served.json("/api/v1/status")["read_only"] is False
        assert viewer.get("/session/Reed")[0] == 200
        assert (served.archive / "sessions" / "engagements.jsonl").read_bytes() == before
    finally:
        viewer.stop()


def test_with_a_token_only_those_who_know_it_speak(examples: Path, served: Served) -> None:
    """VIEW-12: 401 without, even from our own origin."""
    viewer = start(examples, served.archive, "--no-ingest", "--token", "sesame")
    try:
        assert post(viewer, {"kind": "star"})[0] == 401
        assert post(viewer, {"kind": "star"}, Authorization="Bearer sesame")[0] == 200
        assert post(viewer, {"kind": "undo"}, Authorization="Bearer sesame")[0] == 200
    finally:
        viewer.stop()
