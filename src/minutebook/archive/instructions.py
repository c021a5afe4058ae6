"""The instructions sessions had: of one, compared between two, and by version (FUT-03)."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable
from typing import get_args

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.capturing import Found, Looking, keep, keep_versions, sightings_in
from minutebook.archive.masking import hidden
from minutebook.derive.instructions import Change, Grade, Instruction, same_path
from minutebook.errors import BadArgument, NotFound
from minutebook.model import SessionInfo
from minutebook.record.instructions import KeptInstructions, read_sessions, read_version
from minutebook.sources.registry import SOURCES

_MOST_LINES = 5_000  # of a file that is compared
_GRADES: tuple[Grade, ...] = get_args(Grade)  # the best first


class SessionInstructions(msgspec.Struct, frozen=True, kw_only=True):
    """What one session had been told when it began."""

    session_id: str
    name: str
    started: str | None
    cwd: str | None
    project: str
    """``there``, ``gone``, or ``unknown`` where the session names none."""
    looked: str | None
    """When the project's folder was looked at."""
    kept: bool
    """Whether the archive holds this; else it was found just now."""
    files: tuple[Instruction, ...]
    changed: tuple[Change, ...]
    """Files the session itself changed."""


class Outcomes(msgspec.Struct, frozen=True):
    """Engagements of the sessions that had a version, counted."""

    sessions: int
    engagements: int
    phases: dict[str, int]
    methods: dict[str, int]


class FileDiff(msgspec.Struct, frozen=True, kw_only=True):
    """A file of instructions in two sessions."""

    path: str
    before: str | None
    """The hash in the one session; None: it had none, or nobody knows."""
    after: str | None
    state: str
    """``same``, ``changed``, ``added``, ``removed``, ``unknown``."""
    diff: str
    """Unified, masked; empty where nothing can be compared."""
    outcomes_before: Outcomes | None
    outcomes_after: Outcomes | None


class InstructionVersion(msgspec.Struct, frozen=True, kw_only=True):
    """One version of a file of instructions, and who had it."""

    hash: str
    paths: tuple[str, ...]
    size: int
    grades: dict[str, int]
    """Sessions by the best evidence that they had it."""
    first: str | None
    last: str | None
    """When the first and the last session that had it began."""
    sessions: tuple[str, ...]
    outcomes: Outcomes


class InstructionVersions(msgspec.Struct, frozen=True):
    versions: list[InstructionVersion]
    """The most recently used first."""
    sessions: int
    """Sessions whose instructions are kept."""
    without: int
    """Of those, the ones of which nothing is known."""
    unkept: int
    """Archived sessions whose instructions were never looked for."""


def instructions_of(archive: Archive, name: str) -> SessionInstructions:
    """The instructions of the session that fits a name; found now where they are not kept."""
    return _found(archive, name)[0]


def _found(archive: Archive, name: str) -> tuple[SessionInstructions, dict[str, str]]:
    session_id = archive.resolve(name)
    info = archive.stored_summary(session_id).info
    kept = read_sessions(archive.layout)[0].get(session_id)
    found = Found(kept, {}) if kept is not None else _looked(archive, session_id)
    told = SessionInstructions(
        session_id=session_id,
        name=archive.stored_summary(session_id).name,
        started=info.started,
        cwd=info.cwd,
        project=found.kept.project,
        looked=found.kept.looked,
        kept=kept is not None,
        files=found.kept.files,
        changed=found.kept.changed,
    )
    return hidden(told, archive.hide), found.contents


def _looked(archive: Archive, session_id: str, looking: Looking | None = None) -> Found:
    info = archive.stored_summary(session_id).info
    transcript = archive.transcript(session_id)
    source = SOURCES.get(info.source)
    rounds = archive.open(session_id).stored_rounds()
    sightings = tuple(sightings_in(source, rounds)) if source is not None else ()
    return (looking or Looking()).at(info, transcript.root if transcript else None, sightings)


def keep_missing(archive: Archive) -> None:
    """Keep the instructions of archived sessions that were never looked at, and versions that
    were lost and are recorded in rounds. The caller holds the lock.
    """
    layout = archive.layout
    known, _ = read_sessions(layout)
    looking = Looking()
    for id in sorted(archive.ledger().sessions):
        try:
            if id not in known:
                keep(layout, _looked(archive, id, looking))
            elif any(_is_lost(archive, file) for file in known[id].files):
                keep_versions(layout, known[id], _looked(archive, id, looking).contents)
        except (OSError, NotFound):
            continue  # the next rebuild tries again


def _is_lost(archive: Archive, file: Instruction) -> bool:
    return file.hash is not None and read_version(archive.layout, file.hash) is None


# -- two sessions


def compare(archive: Archive, one: str, other: str) -> list[FileDiff]:
    """What changed in the instructions from one session to another, in the order they are named."""
    first, first_texts = _found(archive, one)
    second, second_texts = _found(archive, other)
    after = list(second.files)
    pairs: list[tuple[Instruction | None, Instruction | None]] = []
    for file in first.files:
        twin = _twin(file, after)
        if twin is not None:
            after.remove(twin)
        pairs.append((file, twin))
    pairs += [(None, file) for file in after]
    used = _used(archive, read_sessions(archive.layout)[0])
    return [
        FileDiff(
            path=(new or old or _NOTHING).path,
            before=old.hash if old else None,
            after=new.hash if new else None,
            state=_state(old, new, first, second),
            diff=_diff(archive, old, new, {**first_texts, **second_texts}, one=first, other=second),
            outcomes_before=used.get(old.hash or "") if old else None,
            outcomes_after=used.get(new.hash or "") if new else None,
        )
        for old, new in pairs
    ]


