"""The viewer shows the archive: by any name, masked, and with every transcript deleted."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
import urllib.parse
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from minutebook.record.layout import Layout
from minutebook.web.app import Viewer
from minutebook.web.pages import archive_note
from tests.conftest import Record, as_line, assistant, tool_result, tool_use, user
from tests.web.conftest import (
    Serve,
    Served,
    Written,
    engagement,
    minutes_of,
    shown_minutes,
    stamp,
    start,
)

ALL = "user,assistant,thinking,calls,results"
TOKEN = "gh" + "p_" + "kL8mN2pQ5rS9tU3vW6xY0zA4bC7dE1fG8hJ2"
KINDLY = "ghp_…•••• (GitHub token)"
BEGAN = datetime(2026, 3, 2, 9, tzinfo=UTC)
FIXTURE = Path(__file__).parent.parent / "fixtures" / "first-release.tar.gz"


def at(minute: int) -> str:
    return stamp(BEGAN + timedelta(minutes=minute))


def orchard() -> list[Record]:
    """Words, a command, an edit with its patch, a subagent, a name, decisions."""
    place = {"oldStart": 4, "oldLines": 1, "newStart": 4, "newLines": 1}
    patch = [{**place, "lines": ["-elm", "+oak"]}]
    found: list[Record] = [
        user("Please plant the pears along the wall.", timestamp=at(1)),
        assistant("They stand along the wall now. " * 20, id="m1", timestamp=at(2)),
        user("Then replace the elm, and let somebody count.", timestamp=at(3)),
        assistant(
            tool_use("c1", "Edit", file_path="/x/trees.md", old_string="elm", new_string="oak"),
            tool_use("c2", "Task", description="Count the trees", prompt="Count all trees."),
            tool_use("c3", "Bash", command=f"login --with {TOKEN}"),
            id="m2",
            timestamp=at(4),
        ),
        tool_result("c1", "done", timestamp=at(5), toolUseResult={"structuredPatch": patch}),
        tool_result("c2", "Nine.", timestamp=at(6), toolUseResult={"agentId": "counter"}),
        tool_result("c3", f"welcome {TOKEN}", timestamp=at(6)),
        assistant(
            "Decision: we plant oaks instead of elms, because elms fall ill.",
            id="m3",
            timestamp=at(7),
        ),
        user("Thank you. That is all for today.", timestamp=at(8)),
        assistant("You are welcome.", id="m4", timestamp=at(9)),
        {"type": "ai-title", "aiTitle": "Oaks along the wall"},
    ]
    return found


def settled(written: Written) -> None:
    """Nothing is going on any more: every session is over."""
    old = time.time() - 86_400
    for path in written.root.rglob("*.jsonl"):
        os.utime(path, (old, old))


def pears(written: Written) -> str:
    return written.session(
        *(user(f"Say {n} words about pears.", timestamp=at(20 + n)) for n in range(4))
    )


def with_subagent(written: Written, words: str) -> str:
    """The session above, with what its subagent did."""
    id = written.session(*orchard())
    agents = next(written.root.rglob(f"{id}.jsonl")).with_suffix("") / "subagents"
    agents.mkdir(parents=True)
    side: Record = {"isSidechain": True, "sessionId": id}
    lines = [
        user(words, **side, uuid="a1", timestamp=at(4)),
        assistant("I see nine trees.", **side, uuid="a2", timestamp=at(5)),
    ]
    (agents / "agent-counter.jsonl").write_bytes(b"".join(as_line(x) + b"\n" for x in lines))
    return id


@dataclass
class House:
    served: Served
    written: Written
    id: str
    other: str


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """Two sessions that are over, one of them with a subagent, a name and secrets."""
    folder = tmp_path_factory.mktemp("house")
    written = Written(folder / "claude")
    id = with_subagent(written, f"Count all trees. {TOKEN}")
    other = written.session(
        *(user(f"Say {n} words about {TOKEN} please.", timestamp=at(20 + n)) for n in range(4)),
        user("Where is the password kept?", timestamp=at(30), gitBranch=f"fix/{TOKEN}"),
        {"type": "ai-title", "aiTitle": f"Work with {TOKEN}"},
        project=f"tools-{TOKEN}",
    )
    settled(written)
    (folder / "archive").mkdir()
    line = json.dumps({"session": id[:8], "name": "Hazel", "role": "gardener"})
    (folder / "archive" / "agent-roster.jsonl").write_text(line + "\n")
    served = start(written.root, folder / "archive")
    served.settle()
    yield House(served, written, id, other)
    served.stop()


# -- names


@pytest.mark.parametrize(
    "name", ["hazel", "Hazel", "Oaks along the wall", "oaks", "{id}", "{start}"]
)
def test_a_session_is_named_as_on_the_command_line(house: House, name: str) -> None:
    """ARC-04: id, beginning of an id, agent's name, title, part of a title; pages and API alike."""
    called = urllib.parse.quote(name.format(id=house.id, start=house.id[:8]))
    whole = house.served.get(f"/session/{house.id}?show={ALL}")[2]
    assert house.served.get(f"/session/{called}?show={ALL}")[2] == whole
    assert house.served.json(f"/api/v1/sessions/{called}")["session"]["session_id"] == house.id
    assert house.served.json(f"/api/v1/sessions/{called}/rounds")["rounds"][0]["round"] == 1
    assert house.served.get(f"/session/{called}/agents/counter")[0] == 200
    assert "plant the pears" in house.served.get(f"/session/{called}/markdown?rounds=1")[2]


