"""From the Markdown back to a transcript ``claude --resume`` finds (OPS-09 … OPS-13)."""

from __future__ import annotations

import time
from pathlib import Path

import msgspec

from minutebook.record.blocks import Malformed
from minutebook.record.layout import file_name
from minutebook.record.reading import Inscription, read_inscription, read_subagents
from minutebook.record.store import make_folder, write_atomically
from minutebook.errors import BadArgument, Conflict
from minutebook.model import Round, StrayResult, Subagent, Thinking, ToolCall, Unknown
from minutebook.sources.claude_code.emit import Emitter
from minutebook.sources.claude_code.locate import encoded_folder
from minutebook.sources.claude_code.records import Origin
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


def export_claude(
    document: Path,
    *,
    root: Path,
    out: Path | None = None,
    cwd: str | None = None,
    force: bool = False,
) -> Exported:
    """Write the transcript of an inscription where the CLI looks for it, or to `out`."""
    inscription, agents = read_whole(document)
    header = inscription.header
    content = transcript(inscription, cwd)
    place = _Place(root, out, cwd or header.cwd, force)
    return _written(place, header.session_id, content, inscription.rounds, agents)


def export_operated(
    operated: Operated,
    *,
    root: Path,
    out: Path | None = None,
    cwd: str | None = None,
    force: bool = False,
    write: bool = True,
) -> Exported:
    """Write what an operation made of one or two inscriptions, under its own id (OPS-17).

    Without `write` only what is in the way is found.
    """
    header = operated.inscriptions[0].header
    origin = Origin(
        title=operated.title,
        cwd=cwd or header.cwd,
        branch=header.branch,
        version=header.version,
        surgery=operated.surgery,
    )
    rounds = _in_folder(operated.rounds, cwd)
    content = b"".join(Emitter(operated.session_id, origin).transcript(rounds))
    called = {call.id for round in rounds for call in round.calls}
    agents = [
        agent
        for inscription in operated.inscriptions
        for agent in read_subagents(inscription)
        if agent.call_id in called
    ]
    place = _Place(root, out, cwd or header.cwd, force, write)
    exported = _written(place, operated.session_id, content, rounds, agents)
    return msgspec.structs.replace(exported, remarks=list(operated.remarks))


def read_whole(document: Path) -> tuple[Inscription, list[Subagent]]:
    """An inscription with its subagents; an error where it cannot be read any more."""
    try:
        inscription = read_inscription(document)
        return inscription, list(read_subagents(inscription))
    except Malformed as error:
        raise Conflict(f"{document} cannot be exported: {error}.") from None


class _Place(msgspec.Struct, frozen=True):
    """Where a transcript goes."""

    root: Path
    out: Path | None
    cwd: str | None
    force: bool
    write: bool = True


def _written(
    place: _Place, session_id: str, content: bytes, rounds: list[Round], agents: list[Subagent]
) -> Exported:
    if place.out is None and place.cwd is None:
        raise BadArgument("This session has no working folder on record: give one with --cwd.")
    name = f"{file_name(session_id)}.jsonl"
    target = place.out or place.root / "projects" / encoded_folder(place.cwd or "") / name
    if target.is_dir():
        target = target / name
    files = {target: content, **_agent_files(target, session_id, agents)}
    backup = _make_room(target, files, place.force) if place.write else None
    if not place.write and not place.force:
        _refuse_taken(_taken(target, files))
    for path, content in files.items() if place.write else ():
        make_folder(path.parent)
        write_atomically(path, content)
    warnings = [f"{count} × {what}" for what, count in _unheld(rounds).items()]
    return Exported(target, session_id, place.cwd, len(rounds), len(agents), warnings, backup)


def _make_room(target: Path, files: dict[Path, bytes], force: bool) -> Path | None:
    """An original is never overwritten: refused, or with `force` set aside (OPS-13).

    That goes for subagents' transcripts as well, except where they say the same.
    """
    taken = _taken(target, files)
    if not force:
        _refuse_taken(taken)
    stamp = time.strftime("%Y%m%d-%H%M%S")
    backups = [_set_aside(path, stamp) for path in taken]
    return backups[0] if backups else None


