"""Publishing a session: rounds one at a time, then subagents, facts, document, ``session.db``.

A new session's folder is filled out of sight and appears by one rename; the document comes
last. An existing session only ever gets longer: new rounds are files of their own, and the
document's bytes stay as they are (OPS-02 … OPS-08). Memory is bounded by the largest round.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import chain
from types import TracebackType
from typing import IO, Literal

import msgspec

from minutebook.errors import Conflict
from minutebook.model import Loose, Round, Subagent
from minutebook.record.database import (
    Broken,
    Connection,
    count_rows,
    open_database,
    put_rows,
    rows_of,
    tag_rows,
)
from minutebook.record.documents import body_bytes, read_head, write_document
from minutebook.record.facts import SessionFacts, SubagentFacts, Written, encode_facts, write_facts
from minutebook.record.header import Header
from minutebook.record.indexes import rounds_index
from minutebook.record.kept import KeptRounds
from minutebook.record.layout import Layout, SessionFolder
from minutebook.record.markdown import write_round
from minutebook.record.media import MediaStore, without_pictures
from minutebook.record.merge import Merge
from minutebook.record.notation import carrier
from minutebook.record.patches import Malformed
from minutebook.record.recover import StoredRounds, is_missing
from minutebook.record.rounds import RoundRow, round_file, row_of
from minutebook.record.store import (
    make_folder,
    new_folder,
    remove,
    set_aside,
    sweep,
    write_atomically,
    write_new,
)

Outcome = Literal["new", "grown", "unchanged"]
Ranges = list[tuple[int, int, str]]
"""First round, last round and id of engagements."""
_IN_MEMORY = 4_000_000  # bytes of a document's new part; a longer one waits in a file


class Published(msgspec.Struct, frozen=True):
    """What a publication did; small enough to travel between processes."""

    agent_id: str
    facts: SessionFacts
    outcome: Outcome
    header: Header
    rows: list[RoundRow]
    """Index rows of the rounds that were added."""
    remarks: list[str] = []


class Publication:
    """One session on its way into the archive. Add rounds, then subagents, then `finish`."""

    def __init__(
        self,
        layout: Layout,
        agent_id: str,
        session_id: str,
        known: SessionFacts | None,
        media: MediaStore | None = None,
    ) -> None:
        self._layout, self.agent_id, self.session_id = layout, agent_id, session_id
        self._known = known
        self._place = SessionFolder(layout.folder(agent_id, session_id))
        self._inside = self._place
        self._stack = ExitStack()
        self._media = media or MediaStore()
        self._body: IO[bytes]
        self.written = _copied(known.written) if known is not None else Written()
        self.rows: list[RoundRow] = []
        self._subagents: dict[str, SubagentFacts] = (
            {agent.id: agent for agent in known.subagents} if known is not None else {}
        )

    def __enter__(self) -> Publication:
        make_folder(self._place.path.parent)
        if self._known is None:
            self._refuse_taken()
            partial = self._stack.enter_context(new_folder(self._place.path))
            self._inside = SessionFolder(partial)
        else:
            sweep(self._place.path, "", "rounds/", "media/", "subagents/", "subagents/*/rounds/")
        make_folder(self._inside.rounds)
        # Without a name, so that nothing is left behind however this ends.
        self._body = tempfile.SpooledTemporaryFile(_IN_MEMORY, dir=str(self._place.path.parent))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._body.close()
        self._stack.__exit__(kind, error, trace)

    def _refuse_taken(self) -> None:
        """A document that is not this session's is never overwritten (OPS-03)."""
        document = self._place.document
        if not document.exists():
            return
        try:
            whose = read_head(document)[0].session_id
        except (OSError, Malformed) as error:
            raise Conflict(
                f"{document} is not an inscription ({error}). Move it away, or use another archive."
            ) from None
        if whose != self.session_id:
            raise Conflict(
                f"{document} is the inscription of another session ({whose}). "
                "Move it away, or give this archive another folder."
            )

    def add(self, round: Round) -> None:
        """Write a round that can no longer grow."""
        kept = without_pictures(round, self._media)
        write = write_new if self._known is None else write_atomically
        write(self._inside.round(kept.number), round_file(self.session_id, kept))
        self._media.flush(self._inside.media)
        self._body.write(write_round(kept, self._place.path.name).encode())
        self.written.add(kept)
        file = self._layout.relative(self._place.round(kept.number))
        self.rows.append(row_of(self.session_id, kept, file))

    def add_subagent(self, agent: Subagent) -> None:
        """Write a subagent, or what it has got since."""
        inside = self._inside.subagent(agent.id)
        kept = KeptRounds(inside)
        rounds = [without_pictures(round, self._media) for round in agent.rounds]
        added = list(additions(kept, self.session_id, rounds))
        make_folder(inside.rounds)
        for round in added:
            write_atomically(inside.round(round.number), round_file(self.session_id, round))
        self._media.flush(self._inside.media)
        facts = SubagentFacts(
            id=agent.id,
            call_id=agent.call_id,
            kind=agent.kind,
            description=agent.description,
            helper=agent.helper,
            rounds=len(inside.numbers()),
        )
        before = self._subagents.get(agent.id)
        self._subagents[agent.id] = facts
        if added or before != facts or not inside.document.exists():
            text = subagent_document(self.session_id, facts, KeptRounds(inside))
            write_atomically(inside.document, b"".join(text))

    def facts(self, facts: SessionFacts) -> SessionFacts:
        """Facts of the session with what was written in this publication."""
        return msgspec.structs.replace(
            facts, written=self.written, subagents=tuple(self._subagents.values())
        )

    def finish(self, facts: SessionFacts, header: Header, ranges: Ranges | None) -> Published:
        """Write what all rounds come to; with that, the session is in the archive."""
        if self._known is None:
            return self._finish_new(facts, header, ranges)
        return self._finish_grown(facts, header, ranges)

    def _finish_new(self, facts: SessionFacts, header: Header, ranges: Ranges | None) -> Published:
        write_new(self._inside.facts, encode_facts(facts))
        with open_database(self._inside.database, scratch=True) as database:
            put_rows(database, self.rows)
            cover_rows(database, self.session_id, ranges)
            tagged = rows_of(database, self.session_id)
        write_new(self._inside.index, rounds_index(self.session_id, tagged))
        self._stack.close()  # the folder gets its name
        write_document(self._place.document, header, self._new_text())
        return self._published(facts, header, "new")

    def _finish_grown(
        self, facts: SessionFacts, header: Header, ranges: Ranges | None
    ) -> Published:
        assert self._known is not None
        remarks: list[str] = []
        refresh_database(self._layout, self._place, self.session_id, self.rows, ranges)
        body, remark = self._old_body(header)
        if remark:
            remarks.append(remark)
        changed = write_document(self._place.document, header, chain(body, self._new_text()))
        changed |= write_facts(self._place, facts)
        outcome: Outcome = "grown" if self.rows or changed else "unchanged"
        return self._published(facts, header, outcome, remarks)

    def _old_body(self, header: Header) -> tuple[Iterable[bytes], str | None]:
        """The bytes that stay; where the document is lost or damaged, they are made again."""
        document = self._place.document
        try:
            old, start = read_head(document)
        except FileNotFoundError:
            return self._made_again(), None
        except (OSError, Malformed) as error:
            aside = set_aside(document)
            why = (
                f"{document} was damaged ({error}): it was made again, the old one is {aside.name}"
            )
            return self._made_again(), why
        if old.session_id != header.session_id:
            raise Conflict(
                f"{document} is the inscription of another session ({old.session_id}). "
                "Move it away, or give this archive another folder."
            )
        return body_bytes(document, start), None

    def _made_again(self) -> Iterator[bytes]:
        assert self._known is not None
        before = self._known.written.rounds
        return document_body(KeptRounds(self._place), self._place.path.name, before)

    def _new_text(self) -> Iterator[bytes]:
        self._body.seek(0)
        while piece := self._body.read(1 << 20):
            yield piece

    def _published(
        self, facts: SessionFacts, header: Header, outcome: Outcome, remarks: Iterable[str] = ()
    ) -> Published:
        return Published(self.agent_id, facts, outcome, header, self.rows, list(remarks))


