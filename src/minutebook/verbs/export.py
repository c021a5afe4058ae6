"""From the Markdown back to a transcript ``claude --resume`` finds (OPS-09 … OPS-13)."""

from __future__ import annotations

import time
from pathlib import Path

import msgspec

from minutebook.archive.blocks import Malformed
from minutebook.archive.layout import file_name
from minutebook.archive.reading import Inscription, read_inscription, read_subagents
from minutebook.archive.store import make_folder, write_atomically
from minutebook.errors import BadArgument, Conflict
from minutebook.model import Round, StrayResult, Subagent, Thinking, ToolCall, Unknown
from minutebook.sources.claude_code.emit import Emitter
from minutebook.sources.claude_code.locate import encoded_folder
from minutebook.sources.claude_code.records import Origin


class Exported(msgspec.Struct, frozen=True):
    path: Path
    session_id: str
    cwd: str | None
    rounds: int
    subagents: int
    warnings: list[str]
    backup: Path | None = None


def export_claude(
    document: Path,
    *,
    root: Path,
    out: Path | None = None,
    cwd: str | None = None,
    force: bool = False,
) -> Exported:
    """Write the transcript of an inscription where the CLI looks for it, or to `out`."""
    try:
        inscription = read_inscription(document)
        agents = list(read_subagents(inscription))
    except Malformed as error:
        raise Conflict(f"{document} cannot be exported: {error}.") from None
    header = inscription.header
    folder_of = cwd or header.cwd
    if out is None and folder_of is None:
        raise BadArgument("This session has no working folder on record: give one with --cwd.")
    name = f"{file_name(header.session_id)}.jsonl"
    target = out or root / "projects" / encoded_folder(folder_of or "") / name
    if target.is_dir():
        target = target / name
    files = {target: transcript(inscription, cwd), **_agent_files(target, inscription, agents)}
    backup = _make_room(target, files, force)
    for path, content in files.items():
        make_folder(path.parent)
        write_atomically(path, content)
    warnings = [f"{count} × {what}" for what, count in _unheld(inscription.rounds).items()]
    rounds = len(inscription.rounds)
    return Exported(target, header.session_id, folder_of, rounds, len(agents), warnings, backup)


def _make_room(target: Path, files: dict[Path, bytes], force: bool) -> Path | None:
    """An original is never overwritten: refused, or with `force` set aside (OPS-13).

    That goes for subagents' transcripts as well, except where they say the same.
    """
    agents = [path for path in files if path != target]
    taken = [path for path in agents if path.exists() and path.read_bytes() != files[path]]
    if target.exists():
        taken.insert(0, target)
    if taken and not force:
        raise Conflict(
            f"{taken[0]} exists already. Write elsewhere with --out, or use --force "
            "(it keeps a copy of what is there)."
        )
    stamp = time.strftime("%Y%m%d-%H%M%S")
    backups = [_set_aside(path, stamp) for path in taken]
    return backups[0] if backups else None


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
    files = {path: transcript(inscription, None), **_agent_files(path, inscription, agents)}
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
    rounds = inscription.rounds
    if cwd is not None:
        rounds = [msgspec.structs.replace(round, cwd=cwd) for round in rounds]
    return b"".join(Emitter(header.session_id, origin).transcript(rounds))


def _agent_files(
    target: Path, inscription: Inscription, agents: list[Subagent]
) -> dict[Path, bytes]:
    """The subagents' transcripts and notes beside the main file."""
    folder = target.with_suffix("") / "subagents"
    files: dict[Path, bytes] = {}
    for agent in agents:
        emitter = Emitter(inscription.header.session_id, Origin(), agent=agent.id)
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
