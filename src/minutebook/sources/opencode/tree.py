"""``storage/``: sessions as a tree of JSON files, before 1.2 and where nothing imported them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from stat import S_ISREG

import msgspec

from minutebook.sources.assembly.lines import DECODE_ERRORS
from minutebook.sources.assembly.repair import Unreadable, coerce, rescue
from minutebook.sources.base import Trouble, reason_of
from minutebook.sources.opencode.records import (
    Family,
    Held,
    Millis,
    SessionFile,
)


class _Moment(msgspec.Struct, gc=False):
    created: Millis | None = None


class _Ordered(msgspec.Struct, gc=False):
    """What a message's place follows from."""

    id: str | None = None
    time: _Moment | None = None


class _Tied(msgspec.Struct, gc=False):
    """Which message a part belongs to."""

    messageID: str | None = None


_session = msgspec.json.Decoder(SessionFile).decode
_ordered = msgspec.json.Decoder(_Ordered).decode
_tied = msgspec.json.Decoder(_Tied).decode
_known: dict[Path, tuple[tuple[int, int], SessionFile | None]] = {}


def is_session(path: Path) -> bool:
    """Whether a file is a session's: ``session/<project>/<id>.json``, with what belongs to it."""
    storage = storage_of(path)
    return (
        path.suffix == ".json"
        and path.parent.parent.name == "session"
        and (storage / "message").is_dir()
        and session_file(path) is not None
    )


def is_storage(folder: Path) -> bool:
    return (folder / "session").is_dir() and (folder / "message").is_dir()


def storage_of(path: Path) -> Path:
    return path.parent.parent.parent


def session_files(storage: Path) -> list[Path]:
    return sorted((storage / "session").glob("*/*.json"))


def session_file(path: Path) -> SessionFile | None:
    """What a session says of itself; None where the file is not a session's."""
    try:
        stat = path.stat()
        if not S_ISREG(stat.st_mode):  # a pipe of that name would make us wait for ever
            return None
        state = (stat.st_size, stat.st_mtime_ns)
        known = _known.get(path)
        if known is None or known[0] != state:
            known = _known[path] = (state, _decoded(path))
        return known[1]
    except OSError:
        return None


def _decoded(path: Path) -> SessionFile | None:
    data = path.read_bytes()
    try:
        found = _session(data)
    except DECODE_ERRORS:
        try:
            found = coerce(next(rescue(data))[0], SessionFile)
        except Unreadable:
            return None
    return found if found.id and found.time is not None else None


def sessions_in(paths: Iterable[Path]) -> dict[str, tuple[Path, SessionFile]]:
    """Sessions by their id."""
    found: dict[str, tuple[Path, SessionFile]] = {}
    for path in paths:
        session = session_file(path)
        if session is not None and session.id:
            found.setdefault(session.id, (path, session))
    return found


def unreadable(storage: Path) -> list[Trouble]:
    """Files of sessions that say nothing, and why."""
    found: list[Trouble] = []
    for path in session_files(storage):
        if session_file(path) is None:
            try:
                regular = S_ISREG(path.stat().st_mode)
            except OSError as error:
                found.append(Trouble(path, reason_of(error)))
                continue
            odd = "half-written, or not a session" if regular else "not a file that can be read"
            found.append(Trouble(path, odd))
    return found


def family(path: Path, session: SessionFile) -> Family:
    """A session with what its files come to."""
    storage, id = storage_of(path), session.id or ""
    count = size = 0
    latest = 0.0
    total = 0
    for stat in _stats(storage, path, id):
        count += 1
        size += stat.st_size
        latest = max(latest, stat.st_mtime)
        total += stat.st_mtime_ns
    return Family(
        id,
        session.parentID,
        session.directory,
        session.title,
        session.version,
        session.slug,
        None,
        session.began,
        size,
        latest,
        f"{count} {size} {total}",
    )


def _stats(storage: Path, path: Path, id: str) -> Iterator[os.stat_result]:
    yield path.stat()
    parts = storage / "part"
    for message in _entries(_inside(storage / "message", id)):
        yield message.stat()
        for part in _entries(parts / Path(message.name).stem):
            yield part.stat()


def _inside(folder: Path, name: str) -> Path:
    """A folder by a name that stands in a file: it cannot lead anywhere else."""
    return folder / (name if name == Path(name).name else "-")


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return sorted(
                (entry for entry in found if entry.name.endswith(".json") and entry.is_file()),
                key=lambda entry: entry.name,
            )
    except OSError:
        return []


def messages(storage: Path, session_id: str) -> Iterator[Held]:
    """The messages of a session in their order."""
    found: list[tuple[float, str, str]] = []
    for entry in _entries(_inside(storage / "message", session_id)):
        try:
            head = _ordered(Path(entry.path).read_bytes())
        except (OSError, *DECODE_ERRORS):
            head = _Ordered()
        at = head.time.created if head.time is not None else None
        found.append((float(at or 0), head.id or Path(entry.name).stem, entry.path))
    flat = _flat(storage)
    for _, id, place in sorted(found):
        try:
            data = Path(place).read_bytes()
        except OSError:
            continue  # taken back just now
        parts = [*_parts(_inside(storage / "part", id)), *flat.get(id, ())]
        yield Held(id, data, [(f"{id}-{name}", part) for name, part in sorted(parts)])


def _parts(folder: Path) -> Iterator[tuple[str, bytes]]:
    for entry in _entries(folder):
        try:
            yield Path(entry.name).stem, Path(entry.path).read_bytes()
        except OSError:
            continue


def _flat(storage: Path) -> dict[str, list[tuple[str, bytes]]]:
    """Parts that stand in one folder, as the oldest versions wrote them, by their message."""
    folder = storage / "part"
    try:
        written = folder.stat().st_mtime_ns
    except OSError:
        return {}
    found: dict[str, list[tuple[str, bytes]]] = {}
    for id, data in _parts(folder) if _has_flat(folder, written) else ():
        try:
            part = _tied(data)
        except DECODE_ERRORS:
            continue
        if part.messageID:
            found.setdefault(part.messageID, []).append((id, data))
    return found


@lru_cache(maxsize=4)
def _has_flat(folder: Path, written: int) -> bool:
    """Later versions have thousands of folders here, and no file."""
    del written
    return bool(_entries(folder))