def _taken(target: Path, files: dict[Path, bytes]) -> list[Path]:
    """What is in the way; subagents that say the same are not."""
    agents = [path for path in files if path != target]
    found = [path for path in agents if path.exists() and path.read_bytes() != files[path]]
    return [target, *found] if target.exists() else found


def _refuse_taken(taken: list[Path]) -> None:
    if taken:
        raise Conflict(
            f"{taken[0]} exists already. Write elsewhere with --out, or use --force "
            "(it keeps a copy of what is there)."
        )


def _set_aside(path: Path, stamp: str) -> Path:
    number = 0
    while True:
        again = f"-{number}" if number else ""
        backup = path.with_name(f"{path.name}.{stamp}{again}.backup")
        if not backup.exists():
            return path.replace(backup)
        number += 1


def write_export(inscription: Inscription, folder: Path, cwd: str) -> Path:
    """The export in a folder of its own, for checks; named as the CLI wants it."""
    path = folder / encoded_folder(cwd) / f"{file_name(inscription.header.session_id)}.jsonl"
    agents = list(read_subagents(inscription))
    id = inscription.header.session_id
    files = {path: transcript(inscription, None), **_agent_files(path, id, agents)}
    for file, content in files.items():
        make_folder(file.parent)
        file.write_bytes(content)
    return path


def transcript(inscription: Inscription, cwd: str | None) -> bytes:
    """The bytes of the main file."""
    header = inscription.header
    origin = Origin(
        source=header.source,
        title=header.title,
        custom_title=header.name if header.name_source == "custom-title" else None,
        rename=header.name if header.name_source == "rename" else None,
        signature=header.name if header.name_source == "signature" else None,
        cwd=header.cwd,
        branch=header.branch,
        version=header.version,
    )
    rounds = _in_folder(inscription.rounds, cwd)
    return b"".join(Emitter(header.session_id, origin).transcript(rounds))


def _in_folder(rounds: list[Round], cwd: str | None) -> list[Round]:
    if cwd is None:
        return rounds
    return [msgspec.structs.replace(round, cwd=cwd) for round in rounds]


def _agent_files(target: Path, session_id: str, agents: list[Subagent]) -> dict[Path, bytes]:
    """The subagents' transcripts and notes beside the main file."""
    folder = target.with_suffix("") / "subagents"
    files: dict[Path, bytes] = {}
    for agent in agents:
        emitter = Emitter(session_id, Origin(), agent=agent.id)
        name = folder / f"agent-{file_name(agent.id)}.jsonl"
        files[name] = b"".join(emitter.transcript(agent.rounds))
        meta: dict[str, object] = {
            "agentType": agent.kind,
            "description": agent.description,
            "toolUseId": agent.call_id,
            "helper": agent.helper or None,
        }
        present = {key: value for key, value in meta.items() if value is not None}
        files[name.with_suffix(".meta.json")] = msgspec.json.encode(present)
    return files


def _unheld(rounds: list[Round]) -> dict[str, int]:
    """What Claude will not see when it resumes, though the file holds it (OPS-11)."""
    counts = {
        "thinking without a signature": 0,
        "block Claude cannot take": 0,
        "result without its call": 0,
        "call without a result": 0,
    }
    for round in rounds:
        for message in round.messages:
            for block in message.blocks:
                if isinstance(block, Thinking):
                    counts["thinking without a signature"] += not block.signature
                elif isinstance(block, Unknown):
                    counts["block Claude cannot take"] += 1
                elif isinstance(block, StrayResult):
                    counts["result without its call"] += 1
                elif isinstance(block, ToolCall):
                    counts["call without a result"] += block.result is None
    return {what: count for what, count in counts.items() if count}
