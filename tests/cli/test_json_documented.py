"""Every field that a verb prints with ``--json`` is in docs/json.md."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agents.conftest import taken
from tests.cli.conftest import Run
from tests.conftest import PROJECT

_VERBS = (
    *(["sessions", "--usage"], ["show", "Reed"], ["search", "passkey"], ["search", "--threads"]),
    *(["search", "--file", "*.py"], ["stats"], ["agents"], ["config"], ["doctor"], ["status"]),
    *(["report", "--since", "2026-01-01"], ["report"], ["usage"], ["lineage"], ["budget"]),
    *(["budget", "Reed"], ["context", "Reed", "--budget", "600"], ["ingest", "--dry-run"]),
    ["ingest", "--explain"],
    *(["instructions"], ["install", "claude-code", "--dry-run"], ["correct", "list"]),
)
_MAPS = frozenset(
    "methods projects agents programs phases days records blocks versions unknown left_out "
    "repaired tools unpriced limits how continued held problems peaks masked contents".split()
)
"""Objects whose keys are values: names, days."""
_FREE = frozenset({"input", "data"})
"""Whatever an agent wrote there."""


def _keys(value: Any, inside: str = "") -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _keys(item, inside if inside not in _MAPS else "")
    elif isinstance(value, dict):
        for key, item in value.items():
            if inside not in _MAPS:
                yield key
            if key not in _FREE:
                yield from _keys(item, key)


@pytest.fixture(scope="module")
def archive(examples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example sessions with their minutes."""
    return taken(examples, tmp_path_factory.mktemp("json") / "archive").root


@pytest.mark.parametrize("verb", _VERBS, ids=" ".join)
def test_every_field_is_documented(
    run: Run, archive: Path, examples: Path, verb: list[str]
) -> None:
    """OPS: a program's author finds the name of each field; an engagement has its own page."""
    pages = ("json.md", "engagements.md", "corrections.md", "formats.md", "lineage.md")
    told = "".join((PROJECT / "docs" / name).read_text(encoding="utf-8") for name in pages)
    named = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]+)`", told))))
    roots = [] if verb[0] == "config" else ["--root", examples]
    printed = json.loads(run(*verb, "--json", *roots, "--archive", archive).out)
    assert sorted({*_keys(printed)} - named) == []
