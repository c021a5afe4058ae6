"""Labelled sessions, read from the shared folder: rounds as the extractor sees them, and labels."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from minutebook.derive.activity import Activity
from minutebook.derive.identity import identify
from minutebook.extract.material import material_of
from minutebook.extract.offline.features import Session
from minutebook.extract.offline.words import Vocabulary
from minutebook.sources.library import Library, open_transcript
from training.topics.labels import SHARED

TUNED, SHORT = "tuned", "short"
SETS = (
    (TUNED, "labels/engagements.jsonl"),
    ("more", "labels/more-engagements.jsonl"),
    ("training", "training/engagements.jsonl"),
    (SHORT, "training/short-engagements.jsonl"),
)
_SMALL = 10
"""Repositories with fewer sessions are left out together."""


@dataclass(frozen=True)
class Labelled:
    """A session with what careful readers said of it."""

    label: dict[str, Any]
    """A line of a label file, as `labels/score.py` wants it."""
    set: str
    repository: str
    fold: str
    rounds: list[Activity]
    title: str | None
    project: str
    session: Session
    parts: tuple[tuple[int, int, str], ...]
    """Start, end (not in it) and method of each engagement, by position."""
    phase: str
    """Of the last engagement."""

    @property
    def id(self) -> str:
        return str(self.label["session_id"])

    @property
    def cuts(self) -> frozenset[int]:
        return frozenset(start for start, _, _ in self.parts[1:])


def load(shared: Path = SHARED) -> list[Labelled]:
    """Every labelled session, in the order of the label files."""
    labels = [(name, label) for name, path in SETS for label in _lines(shared / path)]
    manifest = (shared / "corpus/MANIFEST.tsv").read_text(encoding="utf-8").splitlines()
    folds = {Path(line.split("\t")[0]).stem: line.split("\t")[1] for line in manifest[1:]}
    names = {
        label["session_id"]: label.get("repository") or folds[label["session_id"]]
        for _, label in labels
    }
    sizes = Counter(names.values())
    found = []
    read = {}
    for root in (shared / "training/claude", shared / "corpus/claude"):
        for transcript in Library([root]).transcripts:
            if transcript.session_id in names and transcript.session_id not in read:
                reading = open_transcript(transcript)
                rounds = list(reading.rounds())
                info = reading.info()
                read[transcript.session_id] = material_of(info, identify(info), rounds)
    for name, label in labels:
        material = read[label["session_id"]]
        acts = list(material.rounds)
        repository = names[label["session_id"]]
        found.append(
            Labelled(
                label,
                name,
                repository,
                repository if sizes[repository] >= _SMALL else "the small ones",
                acts,
                material.info.title,
                material.project,
                Session(acts, Vocabulary(acts)),
                _parts(label, acts),
                max(label["engagements"], key=lambda e: int(e["turn_range"][1]))["phase"],
            )
        )
    return found


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip():
            yield json.loads(line)


def _parts(label: dict[str, Any], rounds: list[Activity]) -> tuple[tuple[int, int, str], ...]:
    """Engagements on our rounds: the readers of the first labels counted some differently."""
    engagements = sorted(label["engagements"], key=lambda e: int(e["turn_range"][0]))
    starts = [int(e["turn_range"][0]) - 1 for e in engagements]
    ours = [round.started for round in rounds]
    if ours != label["round_started"]:
        clock = [_instant(started) for started in ours if started]
        times = [_instant(label["round_started"][start]) for start in starts]
        starts = [max(0, bisect_right(clock, time + 0.5) - 1) for time in times]
    starts[0] = 0
    ends = [*starts[1:], len(rounds)]
    return tuple(
        (start, end, str(engagement["method"]))
        for start, end, engagement in zip(starts, ends, engagements, strict=True)
        if end > start
    )


def _instant(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
