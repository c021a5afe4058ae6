"""Find the session a person means: by UUID prefix, name, title, slug or path."""

from __future__ import annotations

import re
from pathlib import Path

from minutebook.derive.identity import identify
from minutebook.errors import Ambiguous, BadArgument, NotFound
from minutebook.model import Roster
from minutebook.sources.base import Transcript
from minutebook.sources.library import Library

_ADDRESS = re.compile(r"(?P<session>.+?)(?:#(?P<first>\d+)(?:-(?P<last>\d+))?)?", re.DOTALL)


def parse_address(text: str) -> tuple[str, range | None]:
    """``<session>[#round[-round]]`` as the session's name and the rounds asked for."""
    match = _ADDRESS.fullmatch(text.strip())
    if match is None:
        raise BadArgument("Name a session: a UUID prefix, a title or a slug.")
    if match["first"] is None:
        return match["session"], None
    first, last = int(match["first"]), int(match["last"] or match["first"])
    if first < 1 or last < first:
        raise BadArgument(f"'#{match['first']}-{match['last']}' is no range: rounds count from 1.")
    return match["session"], range(first, last + 1)


def find_session(library: Library, roster: Roster, name: str) -> Transcript:
    """The one transcript that fits; an error that lists the candidates where several do."""
    path = Path(name).expanduser()
    if name.endswith(".jsonl") and path.is_file():
        return Library([path]).transcripts[0]
    wanted = name.lower()
    by_id = [t for t in library.transcripts if t.session_id.lower().startswith(wanted)]
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


def _only(found: list[Transcript], name: str) -> Transcript:
    if len(found) == 1:
        return found[0]
    newest = sorted(found, key=lambda transcript: -transcript.mtime)
    some = ", ".join(transcript.session_id[:13] for transcript in newest[:5])
    more = f" and {len(found) - 5} more" if len(found) > 5 else ""
    raise Ambiguous(f"'{name}' fits {len(found)} sessions: {some}{more}. Give a longer prefix.")