@pytest.mark.parametrize("path", ["/session/Rowan", "/session/Rowan/parts/0"])
def test_an_unknown_name_is_answered_with_the_sentence(house: House, path: str) -> None:
    """ARC-04: status 404, and what the command line says."""
    status, _, body = house.served.get(path)
    assert status == 404
    assert "No session is called" in body
    status, _, body = house.served.get("/api/v1/sessions/hazle")
    assert status == 404
    assert "Did you mean 'hazel'?" in json.loads(body)["problem"]


def test_a_name_that_fits_several_sessions_is_not_guessed(house: House) -> None:
    """ARC-04: both are named in the sentence."""
    status, _, body = house.served.get("/api/v1/sessions/0000000")
    assert status == 400
    assert "fits 2 sessions" in json.loads(body)["problem"]


def test_a_page_lists_the_sessions_that_a_name_fits(house: House) -> None:
    """VIEW-11, VIEW-13: by their names, with links, and without an id to be read."""
    status, _, page = house.served.get("/session/0000000")
    assert status == 400 and "2 sessions match this name" in page
    links = re.findall(r'class="open" href="(/session/[^"]+)"', page)
    assert len(links) == 2
    assert all(house.served.get(link)[0] == 200 for link in links)
    assert "0000000" not in re.sub(r"<[^>]*>", "", page)


def test_an_address_opens_no_file(house: House, tmp_path: Path) -> None:
    """VIEW-12: what the command line takes as a path is no session here."""
    lost = tmp_path / "lost.jsonl"
    lost.write_bytes(as_line({**user("Found."), "sessionId": "lost", "uuid": "u"}) + b"\n")
    for name in (str(lost), lost.name, f"~/{lost.name}"):
        assert house.served.get(f"/session/{urllib.parse.quote(name, safe='')}")[0] == 404


# -- masks


def paths_of(house: House) -> list[str]:
    """Every kind of address there is."""
    found = [
        *("/", "/?view=sessions", "/?group=agent", "/?group=period", "/decisions"),
        *("/search?q=words", "/search?q=pears", "/search?q=token"),
        *(f"/api/v1/{name}" for name in ("stats", "engagements", "sessions", "decisions")),
        *("/api/v1/timeline", "/api/v1/timeline?view=sessions", "/api/v1/status"),
        *("/api/v1/search?q=words", "/api/v1/search?q=wall", "/api/v1/search?q=method:discuss"),
    ]
    for id in (house.id, house.other):
        found += [
            f"/session/{id}?show={ALL}",
            f"/session/{id}/parts/0?show={ALL}",
            f"/session/{id}/markdown",
            *(f"/session/{id}/blocks/{r}/{b}" for r in (1, 2) for b in range(5)),
            *(f"/session/{id}/raw/{r}/{b}" for r in (1, 2) for b in range(5)),
            f"/api/v1/sessions/{id}",
            f"/api/v1/sessions/{id}/rounds?rounds=all",
            f"/api/v1/sessions/{id}/outline",
            f"/api/v1/sessions/{id}/find?q=welcome",
        ]
    agent = f"/session/{house.id}/agents/counter"
    return [*found, f"{agent}?show={ALL}", f"{agent}/parts/0", f"{agent}/raw/1/0"]


