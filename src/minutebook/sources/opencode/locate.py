"""Where OpenCode keeps its sessions: a database, or a tree of JSON files, or both."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

import msgspec

from minutebook.errors import NotFound
from minutebook.sources.base import Transcript, Trouble, reason_of
from minutebook.sources.files import closed_folders
from minutebook.sources.opencode import database, tree
from minutebook.sources.opencode.records import Families, Family, Held

SOURCE = "opencode"
_DATABASES = "opencode*.db"
_RECENT = 600.0  # seconds in which sessions may have been written together


def default_root() -> Path:
    """``$XDG_DATA_HOME/opencode``, else ``~/.local/share/opencode``."""
    data = os.environ.get("XDG_DATA_HOME")
    return (Path(data) if data else Path.home() / ".local" / "share") / "opencode"


def claims(path: Path) -> bool:
    """A database, a session's file; or OpenCode's folder, or its ``storage``. A database that is
    damaged is known by its name: who names its folder is told."""
    if path.is_dir():
        return bool(_databases(path)) or _storage(path) is not None
    if path.suffix == ".json":
        return tree.is_session(path)
    if path.suffix != ".db" or not path.is_file():
        return False
    return path.match(_DATABASES) or database.is_database(path)


def _databases(folder: Path) -> list[Path]:
    """Those of the folder: other release channels have one each, and ``$OPENCODE_DB`` moves it."""
    found = [path for path in sorted(folder.glob(_DATABASES)) if path.is_file()]
    elsewhere = moved()
    if elsewhere is not None and folder == default_root() and elsewhere.is_file():
        found.append(elsewhere)
    return list(dict.fromkeys(found))


def moved() -> Path | None:
    """The database that ``$OPENCODE_DB`` names."""
    found = os.environ.get("OPENCODE_DB")
    return default_root() / found if found else None


def _storage(folder: Path) -> Path | None:
    return next((f for f in (folder / "storage", folder) if tree.is_storage(f)), None)


# ------------------------------------------------------------ finding


def discover(places: Iterable[Path]) -> tuple[list[Transcript], list[Trouble]]:
    """Sessions of places; a subagent's is its parent's. What the database has, wins."""
    found: dict[str, Transcript] = {}
    troubles: list[Trouble] = []
    for place in places:
        if not place.exists():
            raise NotFound(f"There is no folder or transcript at {place}.")
        root = place if place.is_dir() else None
        imported: set[str] = set()
        for path in _databases(place) if root is not None else _only(place, ".db"):
            try:
                families = database.families(path)
            except OSError as error:
                troubles.append(Trouble(path, reason_of(error)))
                continue
            imported |= families.by_id.keys()
            for one in families.grouped():
                known = _transcript(path, one, root, key=one[0].id)
                found.setdefault(known.location, known)
        for path, one in _in_tree(place, root, imported):
            known = _transcript(path, one, root)
            found.setdefault(known.location, known)
        if root is not None and (storage := _storage(root)) is not None:
            troubles += [*tree.unreadable(storage), *closed_folders(storage / "session", 1)]
    return list(found.values()), troubles


def _only(place: Path, suffix: str) -> list[Path]:
    return [place] if place.suffix == suffix else []


def _in_tree(
    place: Path, root: Path | None, imported: set[str]
) -> Iterator[tuple[Path, list[Family]]]:
    """Sessions of JSON files: of the one that was named, or of a folder's."""
    if root is None:
        if tree.is_session(place):
            yield place, _family_in_tree(place)
        return
    storage = _storage(root)
    sessions = tree.sessions_in(tree.session_files(storage)) if storage is not None else {}
    left = {id: known for id, known in sessions.items() if id not in imported}
    for one in Families(tree.family(*known) for known in left.values()).grouped():
        yield left[one[0].id][0], one


