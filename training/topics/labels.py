"""Labelled sessions as the offline extractor sees them: rounds, title, and who called what how."""

from __future__ import annotations

import csv
import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from minutebook.derive.activity import Activity
from minutebook.derive.identity import identify
from minutebook.extract.material import material_of
from minutebook.model import Roster
from minutebook.sources.base import read_session
from minutebook.sources.claude_code.read import ClaudeReading

PROJECT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("MINUTEBOOK_SHARED") or PROJECT.parent / "shared").resolve()
LONG = ("training/engagements.jsonl", "labels/engagements.jsonl", "labels/more-engagements.jsonl")
SHORT = ("training/short-engagements.jsonl",)
PLACES = ("training", "corpus")


@dataclass(frozen=True)
class Labelled:
    """A session, and the ranges of rounds that readers found in it with their topics."""

    id: str
    repository: str
    short: bool
    title: str | None
    rounds: tuple[Activity, ...]
    ranges: tuple[tuple[int, int, str], ...]


@dataclass(frozen=True)
class Read:
    """A session, labelled or not."""

    id: str
    repository: str
    title: str | None
    project: str
    rounds: tuple[Activity, ...]


def read_all() -> list[Read]:
    """Every shared session in which something was said."""
    repositories, found = _repositories(), []
    for id, path in sorted(_transcripts().items()):
        session = read_session(ClaudeReading(path, "full"))
        info = session.info
        material = material_of(info, identify(info, Roster()), session.rounds)
        if any(round.prompt.strip() for round in material.rounds):
            repository = repositories.get(id, "")
            found.append(Read(id, repository, info.title, material.project, material.rounds))
    return found


def labelled(*files: str) -> list[Labelled]:
    """Sessions of label files, in the order of the files."""
    transcripts, repositories = _transcripts(), _repositories()
    found = []
    for file in files:
        for record in _records(SHARED / file):
            id = record["session_id"]
            session = read_session(ClaudeReading(transcripts[id], "full"))
            info = session.info
            rounds = material_of(info, identify(info, Roster()), session.rounds).rounds
            repository = record.get("repository") or repositories[id]
            ranges = tuple(_ranges(record, rounds))
            found.append(Labelled(id, repository, file in SHORT, info.title, rounds, ranges))
    return found


def digest(*files: str) -> str:
    """Of the label files: what a model was made from."""
    texts = (SHARED.joinpath(file).read_bytes() for file in files)
    return hashlib.sha256(b"".join(texts)).hexdigest()[:16]


def _records(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())


def _transcripts() -> dict[str, Path]:
    files = (p for place in PLACES for p in SHARED.glob(f"{place}/claude/projects/*/*.jsonl"))
    return {path.stem: path for path in files}


def _repositories() -> dict[str, str]:
    found: dict[str, str] = {}
    for place in PLACES:
        with (SHARED / place / "MANIFEST.tsv").open(encoding="utf-8") as lines:
            rows = csv.DictReader(lines, delimiter="\t")
            found |= {Path(row["path"]).stem: row["repository"] for row in rows}
    return found


def _ranges(record: dict[str, Any], rounds: tuple[Activity, ...]) -> Iterator[tuple[int, int, str]]:
    """Positions of the readers' ranges in our rounds, which may be counted otherwise."""
    parts = sorted(record["engagements"], key=lambda part: part["turn_range"][0])
    times = record["round_started"]
    starts = [0]
    for part in parts[1:]:
        first = part["turn_range"][0] - 1
        if len(times) != len(rounds) and times[first]:
            first = _round_at(times[first], rounds)
        starts.append(max(starts[-1], min(first, len(rounds) - 1)))
    for start, end, part in zip(starts, [*starts[1:], len(rounds)], parts, strict=True):
        yield start, max(end, start + 1), part["topic"]


def _round_at(time: str, rounds: tuple[Activity, ...]) -> int:
    wanted = datetime.fromisoformat(time).timestamp() - 0.6
    known = ((i, r.started) for i, r in enumerate(rounds) if r.started)
    return next(
        (i for i, at in known if datetime.fromisoformat(at).timestamp() >= wanted), len(rounds) - 1
    )
