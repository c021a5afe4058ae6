"""Does a session in the archive hold what its source said, and does the way back lose anything?

Nothing is written to the archive: exports go to a scratch folder (OPS-14, OPS-15). Everything is
compared a round at a time, so a session of any size can be checked.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.growth import Growth
from minutebook.archive.names import transcript_file
from minutebook.archive.sessions import lost_rounds
from minutebook.derive.identity import identify
from minutebook.derive.wording import lost_with_transcript, plural
from minutebook.errors import MinutebookError
from minutebook.model import Roster, Round
from minutebook.record.database import Broken, integrity, open_database, rows_of
from minutebook.record.documents import body_bytes, read_head
from minutebook.record.facts import SessionFacts, Written, read_facts
from minutebook.record.header import Header, header_of, write_header
from minutebook.record.indexes import rounds_index
from minutebook.record.kept import KeptRounds
from minutebook.record.layout import SessionFolder
from minutebook.record.markdown import write_round
from minutebook.record.media import FOLDER, MediaStore, pictures_of, with_pictures, without_pictures
from minutebook.record.patches import Malformed
from minutebook.record.publish import subagent_document
from minutebook.record.recover import (
    FIRST_RELEASE,
    DocumentRounds,
    StoredRounds,
    format_of,
    known_subagents,
    reason,
)
from minutebook.sources.base import FactReport, FieldFate, Transcript
from minutebook.sources.library import open_file, open_transcript
from minutebook.verbs.export import (
    document_rounds,
    export_header,
    exporter_of,
    stored_agents,
    write_scratch,
)
from minutebook.verbs.inscribe import inscribe
from minutebook.verbs.reread import compare, without_last

_MADE_AGAIN = "`minutebook rebuild` makes it again"


class SessionCheck(msgspec.Struct, frozen=True):
    session_id: str
    ok: bool
    problems: list[str]
    """What fails the check; empty where nothing that matters is lost."""
    remarks: list[str] = []
    facts: list[FactReport] = []
    fields: list[FieldFate] = []


def check(archive: Archive, session_id: str) -> SessionCheck:
    """Check one session against itself, its source, and the way there and back."""
    folder = archive.folder(session_id)
    problems = list(session_problems(session_id, folder))
    remarks: list[str] = []
    facts: list[FactReport] = []
    fates: list[FieldFate] = []
    if format_of(folder) == FIRST_RELEASE:
        remarks.append("it is in the first release's format: the next run that writes upgrades it")
        return SessionCheck(session_id, not problems, problems, remarks)
    try:
        header, start = read_head(folder.document)
        header = header.recorded
    except (OSError, Malformed):
        return SessionCheck(session_id, False, problems)
    with tempfile.TemporaryDirectory(prefix="minutebook-check-") as scratch:
        try:
            if exporter_of(header.program or "") is not None:
                problems += _round_trip(folder, header, start, archive.roster, Path(scratch))
            source = _source(archive, session_id, header)
            entry = archive.ledger().sessions.get(session_id)
            if lost := lost_rounds(entry, source):
                problems.append(lost_with_transcript(lost).removesuffix("."))
            if source is None:
                remarks.append("the source is gone: only the archive itself was checked")
            else:
                waiting = _waiting(archive, folder, source, problems, remarks)
                facts, fates = _source_facts(source, folder, header, waiting, Path(scratch))
                problems += [f"{f.lost} × {f.name} lost" for f in facts if f.lost]
        except (MinutebookError, Malformed, OSError) as error:
            problems.append(str(error))
    return SessionCheck(session_id, not problems, problems, remarks, facts, fates)


def check_file(path: Path, key: str = "") -> SessionCheck:
    """Check a transcript that is not archived: it goes through an archive of its own.

    `key` says which, where a file holds several.
    """
    with tempfile.TemporaryDirectory(prefix="minutebook-check-") as scratch:
        archive = Archive(Path(scratch), (path,))
        session_id = open_file(path, key).session_id
        inscribed = next(
            one
            for one in inscribe(archive, ended=True, jobs=1).sessions
            if one.transcript.session_id == session_id
        )
        if inscribed.outcome == "empty":
            return SessionCheck(session_id, True, [], ["there is nothing in it to keep"])
        if inscribed.outcome not in ("new", "unchanged"):
            told = inscribed.problem or inscribed.outcome
            return SessionCheck(session_id, False, [f"it cannot be archived: {told}"])
        return check(Archive(Path(scratch), (path,)), session_id)


# -- the session itself


def session_problems(session_id: str, folder: SessionFolder) -> Iterator[str]:
    """What is wrong with the files of a session."""
    if format_of(folder) == FIRST_RELEASE:
        stored = StoredRounds(folder)
        _ = [stored.read(number) for number in stored.numbers()]
        yield from (f"{path}: {why}" for path, why in stored.damaged.items())
        return
    try:
        facts = read_facts(folder)
        held = facts.written.rounds
    except (OSError, ValueError) as error:
        yield f"{folder.facts.name}: {reason(error)}: {_MADE_AGAIN}"
        held = len(folder.numbers())
    numbers = folder.numbers()
    if (last := max(numbers, default=0)) > held:
        count = plural(last - held, "round file")
        yield f"{count} from round {held + 1} on not recorded in session.json: {_MADE_AGAIN}"
    yield from _round_problems(folder, session_id, held)
    yield from _database_problems(folder.database, session_id, numbers)
    yield from _subagent_problems(folder, session_id)


def _round_problems(folder: SessionFolder, session_id: str, held: int) -> Iterator[str]:
    """Round files against the document, both ways; pictures on the way."""
    kept = KeptRounds(folder)
    told = 0
    try:
        for round in DocumentRounds(folder):
            told = round.number
            path = folder.round(round.number)
            try:
                known = kept.read(round.number)
            except (OSError, ValueError) as error:
                yield f"round file {path.name}: {reason(error)}: {_MADE_AGAIN}"
                continue
            if not kept.is_written(round, session_id):
                yield f"round file {path.name} differs from the document: one was edited"
            for name in pictures_of(known):
                if not (folder.media / name).is_file():
                    yield f"{FOLDER}/{name}: it is missing"
    except (OSError, Malformed) as error:
        yield f"the document cannot be read: {reason(error)}: {_MADE_AGAIN}"
        for number in range(told + 1, held + 1):
            try:
                kept.read(number)
            except (OSError, ValueError) as trouble:
                yield f"round file {folder.round(number).name}: {reason(trouble)}"
        return
    if told < held:
        yield f"the document ends at round {told} of {held}: {_MADE_AGAIN}"


def _database_problems(path: Path, session_id: str, numbers: list[int]) -> Iterator[str]:
    if not path.exists():
        yield f"session.db: it is missing: {_MADE_AGAIN}"
        return
    try:
        with open_database(path, readonly=True) as database:
            query = "SELECT count(*) FROM rounds WHERE session_id = ?"
            held = database.execute(query, (session_id,)).fetchone()[0]
            problem = integrity(database)
            page = rounds_index(session_id, rows_of(database, session_id))
    except (Broken, OSError) as error:
        yield f"session.db: {reason(error)}: {_MADE_AGAIN}"
        return
    if problem is not None:
        yield f"session.db: {problem}: {_MADE_AGAIN}"
    elif held != len(numbers):
        yield f"session.db: {held} of {len(numbers)} rounds: {_MADE_AGAIN}"
    index = path.with_name("index.md")
    try:
        if index.read_bytes() != page:
            yield f"index.md is not current: {_MADE_AGAIN}"
    except OSError as error:
        yield f"index.md: {reason(error)}: {_MADE_AGAIN}"


def _subagent_problems(folder: SessionFolder, session_id: str) -> Iterator[str]:
    for facts in known_subagents(folder):
        inside = folder.subagent(facts.id)
        kept = KeptRounds(inside)
        expected = b"".join(subagent_document(session_id, facts, kept))
        yield from (f"{path}: {why}" for path, why in kept.damaged.items())
        missing = facts.rounds - len(inside.numbers())
        if missing:
            yield f"subagent {facts.id}: {missing} round files are missing: {_MADE_AGAIN}"
            continue
        try:
            if inside.document.read_bytes() != expected and not kept.damaged:
                yield f"{inside.document.name} of a subagent differs from its rounds"
        except OSError as error:
            yield f"{inside.document.name} of a subagent: {reason(error)}: {_MADE_AGAIN}"


# -- there and back


def _round_trip(
    folder: SessionFolder, header: Header, start: int, roster: Roster, scratch: Path
) -> Iterator[str]:
    """OPS-16: inscribing the export gives the same bytes."""
    rounds = document_rounds(folder)
    told = export_header(header)
    exported = write_scratch(
        header.program or "",
        scratch / "stored",
        header.session_id,
        told,
        rounds,
        stored_agents(folder),
    )
    media, written = MediaStore(), Written()
    reading = open_transcript(open_file(exported))

    def again() -> Iterator[bytes]:
        for round in reading.rounds():
            kept = without_pictures(round, media)
            media.clear()
            written.add(kept)
            yield write_round(kept, folder.path.name).encode()

    place = _difference(again(), body_bytes(folder.document, start))
    if place is not None:
        yield f"inscribing the export does not give the same document: {place}"
        return
    info = reading.info()
    facts = SessionFacts(info=info, source=str(exported), written=written, extra=header.extra)
    identity = identify(info, roster)
    made = header_of(facts, identity, header.agent_id, header.summary, edited=header.edited)
    exporter = exporter_of(header.program or "")
    if exporter and made.session_id == exporter.id_for(header.session_id, header.program):
        made = msgspec.structs.replace(made, session_id=header.session_id)
    made = msgspec.structs.replace(
        made,
        engagements=header.engagements,
        role=header.role,
        program=header.program,
        summary=header.summary,
    )
    if header.name_source == "roster":  # today's roster may say something else
        made = msgspec.structs.replace(made, name=header.name, name_source="roster")
    if made != header:
        yield f"inscribing the export does not give the same header: {_lines(header, made)}"


def _difference(one: Iterator[bytes], other: Iterator[bytes]) -> str | None:
    """Where two streams of bytes part; None where they are the same."""
    left = right = b""
    line = 1
    while True:
        left = left or next(one, b"")
        right = right or next(other, b"")
        length = min(len(left), len(right))
        if not length:
            return None if left == right else f"one of them ends at line {line}"
        if left[:length] != right[:length]:
            pairs = zip_longest(left.split(b"\n"), right.split(b"\n"), fillvalue=b"")
            at = next(n for n, (a, b) in enumerate(pairs) if a != b)
            told = right.split(b"\n")[at][:80] if at < right.count(b"\n") + 1 else b""
            return f"line {line + at} of its messages is '{told.decode('utf-8', 'replace')}'"
        line += left[:length].count(b"\n")
        left, right = left[length:], right[length:]


def _lines(one: Header, other: Header) -> str:
    pairs = zip_longest(write_header(one).split("\n"), write_header(other).split("\n"))
    return next((f"'{a}' would be '{b}'" for a, b in pairs if a != b), "its summary differs")


# -- the source


def _source(archive: Archive, session_id: str, header: Header) -> Transcript | None:
    if header.source and (file := transcript_file(header.source)) is not None:
        return open_file(*file)
    return archive.transcript(session_id)


def _waiting(
    archive: Archive,
    folder: SessionFolder,
    source: Transcript,
    problems: list[str],
    remarks: list[str],
) -> int:
    """How many rounds of the source are not inscribed yet; what else differs is told."""
    entry = archive.ledger().sessions.get(source.session_id)
    try:
        facts = read_facts(folder)
    except (OSError, ValueError):
        facts = None
    growth = Growth(source, folder, entry, facts, MediaStore(), from_start=True)
    waiting = sum(1 for _ in growth.rounds())
    merge = growth.merge
    if growth.reading.info().origin is not None:
        remarks.append("its source is an export: it was compared with that, not with the original")
    if growth.gone:
        remarks.append(f"the source has lost {growth.gone} of the session's messages")
    if merge is not None and merge.changed:
        what = "message reads" if merge.changed == 1 else "messages read"
        problems.append(f"{merge.changed} {what} differently in the source")
    if merge is not None and merge.late:
        what = "message" if merge.late == 1 else "messages"
        remarks.append(f"{merge.late} {what} of the source are older than what was written before")
    if waiting:
        what = "round is" if waiting == 1 else "rounds are"
        remarks.append(f"{waiting} {what} not inscribed yet")
    return waiting


def _source_facts(
    source: Transcript, folder: SessionFolder, header: Header, waiting: int, scratch: Path
) -> tuple[list[FactReport], list[FieldFate]]:
    """What of the source is in an export of it, as it would be inscribed now; of an agent whose
    transcripts cannot be written, what of it is inscribed."""
    reading = open_transcript(source)
    exporter = exporter_of(source.source)
    if exporter is None:
        return compare(without_last(reading.rounds(), waiting), document_rounds(folder)), []
    media = MediaStore()

    def rounds() -> Iterator[Round]:
        pictures = scratch / "pictures"
        for round in reading.rounds():
            kept = without_pictures(round, media)
            media.flush(pictures)
            yield with_pictures(kept, pictures)

    told = export_header(header)
    exported = write_scratch(source.source, scratch / "fresh", source.session_id, told, rounds())
    return exporter.compare(source.path, exported)
