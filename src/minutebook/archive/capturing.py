"""Find the instructions a session had, and keep them: while its folder is still there (FUT-03).

What the transcript records comes first. Then git says which commit was in force when the session
began, and the file itself counts where nobody has changed it since.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

import msgspec

from minutebook.archive.repositories import (
    Repository,
    Revision,
    in_force,
    pathspecs,
    repository_of,
)
from minutebook.derive.instructions import (
    Given,
    Instruction,
    Scope,
    Sighting,
    in_order,
    is_reasonable,
    normal,
    recorded,
    same_path,
    scope_of,
    version_hash,
)
from minutebook.derive.times import instant
from minutebook.model import Attachment, Round, SessionInfo, ToolCall
from minutebook.record.instructions import (
    VERSION,
    KeptInstructions,
    add_session,
    keep_version,
    read_sessions,
)
from minutebook.record.layout import Layout, SessionFolder
from minutebook.record.recover import StoredRounds
from minutebook.sources.base import Source
from minutebook.sources.registry import SOURCES

_MOST_BYTES = 262_144
_DEEPEST = 40  # folders above a project
_CHANGED = "it was changed after the session began"
_LATER = "it was first committed after the session began"
_UNDATED = "the session has no date"


class Found(msgspec.Struct, frozen=True):
    """The instructions of a session, and the content of each version by its hash."""

    kept: KeptInstructions
    contents: dict[str, str]


class Noted(msgspec.Struct, frozen=True):
    """A session that was written just now, and what of its instructions was seen meanwhile."""

    info: SessionInfo
    root: Path | None
    sightings: tuple[Sighting, ...]
    """In the rounds that were added."""
    folder: SessionFolder
    whole: bool
    """Whether all its rounds were added just now."""

    def in_all(self) -> tuple[Sighting, ...]:
        """What all its rounds record."""
        source = SOURCES.get(self.info.source)
        if self.whole or source is None:
            return self.sightings
        rounds = map(StoredRounds(self.folder).read, self.folder.numbers())
        return tuple(sightings_in(source, rounds))


class _File(msgspec.Struct, frozen=True):
    """A file as it is now."""

    path: Path
    scope: Scope
    content: str
    mtime: float


class _Place(msgspec.Struct, frozen=True):
    """A project's folder as it is now; looked at once for all its sessions."""

    files: list[_File]
    repository: Repository | None
    patterns: tuple[str, ...]


def sightings_in(source: Source, rounds: Iterable[Round]) -> Iterator[Sighting]:
    """Files of instructions that rounds attach, read or change."""
    for round in rounds:
        for message in round.messages:
            for block in message.blocks:
                if isinstance(block, Attachment | ToolCall):
                    for given in source.instructions(block):
                        yield Sighting(round.number, given)


class Looking:
    """One look at the projects of some sessions."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, str], _Place | None] = {}
        self._homes: dict[tuple[str, Path | None], list[_File]] = {}

    def at(self, info: SessionInfo, root: Path | None, sightings: Iterable[Sighting]) -> Found:
        """The instructions of a session, the best evidence for each file."""
        source = SOURCES.get(info.source)
        told, changes = recorded(sightings, info.cwd)
        files = {key: item for key, (item, _) in told.items()}
        contents = {item.hash: content for item, content in told.values() if item.hash}
        place = self._place(source, info.cwd) if source is not None and info.cwd else None
        start = instant(info.started)
        when = start.timestamp() if start is not None else None
        present: list[_File] = []
        if source is not None:
            present += self._home(source, root)
        if place is not None:
            present += place.files
        committed, later = _committed(place, info, when)
        for path, (item, content) in committed.items():
            if path not in files:
                files[path] = item
                contents[item.hash or ""] = content
        for file in present:
            key = same_path(str(file.path))
            known = files.get(key)
            if known is not None and known.grade == "recorded":
                continue
            item = _present(file, when, known, key in later)
            if item is not known:
                files[key] = item
                if item.hash is not None:
                    contents[item.hash] = file.content
        return Found(
            KeptInstructions(
                version=VERSION,
                session_id=info.id,
                looked=_iso(time.time()) if place is not None else None,
                files=in_order(files.values()),
                changed=changes,
                project="there" if place is not None else "gone" if info.cwd else "unknown",
            ),
            contents,
        )

    def _place(self, source: Source, cwd: str) -> _Place | None:
        key = (source.name, cwd)
        if key not in self._places:
            self._places[key] = _look(source, cwd)
        return self._places[key]

    def _home(self, source: Source, root: Path | None) -> list[_File]:
        key = (source.name, root)
        if key not in self._homes:
            found = (_read(path, "home") for path in source.home_instructions(root))
            self._homes[key] = [file for file in found if file is not None]
        return self._homes[key]


def capture(layout: Layout, sessions: Mapping[str, Noted], *, anew: bool) -> None:
    """Keep the instructions of sessions that were written just now; the caller holds the lock.

    With `anew` not only new rounds are looked at: a run that was killed may have written some.
    """
    known, _ = read_sessions(layout)
    looking = Looking()
    for id, noted in sessions.items():
        old = known.get(id)
        try:
            if old is None:
                keep(layout, looking.at(noted.info, noted.root, noted.in_all()))
            elif sightings := noted.in_all() if anew else noted.sightings:
                grown = _grown(old, noted.info, sightings)
                if grown.kept != old:
                    keep(layout, grown)
        except OSError:
            continue  # the session is archived; only this is not known of it


def keep(layout: Layout, found: Found) -> None:
    """Write down which instructions a session had, and their contents."""
    keep_versions(layout, found.kept, found.contents)
    add_session(layout, found.kept)


def keep_versions(layout: Layout, kept: KeptInstructions, contents: Mapping[str, str]) -> None:
    """Write the contents of a session's instructions down, as far as they are known."""
    for item in kept.files:
        if item.hash is not None and item.hash in contents:
            keep_version(layout, contents[item.hash])


