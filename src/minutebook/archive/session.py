"""A session opened for reading: its rounds from the archive, the newest from the transcript.

What is archived is read from round files, one at a time and only when asked for. What the
archive does not have yet (a session not archived, the last rounds of a running one) is read
from the transcript, under the numbers it will have once it is archived.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec

from minutebook.archive.growth import Growth
from minutebook.archive.masking import Hide, hidden_round, hidden_subagent
from minutebook.derive.wording import plural
from minutebook.errors import NotFound
from minutebook.model import Loose, Round, Subagent, ToolCall
from minutebook.record.facts import SessionFacts, SubagentFacts, read_facts
from minutebook.record.layout import SessionFolder
from minutebook.record.ledger import Entry
from minutebook.record.media import FOLDER, MediaStore, without_pictures
from minutebook.record.patches import Malformed
from minutebook.record.recover import StoredRounds, read_subagent, recovered_facts
from minutebook.record.rounds import SCHEMA
from minutebook.sources.base import Transcript
from minutebook.sources.library import open_transcript
from minutebook.sources.registry import SOURCES

_KEPT_BYTES = 48_000_000  # of decoded round files, so that scrolling does not decode them again
_AGENTS = 8
_MEDIA_NAME = re.compile(r"[0-9a-f]{32}\.[a-z0-9]{1,8}")

UNANSWERED = "unanswered"
"""Kind of a call without a result."""


def current_transcript(transcript: Transcript | None) -> Transcript | None:
    """A transcript with the size it has now; None where it was deleted since."""
    return SOURCES[transcript.source].current(transcript) if transcript is not None else None


class RoundShape(msgspec.Struct, frozen=True):
    """A round without its content: which kinds of blocks it has, in order."""

    number: int
    kinds: tuple[str, ...]
    """``user``, ``assistant``, ``thinking``, ``call``, ``unanswered``, ``notice`` …"""
    compactions: int = 0


class OpenSession:
    """One session's rounds, pictures and subagents."""

    withheld: str = ""
    """What another person does not share of it, in a sentence."""

    def __init__(
        self,
        session_id: str,
        folder: SessionFolder | None,
        entry: Entry | None,
        transcript: Transcript | None,
        hide: Hide,
        short: Callable[[str], str] = str,
    ) -> None:
        if entry is None and transcript is None:
            raise NotFound(f"Session {session_id} is neither archived nor in its source.")
        self.session_id = session_id
        self.transcript = transcript
        self._folder, self._entry, self._hide = folder, entry, hide
        self._short = short
        self._stored = StoredRounds(folder) if folder is not None else None
        self._archived = self._count_archived()
        self._tail: list[Round] | None = None
        self._loose: Loose | None = None
        self._media = MediaStore()
        self._read: OrderedDict[int, tuple[Round, int]] = OrderedDict()
        self._read_bytes = 0
        self._agents: OrderedDict[str, Subagent] = OrderedDict()
        self._shapes: dict[int, RoundShape] = {}
        self._lock = threading.RLock()
        """Servers read one session from several threads."""

    @property
    def short(self) -> str:
        """The start of its id that names no other session."""
        return self._short(self.session_id)

    def _count_archived(self) -> int:
        """Rounds that are read from the archive; the others are the tail.

        A run that was killed may have left round files nothing names yet: while the transcript
        is there, they are a part of the tail.
        """
        if self._stored is None:
            return 0
        facts = self._facts() if self.transcript is not None else None
        if facts is not None and not self._stored.is_first_release:
            return facts.written.rounds
        return len(self._stored.numbers())

    @property
    def document(self) -> Path | None:
        """The inscription, where there is one."""
        if self._folder is None or not self._folder.document.exists():
            return None
        return self._folder.document

    @property
    def damaged(self) -> dict[str, str]:
        """Files of this session that could not be read so far → why."""
        return dict(self._stored.damaged) if self._stored is not None else {}

    # -- rounds

    @property
    def count(self) -> int:
        """How many rounds there are."""
        return self._archived + len(self.tail)

    @property
    def tail(self) -> list[Round]:
        """Rounds the archive does not have yet, as they are."""
        with self._lock:
            if self._tail is None:
                self._tail = list(self._read_tail())
            return self._tail

    def stored(self, number: int) -> Round:
        """A round as it is kept, with its secrets; nothing that leaves the archive."""
        if not 1 <= number <= self.count:
            raise NotFound(
                f"Session {self.short} has {plural(self.count, 'round')}; "
                f"there is no round {number}."
            )
        if number > self._archived:
            return self.tail[number - self._archived - 1]
        assert self._stored is not None
        return self._stored.read(number)

    def stored_rounds(self) -> Iterator[Round]:
        """All rounds as they are kept."""
        return (self.stored(number) for number in range(1, self.count + 1))

    def round(self, number: int) -> Round:
        """A round as it may be shown; one that is gone says so."""
        with self._lock:
            known = self._read.get(number)
            if known is not None:
                self._read.move_to_end(number)
                return known[0]
        found = hidden_round(self.stored(number), self._hide)
        if number <= self._archived and str(self._path(number)) not in self.damaged:
            self._keep(number, found)
        return found

    def rounds(self, numbers: Iterable[int] | None = None) -> Iterator[Round]:
        """Rounds as they may be shown, in the order asked for."""
        return map(self.round, numbers if numbers is not None else range(1, self.count + 1))

    def _path(self, number: int) -> Path:
        assert self._folder is not None
        return self._folder.round(number)

    def _keep(self, number: int, found: Round) -> None:
        try:
            size = self._path(number).stat().st_size
        except OSError:
            return
        with self._lock:
            if number not in self._read:
                self._read_bytes += size
            self._read[number] = (found, size)
            while self._read_bytes > _KEPT_BYTES and len(self._read) > 1:
                _, (_, gone) = self._read.popitem(last=False)
                self._read_bytes -= gone

    def shapes(self) -> list[RoundShape]:
        """All rounds without their content, which is several times faster than reading them."""
        return [*(self._shape(n) for n in range(1, self._archived + 1)), *map(shape, self.tail)]

    def _shape(self, number: int) -> RoundShape:
        found = self._shapes.get(number)
        if found is None:
            assert self._stored is not None
            try:
                if self._stored.is_first_release:
                    return shape(self._stored.read(number))
                sketch = _sketcher.decode(self._path(number).read_bytes())
            except (OSError, msgspec.DecodeError, RecursionError):
                return shape(self._stored.read(number))
            if sketch.schema > SCHEMA:
                return shape(self._stored.read(number))
            found = self._shapes[number] = RoundShape(
                number, _kinds(sketch), len(sketch.compactions)
            )
        return found

    def _read_tail(self) -> Iterator[Round]:
        transcript, entry = self.transcript, self._entry
        if transcript is None:
            return
        if entry is not None and not entry.waiting:
            same = (entry.size, entry.mtime) == (transcript.size, transcript.mtime)
            if same or entry.source != transcript.location:
                return
        try:
            growth = Growth(transcript, self._folder, entry, self._facts(), self._media)
            yield from (round for round, _ in growth.rounds())
            self._loose = growth.loose
        except OSError:
            return  # deleted just now: what is archived stays readable

    @property
    def living_loose(self) -> Loose | None:
        """What of a transcript that has grown belongs to no round; None where none was read."""
        _ = self.tail
        return self._loose

    # -- pictures and subagents

    def picture(self, name: str) -> bytes | None:
        """A kept picture by its name; nothing else in the archive can be named."""
        name = name.removeprefix(f"{FOLDER}/")
        if not _MEDIA_NAME.fullmatch(name):
            return None
        waiting = self._media.content(name)
        if waiting is not None or self._folder is None:
            return waiting
        path = self._folder.media / name
        try:
            return None if path.is_symlink() else path.read_bytes()
        except OSError:
            return None

    def _facts(self) -> SessionFacts | None:
        if self._folder is None:
            return None
        try:
            return read_facts(self._folder)
        except (OSError, ValueError):
            return recovered_facts(self._folder)

    def subagents(self) -> list[SubagentFacts]:
        """The subagents of this session, without their rounds."""
        facts = self._facts()
        found = {agent.id: agent for agent in facts.subagents} if facts is not None else {}
        if self.tail or facts is None:
            for agent in self._living_agents():
                found.setdefault(agent.id, _without_rounds(agent))
        return list(found.values())

    def stored_subagent(self, agent_id: str) -> Subagent:
        """A subagent as it is kept, with its secrets."""
        facts = self._facts()
        known = [a for a in facts.subagents if a.id == agent_id] if facts is not None else []
        if known and self._folder is not None:
            try:
                return read_subagent(self._folder, known[0])
            except (OSError, Malformed):
                pass  # lost: its transcript may be there
        for agent in self._living_agents():
            if agent.id == agent_id:
                return agent
        raise NotFound("This subagent's transcript no longer exists.")

    def subagent(self, agent_id: str) -> Subagent:
        """A subagent as it may be shown; the last few are kept."""
        with self._lock:
            if agent_id not in self._agents:
                agent = self.stored_subagent(agent_id)
                self._agents[agent_id] = hidden_subagent(agent, self._hide)
                while len(self._agents) > _AGENTS:
                    self._agents.popitem(last=False)
            return self._agents[agent_id]

    def _living_agents(self) -> Iterator[Subagent]:
        """Subagents as the transcript has them."""
        if self.transcript is None:
            return
        try:
            reading = open_transcript(self.transcript)
            for _ in reading.rounds():
                pass
            for agent in reading.subagents():
                rounds = tuple(without_pictures(r, self._media) for r in agent.rounds)
                yield msgspec.structs.replace(agent, rounds=rounds)
        except OSError:
            return


