"""A generated team: people, sessions and rounds as rows, the same every time.

Words are those of the embedder in the box, as often as Zipf says, so that vectors mean something
and common words are as common as they are; each session keeps to a topic of its project. Nothing
of it was ever said.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from minutebook.archive.refreshing import entries_of
from minutebook.archive.round_work import RoundWork
from minutebook.derive.turn_pairs import turn_pairs
from minutebook.index import static
from minutebook.index.entry import engagement_entries, prepare, session_entry, turn_entry
from minutebook.model import Message, Round, SessionInfo, Text
from minutebook.model.engagement import Engagement, SessionRecord
from minutebook.record.rounds import round_file
from minutebook.team.gathering import RoundRow, SessionRows, fingerprint, text_of
from minutebook.team.planning import Planned

PEOPLE = 100
ROUNDS = 25  # a session, on the average
PROJECTS = 40
COMMON = (
    "the to and a of is in it for this that with on be we as can not add test fix change file "
    "code run check commit branch error function update session push command need use build"
).split()
_TOPICS = 12  # of a project
_START = datetime(2025, 1, 1, tzinfo=UTC)
_METHODS = ("feature", "bugfix", "refactoring", "research")


@cache
def words() -> list[str]:
    """Common words first, then those the embedder knows."""
    arrays = static.load(Path(static.__file__).with_name("embedder.bin"))[1]
    known = arrays["words"].tobytes().decode().split("\n")
    plain = [word for word in known if re.fullmatch("[a-z]{3,14}", word)]
    shuffled = np.random.default_rng(1).permutation(len(plain))
    return [*COMMON, *(plain[at] for at in shuffled if plain[at] not in COMMON)]


@cache
def _chances() -> Any:
    """Zipf's law, as sums: how likely a word of this rank or a more common one is."""
    weights = 1 / (np.arange(len(words())) + 2.7)
    return np.cumsum(weights / weights.sum())


@cache
def topic(project: int, number: int) -> list[str]:
    """What a topic's texts have more often than others."""
    dice = np.random.default_rng((2, project, number))
    places = dice.integers(len(COMMON), min(12_000, len(words())), 60)
    return [words()[at] for at in places]


def project_name(number: int) -> str:
    return f"{words()[500 + 3 * number]}-{number}"


class _Writer:
    """Texts of one session."""

    def __init__(self, dice: np.random.Generator, project: int) -> None:
        self._dice = dice
        self._topic = topic(project, int(dice.integers(_TOPICS)))

    def text(self, length: int) -> str:
        dice, known, own = self._dice, words(), self._topic
        ranks = np.searchsorted(_chances(), dice.random(length))
        about = dice.random(length) < 0.25
        chosen = dice.integers(len(own), size=length)
        told = [
            own[topical] if is_about else known[rank]
            for rank, topical, is_about in zip(ranks, chosen, about, strict=True)
        ]
        for start in range(0, length, 12):
            told[start] = told[start].capitalize()
            end = min(start + 11, length - 1)
            told[end] += "."
        if length > 30:
            told[7] = f"{own[chosen[7]]}{known[ranks[7]].capitalize()}()"
            told[19] = f"src/{own[chosen[19]]}/{known[ranks[19]]}.py"
        return " ".join(told)


def session_id(person: int, number: int) -> str:
    return f"{person:08x}-{number:04x}-4000-8000-{number:012x}"


def made_session(person: int, number: int, *, version: int = 0) -> tuple[Planned, SessionRows]:
    """A session as it would be pushed."""
    dice = np.random.default_rng((3, person, number, version))
    project = (person * 7 + number) % 5 * 8 + person % 8  # each person works on five
    cwd = f"/home/p{person:03}/work/{project_name(project)}"
    id = session_id(person, number)
    writer = _Writer(dice, project)
    start = _START + timedelta(days=int(dice.integers(600)), minutes=int(dice.integers(1_000)))
    info = SessionInfo(
        id=id,
        source="claude-code",
        started=_stamp(start),
        cwds=(cwd,),
        branches=("main" if number % 3 else f"topic-{number % 11}",),
        models=(("claude-sonnet-5-5", "claude-opus-5")[number % 2],),
        title=writer.text(6),
        rounds=ROUNDS,
        prompts=ROUNDS,
    )
    rounds = [_round(writer, dice, place + 1, start, id) for place in range(ROUNDS)]
    record = _record(info, writer, project, start)
    entries = entries_of(
        info,
        {p.metadata.round: turn_entry(p) for p in turn_pairs(info, rounds)},
        RoundWork(),
        record,
        record.title,
    )
    spoken = [item for item in entries if item.entry.kind == "turn"]
    entries.append(session_entry(id, spoken))
    entries += [prepare(entry) for entry in engagement_entries(record)]
    bodies = [(round.number, text_of(round_file(id, round))) for round in rounds]
    rows = SessionRows(
        info=info,
        record=record,
        project=project_name(project),
        digest="",
        edges=(),
        rounds=[RoundRow(number, fingerprint(body), body) for number, body in bodies],
        entries=entries,
        files=[],
    )
    planned = Planned(
        session_id=id,
        project=rows.project,
        title=info.title,
        rounds=ROUNDS,
        engagements=len(record.engagements),
        why="new",
        stamp=f"{version}",
    )
    return planned, rows


def _round(
    writer: _Writer, dice: np.random.Generator, number: int, start: datetime, id: str
) -> Round:
    at = start + timedelta(minutes=3 * number)
    asked, rest, answered = dice.integers((8, 12, 20), (26, 32, 42)).tolist()
    asked_id, reply_id = (f"{id[:13]}-{number:04x}-4000-{n:012x}" for n in (1, 2))
    texts = (Text(writer.text(rest)), Text(writer.text(answered)))
    model = "claude-sonnet-5-5"
    return Round(
        number,
        (
            Message("user", (Text(writer.text(asked)),), id=asked_id, at=_stamp(at)),
            Message("assistant", texts, id=reply_id, at=_stamp(at), model=model),
        ),
        tool_count=number % 2,
    )


def _record(info: SessionInfo, writer: _Writer, project: int, start: datetime) -> SessionRecord:
    engagements = tuple(
        Engagement(
            id=f"work-{place}",
            topic=writer.text(5),
            project=info.cwd or "",
            method=_METHODS[(project + place) % len(_METHODS)],
            phase="done",
            key_decisions=(writer.text(12),),
            outcome=writer.text(10),
            turn_range=(1 + place * ROUNDS // 2, (place + 1) * ROUNDS // 2),
            started=_stamp(start),
        )
        for place in range(2)
    )
    return SessionRecord(
        session_id=info.id,
        title=info.title,
        cwd=info.cwd,
        project=project_name(project),
        git_branch=info.branch,
        model=info.model,
        started=info.started,
        ended=_stamp(start + timedelta(minutes=3 * ROUNDS)),
        rounds=ROUNDS,
        user_messages=ROUNDS,
        engagements=engagements,
        extractor="offline",
    )


def _stamp(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S.000Z")
