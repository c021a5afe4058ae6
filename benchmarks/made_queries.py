"""Queries made from transcripts: lines that tools printed, files that were edited, answers.

Each has one session it can be from. The same ones every time.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from minutebook.derive.calls import path_of
from minutebook.derive.surfaces import bounded
from minutebook.model import Round
from minutebook.sources.library import Library, open_transcript

SEED = 20261116


class Line(NamedTuple):
    """A line of a tool's output, and whether the index keeps it."""

    text: str
    session_id: str
    within: bool


def rounds(places: list[Path]) -> Iterator[tuple[str, Round]]:
    for transcript in Library(places).transcripts:
        for round in open_transcript(transcript).rounds():
            yield transcript.session_id, round


def lines(places: list[Path], count: int) -> list[Line]:
    """Random whole lines of random outputs that stand in one session only."""
    owners: dict[str, set[str]] = {}
    outputs: list[tuple[str, str]] = []
    for session_id, round in rounds(places):
        for call in round.calls:
            if call.result is not None and call.result.text.strip():
                outputs.append((session_id, call.result.text))
                for line in _lines(call.result.text):
                    owners.setdefault(line, set()).add(session_id)
    dice = random.Random(SEED)
    dice.shuffle(outputs)
    found: list[Line] = []
    for session_id, text in outputs:
        single = [line for line in _lines(text) if len(owners[line]) == 1]
        if single:
            line = dice.choice(single)
            found.append(Line(line, session_id, line in bounded(text)))
        if len(found) >= count:
            break
    return found


def _lines(text: str) -> list[str]:
    whole = (line.strip() for line in text.splitlines())
    return [line for line in whole if 20 <= len(line) <= 120 and any(map(str.isalnum, line))]


def edited(places: list[Path], count: int) -> list[tuple[str, str]]:
    """Files that were edited in one session only, as people would name them; and that session."""
    owners: dict[str, set[str]] = {}
    for session_id, round in rounds(places):
        for call in round.calls:
            path = path_of(call)
            if call.kind in ("edit", "write") and path is not None:
                owners.setdefault(path, set()).add(session_id)
    single = sorted((path, *ids) for path, ids in owners.items() if len(ids) == 1)
    dice = random.Random(SEED)
    dice.shuffle(single)
    return [(path, session_id) for path, session_id in single[:count]]
