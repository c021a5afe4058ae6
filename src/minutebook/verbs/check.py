"""Does an inscription hold what its source said, and does the way back lose anything? (OPS-14)

Nothing is written to the archive: the export goes to a scratch folder.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

import msgspec

from minutebook.record.blocks import Malformed
from minutebook.record.database import Broken, integrity, open_database
from minutebook.record.header import read_header, write_header
from minutebook.record.inscription import header_of
from minutebook.record.markdown import write_body
from minutebook.record.media import MediaStore
from minutebook.record.merge import merge
from minutebook.record.reading import Inscription, read_inscription, read_subagents, read_text
from minutebook.record.rounds import round_file
from minutebook.derive.identity import Identity, identify
from minutebook.model import Roster, Round, SessionInfo
from minutebook.sources.base import Transcript
from minutebook.sources.claude_code.fidelity import FIELDS, MATTERS, Facts
from minutebook.sources.library import Library, open_transcript
from minutebook.verbs.export import write_export

_EXAMPLES = 3


class FieldReport(msgspec.Struct, frozen=True, omit_defaults=True):
    """One kind of fact, in both directions."""

    name: str
    identical: int
    lost: int = 0
    """In the source, and not in the export."""
    added: int = 0
    """In the export, and not in the source."""
    lost_examples: list[str] = []
    added_examples: list[str] = []


class FieldFate(msgspec.Struct, frozen=True):
    """A field of the source's records, and what becomes of it on the way."""

    field: str
    count: int
    fate: str
    reason: str


class SessionCheck(msgspec.Struct, frozen=True):
    session_id: str
    ok: bool
    problems: list[str]
    """What fails the check; empty where nothing that matters is lost."""
    remarks: list[str] = []
    facts: list[FieldReport] = []
    fields: list[FieldFate] = []


def check(library: Library, roster: Roster, document: Path) -> SessionCheck:
    """Check one inscription against itself, its source, and the way there and back."""
    session_id = document.stem
    try:
        inscription = read_inscription(document)
        list(read_subagents(inscription))
    except (Malformed, OSError) as error:
        return SessionCheck(session_id, False, [f"the document cannot be read: {error}"])
    problems = list(_archive_problems(inscription))
    remarks: list[str] = []
    with tempfile.TemporaryDirectory(prefix="minutebook-check-") as scratch:
        exported = write_export(inscription, Path(scratch) / "stored", _folder(inscription))
        problems += _round_trip(inscription, exported, roster)
        source = _source(library, inscription)
        facts: list[FieldReport] = []
        fates: list[FieldFate] = []
        if source is None:
            remarks.append("the source is gone: only the inscription itself was checked")
        else:
            rounds, _, _ = _read(source, roster)
            problems += _source_problems(inscription, rounds, remarks)
            # What the source would be inscribed as now: its last rounds may still wait.
            fresh = msgspec.structs.replace(inscription, rounds=rounds)
            exported = write_export(fresh, Path(scratch) / "fresh", _folder(inscription))
            facts, fates = compare(source.path, exported)
            problems += [f"{f.lost} × {f.name} lost" for f in facts if f.lost]
    return SessionCheck(
        inscription.header.session_id, not problems, problems, remarks, facts, fates
    )


def _folder(inscription: Inscription) -> str:
    return inscription.header.cwd or "/"


def _archive_problems(inscription: Inscription) -> Iterator[str]:
    folder = inscription.folder
    media = MediaStore(folder.path.name)
    if trouble := _database_problem(folder.database, len(inscription.rounds)):
        yield f"session.db: {trouble}: `minutebook rebuild` makes it again"
    for round in inscription.rounds:
        file = folder.round(round.number)
        expected = round_file(inscription.header.session_id, round, media)
        try:
            if file.read_bytes() != expected:
                yield f"round file {file.name} differs from the document: one was edited"
        except OSError:
            yield f"round file {file.name} is missing: `minutebook rebuild` makes it again"


def _database_problem(path: Path, rounds: int) -> str | None:
    if not path.exists():
        return "it is missing"
    try:
        with open_database(path) as database:
            held = database.execute("SELECT count(*) FROM rounds").fetchone()[0]
            return integrity(database) or (None if held == rounds else f"{held} of {rounds} rounds")
    except (Broken, OSError) as error:
        return str(error)


