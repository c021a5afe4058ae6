"""Giving it to others: a session, an engagement or some rounds as one file (SHARE-01, SHARE-03).

What a page of the viewer, the command line and Python give are the same bytes: all of them
call `export`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Literal, get_args

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.engagements import engagement_called, rounds_of_engagement
from minutebook.archive.masking import hide
from minutebook.archive.names import parse_rounds
from minutebook.archive.saying import find_engagement
from minutebook.archive.sharing import BLOCKS, SharedSession, shared_session
from minutebook.errors import BadArgument, Conflict, MinutebookError, NotFound
from minutebook.record.store import write_atomically
from minutebook.sources.base import Source
from minutebook.sources.registry import SOURCES
from minutebook.verbs.share_text import sessions_json, sessions_markdown

Format = Literal["html", "md", "json"]
FORMATS: tuple[Format, ...] = get_args(Format)
MEDIA_TYPES = {
    "html": "text/html; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
    "json": "application/json",
}
_UNSAFE = re.compile(r"[^a-z0-9]+")


class SharedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file to give away, and what is not in it."""

    name: str
    """A name for it, like ``login-rewrite.html``."""
    format: Format
    title: str
    content: bytes
    sessions: int
    rounds: int
    masked: dict[str, int]
    """What was masked: how often, by kind."""
    pictures: int = 0
    """Pictures and documents, which nobody has looked into."""

    @property
    def masked_words(self) -> str:
        return words_of_masked(self.masked)


class _Chosen(msgspec.Struct, frozen=True):
    """What somebody asked for."""

    rounds: dict[str, list[int] | None]
    """Session → its rounds; None for all."""
    title: str = ""


def export(
    archive: Archive,
    what: str,
    engagement: str | None = None,
    *,
    format: Format = "html",
    only: str | Collection[str] | None = None,
    rounds: str | None = None,
) -> SharedFile:
    """A session by any name, ``<session>#3-7``, an engagement of a session, or an engagement's
    id alone, as one file; `only` chooses among user, assistant, thinking, calls, results."""
    if format not in FORMATS:
        raise BadArgument(f"'{format}' is not a format; choose one of {', '.join(FORMATS)}.")
    kinds = chosen_blocks(only)
    chosen = _chosen(archive, what, engagement, rounds)
    masked: Counter[str] = Counter()
    sessions = [
        shared_session(archive, id, numbers, kinds, masked) for id, numbers in chosen.rounds.items()
    ]
    title = hide(chosen.title) or sessions[0].record.called or "A session without a title"
    return SharedFile(
        name=f"{_slug(title) or sessions[0].short}.{format}",
        format=format,
        title=title,
        content=_content(format, title, sessions, kinds, masked),
        sessions=len(sessions),
        rounds=sum(len(session.rounds) for session in sessions),
        masked=dict(sorted(masked.items())),
        pictures=sum(len(session.pictures) for session in sessions),
    )


def _content(
    format: Format,
    title: str,
    sessions: Sequence[SharedSession],
    only: Collection[str],
    masked: Counter[str],
) -> bytes:
    words = words_of_masked(masked)
    if format == "json":
        return sessions_json(title, sessions, only, masked)
    if format == "md":
        return sessions_markdown(title, sessions, only, words)
    from minutebook.html.session_file import session_file

    return session_file(title, sessions, only, words)


def chosen_blocks(only: str | Collection[str] | None) -> tuple[str, ...]:
    """``user,calls`` in the order of `BLOCKS`; all of them where nothing is said."""
    if only is None:
        return BLOCKS
    words = only.split(",") if isinstance(only, str) else only
    chosen = {word.strip().lower() for word in words if word.strip()}
    known = ", ".join(BLOCKS)
    if odd := chosen - set(BLOCKS):
        raise BadArgument(f"Choose among {known}; not {', '.join(sorted(odd))}.")
    if not chosen:
        raise BadArgument(f"Choose at least one of {known}.")
    return tuple(name for name in BLOCKS if name in chosen)


