"""What adapters share whose sessions are files of their own."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from minutebook.derive.instructions import Given
from minutebook.errors import NotFound
from minutebook.model import Attachment, Block, ToolKind
from minutebook.sources.base import Depth, Exporter, Reading, Transcript, Trouble, reason_of
from minutebook.sources.jsonl import opened

if TYPE_CHECKING:
    from minutebook.sources.assembly.lines import LinesReading

_HEAD = 4096
INSTRUCTIONS = "instructions"
"""Kind of an attachment that holds a file of instructions: its `name`, `folder`, `content`."""


def current_file(transcript: Transcript) -> Transcript | None:
    """A transcript with the size its file has now; None where it was deleted since."""
    try:
        stat = transcript.path.stat()
    except OSError:
        return None
    return msgspec.structs.replace(transcript, size=stat.st_size, mtime=stat.st_mtime)


def head_of_file(path: Path, size: int) -> str:
    """A digest of the first bytes of a file, as far as it reached when it had this size."""
    with path.open("rb") as file:
        return hashlib.sha256(file.read(min(size, _HEAD))).hexdigest()[:16]


def first_line(path: Path, most: int = 1 << 16) -> bytes:
    """The first line of a file, as far as that many bytes of it; nothing for what is not one."""
    if not path.is_file():  # a pipe of that name would make us wait for ever
        return b""
    with BufferedReader(opened(path)) as file:
        return file.readline(most)


def found_files(
    places: Iterable[Path],
    source: str,
    files: Callable[[Path], Iterable[Path]],
    session_id: Callable[[Path], str],
    inside: Sequence[str] = (),
    depth: int = 0,
) -> tuple[list[Transcript], list[Trouble]]:
    """Transcripts of places: files that were named, and those `files` finds in a folder; that is
    in folders of these names in it, so many levels down."""
    found: dict[Path, Transcript] = {}
    troubles: list[Trouble] = []
    for place in places:
        if not place.exists():
            raise NotFound(f"There is no folder or transcript at {place}.")
        named = place.is_file()
        tops = [place / name for name in inside if is_folder(place / name)]
        for top in () if named else tops or (place,):
            troubles += closed_folders(top, depth if tops else 0)
        for path in (place,) if named else files(place):
            try:
                stat = path.stat()
                if not path.is_file():
                    troubles.append(Trouble(path, "not a file that can be read"))
                    continue
            except OSError as error:
                troubles.append(Trouble(path, reason_of(error)))
                continue
            root = None if named else place
            known = Transcript(path, source, session_id(path), stat.st_size, stat.st_mtime, root)
            found.setdefault(path, known)
    return list(found.values()), troubles


def is_folder(path: Path) -> bool:
    """Whether it is one that we can see; what is closed to us is none, and no error."""
    return os.path.isdir(path)  # noqa: PTH112 - the other raises


def closed_folders(folder: Path, depth: int) -> Iterator[Trouble]:
    """Folders that nobody may look into, this one and those below: `glob` says no word of them."""
    waiting = [(str(folder), depth)]
    while waiting:
        place, left = waiting.pop()
        try:
            with os.scandir(place) as entries:
                if left:
                    waiting += [(entry.path, left - 1) for entry in entries if entry.is_dir()]
        except (NotADirectoryError, FileNotFoundError):
            continue
        except OSError as error:
            yield Trouble(Path(place), reason_of(error))


def named_in(block: Block, kind: str, begin: re.Pattern[str], end: str) -> tuple[Given, ...]:
    """Files of instructions that stand, one behind the other, in the texts of an attachment.
    `begin` has the path; it stands in `end` again where that asks for it (``{}``)."""
    if not isinstance(block, Attachment) or block.kind != kind:
        return ()
    texts: list[Any] = [block.data]
    found: dict[str, Given] = {}
    while texts:
        value = texts.pop()
        if isinstance(value, dict):
            texts += value.values()
        elif isinstance(value, str):
            at = 0
            while (start := begin.search(value, at)) is not None:
                stop = value.find(end.format(start[1]), start.end() - 1)
                if stop < 0:
                    break  # a file that is cut short; what follows would take for ever
                content = value[start.end() : max(stop, start.end())]
                found.setdefault(start[1], Given(start[1], "attached", content))
                at = stop + 1
    return tuple(found.values())


class FileSource:
    """Defaults for an adapter: one file is one session, it only grows, nothing stands beside it,
    nothing deletes it, and nobody can write it; instructions are in AGENTS.md."""

    instruction_files: tuple[str, ...] = ("AGENTS.md",)
    going_on: str
    """The command that goes on with a session: ``codex resume {}``."""
    inside: str = ""
    """The folder of its home that has the sessions, where what is beside it changes all the
    time, or is large."""

    @property
    def exporter(self) -> Exporter | None:
        return None

    def default_root(self) -> Path:
        raise NotImplementedError

    def current(self, transcript: Transcript) -> Transcript | None:
        return current_file(transcript)

    def head(self, transcript: Transcript, size: int) -> str:
        return head_of_file(transcript.path, size)

    def beside(self, transcript: Transcript) -> str:
        del transcript
        return ""

    def orphans(self, folder: Path, session_ids: Collection[str]) -> list[Trouble]:
        del folder, session_ids
        return []

    def retention_days(self, root: Path) -> int | None:
        del root
        return None

    def resume(self, transcript: Transcript, checkpoint: bytes) -> Reading | None:
        del transcript, checkpoint
        return None

    def home_instructions(self, root: Path | None) -> list[Path]:
        """Files of instructions for every project."""
        folder = root or self.default_root()
        return [folder / name for name in self.instruction_files if (folder / name).is_file()]

    def instructions(self, block: Block) -> tuple[Given, ...]:
        """What an adapter kept as an attachment of that kind."""
        if not isinstance(block, Attachment) or block.kind != INSTRUCTIONS:
            return ()
        name, folder, content = (block.data.get(key) for key in ("name", "folder", "content"))
        if not isinstance(name, str) or not isinstance(content, str):
            return ()
        path = f"{folder.rstrip('/')}/{name}" if isinstance(folder, str) and folder else name
        return (Given(path, "attached", content),)

    def context_windows(self, model: str) -> tuple[int, ...]:
        del model
        return ()

    def folders(self, places: Iterable[Path]) -> list[Path]:
        """What to watch: these places, else the default root."""
        chosen = list(places) or [self.default_root()]
        inner = [place / self.inside for place in chosen]
        found = [i if is_folder(i) else p for p, i in zip(chosen, inner, strict=True)]
        return [place for place in found if is_folder(place) or os.path.isfile(place)]  # noqa: PTH113

    def matters(self, path: Path) -> bool:
        return path.suffix == ".jsonl"

    def sessions_of(self, paths: Iterable[Path]) -> set[str]:
        """What the sessions of changed files may be called."""
        return {path.stem for path in paths}

    def resume_command(self, session_id: str, cwd: str | None) -> str:
        command = self.going_on.format(shlex.quote(session_id))
        return f"cd {shlex.quote(cwd)} && {command}" if cwd else command


class Places(Protocol):
    """An adapter's module ``locate``: where its agent keeps sessions."""

    def default_root(self) -> Path: ...

    def discover(self, places: Iterable[Path]) -> tuple[list[Transcript], list[Trouble]]: ...

    def claims(self, path: Path) -> bool: ...


