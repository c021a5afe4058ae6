"""Dates as people say them."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minutebook.derive.periods import period, since
from minutebook.errors import BadArgument

NOW = datetime(2026, 3, 18, 15, 30).astimezone()  # a Wednesday


@pytest.mark.parametrize(
    ("typed", "start", "end"),
    [
        ("today", "2026-03-18", "2026-03-19"),
        ("Yesterday", "2026-03-17", "2026-03-18"),
        ("this week", "2026-03-16", "2026-03-23"),
        ("last week", "2026-03-09", "2026-03-16"),
        ("last month", "2026-02-01", "2026-03-01"),
        ("this year", "2026-01-01", "2027-01-01"),
        ("last year", "2025-01-01", "2026-01-01"),
        ("3 days ago", "2026-03-15", "2026-03-16"),
        ("a week ago", "2026-03-11", "2026-03-12"),
        ("2w", "2026-03-04", "2026-03-05"),
        ("March", "2026-03-01", "2026-04-01"),
        ("december", "2025-12-01", "2026-01-01"),
        ("Dec 2024", "2024-12-01", "2025-01-01"),
        ("last april", "2025-04-01", "2025-05-01"),
        ("monday", "2026-03-16", "2026-03-17"),
        ("wed", "2026-03-18", "2026-03-19"),
        ("last wednesday", "2026-03-11", "2026-03-12"),
        ("2026-02", "2026-02-01", "2026-03-01"),
        ("2025", "2025-01-01", "2026-01-01"),
        ("2026-03-15", "2026-03-15", "2026-03-16"),
    ],
)
def test_dates_as_people_say_them(typed: str, start: str, end: str) -> None:
    """SRCH-21: each names a whole day, week, month or year, and none that has yet to begin."""
    found = period(typed, NOW)
    assert [f"{moment:%Y-%m-%d %H:%M}" for moment in found] == [f"{start} 00:00", f"{end} 00:00"]
    if typed != "2w":
        assert since(typed, NOW) == found.start


@pytest.mark.parametrize(
    ("typed", "start"),
    [
        ("7d", "2026-03-11 15:30"),
        ("3 days", "2026-03-15 15:30"),
        ("2w", "2026-03-04 15:30"),
        ("5 hours", "2026-03-18 10:30"),
        ("2026-03-15T08:00", "2026-03-15 08:00"),
    ],
)
def test_a_window_begins_at_a_moment(typed: str, start: str) -> None:
    """SRCH-21, ING-24: so many days before now, to the minute."""
    assert f"{since(typed, NOW):%Y-%m-%d %H:%M}" == start


@pytest.mark.parametrize("typed", ["2026-02-30", "2026-13", "soon", "", "7x", "next week", "ma"])
def test_a_date_that_does_not_exist_is_said(typed: str) -> None:
    """SRCH-21, ING-24: one clear sentence."""
    for read in (since, period):
        with pytest.raises(BadArgument, match="is not a date"):
            read(typed, NOW)


@given(st.text(max_size=30) | st.from_regex(r"[0-9]{1,6} ?[a-z]{1,6}( ago)?", fullmatch=True))
def test_any_text_is_a_period_or_no_date(typed: str) -> None:
    """SRCH-21: whatever is typed, nothing but that sentence is raised."""
    try:
        found = period(typed, NOW)
    except BadArgument:
        return
    assert found.start < found.end