def _chosen(archive: Archive, what: str, engagement: str | None, rounds: str | None) -> _Chosen:
    if engagement is not None and rounds is not None:
        raise BadArgument("Choose rounds by their numbers or by an engagement: one of them.")
    try:
        session_id, numbers = archive.address(what)
    except NotFound as error:
        if engagement is not None or rounds is not None:
            raise
        return _by_engagement(archive, what, error)
    count = archive.open(session_id).count
    if engagement is not None:
        if numbers is not None:
            raise BadArgument("Choose rounds by their numbers or by an engagement: one of them.")
        meant = find_engagement(archive.stored_record(session_id), engagement)
        spans = (range(first, min(last, count) + 1) for first, last in meant.ranges)
        return _Chosen({session_id: [n for span in spans for n in span]}, meant.topic)
    if numbers is not None:
        if rounds is not None:
            raise BadArgument("The rounds are named twice: once is enough.")
        rounds = f"{numbers.start}-{numbers.stop - 1}"
    return _Chosen({session_id: parse_rounds(rounds, count) if rounds is not None else None})


def _by_engagement(archive: Archive, what: str, unknown: MinutebookError) -> _Chosen:
    """An engagement named by its id alone, wherever its rounds are."""
    what = engagement_called(archive, what)
    try:
        found = rounds_of_engagement(archive, what)
    except NotFound:
        raise unknown from None
    topics = (
        engagement.topic
        for id in found
        for engagement in archive.stored_record(id).engagements
        if what in (engagement.id, engagement.prospective)
    )
    numbers: dict[str, list[int] | None] = dict(found.items())
    return _Chosen(numbers, next(topics, what))


def words_of_masked(masked: dict[str, int] | Counter[str]) -> str:
    """``2 × GitHub token, 1 × password``; empty where nothing was."""
    return ", ".join(f"{count} × {kind}" for kind, count in sorted(masked.items()) if count)


def _slug(title: str) -> str:
    return _UNSAFE.sub("-", title.lower())[:60].strip("-")


def save(archive: Archive, path: Path, content: bytes, *, force: bool = False) -> None:
    """Write a file for others; never over another without `force`, never among transcripts."""
    _refuse_only_read(archive, path)
    if path.is_dir():
        raise BadArgument(f"{path} is a folder: name a file.")
    if not path.parent.is_dir():
        raise BadArgument(f"There is no folder {path.parent}.")
    if path.exists() and not force:
        raise Conflict(f"{path} exists already.", remedy="force")
    write_atomically(path, content)


def _refuse_only_read(archive: Archive, path: Path) -> None:
    """Refuse the archive, the agents' own folders, and those that transcripts were read from,
    whether or not they are named now."""
    place = path.absolute().resolve()
    agents = [folder for source in SOURCES.values() for folder in _own(source)]
    folders, roots = _archived_from(archive)
    for root in (*archive.places, *agents, *roots, archive.root):
        home = root.resolve()
        if place == home or home in place.parents:
            raise BadArgument(f"{path} is inside {root}, which is only read: choose another place.")
    for folder in folders:
        if place.parent == folder.resolve():
            raise BadArgument(f"{folder} has transcripts and is only read: choose another place.")


def _own(source: Source) -> list[Path]:
    return [source.default_root(), *source.folders(())]


def _archived_from(archive: Archive) -> tuple[set[Path], set[Path]]:
    """The folders that archived transcripts were found in, and the agents' folders around them."""
    folders: dict[str, set[Path]] = {}
    for entry in archive.ledger().sessions.values():
        if entry.source:
            folders.setdefault(entry.info.source, set()).add(Path(entry.source).parent)
    roots = {
        above
        for name in folders.keys() & SOURCES.keys()
        for above in {above for folder in folders[name] for above in folder.parents}
        if _is_around(SOURCES[name], above, folders[name])
    }
    return set[Path]().union(*folders.values()), roots


def _is_around(source: Source, above: Path, folders: Iterable[Path]) -> bool:
    """Whether it is an agent's own folder, with some in it; a home folder may look like one."""
    tops = source.folders((above,)) if source.claims(above) else []
    return any(top in (folder, *folder.parents) for top in tops for folder in folders)
