"""Fetch shared sessions into a local cache, never into the archive.

``<cache>/<login>/<session>/session.json`` has the minutes and what the session says of itself,
``rounds/001.json`` what was shared of each round. All of it can only be read, and is made again by
the next pull: what was withdrawn, or may not be seen any more, is gone then.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from minutebook.errors import Conflict
from minutebook.record.layout import file_name, round_name
from minutebook.record.store import make_folder, new_folder, write_new, writing
from minutebook.team.address import Address
from minutebook.team.connection import Connection, connected

_MARK = "team-cache.json"
_FILE, _FOLDER = 0o400, 0o500


class Pulled(msgspec.Struct, frozen=True, kw_only=True):
    """What a pull did."""

    folder: Path
    fetched: int = 0
    unchanged: int = 0
    removed: int = 0


class _Cached(msgspec.Struct, frozen=True):
    """A session in the cache: which state of it."""

    login: str
    session_id: str
    stamp: str


class _Cache(msgspec.Struct, frozen=True):
    format: int = 1
    sessions: dict[str, _Cached] = {}


def default_cache(address: Address) -> Path:
    """Where shared sessions of a team are kept on this machine."""
    from platformdirs import user_cache_path

    name = hashlib.sha256(address.key.encode()).hexdigest()[:12]
    return user_cache_path("minutebook") / "team" / name


def pull(address: Address, folder: Path, archive: Path) -> Pulled:
    """Make a cache what others share now."""
    own = archive.resolve()
    if folder.resolve() == own or own in folder.resolve().parents:
        raise Conflict(f"{folder} is inside your own archive.", remedy="cache")
    if folder.exists() and any(folder.iterdir()) and not (folder / _MARK).is_file():
        raise Conflict(f"{folder} contains other files.", remedy="cache")
    make_folder(folder)
    with writing(folder.with_name(f".{folder.name}.lock"), "pull"), _writable(folder):
        known = _read(folder)
        with connected(address) as connection:
            there = _shared(connection)
            kept = {place: known[place] for place, now in there.items() if known.get(place) == now}
            # Noted before anything is removed or fetched: a pull that is killed does it again.
            _note(folder, kept)
            gone = [place for place in known if place not in kept]
            for place in gone:
                _remove(folder / place)
            new = {place: now for place, now in there.items() if place not in kept}
            for place, session in new.items():
                _fetch(connection, folder / place, session)
        _note(folder, there)
        _clear(folder, set(there))
    removed = len([place for place in known if place not in there])
    return Pulled(folder=folder, fetched=len(new), unchanged=len(kept), removed=removed)


def _shared(connection: Connection) -> dict[str, _Cached]:
    found = connection.execute(
        "SELECT p.login::text, s.session_id, s.stamp FROM minutebook.shared_sessions s "
        "JOIN minutebook.people p ON p.id = s.person_id "
        "WHERE s.person_id IS DISTINCT FROM minutebook.me() ORDER BY 1, 2"
    )
    sessions = [_Cached(*row) for row in found]
    return {f"{file_name(s.login)}/{file_name(s.session_id)}": s for s in sessions}


def _fetch(connection: Connection, folder: Path, session: _Cached) -> None:
    """A session, whole or not at all."""
    row = connection.execute(
        "SELECT s.key, s.level, m.name, s.record, s.info FROM minutebook.shared_sessions s "
        "JOIN minutebook.people p ON p.id = s.person_id "
        "JOIN minutebook.shared_machines m ON m.id = s.machine_id "
        "WHERE p.login = %s AND s.session_id = %s",
        (session.login, session.session_id),
    ).fetchone()
    if row is None:
        return  # withdrawn just now
    key, level, machine, record, info = row
    told = {"login": session.login, "machine": machine, "level": level}
    told |= {"record": _plain(record), "info": _plain(info)}
    make_folder(folder.parent)
    with new_folder(folder) as partial:
        write_new(partial / "session.json", msgspec.json.format(msgspec.json.encode(told)) + b"\n")
        rounds = connection.execute(
            "SELECT number, body FROM minutebook.shared_rounds WHERE session_key = %s ORDER BY 1",
            (key,),
        )
        make_folder(partial / "rounds")
        for number, body in rounds:
            write_new(partial / "rounds" / round_name(number), body.encode())


def _plain(body: str) -> object:
    """JSON that a member pushed; nothing where it is none, so that the other sessions come."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return None


def _read(folder: Path) -> dict[str, _Cached]:
    try:
        return msgspec.json.decode((folder / _MARK).read_bytes(), type=_Cache).sessions
    except (OSError, msgspec.DecodeError):
        return {}


def _note(folder: Path, sessions: dict[str, _Cached]) -> None:
    mark = folder / _MARK
    mark.unlink(missing_ok=True)
    write_new(mark, msgspec.json.encode(_Cache(sessions=sessions)))


def _remove(folder: Path) -> None:
    if folder.exists():
        _allow(folder)
        shutil.rmtree(folder)


def _clear(folder: Path, places: set[str]) -> None:
    """What no session of the team has: left by a pull that was killed."""
    for person in [path for path in folder.iterdir() if path.is_dir()]:
        _allow(person)
        for session in list(person.iterdir()):
            if f"{person.name}/{session.name}" not in places:
                _remove(session)
        if not any(person.iterdir()):
            person.rmdir()


@contextmanager
def _writable(folder: Path) -> Iterator[None]:
    """The cache can be written while a pull goes on, and only read afterwards."""
    _allow(folder)
    try:
        yield
    finally:
        _forbid(folder)


def _allow(folder: Path) -> None:
    for path, _, _ in os.walk(folder):
        Path(path).chmod(0o700)


def _forbid(folder: Path) -> None:
    for path, _, files in os.walk(folder):
        for name in files:
            (Path(path) / name).chmod(_FILE)
        Path(path).chmod(_FOLDER)