class Kinds(Protocol):
    """An adapter's module ``tools``: what its agent's tools do."""

    def tool_kind(self, name: str) -> ToolKind: ...


class LinesSource(FileSource):
    """An adapter whose files are lines that are added to, in modules of these names."""

    places: Places
    kinds: Kinds

    def reading(self) -> type[LinesReading[Any]]:
        """How a file is read; its modules are loaded when there is something to read."""
        raise NotImplementedError

    def default_root(self) -> Path:
        return self.places.default_root()

    def discover(self, places: Iterable[Path]) -> tuple[list[Transcript], list[Trouble]]:
        return self.places.discover(places)

    def claims(self, path: Path) -> bool:
        return self.places.claims(path)

    def tool_kind(self, name: str) -> ToolKind:
        return self.kinds.tool_kind(name)

    def read(self, transcript: Transcript, depth: Depth) -> Reading:
        return self.reading().opened(transcript, self.tool_kind, depth)

    def resume(self, transcript: Transcript, checkpoint: bytes) -> Reading | None:
        from minutebook.sources.assembly.lines import lines_checkpoint

        reading = self.reading()
        known = lines_checkpoint(checkpoint, transcript.path, reading.version)
        if known is None:
            return None
        return reading.opened(transcript, self.tool_kind, "full", known)
