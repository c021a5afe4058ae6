"""Engagement files of every project the archive knows, and the sessions that took part.

Projects are only read: their own folder, ``engagements/`` and its archive, no link followed, a
bounded number of files of a bounded size. What is seen is kept in the archive, so that it
outlives the project's folder.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.masking import hidden
from minutebook.derive.prospective import tied as tied_to
from minutebook.derive.prospective import took_part
from minutebook.model.prospective import CURRENT, FOLDER, EngagementFile, TiedEngagement
from minutebook.record.documents import body_bytes, read_head, write_document
from minutebook.record.facts import read_facts, write_facts
from minutebook.record.kept_engagements import KeptEngagements, read_kept, write_kept
from minutebook.record.layout import SessionFolder
from minutebook.record.patches import Malformed
from minutebook.record.store import set_aside

_MOST_FOLDERS = 2_000
_MOST_PARENTS = 6

Tied = dict[str, tuple[TiedEngagement, ...]]


class Prospective(msgspec.Struct, frozen=True):
    """Engagement files as they are now; of what is gone, as they were seen last."""

    files: list[EngagementFile]

    @property
    def open(self) -> list[EngagementFile]:
        return [file for file in self.files if file.is_open]


def prospective(archive: Archive) -> Prospective:
    """What projects say now, without secrets; open ones first, the newest first."""
    files = seen_files(archive, archive.minutes.kept_engagements().files)
    files.sort(key=lambda file: (file.updated or file.started or "", file.path), reverse=True)
    files.sort(key=lambda file: not file.is_open)
    return Prospective([hidden(file, archive.hide) for file in files])


def of_session(archive: Archive, session_id: str) -> list[EngagementFile]:
    """The engagement files that a session took part in, as the archive has them; masked."""
    found = archive.minutes.kept_engagements().files_of(session_id)
    return [hidden(file, archive.hide) for file in found]


def tied_of(archive: Archive, session_id: str) -> list[TiedEngagement]:
    """What the session's document says of engagements (INS-08)."""
    found = archive.minutes.kept_engagements().sessions.get(session_id, ())
    return [hidden(item, archive.hide) for item in found]


def seen_files(archive: Archive, kept: Iterable[EngagementFile]) -> list[EngagementFile]:
    """Files there are now; those that were kept and are gone follow, marked. A worktree's copy of
    the same engagement counts once: the one that was updated last."""
    found: dict[tuple[str, str], EngagementFile] = {}
    odd: list[EngagementFile] = []
    read: set[str] = set()
    kept = tuple(kept)
    before = {file.path: file for file in kept}
    for folder in _folders(archive):
        for file in _files_in(folder):
            read.add(file.path)
            if file.problems:
                odd.append(_mended(file, before.get(file.path)))  # each is reported by itself
                continue
            key = _engagement(file)
            other = found.get(key)
            if other is None or (file.updated or "") > (other.updated or ""):
                found[key] = file
    now = [*found.values(), *odd]
    # What was moved within its project, or is a worktree's copy, is there. Another project may have
    # the same id, and a folder that was not looked at says nothing.
    there = {(file.project, file.id) for file in now}
    rest = [
        msgspec.structs.replace(file, gone=not Path(file.path).exists())
        for file in kept
        if file.path not in read
        and (file.project, file.id) not in there
        and _engagement(file) not in found
    ]
    return [*now, *rest]


def _engagement(file: EngagementFile) -> tuple[str, str]:
    """The same for copies of one engagement: by its id and its start, else within its project."""
    return file.id, file.started or file.project


def _files_in(folder: Path) -> list[EngagementFile]:
    """The engagement files of a folder; most have none, and the reader takes time to load."""
    if not any(os.path.lexists(folder / name) for name in (CURRENT, FOLDER)):
        return []
    from minutebook.record.engagement_files import ProjectEngagements

    return ProjectEngagements(folder).files()


def _mended(file: EngagementFile, before: EngagementFile | None) -> EngagementFile:
    """A file that cannot be read any more, as it was before."""
    if file.phase or before is None:
        return file
    return msgspec.structs.replace(before, problems=file.problems)


def _folders(archive: Archive) -> Iterator[Path]:
    """Where sessions ran, and the repositories around it."""
    cwds: dict[str, None] = {}
    entries = archive.ledger().sessions.values()
    for entry in sorted(entries, key=lambda entry: entry.info.ended or "", reverse=True):
        cwds.update(dict.fromkeys(entry.info.cwds))
    cwds.update({r.cwd: None for r in archive.minutes.stored().values() if r.cwd})
    known: set[Path] = set()
    for cwd in list(cwds)[:_MOST_FOLDERS]:
        for folder in _around(Path(cwd)):
            if folder not in known:
                known.add(folder)
                yield folder


