"""Mending in place, without a script; and who may not (VIEW-20, UND-07, VIEW-12)."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from starlette.routing import Route

import minutebook
from minutebook.record.layout import Layout
from minutebook.web.app import Viewer
from tests.web.conftest import Served, start
from tests.web.test_said import REED, post

pytestmark = pytest.mark.xdist_group("mend-server")
FORM = "application/x-www-form-urlencoded"


@pytest.fixture(scope="module")
def served(examples: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("mend") / "archive"
    minutebook.ingest(examples, archive=folder, extractor="offline")
    viewer = start(examples, folder, "--no-ingest")
    yield viewer
    viewer.stop()


@pytest.fixture
def clean(served: Served) -> Iterator[Served]:
    yield served
    while post(served, {"kind": "undo"}, REED)[0] == 200:
        pass


def send(
    served: Served, path: str, body: bytes | str, **headers: str
) -> tuple[int, dict[str, str], str]:
    """A POST with exactly these headers."""
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=20)
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request("POST", path, body, sent)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, {k.lower(): v for k, v in answer.getheaders()}, text


def say(served: Served, **fields: str) -> tuple[int, dict[str, str], str]:
    """A form as a browser without a script sends it."""
    ours = {"Origin": served.url, "Content_Type": FORM}
    return send(served, f"/session/{REED}/mend", urlencode(fields), **ours)


def holding(served: Served) -> list[str]:
    """What was said and not taken back."""
    said = served.json(f"/api/v1/sessions/{REED}/said")["said"]
    return [s["words"] for s in said if not s["undone"] and s["statement"]["kind"] != "undo"]


def test_everything_can_be_said_by_plain_forms(clean: Served) -> None:
    """VIEW-20: each kind, with a way back to the forms and what was said on them."""
    forms = [
        {"kind": "split", "engagement": "1", "round": "2"},
        {"kind": "set", "engagement": "1", "topic": "By a form", "method": "debug"},
        {"kind": "set", "engagement": "1", "decision1": "One", "decision2": "", "decision3": "Two"},
        {"kind": "set", "engagement": "1", "phase": "blocked", "note": "Ask <b>again</b>"},
        {"kind": "set", "title": "A title", "agent_name": "Wren", "agent_role": "gardener"},
        {"kind": "set", "summary": "A summary", "note": "Of all"},
        {"kind": "star", "engagement": "1"},
        {"kind": "hide", "engagement": "2"},
        {"kind": "unhide", "engagement": "2"},
        {"kind": "move", "engagement": "1", "first": "1", "last": "2"},
        {"kind": "join", "engagement": "1", "other": "3"},
    ]
    for form in forms:
        status, headers, page = say(clean, **form)
        assert status == 303, (form, page)
        seen = clean.get(headers["location"])
        assert seen[0] == 200 and "Saved: " in seen[2] and ">Undo<" in seen[2]
    record = clean.json(f"/api/v1/sessions/{REED}")["session"]
    (engagement,) = record["engagements"]
    assert (engagement["topic"], engagement["method"]) == ("By a form", "debug")
    assert engagement["key_decisions"] == ["One", "Two"] and engagement["starred"]
    assert (record["title"], record["agent_name"]) == ("A title", "Wren")
    page = clean.get(f"/session/{REED}")[2]
    assert "Your corrections" in page and "Ask &lt;b&gt;again" in page
    status, headers, _ = say(clean, kind="undo")
    assert status == 303 and "Taken back" in clean.get(headers["location"])[2]
    assert len(clean.json(f"/api/v1/sessions/{REED}")["session"]["engagements"]) == 2


def test_what_a_move_takes_altogether_is_said_beside_its_undo(clean: Served) -> None:
    """VIEW-20, UND-07: the dialog and the API name an engagement that has no round left."""
    say(clean, kind="split", engagement="1", round="2")
    say(clean, kind="set", engagement="2", topic="Second half")
    fields = {"kind": "move", "engagement": "1", "first": "1", "last": "3"}
    ours = {"Origin": clean.url, "Content_Type": FORM, "X_Fragment": "1"}
    told = send(clean, f"/session/{REED}/mend", urlencode(fields), **ours)[2]
    assert "no round is left of Second half (#2–3)" in json.loads(told)["words"]
    post(clean, {"kind": "undo"}, REED)
    status, answer = post(clean, {"kind": "move", "engagement": "1", "first": 1, "last": 3}, REED)
    assert status == 200 and [e["topic"] for e in answer["gone"]] == ["Second half"]


def test_what_did_not_change_is_not_said(clean: Served) -> None:
    """VIEW-20: a form sent as it was shown says nothing, and says so."""
    record = clean.json(f"/api/v1/sessions/{REED}")["session"]
    topic = record["engagements"][0]["topic"]
    status, _, page = say(clean, kind="set", engagement="1", topic=topic)
    assert status == 400 and "Nothing was changed" in page
    assert holding(clean) == []


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"kind": "weave"}, "not something a form here says"),
        ({"kind": "set", "engagement": "1", "method": "knit"}, "is not a method"),
        ({"kind": "split", "engagement": "1", "round": "x"}, "Name the round"),
        ({"kind": "split", "engagement": "1", "round": "99"}, "is not in"),
        ({"kind": "move", "engagement": "1", "first": "", "last": "2"}, "is not a range"),
        ({"kind": "unstar"}, "has no star"),
        ({"kind": "star", "engagement": "nobody"}, "no engagement"),
    ],
)
def test_a_problem_stands_on_the_form(served: Served, fields: dict[str, str], words: str) -> None:
    """VIEW-20: status 400, the forms again, a sentence; nothing is written."""
    status, _, page = say(served, **fields)
    assert status == 400 and words in page and "<form" in page
    assert holding(served) == []


def writing_routes(archive: Path) -> list[str]:
    """Every address that takes more than GET and HEAD, as the application has them."""
    viewer = Viewer(Layout(archive), ())
    found = [r for r in viewer.routes() if isinstance(r, Route)]
    writing = [r.path for r in found if (r.methods or set()) - {"GET", "HEAD"}]
    return [path.replace("{id}", REED) for path in writing]


def test_every_writing_route_is_guarded(served: Served) -> None:
    """VIEW-12, VIEW-20: foreign hosts, origins and fetch metadata, and what a page of another
    site could send, are refused on every route that writes, also one that will be added."""
    routes = writing_routes(served.archive)
    assert len(routes) >= 3 and not [path for path in routes if "{" in path]
    host = f"127.0.0.1:{served.port}"
    attempts: list[dict[str, str]] = [
        {"Host": "evil.example", "Origin": "http://evil.example"},
        {"Host": f"evil.example:{served.port}", "Origin": f"http://evil.example:{served.port}"},
        {"Host": host},
        {"Host": host, "Origin": "null"},
        {"Host": host, "Origin": "http://evil.example"},
        {"Host": host, "Origin": f"http://127.0.0.1:{served.port + 1}"},
        {"Host": host, "Origin": f"http://{host}.evil.example"},
        {"Host": host, "Origin": served.url, "Sec_Fetch_Site": "cross-site"},
        {"Host": host, "Origin": served.url, "Sec_Fetch_Site": "same-site"},
    ]
    bodies = ((FORM, "kind=star"), ("application/json", '{"kind":"star"}'))
    others = (("text/plain", '{"kind":"star"}'), ("multipart/form-data; boundary=x", "--x--"))
    before = served.json("/api/v1/status")["progress"]
    for path in routes:
        for headers in attempts:
            for kind, body in (*bodies, *others):
                status, _, text = send(served, path, body, Content_Type=kind, **headers)
                assert status == 403, (path, headers, kind, text)
        for method in ("PUT", "DELETE", "PATCH"):
            assert served.get(path, {"Origin": "http://evil.example"}, method)[0] == 403
    assert served.json(f"/api/v1/sessions/{REED}")["session"]["starred"] is False
    assert served.json("/api/v1/status")["progress"] == before


@pytest.mark.parametrize("kind", ["application/json", "text/plain", "multipart/form-data", ""])
def test_a_form_is_a_form(served: Served, kind: str) -> None:
    """VIEW-12: 415 for other kinds of content, also from our own pages; 413 for too much."""
    path, ours = f"/session/{REED}/mend", {"Origin": served.url}
    assert send(served, path, '{"kind":"star"}', Content_Type=kind, **ours)[0] == 415
    long = "kind=set&note=" + "x" * 70_000
    assert send(served, path, long, Content_Type=FORM, **ours)[0] == 413


def test_without_a_script_errors_are_pages(served: Served) -> None:
    """VIEW-20: what went wrong is said on a page, with its status; a script still gets JSON."""
    ours = {"Origin": served.url, "Content_Type": FORM}
    for path, body, status in (
        (f"/session/{REED}/mend", "kind=set&note=" + "x" * 70_000, 413),
        ("/session/ffffffff/mend", "kind=star", 404),
    ):
        found, headers, text = send(served, path, body, **ours)
        assert (found, headers["content-type"]) == (status, "text/html; charset=utf-8")
        assert "<main" in text
    path = f"/api/v1/sessions/{REED}/said"
    answer = send(served, path, "x", Origin=served.url, Content_Type="text/plain")
    assert answer[1]["content-type"].startswith("application/json")


def test_a_read_only_viewer_offers_nothing(examples: Path, served: Served) -> None:
    """VIEW-20: no buttons, and 403 on every route that writes."""
    assert "data-mend" in served.get(f"/session/{REED}")[2]
    assert "data-mend" in served.get("/?from=2026-01-01&to=2027-01-01")[2]
    viewer = start(examples, served.archive, "--read-only")
    try:
        for path in (
            f"/session/{REED}",
            "/?from=2026-01-01&to=2027-01-01",
            f"/session/{REED}/mend",
        ):
            page = viewer.get(path)[2]
            assert "data-mend" not in page and "mend-form" not in page
        assert "/share" in viewer.get(f"/session/{REED}")[2]
        for path in writing_routes(served.archive):
            assert send(viewer, path, "kind=star", Origin=viewer.url, Content_Type=FORM)[0] == 403
    finally:
        viewer.stop()


def test_with_a_token_every_route_asks_for_it(examples: Path, served: Served) -> None:
    """VIEW-12: 401 without, even from our own origin."""
    viewer = start(examples, served.archive, "--no-ingest", "--token", "sesame")
    try:
        for path in (*writing_routes(served.archive), "/session/Reed/export", "/report/file"):
            assert send(viewer, path, "kind=star", Origin=viewer.url, Content_Type=FORM)[0] == 401
    finally:
        viewer.stop()
