"""What a reviewer broke, without a browser: dates, secrets, tokens, threads, stopping."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import signal
import subprocess
import threading
import time
import urllib.parse
from datetime import UTC, datetime
from pathlib import Path

import pytest

from minutebook.archive import Archive
from minutebook.archive import session as session_module
from minutebook.archive.masking import mark
from minutebook.html.prose import code, plain, prose
from minutebook.verbs.inscribe import inscribe
from tests.conftest import assistant, tool_result, tool_use, user
from tests.web.conftest import Serve, Served, Written, engagement, minutes_of, shown_minutes

SECRET = "gh" + "p_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"
KEY = "sk-" + "ant-api03-" + "Zx9Yw8Vu7Ts6Rq5Po4Nm3Lk2Ji1Hg0Fe9Dc8Ba7"
_BODY = [base64.b64encode(hashlib.sha256(bytes([n])).digest() * 2).decode()[:64] for n in range(9)]
PEM = "\n".join(["-----BEGIN " + "PRIVATE KEY-----", *_BODY, "-----END PRIVATE KEY-----"])
PATHS = (
    "/",
    "/?group=method",
    "/?group=period",
    "/?view=sessions",
    "/decisions",
    "/api/v1/timeline",
)


@pytest.mark.parametrize("year", ["0001", "1969", "2199", "9999"])
def test_a_date_of_another_age_breaks_no_page(tmp_path: Path, year: str) -> None:
    """VIEW-11: a clock that was wrong once leaves everything else as it is."""
    odd = engagement(datetime(2026, 3, 1, tzinfo=UTC), "build", "From another age")
    odd |= {"started": f"{year}-12-31T23:59:59Z", "ended": f"{year}-12-31T23:59:59Z"}
    good = engagement(datetime(2026, 3, 1, 9, tzinfo=UTC), "debug", "Of our time")
    records = [minutes_of(1, odd), minutes_of(2, good)]
    served = shown_minutes(tmp_path, *records)
    try:
        for path in PATHS:
            assert served.get(path)[0] == 200, path
        assert "Of our time" in served.get("/")[2].split('class="list"')[0]
    finally:
        served.stop()


@pytest.mark.parametrize(
    "query", ["to=9999-12-31", "from=0001-01-01", "from=2199-01-01", "from=1971-06-01"]
)
def test_a_range_of_another_age_is_answered(tmp_path: Path, query: str) -> None:
    """VIEW-14: by a page or a sentence."""
    served = shown_minutes(
        tmp_path, minutes_of(1, engagement(datetime(2026, 3, 1, tzinfo=UTC), "build", "x"))
    )
    try:
        assert served.get(f"/?{query}")[0] in (200, 400)
    finally:
        served.stop()


def test_a_round_has_the_date_of_its_prompt(serve: Serve, written: Written) -> None:
    """VIEW-17, SHARE-01: a hook that spoke days before anybody typed does not date the round."""
    hook = {"type": "hook_success", "content": "ready"}
    id = written.session(
        {"type": "attachment", "attachment": hook, "timestamp": "2026-03-01T09:00:00.000Z"},
        user("Plant the pear tree, please.", timestamp="2026-03-06T09:00:00.000Z"),
        assistant("Planted.", id="m1", timestamp="2026-03-06T09:00:05.000Z"),
    )
    served = serve(written.root)
    page = served.get(f"/session/{id}")[2]
    head = page.split('class="round-head"')[1].split("</header>")[0]
    assert 'datetime="2026-03-06T09:00:00.000Z"' in head
    sent = served.get(f"/session/{id}/export?format=html")[2]
    assert "2026-03-06 09:00" in sent and "2026-03-01" not in sent.split("<article")[0]


def test_no_answer_holds_a_secret(serve: Serve, written: Written) -> None:
    """VIEW-12: pages, fragments, raw text, Markdown and API; in titles, commands, coloured output,
    addresses and at the edge of a preview."""
    coloured = f"\x1b[31m{KEY[:20]}\x1b[0m{KEY[20:]}"
    edge = "x" * 1_490 + f" {SECRET}"
    long = "y" * 285 + f" {SECRET} z"
    records = [user(f"Use {SECRET} to log in, please, step {n}.") for n in range(3)]
    id = written.session(
        *records,
        {"type": "custom-title", "customTitle": f"Work with {SECRET}"},
        assistant(
            f"See [the docs](https://h.example/?t={SECRET}) and "
            f"[x](http://h.example 'a {SECRET} title').",
            tool_use("t1", command=f"curl -H 'X: {long}'"),
            tool_use("t2", "Write", file_path="/tmp/key", content=PEM),
        ),
        tool_result("t1", f"{coloured}\n{edge}"),
        tool_result("t2", "ok"),
    )
    served = serve(written.root)
    everything = "user,assistant,thinking,calls,results"
    pages = [
        *PATHS,
        f"/session/{id}?show={everything}",
        f"/session/{id}/parts/0?show={everything}",
        f"/session/{id}/markdown",
        *(f"/session/{id}/blocks/3/{at}" for at in range(4)),
        *(f"/session/{id}/raw/3/{at}" for at in range(4)),
        *(f"/api/v1/{name}" for name in ("engagements", "sessions", "stats", "decisions")),
        f"/api/v1/sessions/{id}",
        f"/api/v1/sessions/{id}/rounds?rounds=1-3",
        "/api/v1/search?q=log+in+please",
        "/search?q=log+in+please",
    ]
    for path in pages:
        status, _, body = served.get(path)
        assert status in (200, 404), path
        plainly = urllib.parse.unquote(body).lower()
        for secret in (SECRET[4:], KEY[13:], _BODY[2]):
            for start in range(len(secret) - 11):
                assert secret[start : start + 12].lower() not in plainly, path


def test_a_secret_of_many_lines_can_be_revealed(serve: Serve, written: Written) -> None:
    """VIEW-12: what the page masks, a click can show; also a private key in a tool's input."""
    id = written.session(
        user("Write the key."), assistant(tool_use("t", "Write", file_path="/k", content=PEM))
    )
    served = serve(written.root, "--no-ingest", settle=False)
    fragment = served.get(f"/session/{id}/blocks/1/1", {"X-Fragment": "1"})[2]
    digest = fragment.split('data-secret="')[1].split('"')[0]
    assert served.json(f"/api/v1/sessions/{id}/rounds/1/secrets/{digest}")["secret"] == PEM


