"""The other ways to ask a model: OpenAI-compatible endpoints, the user's CLI, batches."""

from __future__ import annotations

import json
import os
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from minutebook.cli.remedies import worded
from minutebook.errors import BadArgument
from minutebook.extract import batches
from minutebook.extract.anthropic import AnthropicExtractor
from minutebook.extract.choose import choose_extractor
from minutebook.extract.claude_cli import ClaudeCliExtractor
from minutebook.extract.extractor import Failed, OverBudget, Refused
from minutebook.extract.openai import OpenAIExtractor
from minutebook.extract.pricing import Budget, price_of
from minutebook.extract.secret import Secret
from minutebook.model import Usage
from minutebook.record.layout import Layout
from minutebook.verbs.ingest import ingest
from tests.extract.conftest import WriteSession, archive_at, material, read_records
from tests.extract.stub import Stub, good_reply, serve
from tests.extract.test_ingest import SharedStub, cli, shared_stub

__all__ = ["shared_stub"]


# -- OpenAI-compatible endpoints


def test_openai_asks_with_the_schema(write_session: WriteSession, stub: Stub) -> None:
    """A base URL and a model are enough; the reply is held to the same schema."""
    extractor = OpenAIExtractor(f"{stub.url}/v1/", "llama", Secret("local-key"))
    with closing(extractor):
        extraction = extractor.extract(material(write_session("alpha", 3)))
    assert stub.paths == ["/v1/chat/completions"]
    assert stub.requests[0]["response_format"]["json_schema"]["strict"] is True
    assert stub.headers[0]["authorization"] == "Bearer local-key"
    assert (extraction.model, extraction.spent.usage) == ("local", Usage(900, 100))
    assert extraction.reply.engagements[0].turn_range == [1, 1]


def test_openai_sends_a_bad_reply_back(write_session: WriteSession) -> None:
    """Small models break schemas: they are told what is wrong, twice."""
    answers: list[Any] = ["hm", good_reply((9, 9)), good_reply((1, 3))]
    with (
        serve(lambda _body, number: answers[number - 1]) as stub,
        closing(OpenAIExtractor(stub.url, "m")) as extractor,
    ):
        extraction = extractor.extract(material(write_session("alpha", 3)))
    assert len(stub.requests) == 3 and extraction.spent.usage.input == 2700
    assert "outside the rounds 1 to 3" in stub.requests[2]["messages"][-1]["content"]


@pytest.mark.parametrize(("status", "error"), [(401, Refused), (404, Refused), (503, Failed)])
def test_openai_errors(write_session: WriteSession, status: int, error: type[Exception]) -> None:
    """A wrong key or address ends the run; a service in trouble only costs the session."""
    with serve(lambda *_: status) as stub:
        extractor = OpenAIExtractor(stub.url, "m", Secret("key"), retries=0)
        with closing(extractor), pytest.raises(error, match=str(status)):
            extractor.extract(material(write_session("alpha", 3)))


def test_openai_nobody_there(write_session: WriteSession) -> None:
    extractor = OpenAIExtractor("http://127.0.0.1:9", "m")
    with closing(extractor), pytest.raises(Refused, match="cannot be reached"):
        extractor.extract(material(write_session("alpha", 3)))
    with pytest.raises(BadArgument, match="OPENAI_BASE_URL") as refused:
        choose_extractor("openai", model="m")
    assert "--base-url" in worded(refused.value)


def test_a_key_of_one_is_never_sent_to_another(
    own_home: Path, write_session: WriteSession, stub: Stub
) -> None:
    """A bare Anthropic key in ~/.secrets stays at home when an OpenAI endpoint is asked."""
    (own_home / ".secrets").write_text("sk-ant-api03-MINE\n")
    extractor = choose_extractor("openai", model="m", base_url=stub.url)
    with closing(extractor):
        extractor.extract(material(write_session("alpha", 3)))
    assert "authorization" not in {name.lower() for name in stub.headers[0]}


# -- the user's own claude

FAKE = """#!/usr/bin/env python3
import json, os, sys
log = os.environ["FAKE_LOG"]
call = {"argv": sys.argv[1:], "stdin": sys.stdin.read(), "cwd": os.listdir(".")}
open(log, "a").write(json.dumps(call) + "\\n")
print(os.environ["FAKE_ANSWER"])
sys.exit(int(os.environ.get("FAKE_STATUS", "0")))
"""