_NOTHING = Instruction(path="", scope="project", grade="unknown")


def _twin(file: Instruction, others: Iterable[Instruction]) -> Instruction | None:
    """The same file in another session; in a copy of the project, by its name and place."""
    known = list(others)
    exact = [o for o in known if same_path(o.path) == same_path(file.path)]
    if exact:
        return exact[0]
    name = same_path(file.path).rsplit("/", 1)[-1]
    alike = [
        o for o in known if o.scope == file.scope and same_path(o.path).rsplit("/", 1)[-1] == name
    ]
    return alike[0] if len(alike) == 1 else None


def _state(
    old: Instruction | None,
    new: Instruction | None,
    one: SessionInstructions,
    other: SessionInstructions,
) -> str:
    if old is None or new is None:
        # A folder that nobody could look at may have had the file all the same.
        looked = (one if old is None else other).project == "there"
        return "unknown" if not looked else "added" if old is None else "removed"
    if old.hash is None or new.hash is None:
        return "unknown"
    return "same" if old.hash == new.hash else "changed"


def _diff(
    archive: Archive,
    old: Instruction | None,
    new: Instruction | None,
    texts: dict[str, str],
    *,
    one: SessionInstructions,
    other: SessionInstructions,
) -> str:
    if _state(old, new, one, other) == "unknown":
        return ""
    sides: list[list[str]] = []
    for file in (old, new):
        text = "" if file is None or file.hash is None else _text(archive, file.hash, texts)
        if text is None or (file is not None and file.hash is None):
            return ""
        sides.append(archive.hide(text).split("\n"))
    if max(map(len, sides)) > _MOST_LINES:
        return f"(longer than {_MOST_LINES:,} lines: not compared)"
    names = [
        f"{archive.short(s.session_id)} {f.path if f else '-'}"
        for s, f in ((one, old), (other, new))
    ]
    return "\n".join(difflib.unified_diff(sides[0], sides[1], names[0], names[1], lineterm=""))


def _text(archive: Archive, name: str, texts: dict[str, str]) -> str | None:
    return texts[name] if name in texts else read_version(archive.layout, name)


def content_of(archive: Archive, name: str) -> str:
    """A kept version by the beginning of its hash, masked."""
    content = read_version(archive.layout, _known(archive, name))
    if content is None:
        raise NotFound(f"The content of version '{name}' is not kept.")
    return archive.hide(content)


# -- versions


def versions(archive: Archive) -> InstructionVersions:
    """Every version that is kept, and the sessions that had it."""
    kept, _ = read_sessions(archive.layout)
    every = {s.id: s.info for s in archive.sessions(ghosts=True, hidden=True, copies=True).sessions}
    used = _used(archive, kept)
    found = []
    for name, items in _holders(kept).items():
        ids = sorted({id for id, _ in items}, key=lambda one: (_start(every, one), one))
        version = InstructionVersion(
            hash=name,
            paths=tuple(sorted({item.path for _, item in items})),
            size=items[0][1].size,
            grades=_grades(items),
            first=_start(every, ids[0]) or None,
            last=_start(every, ids[-1]) or None,
            sessions=tuple(ids),
            outcomes=used[name],
        )
        found.append(hidden(version, archive.hide))
    found.sort(key=lambda version: (version.last or "", version.hash), reverse=True)
    return InstructionVersions(
        found,
        len(kept),
        sum(not any(file.hash for file in told.files) for told in kept.values()),
        len(archive.ledger().sessions.keys() - kept.keys()),
    )


def _grades(items: Iterable[tuple[str, Instruction]]) -> dict[str, int]:
    """Sessions by the best grade; one may have the same text in several files."""
    best: dict[str, Grade] = {}
    for id, item in items:
        known = best.setdefault(id, item.grade)
        best[id] = min(known, item.grade, key=_GRADES.index)
    return dict(Counter(best.values()).most_common())


def _start(every: dict[str, SessionInfo], id: str) -> str:
    return (every[id].started if id in every else None) or ""


def _holders(kept: dict[str, KeptInstructions]) -> dict[str, list[tuple[str, Instruction]]]:
    """Versions → sessions that had them, and as which file."""
    holders: dict[str, list[tuple[str, Instruction]]] = {}
    for id, told in kept.items():
        for file in told.files:
            if file.hash is not None:
                holders.setdefault(file.hash, []).append((id, file))
    return holders


def _used(archive: Archive, kept: dict[str, KeptInstructions]) -> dict[str, Outcomes]:
    """Engagements of the sessions that had each version."""
    records = archive.records()
    found = {}
    for name, items in _holders(kept).items():
        ids = {id for id, _ in items}
        work = [e for id in ids if id in records for e in records[id].engagements]
        found[name] = Outcomes(
            len(ids),
            len(work),
            dict(Counter(e.phase for e in work).most_common()),
            dict(Counter(e.method for e in work).most_common()),
        )
    return found


def sessions_with(archive: Archive, name: str) -> frozenset[str]:
    """Sessions that had a version, named by the beginning of its hash."""
    holders = _holders(read_sessions(archive.layout)[0])
    return frozenset(id for id, _ in holders[_known(archive, name)])


def _known(archive: Archive, name: str) -> str:
    start = name.strip().lower()
    every = _holders(read_sessions(archive.layout)[0])
    fitting = sorted(known for known in every if start and known.startswith(start))
    if not fitting:
        raise NotFound(
            f"No version of instructions is called '{name}': `minutebook instructions` lists them."
        )
    if len(fitting) > 1:
        raise BadArgument(f"Several versions begin with '{name}': {', '.join(fitting[:5])}.")
    return fitting[0]