def test_every_route_is_masked(house: House) -> None:
    """ARC-06: no answer holds a secret, and none holds a mark of one: it is a button or words."""
    wrong, masked = [], 0
    for path in paths_of(house):
        status, headers, body = house.served.get(path)
        assert status in (200, 404), path
        plainly = urllib.parse.unquote(body)
        masked += KINDLY in body or 'class="secret"' in body
        if TOKEN in plainly or TOKEN[8:24] in plainly:
            wrong.append(path)
        if re.search("[\U000f0000-\U0010ffff]", plainly):
            wrong.append(f"{path} (mark)")
        if "html" not in headers["content-type"] and "<button" in body:
            wrong.append(f"{path} (button)")
    assert wrong == []
    assert masked > 20


def test_titles_and_branches_have_words_for_secrets(house: House) -> None:
    """VIEW-12: on the board, in attributes and in the API."""
    board = house.served.get("/?view=sessions")[2]
    assert f"Work with {KINDLY}" in board
    page = house.served.get(f"/session/{house.other}")[2]
    assert f"<title>Work with {KINDLY} · minutebook</title>" in page
    record = house.served.json(f"/api/v1/sessions/{house.other}")["session"]
    assert record["title"] == f"Work with {KINDLY}"


def test_what_is_masked_can_be_revealed_by_its_button(house: House) -> None:
    """VIEW-12: in a session and in a subagent; by digest, in the round it stands in."""
    for base, query in ((f"/session/{house.id}", ""), (f"/session/{house.id}/agents/counter", "")):
        number = 2 if not base.endswith("counter") else 1
        page = house.served.get(f"{base}?show={ALL}{query}")[2]
        digest = page.split('data-secret="')[1].split('"')[0]
        agent = "?agent=counter" if base.endswith("counter") else ""
        secrets = f"/api/v1/sessions/{house.id}/rounds/{number}/secrets/{digest}{agent}"
        assert house.served.json(secrets)["secret"] == TOKEN


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_secrets_are_not_revealed_to_other_sites(house: House, site: str) -> None:
    """VIEW-12: a browser says who makes it ask."""
    path = f"/api/v1/sessions/{house.id}/rounds?rounds=2&reveal=1"
    assert TOKEN in house.served.get(path, {"Sec-Fetch-Site": "same-origin"})[2]
    status, _, body = house.served.get(path, {"Sec-Fetch-Site": site})
    assert status == 400
    assert TOKEN not in body


@pytest.mark.parametrize("words", [TOKEN, TOKEN[4:12], "private-plane"])
def test_finding_does_not_confirm_a_secret(house: House, words: str) -> None:
    """ARC-06: what is typed is looked for in masked text."""
    told = house.served.json(f"/api/v1/sessions/{house.id}/find?q={words}")
    assert told["places"] == []
    told = house.served.json(f"/api/v1/sessions/{house.id}/find?q=login --with".replace(" ", "%20"))
    assert [place[1:] for place in told["places"]] == [[2, 3, "calls"]]


def test_a_recorded_patch_is_shown(house: House) -> None:
    """VIEW-06: the diff is the agent's own record of it."""
    block = house.served.get(f"/session/{house.id}/blocks/2/1", {"X-Fragment": "1"})[2]
    assert re.search(r"<del[^>]*>elm\s*</del><ins[^>]*>oak\s*</ins>", block)


# -- without transcripts


def comparable(path: str, body: str) -> Any:
    """An answer without what a transcript that is there adds: that its session can be resumed."""
    if path.startswith("/api/"):
        told = json.loads(body)
        told.pop("fresh_at", None)
        for hit in told.get("hits", ()):
            hit.pop("resumable")
            hit.pop("resume")
            hit.pop("restore")
        return told
    return re.sub(r'<button type="button" data-copy="resume".*?</button>', "", body)


def wait_for(served: Served, path: str, gone: str) -> None:
    """Until a page does not say something any more."""
    deadline = time.monotonic() + 40
    while gone in served.get(path)[2]:
        assert time.monotonic() < deadline, f"{path} still has: {gone}"
        time.sleep(0.2)


