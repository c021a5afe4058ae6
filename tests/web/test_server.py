"""Who is answered, and with what: the viewer from outside, without a browser."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import quote_plus

import pytest

import minutebook
from minutebook.record.layout import Layout
from minutebook.web.app import Viewer
from minutebook.web.state import ServerState
from tests.conftest import assistant, tool_result, tool_use, user
from tests.web.conftest import Serve, Served, Written, free_port

PAGES = ("/", "/?view=sessions", "/decisions", "/search?q=login", "/nowhere")


def some_session(viewer: Served) -> str:
    id: str = viewer.json("/api/v1/sessions")["sessions"][0]["session_id"]
    return id


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1:1", "", "x@y"])
def test_a_foreign_host_is_refused(viewer: Served, host: str) -> None:
    """VIEW-12: a name that was pointed at 127.0.0.1 (DNS rebinding) gets nothing."""
    status, _, body = viewer.get("/", {"Host": host.format(port=viewer.port)})
    assert status == 403
    assert "engagement" not in body


def test_every_route_refuses_a_foreign_host(viewer: Served) -> None:
    """VIEW-12: also those that will be added."""
    found = [route.path for route in Viewer(Layout(viewer.archive), ()).routes()]
    paths = [re.sub(r"\{(id|agent)[^}]*\}", some_session(viewer), path) for path in found]
    paths = [re.sub(r"\{[^}]*\}", "1", path) for path in paths]
    assert len(paths) > 50
    told = {path: viewer.get(path, {"Host": f"evil.example:{viewer.port}"})[0] for path in paths}
    assert {path: status for path, status in told.items() if status != 403} == {}


def test_a_file_is_known_by_name_only(viewer: Served) -> None:
    """VIEW-12: the history of a path outside the archive says nothing of what stands there."""
    for path in ("/etc/passwd", "../../../etc/passwd", "..%2f..%2fetc%2fpasswd"):
        status, _, body = viewer.get(f"/files?path={path}")
        assert status == 404 and "No round changed a file of exactly this path" in body
        assert "root:" not in body


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST"])
def test_names_of_this_machine_are_answered(viewer: Served, host: str) -> None:
    """VIEW-01: the viewer is at 127.0.0.1 and localhost."""
    assert viewer.get("/", {"Host": f"{host}:{viewer.port}"})[0] == 200


def test_it_listens_on_loopback_only(viewer: Served) -> None:
    """VIEW-01: no other interface has the port open."""
    port = f"{viewer.port:04X}"
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    listening = [line.split()[1] for line in lines if line.split()[3] == "0A"]
    assert [where for where in listening if where.endswith(port)] == [f"0100007F:{port}"]


@pytest.mark.parametrize("origin", [None, "http://evil.example", "null", "http://127.0.0.1:1"])
def test_nothing_is_written_for_another_origin(viewer: Served, origin: str | None) -> None:
    """VIEW-12: a foreign page cannot start an ingest."""
    headers = {"Origin": origin} if origin else {}
    assert viewer.get("/api/v1/ingest", headers, "POST")[0] == 403


def test_our_own_page_may_start_an_ingest(viewer: Served) -> None:
    """VIEW-12: the Origin check lets our own pages through."""
    status, _, body = viewer.get("/api/v1/ingest", {"Origin": viewer.url}, "POST")
    assert status == 202
    assert json.loads(body)["version"] == 1
    viewer.settle()


@pytest.mark.parametrize("path", [*PAGES, "/api/v1/stats", "/static/main.js"])
def test_every_answer_is_guarded(viewer: Served, path: str) -> None:
    """VIEW-12: a strict policy without inline script, nosniff, no framing, no CORS."""
    _, headers, _ = viewer.get(path)
    policy = headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert not any(name.lower().startswith("access-control") for name in headers)


@pytest.mark.parametrize("typed", ["😀", "*", '"', "- *"])
def test_a_query_without_a_word_finds_nothing(viewer: Served, typed: str) -> None:
    """SRCH-20: it is said that there is no word; nothing is listed as if it were found."""
    status, _, body = viewer.get(f"/search?q={quote_plus(typed)}")
    assert status == 200 and "There is no word to look for" in body and "/session/" not in body
    status, _, body = viewer.get(f"/api/v1/search?q={quote_plus(typed)}")
    assert status == 400 and "has no word in it" in json.loads(body)["problem"]


def test_a_page_of_hits_that_is_not_there_leads_to_the_last(viewer: Served) -> None:
    """SRCH-16: not "Nothing is about it"."""
    body = viewer.get("/search?q=the&page=9999")[2]
    assert "There is no page 9999" in body and "Nothing is about" not in body
    assert 'rel="last" href="/search?q=the"' in body


def test_an_embedder_that_is_gone_leaves_words(examples: Path, tmp_path: Path) -> None:
    """SRCH-18: the viewer finds by words what it cannot compare."""
    minutebook.ingest(examples, archive=tmp_path, extractor="offline")
    choice = tmp_path / "sessions" / "semantic.json"
    choice.write_text('{"kind": "onnx", "where": "/gone", "model": ""}')
    state = ServerState(tmp_path, (examples,))
    state.refresh_index()
    assert state.search("passkey").hits and state.search("passk").hits


def test_hits_are_paged_in_the_api(viewer: Served) -> None:
    """SRCH-16: `next` is where to go on, `page` is another way to say `start`."""
    first = viewer.json("/api/v1/search?q=the&limit=2")
    assert first["next"] == 2 < first["total"]
    after = viewer.json("/api/v1/search?q=the&limit=2&start=2")["hits"]
    assert viewer.json("/api/v1/search?q=the&limit=2&page=2")["hits"] == after != first["hits"]
    assert viewer.json("/api/v1/search?q=the&limit=500")["next"] is None
    for wrong in ("page=0", "page=x", "page=2&start=2"):
        assert viewer.get(f"/api/v1/search?q=the&{wrong}")[0] == 400


@pytest.mark.parametrize("path", PAGES[:4])
def test_no_page_has_a_remote_asset_or_inline_code(viewer: Served, path: str) -> None:
    """VIEW-12: no remote asset, no inline script, no inline style."""
    body = viewer.get(path)[2]
    for quote in ('src="http', 'href="http', "src='http", "<style", " style=", " onclick="):
        assert quote not in body
    scripts = [piece for piece in body.split("<script")[1:] if " src=" not in piece.split(">")[0]]
    assert scripts == []


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2f..%2fapi.py",
        "/session/..%2f..%2fetc",
        "/session/{id}/media/..%2f..%2fsession.db",
        "/session/{id}/media/../session.db",
        "/session/{id}/media/index.md",
        "/session/{id}/agents/..%2f..%2findex",
        "/session/..%2f..%2fetc/export",
        "/lineage/..%2f..%2fetc",
        "/threads/../../../etc/passwd",
        "/threads/..%2f..%2farchive.json",
        "/card/..%2f..%2fetc/-",
        "/card/{id}/..%2f..%2fsession.db",
    ],
)
def test_no_path_leads_out(viewer: Served, path: str) -> None:
    """VIEW-12: no traversal."""
    status, _, body = viewer.get(path.format(id=some_session(viewer)))
    assert status in (404, 400)
    assert "import" not in body
    assert "SQLite" not in body


def test_a_link_out_of_the_archive_is_not_followed(serve: Serve, written: Written) -> None:
    """VIEW-12: no symlink escape."""
    id = written.session(*(user(f"Say {n} things about trees, please.") for n in range(4)))
    served = serve(written.root)
    (folder,) = served.archive.glob(f"sessions/*/{id}")
    outside = served.archive.parent / "outside.png"
    outside.write_bytes(b"private")
    (folder / "media").mkdir()
    name = f"{'a' * 32}.png"
    (folder / "media" / name).symlink_to(outside)
    assert served.get(f"/session/{id}/media/{name}")[0] == 404


def test_beyond_loopback_needs_a_token(tmp_path: Path) -> None:
    """VIEW-01: `--host 0.0.0.0` alone is refused, with a sentence."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "minutebook",
            "serve",
            "--host",
            "0.0.0.0",
            "--archive",
            str(tmp_path),
        ],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert "--token" in done.stderr
    assert "Traceback" not in done.stderr


