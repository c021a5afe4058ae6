"""Traces: what of a session may tie it to others, small enough to keep for every session.

A trace holds no answer and hardly any text: fingerprints of rounds, the first prompt, words, files,
branches, numbers. Which session comes from which is found from traces alone.
"""

from __future__ import annotations

import hashlib
import re
import string
from collections import Counter
from collections.abc import Collection, Iterable, Iterator

import msgspec

from minutebook.derive.calls import command_of, describe, path_of, plan_of
from minutebook.derive.references import pulled, references
from minutebook.derive.times import instant
from minutebook.model import Round, Text, Thinking, ToolCall

VERSION = 2
"""Of what traces hold; those of another version are made again."""
FIRST_CHARS = 1_200
"""Characters kept of the first prompt."""
_OPENING_CHARS = 240  # of a reply; less than this may be said twice by chance
_LINE_CHARS, _LINE_SIGNS = 40, 30  # of a line that says enough, with and without its blanks
_MOST_LINES, _MOST_ASKED_LINES = 400, 80
_MOST_WORDS, _MOST_FIRST_WORDS = 160, 80
_MOST_FILES = 60
_MOST_LAUNCHES = 20
_COMMAND_CHARS = 4_000
_DESCRIBED = 100
_LONGEST = 20_000  # characters of a text that are looked at for words
_EARLY = 2
"""Rounds in which a session says what it goes on with."""

_WORD = re.compile(r"[A-Za-z_][\w-]{3,39}|[^\W\d_A-Za-z]{2,20}")
_ASCII_WORD = re.compile(r"[a-z_][a-z0-9_-]{3,39}")
"""The same where all is ASCII, in lower case: a set of signs is faster than kinds of signs."""
_ID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
_PULL = re.compile(r"https?://[^\s\"'<>)]{1,200}/(?:pull|merge_requests)/\d{1,6}")


class RoundTrace(msgspec.Struct, frozen=True, array_like=True):
    """A round, as far as one can tell whether another session has it too."""

    id: str
    """Id of the prompt; empty where there is none."""
    at: float
    """When it began, in seconds since the epoch; 0 where that is not known."""
    asked: str
    """Fingerprint of the prompt as it was typed; empty where nothing was."""
    opening: str
    """Fingerprint of how the answer begins; empty where it is too short to tell."""
    whole: str
    """Fingerprint of all that was answered and called; empty where nothing was."""
    size: int
    """Characters of the answer, without blanks."""


class Launch(msgspec.Struct, frozen=True, array_like=True):
    """A command that starts a coding agent."""

    round: int
    at: float
    until: float
    """When it was done; 0 where that is not known."""
    command: str


