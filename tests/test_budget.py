"""The context budget, against the transcripts' own numbers and through every front end (FUT-04)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins

from minutebook.archive import Archive
from minutebook.archive.budgets import budget_overview
from minutebook.cli.main import main
from minutebook.derive.budget import budget
from minutebook.extract.offline import OfflineExtractor
from minutebook.index.query import Filters, parse_query
from minutebook.mcp.tools import Tools
from minutebook.sources.registry import SOURCES
from minutebook.verbs.ingest import ingest
from minutebook.verbs.inscribe import inscribe
from tests.conftest import (
    CORPUS,
    PROJECT,
    as_line,
    assistant,
    corpus_sessions,
    needs_corpus,
    short,
    user,
)
from tests.web.conftest import start

WINDOWS = SOURCES["claude-code"].context_windows
PATTERNS = ("claude/projects/*/*.jsonl", "cli-versions/**/*.jsonl")
SESSIONS = corpus_sessions(*PATTERNS) if CORPUS.is_dir() else []
ID = "33333333-2222-4333-8444-555555555555"
KEY = "gh" + "p_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"
SMALL = "44444444-2222-4333-8444-555555555555"


def raw_records(path: Path) -> Iterator[dict[str, Any]]:
    """A transcript's lines, read without any of our code."""
    seen: set[str] = set()
    for line in path.read_bytes().split(b"\n"):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if not isinstance(record, dict) or record.get("isSidechain"):
            continue
        uuid = record.get("uuid")
        yield {**record, "again": uuid in seen}
        if isinstance(uuid, str):
            seen.add(uuid)


def raw_windows(path: Path) -> dict[str, int]:
    """Replies of the main chain, in the order they begin → input + cache read + cache write of
    the line with the largest total."""
    best: dict[str, tuple[int, int]] = {}
    for record in raw_records(path):
        message = record.get("message")
        if record.get("type") != "assistant" or not isinstance(message, dict):
            continue
        usage, key = message.get("usage"), message.get("id") or f"line:{record.get('uuid')}"
        if not isinstance(usage, dict) or message.get("model") == "<synthetic>":
            continue
        names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        window = sum(int(usage.get(name) or 0) for name in names)
        total = window + int(usage.get("output_tokens") or 0)
        if key not in best or total > best[key][0]:
            best[key] = (total, window)
    return {key: window for key, (_, window) in best.items()}


def raw_compactions(path: Path) -> int:
    """Boundaries, and summaries that no boundary announces."""
    count, announced = 0, False
    for record in raw_records(path):
        if record["again"]:
            continue
        if record.get("subtype") == "compact_boundary":
            count, announced = count + 1, True
        message = record.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, list) and content and isinstance(content[0], dict):
            content = content[0].get("text")
        continued = isinstance(content, str) and content.startswith(
            "This session is being continued from a previous conversation"
        )
        if record.get("type") == "user" and (record.get("isCompactSummary") or continued):
            count, announced = count + (not announced), False
    return count


@needs_corpus
@pytest.mark.parametrize("path", SESSIONS, ids=short)
def test_a_round_has_the_window_of_its_last_call(path: Path, tmp_path: Path) -> None:
    """FUT-04: for every round that has usage, as an independent count from the file says."""
    inscribe(Archive(tmp_path, (path,)), ended=True)
    archive = Archive(tmp_path, ())
    (session,) = archive.sessions(ghosts=True).sessions
    windows = raw_windows(path)
    order = {key: place for place, key in enumerate(windows)}
    told = {r.number: r for r in archive.budget(session.id).budget.rounds}
    wrong = []
    for round in archive.open(session.id).stored_rounds():
        keys = [m.reply_id or f"line:{m.id}" for m in round.replies]
        own = sorted((k for k in keys if windows.get(k)), key=order.__getitem__)
        expected = windows[own[-1]] if own else None
        if told[round.number].tokens != expected:
            wrong.append((round.number, told[round.number].tokens, expected))
    assert wrong == []


