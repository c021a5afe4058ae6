"""One reading of timestamps, whoever asks."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from minutebook.derive.clock import read_clock
from minutebook.derive.times import instant, millis
from minutebook.index.entry import seconds
from minutebook.sources.assembly.clocks import clock_of


@pytest.fixture
def far_from_greenwich(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("far_from_greenwich")
@pytest.mark.parametrize("stamp", ["2026-03-01T10:00:00", "2026-03-01T10:00:00.000Z"])
def test_a_time_is_the_same_for_all(stamp: str) -> None:
    """USE-03: usage, clocks, lists and the index agree on when something was written."""
    moment = instant(stamp)
    assert moment is not None
    at = int(moment.timestamp() * 1000)
    (noted,) = read_clock(clock_of([stamp], ["p"]))
    assert millis(stamp) == at == noted.at == seconds.__wrapped__(stamp) * 1000