def additions(kept: KeptRounds, session_id: str, rounds: list[Round]) -> Iterator[Round]:
    """What rounds have that is not written: those that follow, or what came to them later."""
    numbers = kept.numbers()
    fits = len(rounds) >= len(numbers) and all(
        kept.is_written(round, session_id) for round in rounds[: len(numbers)]
    )
    if fits:
        yield from rounds[len(numbers) :]
    else:
        yield from Merge(kept.readable, lambda: rounds, kept.read, Loose()).added()


def document_body(kept: KeptRounds, folder: str, last: int | None = None) -> Iterator[bytes]:
    """The body of a document, from the round files."""
    for round in kept.readable():
        if last is None or round.number <= last:
            yield write_round(round, folder).encode()


def subagent_document(session_id: str, facts: SubagentFacts, kept: KeptRounds) -> Iterator[bytes]:
    """The document of a subagent."""
    told = {
        "id": facts.id,
        "session": session_id,
        **{
            name: value
            for name in ("call_id", "kind", "description", "helper")
            if (value := getattr(facts, name))
        },
    }
    title = " ".join((facts.description or facts.kind or "Subagent").split())
    yield f"# {title}\n\n{carrier('subagent', told)}\n".encode()
    yield from document_body(kept, "..")


def refresh_database(
    layout: Layout,
    folder: SessionFolder,
    session_id: str,
    rows: list[RoundRow],
    ranges: Ranges | None,
) -> None:
    """Bring ``session.db`` and its ``index.md`` up to date; made anew where rows are missing."""
    numbers = folder.numbers()
    if folder.database.is_dir():
        remove(folder.database)
    try:
        held = count_rows(folder.database)
        if held + len(rows) == len(numbers) and not rows and folder.index.exists():
            return
        if held + len(rows) != len(numbers):
            rows = all_rows(layout, folder, session_id)
        with open_database(folder.database) as database:
            put_rows(database, rows)
            cover_rows(database, session_id, ranges)
            every = rows_of(database, session_id)
    except Broken:
        remove(folder.database)
        with open_database(folder.database) as database:
            put_rows(database, all_rows(layout, folder, session_id))
            cover_rows(database, session_id, ranges)
            every = rows_of(database, session_id)
    write_atomically(folder.index, rounds_index(session_id, every))


def all_rows(layout: Layout, folder: SessionFolder, session_id: str) -> list[RoundRow]:
    """The index rows of every round that can be read: of its file, else in the document."""
    stored = StoredRounds(folder)
    return [
        row_of(session_id, round, layout.relative(folder.round(round.number)))
        for round in map(stored.read, folder.numbers())
        if not is_missing(round)
    ]


def cover_rows(database: Connection, session_id: str, ranges: Ranges | None) -> None:
    """Say in a database which engagement each round belongs to; None leaves it as it is."""
    if ranges is None:
        return
    tag_rows(database, session_id, 1, None, None)
    for first, last, engagement_id in ranges:
        tag_rows(database, session_id, first, last, engagement_id)


def _copied(written: Written) -> Written:
    return msgspec.structs.replace(written)
