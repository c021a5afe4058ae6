"""Files beside a rollout that belong to its session: those of its subagents (AGT-04)."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterator
from datetime import date, timedelta
from functools import lru_cache
from pathlib import Path

import msgspec

from minutebook.sources.base import Trouble
from minutebook.sources.codex import titles
from minutebook.sources.codex.locate import DATE, Head, head_of, home_of

_MOST_DAYS = 400
_MOST_FOLDERS = 1_024
_parents: dict[Path, tuple[int, dict[str, list[AgentFile]], list[Path]]] = {}


class AgentFile(msgspec.Struct, frozen=True):
    """A subagent's rollout."""

    path: Path
    head: Head


def agent_files(path: Path, id: str) -> list[AgentFile]:
    """Rollouts of the subagents of a session, and of theirs; in the order they were begun."""
    folders = [_by_parent(folder) for folder in _around(path)]
    found: dict[str, AgentFile] = {}
    parents = [id]
    while parents:
        parent = parents.pop(0)
        for agent in (agent for known in folders for agent in known.get(parent, ())):
            if agent.head.id not in found and agent.head.id != id and agent.path != path:
                found[agent.head.id] = agent
                parents.append(agent.head.id)
    return sorted(found.values(), key=lambda agent: (agent.head.started, agent.head.id))


def _by_parent(folder: Path) -> dict[str, list[AgentFile]]:
    """Sessions and subagents → the rollouts in a folder of those they started.

    Every session of a folder asks, so heads are looked at once, until a file comes or goes. The
    head of a file says whose it is when it is written; one that has none yet is looked at again.
    """
    try:
        changed = folder.stat().st_mtime_ns
    except OSError:
        return {}
    known = _parents.get(folder)
    if known is not None and known[0] == changed and not any(map(head_of, known[2])):
        return known[1]
    found: dict[str, list[AgentFile]] = {}
    headless: list[Path] = []
    for file in _rollouts(folder):
        head = head_of(file)
        if head is None:
            headless.append(file)
        elif head.parent is not None:
            found.setdefault(head.parent, []).append(AgentFile(file, head))
    if len(_parents) >= _MOST_FOLDERS:
        _parents.clear()
    _parents[folder] = (changed, found, headless)
    return found


def _around(path: Path) -> Iterator[Path]:
    """Folders where subagents of a session may be: of the days from its first to its last."""
    home = home_of(path)
    begun = DATE.match(path.name)
    if home is None or begun is None:
        yield path.parent
        return
    yield home / "archived_sessions"
    try:
        day = date(int(begun[1]), int(begun[2]), int(begun[3])) - timedelta(1)
        last = date.fromtimestamp(path.stat().st_mtime) + timedelta(1)
    except (ValueError, OSError, OverflowError):
        yield path.parent
        return
    for number in range(min(_MOST_DAYS, (last - day).days + 1)):
        on = day + timedelta(number)
        yield home / "sessions" / f"{on.year:04d}" / f"{on.month:02d}" / f"{on.day:02d}"


def _rollouts(folder: Path) -> list[Path]:
    try:
        return _listed(folder, folder.stat().st_mtime_ns)
    except OSError:
        return []


@lru_cache(maxsize=1_024)
def _listed(folder: Path, changed: int) -> list[Path]:  # noqa: ARG001 - cache key
    names = set(os.listdir(folder))  # noqa: PTH208 - names are all that is needed
    return [
        folder / name
        for name in sorted(names)
        if name.endswith(".jsonl")
        or (name.endswith(".jsonl.zst") and name.removesuffix(".zst") not in names)
    ]


def beside(path: Path, id: str) -> str:
    """The title, and sizes and times of the subagents' files, as one short text."""
    told = [titles.title_of(home_of(path), id) or ""]
    for agent in agent_files(path, id):
        try:
            stat = agent.path.stat()
        except OSError:
            continue
        told.append(f"{agent.head.id} {stat.st_size} {stat.st_mtime}")
    if told == [""]:
        return ""
    return hashlib.sha256("\n".join(told).encode("utf-8", "replace")).hexdigest()[:16]


def orphans(folder: Path, session_ids: Collection[str]) -> list[Trouble]:
    """Subagents' rollouts in a folder that belong to no session, and are not listed as one."""
    heads = [(path, head) for path in _rollouts(folder) if (head := head_of(path)) is not None]
    known = {*session_ids, *(head.id for _, head in heads)}
    return [
        Trouble(path, "a subagent of a session that is not here")
        for path, head in heads
        if head.is_subagent and head.parent not in known and head.id not in session_ids
    ]
