"""A session opened for reading: its rounds from the archive, the newest from the source.

What is inscribed is read from round files, one at a time and only when asked for. What the
archive does not have yet (a session not inscribed, the last rounds of a running one) is
read from the transcript.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path

import msgspec

from minutebook.record.blocks import Malformed
from minutebook.record.layout import Layout, SessionFolder
from minutebook.record.ledger import Entry, peek
from minutebook.record.media import FOLDER, MediaStore
from minutebook.record.reading import read_subagent
from minutebook.record.rounds import KeptRound, kept, read_round
from minutebook.errors import NotFound
from minutebook.model import Subagent, ToolCall
from minutebook.model.blocks import Notice
from minutebook.sources.base import Transcript
from minutebook.sources.library import open_transcript
from minutebook.verbs.inscribe import reading_on

_KEPT_BYTES = 48_000_000  # of decoded round files, so that scrolling does not decode them again
_AGENTS = 8
_ROUND_NAME = re.compile(r"[a-z]?(\d+)\.json")
_MEDIA_NAME = re.compile(r"[0-9a-f]{32}\.[a-z0-9]{1,8}")

UNANSWERED = "unanswered"
"""Kind of a call without a result."""
MISSING = "missing"
"""Kind of the notice that stands where a round file is gone."""


class RoundShape(msgspec.Struct, frozen=True):
    """A round without its content: which kinds of blocks it has, in order."""

    number: int
    kinds: tuple[str, ...]
    """``user``, ``assistant``, ``thinking``, ``call``, ``unanswered``, ``notice`` …"""


class OpenSession:
    """One session's rounds, pictures and subagents."""

    def __init__(
        self, layout: Layout, session_id: str, entry: Entry | None, transcript: Transcript | None
    ) -> None:
        self.session_id = session_id
        self.transcript = transcript
        self._layout, self._entry = layout, entry
        document = layout.document(entry.agent_id, session_id) if entry is not None else None
        self._folder = SessionFolder(document.with_suffix("")) if document is not None else None
        self._inscribed = entry.rounds if entry is not None else 0
        if entry is not None and not entry.rounds:
            self._inscribed = _count_rounds(self._folder)  # a ledger made from documents alone
        self._tail: list[KeptRound] | None = None
        self._media = MediaStore()
        self._read: OrderedDict[int, tuple[KeptRound, int]] = OrderedDict()
        self._read_bytes = 0
        self._agents: dict[str, list[KeptRound]] = {}
        self._lock = threading.RLock()
        """Servers read one session from several threads."""
        self._shapes: dict[int, RoundShape] = {}
        if entry is None and transcript is None:
            raise NotFound("There is no such session: neither inscribed nor in its source.")

    @property
    def document(self) -> Path | None:
        """The inscription, where there is one."""
        return self._folder.path.with_suffix(".md") if self._folder is not None else None

    @property
    def count(self) -> int:
        """How many rounds there are."""
        return self._inscribed + len(self.tail)

    @property
    def tail(self) -> list[KeptRound]:
        """Rounds the archive does not have yet."""
        with self._lock:
            if self._tail is None:
                self._tail = list(self._read_tail())
            return self._tail

    def round(self, number: int) -> KeptRound:
        """A round; one whose file is gone says so."""
        if not 1 <= number <= self.count:
            raise NotFound(f"This session has {self.count} rounds; there is no round {number}.")
        if number > self._inscribed:
            return self.tail[number - self._inscribed - 1]
        with self._lock:
            known = self._read.get(number)
            if known is not None:
                self._read.move_to_end(number)
                return known[0]
        assert self._folder is not None
        try:
            content = self._folder.round(number).read_bytes()
            found = read_round(content)
        except (OSError, msgspec.DecodeError, msgspec.ValidationError):
            return _missing(number)  # not kept: it may come back
        self._keep(number, found, len(content))
        return found

    def _keep(self, number: int, found: KeptRound, size: int) -> None:
        with self._lock:
            if number not in self._read:
                self._read_bytes += size
            self._read[number] = (found, size)
            while self._read_bytes > _KEPT_BYTES and len(self._read) > 1:
                _, (_, gone) = self._read.popitem(last=False)
                self._read_bytes -= gone

    def shapes(self) -> list[RoundShape]:
        """All rounds without their content, which is several times faster than reading them."""
        return [*(self._shape(n) for n in range(1, self._inscribed + 1)), *map(shape, self.tail)]

    def _shape(self, number: int) -> RoundShape:
        found = self._shapes.get(number)
        if found is None:
            assert self._folder is not None
            try:
                content = self._folder.round(number).read_bytes()
                sketch = _sketcher.decode(content)
            except (OSError, msgspec.DecodeError):
                return shape(_missing(number))
            found = RoundShape(number, _kinds(sketch))
            self._shapes[number] = found  # a round file never changes
        return found

    def picture(self, name: str) -> bytes | None:
        """A kept picture by its name; nothing else in the archive can be named."""
        name = name.removeprefix(f"{FOLDER}/")
        if not _MEDIA_NAME.fullmatch(name):
            return None
        if name in self._media.kept:
            return self._media.kept[name]
        path = self._folder.media / name if self._folder is not None else None
        if path is None or path.is_symlink():
            return None
        try:
            return path.read_bytes()
        except OSError:
            return None

    def subagent(self, agent_id: str) -> Subagent:
        """A subagent of this session, from its inscription or its own transcript."""
        if self._folder is not None:
            path = self._folder.subagent(agent_id)
            try:
                return read_subagent(self._folder, path)
            except (OSError, Malformed):
                pass  # not inscribed (yet): its transcript may be there
        if self.transcript is not None:
            reading = open_transcript(self.transcript)
            for _ in reading.rounds():
                pass
            for agent in reading.subagents():
                if agent.id == agent_id:
                    return agent
        raise NotFound("This subagent's transcript is not there any more.")

    def agent_rounds(self, agent_id: str) -> list[KeptRound]:
        """A subagent's rounds in the form the session's own have; the last few are kept."""
        with self._lock:
            if agent_id not in self._agents:
                if len(self._agents) >= _AGENTS:
                    self._agents.clear()
                rounds = self.subagent(agent_id).rounds
                self._agents[agent_id] = [
                    msgspec.structs.replace(kept(self.session_id, round, self._media), round=at)
                    for at, round in enumerate(rounds, start=1)
                ]
            return self._agents[agent_id]

    def _read_tail(self) -> Iterator[KeptRound]:
        transcript, entry = self.transcript, self._entry
        if transcript is None:
            return
        if entry is not None and not entry.waiting:
            same = (entry.size, entry.mtime) == (transcript.size, transcript.mtime)
            if same or entry.source != str(transcript.path):
                return
        try:
            reading, behind = reading_on(self._layout, transcript, entry)
            rounds = list(reading.rounds())
        except OSError:
            return  # deleted just now: what is inscribed stays readable
        for place, round in enumerate(rounds, behind + 1):
            if place > self._inscribed:
                yield msgspec.structs.replace(
                    kept(self.session_id, round, self._media), round=place
                )