def _grown(old: KeptInstructions, info: SessionInfo, new: Iterable[Sighting]) -> Found:
    """What was kept of a session, with what its new rounds record."""
    before = [Sighting(change.round, Given(change.path, "written")) for change in old.changed]
    told, changes = recorded([*before, *new], info.cwd)
    files = {same_path(item.path): item for item in old.files}
    for key, (item, _) in told.items():
        if key not in files or files[key].grade != "recorded":
            files[key] = item
    return Found(
        msgspec.structs.replace(old, files=in_order(files.values()), changed=changes),
        {item.hash: content for item, content in told.values() if item.hash},
    )


# -- the folder as it is now


def _look(source: Source, cwd: str) -> _Place | None:
    try:
        here = Path(cwd)
        if not here.is_absolute() or not here.is_dir():
            return None
        here = here.resolve()
    except (OSError, ValueError):
        return None
    folders = [here, *list(here.parents)[:_DEEPEST]]
    files: dict[Path, _File] = {}
    for folder in folders:
        for path in _matching(folder, source.instruction_files):
            scope: Scope = "project" if folder == here else "parent"
            file = _read(path, scope)
            if file is not None:
                files.setdefault(path, file)
    repository = repository_of(here)
    patterns: tuple[str, ...] = ()
    if repository is not None:
        top = repository.top
        inside = [folder for folder in folders if folder == top or top in folder.parents]
        patterns = tuple(pathspecs(top, inside, source.instruction_files))
    return _Place(list(files.values()), repository, patterns)


def _matching(folder: Path, names: Iterable[str]) -> Iterator[Path]:
    for name in names:
        if "*" not in name:
            yield folder / name
            continue
        inner, pattern = PurePosixPath(name).parent, PurePosixPath(name).name
        try:
            yield from sorted((folder / inner).glob(pattern))
        except OSError:
            continue


def _read(path: Path, scope: Scope) -> _File | None:
    """A file of instructions: a regular one of a reasonable size, wherever a link leads."""
    try:
        if path.is_symlink() and path.resolve().suffix != ".md":
            return None
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError, RuntimeError):
        return None
    with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor, not a path
        told = os.fstat(descriptor)
        if not stat.S_ISREG(told.st_mode) or told.st_size > _MOST_BYTES:
            return None
        content = file.read(_MOST_BYTES).decode("utf-8", "replace")
    return _File(path, scope, content, told.st_mtime)


def _present(
    file: _File, when: float | None, known: Instruction | None, later: bool
) -> Instruction:
    """What the file as it is says; what git knows stays unless the file is older evidence."""
    version = version_hash(file.content)
    bare = Instruction(
        path=str(file.path), scope=file.scope, grade="unknown", changed=_iso(file.mtime)
    )
    if when is not None and file.mtime <= when and is_reasonable(file.content):
        if known is not None and known.hash == version:
            return known
        return msgspec.structs.replace(bare, grade="present", hash=version, size=_size(file))
    if known is not None:
        return known
    note = _UNDATED if when is None else _LATER if later else _CHANGED
    return msgspec.structs.replace(bare, note=note)


def _size(file: _File) -> int:
    return len(normal(file.content).encode("utf-8", "surrogatepass"))


# -- what git knows


def _committed(
    place: _Place | None, info: SessionInfo, when: float | None
) -> tuple[dict[str, tuple[Instruction, str]], set[str]]:
    """What was in force at a moment, by path; and the files that were committed later only."""
    found: dict[str, tuple[Instruction, str]] = {}
    later: set[str] = set()
    if place is None or place.repository is None or when is None or not place.patterns:
        return found, later
    repository = place.repository
    history = repository.history(info.branch, place.patterns)
    for path, revisions in history.items():
        full = str(repository.top / path)
        item = Instruction(path=full, scope=scope_of(full, info.cwd), grade="git")
        revision = in_force(revisions, when)
        if revision is None:
            later.add(same_path(full))
            continue
        content = _content(repository, history, path, revision, when)
        if content is not None:
            told = msgspec.structs.replace(
                item,
                hash=version_hash(content),
                size=len(normal(content).encode("utf-8", "surrogatepass")),
                commit=revision.commit,
                committed=_iso(revision.at),
            )
            found[same_path(full)] = (told, content)
    return found, later


def _content(
    repository: Repository,
    history: Mapping[str, list[Revision]],
    path: str,
    revision: Revision,
    when: float,
) -> str | None:
    """The content of a file at a commit; of a link, that of the file it leads to."""
    if revision.blob is None:
        return None
    content = repository.content(revision.blob)
    if content is None or not revision.link:
        return content
    target = os.path.normpath((PurePosixPath(path).parent / content.strip()).as_posix())
    led = in_force(history.get(target, ()), when)
    if led is None or led.blob is None or led.link:
        return None
    return repository.content(led.blob)


def _iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