def _without_rounds(agent: Subagent) -> SubagentFacts:
    return SubagentFacts(
        id=agent.id,
        call_id=agent.call_id,
        kind=agent.kind,
        description=agent.description,
        helper=agent.helper,
        rounds=len(agent.rounds),
    )


# -- shapes


def shape(round: Round) -> RoundShape:
    """A round's shape, from the round itself."""
    asked = len(round.asked)
    kinds = []
    for at, block in enumerate(round.blocks):
        answered = not isinstance(block, ToolCall) or block.result is not None
        tag = str(block.__struct_config__.tag)
        kinds.append(kind_of(tag, typed=at < asked) if answered else UNANSWERED)
    return RoundShape(round.number, tuple(kinds), len(round.compactions))


def kind_of(tag: str, *, typed: bool) -> str:
    """Which of the five parts of a transcript a block belongs to; ``notice`` is in none."""
    if tag in ("text", "image", "document"):
        return "user" if typed else "assistant"
    return {"thinking": "thinking", "tool_call": "call", "notice": "notice"}.get(tag, "result")


class _Answer(msgspec.Struct):
    """Anything: that it is there is all that matters."""


class _Kind(msgspec.Struct):
    type: str = ""
    result: _Answer | None = None


class _Sketch(msgspec.Struct):
    schema: int = 0
    user: str | list[_Kind] | None = None
    agent: list[_Kind] = []
    compactions: list[_Answer] = []


_sketcher = msgspec.json.Decoder(_Sketch)


def _kinds(sketch: _Sketch) -> tuple[str, ...]:
    if isinstance(sketch.user, list):
        asked = [kind_of(block.type, typed=True) for block in sketch.user]
    else:
        asked = ["user"] if sketch.user is not None else []
    return (*asked, *(_kind(block) for block in sketch.agent))


def _kind(block: _Kind) -> str:
    if block.type == "tool_call" and block.result is None:
        return UNANSWERED
    return kind_of(block.type, typed=False)