def test_a_secret_in_an_attribute_breaks_no_markup() -> None:
    """VIEW-12: a button stands in text only."""
    text = mark(f"[x](https://h.example/{SECRET}) [y](https://h.example '{SECRET}')")
    html = str(prose(text))
    assert "<a rel=" in html or "<a " in html
    assert '="<button' not in html
    assert "%F4%80" not in html


@pytest.mark.parametrize("place", range(1_380, 1_520, 7))
def test_a_cut_leaves_no_part_of_a_secret(place: int) -> None:
    """VIEW-12: previews are masked before they are cut."""
    text = str(plain(mark("x" * place + " " + SECRET), 1_500))
    assert SECRET[4:12] not in text


@pytest.mark.parametrize("language", ["c++", "markdown", "python", "html"])
def test_a_slow_lexer_is_given_up(language: str) -> None:
    """VIEW-06: no code block occupies the server for seconds."""
    began = time.monotonic()
    code("\n" * 19_000, language)
    assert time.monotonic() - began < 5


def test_other_peoples_cookies_do_not_matter(serve: Serve, examples: Path) -> None:
    """VIEW-01: on localhost every port's cookies are sent along."""
    served = serve(examples, "--host", "0.0.0.0", "--token", "quince", settle=False)
    for cookie in (
        "foo/bar=1; minutebook=quince",
        '{"a": 1}; minutebook=quince',
        "minutebook=quince",
    ):
        assert served.get("/api/v1/status", {"Cookie": cookie})[0] == 200
    assert served.get("/", {"Cookie": "minutebook=wrong; x=quince"})[0] == 401


def test_the_token_leaves_the_address_and_nothing_else(serve: Serve, examples: Path) -> None:
    """VIEW-01: `?q=x&token=…` goes on to `?q=x`, and never to another host."""
    import http.client

    served = serve(examples, "--host", "0.0.0.0", "--token", "quince", settle=False)

    def where(path: str) -> str:
        connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=10)
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer.getheader("location") or ""

    assert where("/search?q=a+b&token=quince") == "/search?q=a+b"
    assert where("//evil.example/?token=quince") == "/evil.example/"