@pytest.fixture
def fake_claude(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that answers as the CLI does, and writes down how it was called."""
    program = tmp_path / "claude"
    program.write_text(FAKE)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("CLAUDE_BIN", str(program))
    monkeypatch.setenv("FAKE_LOG", str(tmp_path / "calls.jsonl"))
    return tmp_path / "calls.jsonl"


def cli_answer(reply: Any, **fields: Any) -> str:
    usage = {"input_tokens": 50, "output_tokens": 5, "cache_creation_input_tokens": 2000}
    answer = {"subtype": "success", "is_error": False, "structured_output": reply, "usage": usage}
    return json.dumps({**answer, "total_cost_usd": 0.01, "modelUsage": {"claude-x": {}}, **fields})


def test_claude_cli_leaves_nothing_behind(
    write_session: WriteSession, fake_claude: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In an empty folder, without tools, hooks, MCP, commands or a session that stays."""
    monkeypatch.setenv("FAKE_ANSWER", cli_answer(good_reply((1, 3))))
    extraction = ClaudeCliExtractor().extract(material(write_session("alpha", 3)))
    (call,) = [json.loads(line) for line in fake_claude.read_text().splitlines()]
    for flag in ("-p", "--safe-mode", "--strict-mcp-config", "--no-session-persistence"):
        assert flag in call["argv"]
    assert call["argv"][call["argv"].index("--tools") + 1] == ""
    assert call["cwd"] == [] and "alpha: request number 1" in call["stdin"]
    assert (extraction.model, extraction.spent.cost_usd) == ("claude-x", 0.01)
    assert extraction.spent.usage == Usage(50, 5, 0, 2000)


@pytest.mark.parametrize(
    ("answer", "status", "error", "reason"),
    [
        ("not json", "1", Refused, "claude failed"),
        (
            cli_answer(None, is_error=True, result="Invalid API key · Please run /login"),
            "1",
            Refused,
            "not logged in",
        ),
        (cli_answer(None, is_error=True, result="529 overloaded"), "0", Failed, "529"),
        (cli_answer(None), "0", Failed, "no structured output"),
        (cli_answer(good_reply((5, 9))), "0", Failed, "outside the rounds"),
    ],
)
def test_claude_cli_failures(
    write_session: WriteSession,
    fake_claude: Path,
    monkeypatch: pytest.MonkeyPatch,
    answer: str,
    status: str,
    error: type[Exception],
    reason: str,
) -> None:
    """`subtype` is "success" even of errors: status, `is_error` and the reply itself decide."""
    monkeypatch.setenv("FAKE_ANSWER", answer)
    monkeypatch.setenv("FAKE_STATUS", status)
    with pytest.raises(error, match=reason):
        ClaudeCliExtractor().extract(material(write_session("alpha", 3)))
    assert fake_claude.exists()


def test_claude_cli_is_told_what_is_wrong(
    write_session: WriteSession, fake_claude: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ING-19: every call is a session of its own, so the second one holds the question, the
    answer and what is wrong with it; there is no third."""
    monkeypatch.setenv("FAKE_ANSWER", cli_answer(good_reply((5, 9))))
    with pytest.raises(Failed, match="2 times") as error:
        ClaudeCliExtractor().extract(material(write_session("alpha", 3)))
    first, second = [json.loads(line)["stdin"] for line in fake_claude.read_text().splitlines()]
    assert second.startswith(first) and "outside the rounds 1 to 3" in second[len(first) :]
    assert '"turn_range":[5,9]' in second
    assert error.value.spent.calls == 2 and error.value.spent.cost_usd == pytest.approx(0.02)


def test_claude_cli_keeps_to_the_limit(
    write_session: WriteSession, fake_claude: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--max-cost`: what might cross it is not asked, and what was spent before is told."""
    monkeypatch.setenv("FAKE_ANSWER", cli_answer(good_reply((5, 9)), total_cost_usd=0.1))
    extractor = ClaudeCliExtractor(budget=Budget(0.2))
    with pytest.raises(OverBudget) as error:
        extractor.extract(material(write_session("alpha", 3)))
    assert len(fake_claude.read_text().splitlines()) == 1
    assert (error.value.spent.calls, extractor.budget.spent) == (1, 0.1)


def test_claude_cli_forecasts_by_the_prices_of_the_api(write_session: WriteSession) -> None:
    """UND-09: what it will do and cost, as far as anybody can say."""
    known = material(write_session("alpha", 3))
    costs = [ClaudeCliExtractor(model, program="claude").forecast(known) for model in MODELS]
    assert costs == sorted(costs, key=lambda cost: cost or 0) and 0.005 < (costs[0] or 0) < 0.05


MODELS = ("haiku", "sonnet", "opus", "something-new")


def test_claude_cli_has_its_own_timeout(write_session: WriteSession, tmp_path: Path) -> None:
    """A CLI that retries for minutes is ended, with its children."""
    program = tmp_path / "claude"
    program.write_text("#!/bin/sh\nsleep 60\n")
    program.chmod(0o755)
    extractor = ClaudeCliExtractor(program=str(program), timeout=0.3)
    with pytest.raises(Failed, match="did not answer"):
        extractor.extract(material(write_session("alpha", 3)))


def test_no_claude_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLAUDE_BIN", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(BadArgument, match="There is no `claude`"):
        choose_extractor("claude-cli")


@pytest.mark.claude
def test_the_real_cli_is_called_once_a_session(
    config: Path,
    layout: Layout,
    write_session: WriteSession,
    shared_stub: SharedStub,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """ING-09 through the real `claude`: ten sessions, four ghosts, six calls, no session left."""
    if "CLAUDE_BIN" not in os.environ:
        pytest.skip("needs the real CLI: set CLAUDE_BIN")
    home = tmp_path / "claude-home"
    home.mkdir()
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-stub")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", shared_stub.url)
    for number, prompts in enumerate((1, 2, 2, 2, 3, 3, 4, 5, 6, 7)):
        write_session(f"session-{number}", prompts)
    report = ingest(archive_at(layout, config), ClaudeCliExtractor(), concurrency=2)
    assert (report.calls, report.failures, report.stopped) == (6, [], None)
    asked = [r for r in shared_stub.requests() if r["path"].startswith("/v1/messages")]
    assert len([r for r in asked if len(r["body"]["messages"]) == 1]) == 6
    # The CLI comes back with the result of its own tool; nothing else is sent.
    assert len(asked) <= 12
    assert "TOOL-OR-THINKING-TEXT" not in json.dumps(asked)
    assert not list(home.glob("projects/**/*.jsonl"))


@pytest.mark.claude
def test_the_real_cli_looks_twice_and_counts_it(
    config: Path,
    layout: Layout,
    write_session: WriteSession,
    shared_stub: SharedStub,
    tmp_path: Path,
) -> None:
    """UND-09: the command that `auto` names, through the real `claude`: what is sent and what
    it costs is said first, a long session is asked about twice."""
    if "CLAUDE_BIN" not in os.environ:
        pytest.skip("needs the real CLI: set CLAUDE_BIN")
    home = tmp_path / "claude-home"
    home.mkdir()
    write_session("long", 41)
    write_session("short", 3)
    env = {"CLAUDE_CONFIG_DIR": str(home), "ANTHROPIC_API_KEY": "sk-ant-stub"}
    env |= {"ANTHROPIC_BASE_URL": shared_stub.url}
    places = ("--root", config, "--archive", layout.root)
    done = cli("ingest", *places, "--extractor", "claude-cli", "--yes", env=env)
    assert done.returncode == 0, done.stderr
    assert "Sending the skeletons of 2 sessions" in done.stderr and "3 calls" in done.stderr
    assert "at API prices, or as much of your subscription" in done.stderr
    assert "3 calls" in done.stdout
    records = read_records(layout).values()
    assert {record.extractor for record in records} == {"claude-cli"}
    asked = json.dumps([request["body"] for request in shared_stub.requests()])
    assert "look at your answer once more" in asked and "TOOL-OR-THINKING-TEXT" not in asked


# -- batches


def batch_run(config: Path, layout: Layout, stub: Stub) -> Any:
    extractor = AnthropicExtractor(Secret("key"), base_url=stub.url, retries=0)
    return ingest(archive_at(layout, config), extractor, batch=True)


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "_FIRST_WAIT", 0.01)


def test_a_waiting_batch_is_not_paid_for_twice(
    config: Path, layout: Layout, write_session: WriteSession, stub: Stub
) -> None:
    """Without --batch, a batch that is under way is named instead of asked past."""
    write_session("alpha", 3)
    layout.sessions.mkdir(parents=True)
    layout.batch.write_text('{"id": "msgbatch_1", "digests": {}}')
    extractor = AnthropicExtractor(Secret("key"), base_url=stub.url, retries=0)
    report = ingest(archive_at(layout, config), extractor)
    assert stub.requests == [] and report.left == 1
    assert report.stopped is not None and "batches picks it up" in report.stopped


def test_a_batch_costs_half(
    config: Path, layout: Layout, write_session: WriteSession, stub: Stub
) -> None:
    """All sessions in one request; usage and half the price in the records."""
    for number in range(3):
        write_session(f"session-{number}", 3)
    report = batch_run(config, layout, stub)
    assert (report.ingested, report.failures, report.left) == (3, [], 0)
    assert [path.split("?")[0] for path in stub.paths].count("/v1/messages/batches") == 1
    price = price_of("claude-sonnet-5-5")
    assert price is not None
    one = price.of(Usage(1000, 200, 500, 0))
    assert report.cost_usd == pytest.approx(3 * one / 2)
    assert not layout.batch.exists()


def test_a_killed_run_picks_its_batch_up_again(
    config: Path,
    layout: Layout,
    write_session: WriteSession,
    stub: Stub,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A batch that was sent is written down before anybody waits; the next run only polls."""
    write_session("alpha", 3)

    def killed(*_: object) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as patch, pytest.raises(RuntimeError):
        patch.setattr("minutebook.verbs.ask_batch.wait_for", killed)
        batch_run(config, layout, stub)
    assert layout.batch.exists() and not read_records(layout)
    report = batch_run(config, layout, stub)
    assert report.ingested == 1 and len(stub.batches) == 1
    assert not layout.batch.exists()


def test_a_session_that_changed_since_is_asked_again(
    config: Path,
    layout: Layout,
    write_session: WriteSession,
    stub: Stub,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Results of a batch only count for what was sent."""
    write_session("alpha", 3)

    def killed(*_: object) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as patch, pytest.raises(RuntimeError):
        patch.setattr("minutebook.verbs.ask_batch.wait_for", killed)
        batch_run(config, layout, stub)
    write_session("alpha", 4)
    assert batch_run(config, layout, stub).ingested == 1
    assert len(stub.batches) == 2


def test_a_batch_entry_may_fail(config: Path, layout: Layout, write_session: WriteSession) -> None:
    """One session's failure inside a batch is its own."""
    write_session("alpha", 3)
    write_session("beta", 3)

    def answer(body: dict[str, Any], _number: int) -> Any:
        return 500 if "beta: request" in json.dumps(body) else good_reply((1, 3))

    with serve(answer) as stub:
        report = batch_run(config, layout, stub)
    assert report.ingested == 1
    assert [failure.reason for failure in report.failures] == ["the batch says: errored"]


def test_a_budget_limits_a_batch(
    config: Path, layout: Layout, write_session: WriteSession, stub: Stub
) -> None:
    """As many sessions as the limit surely allows, in the one batch that is sent."""
    for number in range(6):
        write_session(f"session-{number}", 3)
    extractor = AnthropicExtractor(Secret("k"), None, Budget(0.05), stub.url, retries=0)
    report = ingest(archive_at(layout, config), extractor, batch=True)
    assert report.cost_usd <= 0.05
    assert len(stub.batches) > 1, "what did not surely fit waited for the next one"


def test_a_forgotten_batch_is_sent_again(
    config: Path, layout: Layout, write_session: WriteSession, stub: Stub
) -> None:
    """A batch nobody knows any more does not stand in the way for ever."""
    write_session("alpha", 3)
    layout.sessions.mkdir(parents=True)
    layout.batch.write_text('{"id": "msgbatch_forgotten", "digests": {}}')
    assert batch_run(config, layout, stub).ingested == 1
    assert len(stub.batches) == 1 and not layout.batch.exists()