def test_with_a_token_only_those_who_know_it_are_answered(serve: Serve, examples: Path) -> None:
    """VIEW-01: with a token, every page asks for it; the address hands it to a cookie."""
    served = serve(examples, "--host", "0.0.0.0", "--token", "quince-marmalade", settle=False)
    assert served.get("/")[0] == 401
    assert served.get("/?token=wrong")[0] == 401
    assert served.get("/", {"Authorization": "Bearer quince-marmalade"})[0] == 200
    assert served.get("/", {"Cookie": "minutebook=quince-marmalade"})[0] == 200
    assert served.get("/static/main.js")[0] == 401


def test_a_port_in_use_says_by_whom(viewer: Served, tmp_path: Path) -> None:
    """VIEW-01: if it is one of us, it is said, and another port suggested."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "minutebook", "serve"),
            *("--port", str(viewer.port), "--archive", str(tmp_path)),
        ],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert str(viewer.archive) in done.stderr
    assert f"--port {viewer.port + 1}" in done.stderr


def test_it_stops_at_once_when_told(serve: Serve, examples: Path) -> None:
    """Ctrl-C ends the server, also while somebody is listening to events."""
    served = serve(examples)
    listener = subprocess.Popen(["curl", "-sN", f"{served.url}/events"], stdout=subprocess.DEVNULL)
    time.sleep(0.5)
    assert served.stop() in (0, 130, -2)
    listener.wait(10)
    assert "Traceback" not in served.log.read_text()


def test_numbers_agree_with_the_command_line(viewer: Served) -> None:
    """VIEW-02: the API's counts are those of `minutebook stats`."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "minutebook", "stats", "--json"),
            *("--root", str(viewer.root), "--archive", str(viewer.archive)),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    told = json.loads(done.stdout)
    ours = viewer.json("/api/v1/stats")["stats"]
    for name in ("sessions", "engagements", "decisions", "methods", "days"):
        assert ours[name] == told["stats"][name] if "stats" in told else told[name]


