"""Days, weeks and months of a person, in their own time."""

from __future__ import annotations

import time
from datetime import date, datetime, timedelta

UNDATED = "undated"
_QUARTER = 900_000  # milliseconds: no zone begins its days at other moments


class Calendar:
    """Which day a moment is of; asked ten thousand times, so it remembers."""

    def __init__(self) -> None:
        self._days: dict[int, str] = {}
        self._keys: dict[tuple[str, str], str] = {}
        self._hours: dict[int, int] = {}

    def day(self, at: int) -> str:
        """``2026-03-15``, of milliseconds since the epoch."""
        if at <= 0:
            return UNDATED
        quarter = at // _QUARTER
        found = self._days.get(quarter)
        if found is None:
            found = self._days[quarter] = time.strftime("%Y-%m-%d", time.localtime(at / 1000))
        return found

    def key(self, by: str, at: int) -> str:
        """The day, the Monday of the week, or the month of a moment."""
        day = self.day(at)
        if by == "day" or day == UNDATED:
            return day
        if by == "month":
            return day[:7]
        found = self._keys.get((by, day))
        if found is None:
            known = date.fromisoformat(day)
            monday = known - timedelta(days=known.weekday())
            found = self._keys[by, day] = monday.isoformat()
        return found

    def hour(self, at: int) -> int:
        """When the hour of a moment began by the local clock, in milliseconds; 0 where it is
        undated. Not all zones are whole hours apart."""
        if at <= 0:
            return 0
        quarter = at // _QUARTER
        found = self._hours.get(quarter)
        if found is None:
            minute = time.localtime(quarter * _QUARTER / 1000).tm_min
            found = self._hours[quarter] = quarter * _QUARTER - minute * 60_000
        return found

    def hours(self, start: int, end: int) -> list[int]:
        """Where hours begin between two moments."""
        first = self.hour(start) + 3_600_000
        return list(range(first, end, 3_600_000)) if end - first < 7 * 86_400_000 else []

    def midnights(self, start: int, end: int) -> list[int]:
        """Where days begin between two moments."""
        if self.day(start) == self.day(end) or end - start > 7 * 86_400_000:
            return []
        found: list[int] = []
        day = date.fromisoformat(self.day(start))
        while True:
            day += timedelta(days=1)
            midnight = round(datetime(day.year, day.month, day.day).timestamp() * 1000)
            if midnight >= end:
                return found
            found.append(midnight)
