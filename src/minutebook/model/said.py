"""What a person says of a session and its engagements (UND-07): one value for each kind.

An engagement is named by its id, the start of it, or the number of a round in it; without one
the session as a whole is meant. `rounds` and `made` are filled in when a statement is written
down: an engagement is found again by its id, else by its rounds.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

Ranges: TypeAlias = tuple[tuple[int, int], ...]
Value: TypeAlias = str | tuple[str, ...] | tuple[int, int]

ENGAGEMENT_FIELDS = (
    *("topic", "project", "method", "phase", "outcome"),
    *("key_decisions", "turn_range"),
)
SESSION_FIELDS = ("title", "agent_name", "agent_role", "summary")


class _About(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind", tag=str.lower):
    """Something said of an engagement, or of the session."""

    engagement: str = ""
    rounds: Ranges = ()


class Set(_About, frozen=True, omit_defaults=True, kw_only=True):
    """Fields as a person says they are."""

    values: dict[str, str | tuple[str | int, ...]]
    """`ENGAGEMENT_FIELDS`, or without an engagement `SESSION_FIELDS`."""


class Split(_About, frozen=True, omit_defaults=True, kw_only=True):
    """A new engagement begins at a round."""

    round: int
    made: str = ""
    """Id of the new one."""


class Join(_About, frozen=True, omit_defaults=True, kw_only=True):
    """Two engagements are one, which keeps the first one's topic, project and method."""

    other: str
    other_rounds: Ranges = ()


class Move(_About, frozen=True, omit_defaults=True, kw_only=True):
    """An engagement covers these rounds; its neighbours make room, or take what it leaves."""

    first: int
    last: int


class Star(_About, frozen=True, omit_defaults=True):
    """Mark it with a star."""


class Unstar(_About, frozen=True, omit_defaults=True):
    """Take the star off."""


class Hide(_About, frozen=True, omit_defaults=True):
    """Leave it out of lists and statistics."""


class Unhide(_About, frozen=True, omit_defaults=True):
    """List and count it again."""


class Note(_About, frozen=True, omit_defaults=True, kw_only=True):
    """A note, in place of the one there was; an empty one takes it off."""

    text: str


class Thread(_About, frozen=True, omit_defaults=True, kw_only=True):
    """It belongs to a thread: a new name, or the id of one there is (FUT-06)."""

    name: str
    """Empty: to none."""


class Unthread(_About, frozen=True, omit_defaults=True):
    """It belongs where it is found to belong."""


class Tag(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="tag"):
    """Rounds belong to an engagement (DB-07)."""

    first: int
    last: int | None = None
    """None: to the end, however long the session grows."""
    engagement: str | None = None
    """None takes a tag off."""


class Undo(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="undo"):
    """Take back the last thing said."""

    of: str = ""
    """Id of what is taken back; if you name it, it must be the last."""


class Renumber(msgspec.Struct, frozen=True, tag_field="kind", tag="renumber"):
    """Rounds that were said before have other numbers since an upgrade (ARC-03)."""

    places: dict[int, tuple[int, int]]


class Unread(msgspec.Struct, frozen=True, tag_field="kind", tag="unread"):
    """Something a newer minutebook wrote down: kept, and not applied."""

    what: str


Statement: TypeAlias = (
    Set | Split | Join | Move | Star | Unstar | Hide | Unhide | Note | Thread | Unthread | Undo
)
"""What can be said with `Archive.say`."""
Written: TypeAlias = Statement | Tag | Renumber
"""What can stand in the file."""


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was said, as it stands in the file."""

    id: str
    session_id: str
    at: str | None = None
    """When; None for what an older minutebook wrote down."""
    statement: Written | Unread
    undone: bool = False
    old: bool = False
    """Whether an older minutebook wrote it, which kept tags in another file."""
    said_of: str | None = None
    """The copy of the session of which it was said; None: of the session itself."""
