"""Opening a team's archive for reading."""

from __future__ import annotations

from minutebook.archive.archive import Archive
from minutebook.errors import MinutebookError, NotFound
from minutebook.team.choice import chosen_team
from minutebook.team.connection import Offline
from minutebook.team.database import Database
from minutebook.team.reading import TeamArchive


class NotAsked(MinutebookError):
    """There is no team to ask, or it cannot be reached: one's own archive can still answer."""


def open_team(own: Archive) -> TeamArchive:
    """What the team of an archive shares, as its person may see it."""
    try:
        address = chosen_team(own.layout, None)
    except NotFound:
        raise NotAsked("You have not joined a team (`minutebook team join`).") from None
    try:
        return TeamArchive(Database(address), own.root)
    except Offline as error:
        raise NotAsked(str(error)) from None
