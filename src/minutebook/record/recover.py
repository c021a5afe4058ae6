"""Sessions whose round files or facts are missing: lost, or from the first release.

A document holds every round as well, so what is lost in one place is read in the other. The
first release had neither message boundaries in its round files nor ``session.json``: its
sessions are read from their documents, and where those are damaged, from the old round files.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from minutebook.derive.titles import is_opening
from minutebook.model import Block, Message, NameEvidence, Round, SessionInfo, Subagent, Text, Usage
from minutebook.model.blocks import Notice, Unknown
from minutebook.record.documents import body_lines, peek, read_head
from minutebook.record.facts import SessionFacts, SubagentFacts, Written, read_facts
from minutebook.record.header import Header
from minutebook.record.kept import KeptRounds
from minutebook.record.layout import SessionFolder, file_name
from minutebook.record.markdown import read_rounds, split_messages
from minutebook.record.notation import parse_carrier
from minutebook.record.patches import Malformed
from minutebook.record.rounds import SCHEMA, Damaged, round_file, schema_of
from minutebook.record.store import make_folder, write_atomically

FIRST_RELEASE = 1
MISSING = "missing"
"""Kind of the notice that stands where a round is gone."""
_DEFAULT_SOURCE = "claude-code"  # the only one the first release had


def format_of(folder: SessionFolder) -> int:
    """Which format a session's folder has."""
    if folder.facts.exists():
        return SCHEMA
    for number in folder.numbers()[:1]:
        try:
            return schema_of(folder.round(number).read_bytes()) or FIRST_RELEASE
        except OSError:
            break
    header = peek(folder.document)
    return SCHEMA if header is not None and header.program is not None else FIRST_RELEASE


class DocumentRounds:
    """Rounds as a document tells them, a message at a time."""

    def __init__(self, folder: SessionFolder) -> None:
        self.folder = folder

    def __iter__(self) -> Iterator[Round]:
        """OSError or `Malformed` where it cannot be read to its end."""
        document = self.folder.document
        header, start = read_head(document)
        if file_name(header.session_id) != document.stem:
            raise Malformed(f"its session_id ({header.session_id}) is not that of its file name")
        yield from read_rounds(split_messages(body_lines(document, start)))


class StoredRounds:
    """The rounds of a session, from wherever they can still be had.

    Round files first; a lost or damaged one is looked for in the document. `damaged` names
    every file that could not be read.
    """

    def __init__(self, folder: SessionFolder) -> None:
        self.folder = folder
        self.damaged: dict[str, str] = {}
        self.is_first_release = format_of(folder) == FIRST_RELEASE
        self._kept = KeptRounds(folder)
        self._told: dict[int, Round] | None = None

    def numbers(self) -> list[int]:
        """All rounds there are; without gaps, up to the last that is known."""
        known = self._old if self.is_first_release else {}
        last = max([*self._kept.numbers(), *known], default=0)
        if not last and not self.is_first_release:
            last = max(self._document, default=0)
        return list(range(1, last + 1))

    def read(self, number: int) -> Round:
        """A round; one that is nowhere says so."""
        if self.is_first_release:
            found = self._old.get(number)
            return found if found is not None else missing(number)
        try:
            return self._kept.read(number)
        except (OSError, Damaged) as error:
            self.damaged[str(self.folder.round(number))] = reason(error)
        found = self._document.get(number)
        return found if found is not None else missing(number)

    def __iter__(self) -> Iterator[Round]:
        return (self.read(number) for number in self.numbers())

    @property
    def _document(self) -> dict[int, Round]:
        """Rounds of the document; as many as can be read."""
        if self._told is None:
            told: dict[int, Round] = {}
            try:
                for round in DocumentRounds(self.folder):
                    told[round.number] = round
            except (OSError, Malformed) as error:
                self.damaged[str(self.folder.document)] = reason(error)
            self._told = told  # whole: another thread may be waiting for it
        return self._told

    @property
    def _old(self) -> dict[int, Round]:
        """Rounds of the first release: the document's, else those of the old round files."""
        told = self._document
        for number in self._kept.numbers():
            if number not in told:
                path = self.folder.round(number)
                try:
                    told[number] = first_release_round(path.read_bytes())
                except (OSError, Damaged) as error:
                    self.damaged[str(path)] = reason(error)
        return told