def test_stopping_in_the_middle_of_an_ingest_is_quiet(serve: Serve, written: Written) -> None:
    """Ctrl-C while minutes are taken: no traceback, no process left behind."""
    many_sessions(written)
    served = serve(written.root, settle=False)
    workers = workers_of(served)
    served.process.send_signal(signal.SIGINT)
    served.process.wait(15)
    assert "Traceback" not in served.log.read_text()
    assert "Exception ignored" not in served.log.read_text()
    assert alive(workers) == []


def workers_of(served: Served) -> list[int]:
    """The processes a viewer started to take the minutes; there is one soon."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        found = subprocess.run(
            ["pgrep", "-P", str(served.process.pid), "-f", "spawn_main"],
            capture_output=True,
            text=True,
            check=False,
        )
        if found.stdout.split():
            return [int(pid) for pid in found.stdout.split()]
        time.sleep(0.02)
    raise AssertionError(f"no worker was started: {served.log.read_text()}")


def alive(processes: list[int], seconds: float = 10) -> list[int]:
    """Those that are still there after a while."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        left = [pid for pid in processes if not _is_over(pid)]
        if not left:
            return []
        time.sleep(0.1)
    return left


def _is_over(pid: int) -> bool:
    try:
        return ") Z " in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True


def many_sessions(written: Written) -> None:
    for _ in range(60):
        written.session(*(user(f"Say {n} things about trees. " * 200) for n in range(40)))


def test_a_worker_dies_with_its_server(serve: Serve, written: Written) -> None:
    """A viewer that is killed leaves no process behind, whatever that was doing."""
    many_sessions(written)
    served = serve(written.root, settle=False)
    workers = workers_of(served)
    served.process.kill()
    served.process.wait(10)
    assert alive(workers) == []


def test_a_killed_worker_is_reported_and_can_be_started_again(
    serve: Serve, written: Written
) -> None:
    """VIEW-11: the viewer goes on, says what happened, and the next ingest finishes the job."""
    many_sessions(written)
    served = serve(written.root, settle=False)
    (worker,) = workers_of(served)
    os.kill(worker, signal.SIGKILL)
    deadline = time.monotonic() + 20
    while served.json("/api/v1/status")["progress"] is not None:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    status, _, body = served.get("/api/v1/ingest", {"Origin": served.url}, "POST")
    assert (status, json.loads(body)["started"]) == (202, True)
    served.settle(120)
    assert served.json("/api/v1/stats")["stats"]["sessions"] == 60


@pytest.mark.parametrize("path", ["/api/v1/nope", "/api/v2/stats"])
def test_an_unknown_address_of_the_api_answers_json(
    serve: Serve, written: Written, path: str
) -> None:
    """VIEW-14: programs get what docs/viewer.md promises."""
    written.session(user("hi"))
    served = serve(written.root, "--no-ingest", settle=False)
    status, headers, body = served.get(path)
    assert status == 404
    assert json.loads(body)["problem"]
    assert "content-security-policy" in headers


@pytest.mark.parametrize(
    "path", ["/session/x/parts/" + "9" * 5000, "/session/x/raw/1/" + "9" * 5000]
)
def test_numbers_of_any_length_are_answered(serve: Serve, written: Written, path: str) -> None:
    """VIEW-12: no address makes the server stumble."""
    written.session(user("hi"))
    served = serve(written.root, "--no-ingest", settle=False)
    assert served.get(path)[0] == 404


def test_one_session_can_be_read_by_many_threads(written: Written, tmp_path: Path) -> None:
    """VIEW-03: a session is opened once, and read from several threads."""
    id = written.session(*(user(f"Tree {n}. " * 500) for n in range(150)))
    archive = Archive(tmp_path / "archive", (written.root,))
    inscribe(archive, ended=True)
    session = Archive(tmp_path / "archive").open(id)
    broken: list[BaseException] = []

    def read() -> None:
        try:
            for number in range(1, session.count + 1):
                assert session.round(number).number == number
        except BaseException as error:
            broken.append(error)

    before, session_module._KEPT_BYTES = session_module._KEPT_BYTES, 20_000
    try:
        threads = [threading.Thread(target=read) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        session_module._KEPT_BYTES = before
    assert broken == []


def test_without_a_script_a_link_to_a_round_opens_there(serve: Serve, written: Written) -> None:
    """VIEW-09: the server sees the round too."""
    id = written.session(*(user(f"This is question {n}.") for n in range(1, 200)))
    served = serve(written.root)
    hits = served.get("/search?q=question+150")[2]
    assert "round=" in hits
    assert "This is question 150." in served.get(f"/session/{id}?round=150")[2]
