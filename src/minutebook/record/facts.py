"""``session.json``: what is known of a session beside its rounds. Durable, and small.

With the round files, the roster and a person's corrections it is all that a document is made
from. It is replaced as a whole whenever a session grows or gets another title.
"""

from __future__ import annotations

from typing import Any

import msgspec

from minutebook.model import Loose, Round, SessionInfo
from minutebook.record.layout import SessionFolder
from minutebook.record.store import write_atomically

VERSION = 2


class SubagentFacts(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A subagent without its rounds."""

    id: str
    call_id: str | None = None
    kind: str | None = None
    description: str | None = None
    helper: bool = False
    rounds: int = 0


class Written(msgspec.Struct, omit_defaults=True, kw_only=True):
    """What the rounds that are written come to."""

    rounds: int = 0
    messages: int = 0
    started: str | None = None
    ended: str | None = None
    model: str | None = None
    opening: str = ""
    """The first prompt, as the person typed it; enough of it for a summary."""

    def add(self, round: Round) -> None:
        """Count a round that is written now."""
        self.rounds += 1
        self.messages += len(round.messages)
        for at in _times(round):
            if self.started is None or at < self.started:
                self.started = at
            if self.ended is None or at > self.ended:
                self.ended = at
        if self.model is None and (model := round.model) and not model.startswith("<"):
            self.model = model
        if not self.opening and round.prompt is not None:
            self.opening = round.prompt.said.strip()[:1000]


class SessionFacts(msgspec.Struct, kw_only=True, omit_defaults=True):
    version: int = 0
    """Version of the format; set when it is written."""
    info: SessionInfo
    """As the transcript told it when it was last read."""
    source: str | None = None
    """The transcript."""
    written: Written = msgspec.field(default_factory=Written)
    lost: int = 0
    """Rounds that were still growing when the transcript was deleted, and are nowhere now."""
    loose: Loose = Loose()
    subagents: tuple[SubagentFacts, ...] = ()
    engagements: list[Any] = []
    """Engagements of the document's frontmatter (INS-08)."""
    extra: dict[str, Any] = {}
    """Fields a person added to the document's frontmatter."""


def standing(read: SessionInfo, known: SessionInfo, rounds: int) -> SessionInfo:
    """What is known of a session whose transcript now reads like this; of `known`, `rounds` are
    written.

    A transcript that has lost rounds has nothing to say. An export of ours has less to say than
    the transcript it was made from: it takes nothing away, and adds what came after it.
    """
    if read.rounds < rounds:
        return known
    if read.origin is None:
        return read
    if read.rounds == rounds:
        return msgspec.structs.replace(known, origin=read.origin)
    kept: dict[str, Any] = {
        name: old
        for name, old in msgspec.structs.asdict(known).items()
        if not (new := getattr(read, name)) or (type(old) is int and old > new)
    }
    kept["ended"] = max(filter(None, (known.ended, read.ended)), default=None)
    kept["usage"] = max(known.usage, read.usage, key=lambda usage: usage.total)
    return msgspec.structs.replace(read, **kept)


class NewerFormat(ValueError):
    """A file that a newer minutebook has written."""


def read_facts(folder: SessionFolder) -> SessionFacts:
    """The facts of a session; OSError or ValueError where they cannot be had."""
    content = folder.facts.read_bytes()
    try:
        found = msgspec.json.decode(content, type=SessionFacts)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(f"it is damaged ({error})") from None
    if found.version > VERSION:
        raise NewerFormat(f"it was written by a newer minutebook (format {found.version})")
    return found


def encode_facts(facts: SessionFacts) -> bytes:
    written = msgspec.structs.replace(facts, version=VERSION)
    return msgspec.json.format(msgspec.json.encode(written), indent=1) + b"\n"


def write_facts(folder: SessionFolder, facts: SessionFacts) -> bool:
    """Write the facts down; False where they are the same as before."""
    return write_atomically(folder.facts, encode_facts(facts))


def _times(round: Round) -> list[str]:
    stamps = [message.at for message in round.messages]
    stamps += [call.result.at for call in round.calls if call.result is not None]
    return [stamp for stamp in stamps if stamp and stamp[:1].isdigit()]
