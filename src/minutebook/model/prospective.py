"""Prospective engagements: what an ``engagement.md`` says, kept while the work goes on (FUT-01)."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec

from minutebook.model.engagement import PHASES

CURRENT, FOLDER = "engagement.md", "engagements"
"""Where a project keeps them."""

Place = Literal["current", "open", "archived"]
"""``engagement.md``, ``engagements/<id>.md``, or ``engagements/archive/<id>.md``."""

ENDS = ("completed", "abandoned")
"""Phases after which nothing is left to do."""


class Passed(msgspec.Struct, frozen=True):
    """A phase that was left, and when."""

    phase: str
    at: str | None = None


class Violation(msgspec.Struct, frozen=True):
    """A step that the graph does not have, taken all the same."""

    before: str
    after: str
    at: str | None = None


class Obligation(msgspec.Struct, frozen=True):
    """Something that is owed."""

    what: str
    due: str | None = None
    """A day, or a moment."""
    done: str | None = None
    """When it was done; None while it is owed."""

    def is_late(self, now: datetime) -> bool:
        """Whether it was due before `now`; a day is over when the next begins."""
        if not self.due:
            return False
        if len(self.due) == 10:
            return self.due < f"{now.astimezone():%Y-%m-%d}"
        try:
            return datetime.fromisoformat(self.due).astimezone() < now
        except (ValueError, OverflowError):
            return False


class EngagementFile(msgspec.Struct, frozen=True, kw_only=True):
    """An engagement as a person or an agent keeps it in a project."""

    id: str
    topic: str
    """The body's first heading, else the id in words."""
    method: str = ""
    phase: str = ""
    started: str | None = None
    updated: str | None = None
    phases_completed: tuple[Passed, ...] = ()
    obligations: tuple[Obligation, ...] = ()
    actors: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    parent_engagement: str | None = None
    sessions: tuple[str, ...] = ()
    violations: tuple[Violation, ...] = ()
    project: str
    """The folder of the project."""
    path: str
    place: Place = "current"
    problems: tuple[str, ...] = ()
    """What is wrong with the file; the rest was read."""
    digest: str = ""
    """Of the file's bytes: another one means that it has changed."""
    gone: bool = False
    """Whether the file is not there any more: this is what was seen of it last."""
    body: str = ""
    """The text below the frontmatter; a long one is cut."""

    @property
    def is_open(self) -> bool:
        return self.place != "archived" and self.phase not in ENDS

    @property
    def label(self) -> str:
        """The phase in the words every method has (ING-14): its own steps are in progress."""
        return self.phase if self.phase in PHASES or not self.phase else "in-progress"

    @property
    def owed(self) -> tuple[Obligation, ...]:
        return tuple(item for item in self.obligations if item.done is None)

    def overdue(self, now: datetime) -> tuple[Obligation, ...]:
        """What should have been done before `now`."""
        return tuple(item for item in self.owed if item.is_late(now))


class TiedEngagement(msgspec.Struct, frozen=True, kw_only=True):
    """An engagement that a session took part in: a line of its document (INS-08)."""

    id: str
    phase_at_start: str | None = None
    """None where it began in the session."""
    phase_at_end: str | None = None
