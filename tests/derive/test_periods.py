"""Dates as people say them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minutebook.derive.periods import period, since, until
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
        ("7d", "2026-03-12", "2026-03-19"),
        ("1w", "2026-03-12", "2026-03-19"),
        ("last 7 days", "2026-03-12", "2026-03-19"),
        ("the last seven days", "2026-03-12", "2026-03-19"),
        ("past week", "2026-03-12", "2026-03-19"),
        ("2w", "2026-03-05", "2026-03-19"),
        ("past 2 weeks", "2026-03-05", "2026-03-19"),
        ("3 days", "2026-03-16", "2026-03-19"),
        ("1d", "2026-03-18", "2026-03-19"),
        ("0d", "2026-03-18", "2026-03-19"),
        ("2mo", "2026-01-18", "2026-03-19"),
        ("the last week", "2026-03-09", "2026-03-16"),
        ("7 days ago", "2026-03-11", "2026-03-12"),
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
        ("two weeks ago", "2026-03-04", "2026-03-05"),
        ("twelve days ago", "2026-03-06", "2026-03-07"),
        ("2 months ago", "2026-01-17", "2026-01-18"),
        ("March 5", "2026-03-05", "2026-03-06"),
        ("5 March", "2026-03-05", "2026-03-06"),
        ("5th of Mar.", "2026-03-05", "2026-03-06"),
        ("March 19", "2025-03-19", "2025-03-20"),
        ("Feb 13 2026", "2026-02-13", "2026-02-14"),
        ("13 Feb 2026", "2026-02-13", "2026-02-14"),
        ("February 13, 2026", "2026-02-13", "2026-02-14"),
        ("29 Feb", "2024-02-29", "2024-03-01"),
    ],
)
def test_dates_as_people_say_them(typed: str, start: str, end: str) -> None:
    """SRCH-21: each names a whole day, week, month or year, and none that has yet to begin."""
    found = period(typed, NOW)
    assert [f"{moment:%Y-%m-%d %H:%M}" for moment in found] == [f"{start} 00:00", f"{end} 00:00"]
    assert since(typed, NOW) == found.start


@pytest.mark.parametrize(
    ("typed", "start"),
    [
        ("5 hours", "2026-03-18 10:30"),
        ("2026-03-15T08:00", "2026-03-15 08:00"),
        ("3 hours ago", "2026-03-18 12:30"),
        ("an hour ago", "2026-03-18 14:30"),
        ("30min", "2026-03-18 15:00"),
        ("30 minutes ago", "2026-03-18 15:00"),
        ("last 24 hours", "2026-03-17 15:30"),
        ("past hour", "2026-03-18 14:30"),
    ],
)
def test_a_window_begins_at_a_moment(typed: str, start: str) -> None:
    """SRCH-21, ING-24: so many hours before now, to the minute."""
    assert f"{since(typed, NOW):%Y-%m-%d %H:%M}" == start


def test_the_form_of_our_own_json_is_a_date() -> None:
    """SRCH-21: a moment copied from a hit, with its T and Z."""
    moment = datetime(2026, 3, 15, 10, 0, tzinfo=UTC)
    assert since("2026-03-15T10:00:00Z", NOW) == since("2026-03-15T10:00:00.000Z", NOW) == moment


@pytest.mark.parametrize(
    ("typed", "end"),
    [
        ("7d", "2026-03-12 00:00"),
        ("7 days ago", "2026-03-12 00:00"),
        ("yesterday", "2026-03-18 00:00"),
        ("last 7 days", "2026-03-19 00:00"),
        ("3 hours ago", "2026-03-18 12:30"),
        ("3h", "2026-03-18 12:30"),
    ],
)
def test_a_window_ends_where_the_next_begins(typed: str, end: str) -> None:
    """SRCH-21: from 14d until 7d and from 7d on are seven whole days each."""
    assert f"{until(typed, NOW):%Y-%m-%d %H:%M}" == end


def test_a_count_of_hours_is_a_period() -> None:
    """SRCH-21: `date:"3 hours ago"` is that hour, `date:3h` all three."""
    start, end = period("3 hours ago", NOW)
    assert (f"{start:%H:%M}", f"{end:%H:%M}") == ("12:30", "13:30")
    start, end = period("3h", NOW)
    assert (f"{start:%m-%d %H:%M}", f"{end:%m-%d %H:%M}") == ("03-18 12:30", "03-19 00:00")


@pytest.mark.parametrize("typed", ["30m", "1 m ago", "last 3 m"])
def test_a_bare_m_is_not_guessed_at(typed: str) -> None:
    """SRCH-21: minutes or months? The sentence says how to write either."""
    for read in (since, period):
        with pytest.raises(BadArgument, match=r"is not a date: m may be minutes or months.*mo\."):
            read(typed, NOW)


@pytest.mark.parametrize(
    "typed",
    [
        *("2026-02-30", "2026-13", "soon", "", "7x", "next week", "ma"),
        *("Feb 30", "March 0", "5 Foo", "29 Feb 2025", "3 hays", "3 mays"),
        *("9999-12-31", "9999-12-31 10:00", "31 December 9999"),  # no day comes after it
    ],
)
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
