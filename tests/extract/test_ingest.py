"""Ingesting, end to end: what is asked, what is written, what survives."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from minutebook.derive.skeleton import LIMIT
from minutebook.extract.anthropic import AnthropicExtractor
from minutebook.extract.offline import VERSION, OfflineExtractor
from minutebook.extract.pricing import Budget
from minutebook.extract.secret import Secret
from minutebook.record.database import open_database, rows_of
from minutebook.record.engagements import append_record
from minutebook.record.layout import Layout, SessionFolder
from minutebook.verbs.correct import correct
from minutebook.verbs.ingest import Forecast, Ingestion, IngestReport, ingest
from minutebook.verbs.rebuild import rebuild
from minutebook.verbs.survey import survey
from minutebook.verbs.tag import tag
from tests.archive.conftest import age
from tests.conftest import CORPUS, as_line
from tests.extract.conftest import HIDDEN, WriteSession, archive_at, material, read_records
from tests.extract.stub import Stub, good_reply, serve

SHARED_STUB = CORPUS.parent / "tools" / "anthropic_stub.py"
KEY = "sk-ant-test-THIS-MUST-NEVER-BE-SEEN"


def asking(stub: Stub, **options: Any) -> AnthropicExtractor:
    return AnthropicExtractor(Secret(KEY), base_url=stub.url, retries=0, **options)


def run(config: Path, layout: Layout, extractor: Any = None, **options: Any) -> IngestReport:
    return ingest(archive_at(layout, config), extractor or OfflineExtractor(), **options)


class SharedStub:
    """The stub the requirements name, as a process; its log is what it was asked."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "log"
        ready = folder / "ready"
        command = [sys.executable, str(SHARED_STUB), "--log", str(self.log), "--ready", str(ready)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        while not ready.exists() or not ready.read_text():
            time.sleep(0.02)
        self.url = f"http://127.0.0.1:{ready.read_text().split()[0]}"

    def requests(self) -> list[dict[str, Any]]:
        return [json.loads(path.read_text()) for path in sorted(self.log.glob("*.json"))]


@pytest.fixture
def shared_stub(tmp_path: Path) -> Iterator[SharedStub]:
    if not SHARED_STUB.exists():
        pytest.skip(f"needs the shared stub: none at {SHARED_STUB}")
    stub = SharedStub(tmp_path)
    yield stub
    stub.process.kill()
    stub.process.wait()


def cli(*args: object, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "minutebook", *map(str, args)],
        capture_output=True,
        text=True,
        env={**os.environ, **env},
        check=False,
    )


def test_one_call_a_session_none_for_ghosts(
    config: Path, layout: Layout, write_session: WriteSession, shared_stub: SharedStub
) -> None:
    """ING-05, ING-06, ING-09: ten sessions, four of them ghosts: exactly six calls, through
    the real SDK; two messages make a ghost and three do not; the key is nowhere."""
    for number, prompts in enumerate((1, 2, 2, 2, 3, 3, 4, 5, 6, 7)):
        write_session(f"session-{number}", prompts)
    env = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": shared_stub.url}
    done = cli("ingest", "--root", config, "--archive", layout.root, "--yes", env=env)
    assert done.returncode == 0, done.stderr
    requests = shared_stub.requests()
    assert len(requests) == 6
    assert all(request["path"].startswith("/v1/messages") for request in requests)
    records = read_records(layout)
    assert sorted(record.user_messages for record in records.values() if record.ghost) == [
        1,
        2,
        2,
        2,
    ]
    assert not any(record.engagements for record in records.values() if record.ghost)
    told = [record for record in records.values() if not record.ghost]
    assert [len(record.engagements) for record in told] == [1] * 6
    assert {record.extractor for record in told} == {"anthropic"}
    assert "6 calls" in done.stdout and "to http" in done.stderr
    _key_is_nowhere(layout.root, done.stdout + done.stderr)


def _key_is_nowhere(folder: Path, said: str) -> None:
    assert KEY not in said
    for path in folder.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes()


