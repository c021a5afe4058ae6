"""The minutes of a team: records as they were pushed, merged already with what was said of them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from minutebook.archive.coverage import NOTHING_SAID, SaidSummary, SessionSaid
from minutebook.archive.minutes import Minutes, Version
from minutebook.archive.settings import Settings
from minutebook.model import Roster
from minutebook.model.engagement import SessionRecord
from minutebook.model.said import Said
from minutebook.record.kept_engagements import KeptEngagements
from minutebook.record.layout import Layout

if TYPE_CHECKING:
    from minutebook.team.reading import TeamRemote


class TeamMinutes(Minutes):
    """What people said of their sessions is in the records; nobody says more here."""

    def __init__(
        self, layout: Layout, now: Callable[[], TeamRemote], lock: threading.RLock
    ) -> None:
        from minutebook.archive.coverage import Work

        super().__init__(layout, dict, Roster, Settings, lambda _: Work(), lambda _: {}, lock)
        self._now = now

    @property
    def version(self) -> tuple[Version, ...]:
        return ((self._now().serial, 0, 0),)

    def read_again(self) -> None:
        """Nothing is kept that could be old."""

    def stored(self) -> dict[str, SessionRecord]:
        return self._now().records

    def records(self) -> dict[str, SessionRecord]:
        return self._now().records

    def said(self, session_id: str) -> list[Said]:  # noqa: ARG002
        return []

    def heard(self, session_id: str) -> list[Said]:  # noqa: ARG002
        return []

    def all_said(self) -> list[Said]:
        return []

    def sessions_said(self) -> dict[str, SessionSaid]:
        return {}

    def summary_said(self, session_id: str) -> SaidSummary:  # noqa: ARG002
        return NOTHING_SAID

    def kept_engagements(self) -> KeptEngagements:
        return KeptEngagements()

    def merged(self, record: SessionRecord) -> SessionRecord:
        return self._now().records.get(record.session_id) or record