def restore_rounds(folder: SessionFolder, session_id: str) -> list[int]:
    """Write round files again that are lost and stand in the document; their numbers."""
    stored = StoredRounds(folder)
    present = set(folder.numbers())
    restored: list[int] = []
    for number in stored.numbers():
        if number in present:
            continue
        round = stored.read(number)
        if not is_missing(round):
            make_folder(folder.rounds)
            write_atomically(folder.round(number), round_file(session_id, round))
            restored.append(number)
    return restored


def is_missing(round: Round) -> bool:
    """Whether a round only says that it is gone."""
    return any(isinstance(b, Notice) and b.kind == MISSING for b in round.blocks)


def missing(number: int) -> Round:
    """What stands where a round is gone."""
    words = "The file of this round is missing or damaged, and the document does not have it."
    return Round(number, (Message("user", (Notice(MISSING, words),)),))


def reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)


# -- facts


def recovered_facts(folder: SessionFolder) -> SessionFacts | None:
    """The facts of a session as far as its document and rounds tell them."""
    header = peek(folder.document)
    if header is not None:
        header = header.recorded
    rounds = StoredRounds(folder)
    numbers = rounds.numbers()
    if header is None and not numbers:
        return None
    info, written = _info(header, folder, rounds)
    return SessionFacts(
        info=info,
        source=header.source if header is not None else None,
        written=written,
        subagents=tuple(_subagents(folder)),
        engagements=header.engagements if header is not None else [],
        extra=header.extra if header is not None else {},
    )


def _info(
    header: Header | None, folder: SessionFolder, rounds: StoredRounds
) -> tuple[SessionInfo, Written]:
    written = Written()
    cwds: dict[str | None, None] = {}
    branches: dict[str | None, None] = {}
    models: dict[str | None, None] = {}
    ids: list[str] = []
    prompts = calls = compactions = chars = duration = 0
    usage = Usage()
    for round in rounds:
        written.add(round)
        cwds[round.cwd], branches[round.branch] = None, None
        calls += round.tool_count
        usage += round.usage
        duration += round.duration_ms or 0
        if (prompt := round.prompt) is not None:
            prompts += 1
            ids += [prompt.id] if prompt.id else []
        for message in round.messages:
            if message.role == "assistant":
                models[message.model] = None
                chars += sum(len(b.text) for b in message.blocks if isinstance(b, Text))
            notices = (b.kind for b in message.blocks if isinstance(b, Notice))
            compactions += sum(kind == "compaction" for kind in notices)
    title = (header.title if header is not None else None) or written.opening[:120] or None
    info = SessionInfo(
        id=header.session_id if header is not None else folder.path.name,
        source=(header.program if header is not None else None) or _DEFAULT_SOURCE,
        started=header.started if header is not None else written.started,
        ended=header.ended if header is not None else written.ended,
        rounds=written.rounds,
        prompts=prompts,
        calls=calls,
        subagents=sum(not agent.helper for agent in _subagents(folder)),
        compactions=compactions,
        title=title,
        title_is_prompt=is_opening(title, written.opening),
        cwds=_known(cwds, header.cwd if header is not None else None),
        branches=_known(branches, header.branch if header is not None else None),
        models=tuple(m for m in models if m and not m.startswith("<")),
        versions=(header.version,) if header is not None and header.version else (),
        names=_names(header),
        usage=usage,
        duration_ms=duration,
        answer_chars=chars,
        prompt_ids=tuple(ids),
    )
    return info, written


def _known(found: dict[str | None, None], first: str | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in (first, *found) if name))


def _names(header: Header | None) -> NameEvidence:
    """What named the agent, by the way the header says it did."""
    if header is None or not header.name:
        return NameEvidence()
    name = (header.name,)
    return NameEvidence(
        renames=name if header.name_source == "rename" else (),
        titles=name if header.name_source == "custom-title" else (),
        signatures=name if header.name_source == "signature" else (),
    )