def test_pages_are_the_same_without_transcripts(serve: Serve, written: Written) -> None:
    """ARC-02: session, board, search, decisions, API; in a running viewer and in a new one."""
    id, other = with_subagent(written, "Count all trees."), pears(written)
    settled(written)
    served = serve(written.root)
    paths = [p for p in paths_of(House(served, written, id, other)) if "status" not in p]
    before = {path: comparable(path, served.get(path)[2]) for path in paths}
    assert 'data-copy="resume"' in served.get(f"/session/{id}")[2]

    shutil.rmtree(written.root / "projects")
    (written.root / "projects").mkdir()
    wait_for(served, f"/session/{id}", 'data-copy="resume"')
    wait_for(served, "/search?q=pears", "is being updated")
    after = {path: comparable(path, served.get(path)[2]) for path in paths}
    assert {path for path in paths if before[path] != after[path]} == set()

    served.stop()
    shutil.rmtree(written.root)
    again = serve(written.root)
    wait_for(again, "/search?q=pears", "is being updated")
    after = {path: comparable(path, again.get(path)[2]) for path in paths}
    assert {path for path in paths if before[path] != after[path]} == set()


# -- damage


@pytest.fixture
def broken(serve: Serve, written: Written) -> tuple[Served, str, Path]:
    """A viewer, the id of an archived session, and the session's folder."""
    id = written.session(*orchard())
    pears(written)
    settled(written)
    served = serve(written.root)
    (folder,) = served.archive.glob(f"sessions/*/{id}")
    return served, id, folder


NEWER = b'{"schema": 99, "round": 2, "user": "Misread!", "agent": [], "messages": []}'
"""A round file of a newer format that reads like one of ours."""


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[1, 2]", b"\xff\xfe\x00", b'{"schema": 99}', NEWER]
)
def test_a_damaged_round_is_read_from_the_document(
    broken: tuple[Served, str, Path], content: bytes
) -> None:
    """ARC-07, ARC-08: nothing is lost while the document has it; the file is named. One of a newer
    format is refused, whether or not it could be misread."""
    served, id, folder = broken
    (folder / "rounds" / "002.json").write_bytes(content)
    page = served.get(f"/session/{id}?show={ALL}")[2]
    assert "replace the elm" in page and "Misread!" not in page
    assert "One file of the archive cannot be read" in page
    assert "002.json" in page
    assert [Path(d["path"]).name for d in served.json("/api/v1/status")["damaged"]] == ["002.json"]


def test_a_round_that_is_nowhere_says_so(broken: tuple[Served, str, Path]) -> None:
    """ARC-07: its notice stands where it was; the rest of every page works."""
    served, id, folder = broken
    (folder / "rounds" / "002.json").write_bytes(b"{")
    document = folder.with_name(f"{id}.md")
    document.write_text(document.read_text().replace("<!-- message ", "<!-- massage "))
    page = served.get(f"/session/{id}?show={ALL}")[2]
    assert "missing or damaged" in page
    assert "plant the pears" in page
    assert "That is all for today" in page
    for path in (
        "/",
        "/?view=sessions",
        "/decisions",
        "/search?q=pears",
        f"/session/{id}/markdown",
    ):
        assert served.get(path)[0] == 200, path
    for name in ("", "/outline", "/find?q=pears", "/rounds?rounds=all"):
        assert served.get(f"/api/v1/sessions/{id}{name}")[0] == 200, name


@pytest.mark.parametrize("name", ["session.json", "rounds/001.json"])
def test_a_lost_file_costs_no_page(broken: tuple[Served, str, Path], name: str) -> None:
    """ARC-07: facts and rounds come from elsewhere, or are missed."""
    served, id, folder = broken
    (folder / name).unlink()
    for path in ("/", f"/session/{id}", f"/session/{id}/markdown", f"/api/v1/sessions/{id}"):
        assert served.get(path)[0] == 200, path


