"""Who was this (ID-01…09): the first source that names the agent wins."""

from __future__ import annotations

from typing import Literal

import msgspec

from minutebook.model import Roster, SessionInfo

NameSource = Literal["rename", "custom-title", "signature", "roster", "said"]


class Identity(msgspec.Struct, frozen=True, omit_defaults=True):
    name: str | None = None
    source: NameSource | None = None
    """Where the name came from (ID-08); None together with the name (ID-07)."""
    role: str | None = None


def titled(info: SessionInfo, title: str) -> SessionInfo:
    """A session with the title that a person gave it. The one it had named its agent (ID-04) no
    longer than it was the title."""
    old = (info.title or "").strip()
    if title == old:
        return info
    left = tuple(name for name in info.names.titles if name.strip() != old)
    names = msgspec.structs.replace(info.names, titles=left)
    return msgspec.structs.replace(info, title=title, names=names)


def identify(info: SessionInfo, roster: Roster | None = None) -> Identity:
    """The agent's name by ``/rename``, title record, board signature or roster, in that order."""
    entry = roster.find(info.id) if roster is not None else None
    role = entry.role if entry else None
    sources: tuple[tuple[NameSource, tuple[str, ...]], ...] = (
        ("rename", info.names.renames),
        ("custom-title", info.names.titles),
        ("signature", info.names.signatures),
        ("roster", (entry.name,) if entry and entry.name else ()),
    )
    for source, names in sources:
        if names:
            return Identity(names[-1].strip(), source, role)
    return Identity(role=role)