@needs_corpus
@pytest.mark.parametrize("path", SESSIONS, ids=short)
def test_every_compaction_is_seen(path: Path, tmp_path: Path) -> None:
    """FUT-04: of the corpus and of every version of the CLI."""
    inscribe(Archive(tmp_path, (path,)), ended=True)
    archive = Archive(tmp_path, ())
    (session,) = archive.sessions(ghosts=True).sessions
    assert archive.budget(session.id).budget.compactions == raw_compactions(path)


# -- a session of our own


def reply(text: str, number: int, window: int, **beside: Any) -> dict[str, Any]:
    record = assistant(
        text, id=f"m{number}", uuid=f"a{number}", timestamp=f"2026-03-01T10:{number:02}:30.000Z"
    )
    record["message"]["model"] = beside.pop("model", "claude-opus-4-5-20251101")
    record["message"]["usage"] = {
        "input_tokens": 10,
        "cache_read_input_tokens": window - 1010,
        "cache_creation_input_tokens": 1000,
        "output_tokens": 50,
    }
    return record


def asked(text: str, number: int, id: str = ID) -> dict[str, Any]:
    stamp = f"2026-03-01T10:{number:02}:00.000Z"
    return user(text, uuid=f"u{number}{id[0]}", timestamp=stamp, sessionId=id, cwd="/w/full")


def boundary(number: int, before: int) -> dict[str, Any]:
    return {
        "type": "system",
        "subtype": "compact_boundary",
        "content": "Conversation compacted",
        "uuid": f"b{number}",
        "timestamp": f"2026-03-01T10:{number:02}:10.000Z",
        "compactMetadata": {"trigger": "auto", "preTokens": before},
    }


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Two sessions: one fills its window, is compacted, and fills it again."""
    folder = tmp_path / "root" / "projects" / "-w-full"
    folder.mkdir(parents=True)
    (folder / f"{ID}.jsonl").write_bytes(
        b"".join(
            as_line(record) + b"\n"
            for record in (
                *(asked("plant a walnut tree", 1), reply("walnut planted", 1, 90_000)),
                *(asked("water the walnut tree", 2), reply("walnut watered", 2, 160_000)),
                *(asked("prune the walnut tree", 3), boundary(3, 170_000)),
                *(reply("walnut pruned", 3, 40_000),),
                *(asked("paint the walnut fence", 4), reply("fence painted", 4, 190_000)),
            )
        )
    )
    (folder / f"{SMALL}.jsonl").write_bytes(
        b"".join(
            as_line(record) + b"\n"
            for record in (
                asked("a small walnut", 1, SMALL),
                {**reply("small walnut", 1, 5_000), "uuid": "as"},
            )
        )
    )
    ingest(Archive(tmp_path / "archive", (tmp_path / "root",)), OfflineExtractor(), ended=True)
    return tmp_path


def run(place: Path, *args: str) -> None:
    with pytest.raises(SystemExit) as end:
        main([*args, "--archive", str(place / "archive"), "--root", str(place / "root")])
    assert end.value.code == 0


def opened(place: Path) -> Archive:
    return Archive(place / "archive", (place / "root",))


def test_what_a_budget_says(place: Path) -> None:
    """FUT-04: tokens and percent of the last call, the peak of the round, what is near."""
    told = opened(place).budget(ID).budget
    assert [r.tokens for r in told.rounds] == [90_000, 160_000, 40_000, 190_000]
    assert [r.percent for r in told.rounds] == [45.0, 80.0, 20.0, 95.0]
    assert [r.peak for r in told.rounds] == [45.0, 80.0, 85.0, 95.0]
    assert [r.near for r in told.rounds] == [False, True, True, True]
    assert (told.peak, told.peak_round, told.compactions, told.near) == (95.0, 4, 1, 3)
    assert told.rounds[2].compactions[0].tokens_before == 170_000


@pytest.mark.parametrize(
    ("query", "rounds"),
    [
        ("budget:>80", {3, 4}),
        ("budget:>=80", {2, 3, 4}),
        ("budget:<50 session:3333", {1}),
        ("budget:>40 budget:<90", {1, 2, 3}),
        ("budget:95", {4}),
        ("tree budget:>80", {3}),
    ],
)
@pytest.mark.parametrize("mode", ["lexical", "hybrid"])
def test_rounds_are_found_by_how_full_they_were(
    place: Path, query: str, rounds: set[int], mode: Any
) -> None:
    """FUT-04: alone it lists rounds; with words it holds for every hit, whatever the mode."""
    hits = opened(place).search(query, mode=mode, limit=20)
    assert {hit.round for hit in hits} == rounds
    assert {hit.session_id for hit in hits} == {ID}


def test_such_a_hit_says_how_full_it_was(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """FUT-04: the percentage that a hit was found by stands in it, in the list and in JSON."""
    run(place, "search", "budget:>80")
    out = capsys.readouterr().out
    assert "window 95.0 %" in out and "window 85.0 %" in out
    run(place, "search", "budget:>80", "--json")
    told = json.loads(capsys.readouterr().out)["hits"]
    assert {hit["round"]: hit["window"] for hit in told} == {3: 85.0, 4: 95.0}
    run(place, "search", "walnut")
    assert "window" not in capsys.readouterr().out


def test_the_filter_holds_by_meaning_too(place: Path) -> None:
    """FUT-04, SRCH-18: no hit of a semantic search is outside of it."""
    hits = opened(place).search("walnut tree care budget:>=85", mode="semantic", limit=20)
    assert {(hit.session_id, hit.round) for hit in hits} <= {(ID, 3), (ID, 4)}
    assert hits


@pytest.mark.parametrize("typed", ["budget:full", "budget:>full", "budget:"])
def test_what_is_not_a_share_is_refused(typed: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A clear sentence, exit status 2; `budget:` alone is what a shell leaves of budget:>80."""
    with pytest.raises(SystemExit) as end:
        main(["search", typed])
    assert end.value.code == 2
    assert "'budget:>80'" in capsys.readouterr().err