def test_only_words_are_sent(
    config: Path, layout: Layout, write_session: WriteSession, stub: Stub
) -> None:
    """ING-02, NFR-01: no tool call, result or thought is ever in a request; what was said is."""
    write_session("alpha", 3)
    run(config, layout, asking(stub))
    (request,) = stub.requests
    body = json.dumps(request)
    assert HIDDEN not in body
    assert "alpha: request number 2" in body and "Done." in body
    assert request["output_config"]["format"]["type"] == "json_schema"
    assert request["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert "thinking" not in request["messages"][0]["content"]


@pytest.mark.parametrize(("length", "truncated"), [(LIMIT, False), (LIMIT + 1, True)])
def test_truncation_boundary(
    config: Path,
    layout: Layout,
    write_session: WriteSession,
    stub: Stub,
    length: int,
    truncated: bool,
) -> None:
    """ING-07, ING-08: 100,000 characters are sent whole, one more is shortened and said so."""
    path = write_session("long", 3)
    short = material(path).chars
    write_session("long", 3, say="x" * ((length - short) // 3 + len("Done.")))
    missing = length - material(path).chars
    text = path.read_text().replace("request number 1", "request number 1" + "y" * missing)
    path.write_text(text)
    assert material(path).chars == length
    run(config, layout, asking(stub))
    (record,) = read_records(layout).values()
    assert record.truncated is truncated
    sent = stub.requests[0]["messages"][0]["content"]
    assert ("characters left out here" in sent) is truncated
    assert len(sent) < LIMIT + 2_000


def test_nothing_is_asked_twice(
    config: Path, layout: Layout, write_session: WriteSession, stub: Stub
) -> None:
    """ING-21, ING-25: a second run asks nothing and adds no line; a grown session is asked
    about once more; `--again` asks for all."""
    paths = [write_session(f"session-{number}", 4) for number in range(3)]
    run(config, layout, asking(stub))
    assert len(stub.requests) == 3
    before = layout.engagements.read_bytes()
    report = run(config, layout, asking(stub))
    assert (report.calls, report.unchanged, len(stub.requests)) == (0, 3, 3)
    assert layout.engagements.read_bytes() == before
    write_session("session-1", 5)
    assert run(config, layout, asking(stub)).calls == 1
    assert len(layout.engagements.read_bytes().splitlines()) == 3
    for path in paths:
        os.utime(path)
    assert run(config, layout, asking(stub)).calls == 0, "touched, but the same words"
    assert run(config, layout, asking(stub), again=True).calls == 3


def test_a_model_replaces_rules_and_never_the_other_way(
    config: Path, layout: Layout, write_session: WriteSession, stub: Stub
) -> None:
    """ING-25, ING-32: offline records are labelled, improved by a model later, and not with
    `--skip-existing`; rules do not overwrite what a model said of an unchanged session."""
    write_session("alpha", 4)
    run(config, layout)
    (record,) = read_records(layout).values()
    assert (record.extractor, record.prompt_version) == ("offline", VERSION)
    assert run(config, layout, asking(stub), skip_existing=True).calls == 0
    assert run(config, layout, asking(stub)).calls == 1
    run(config, layout)
    (record,) = read_records(layout).values()
    assert record.extractor == "anthropic"


def test_rules_keep_what_a_model_said_of_a_touched_or_failed_session(
    config: Path, layout: Layout, write_session: WriteSession, stub: Stub
) -> None:
    """A paid record survives a touched, a moved and a once failed session without a key."""
    path = write_session("alpha", 4)
    run(config, layout, asking(stub))
    os.utime(path)
    report = run(config, layout)
    assert (report.ingested, _extractors(layout)) == (0, ["anthropic"])
    elsewhere = path.parent.with_name("-home-mara-moved")
    elsewhere.mkdir()
    path.rename(elsewhere / path.name)
    run(config, layout)
    assert _extractors(layout) == ["anthropic"]
    with serve(lambda *_: "no") as broken:
        assert run(config, layout, asking(broken), again=True).failures
    run(config, layout)
    (record,) = read_records(layout).values()
    assert (record.extractor, record.failure) == ("anthropic", None)


def test_rules_only_describe_what_a_model_has_not_seen(
    config: Path, layout: Layout, write_session: WriteSession
) -> None:
    """ING-32: a grown session keeps what was paid for; rules add the new rounds, growth after
    growth, and a model is asked about the whole when there is a key again."""
    with serve(lambda *_: good_reply((1, 4))) as stub:
        write_session("alpha", 4)
        run(config, layout, asking(stub))
        (before,) = read_records(layout).values()
        for rounds in (6, 8):
            write_session("alpha", rounds)
            run(config, layout)
            (record,) = read_records(layout).values()
            assert record.engagements[0] == before.engagements[0]
            assert record.engagements[1].turn_range[0] == 5
            assert record.engagements[-1].turn_range[1] == rounds
            assert (record.modelled, record.cost_usd) == (4, before.cost_usd)
            assert len({e.id for e in record.engagements}) == len(record.engagements)
        assert run(config, layout, asking(stub)).calls == 1


def test_new_rounds_are_not_called_by_the_title_of_all(
    config: Path, layout: Layout, write_session: WriteSession
) -> None:
    """UND-02, UND-06: the title a session had before it grew does not name what came after; the
    session keeps it."""
    title = {"type": "ai-title", "aiTitle": "Prune the oldest pear trees of the orchard"}
    with serve(lambda *_: good_reply((1, 4))) as stub:
        for rounds in (4, 6):
            path = write_session("alpha", rounds, words="for the new harvest calendar page")
            path.write_bytes(path.read_bytes() + as_line({**title, "sessionId": path.stem}) + b"\n")
            run(config, layout, asking(stub) if rounds == 4 else None)
    (record,) = read_records(layout).values()
    assert record.title == title["aiTitle"]
    assert "pear" not in record.engagements[-1].topic


def test_a_session_without_rounds_is_a_ghost(config: Path, layout: Layout) -> None:
    """ING-05: whatever the thresholds are, nothing is labelled where nothing was said."""
    path = (
        config / "projects" / "-home-mara-orchard" / f"{'e' * 8}-2222-4333-8444-555555555555.jsonl"
    )
    path.write_bytes(as_line({"type": "ai-title", "aiTitle": "Nothing", "sessionId": path.stem}))
    settings = {"version": 1, "ghost_prompts": 0, "ghost_calls": 0, "ghost_chars": 0}
    layout.root.mkdir(parents=True, exist_ok=True)
    layout.settings.write_text(json.dumps(settings))
    report = run(config, layout)
    assert (report.ghosts, report.engagements) == (1, 0)


def test_records_are_written_while_others_are_read(
    config: Path, layout: Layout, write_session: WriteSession
) -> None:
    """VIEW-02: whoever looks sees the index grow during the first ingest."""
    for number in range(5):
        write_session(f"session-{number}", 4)
    with Ingestion(archive_at(layout, config), OfflineExtractor()) as running:
        counts = [len(read_records(layout)) for _ in running.read()]
        running.finish()
    assert counts == sorted(counts)
    assert 0 < counts[-1] < 5 or counts[1] > 0


def _extractors(layout: Layout) -> list[str | None]:
    return [record.extractor for record in read_records(layout).values()]


def test_two_files_with_one_id_are_one_session(
    config: Path, layout: Layout, write_session: WriteSession
) -> None:
    """The file that is inscribed counts; the other is named, and nothing is done twice."""
    path = write_session("alpha", 4)
    other = config / "projects" / "-elsewhere"
    other.mkdir()
    (other / path.name).write_bytes(path.read_bytes()[:-1000])
    assert run(config, layout).ingested == 1
    assert run(config, layout).ingested == 0
    sessions = survey(archive_at(layout, config), OfflineExtractor())
    assert [item.due for item in sessions] == [False]


@pytest.mark.parametrize("answer", ["<html>", [], {}, {"content": None}, {"type": "message"}])
def test_a_reply_that_is_no_message_is_a_failure(
    config: Path, layout: Layout, write_session: WriteSession, answer: Any
) -> None:
    """A captive portal, a gateway's own JSON: the session fails, the run goes on."""
    write_session("alpha", 3)
    write_session("beta", 3)
    with serve(lambda *_: good_reply((1, 3))) as stub:
        stub.raw = answer
        report = run(config, layout, asking(stub))
    assert [failure.reason for failure in report.failures] == [
        f"{stub.url} answered something that is not a message"
    ] * 2


def test_what_failures_cost_is_reported(
    config: Path, layout: Layout, write_session: WriteSession
) -> None:
    """ING-30: calls, tokens and cost of replies nobody could use are counted too."""
    write_session("alpha", 3)
    with serve(lambda *_: "no") as stub:
        report = run(config, layout, asking(stub))
    assert (report.calls, len(stub.requests)) == (3, 3)
    assert report.usage.output == 600 and report.cost_usd > 0


def test_a_second_ctrl_c_does_not_wait(
    config: Path, layout: Layout, write_session: WriteSession
) -> None:
    """The first lets calls finish, the second ends at once; either way status 130."""
    for number in range(4):
        write_session(f"session-{number}", 3)
    over = threading.Event()

    def slowly(*_: object) -> Any:
        over.wait(60)
        return good_reply((1, 3))

    with serve(slowly) as stub:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "minutebook", "ingest"),
                *("--root", str(config), "--archive", str(layout.root)),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**os.environ, "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": stub.url},
        )
        while len(stub.requests) < 2:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        assert process.poll() is None, "it waits for the calls under way"
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=10)
        over.set()
    assert process.returncode == 130


