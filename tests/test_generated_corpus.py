"""Conservation and the way back on sessions of our own making (`tests.generated`).

What must be found is counted here from the raw JSON, by code that shares nothing with the
reader; what is found comes from the public functions and the command line.
"""

from __future__ import annotations

import json
import re
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import msgspec
import pytest

import minutebook
from tests.generated import big_session, generate

Plain = dict[str, Any]
COUNT = 24
_TICKET = re.compile(r"ORCH-\d+")
_HALF = re.compile("[\ud800-\udfff]")


@pytest.fixture(scope="module", params=[1, 2, 3])
def seed(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(scope="module")
def corpus(seed: int, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("generated")
    assert len(generate(folder, seed=seed, sessions=COUNT)) == COUNT
    return folder


@pytest.fixture(scope="module")
def paths(corpus: Path) -> list[Path]:
    found = [p for p in corpus.glob("projects/*/*.jsonl") if not p.name.startswith("agent-")]
    assert len(found) == COUNT
    return sorted(found)


# ------------------------------------------------------------ counted from the raw JSON


def values(line: str) -> Iterator[Any]:
    """The JSON values on a line: two where records were glued together, none where it is cut."""
    decoder, at = json.JSONDecoder(), 0
    while at < len(line):
        try:
            value, at = decoder.raw_decode(line, at)
        except ValueError:
            return
        yield value


def records_of(path: Path) -> list[Plain]:
    """Records in file order; a message that was written again only once."""
    found: list[Plain] = []
    seen: set[str] = set()
    for line in path.read_bytes().decode().split("\n"):
        for record in values(line):
            if not isinstance(record, dict):
                continue
            if record.get("type") in ("user", "assistant"):
                if record["uuid"] in seen:
                    continue
                seen.add(record["uuid"])
            found.append(record)
    return found


def whole(text: str) -> str:
    """Half a surrogate pair is no character."""
    return _HALF.sub("\ufffd", text)


def blocks_of(records: Iterable[Plain], role: str) -> Iterator[tuple[str | None, Plain]]:
    """Every block with the id of its message."""
    for record in records:
        if record.get("type") == role:
            content = record["message"]["content"]
            if isinstance(content, str):
                content = [{"type": "text", "text": content}]
            for block in content:
                yield record["message"].get("id"), block


def answer_of(content: Any, beside: Path) -> str:
    """The text of a tool's answer, taken from its file where it was moved to one."""
    if isinstance(content, list):
        return "\n".join(part["text"] for part in content if part["type"] == "text")
    spilled = re.search(r"Full output saved to: \S*/(\S+)", content or "")
    if spilled and (beside / "tool-results" / spilled[1]).exists():
        return (beside / "tool-results" / spilled[1]).read_text()
    return whole(content or "")


def counted(records: list[Plain], beside: Path) -> dict[str, Counter[Any]]:
    """What a reader must find, by id."""
    said, heard = list(blocks_of(records, "assistant")), list(blocks_of(records, "user"))
    answers = [block for _, block in heard if block["type"] == "tool_result"]
    shown = [block for _, block in heard] + [
        part for a in answers if isinstance(a.get("content"), list) for part in a["content"]
    ]
    known = {"text", "thinking", "redacted_thinking", "tool_use"}
    return {
        "replies": Counter((id, whole(b["text"])) for id, b in said if b["type"] == "text"),
        "thoughts": Counter(
            (id, whole(b["thinking"]), b["signature"]) for id, b in said if b["type"] == "thinking"
        ),
        "withheld": Counter((id, b["data"]) for id, b in said if b["type"] == "redacted_thinking"),
        "calls": Counter(
            (id, b["id"], b["name"], whole(json.dumps(b["input"], ensure_ascii=False)))
            for id, b in said
            if b["type"] == "tool_use"
        ),
        "answers": Counter(
            (a["tool_use_id"], answer_of(a.get("content"), beside), bool(a.get("is_error")))
            for a in answers
        ),
        "pictures": Counter(b["type"] for b in shown if b["type"] in ("image", "document")),
        "strange": Counter((id, b["type"]) for id, b in said if b["type"] not in known),
        "heard": Counter(whole(b["text"]) for _, b in heard if b["type"] == "text"),
    }


def typed(records: list[Plain]) -> list[str]:
    """The ticket of every prompt, wherever the file holds it."""
    texts: list[str] = []
    for record in records:
        if record.get("type") == "user":
            texts += [b["text"] for _, b in blocks_of([record], "user") if b["type"] == "text"]
        elif record.get("type") == "queue-operation":
            texts.append(record.get("content") or "")
        elif (record.get("attachment") or {}).get("type") == "queued_command":
            texts.append(record["attachment"]["prompt"])
    return sorted({ticket for text in texts for ticket in _TICKET.findall(text[:200])})


# ------------------------------------------------------------ found by the reader


def messages_of(rounds: Iterable[Plain], role: str) -> Iterator[tuple[Plain, Plain]]:
    for round in rounds:
        for message in round["messages"]:
            if message["role"] == role:
                yield from ((message, block) for block in message["blocks"])


def text_of(result: Plain) -> str:
    content = result.get("content", "")
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part["type"] == "text")


def found(rounds: list[Plain]) -> dict[str, Counter[Any]]:
    """The same account, of the model."""
    said, heard = list(messages_of(rounds, "assistant")), list(messages_of(rounds, "user"))
    every = [block for _, block in said + heard]
    answers = [(b["id"], b["result"]) for b in every if b["type"] == "tool_call" and "result" in b]
    answers += [(b["call_id"], b["result"]) for b in every if b["type"] == "stray_result"]
    inside = [
        part
        for _, r in answers
        if not isinstance(r.get("content", ""), str)
        for part in r["content"]
    ]
    thoughts = [(m, b) for m, b in said if b["type"] == "thinking"]
    return {
        "replies": Counter((m["reply_id"], b["text"]) for m, b in said if b["type"] == "text"),
        "thoughts": Counter(
            (m["reply_id"], b.get("text", ""), b["signature"])
            for m, b in thoughts
            if not b.get("redacted")
        ),
        "withheld": Counter(
            (m["reply_id"], b["signature"]) for m, b in thoughts if b.get("redacted")
        ),
        "calls": Counter(
            (m["reply_id"], b["id"], b["name"], json.dumps(b.get("input"), ensure_ascii=False))
            for m, b in said
            if b["type"] == "tool_call"
        ),
        "answers": Counter((id, text_of(r), r.get("error", False)) for id, r in answers),
        "pictures": Counter(
            b["type"]
            for b in [*(block for _, block in heard), *inside]
            if b["type"] in ("image", "document")
        ),
        "strange": Counter((m["reply_id"], b["kind"]) for m, b in said if b["type"] == "unknown"),
        "heard": Counter(b["text"] for _, b in heard if b["type"] in ("text", "notice")),
    }


def assert_conserved(records: list[Plain], rounds: list[Plain], beside: Path) -> None:
    expected, actual = counted(records, beside), found(rounds)
    lost = expected.pop("heard") - actual.pop("heard")
    assert lost == Counter()
    assert actual == expected


# ------------------------------------------------------------ the proofs


def test_every_block_is_in_the_model_once(paths: list[Path]) -> None:
    """FMT-09, FMT-12, FMT-15: calls, answers, texts, thoughts and pictures, each by its id."""
    for path in paths:
        session = msgspec.to_builtins(minutebook.read_session(path))
        records, beside = records_of(path), path.with_suffix("")
        main = [record for record in records if not record.get("isSidechain")]
        assert_conserved(main, session["rounds"], beside)
        inline = [record for record in records if record.get("isSidechain")]
        files = {p.stem: p for p in [*path.parent.glob("agent-*"), *beside.rglob("agent-*.jsonl")]}
        told = {agent["id"]: agent.get("rounds", []) for agent in session["subagents"]}
        chains = [rounds for id, rounds in told.items() if f"agent-{id}" not in files]
        assert_conserved(inline, [round for rounds in chains for round in rounds], beside)
        for id in told:
            if f"agent-{id}" in files:
                assert_conserved(records_of(files[f"agent-{id}"]), told[id], beside)


def test_every_subagent_is_found(corpus: Path, paths: list[Path]) -> None:
    """FMT-15: each file of an agent belongs to one session; each task to the call that gave it."""
    sessions = [minutebook.read_session(path) for path in paths]
    names = [agent.id for session in sessions for agent in session.subagents]
    files = [path.stem.removeprefix("agent-") for path in corpus.rglob("agent-*.jsonl")]
    assert Counter(files) == Counter(name for name in names if name in files)
    for session in sessions:
        calls = {call.id: call for round in session.rounds for call in round.calls}
        for agent in session.subagents:
            if not agent.helper:
                assert agent.call_id is not None
                assert calls[agent.call_id].agent == agent.id
                prompt = agent.rounds[0].prompt
                assert prompt is not None
                assert prompt.text == calls[agent.call_id].input["prompt"]


def test_every_prompt_opens_a_round(paths: list[Path]) -> None:
    """FMT-14: the queued ones too, and none that was taken back."""
    for path in paths:
        session = minutebook.read_session(path)
        prompts = [round.prompt.text for round in session.rounds if round.prompt is not None]
        tickets = [match[0] for text in prompts if (match := _TICKET.search(text))]
        main = [record for record in records_of(path) if not record.get("isSidechain")]
        assert sorted(tickets) == typed(main)
        assert len(prompts) == session.info.prompts
        assert "NEVER-SAID" not in str(prompts)


def test_usage_is_counted_once_a_reply(paths: list[Path]) -> None:
    """FMT-26: the largest of a reply's lines; a placeholder adds nothing."""
    for path in paths:
        tokens: dict[str, int] = {}
        for record in records_of(path):
            if record.get("type") == "assistant" and not record.get("isSidechain"):
                id, usage = record["message"]["id"], record["message"]["usage"]
                tokens[id] = max(tokens.get(id, 0), usage["output_tokens"])
        assert minutebook.read_session(path).info.usage.output == sum(tokens.values())


def repeats_a_call(path: Path) -> bool:
    lines = path.read_bytes().split(b"\n")
    return any(count > 1 for line, count in Counter(lines).items() if b'"tool_use"' in line)


def test_a_skim_agrees_with_a_full_read(paths: list[Path]) -> None:
    """Rounds, prompts, titles and counts."""
    for path in paths:
        skim, full = minutebook.skim_session(path), minutebook.read_session(path)
        for one, other in zip(skim.rounds, full.rounds, strict=True):
            assert one.number == other.number
            assert (one.prompt and one.prompt.text) == (other.prompt and other.prompt.text)
            said = [[text for reply in r.replies if (text := reply.text)] for r in (one, other)]
            assert said[0] == said[1]
        for field in ("started", "ended", "rounds", "prompts", "title", "subagents"):
            assert getattr(skim.info, field) == getattr(full.info, field), field
        assert skim.info.calls == full.info.calls or repeats_a_call(path)


@pytest.mark.xfail(reason="a skim passes over the lines of calls without looking at their uuids")
def test_a_skim_counts_a_repeated_call_once(paths: list[Path]) -> None:
    """FMT-12: as a full read does."""
    for path in filter(repeats_a_call, paths):
        skim, full = minutebook.skim_session(path), minutebook.read_session(path)
        assert skim.info.calls == full.info.calls


# ------------------------------------------------------------ there and back


@pytest.fixture
def command(capfd: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """`minutebook …` in this process; what it printed."""
    (script,) = entry_points(group="console_scripts", name="minutebook")

    def run(*args: object) -> str:
        with pytest.raises(SystemExit) as exit:
            script.load()([str(arg) for arg in args])
        out, err = capfd.readouterr()
        assert not exit.value.code, out + err
        return out

    return run


def documents(archive: Path) -> dict[str, bytes]:
    """Every session's document, and what lies beside it, except databases."""
    return {
        str(path.relative_to(archive)): path.read_bytes()
        for path in archive.rglob("*")
        if path.suffix in (".md", ".json", ".png")
        and path.name not in ("ledger.json", "session.json", "archive.json")
    }


def test_there_and_back_is_the_same(
    corpus: Path, paths: list[Path], tmp_path: Path, command: Callable[..., str]
) -> None:
    """OPS-14, OPS-16: inscribe, export, inscribe: the same bytes; and `check` says so too."""
    once, again = tmp_path / "once", tmp_path / "again"
    command("inscribe", "--all", "--root", corpus, "--archive", once, "--ended")
    command("check", "--all", "--root", corpus, "--archive", once)
    for path in paths:
        command("export-claude", path.stem, "--archive", once, "--root", tmp_path / "claude")
    exported = tmp_path / "claude"
    command("inscribe", "--all", "--root", exported, "--archive", again, "--ended")
    first, second = documents(once), documents(again)
    assert sum(name.endswith(f"{path.stem}.md") for path in paths for name in first) == COUNT
    assert [name for name in first if first[name] != second.get(name)] == []
    command("check", "--all", "--root", exported, "--archive", again)


# ------------------------------------------------------------ the generator itself

FEATURES = {
    "isSidechain": b'"isSidechain":true',
    "costs of old versions": b'"costUSD":',
    "cache for five minutes and an hour": b'"ephemeral_1h_input_tokens":',
    "speed": b'"speed":"fast"',
    "server tools": b'"server_tool_use":',
    "tier": b'"service_tier":"standard"',
    "patches": b'"structuredPatch":[{',
    "copies of what agents say": b'"type":"agent_progress"',
    "withheld thinking": b'"redacted_thinking"',
    "signatures": b'"signature":"Er',
    "queue": b'"operation":"popAll"',
    "queued, attached": b'"queued_command"',
    "compaction": b'"compact_boundary"',
    "summaries of compaction": b'"isCompactSummary":true',
    "titles": b'"custom-title"',
    "titles by the model": b'"ai-title"',
    "old titles": b'"type":"summary"',
    "pull requests": b'"pr-link"',
    "forks": b'"forkedFrom":{',
    "synthetic replies": b'"<synthetic>"',
    "interruptions": b"[Request interrupted by user for tool use]",
    "moved outputs": b"<persisted-output>",
    "renaming": b"<command-name>/rename</command-name>",
    "unknown records": b'"moon-phase"',
    "half surrogates": b"\\ud83d",
    "line separators": "\u2028".encode(),
    "line ends": b"first\\r\\nsecond",
    "pictures": b'"media_type":"image/png"',
    "glued records": b'}{"',
}


def test_the_generated_sessions_show_everything(corpus: Path) -> None:
    """Each thing the format notes know is in one of them; every layout of subagents, too."""
    everything = b"".join(path.read_bytes() for path in sorted(corpus.rglob("*.jsonl")))
    assert [name for name, mark in FEATURES.items() if mark not in everything] == []
    for pattern in (
        *("projects/*/agent-*.jsonl", "projects/*/*/subagents/agent-*.meta.json"),
        *("projects/*/*/tool-results/*.txt", "projects/*/*/subagents/agent-acompact-*.jsonl"),
    ):
        assert list(corpus.glob(pattern)), pattern


def test_the_same_seed_gives_the_same_bytes(corpus: Path, seed: int, tmp_path: Path) -> None:
    """And another one others."""

    def files(folder: Path) -> dict[str, bytes]:
        every = (path for path in folder.rglob("*") if path.is_file())
        return {str(path.relative_to(folder)): path.read_bytes() for path in every}

    generate(tmp_path / "same", seed=seed, sessions=COUNT)
    generate(tmp_path / "other", seed=seed + 1, sessions=COUNT)
    assert files(tmp_path / "same") == files(corpus)
    assert not files(tmp_path / "other").keys() & files(corpus).keys()


def test_a_big_session_is_written_in_little_memory(tmp_path: Path) -> None:
    """About as large as asked for; every line is a record, every uuid a fresh one."""
    path = tmp_path / "33333333-2222-4333-8444-555555555555.jsonl"
    tracemalloc.start()
    big_session(path, 4)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 4_000_000 <= path.stat().st_size < 4_400_000
    assert peak < 2_000_000
    records = records_of(path)
    assert len({record["uuid"] for record in records}) == len(records)
    session = minutebook.read_session(path)
    assert session.info.prompts == len(typed(records)) > 20
