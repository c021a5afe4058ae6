"""Dates as people say them: ``today``, ``last week``, ``2w``, ``3 days ago``, ``March 5``, ISO.

All of them name a period in local time. Hours and minutes count from this moment; days, weeks,
months and years are whole days, and the last seven are today and the six before it. Anything else
is refused rather than guessed at.
"""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import datetime, timedelta
from typing import NamedTuple

from minutebook.errors import BadArgument

_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS = (
    *("zero", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
_UNITS = {
    "min": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(days=7),
    "mo": timedelta(days=30),
    "y": timedelta(days=365),
}
_DAY = timedelta(days=1)
_COUNT = rf"(?P<count>\d{{1,5}}|an?|{'|'.join(_NUMBERS)}) ?"
_COUNTED = re.compile(
    rf"(?P<last>(?:last|past) )?{_COUNT}"
    r"(?P<unit>min|minutes?|mins|h|hours?|d|days?|w|weeks?|mo|months?|y|years?)(?P<ago> ago)?"
)
_UNCLEAR = re.compile(rf"(?:(?:last|past) )?{_COUNT}m( ago)?")
_NAMED = re.compile(r"(this|last) (day|week|month|year)")
_PAST = re.compile(r"past (?=(?:minute|hour|day|week|month|year)$)")
_MONTH = re.compile(r"(?:last )?([a-z]{3,9})\.?(?: (\d{4}))?")
_DAY_NUMBER = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_DAYS_OF_A_MONTH = (
    re.compile(rf"(?P<month>[a-z]{{3,9}})\.? {_DAY_NUMBER},?(?: (?P<year>\d{{4}}))?"),
    re.compile(rf"{_DAY_NUMBER} (?:of )?(?P<month>[a-z]{{3,9}})\.?,?(?: (?P<year>\d{{4}}))?"),
)
_LEAP = 8  # years from one 29 February to the next, at most
_ISO_MONTH = re.compile(r"(\d{4})(?:-(\d{2}))?")


class Period(NamedTuple):
    """From a moment up to, but not with, another."""

    start: datetime
    end: datetime


def since(text: str, now: datetime | None = None) -> datetime:
    """The start of a window: of the period that is meant."""
    return period(text, now).start


def until(text: str, now: datetime | None = None) -> datetime:
    """The end of a window: ``yesterday`` with its last hour, ``3h`` at that moment, and ``7d``
    where the last seven days begin, so that it fits ``since("14d")``."""
    found = period(text, now)
    counted = _COUNTED.fullmatch(_plain(text))
    if counted is None or counted["last"]:
        return found.end
    whole_day = counted["ago"] and _unit(counted) >= _DAY
    return found.end if whole_day else found.start


def period(text: str, now: datetime | None = None) -> Period:
    """The hour, day, week, month or year that is meant; never one that has yet to begin."""
    now = now or datetime.now().astimezone()
    word = _plain(text)
    today = _midnight(now)
    if word in ("today", "yesterday"):
        return _of_days(today - timedelta(days=word == "yesterday"), 1)
    if _UNCLEAR.fullmatch(word):
        count = word.removesuffix(" ago").removesuffix("m").rstrip()
        raise BadArgument(
            f"'{text}' is not a date: m may be minutes or months. Write {count}min or {count}mo."
        )
    if counted := _COUNTED.fullmatch(word):
        return _counted(now, counted)
    if named := _NAMED.fullmatch(word):
        return _named(named[1] != "this", named[2], today)
    if (day := _index(word.removeprefix("last "), _DAYS)) is not None:
        back = (today.weekday() - day) % 7
        if word.startswith("last ") and back == 0:
            back = 7
        return _of_days(today - timedelta(days=back), 1)
    if (found := _MONTH.fullmatch(word)) and (month := _index(found[1], _MONTHS)) is not None:
        year = int(found[2]) if found[2] else now.year - (month + 1 > now.month)
        return _months(year, month + 1, 1, text)
    if found := _ISO_MONTH.fullmatch(word):
        return _months(int(found[1]), int(found[2] or 1), 1 if found[2] else 12, text)
    try:
        if (start := _day_of_a_month(word, now, text)) is not None:
            return _of_days(start, 1)
        moment = datetime.fromisoformat(word.upper()).astimezone()
        at_midnight = moment == _midnight(moment)
        return _of_days(moment, 1) if at_midnight else Period(moment, _after(moment))
    except (ValueError, OverflowError, OSError):
        raise _no_date(text) from None


def _plain(text: str) -> str:
    word = " ".join(text.lower().split()).removeprefix("the ")
    return _PAST.sub("last 1 ", word)


def _midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None).astimezone()


def _after(moment: datetime) -> datetime:
    """Midnight after a moment."""
    return _shifted(_midnight(moment), 1)


def _shifted(midnight: datetime, days: int) -> datetime:
    """A midnight some days on; a day may have 23 or 25 hours."""
    return (midnight.replace(tzinfo=None) + timedelta(days=days)).astimezone()


def _of_days(start: datetime, days: int) -> Period:
    start = _midnight(start)
    return Period(start, _shifted(start, days))


def _counted(now: datetime, counted: re.Match[str]) -> Period:
    """``3 days ago`` is that day, ``3 hours ago`` the hour from then on; ``3d``, ``3h`` and ``last
    3 days`` are all of them up to now, this one included."""
    start, unit = _back(now, counted), _unit(counted)
    if counted["ago"]:
        return Period(start, start + unit) if unit < _DAY else _of_days(start, 1)
    if unit >= _DAY:
        start = min(_after(start), _midnight(now))
    return Period(start, _after(now))


def _back(now: datetime, counted: re.Match[str]) -> datetime:
    """So much time before now."""
    word = counted["count"]
    number = _NUMBERS.index(word) if word in _NUMBERS else 1
    try:
        return now - _unit(counted) * (int(word) if word.isdecimal() else number)
    except OverflowError:
        return datetime(1, 1, 2).astimezone(now.tzinfo)


def _unit(counted: re.Match[str]) -> timedelta:
    return next(span for name, span in _UNITS.items() if counted["unit"].startswith(name))


def _day_of_a_month(word: str, now: datetime, text: str) -> datetime | None:
    """``March 5``, ``5 March 2026``; without a year the last one."""
    found = next((m for form in _DAYS_OF_A_MONTH if (m := form.fullmatch(word))), None)
    month = _index(found["month"], _MONTHS) if found is not None else None
    if found is None or month is None:
        return None
    years = [int(found["year"])] if found["year"] else range(now.year, now.year - _LEAP - 1, -1)
    for year in years:
        with suppress(ValueError, OverflowError, OSError):
            day = datetime(year, month + 1, int(found["day"])).astimezone()
            if found["year"] or day <= now:
                return day
    raise _no_date(text)


def _named(last: bool, unit: str, today: datetime) -> Period:
    """``this week``, ``last month``; a week begins on Monday."""
    if unit == "day":
        return _of_days(_shifted(today, -int(last)), 1)
    if unit == "week":
        return _of_days(_shifted(today, -today.weekday() - 7 * last), 7)
    if unit == "year":
        return _months(today.year - last, 1, 12, unit)
    index = today.year * 12 + today.month - 1 - last
    return _months(index // 12, index % 12 + 1, 1, unit)


def _months(year: int, month: int, count: int, text: str) -> Period:
    try:
        ends = year * 12 + month - 1 + count
        end = datetime(ends // 12, ends % 12 + 1, 1)
        return Period(datetime(year, month, 1).astimezone(), end.astimezone())
    except (ValueError, OverflowError, OSError):
        raise _no_date(text) from None


def _index(word: str, names: tuple[str, ...]) -> int | None:
    """Which of some names a word is, or the beginning of, from three letters on."""
    found = [at for at, name in enumerate(names) if len(word) > 2 and name.startswith(word)]
    return found[0] if found else None


def _no_date(text: str) -> BadArgument:
    return BadArgument(
        f"'{text}' is not a date: write it like 2026-03-15, yesterday, last week, March, or 7d."
    )
