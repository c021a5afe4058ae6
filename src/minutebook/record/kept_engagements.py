"""``prospective.json``: engagement files as they were last seen, and which sessions took part.

The files belong to their projects; this is what is left when a project's folder is gone.
Durable, small, replaced as a whole.
"""

from __future__ import annotations

import msgspec

from minutebook.model.prospective import EngagementFile, TiedEngagement
from minutebook.record.layout import Layout
from minutebook.record.store import make_folder, write_atomically

VERSION = 1


class KeptEngagements(msgspec.Struct, frozen=True, kw_only=True):
    version: int = VERSION
    files: tuple[EngagementFile, ...] = ()
    sessions: dict[str, tuple[TiedEngagement, ...]] = {}
    """Session → the engagements it took part in, as its document has them; threads, too."""

    paths: dict[str, tuple[str, ...]] = {}
    """Session → the files of those: two projects may have engagements of one id."""

    def files_of(self, session_id: str) -> list[EngagementFile]:
        if session_id in self.paths:
            own = self.paths[session_id]
            return [file for file in self.files if file.path in own]
        ids = {tied.id for tied in self.sessions.get(session_id, ())}
        return [file for file in self.files if file.id in ids] if ids else []


def read_kept(layout: Layout) -> tuple[KeptEngagements, str | None]:
    """What was kept, and what is wrong with the file."""
    try:
        found = msgspec.json.decode(layout.prospective.read_bytes(), type=KeptEngagements)
    except FileNotFoundError:
        return KeptEngagements(), None
    except (OSError, msgspec.DecodeError, RecursionError) as error:
        return KeptEngagements(), str(getattr(error, "strerror", None) or error)
    if found.version > VERSION:
        return KeptEngagements(), "it was written by a newer minutebook"
    return found, None


def write_kept(layout: Layout, kept: KeptEngagements) -> bool:
    """Write it down; False where it is the same as before."""
    make_folder(layout.sessions)
    content = msgspec.json.format(msgspec.json.encode(kept), indent=1) + b"\n"
    return write_atomically(layout.prospective, content)
