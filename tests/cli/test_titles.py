"""A session has one title, wherever it is named (UND-06)."""

from __future__ import annotations

import json
from pathlib import Path

from minutebook import open_archive
from tests.cli.conftest import Run


def test_a_session_without_a_title_is_named_by_its_topic(
    run: Run, examples: Path, tmp_path: Path
) -> None:
    """UND-06: list, search, record and page of minutes say the topic, not "/review the …"; where a
    title was given, they say that."""
    places = ["--root", str(examples), "--archive", str(tmp_path / "archive")]

    def titles() -> dict[str, str]:
        listed = json.loads(run("sessions", *places, "--json").out)
        return {session["id"][:8]: session["title"] for session in listed["sessions"]}

    assert run("ingest", *places).status == 0
    topic = "Review the rounding branch in test_rounding.py"
    assert titles()["fa23f399"] == topic
    assert titles()["3a4d64e0"] == "Add passkey login to orchard"
    with open_archive(tmp_path / "archive", roots=[examples]) as archive:
        record = next(r for id, r in archive.records().items() if id.startswith("fa23f399"))
    assert record.title == topic
    index = (tmp_path / "archive" / "sessions" / "engagements-index.md").read_text("utf-8")
    assert topic.replace("_", "\\_") in index
    found = json.loads(run("search", "rounding", *places, "--json").out)
    names = {hit["name"] for hit in found["hits"] if hit["session_id"].startswith("fa23f399")}
    assert names <= {topic, record.agent_name}
