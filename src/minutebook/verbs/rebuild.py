"""Make documents, databases and indexes again from the round files (DB-09).

Round files are the permanent record. What is lost of a document, a database or an index is
made from them, from the sessions' facts and from what a person said; a round file that is lost
comes back from its document. A document that a person edited is never overwritten.
"""

from __future__ import annotations

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.coverage import ranges_of
from minutebook.archive.instructions import keep_missing
from minutebook.archive.run import WritingRun, make_sessions_database
from minutebook.archive.upkeep import write_page
from minutebook.derive.identity import identify
from minutebook.errors import NotFound
from minutebook.model import SessionInfo
from minutebook.model.said import Set
from minutebook.record.documents import body_bytes, read_head, write_document
from minutebook.record.facts import SessionFacts, Written, read_facts, write_facts
from minutebook.record.header import Header, headed, header_of
from minutebook.record.indexes import write_indexes
from minutebook.record.kept import KeptRounds
from minutebook.record.layout import SessionFolder
from minutebook.record.ledger import Entry, save_ledger
from minutebook.record.patches import Malformed
from minutebook.record.publish import document_body, refresh_database, subagent_document
from minutebook.record.recover import (
    DocumentRounds,
    StoredRounds,
    is_missing,
    reason,
    recovered_facts,
    restore_subagent,
)
from minutebook.record.rounds import Damaged, Newer, round_file
from minutebook.record.said import add_said
from minutebook.record.store import make_folder, remove, set_aside, sweep, write_atomically


class Rebuilt(msgspec.Struct, frozen=True):
    sessions: int
    rounds: int
    restored: int
    """Files that were missing, and are there again."""
    mended: list[str]
    """Files that could not be read, and were made again; the old ones are set aside."""
    problems: list[str]
    """What could not be made again."""


def rebuild(archive: Archive) -> Rebuilt:
    """All databases and index files, and every document and round file that is missing."""
    layout = archive.layout
    if not archive.exists:
        raise NotFound(f"There is no archive at {layout.root} yet.", remedy="inscribe")
    mended: list[str] = []
    problems: list[str] = []
    restored = 0
    with WritingRun(archive, "rebuild") as run:
        entries: dict[str, Entry] = {}
        for id, entry in run.ledger.sessions.items():
            session = _Session(archive, entry, mended, problems)
            now = session.rebuild()
            restored += session.restored
            now.waiting, now.size, now.mtime = entry.waiting, entry.size, entry.mtime
            now.head, now.beside = entry.head, entry.beside
            entries[id] = now
        run.ledger.sessions = entries
        count = make_sessions_database(archive, entries.values())
        write_indexes(layout, entries.values())
        save_ledger(layout, run.ledger)
        keep_missing(archive)
        if layout.engagements.exists():
            write_page(archive)
    return Rebuilt(len(entries), count, restored, mended, problems)


