"""Pages, totals and orders: every hit is on one page, whichever is asked for first."""

from __future__ import annotations

from pathlib import Path

import pytest

from minutebook.archive import Archive
from minutebook.archive.finding import Sort, search
from minutebook.archive.refreshing import refresh
from minutebook.index.engine import Mode
from minutebook.index.query import Filters, Query, parse_query
from minutebook.index.static import StaticEmbedder
from tests.archive.test_operations import put as write
from tests.conftest import Record, assistant, tool_result, tool_use, user
from tests.index.conftest import Build, turn

SESSIONS, TALKATIVE = 130, 700


def rounds(name: str, count: int, day: int) -> list[Record]:
    found: list[Record] = []
    for number in range(count):
        at = f"2026-03-{day:02}T{number // 60 % 24:02}:{number % 60:02}:00.000Z"
        ids = [f"{name}-{kind}-{number:05}-4333-8444" for kind in "uarz"]
        call = f"call-{name}-{number}"
        found += [
            user(f"Say walnut, part {number}.", uuid=ids[0], timestamp=at),
            assistant(
                tool_use(call, "Bash", command="docker compose up"),
                id=ids[1],
                uuid=ids[1],
                timestamp=at,
            ),
            tool_result(call, "started", uuid=ids[2], timestamp=at),
            assistant("A walnut it is.", id=ids[3], uuid=ids[3], timestamp=at),
        ]
    return found


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    """One session that says the word hundreds of times, among many that say it once."""
    folder: Path = tmp_path_factory.mktemp("pages")
    for number in range(SESSIONS):
        count = TALKATIVE if number == 50 else 1
        name = f"{number:08x}-2222-4333-8444-555555555555"
        write(folder / "p", *rounds(name, count, 1 + number % 28), name=name)
    (folder / "archive").mkdir()
    found = Archive(folder / "archive", (folder / "p",))
    refresh(found)
    return found


@pytest.mark.parametrize("sort", ["relevance", "date"])
@pytest.mark.parametrize("typed", ["walnut", '"say walnut"', "walnut -quince"])
def test_every_hit_is_on_one_page(archive: Archive, typed: str, sort: Sort) -> None:
    """SRCH-16: pages neither repeat nor miss anything, and agree on how many there are."""
    seen: list[str] = []
    totals = set()
    for offset in range(0, SESSIONS + 20, 10):
        answer = search(
            archive, parse_query(typed), mode="lexical", sort=sort, offset=offset, fresh=False
        )
        seen += [hit.session_id for hit in answer.hits]
        totals.add((answer.total, answer.capped))
    assert totals == {(SESSIONS, False)}
    assert len(seen) == len(set(seen)) == SESSIONS


def test_by_date_the_newest_of_all_is_first(archive: Archive) -> None:
    """SRCH-11: not the newest of the best."""
    hits = search(
        archive, parse_query("walnut"), mode="lexical", sort="date", limit=200, fresh=False
    ).hits
    days = [hit.at for hit in hits]
    assert days == sorted(days, key=str, reverse=True)
    assert days[0] and days[0].startswith("2026-03-28")


def test_rounds_that_ran_a_command_are_all_counted(archive: Archive) -> None:
    """SRCH-16: a list of rounds has no bound that nobody says."""
    answer = search(archive, Query(filters=Filters(command="docker compose")), fresh=False)
    assert (answer.total, answer.capped) == (TALKATIVE + SESSIONS - 1, False)


def test_a_page_far_beyond_the_last_is_empty(archive: Archive) -> None:
    """A page number is no reason to reserve memory."""
    answer = search(archive, parse_query("walnut"), mode="lexical", offset=10**12, fresh=False)
    assert answer.hits == [] and answer.total == SESSIONS


@pytest.mark.parametrize("mode", ["lexical", "hybrid"])
def test_what_was_said_in_one_piece_comes_first(
    build: Build, mode: Mode, embedder: StaticEmbedder
) -> None:
    """A sentence somebody pastes is found where it stands, before what is only about it."""
    engine = build(
        turn("the socket was closed", "closed unexpectedly, that connection " * 9, session="s0"),
        turn(
            "x " * 400, "y " * 400 + "the socket connection was closed unexpectedly", session="s1"
        ),
        turn("socket connection closed", "sockets and connections " * 20, session="s2"),
    )
    engine.embed_missing(embedder)
    hits = engine.search(
        parse_query("socket connection was closed unexpectedly"),
        mode=mode,
        embedder=lambda: embedder,
    )
    assert hits[0].entry.session_id == "s1"
