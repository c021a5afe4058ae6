"""From the Markdown back to a transcript an agent can resume (OPS-09 … OPS-13).

Nothing is masked: the export is the record itself. A round is read, written and forgotten,
so a session of any size can be exported.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.sessions import lost_rounds
from minutebook.derive.identity import Identity
from minutebook.derive.wording import lost_with_transcript
from minutebook.errors import BadArgument, Conflict
from minutebook.model import Round, Subagent
from minutebook.record.documents import peek, read_head
from minutebook.record.header import Header, header_of
from minutebook.record.layout import SessionFolder, file_name
from minutebook.record.media import with_pictures
from minutebook.record.patches import Malformed
from minutebook.record.recover import (
    DocumentRounds,
    StoredRounds,
    known_subagents,
    read_subagent,
    recovered_facts,
)
from minutebook.record.store import make_folder, partial_name, write_pieces
from minutebook.sources.base import Exporter, ExportHeader
from minutebook.sources.registry import SOURCES
from minutebook.verbs.surgery import Operated


class Exported(msgspec.Struct, frozen=True):
    path: Path
    session_id: str
    cwd: str | None
    rounds: int
    subagents: int
    warnings: list[str]
    backup: Path | None = None
    remarks: list[str] = []
    resume: str | None = None
    """What to type to go on; None where it was written elsewhere."""


class _Place(msgspec.Struct, frozen=True):
    """Where a transcript goes, and whose it is to be."""

    to: str
    root: Path
    out: Path | None
    cwd: str | None
    force: bool
    write: bool = True


def exporter_of(source: str) -> Exporter | None:
    """What writes a source's transcripts; None where nothing does, or its adapter is gone."""
    found = SOURCES.get(source)
    return found.exporter if found is not None else None


def _exporter(source: str) -> Exporter:
    found = exporter_of(source)
    if found is None:
        raise BadArgument(f"Transcripts of {SOURCES.title_of(source)} cannot be written.")
    return found


def export_session(
    archive: Archive,
    session_id: str,
    to: str,
    *,
    root: Path,
    out: Path | None = None,
    cwd: str | None = None,
    force: bool = False,
) -> Exported:
    """Write a session as a transcript of the source `to`, where that agent looks for it, or to
    `out`."""
    folder = archive.folder(session_id)
    header = header_in(folder)
    place = _Place(to, root, out, cwd or header.cwd, force)
    rounds = in_folder(document_rounds(folder), cwd)
    agents = stored_agents(folder)
    exported = _written(place, session_id, export_header(header), rounds, agents)
    if told := _left_out(archive, session_id):
        exported = msgspec.structs.replace(exported, remarks=[*exported.remarks, told])
    return exported


def _left_out(archive: Archive, session_id: str) -> str | None:
    """The newest rounds, where they are not archived; whether they still can be."""
    entry = archive.ledger().sessions.get(session_id)
    if lost := lost_rounds(entry, archive.transcript(session_id)):
        return lost_with_transcript(lost).removesuffix(".")
    if entry is None or not entry.waiting:
        return None
    short = archive.short(session_id)
    return (
        f"the newest rounds of {short} are not archived yet: `minutebook append {short} --ended` "
        "adds them"
    )


def export_operated(
    archive: Archive,
    operated: Operated,
    to: str,
    *,
    root: Path,
    out: Path | None = None,
    cwd: str | None = None,
    force: bool = False,
    write: bool = True,
) -> Exported:
    """Write what an operation made of one or two sessions, under its own id (OPS-17).

    Without `write` only what is in the way is found.
    """
    folders = [archive.folder(session_id) for session_id in operated.sessions]
    header = header_in(folders[0])
    told = ExportHeader(
        title=operated.title,
        cwd=cwd or header.cwd,
        branch=header.branch,
        version=header.version,
        program=header.program,
        surgery=operated.surgery,
    )
    called = {call.id for round in operated.rounds for call in round.calls}
    agents = (
        agent for folder in folders for agent in stored_agents(folder) if agent.call_id in called
    )
    rounds = (_with_pictures(round, folders) for round in operated.rounds)
    place = _Place(to, root, out, cwd or header.cwd, force, write)
    exported = _written(place, operated.session_id, told, in_folder(rounds, cwd), agents)
    return msgspec.structs.replace(exported, remarks=list(operated.remarks))


def _with_pictures(round: Round, folders: Iterable[SessionFolder]) -> Round:
    for folder in folders:
        round = with_pictures(round, folder.media)
    return round


# -- what is exported


def header_in(folder: SessionFolder) -> Header:
    """The header of a session's document; made from its rounds where that is lost."""
    try:
        return read_head(folder.document)[0].recorded
    except (OSError, Malformed) as error:
        facts = recovered_facts(folder)
        if facts is None:
            raise Conflict(f"{folder.document} cannot be exported: {error}.") from None
        return header_of(facts, Identity(), folder.path.parent.name, None, edited=False)


