"""``doctor --report``: for an issue, with nothing of the person's in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

SECRET = "Zanzibar"


def test_a_report_has_no_word_name_or_path(run: Run, tmp_path: Path) -> None:
    """Whatever a transcript says, wherever it says it: text, folder, title, kinds of records."""
    folder = tmp_path / SECRET / "projects" / f"-home-{SECRET}"
    folder.mkdir(parents=True)
    base = {"sessionId": f"{SECRET}", "cwd": f"/home/{SECRET}/x", "version": f"2.1 {SECRET}"}
    lines: list[dict[str, object]] = [
        {**base, "type": "user", "uuid": "1", "message": {"role": "user", "content": SECRET}},
        {**base, "type": f"{SECRET} was here", "uuid": "2"},
        {**base, "type": "ai-title", "aiTitle": SECRET},
        {
            **base,
            "type": "assistant",
            "uuid": "3",
            "message": {"role": "assistant", "content": [{"type": f"a {SECRET}!"}]},
        },
    ]
    path = folder / "0a0a0a0a-0000-4000-8000-000000000001.jsonl"
    path.write_text("\n".join([*map(json.dumps, lines), f"{{ {SECRET}", ""]))
    ran = run("doctor", "--report", "--root", tmp_path / SECRET)
    assert ran.status == 0, ran.err
    assert SECRET.lower() not in ran.out.lower() and str(tmp_path) not in ran.out
    told = json.loads(ran.out)
    assert told["unreadable_lines"] == 1
    assert told["not_understood"]["(other)"] == 2
    assert told["agents"][0]["versions"] == ["(other)"]


def test_a_kind_of_record_that_is_somebodys_is_only_counted(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names, projects, titles, addresses and keys that look like kinds; and one that is a kind."""
    monkeypatch.setenv("HOME", str(tmp_path / "quentin"))
    monkeypatch.setenv("LOGNAME", "quenlogin")
    planted = {
        "quentin", "quenlogin", "seraglio", "Birdwatcher", "release-nightingale", "Reykjavik",
        "quentin@example.org", "sk-ant-api03-Zq8LkfQ2vT7xYw3BnM5p", "home/quentin/seraglio",
    }  # fmt: skip
    base = {"sessionId": "s", "cwd": "/home/quentin/seraglio", "version": "2.1.9-quentin"}
    base["gitBranch"] = "release-nightingale"
    lines: list[dict[str, object]] = [
        {**base, "type": "user", "uuid": "1", "message": {"role": "user", "content": "hi"}},
        {**base, "type": "ai-title", "aiTitle": "A trip to Reykjavik"},
        {**base, "type": "agent-name", "agentName": "Birdwatcher"},
        {**base, "type": "quantum_state", "uuid": "2"},
    ]
    for kind in sorted(planted):
        lines.append({**base, "type": kind, "uuid": kind})
        within = {"attachment": {"type": kind}}
        lines.append({**base, "type": "attachment", "uuid": f"a{kind}", **within})
    folder = tmp_path / "claude" / "projects" / "-home-quentin-seraglio"
    folder.mkdir(parents=True)
    path = folder / "0a0a0a0a-0000-4000-8000-000000000002.jsonl"
    path.write_text("\n".join([*map(json.dumps, lines), ""]))
    ran = run("doctor", "--report", "--root", tmp_path / "claude")
    told = json.loads(ran.out)
    assert told["not_understood"]["record quantum_state"] == 1
    assert told["records"]["user"] == 1
    found = ran.out.casefold()
    assert [word for word in planted if word.casefold() in found] == []
    assert not any(word in found for word in ("quen", "seraglio", "bird", "nightin", "reyk"))


def test_a_report_says_what_is_installed(run: Run, examples: Path) -> None:
    """Versions of program, interpreter and libraries; and the same as JSON."""
    given = ("doctor", "--report", "--root", examples)
    told = json.loads(run(*given).out)
    assert told["agents"][0]["sessions"] == 9
    assert {"minutebook", "python", "system", "sqlite", "packages", "extras"} <= {*told}
    assert json.loads(run(*given, "--json").out)["report"] == told