def test_a_reingest_shows_without_a_restart(serve: Serve, written: Written) -> None:
    """VIEW-02: the records are read on every request."""
    served = serve(written.root, settle=False)
    assert served.json("/api/v1/stats")["stats"]["sessions"] == 0
    record = {
        "session_id": "s-1",
        "title": "By hand",
        "started": "2026-03-01T10:00:00Z",
        "engagements": [
            {
                "id": "e",
                "topic": "Plant a hedge along the fence",
                "project": "/home/dev/garden",
                "method": "build",
                "phase": "completed",
                "turn_range": [1, 2],
            }
        ],
    }
    folder = served.archive / "sessions"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "engagements.jsonl").write_text(json.dumps(record) + '\n{"session_id": "half')
    assert served.json("/api/v1/stats")["stats"]["sessions"] == 1
    assert "Plant a hedge" in served.get("/")[2]


def test_the_roster_names_the_agents(serve: Serve, written: Written) -> None:
    """VIEW-02: a name written into the roster is on the page at the next request."""
    id = written.session(*(user(f"Please prune tree {n} today.") for n in range(4)))
    served = serve(written.root)
    assert "Hazel" not in served.get("/")[2]
    line = json.dumps({"session": id[:8], "name": "Hazel", "role": "gardener"})
    (served.archive / "agent-roster.jsonl").write_text(line + "\n")
    assert "Hazel" in served.get("/")[2]


def test_no_database_is_needed_for_the_index(serve: Serve, written: Written) -> None:
    """VIEW-03: with every database gone, the home page is the same."""
    written.session(*(user(f"Please prune tree {n} today.") for n in range(4)))
    served = serve(written.root, "--no-ingest", settle=False)
    served.get("/api/v1/ingest", {"Origin": served.url}, "POST")
    served.settle()
    before = served.get("/")[2]
    for database in served.archive.rglob("*.db"):
        database.unlink()
    assert served.get("/")[2] == before