def document_rounds(folder: SessionFolder) -> Iterator[Round]:
    """The rounds of a document with their pictures; of the round files where it is lost."""
    rounds: Iterable[Round] = DocumentRounds(folder)
    if peek(folder.document) is None:
        rounds = StoredRounds(folder)
    try:
        for round in rounds:
            yield with_pictures(round, folder.media)
    except Malformed as error:
        raise Conflict(
            f"{folder.document} cannot be exported: {error}. `minutebook rebuild` "
            "recreates it from its rounds."
        ) from None


def stored_agents(folder: SessionFolder) -> Iterator[Subagent]:
    """The subagents of a session, one after the other."""
    for known in known_subagents(folder):
        agent = read_subagent(folder, known)
        rounds = tuple(with_pictures(round, folder.media) for round in agent.rounds)
        yield msgspec.structs.replace(agent, rounds=rounds)


def in_folder(rounds: Iterable[Round], cwd: str | None) -> Iterator[Round]:
    """Rounds as if they had been held in another folder."""
    for round in rounds:
        yield msgspec.structs.replace(round, cwd=cwd) if cwd is not None else round


def export_header(header: Header) -> ExportHeader:
    """What a transcript says of the session it is made from."""
    return ExportHeader(
        source=header.source,
        program=header.program,
        title=header.title,
        custom_title=header.name if header.name_source == "custom-title" else None,
        rename=header.name if header.name_source == "rename" else None,
        signature=header.name if header.name_source == "signature" else None,
        cwd=header.cwd,
        branch=header.branch,
        version=header.version,
    )


# -- writing


def _written(
    place: _Place,
    session_id: str,
    header: ExportHeader,
    rounds: Iterable[Round],
    agents: Iterable[Subagent],
) -> Exported:
    if place.out is None and place.cwd is None:
        raise BadArgument("The working folder of this session is not known.", remedy="cwd")
    exporter = _exporter(place.to)
    own_id = exporter.id_for(session_id, header.program)
    target = place.out or exporter.place_for(place.root, place.cwd or "", own_id)
    if target.is_dir():
        target = target / f"{file_name(own_id)}.jsonl"
    taken = [target] if target.exists() else []
    if not place.force:
        _refuse(taken)
    count, warnings = 0, Counter[str]()
    stamp = time.strftime("%Y%m%d-%H%M%S")
    if not place.write:
        return Exported(target, own_id, place.cwd, 0, 0, [])

    def counted() -> Iterator[Round]:
        nonlocal count
        for round in rounds:
            count += 1
            warnings.update(exporter.not_sent([round], header.program))
            yield round

    made = _stage(target, exporter.emit(own_id, header, counted()))
    helpers, files = 0, [(target, made)]
    try:
        for agent in agents:
            helpers += 1
            files.extend(_agent_files(exporter, target, own_id, agent))
        backups = _exchange(files, target, force=place.force, stamp=stamp)
    except BaseException:
        for _, partial in files:
            partial.unlink(missing_ok=True)
        raise
    told = [f"{number} × {what}" for what, number in warnings.items() if number]
    backup = backups[0] if backups else None
    resume = SOURCES[place.to].resume_command(own_id, place.cwd) if place.out is None else None
    return Exported(target, own_id, place.cwd, count, helpers, told, backup, resume=resume)


def _agent_files(
    exporter: Exporter, target: Path, session_id: str, agent: Subagent
) -> Iterator[tuple[Path, Path]]:
    """One by one: whoever takes them knows what to remove where the next one fails."""
    for path, pieces in exporter.emit_agents(target, session_id, [agent]):
        yield path, _stage(path, pieces)


def _stage(path: Path, pieces: Iterable[bytes]) -> Path:
    """Write a file out of sight, where it will be moved from in one step."""
    make_folder(path.parent)
    partial = partial_name(path)
    write_pieces(partial, pieces)
    return partial


def _exchange(
    files: list[tuple[Path, Path]], target: Path, *, force: bool, stamp: str
) -> list[Path]:
    """Give every file its name. An original is never overwritten: refused, or set aside (OPS-13).

    That goes for subagents' transcripts as well, except where they say the same.
    """
    taken = [
        path
        for path, partial in files
        if path.exists() and (path == target or path.read_bytes() != partial.read_bytes())
    ]
    if not force:
        _refuse(taken)
    backups = [_set_aside(path, stamp) for path in taken]
    for path, partial in files:
        partial.replace(path)
    return backups


def _refuse(taken: list[Path]) -> None:
    if taken:
        raise Conflict(f"{taken[0]} exists already.", remedy="elsewhere")


def _set_aside(path: Path, stamp: str) -> Path:
    number = 0
    while True:
        again = f"-{number}" if number else ""
        backup = path.with_name(f"{path.name}.{stamp}{again}.backup")
        if not backup.exists():
            return path.replace(backup)
        number += 1


def write_scratch(
    to: str,
    folder: Path,
    session_id: str,
    header: ExportHeader,
    rounds: Iterable[Round],
    agents: Iterable[Subagent] = (),
) -> Path:
    """An export in a folder of its own, for checks; named as the agent wants it."""
    exporter = _exporter(to)
    path = exporter.place_for(folder, header.cwd or "/", session_id)
    _stage(path, exporter.emit(session_id, header, rounds)).replace(path)
    for agent in agents:
        for file, partial in _agent_files(exporter, path, session_id, agent):
            partial.replace(file)
    return path