def _family_in_tree(path: Path) -> list[Family]:
    """A session and its subagents', which are of the same project."""
    sessions = tree.sessions_in(sorted(path.parent.glob("*.json")))
    own = tree.session_file(path)
    if own is None or own.id is None:
        raise FileNotFoundError(2, "no such session", str(path))
    sessions[own.id] = (path, own)
    wanted = {own.id}
    while more := {id for id, (_, s) in sessions.items() if s.parentID in wanted} - wanted:
        wanted |= more
    families = Families(tree.family(*sessions[id]) for id in sorted(wanted))
    return families.of(families.by_id[own.id])


def _transcript(path: Path, family: list[Family], root: Path | None, key: str = "") -> Transcript:
    return Transcript(
        path,
        SOURCE,
        family[0].id,
        sum(one.size for one in family),
        max(one.mtime for one in family),
        root,
        key,
    )


# ------------------------------------------------------------ one session


def family_of(transcript: Transcript) -> list[Family]:
    """The session of a transcript, then its subagents'; OSError where it is gone."""
    if not transcript.key:
        return _family_in_tree(transcript.path)
    families = database.families(transcript.path)
    own = families.by_id.get(transcript.key)
    if own is None:
        raise FileNotFoundError(2, "no such session", transcript.location)
    return families.of(own)


def messages_of(transcript: Transcript) -> Callable[[str], Iterator[Held]]:
    """What gives the messages of a session of the transcript's family."""
    if transcript.key:
        return partial(database.messages, transcript.path)
    return partial(tree.messages, tree.storage_of(transcript.path))


def current(transcript: Transcript) -> Transcript | None:
    """A transcript with the size and time it has now."""
    try:
        family = family_of(transcript)
    except OSError:
        return None
    now = _transcript(transcript.path, family, transcript.root, transcript.key)
    return msgspec.structs.replace(transcript, size=now.size, mtime=now.mtime)


def head(transcript: Transcript) -> str:
    """What stays while a session grows; the same in the tree and in a database it went into."""
    if transcript.key:
        own = family_of(transcript)[0]
        return _digest(f"{own.id} {own.created}")
    session = tree.session_file(transcript.path)
    if session is None:
        raise FileNotFoundError(2, "No such file or directory", str(transcript.path))
    return _digest(f"{session.id} {session.began}")


def beside(transcript: Transcript) -> str:
    """Rows are updated in place, and titles are given later: any of it, of subagents too."""
    try:
        family = family_of(transcript)
    except OSError:
        return ""
    return _digest("\n".join(f"{one.id} {one.title} {one.state}" for one in family))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


# ------------------------------------------------------------ what belongs to what


def orphans(folder: Path) -> list[Trouble]:
    """Subagents whose session was deleted."""
    found: list[Trouble] = []
    for path in _databases(folder):
        try:
            families = database.families(path).by_id
        except OSError:
            continue
        for one in families.values():
            if one.parent is not None and one.parent not in families:
                place = path.with_name(f"{path.name}#{one.id}")
                found.append(Trouble(place, f"belongs to no session here ({one.parent})"))
    return found


def matters(path: Path) -> bool:
    """A database, its log; a file of the tree."""
    name, elsewhere = path.name, moved()
    if name.startswith("opencode") and name.endswith((".db", ".db-wal")):
        return True
    if elsewhere is not None and path in (elsewhere, elsewhere.with_name(f"{elsewhere.name}-wal")):
        return True
    folders = {folder.name for folder in list(path.parents)[:2]}
    return path.suffix == ".json" and not folders.isdisjoint({"session", "message", "part"})


def sessions_of(paths: Iterable[Path]) -> set[str]:
    """Of a database those written last; of the tree, what the file or its folder is called."""
    found: set[str] = set()
    for path in paths:
        if path.suffix == ".json":
            found |= {path.stem, path.parent.name}
        elif matters(path):
            found |= _latest(path.with_name(path.name.removesuffix("-wal")))
    return found


def _latest(path: Path) -> set[str]:
    try:
        families = database.families(path)
    except OSError:
        return set()
    grouped = [_transcript(path, one, None, one[0].id) for one in families.grouped()]
    newest = max((one.mtime for one in grouped), default=0.0)
    return {one.session_id for one in grouped if one.mtime >= newest - _RECENT}