def _around(cwd: Path) -> Iterator[Path]:
    """A folder, and the repository it is in."""
    if not cwd.is_absolute() or len(cwd.parts) < 2:
        return
    yield cwd
    for folder in (cwd, *list(cwd.parents)[:_MOST_PARENTS]):
        try:
            if (folder / ".git").exists():
                yield folder
                return
        except OSError:
            return


# -- what is written


def keep_engagements(archive: Archive, *, with_threads: bool) -> set[str]:
    """Note what projects say now, and bring sessions' documents up to date (INS-08); the caller
    holds the lock. Threads are compared only where the minutes may have changed. Answers the
    sessions whose minutes may read otherwise now."""
    layout = archive.layout
    before, problem = read_kept(layout)
    if problem is not None and "newer" in problem:
        return set()
    files = seen_files(archive, before.files)
    took = _took_part(archive, files)
    from_files = _tied_by_file(archive, took)
    ids = {file.id for file in (*files, *before.files)}
    if with_threads:
        from_threads = _tied_by_thread(archive)
    else:
        from_threads = {
            id: tuple(item for item in items if item.id not in ids)
            for id, items in before.sessions.items()
        }
    sessions = {
        id: (*from_files.get(id, ()), *from_threads.get(id, ()))
        for id in sorted({*from_files, *from_threads})
    }
    sessions = {id: items for id, items in sessions.items() if items}
    after = KeptEngagements(
        files=tuple(sorted(files, key=_order)),
        sessions=sessions,
        paths={id: tuple(file.path for file in took[id]) for id in sorted(took)},
    )
    if after == before:
        return set()
    for id in {*sessions, *before.sessions}:
        if sessions.get(id) != before.sessions.get(id):
            _write_header(archive, id, before.sessions.get(id, ()), sessions.get(id, ()))
    if problem is not None:
        set_aside(layout.prospective)  # somebody may still read in it what is gone elsewhere
    write_kept(layout, after)
    return {*sessions, *before.sessions} & archive.minutes.stored().keys()


def _order(file: EngagementFile) -> tuple[str, str]:
    return file.path, file.id


def _took_part(
    archive: Archive, files: Iterable[EngagementFile]
) -> dict[str, list[EngagementFile]]:
    """Session → the files it took part in; of two files with one id in one project, neither."""
    found: dict[str, list[EngagementFile]] = {}
    counted = Counter((file.project, file.id) for file in files)
    sound = [file for file in files if file.phase and counted[file.project, file.id] == 1]
    for id, entry in archive.ledger().sessions.items() if sound else ():
        info = entry.info
        for file in sound:
            if took_part(file, id, info.cwds, info.started, info.ended):
                found.setdefault(id, []).append(file)
    return found


def _tied_by_file(archive: Archive, took: dict[str, list[EngagementFile]]) -> Tied:
    found: Tied = {}
    for id, files in took.items():
        info = archive.ledger().sessions[id].info
        tied = (tied_to(file, info.started, info.ended) for file in files)
        found[id] = tuple(sorted(tied, key=lambda item: item.id))
    return found


def _tied_by_thread(archive: Archive) -> Tied:
    """Sessions of a thread: its phase is that of its newest engagement so far (FUT-06)."""
    from minutebook.archive.threads import threads  # a run that changes nothing needs none

    known = threads(archive)
    found: dict[str, list[TiedEngagement]] = {}
    for thread in known.every:
        before: str | None = None
        seen: dict[str, TiedEngagement] = {}
        for session_id, engagement_id in thread.members:
            phase = known.pairs[session_id, engagement_id][1].phase
            first = seen.get(session_id)
            begun = first.phase_at_start if first is not None else before
            seen[session_id] = TiedEngagement(
                id=thread.id, phase_at_start=begun, phase_at_end=phase
            )
            before = phase
        for session_id, item in seen.items():
            found.setdefault(session_id, []).append(item)
    return {id: tuple(sorted(items, key=lambda item: item.id)) for id, items in found.items()}


def _write_header(
    archive: Archive,
    session_id: str,
    before: Iterable[TiedEngagement],
    now: Iterable[TiedEngagement],
) -> None:
    """Engagements in a session's document and facts; a person's own entries stay."""
    entry = archive.ledger().sessions.get(session_id)
    if entry is None:
        return
    folder = SessionFolder(archive.layout.folder(entry.agent_id, session_id))
    ours = {item.id for item in (*before, *now)}
    try:
        facts = read_facts(folder)
        header, start = read_head(folder.document)
        others = [
            item
            for item in header.engagements
            if not (isinstance(item, dict) and item.get("id") in ours)
        ]
        engagements = [*map(msgspec.to_builtins, now), *others]
        told = msgspec.structs.replace(header, engagements=engagements)
        write_document(folder.document, told, body_bytes(folder.document, start))
        write_facts(folder, msgspec.structs.replace(facts, engagements=engagements))
    except (OSError, Malformed, ValueError):
        return  # damaged: the next run that mends it writes them