class _Session:
    """One session on its way back."""

    def __init__(
        self, archive: Archive, entry: Entry, mended: list[str], problems: list[str]
    ) -> None:
        self._archive, self._entry = archive, entry
        self._mended, self._problems = mended, problems
        self._id = entry.session_id
        self._folder = SessionFolder(archive.layout.folder(entry.agent_id, self._id))
        self.restored = 0

    def rebuild(self) -> Entry:
        folder = self._folder
        make_folder(folder.rounds)
        sweep(folder.path, "", "rounds/", "media/", "subagents/", "subagents/*/rounds/")
        self._restore_rounds()
        facts = self._restore_facts()
        header = self._restore_document(facts)
        self._restore_subagents(facts)
        remove(folder.database)
        record = self._archive.minutes.records().get(self._id)
        ranges = ranges_of(record) if record is not None else None
        refresh_database(self._archive.layout, folder, self._id, [], ranges)
        return Entry.of(self._entry.agent_id, facts, header)

    def _restore_rounds(self) -> None:
        """Lost round files from the document; damaged ones are set aside first."""
        folder, kept = self._folder, KeptRounds(self._folder)
        damaged = []
        for number in folder.numbers():
            try:
                kept.read(number)
            except Newer as error:
                self._problems.append(f"{folder.round(number)}: {error}; it stays as it is")
            except (OSError, Damaged):
                damaged.append(number)
        if not damaged and folder.document.exists() and not self._has_gaps():
            return
        stored = StoredRounds(folder)
        for number in stored.numbers():
            path = folder.round(number)
            if number not in damaged and path.exists():
                continue
            round = stored.read(number)
            if is_missing(round):
                self._problems.append(f"{path}: it is gone, and the document does not have it")
                continue
            if path.exists():
                set_aside(path)
            write_atomically(path, round_file(self._id, round))
            self.restored += 1

    def _has_gaps(self) -> bool:
        numbers = self._folder.numbers()
        try:
            held = read_facts(self._folder).written.rounds
        except (OSError, ValueError):
            held = 0
        return len(numbers) < max(held, max(numbers, default=0), 1)

    def _restore_facts(self) -> SessionFacts:
        try:
            facts = read_facts(self._folder)
        except (OSError, ValueError) as error:
            if not isinstance(error, FileNotFoundError):
                self._mended.append(f"{self._folder.facts}: {reason(error)}: made again")
                set_aside(self._folder.facts)
            facts = recovered_facts(self._folder) or SessionFacts(info=self._entry.info)
            facts = msgspec.structs.replace(facts, info=self._fuller(facts))
            self.restored += 1
        written = Written()
        for round in KeptRounds(self._folder).readable():
            written.add(round)
        # The highest number there is: a round that is gone keeps its address.
        written.rounds = max([facts.written.rounds, *self._folder.numbers()])
        facts = msgspec.structs.replace(facts, written=written)
        write_facts(self._folder, facts)
        return facts

    def _fuller(self, facts: SessionFacts) -> SessionInfo:
        """What the ledger still knows of a session, rather than what can be guessed."""
        return self._entry.info if self._entry.info.rounds == facts.info.rounds else facts.info

    def _restore_document(self, facts: SessionFacts) -> Header:
        """The document, where it is lost, damaged or behind; an edited one stays."""
        folder, minutes = self._folder, self._archive.minutes
        known = minutes.summary_said(self._id)
        said = known.text
        record = minutes.records().get(self._id)
        summary = said or (record.session_summary if record is not None else None)
        identity = identify(facts.info, self._archive.roster)
        try:
            old, start = read_head(folder.document)
            if known.is_by_hand(old):
                add_said(self._archive.layout, self._id, Set(values={"summary": old.summary}))
                said = summary = old.summary
            if self._is_whole(facts):
                now = headed(old, record) if record is not None else old
                if now != old:
                    write_document(folder.document, now, body_bytes(folder.document, start))
                return now
            self._mended.append(f"{folder.document}: it lacked rounds: made again")
            set_aside(folder.document)
        except FileNotFoundError:
            pass
        except (OSError, Malformed) as error:
            self._mended.append(f"{folder.document}: {reason(error)}: made again")
            set_aside(folder.document)
        header = header_of(facts, identity, self._entry.agent_id, summary, edited=said is not None)
        if record is not None:
            header = headed(header, record)
        body = document_body(KeptRounds(folder), folder.path.name)
        write_document(folder.document, header, body)
        self.restored += 1
        return header

    def _is_whole(self, facts: SessionFacts) -> bool:
        """Whether a document can be read to its end, and has every round."""
        try:
            last = 0
            for round in DocumentRounds(self._folder):
                last = round.number
            return last >= facts.written.rounds
        except (OSError, Malformed):
            return False

    def _restore_subagents(self, facts: SessionFacts) -> None:
        for agent in facts.subagents:
            inside = self._folder.subagent(agent.id)
            self.restored += restore_subagent(inside, self._id)
            kept = KeptRounds(inside)
            text = b"".join(subagent_document(self._id, agent, kept))
            if kept.damaged:
                self._problems += [f"{path}: {why}" for path, why in kept.damaged.items()]
            elif inside.numbers() and not inside.document.is_file():
                if inside.document.exists():
                    set_aside(inside.document)
                write_atomically(inside.document, text)
                self.restored += 1