def _source(library: Library, inscription: Inscription) -> Transcript | None:
    wanted = inscription.header.source
    if wanted and Path(wanted).is_file():
        return Library([Path(wanted)]).transcripts[0]
    id = inscription.header.session_id
    return next((t for t in library.transcripts if t.session_id == id), None)


def _source_problems(
    inscription: Inscription, rounds: list[Round], remarks: list[str]
) -> Iterator[str]:
    text = read_text(inscription.path)
    body = text[read_header(text)[1] :]
    media = MediaStore(inscription.path.stem)
    pieces = [write_body([round], media) for round in rounds]
    merged = merge(body, pieces, rounds, media)
    if merged.changed:
        what = "message reads" if merged.changed == 1 else "messages read"
        yield f"{merged.changed} {what} differently in the source: the document was edited"
    if merged.late:
        what = "message" if merged.late == 1 else "messages"
        yield f"{merged.late} older {what} of the source not in the document"
    if merged.gone:
        remarks.append(f"the source has lost {merged.gone} of the document's messages")
    if merged.added:
        waiting = len(merged.added)
        what = "round is" if waiting == 1 else "rounds are"
        remarks.append(f"{waiting} {what} not inscribed yet")


def _round_trip(inscription: Inscription, exported: Path, roster: Roster) -> Iterator[str]:
    """OPS-16: inscribing the export gives the same bytes."""
    transcript = Library([exported]).transcripts[0]
    rounds, info, identity = _read(transcript, roster)
    media = MediaStore(inscription.path.stem)
    header = header_of(info, identity, rounds, inscription.header.agent_id, str(exported))
    old = inscription.header
    header = msgspec.structs.replace(
        header,
        engagements=old.engagements,
        extra=old.extra,
        summary=old.summary,
        edited=old.edited,
        role=old.role,
    )
    if old.name_source == "roster":  # today's roster may say something else
        header = msgspec.structs.replace(header, name=old.name, name_source="roster")
    again = write_header(header) + write_body(rounds, media)
    written = read_text(inscription.path)
    if again != written:
        difference = _difference(inscription, rounds, written, again)
        yield f"inscribing the export does not give the same document: {difference}"


def _difference(inscription: Inscription, rounds: list[Round], written: str, again: str) -> str:
    for before, after in zip(inscription.rounds, rounds, strict=False):
        if before != after:
            return f"round {before.number} differs"
    if len(inscription.rounds) != len(rounds):
        return f"{len(inscription.rounds)} rounds became {len(rounds)}"
    lines = zip_longest(written.split("\n"), again.split("\n"), fillvalue="(the end)")
    number, (one, other) = next((n, pair) for n, pair in enumerate(lines, 1) if pair[0] != pair[1])
    return f"line {number} is '{one[:80]}', and would be '{other[:80]}'"


def _read(transcript: Transcript, roster: Roster) -> tuple[list[Round], SessionInfo, Identity]:
    reading = open_transcript(transcript)
    rounds = list(reading.rounds())
    info = reading.info()
    return rounds, info, identify(info, roster)


def compare(source: Path, exported: Path) -> tuple[list[FieldReport], list[FieldFate]]:
    """Facts of both files, and the fate of every field of the source."""
    before = Facts(source.read_bytes().split(b"\n"))
    after = Facts(exported.read_bytes().split(b"\n"))
    facts = []
    for name in MATTERS:
        lost = before.counts[name] - after.counts[name]
        added = after.counts[name] - before.counts[name]
        if name == "title" and not before.counts["title"]:
            added.clear()  # an untitled session is titled by its first prompt
        facts.append(
            FieldReport(
                name,
                (before.counts[name] & after.counts[name]).total(),
                lost.total(),
                added.total(),
                [value[:200] for value in list(lost)[:_EXAMPLES]],
                [value[:200] for value in list(added)[:_EXAMPLES]],
            )
        )
    fates: dict[str, FieldFate] = {}
    for full, count in before.fields.items():
        name = full.split(".", 1)[1]
        fate, reason = FIELDS.get(name, ("left behind", "not part of the conversation"))
        known = fates.get(name)
        fates[name] = FieldFate(name, count + (known.count if known else 0), fate, reason)
    return facts, sorted(fates.values(), key=lambda fate: (fate.fate, -fate.count))