def test_a_changed_prompt_extracts_again(
    config: Path, layout: Layout, write_session: WriteSession, stub: Stub
) -> None:
    """The prompt's version is stored with each record, and another one asks again."""
    write_session("alpha", 3)
    first = asking(stub)
    run(config, layout, first)
    (record,) = read_records(layout).values()
    assert record.prompt_version == first.version
    changed = asking(stub)
    changed.version = "another"
    assert run(config, layout, changed).calls == 1


def test_killed_midway_asks_no_finished_session_again(
    config: Path, layout: Layout, write_session: WriteSession
) -> None:
    """ING-31: kill -9 in the middle of the calls, run again: no finished session is asked
    about again, and the end is that of a run nobody killed."""
    for number in range(8):
        write_session(f"session-{number}", 3)

    over = threading.Event()

    def slowly(_body: dict[str, Any], number: int) -> Any:
        if number > 4:
            over.wait(60)
        return good_reply((1, 3))

    env = {**os.environ, "ANTHROPIC_API_KEY": KEY}
    with serve(slowly) as stub:
        arguments = ["ingest", "--root", config, "--archive", layout.root, "--concurrency", "2"]
        process = subprocess.Popen(
            [sys.executable, "-m", "minutebook", *map(str, arguments)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**env, "ANTHROPIC_BASE_URL": stub.url},
        )
        deadline = time.monotonic() + 30
        while len(read_records(layout)) < 3 and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        process.wait()
        over.set()
    finished = {id: record for id, record in read_records(layout).items() if record.engagements}
    assert 3 <= len(finished) <= 4
    with serve(lambda *_: good_reply((1, 2))) as stub:
        report = run(config, layout, asking(stub))
    assert report.calls == len(stub.requests) == 8 - len(finished)
    after = read_records(layout)
    assert {id: after[id] for id in finished} == finished
    assert len(layout.engagements.read_bytes().splitlines()) == 8
    assert layout.engagements_index.read_text().count("  - in [") == 8
    with open_database(layout.database) as database:
        for id in finished:
            assert all(row.engagement_id for row in rows_of(database, id))