@pytest.mark.parametrize(
    "query",
    ["?view=x", "?group=x", "?method=x", "?from=x", "?from=2026-02-01&to=2026-01-01", "?start=-1"],
)
def test_nonsense_in_an_address_is_answered_with_a_sentence(viewer: Served, query: str) -> None:
    """VIEW-14: an address made by hand never breaks the page."""
    status, _, body = viewer.get(f"/{query}")
    assert status in (200, 400)
    assert ("<h1>Not understood</h1>" in body) == (status == 400)
    assert "Traceback" not in body
    assert "Internal Server Error" not in body


@pytest.mark.parametrize(
    "path",
    [
        "/session/nobody",
        "/session/nobody/parts/0",
        "/session/{id}/parts/9999",
        "/session/{id}/blocks/9999/0",
        "/session/{id}/blocks/1/9999",
        "/session/{id}/agents/nobody",
        "/api/v1/sessions/nobody",
        "/api/v1/sessions/{id}/rounds/1/secrets/none",
    ],
)
def test_what_is_not_there_is_said(viewer: Served, path: str) -> None:
    """VIEW-11: no session, part, block or agent: a helpful page, status 404."""
    status, _, body = viewer.get(path.format(id=some_session(viewer)))
    assert status == 404
    assert "Traceback" not in body


def test_a_session_is_read_from_its_source_until_it_is_inscribed(
    serve: Serve, written: Written
) -> None:
    """VIEW-03: transcripts come from the source where there is no archive yet."""
    id = written.session(user("Where do the bees live?"), assistant("In the hollow oak."))
    served = serve(written.root, "--no-ingest", settle=False)
    body = served.get(f"/session/{id}")[2]
    assert "Where do the bees live?" in body
    assert "In the hollow oak." in body


def test_a_session_outlives_its_source(serve: Serve, written: Written) -> None:
    """VIEW-03: when the transcript is deleted, the round files are read."""
    id = written.session(*(user(f"Please water bed {n} today.") for n in range(4)))
    old = time.time() - 86_400
    path = next(written.root.rglob("*.jsonl"))
    os.utime(path, (old, old))
    served = serve(written.root)
    path.unlink()
    time.sleep(0.1)
    body = served.get(f"/session/{id}")[2]
    assert "Please water bed 3 today." in body


def test_a_megabyte_on_one_line_is_shown_in_part(serve: Serve, written: Written) -> None:
    """VIEW-06: a huge result is a preview, a link, and a plain file; never the whole page."""
    id = written.session(
        user("Print it."),
        assistant(tool_use("t1", command="cat big")),
        tool_result("t1", "x" * 1_000_000),
    )
    served = serve(written.root, "--no-ingest", settle=False)
    page = served.get(f"/session/{id}?show=user,assistant,calls,results")[2]
    assert len(page) < 60_000
    assert "Show all" in page
    assert len(served.get(f"/session/{id}/blocks/1/1")[2]) < 300_000
    assert served.get(f"/session/{id}/raw/1/1")[2].count("x") >= 1_000_000


def test_a_subagent_without_a_transcript_is_said(serve: Serve, written: Written) -> None:
    """VIEW-11, VIEW-18: a link that leads nowhere is not offered."""
    id = written.session(
        user("Count the pears."),
        assistant(tool_use("t1", "Task", description="Count", prompt="Count all pears.")),
        tool_result("t1", "Seven.", toolUseResult={"agentId": "gone"}),
    )
    served = serve(written.root, "--no-ingest", settle=False)
    block = served.get(f"/session/{id}/blocks/1/1", {"X-Fragment": "1"})[2]
    assert "The transcript of this subagent was not found." in block
    assert "/agents/gone" not in block
    assert "Seven." in block


def test_port_zero_is_no_port() -> None:
    """Bad input gets one sentence and status 2."""
    done = subprocess.run(
        [sys.executable, "-m", "minutebook", "serve", "--port", "0"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert free_port() > 0
