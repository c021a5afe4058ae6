"""Reading an inscription back: header, rounds, pictures, subagents."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from minutebook.record.blocks import Malformed
from minutebook.record.header import Header, read_header
from minutebook.record.layout import SessionFolder, file_name
from minutebook.record.markdown import read_rounds
from minutebook.record.media import MediaStore
from minutebook.record.notation import parse_carrier
from minutebook.model import NameEvidence, Round, SessionInfo, Subagent

ARCHIVED = "archive"
"""The source of a session that is read from its inscription."""


class Inscription(msgspec.Struct, frozen=True):
    """A document, read."""

    path: Path
    header: Header
    rounds: list[Round]

    @property
    def folder(self) -> SessionFolder:
        return SessionFolder(self.path.with_suffix(""))


class _SubagentFacts(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    session: str = ""
    call_id: str | None = None
    kind: str | None = None
    description: str | None = None
    helper: bool = False


def read_text(path: Path) -> str:
    """A document's text; what is not UTF-8 any more is malformed."""
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise Malformed("it is not UTF-8") from None


def read_inscription(path: Path, *, pictures: bool = True) -> Inscription:
    """A document as header and rounds.

    Without `pictures` their files are not read: enough for an index.
    """
    text = read_text(path)
    header, start = read_header(text)
    if file_name(header.session_id) != path.stem:
        raise Malformed(f"its session_id ({header.session_id}) is not that of its file name")
    folder = SessionFolder(path.with_suffix(""))
    media = MediaStore(path.stem, _Recall(folder) if pictures else no_picture)
    return Inscription(path, header, list(read_rounds(text[start:], media)))


def read_subagents(inscription: Inscription) -> Iterator[Subagent]:
    """The subagents inscribed beside a session."""
    folder = inscription.folder
    for path in sorted(folder.subagents.glob("*.md")):
        yield read_subagent(folder, path)


def read_subagent(folder: SessionFolder, path: Path) -> Subagent:
    """One subagent's inscription."""
    lines = read_text(path).split("\n", 3)
    found = parse_carrier(lines[2]) if len(lines) > 3 else None
    if found is None or found[0] != "subagent":
        raise Malformed(f"{path} is no inscription of a subagent any more")
    try:
        facts = msgspec.convert(found[1], _SubagentFacts)
    except msgspec.ValidationError as error:
        raise Malformed(f"{path}: {error}") from None
    rounds = tuple(read_rounds("\n" + lines[3], MediaStore("..", _Recall(folder))))
    return Subagent(
        id=facts.id,
        call_id=facts.call_id,
        kind=facts.kind,
        description=facts.description,
        helper=facts.helper,
        rounds=rounds,
    )


def info_of(header: Header, rounds: int) -> SessionInfo:
    """What an inscription's header says of its session, in the form a transcript's reader has."""
    named = (header.name,) if header.name else ()
    evidence = {"rename": "renames", "custom-title": "titles", "signature": "signatures"}
    kind = evidence.get(header.name_source or "")
    return SessionInfo(
        id=header.session_id,
        source=ARCHIVED,
        started=header.started,
        ended=header.ended,
        rounds=rounds,
        title=header.title,
        cwds=(header.cwd,) if header.cwd else (),
        branches=(header.branch,) if header.branch else (),
        models=(header.model,) if header.model else (),
        versions=(header.version,) if header.version else (),
        names=NameEvidence(**{kind: named}) if kind else NameEvidence(),
    )


class _Recall:
    """Finds kept pictures; only a file's name is believed."""

    def __init__(self, folder: SessionFolder) -> None:
        self._media = folder.media

    def __call__(self, name: str) -> bytes:
        path = self._media / Path(name).name
        try:
            return path.read_bytes()
        except OSError:
            raise Malformed(f"the picture {path} is missing") from None


def no_picture(_: str) -> bytes:
    """For readers to whom pictures do not matter."""
    return b""