def test_dry_run_opens_no_socket_and_writes_nothing(
    config: Path,
    layout: Layout,
    write_session: WriteSession,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """ING-27: sizes, ghosts, calls and cost without a key, a socket or a file."""
    write_session("ghost", 2)
    write_session("real", 5)
    monkeypatch.setattr(socket, "socket", _no_socket)
    sessions = survey(archive_at(layout, config), AnthropicExtractor(Secret("")))
    assert [(item.user_messages, item.ghost, item.due) for item in sessions] == [
        (5, False, True),
        (2, True, True),
    ]
    assert sessions[0].cost_usd and sessions[0].sent > sessions[0].chars > 100
    assert not layout.root.exists()


def _no_socket(*_: object, **__: object) -> None:
    raise AssertionError("a socket was opened")


def test_dry_run_on_the_command_line(
    config: Path, layout: Layout, write_session: WriteSession
) -> None:
    """ING-27: without a key, and nothing is there afterwards."""
    write_session("real", 5)
    done = cli("ingest", "--root", config, "--archive", layout.root, "--dry-run", env={})
    assert done.returncode == 0, done.stderr
    assert "1 session: 1 to send." in done.stdout and "nothing was sent" in done.stdout
    assert not layout.root.exists()


def test_offline_opens_no_socket(
    config: Path, layout: Layout, write_session: WriteSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NFR-01, invariant 8: nothing leaves the machine unless a model was chosen."""
    write_session("real", 5)
    monkeypatch.setattr(socket, "socket", _no_socket)
    assert run(config, layout).ingested == 1


def test_max_cost_is_never_crossed(
    config: Path, layout: Layout, write_session: WriteSession, stub: Stub
) -> None:
    """`--max-cost` stops before it is crossed, however many calls fly at once; the next run
    goes on."""
    for number in range(12):
        write_session(f"session-{number}", 3)
    limit = 0.10
    report = run(config, layout, asking(stub, budget=Budget(limit)), concurrency=8)
    assert 0 < report.calls < 12
    assert report.cost_usd <= limit
    assert report.left == 12 - report.calls
    assert report.stopped is not None and "cost limit" in report.stopped
    assert run(config, layout, asking(stub)).calls == 12 - report.calls


def test_a_budget_too_small_for_one_call(
    config: Path, layout: Layout, write_session: WriteSession, stub: Stub
) -> None:
    """With nothing to spend nothing is asked."""
    write_session("alpha", 3)
    report = run(config, layout, asking(stub, budget=Budget(0.0)))
    assert (report.calls, report.left, stub.requests) == (0, 1, [])


def test_it_says_what_will_be_sent_and_can_be_refused(
    config: Path, layout: Layout, write_session: WriteSession, stub: Stub
) -> None:
    """NFR-01: how many calls, how much text, to whom and for how much, before the first."""
    write_session("alpha", 3)
    heard: list[Forecast] = []

    def no(forecast: Forecast) -> bool:
        assert not stub.requests
        heard.append(forecast)
        return False

    report = run(config, layout, asking(stub), confirm=no)
    assert stub.requests == [] and report.left == 1
    assert (heard[0].calls, heard[0].destination) == (1, stub.url)
    assert heard[0].chars > 100 and heard[0].cost_usd


def test_every_character_that_is_sent_is_counted(
    config: Path, layout: Layout, write_session: WriteSession, stub: Stub
) -> None:
    """NFR-01, ING-27: facts and what was done count, too; a dry run says the same number."""
    write_session("alpha", 3)
    surveyed = survey(archive_at(layout, config), asking(stub))
    report = run(config, layout, asking(stub))
    (request,) = stub.requests
    sent = len(request["messages"][0]["content"])
    assert (report.forecast.chars, [item.sent for item in surveyed]) == (sent, [sent])


def test_every_kind_of_fact_that_is_sent_is_named(
    config: Path, layout: Layout, write_session: WriteSession, stub: Stub
) -> None:
    """NFR-01: each line of the facts has its word in the note before sending."""
    write_session("alpha", 3)
    env = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": stub.url}
    done = cli("ingest", "--root", config, "--archive", layout.root, "--yes", env=env)
    facts = stub.requests[0]["messages"][0]["content"].split("</facts>")[0].splitlines()[1:]
    words = {"project": "folder", "branch": "branch", "started": "times", "ended": "times"}
    words |= {"title": "title", "pull requests": "pull request links", "rounds": "counts"}
    for fact in facts:
        assert words[fact.split(":")[0]] in done.stderr


def test_one_failure_never_stops_the_others(
    config: Path, layout: Layout, write_session: WriteSession
) -> None:
    """ING-19: a session whose reply is useless is a failure with a reason; the next run tries
    it, and only it, again."""
    for name in ("alpha", "beta", "gamma"):
        write_session(name, 3)

    def grumpy(body: dict[str, Any], _number: int) -> Any:
        return "no" if "beta" in json.dumps(body) else good_reply((1, 3))

    with serve(grumpy) as stub:
        report = run(config, layout, asking(stub))
        assert [failure.reason for failure in report.failures] == [
            "the reply could not be used, 3 times: it is not JSON"
        ]
        assert len(stub.requests) == 2 + 3
    failed = [record for record in read_records(layout).values() if record.failure]
    assert len(failed) == 1 and not failed[0].engagements
    with serve(lambda *_: good_reply((1, 3))) as stub:
        assert run(config, layout, asking(stub)).calls == 1
    assert not [record for record in read_records(layout).values() if record.failure]


def test_a_failure_keeps_what_was_known(
    config: Path, layout: Layout, write_session: WriteSession, stub: Stub
) -> None:
    """A grown session that fails keeps its earlier engagements, and is tried again."""
    write_session("alpha", 3)
    run(config, layout, asking(stub))
    write_session("alpha", 4)
    with serve(lambda *_: "no") as broken:
        run(config, layout, asking(broken))
    (record,) = read_records(layout).values()
    assert record.failure and len(record.engagements) == 1
    assert run(config, layout, asking(stub)).calls == 1


def test_a_wrong_key_ends_the_run_at_once(
    config: Path, layout: Layout, write_session: WriteSession
) -> None:
    """A refused key is said once, and no further session is asked about."""
    for number in range(6):
        write_session(f"session-{number}", 3)
    with serve(lambda *_: 401) as stub:
        report = run(config, layout, asking(stub), concurrency=1)
    assert len(stub.requests) == 1 and report.left == 6
    assert report.stopped is not None and "does not accept the key" in report.stopped


def test_a_service_that_is_down_ends_the_run(
    config: Path, layout: Layout, write_session: WriteSession
) -> None:
    """529 for minutes: after three sessions in a row the run stops asking, and says so."""
    for number in range(6):
        write_session(f"session-{number}", 3)
    with serve(lambda *_: 529) as stub:
        report = run(config, layout, asking(stub), concurrency=1)
    assert len(stub.requests) == 3 and len(report.failures) == 3 and report.left == 3
    assert report.stopped is not None and "overloaded" in report.stopped


def test_no_network(config: Path, layout: Layout, write_session: WriteSession) -> None:
    """Nobody listens: one clear sentence, and the sessions are inscribed all the same."""
    path = write_session("alpha", 3)
    age(path)
    extractor = AnthropicExtractor(Secret(KEY), base_url="http://127.0.0.1:9", retries=0)
    report = run(config, layout, extractor)
    assert report.stopped == "Anthropic cannot be reached: check the network and the address"
    assert report.inscribed.count("new") == 1


def test_ctrl_c_writes_what_is_in_flight(
    config: Path, layout: Layout, write_session: WriteSession
) -> None:
    """ING-31: Ctrl-C finishes what is under way, writes it, and says how to go on."""
    for number in range(6):
        write_session(f"session-{number}", 3)

    def slowly(*_: object) -> Any:
        time.sleep(1.0)
        return good_reply((1, 3))

    with serve(slowly) as stub:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "minutebook", "ingest", "--concurrency", "2"),
                *("--root", str(config), "--archive", str(layout.root)),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": stub.url},
        )
        while not stub.requests:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "run the same command again to go on" in err
    assert 1 <= len(read_records(layout)) == len(stub.requests) <= 2
    assert "left for the next run" in out and "unchanged" not in out


def test_rounds_are_tagged_in_both_databases(
    config: Path, layout: Layout, write_session: WriteSession
) -> None:
    """DB-07: engagements are in ``session.db`` and ``sessions.db``; a person's tag wins; a
    rebuild from nothing gives the same rows."""
    path = write_session("alpha", 6)
    age(path)
    with serve(lambda *_: good_reply((1, 2), (3, 6))) as stub:
        run(config, layout, asking(stub))
    (record,) = read_records(layout).values()
    first, second = (engagement.id for engagement in record.engagements)
    assert (first, second) == ("fix-the-login-redirect-of-orchard",) * 1 + (f"{first}-2",)
    tag(archive_at(layout), path.stem, "6", "by-hand")
    expected = [first, first, second, second, second, "by-hand"]
    folder = SessionFolder(layout.folder("claude", path.stem))

    def tags() -> list[list[str | None]]:
        seen = []
        for file in (layout.database, folder.database):
            with open_database(file) as database:
                seen.append([row.engagement_id for row in rows_of(database, path.stem)])
        return seen

    assert tags() == [expected, expected]
    layout.database.unlink()
    folder.database.unlink()
    rebuild(archive_at(layout))
    assert tags() == [expected, expected]
    assert "by-hand" in folder.index.read_text()


def test_corrections_win_over_later_extraction(
    config: Path, layout: Layout, write_session: WriteSession
) -> None:
    """ING-33: what a person set stays set, even where the next extraction cuts differently."""
    path = write_session("alpha", 6)
    age(path)
    with serve(lambda *_: good_reply((1, 2), (3, 6))) as stub:
        run(config, layout, asking(stub))
        first = read_records(layout)[path.stem].engagements[0].id
        correct(archive_at(layout), path.stem[:8], first, "topic=Login redirects, by my own words")
        correct(archive_at(layout), path.stem[:8], "5", "method=review")
    with serve(lambda *_: good_reply((1, 3), (4, 6), topic="Something else entirely")) as stub:
        run(config, layout, asking(stub), again=True)
    one, two = read_records(layout)[path.stem].engagements
    assert (one.topic, one.method) == ("Login redirects, by my own words", "debug")
    assert (two.topic, two.method) == ("Something else entirely", "review")
    assert "by my own words" in layout.engagements_index.read_text()


def test_a_corrected_range_moves_its_neighbours(
    config: Path, layout: Layout, write_session: WriteSession
) -> None:
    """A range a person sets is theirs; the others make room, and times follow."""
    path = write_session("alpha", 6)
    age(path)
    with serve(lambda *_: good_reply((1, 2), (3, 6))) as stub:
        run(config, layout, asking(stub))
    before = read_records(layout)[path.stem].engagements
    correct(archive_at(layout), path.stem, before[0].id, "turn_range=1-4")
    one, two = read_records(layout)[path.stem].engagements
    assert (one.turn_range, two.turn_range) == ((1, 4), (5, 6))
    assert two.started is not None and one.ended is not None and two.started > one.ended
    with open_database(layout.database) as database:
        tags = [row.engagement_id for row in rows_of(database, path.stem)]
    assert tags == [one.id] * 4 + [two.id] * 2


def test_every_round_stays_in_an_engagement(
    config: Path, layout: Layout, write_session: WriteSession
) -> None:
    """A range set by hand gives rounds to its neighbours, and never loses them: not when it
    shrinks, not when it is moved, not when the session grows behind it."""

    def covered() -> list[int]:
        record = read_records(layout)[path.stem]
        return [
            number
            for part in record.engagements
            for number in range(part.turn_range[0], part.turn_range[1] + 1)
        ]

    path = write_session("alpha", 6)
    age(path)
    with serve(lambda *_: good_reply((1, 2), (3, 4), (5, 6))) as stub:
        run(config, layout, asking(stub))
        ids = [e.id for e in read_records(layout)[path.stem].engagements]
        for engagement, rounds in ((ids[1], "3-3"), (ids[2], "2-3"), (ids[0], "1-1")):
            correct(archive_at(layout), path.stem, engagement, f"turn_range={rounds}")
            assert covered() == [1, 2, 3, 4, 5, 6]
    write_session("alpha", 9)
    with serve(lambda *_: good_reply((1, 9))) as stub:
        run(config, layout, asking(stub))
    assert covered() == list(range(1, 10))


def test_files_edited_by_hand_do_no_harm(
    config: Path, layout: Layout, write_session: WriteSession
) -> None:
    """Corrections that make no sense are passed over; huge numbers reach no database; what a
    newer version wrote stays."""
    path = write_session("alpha", 6)
    age(path)
    run(config, layout)
    (record,) = read_records(layout).values()
    id = record.engagements[0].id
    wrong: list[tuple[str, Any]] = [
        ("method", "zzz"),
        ("turn_range", [1, 99999]),
        ("turn_range", ["a"]),
        ("key_decisions", "x"),
        ("id", "other"),
    ]
    for field, value in wrong:
        line = {"session_id": path.stem, "engagement_id": id, "turn_range": [1, 6]}
        with layout.corrections.open("a") as file:
            file.write(json.dumps({**line, "field": field, "value": value}) + "\nnonsense\n")
    run(config, layout, again=True)
    (after,) = read_records(layout).values()
    assert after.engagements == record.engagements
    text = layout.engagements.read_text().replace("[1,6]", f"[1,{10**30}]")
    future = '{"session_id": "future", "rounds": "many", "shape": "unknown"}'
    layout.engagements.write_text(text.replace('"source":', '"news":1,"source":') + future + "\n")
    write_session("beta", 3)
    run(config, layout)
    assert future in layout.engagements.read_text()
    assert '"news":1' in layout.engagements.read_text()


def test_ids_stay_when_a_session_grows(
    config: Path, layout: Layout, write_session: WriteSession
) -> None:
    """An engagement that begins where one began before keeps its id, whatever its topic."""
    write_session("alpha", 4)
    with serve(lambda *_: good_reply((1, 2), (3, 4))) as stub:
        run(config, layout, asking(stub))
    (record,) = read_records(layout).values()
    before = [engagement.id for engagement in record.engagements]
    write_session("alpha", 6)
    with serve(lambda *_: good_reply((1, 2), (3, 5), (6, 6), topic="Another wording")) as stub:
        run(config, layout, asking(stub))
    (record,) = read_records(layout).values()
    assert [engagement.id for engagement in record.engagements] == [*before, "another-wording"]


def test_the_last_record_of_a_session_counts(
    config: Path, layout: Layout, write_session: WriteSession
) -> None:
    """ING-20, ING-21: a run appends, readers take the last; torn lines are passed over."""
    write_session("alpha", 3)
    run(config, layout)
    (record,) = read_records(layout).values()
    layout.engagements.write_bytes(layout.engagements.read_bytes() + b'{"session_id": "ha')
    append_record(layout, record)
    append_record(layout, record)
    assert list(read_records(layout)) == [record.session_id]
    run(config, layout)
    assert len(layout.engagements.read_bytes().splitlines()) == 1, "compacted by the next run"


def test_the_index_is_a_page_to_read(
    config: Path, layout: Layout, write_session: WriteSession
) -> None:
    """ING-22: date, session, engagements, links that lead somewhere; hostile words inert."""
    path = write_session("alpha", 3)
    age(path)
    topic = "<script>alert(1)</script> [click](javascript:x) | `code`"
    with serve(lambda *_: good_reply((1, 3), topic=topic)) as stub:
        run(config, layout, asking(stub))
    page = layout.engagements_index.read_text()
    assert page.startswith("# Engagements\n\n1 engagement in 1 session, 2026-03-02")
    assert "## 2026-03-02" in page
    assert f"](claude/{path.stem}.md)" in page
    assert (layout.sessions / "claude" / f"{path.stem}.md").exists()
    assert "<script>" not in page and "\\[click\\](javascript:x)" in page
    assert "decided: Keep the old route for a release." in page


def test_a_running_session_is_ingested_whole(
    config: Path, layout: Layout, write_session: WriteSession, stub: Stub
) -> None:
    """The last round of a young file waits in the inscription, and is not left out here."""
    write_session("alpha", 3)
    report = run(config, layout, asking(stub))
    assert report.inscribed.sessions[0].waiting == 1
    (record,) = read_records(layout).values()
    assert (record.rounds, record.user_messages, record.ghost) == (3, 3, False)


def test_records_say_who_and_what(
    config: Path, layout: Layout, write_session: WriteSession
) -> None:
    """ING-03, ING-18, ID-09: metadata, usage, cost; a guessed name is kept apart."""
    path = write_session("alpha", 3)
    reply = {**good_reply((1, 3)), "agent_name": "Reed", "agent_role": "gardener"}
    with serve(lambda *_: reply) as stub:
        run(config, layout, asking(stub))
    (record,) = read_records(layout).values()
    assert (record.agent_name, record.agent_name_guess) == (None, "Reed")
    assert (record.cwd, record.project, record.git_branch) == (
        "/home/mara/orchard",
        "orchard",
        "main",
    )
    assert record.version == "2.1.210" and record.model == "claude-sonnet-4-5"
    assert record.usage is not None and record.usage.input == 1000
    assert record.cost_usd == pytest.approx((1000 * 2 + 200 * 10 + 500 * 0.1) / 1e6)
    assert record.origin is not None and record.origin.path == str(path)
    assert record.extractor_model == "claude-sonnet-5-5"
