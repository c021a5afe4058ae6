"""Find the session a person means: by UUID prefix, name, title, slug or path."""

from __future__ import annotations

import re
from pathlib import Path

from minutebook.derive.identity import identify
from minutebook.errors import Ambiguous, BadArgument, NotFound
from minutebook.model import Roster
from minutebook.sources.base import Transcript
from minutebook.sources.library import Library

_ADDRESS = re.compile(r"(.+)#(\d{1,9})(?:-(\d{1,9}))?", re.DOTALL)


def parse_address(text: str) -> tuple[str, range | None]:
    """``<session>[#round[-round]]`` as the session's name and the rounds asked for."""
    match = _ADDRESS.fullmatch(text.strip())
    if match is None:
        return text.strip(), None
    first, last = int(match[2]), int(match[3] or match[2])
    if first < 1 or last < first:
        asked = text.strip()[match.end(1) :]
        raise BadArgument(f"'{asked}' is no round and no range: rounds count from 1, like #2-5.")
    return match[1], range(first, last + 1)


def find_rounds(library: Library, roster: Roster, address: str) -> tuple[Transcript, range | None]:
    """The transcript and rounds an address means; a title may itself end in ``#12``."""
    name, wanted = parse_address(address)
    if not name:
        raise BadArgument("Name a session: a UUID prefix, a title or a slug.")
    if wanted is not None and not _by_id(library, name):
        for transcript, overview in library.overviews():
            if overview.info is not None and overview.info.title == address.strip():
                return transcript, None
    return find_session(library, roster, name), wanted


def _by_id(library: Library, name: str) -> list[Transcript]:
    wanted = name.lower()
    return [t for t in library.transcripts if t.session_id.lower().startswith(wanted)]


def find_session(library: Library, roster: Roster, name: str) -> Transcript:
    """The one transcript that fits; an error that lists the candidates where several do."""
    if name.endswith(".jsonl") and (path := _existing(name)) is not None:
        return Library([path]).transcripts[0]
    wanted, by_id = name.lower(), _by_id(library, name)
    exact = [t for t in by_id if t.session_id.lower() == wanted]
    if by_id:
        return _only(exact or by_id, name)
    whole: list[Transcript] = []
    partial: list[Transcript] = []
    for transcript, overview in library.overviews():
        if overview.info is None:
            continue
        names = (overview.info.slug, overview.info.title, identify(overview.info, roster).name)
        known = [text.lower() for text in names if text]
        if wanted in known:
            whole.append(transcript)
        elif any(wanted in text for text in known):
            partial.append(transcript)
    if not whole and not partial:
        raise NotFound(
            f"No session is called '{name}'. `minutebook sessions --ghosts` lists all there are."
        )
    return _only(whole or partial, name)


def _existing(name: str) -> Path | None:
    try:
        path = Path(name).expanduser()
        return path if path.is_file() else None
    except (OSError, RuntimeError, ValueError):
        return None  # too long, or no such user: then it is no path


def _only(found: list[Transcript], name: str) -> Transcript:
    if len(found) == 1:
        return found[0]
    newest = sorted(found, key=lambda transcript: -transcript.mtime)
    some = ", ".join(transcript.session_id[:13] for transcript in newest[:5])
    more = f" and {len(found) - 5} more" if len(found) > 5 else ""
    raise Ambiguous(f"'{name}' fits {len(found)} sessions: {some}{more}. Give a longer prefix.")