# -- subagents


class _SubagentCarrier(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    session: str = ""
    call_id: str | None = None
    kind: str | None = None
    description: str | None = None
    helper: bool = False


def known_subagents(folder: SessionFolder) -> list[SubagentFacts]:
    """The subagents of a session, as its facts name them, else as their documents do."""
    try:
        return list(read_facts(folder).subagents)
    except (OSError, ValueError):
        return list(_subagents(folder))


def _subagents(folder: SessionFolder) -> Iterator[SubagentFacts]:
    """Subagents as their documents tell them."""
    for document in sorted(folder.subagents.glob("*.md")):
        try:
            yield subagent_facts(folder.subagent(document.stem))
        except (OSError, Malformed):
            continue  # `check` names it


def subagent_facts(folder: SessionFolder) -> SubagentFacts:
    with folder.document.open("rb") as file:
        head = [file.readline().decode("utf-8", "replace").rstrip("\n") for _ in range(3)]
    found = parse_carrier(head[2])
    if found is None or found[0] != "subagent":
        raise Malformed("it does not say whose it is")
    try:
        told = msgspec.convert(found[1], _SubagentCarrier)
    except msgspec.ValidationError as error:
        raise Malformed(str(error)) from None
    return SubagentFacts(
        id=told.id,
        call_id=told.call_id,
        kind=told.kind,
        description=told.description,
        helper=told.helper,
        rounds=len(folder.numbers()),
    )


def read_subagent(folder: SessionFolder, facts: SubagentFacts) -> Subagent:
    """A subagent with its rounds, from its round files or its document."""
    inside = folder.subagent(facts.id)
    kept = KeptRounds(inside)
    rounds = tuple(kept.readable())
    if not rounds or kept.damaged:
        rounds = tuple(read_rounds(split_messages(body_lines(inside.document, 0)))) or rounds
    return Subagent(
        id=facts.id,
        call_id=facts.call_id,
        kind=facts.kind,
        description=facts.description,
        helper=facts.helper,
        rounds=rounds,
    )


def restore_subagent(inside: SessionFolder, session_id: str) -> int:
    """Write round files of a subagent again that stand in its document; how many."""
    present = set(inside.numbers())
    restored = 0
    try:
        for round in read_rounds(split_messages(body_lines(inside.document, 0))):
            if round.number not in present:
                make_folder(inside.rounds)
                write_atomically(inside.round(round.number), round_file(session_id, round))
                restored += 1
    except (OSError, Malformed):
        pass  # `check` names it
    return restored


# -- round files of the first release


class _OldRound(msgspec.Struct, kw_only=True):
    round: int
    started: str | None = None
    ended: str | None = None
    user: str | list[Any] | None = None
    agent: list[Any] = []
    usage: Usage = Usage()
    model: str | None = None
    duration_ms: int | None = None
    cwd: str | None = None
    branch: str | None = None
    queued: bool = False


def first_release_round(content: bytes) -> Round:
    """A round of the first release: one message a side, since more was not kept."""
    try:
        old = msgspec.json.decode(content, type=_OldRound)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Damaged(f"it is damaged ({error})") from None
    asked = [Text(old.user)] if isinstance(old.user, str) else _blocks(old.user or [])
    said = _blocks(old.agent)
    messages = []
    if asked:
        messages.append(Message("user", tuple(asked), at=old.started, queued=old.queued))
    if said:
        at = old.ended or old.started
        usage = old.usage if old.usage.total else None
        messages.append(Message("assistant", tuple(said), at=at, model=old.model, usage=usage))
    calls = sum(1 for _ in Round(0, tuple(messages)).calls)
    return Round(old.round, tuple(messages), old.cwd, old.branch, old.duration_ms, calls)


def _blocks(plain: list[Any]) -> list[Block]:
    found: list[Block] = []
    for value in plain:
        try:
            found.append(msgspec.convert(value, Block))
        except msgspec.ValidationError:
            kind = value.get("type") if isinstance(value, dict) else None
            found.append(Unknown(str(kind), value))
    return found