def snapshot(root: Path) -> dict[str, tuple[int, bytes]]:
    """Every file, with its time and bytes; locks of searches aside."""
    return {
        str(path.relative_to(root)): (path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def test_an_archive_of_the_first_release_can_be_looked_at(tmp_path: Path) -> None:
    """ARC-08, ARC-09: every page is there, nothing is written, and a sentence says what it is."""
    with tarfile.open(FIXTURE) as files:
        files.extractall(tmp_path, filter="data")
    before = snapshot(tmp_path)
    served = start(tmp_path / "claude", tmp_path / "archive", "--no-ingest")
    try:
        board = served.get("/?view=sessions")[2]
        assert "format of the first release" in board
        assert served.json("/api/v1/status")["first_release"]
        for record in served.json("/api/v1/sessions?ghosts=1")["sessions"]:
            id = record["session_id"]
            page = served.get(f"/session/{id}?show={ALL}")[2]
            assert 'class="block' in page, id
            assert served.get(f"/session/{id}/markdown")[0] == 200
        for path in ("/", "/decisions", "/search?q=pixel", "/api/v1/timeline"):
            assert served.get(path)[0] == 200, path
    finally:
        served.stop()
    logs = {name for name in snapshot(tmp_path) if name.startswith("serve-")}
    after = {name: told for name, told in snapshot(tmp_path).items() if name not in logs}
    assert after == before


def test_a_read_only_archive_is_only_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: Written
) -> None:
    """ARC-09: no ingest is started, and a sentence says why nothing new appears."""
    pears(written)
    viewer = Viewer(Layout(tmp_path / "archive"), (written.root,), take=True)
    started: list[str] = []
    monkeypatch.setattr(viewer.background, "start", lambda: started.append("ingest"))
    assert archive_note(viewer.state) == ""
    monkeypatch.setattr(os, "access", lambda *_: False)
    with ThreadPoolExecutor(1) as other:  # the browser's loop may be running in this thread
        other.submit(lambda: asyncio.run(viewer._begin())).result()
    assert started == []
    assert "read-only" in archive_note(viewer.state)
    assert not (tmp_path / "archive").exists()


# -- one truth


def test_an_engagement_is_of_its_own_project(tmp_path: Path) -> None:
    """ING-12: groups, filters, statistics and rows go by the engagement's project."""
    inside = engagement(BEGAN, "build", "Plant oaks here", id="a", turn_range=[1, 1])
    beyond = engagement(
        BEGAN, "debug", "Mend the mill", id="b", turn_range=[2, 3], project="/home/dev/mill"
    )
    served = shown_minutes(tmp_path, minutes_of(1, inside, beyond))
    try:
        assert served.json("/api/v1/stats")["stats"]["projects"] == {"orchard": 1, "mill": 1}
        rows = served.json("/api/v1/timeline?group=project")["timeline"]["rows"]
        assert {row["name"]: row["count"] for row in rows} == {"orchard": 1, "mill": 1}
        found = served.json("/api/v1/engagements?project=mill")["engagements"]
        assert [e["topic"] for e in found] == ["Mend the mill"]
        row = served.get("/?project=mill")[2].split('class="meta"')[1]
        assert "mill" in row.split("</p>")[0]
        assert "orchard" not in row.split("</p>")[0]
    finally:
        served.stop()


def test_a_tag_is_seen_at_once_and_in_pieces(serve: Serve, written: Written) -> None:
    """ARC-05: what a person tags in the middle of an engagement leaves it in two ranges."""
    id = written.session(
        *(
            record
            for n in range(1, 8)
            for record in (
                user(f"Please plant tree {n}.", timestamp=at(n)),
                assistant("It is planted. " * 30, id=f"m{n}", timestamp=at(n)),
            )
        )
    )
    settled(written)
    served = serve(written.root)
    assert [e["turn_range"] for e in _engagements(served)] == [[1, 7]]
    subprocess.run(
        [
            *(sys.executable, "-m", "minutebook", "tag", id[:8], "3-4", "pruning"),
            *("--root", str(written.root), "--archive", str(served.archive)),
        ],
        check=True,
        capture_output=True,
    )
    told = {e["id"]: (e["turn_range"], e["parts"]) for e in _engagements(served)}
    assert told.pop("pruning") == ([3, 4], [])
    assert list(told.values()) == [([1, 7], [[1, 2], [5, 7]])]
    page = served.get(f"/session/{id}")[2]
    assert "#1–2, 5–7" in page
    assert 'data-ranges="1-2 5-7 "' in page


def _engagements(served: Served) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = served.json("/api/v1/engagements")["engagements"]
    return found


def test_words_of_a_ghost_are_found(serve: Serve, written: Written) -> None:
    """SRCH-10: a session that hardly began is left out of lists, not of searches."""
    id = written.session(user("Where do the quaggas graze?"), assistant("Nowhere any more."))
    settled(written)
    served = serve(written.root)
    assert served.json("/api/v1/sessions")["total"] == 0
    assert served.json("/api/v1/sessions?ghosts=1")["total"] == 1
    assert f"/session/{id}" in served.get("/search?q=quaggas")[2]
    assert "1 prompt, no work yet" in served.get("/?view=sessions&ghosts=1")[2]


def test_no_module_of_the_viewer_names_an_agent() -> None:
    """AGT-01: what is one agent's is its source's affair."""
    import minutebook.web

    folder = Path(minutebook.web.__file__).parent
    files = [path for kind in ("*.py", "*.html", "*.js") for path in folder.rglob(kind)]
    assert len(files) > 30
    assert [path.name for path in files if "claude" in path.read_text().lower()] == []