class Trace(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What of a session may tie it to others."""

    rounds: tuple[RoundTrace, ...] = ()
    first: str = ""
    """The first prompt, or its beginning."""
    first_round: int = 1
    """The round it opens."""
    named: tuple[str, ...] = ()
    """Ids in the first prompt that may be sessions'."""
    asked_lines: tuple[str, ...] = ()
    """Fingerprints of the longer lines of the first prompt."""
    lines: dict[str, int] = {}
    """Fingerprints of the longer lines of plans, notes and last answers → the last round."""
    begins: dict[str, int] = {}
    """Words of the first prompts and answers, with how often they are there."""
    holds: dict[str, int] = {}
    """Words of all prompts and last answers."""
    touched: tuple[str, ...] = ()
    """Files that the first rounds read or changed."""
    files: tuple[str, ...] = ()
    """Files that were changed, the last ones."""
    numbers_first: tuple[str, ...] = ()
    """Issues and pull requests the first prompt names."""
    numbers: dict[str, int] = {}
    """Those named or opened anywhere → the last round."""
    branches: tuple[str, ...] = ()
    """The branch of the first and of the last round."""
    cwds: tuple[str, ...] = ()
    """The folder of the first and of the last round."""
    launches: tuple[Launch, ...] = ()
    agents: dict[str, tuple[int, str]] = {}
    """Subagents → the round whose call started them, and what for."""


def trace_of(rounds: Iterable[Round], programs: Collection[str] = ()) -> Trace:
    """The trace of a session; `programs` are the commands of known agents."""
    tracer = Tracer(programs)
    for round in rounds:
        tracer.add(round)
    return tracer.trace()


class Tracer:
    """Makes a trace of rounds as they pass; nothing of a round is held."""

    def __init__(self, programs: Collection[str]) -> None:
        self._programs = tuple(programs)
        named = "|".join(re.escape(program) for program in sorted(programs))
        self._starts = (
            re.compile(rf"(?:^|[\s;&|(/]){f'(?:{named})'}\s+(?=\S)") if programs else None
        )
        self._rounds: list[RoundTrace] = []
        self._first = ""
        self._first_round = 0
        self._begins: Counter[str] = Counter()
        self._holds: Counter[str] = Counter()
        self._lines: dict[str, int] = {}
        self._touched: dict[str, None] = {}
        self._files: dict[str, None] = {}
        self._numbers: dict[str, int] = {}
        self._branches: list[str] = []
        self._cwds: list[str] = []
        self._launches: list[Launch] = []
        self._agents: dict[str, tuple[int, str]] = {}

    def add(self, round: Round) -> None:
        prompt = round.prompt.said.strip() if round.prompt is not None else ""
        answers = [b.text for m in round.replies for b in m.blocks if isinstance(b, Text)]
        last = next((text for text in reversed(answers) if text.strip()), "")
        self._rounds.append(_round_trace(round, prompt))
        if prompt and not self._first_round:
            self._first, self._first_round = prompt, round.number
        asked = _words(prompt)
        self._holds.update(asked)
        self._holds.update(_words(last))
        if len(self._rounds) <= _EARLY:
            self._begins.update(asked)
            for text in answers[:3]:
                self._begins.update(_words(text))
        self._note_lines(last, round.number)
        for number in references(prompt)[0]:
            self._numbers[number] = round.number
        for call in round.calls:
            self._call(call, round.number)
        if round.branch:
            self._branches.append(round.branch)
        if round.cwd:
            self._cwds.append(round.cwd)

    def _call(self, call: ToolCall, number: int) -> None:
        if call.agent:
            self._agents.setdefault(call.agent, (number, _storable(describe(call)[:_DESCRIBED])))
        if plan := plan_of(call):
            self._note_lines(plan, number)
        path = _storable(path_of(call) or "")
        if path and call.kind in ("edit", "write"):
            self._files.pop(path, None)
            self._files[path] = None
            if path.endswith(".md") and isinstance(call.input, dict):
                for text in call.input.values():
                    if isinstance(text, str):
                        self._note_lines(text, number)
        if path and len(self._rounds) <= _EARLY:
            self._touched[path] = None
        if call.kind != "run":
            return
        command = command_of(call)
        if "pr create" in command or "mr create" in command:
            opened = call.result.text[:_LONGEST] if call.result is not None else ""
            for name in pulled(_PULL.findall(opened)):
                self._numbers[name] = number
        named = any(name in command for name in self._programs)
        if named and self._starts is not None and self._starts.search(command[:_COMMAND_CHARS]):
            until = call.result.at if call.result is not None else None
            self._launches.append(
                Launch(
                    number,
                    seconds(call.at),
                    seconds(until),
                    _storable(command[:_COMMAND_CHARS]),
                )
            )

    def _note_lines(self, text: str, number: int) -> None:
        for line in long_lines(text, _MOST_LINES):
            self._lines.pop(line, None)
            self._lines[line] = number

    def trace(self) -> Trace:
        first = self._first
        return Trace(
            rounds=tuple(self._rounds),
            first=_storable(first[:FIRST_CHARS]),
            first_round=self._first_round or 1,
            named=tuple(dict.fromkeys(_ID.findall(first[:200_000])))[:20],
            asked_lines=tuple(long_lines(first, _MOST_ASKED_LINES)),
            lines=dict(list(self._lines.items())[-_MOST_LINES:]),
            begins=dict(self._begins.most_common(_MOST_FIRST_WORDS)),
            holds=dict(self._holds.most_common(_MOST_WORDS)),
            touched=tuple(self._touched)[:_MOST_FILES],
            files=tuple(self._files)[-_MOST_FILES:],
            numbers_first=references(first)[0],
            numbers=self._numbers,
            branches=_ends(self._branches),
            cwds=_ends(self._cwds),
            launches=tuple(self._launches)[:_MOST_LAUNCHES],
            agents=self._agents,
        )


def _ends(values: list[str]) -> tuple[str, ...]:
    return (values[0], values[-1]) if values else ()


def _round_trace(round: Round, prompt: str) -> RoundTrace:
    whole = hashlib.blake2b(digest_size=6)
    opening = hashlib.blake2b(digest_size=6)
    size = opened = 0
    for piece in _pieces(round):
        data = _bare(piece)
        length = _length(data)
        whole.update(data + b"\0")
        size += length
        if opened < _OPENING_CHARS:
            opening.update(data[: 4 * _OPENING_CHARS] + b"\0")
            opened += length
    return RoundTrace(
        (round.prompt.id or "") if round.prompt is not None else "",
        seconds(round.started),
        _fingerprint(prompt) if prompt else "",
        opening.hexdigest() if opened >= _OPENING_CHARS else "",
        whole.hexdigest() if size else "",
        size,
    )


def _pieces(round: Round) -> Iterator[str | bytes]:
    """What the model said and did, in order; what tools answered may differ in a copy."""
    for message in round.replies:
        for block in message.blocks:
            if isinstance(block, Text | Thinking):
                yield block.text
            elif isinstance(block, ToolCall):
                yield block.name.encode("utf-8", "surrogatepass") + b"\0" + _told(block.input)


def _told(value: object) -> bytes:
    try:
        return msgspec.json.encode(value, order="sorted")
    except (TypeError, ValueError, UnicodeError, RecursionError):
        return repr(value).encode("utf-8", "surrogatepass")


def long_lines(text: str, most: int) -> list[str]:
    """Fingerprints of the lines that say enough to be told from others."""
    found: dict[str, None] = {}
    for line in text[: 40 * most * _LINE_CHARS].splitlines():
        if len(line) < _LINE_CHARS:
            continue
        bare = _bare(line)
        if _length(bare) >= _LINE_SIGNS:
            found[_hashed(bare)] = None
            if len(found) >= most:
                break
    return list(found)


_SMALL = bytes.maketrans(string.ascii_uppercase.encode(), string.ascii_lowercase.encode())
_BLANKS = string.whitespace.encode()


def _bare(text: str | bytes) -> bytes:
    """A text as it is compared, in one quick pass: without blanks, in small letters."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return data.translate(_SMALL, _BLANKS)


def _length(bare: bytes) -> int:
    """Characters of a text: of some scripts each takes three bytes."""
    return len(bare) if bare.isascii() else len(bare.decode("utf-8", "surrogatepass"))


def _storable(text: str) -> str:
    """What can be written down: no half of a character."""
    return text.encode("utf-8", "replace").decode()


def _fingerprint(text: str) -> str:
    return _hashed(_bare(text))


def _hashed(bare: bytes) -> str:
    return hashlib.blake2b(bare, digest_size=6).hexdigest()


def _words(text: str) -> list[str]:
    """Each word once, in the order of the text: the same for every run."""
    small = text[:_LONGEST].lower()
    return list(dict.fromkeys((_ASCII_WORD if small.isascii() else _WORD).findall(small)))


def seconds(timestamp: str | None) -> float:
    """Seconds since the epoch; 0 where it is not known."""
    moment = instant(timestamp)
    return moment.timestamp() if moment is not None else 0.0
