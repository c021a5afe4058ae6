"""Clocks are written for a whole round at once, and say what one by one would (USE-03)."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from minutebook.derive.clock import Moment, write_clock
from minutebook.sources.assembly.clocks import clock_of
from minutebook.sources.claude_code.moments import MAKERS

usual = st.datetimes(datetime(1971, 1, 1), datetime(2199, 12, 31)).map(
    lambda moment: moment.isoformat(timespec="milliseconds") + "Z"
)
odd = st.sampled_from(
    [
        "2026-03-01T10:00:60.000Z",
        "2026-03-01T24:00:00.000Z",
        "2026-03-01T10:60:00.000Z",
        "2026-02-30T10:00:00.000Z",
        "2026-03-01T10:00:00.12345Z",
        "2026-03-01T10:00:00+01:00",
        "2026-03-01",
        "٢٠٢٦-03-01T10:00:00.000Z",
        "-026-03-01T10:00:00.000Z",
        "yesterday",
        "",
        None,
    ]
)
letters = st.sampled_from(sorted(MAKERS.values()))
classes = {write_clock([Moment(0, name)])[2]: name for name in ("prompt", "reply", "progress")}
classes["o"] = "other"


def one_by_one(stamps: list[str | None], makers: list[str]) -> str:
    """As the reference count reads timestamps."""
    moments = []
    for stamp, maker in zip(stamps, makers, strict=True):
        try:
            at = datetime.fromisoformat(stamp or "")
        except ValueError:
            continue
        moments.append(Moment(round(at.timestamp() * 1000), classes[maker]))  # type: ignore[arg-type]
    return write_clock(moments)


@given(st.lists(st.tuples(usual, letters), max_size=6))
def test_usual_times(records: list[tuple[str, str]]) -> None:
    """USE-03: as Claude Code writes them, in any order."""
    stamps, makers = [r[0] for r in records], [r[1] for r in records]
    assert clock_of(stamps, makers) == one_by_one([*stamps], makers)


@given(st.lists(st.tuples(usual | odd, letters), max_size=4))
def test_odd_times(records: list[tuple[str | None, str]]) -> None:
    """USE-03: what is not a time is left out; times in other ways of writing count."""
    stamps, makers = [r[0] for r in records], [r[1] for r in records]
    assert clock_of(stamps, makers) == one_by_one(stamps, makers)


def test_a_minute_that_ends() -> None:
    """USE-03: from one minute, hour, day and year to the next."""
    stamps = ["2026-12-31T23:59:59.999Z", "2027-01-01T00:00:00.001Z", "2026-12-31T23:59:00.000Z"]
    start = int(datetime(2026, 12, 31, 23, 59, 59, 999000, tzinfo=UTC).timestamp() * 1000)
    assert clock_of(stamps, ["p", "r", "o"]) == f"{start} p0 r2 o-60001"