def open_session(
    layout: Layout, session_id: str, entry: Entry | None, transcript: Transcript | None
) -> OpenSession:
    """Open a session; one that the ledger does not know may still have a document."""
    if entry is None:
        document = layout.find(session_id)
        header = peek(document) if document is not None else None
        if header is not None:
            entry = Entry.of(header)
    return OpenSession(layout, session_id, entry, transcript)


def shape(round: KeptRound) -> RoundShape:
    asked = len(round.asked)
    kinds = []
    for at, block in enumerate(round.blocks):
        answered = not isinstance(block, ToolCall) or block.result is not None
        tag = str(block.__struct_config__.tag)
        kinds.append(kind_of(tag, typed=at < asked) if answered else UNANSWERED)
    return RoundShape(round.round, tuple(kinds))


def kind_of(tag: str, *, typed: bool) -> str:
    """Which of the five parts of a transcript a block belongs to; ``notice`` is in none."""
    if tag in ("text", "image", "document"):
        return "user" if typed else "assistant"
    return {"thinking": "thinking", "tool_call": "call", "notice": "notice"}.get(tag, "result")


class _Answer(msgspec.Struct):
    """That there is one is all that matters."""


class _Kind(msgspec.Struct):
    type: str = ""
    result: _Answer | None = None


class _Sketch(msgspec.Struct):
    user: str | list[_Kind] | None = None
    agent: list[_Kind] = []


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


def _missing(number: int) -> KeptRound:
    words = "The file of this round is missing or damaged. `minutebook rebuild` makes it again."
    return KeptRound(round=number, agent=(Notice(MISSING, words),))


def _count_rounds(folder: SessionFolder | None) -> int:
    if folder is None:
        return 0
    try:
        names = [path.name for path in folder.rounds.iterdir()]
    except OSError:
        return 0
    found = [int(match[1]) for name in names if (match := _ROUND_NAME.fullmatch(name))]
    return max(found, default=0)
