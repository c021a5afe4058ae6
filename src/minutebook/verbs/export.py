"""From the Markdown back to a transcript ``claude --resume`` finds (OPS-09 … OPS-13)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from minutebook.archive.blocks import Malformed
from minutebook.archive.layout import SessionFolder
from minutebook.archive.markdown import read_rounds
from minutebook.archive.media import MediaStore
from minutebook.archive.notation import parse_carrier
from minutebook.archive.store import make_folder, write_atomically
from minutebook.errors import BadArgument, Conflict
from minutebook.model import Round, StrayResult, Subagent, Thinking, ToolCall, Unknown
from minutebook.sources.claude_code.emit import Emitter
from minutebook.sources.claude_code.locate import encoded_folder
from minutebook.sources.claude_code.records import Origin
from minutebook.verbs.rebuild import Inscription, read_inscription


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
    except Malformed as error:
        raise Conflict(f"{document} cannot be exported: {error}.") from None
    header = inscription.header
    folder_of = cwd or header.cwd
    if out is None and folder_of is None:
        raise BadArgument("This session has no working folder on record: give one with --cwd.")
    target = out or (
        root / "projects" / encoded_folder(folder_of or "") / f"{header.session_id}.jsonl"
    )
    backup = _make_room(target, force)
    make_folder(target.parent)
    agents = list(read_subagents(inscription))
    write_atomically(target, transcript(inscription, cwd))
    _write_agents(target, inscription, agents)
    warnings = [f"{count} × {what}" for what, count in _unheld(inscription.rounds).items()]
    rounds = len(inscription.rounds)
    return Exported(target, header.session_id, folder_of, rounds, len(agents), warnings, backup)


def _make_room(target: Path, force: bool) -> Path | None:
    """An original is never overwritten: refused, or with `force` set aside (OPS-13)."""
    if not target.exists():
        return None
    if not force:
        raise Conflict(
            f"{target} exists already. Write elsewhere with --out, or use --force "
            "(it keeps a copy of what is there)."
        )
    backup = target.with_name(f"{target.name}.{time.strftime('%Y%m%d-%H%M%S')}.backup")
    number = 1
    while backup.exists():
        number += 1
        backup = backup.with_suffix(f".backup{number}")
    target.replace(backup)
    return backup


def write_export(inscription: Inscription, folder: Path, cwd: str) -> Path:
    """The export in a folder of its own, for checks; named as the CLI wants it."""
    path = folder / encoded_folder(cwd) / f"{inscription.header.session_id}.jsonl"
    make_folder(path.parent)
    path.write_bytes(transcript(inscription, None))
    _write_agents(path, inscription, list(read_subagents(inscription)))
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


def read_subagents(inscription: Inscription) -> Iterator[Subagent]:
    """The subagents inscribed beside a session."""
    folder = SessionFolder(inscription.path.with_suffix(""))
    media = MediaStore("..", lambda name: (folder.media / Path(name).name).read_bytes())
    for path in sorted(folder.subagents.glob("*.md")):
        text = path.read_bytes().decode("utf-8")
        lines = text.split("\n", 3)
        found = parse_carrier(lines[2]) if len(lines) > 3 else None
        if found is None or found[0] != "subagent":
            raise Conflict(f"{path} is no inscription of a subagent any more.")
        facts = {name: value for name, value in found[1].items() if name != "session"}
        yield Subagent(rounds=tuple(read_rounds("\n" + lines[3], media)), **facts)


def _write_agents(target: Path, inscription: Inscription, agents: list[Subagent]) -> None:
    folder = target.with_suffix("") / "subagents"
    if agents:
        make_folder(folder)
    for agent in agents:
        emitter = Emitter(inscription.header.session_id, Origin(), agent=agent.id)
        name = folder / f"agent-{Path(agent.id).name}.jsonl"
        write_atomically(name, b"".join(emitter.transcript(agent.rounds)))
        meta: dict[str, object] = {
            "agentType": agent.kind,
            "description": agent.description,
            "toolUseId": agent.call_id,
            "helper": agent.helper or None,
        }
        present = {key: value for key, value in meta.items() if value is not None}
        write_atomically(name.with_suffix(".meta.json"), msgspec.json.encode(present))


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
