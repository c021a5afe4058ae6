"""Forks, resumes and copies, cut from real sessions at random rounds, with every id renewed.

Nothing in what is made names the session it comes from: what is left is the words, and for some
the moments. Beside them sessions that only begin alike: the same first prompt, the same prompts
throughout, another answer. What is made is written below the folder one names, nowhere else.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Container, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, Literal, NamedTuple

from minutebook import find_transcripts, read_session
from minutebook.model import Round, Session, Text
from minutebook.model.lineage import EdgeKind

Json = dict[str, Any]
How = Literal["resumes", "forks", "copies"]
_IDS = frozenset(
    "uuid parentUuid sessionId session_id logicalParentUuid leafUuid messageId requestId promptId "
    "toolUseID parentToolUseID sourceToolAssistantUUID tool_use_id agentId".split()
)
_DROPPED = frozenset({"slug", "forkedFrom", "parentSessionId"})
_BLOCKS = frozenset({"tool_use", "message", "server_tool_use"})


class Made(NamedTuple):
    """A session that was made, and what is true of it."""

    session_id: str
    origin: str
    kind: EdgeKind
    directed: bool
    """Whether anything in it tells which of the two came first."""
    shifted: bool


class Original(NamedTuple):
    path: Path
    session: Session


def originals(roots: Iterable[Path], ids: Container[str]) -> list[Original]:
    """Real sessions to cut from, in a fixed order."""
    found = [
        Original(transcript.path, read_session(transcript.path))
        for root in roots
        for transcript in sorted(find_transcripts(root), key=lambda t: str(t.path))
        if transcript.session_id in ids
    ]
    return [one for one in found if one.session.rounds and one.session.info.ended]


def make(folder: Path, pool: list[Original], count: int, seed: int = 16) -> list[Made]:
    """Write `count` copies of as many sessions below ``folder/projects``: a third of each kind."""
    dice = Random(seed)
    words = _Words(pool, dice)
    long = [one for one in pool if _cuts(one)]
    rest = [one for one in pool if not _cuts(one)]
    dice.shuffle(long)
    dice.shuffle(rest)
    forked, others = long[: count // 3], [*long[count // 3 :], *rest]
    dice.shuffle(others)
    kinds: list[How] = ["resumes", "copies"]
    found = [_make(folder, one, "forks", dice, words) for one in forked]
    for at, one in enumerate(others[: count - len(forked)]):
        found.append(_make(folder, one, kinds[at % 2], dice, words))
    return found


def _make(folder: Path, one: Original, how: How, dice: Random, words: _Words) -> Made:
    rounds = one.session.rounds
    cuts = _cuts(one)
    whole = how == "resumes" or not cuts or (how == "copies" and dice.random() < 0.4)
    number = len(rounds) if whole else dice.choice(cuts)
    shifted = dice.random() < 0.5 or (how == "copies" and number < len(rounds))
    ended = _moment(one.session.info.ended)
    started = _moment(one.session.info.started)
    gap = timedelta(minutes=dice.randint(5, 6_000))
    shift = ended - started + gap if shifted else timedelta()
    id = str(uuid.UUID(int=dice.getrandbits(128), version=4))
    renew = _Renewal(id, dice, shift)
    records = [renew(record) for record in _before(one, number)]
    if how != "copies":
        records += _own(id, records, ended + shift + gap, dice, words)
    _write(folder, id, records)
    directed = how != "copies" or shifted
    return Made(id, one.session.info.id, how, directed, shifted)


def _cuts(one: Original) -> list[int]:
    """After how many rounds a session can be cut: a record begins the next one."""
    following = enumerate((round.prompt for round in one.session.rounds[1:]), 1)
    return [n for n, asked in following if asked is not None and asked.id and not asked.queued]


def make_negatives(folder: Path, pool: list[Original], count: int, seed: int = 61) -> list[str]:
    """Sessions that only begin like a real one: the same prompts again, the same first prompt, one
    template with other words in it, or even an answer that begins the same."""
    dice = Random(seed)
    words = _Words(pool, dice)
    found = []
    for at, one in enumerate(dice.choices(pool, k=count)):
        prompts = [r.prompt.said for r in one.session.rounds if r.prompt is not None]
        if not prompts:
            continue
        first = prompts[0]
        template = first[: max(40, len(first) // 4)]
        asked = [prompts[:5], [first, words.some(20)], [template + words.some(60)], prompts[:2]]
        opening = _opening(one.session.rounds[0]) if at % 4 == 3 else ""
        id = str(uuid.UUID(int=dice.getrandbits(128), version=4))
        info = one.session.info
        start = {"cwd": info.cwd, "gitBranch": info.branch, "version": "2.1.100"}
        at_first = _moment(info.ended) + timedelta(minutes=dice.randint(1, 3_000))
        records = [
            record
            for number, prompt in enumerate(asked[at % 4])
            for record in _round(
                *(id, start, prompt, words, at_first + timedelta(minutes=9 * number), dice),
                opening=opening if number == 0 else "",
            )
        ]
        _write(folder, id, records)
        found.append(id)
    return found


# -- records


class _Renewal:
    """Gives every id of a transcript another one, and every moment a later one."""

    def __init__(self, session_id: str, dice: Random, shift: timedelta) -> None:
        self._session_id, self._dice, self._shift = session_id, dice, shift
        self._known: dict[str, str] = {}

    def __call__(self, value: Any, key: str = "", inside: str = "") -> Any:
        if isinstance(value, dict):
            kind = str(value.get("type", "")) if key != "input" else ""
            return {
                name: self(item, name, kind) for name, item in value.items() if name not in _DROPPED
            }
        if isinstance(value, list):
            return [self(item, "", inside) for item in value]
        if not isinstance(value, str):
            return value
        if key in ("sessionId", "session_id"):
            return self._session_id
        if key in _IDS or (key == "id" and inside in _BLOCKS):
            return self._id(value)
        if key == "timestamp" and self._shift:
            return _stamp(_moment(value) + self._shift)
        return value

    def _id(self, old: str) -> str:
        if old not in self._known:
            new = uuid.UUID(int=self._dice.getrandbits(128), version=4)
            start = old.split("_")[0] + "_" if old.startswith(("msg_", "toolu_", "req_")) else ""
            self._known[old] = f"{start}{new.hex}" if start else str(new)
        return self._known[old]


def _before(one: Original, number: int) -> Iterator[Json]:
    """The records of the first so many rounds."""
    rounds = one.session.rounds
    following = rounds[number].prompt if number < len(rounds) else None
    stop = following.id if following is not None else None
    for line in one.path.read_bytes().split(b"\n"):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if not isinstance(record, dict):
            continue
        if stop and record.get("uuid") == stop:
            return
        yield record


def _own(id: str, before: list[Json], at: datetime, dice: Random, words: _Words) -> Iterator[Json]:
    """What a session goes on with by itself."""
    last = next((r for r in reversed(before) if r.get("cwd")), {})
    start = {name: last.get(name) for name in ("cwd", "gitBranch", "version")}
    for number in range(dice.randint(1, 4)):
        asked = words.some(dice.randint(4, 40))
        yield from _round(id, start, asked, words, at + timedelta(minutes=7 * number), dice)


def _opening(round: Round) -> str:
    """How the first answer begins, as far as a template may make it begin."""
    texts = [b.text for m in round.replies for b in m.blocks if isinstance(b, Text)]
    return next(iter(texts), "")[:600]


def _round(
    id: str,
    start: Json,
    asked: str,
    words: _Words,
    at: datetime,
    dice: Random,
    opening: str = "",
) -> Iterator[Json]:
    common = {**start, "sessionId": id, "isSidechain": False, "userType": "external"}
    ids = [str(uuid.UUID(int=dice.getrandbits(128), version=4)) for _ in range(3)]
    yield {
        **common,
        "type": "user",
        "uuid": ids[0],
        "parentUuid": None,
        "timestamp": _stamp(at),
        "message": {"role": "user", "content": asked},
    }
    texts = [opening] if opening else []
    texts.append(words.some(dice.randint(20, 120)))
    said = [{"type": "text", "text": text} for text in texts]
    yield {
        **common,
        "type": "assistant",
        "uuid": ids[1],
        "parentUuid": ids[0],
        "timestamp": _stamp(at + timedelta(seconds=30)),
        "message": {
            "id": f"msg_{ids[2]}",
            "role": "assistant",
            "model": "claude-sonnet-4-5",
            "type": "message",
            "stop_reason": "end_turn",
            "content": said,
        },
    }


def _write(folder: Path, id: str, records: Iterable[Json]) -> None:
    place = folder / "projects" / "-made"
    place.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(record, separators=(",", ":")) for record in records]
    (place / f"{id}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


class _Words:
    """Words of real sessions, dealt out again: like them, and never a copy."""

    def __init__(self, pool: list[Original], dice: Random) -> None:
        self._dice = dice
        self._words = sorted({w for one in pool for r in one.session.rounds for w in _said(r)})

    def some(self, count: int) -> str:
        return " ".join(self._dice.choices(self._words, k=count)) + "."


def _said(round: Round) -> list[str]:
    texts = [b.text for m in round.messages for b in m.blocks if isinstance(b, Text)]
    return " ".join(texts)[:2_000].split()


def _moment(stamp: str | None) -> datetime:
    return datetime.fromisoformat(stamp or "2026-01-01T00:00:00Z").astimezone(UTC)


def _stamp(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"