def test_a_filter_can_be_narrowed_but_not_replaced() -> None:
    """SRCH-08: two shares count at once."""
    assert parse_query("budget:>=20 budget:<=60").filters.budget == (200, 600)


def test_the_budget_survives_its_transcript(place: Path) -> None:
    """ARC-02: the same figures with every transcript deleted."""
    before = opened(place).budget(ID)
    for path in (place / "root").rglob("*.jsonl"):
        path.unlink()
    after = opened(place)
    assert after.budget(ID) == before
    assert {hit.round for hit in after.search("budget:>80")} == {3, 4}


def test_over_all_sessions(place: Path) -> None:
    """FUT-04: how often work came near the limit, and ended there."""
    found = budget_overview(opened(place), Filters(ghosts=True))
    assert (found.sessions, found.known) == (2, 2)
    assert (found.came_near, found.ended_near) == (1, 1)
    assert (found.peaks[0].session_id, found.peaks[0].peak, found.peaks[0].last) == (ID, 95.0, 95.0)
    assert budget_overview(opened(place), Filters(ghosts=True, project="nowhere")).sessions == 0


def test_every_compacted_session_is_listed(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """FUT-04: also one whose limit is not known."""
    odd = ID.replace("3", "5")
    lines = [
        asked("a pear", 1, odd),
        {**reply("pear", 1, 5_000, model="another-model"), "uuid": "ax"},
        {**boundary(2, 5_000), "uuid": "bx"},
        {**asked("This session goes on from before.", 2, odd), "isCompactSummary": True},
        asked("a plum", 3, odd),
        {**reply("plum", 2, 5_000, model="another-model"), "uuid": "ay"},
    ]
    path = place / "root" / "projects" / "-w-full" / f"{odd}.jsonl"
    path.write_bytes(b"".join(as_line(record) + b"\n" for record in lines))
    found = budget_overview(opened(place), Filters(ghosts=True))
    assert [(item.session_id, item.peak) for item in found.most_compacted] == [(odd, None)]
    run(place, "budget", "--ghosts")
    out = capsys.readouterr().out
    assert "1 compaction in 1 session." in out and odd[:8] in out


def test_the_verb(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line for each round that fits 80 columns, and a summary; JSON has the same figures."""
    run(place, "budget", ID[:8], "--json")
    told = json.loads(capsys.readouterr().out)
    assert (told["version"], told["session_id"], told["budget"]["peak"]) == (1, ID, 95.0)
    run(place, "budget", ID[:8])
    out = capsys.readouterr().out
    assert "4 rounds, fullest 95.0 % in #4, 3 near the limit (from 80 %), 1 compaction." in out
    assert "compacted (auto, 170,000 tokens)" in out
    run(place, "budget", "--ghosts", "--json")
    assert json.loads(capsys.readouterr().out)["overview"]["came_near"] == 1


def test_a_long_session_keeps_its_peak(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Rounds are left out of a long table, and counted; never the fullest one."""
    folder = tmp_path / "root" / "projects" / "-w"
    folder.mkdir(parents=True)
    records = []
    for number in range(59):
        window = 150_000 if number == 33 else 50_000 + number
        records += [asked(f"step {number}", number), reply(f"done {number}", number, window)]
    (folder / f"{ID}.jsonl").write_bytes(b"".join(as_line(r) + b"\n" for r in records))
    inscribe(Archive(tmp_path / "archive", (tmp_path / "root",)), ended=True)
    run(tmp_path, "budget", ID[:8])
    out = capsys.readouterr().out
    assert "#34" in out
    assert "… " in out
    assert out.count("█") > 30
    assert len(out.splitlines()) < 45
    run(tmp_path, "budget", ID[:8], "--all")
    assert "…" not in capsys.readouterr().out


def test_without_usage_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """FUT-04: where data do not exist, nothing is made up."""
    path = tmp_path / "root" / "projects" / "-w" / f"{ID}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(as_line(asked("hello", 1)) + b"\n")
    inscribe(Archive(tmp_path / "archive", (tmp_path / "root",)), ended=True)
    run(tmp_path, "budget", ID[:8])
    told = capsys.readouterr()
    assert "recorded no token usage" in told.err
    assert "%" not in told.out


def test_agents_can_ask(place: Path) -> None:
    """The same through MCP, as a tool and as a filter."""
    tools = Tools(opened(place))
    assert "Fullest: 95.0 % in #4." in tools.budget(ID[:8])
    assert "#4" in tools.search(budget=">90")
    assert "#1" not in tools.search(budget=">90")


@pytest.fixture
def odd_model(tmp_path: Path) -> Archive:
    """A session whose model is called what its writer liked, with a key in it."""
    name = f"claude-opus-4-6-obey-me {KEY}"
    path = tmp_path / "root" / "projects" / "-w" / f"{ID}.jsonl"
    path.parent.mkdir(parents=True)
    records = (asked("hello", 1), reply("yes", 1, 90_000, model=name))
    path.write_bytes(b"".join(as_line(record) + b"\n" for record in records))
    inscribe(Archive(tmp_path / "archive", (tmp_path / "root",)), ended=True)
    return opened(tmp_path)


def test_a_key_in_a_models_name_is_masked(odd_model: Archive) -> None:
    """ARC-06, FUT-04: in rounds and in the names of limits."""
    told = odd_model.budget(ID)
    assert told.budget.limits and told.budget.rounds[0].model
    assert KEY not in json.dumps(to_builtins(told))


def test_a_models_name_is_quoted_to_agents(odd_model: Archive) -> None:
    """FUT-04: it stands in the transcript, so it is between the marks."""
    before, inside = Tools(odd_model).budget(ID[:8]).split("<untrusted-", 1)
    assert "obey-me" in inside and "obey-me" not in before and KEY not in inside


@pytest.mark.parametrize(
    ("windows", "used", "before", "limit", "evidence"),
    [
        ("claude-haiku-4-5-20251001", 100_000, None, 200_000, "model"),
        ("claude-opus-4-6[1m]", 100_000, None, 1_000_000, "model"),
        ("claude-opus-4-6", 100_000, None, 200_000, "usual"),
        ("claude-opus-4-6", 250_000, None, 1_000_000, "usage"),
        ("claude-opus-4-6", 100_000, 900_000, 1_000_000, "compaction"),
        ("claude-opus-4-6", 100_000, 155_000, 200_000, "compaction"),
        ("claude-opus-4-7", 100_000, None, 1_000_000, "usual"),
        ("claude-fable-5", 250_000, None, 1_000_000, "usage"),
        ("claude-opus-5", 100_000, 165_000, 200_000, "compaction"),
        ("claude-sonnet-4-5-20250929", 100_000, None, 200_000, "usual"),
        ("claude-sonnet-4-20250514", 100_000, None, 200_000, "usual"),
        ("claude-opus-4-1-20250805", 100_000, None, 200_000, "model"),
        ("claude-opus-4-10", 100_000, None, 1_000_000, "usual"),
        ("glm-4.5", 100_000, None, None, None),
        ("claude-haiku-4-5-20251001", 250_000, None, None, None),
    ],
)
def test_how_a_limit_is_known(
    read_records: Any,
    windows: str,
    used: int,
    before: int | None,
    limit: int | None,
    evidence: str | None,
) -> None:
    """FUT-04: 200k or 1M, with the evidence; none is invented."""
    records = [asked("go", 1)]
    if before is not None:
        records.append(boundary(1, before))
    session, _ = read_records(*records, reply("gone", 1, used, model=windows))
    told = budget(session.rounds, WINDOWS)
    (round,) = told.rounds
    assert round.limit == limit
    assert (told.limits[windows].evidence if told.limits else None) == evidence


def test_what_filled_the_window(read_records: Any) -> None:
    """FUT-04: estimated parts and the rest add up to what was counted."""
    session, _ = read_records(asked("word " * 700, 1), reply("answer " * 500, 1, 50_000))
    contents = budget(session.rounds, WINDOWS).contents
    assert contents is not None
    assert (contents.filled.prompts, contents.filled.replies) == (1000, 1000)
    assert contents.filled.total + contents.rest == contents.tokens == 50_000
    small, _ = read_records(asked("word " * 700, 1), reply("answer " * 500, 1, 1_500))
    contents = budget(small.rounds, WINDOWS).contents
    assert contents is not None
    assert contents.filled.total + contents.rest == 1_500


def test_json_is_written_down(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every key of both documents is in docs/json.md; models are data."""
    documented = (PROJECT / "docs" / "json.md").read_text(encoding="utf-8")
    keys: set[str] = set()

    def gather(value: Any) -> None:
        if isinstance(value, dict):
            keys.update(key for key in value if not key.startswith("claude-"))
        for item in value.values() if isinstance(value, dict) else value:
            if isinstance(item, dict | list):
                gather(item)

    for session in ([ID[:8]], ["--ghosts"]):
        run(place, "budget", *session, "--json")
        gather(json.loads(capsys.readouterr().out))
    assert [key for key in sorted(keys - {"version"}) if f"`{key}`" not in documented] == []


def test_the_page_and_the_api_have_the_figures(place: Path) -> None:
    """FUT-04: the session's page shows peak, compactions and each round's share."""
    run(place, "refresh")
    served = start(place / "root", place / "archive", "--no-ingest")
    try:
        page = served.get(f"/session/{ID}")[2]
        text = page if isinstance(page, str) else page.decode()
        assert "window at most 95 % full" in text
        assert "window 45 %" in text
        told = served.json(f"/api/v1/sessions/{ID}/budget")
        assert told["budget"]["peak"] == 95.0
        assert served.json("/api/v1/budget")["overview"]["compactions"] >= 0
        assert (
            served.json(f"/api/v1/sessions/{ID}/instructions")["instructions"]["project"] == "gone"
        )
        assert {h["round"] for h in served.json("/api/v1/search?q=budget:%3E80")["hits"]} == {3, 4}
        page = served.get("/search?q=budget:%3E80")[2]
        text = page if isinstance(page, str) else page.decode()
        assert "window 95.0 %" in text and "best first" not in text
    finally:
        served.stop()
