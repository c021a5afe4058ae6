"""The home page's figures: one range and one count behind timeline, list, calendar and usage."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import minutebook
from minutebook.archive.finding import search
from minutebook.archive.lineage import copies
from minutebook.archive.using import usage_of
from minutebook.archive.worked import SILENCE, Counting, Piece, Worked, unbroken
from minutebook.index.query import Filters, parse_query
from minutebook.model.engagement import METHODS, SessionRecord
from minutebook.record.layout import Layout
from minutebook.verbs.stats import stats
from minutebook.web.axis import DAY, HOUR, Range
from minutebook.web.board import Board, Boards, board_of
from minutebook.web.counting import BackgroundCount
from minutebook.web.ranges import extent, shown_range, zooms
from minutebook.web.selection import Selection, selection
from minutebook.web.state import ServerState
from minutebook.web.timeline import Work, timeline
from minutebook.web.week import week_of
from minutebook.web.year import year_of
from tests.conftest import assistant, corpus_sessions, user
from tests.web.conftest import Written, engagement, minutes_of, stamp, write_minutes

RECORD = SessionRecord(session_id="s", cwd="/home/dev/orchard")


@pytest.fixture(scope="module")
def state(examples: Path, tmp_path_factory: pytest.TempPathFactory) -> ServerState:
    """The examples and some sessions of the corpus, where it is at hand, with their minutes."""
    archive = tmp_path_factory.mktemp("home") / "archive"
    places = (examples, *corpus_sessions()[:25])
    minutebook.ingest(*places, archive=archive, extractor="offline")
    return ServerState(archive, places)


def moments(state: ServerState) -> tuple[int, int]:
    known = extent(board_of(state, Selection()).works)
    return known.first - DAY, known.last + DAY


@st.composite
def selections(draw: st.DrawFn) -> tuple[Selection, float, float]:
    """Any filters; the range as shares of the time there is, and by the minute."""
    some = st.lists(st.sampled_from(METHODS), max_size=3, unique=True)
    asked = Selection(
        view=draw(st.sampled_from(["engagements", "sessions"])),
        group=draw(st.sampled_from(["project", "method", "agent", "program"])),
        methods=tuple(draw(some)),
        project=draw(st.sampled_from([None, None, "orchard", "=orchard", "=atlas", "o", "="])),
        agent=draw(st.sampled_from([None, None, "Reed", "claude", "codex"])),
        phase=draw(st.sampled_from([None, None, None, "completed", "in-progress"])),
        branch=draw(st.sampled_from([None, None, None, "main", "feature"])),
        starred=draw(st.booleans()) and draw(st.booleans()),
        hidden=draw(st.booleans()),
        copies=draw(st.booleans()),
        ghosts=draw(st.booleans()),
        lanes=draw(st.booleans()),
    )
    ends = sorted((draw(st.floats(0, 1)), draw(st.floats(0, 1))))
    return asked, ends[0], ends[1] if draw(st.booleans()) else -1


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(selections())
def test_timeline_list_and_usage_have_the_same_sums(
    state: ServerState, chosen: tuple[Selection, float, float]
) -> None:
    """VIEW-17: sessions, engagements, active time and cost agree for every filter."""
    asked, start, end = chosen
    first, last = moments(state)
    if end >= 0:
        after = int(first + start * (last - first)) // 60 * 60
        before = int(first + end * (last - first)) // 60 * 60 + 60
        asked = msgspec.structs.replace(asked, after=after, before=before)
    board = board_of(state, asked)
    assert board.figures is not None
    filters = asked.filters
    if asked.methods:
        filters = msgspec.structs.replace(filters, methods=asked.methods)
    used = usage_of(state.archive, "engagement", filters)
    total = used.total
    assert total.cost is not None
    assert total.times is not None
    assert board.figures.cost is not None
    # figures = usage
    assert board.figures.cost.exact == total.cost.exact
    assert board.figures.times == total.times
    assert board.figures.tokens == total.tokens
    assert board.figures.work.files == total.work.files
    # list (and what it says it leaves out) = usage
    listed_cost = sum(row.did.cost for row in board.rows)
    listed_active = sum(row.did.active or 0 for row in board.rows)
    assert listed_cost + board.beside[1] == total.cost.exact
    own = total.times.own_agent + total.times.own_yours
    assert (listed_active + board.beside[0]) / 1000 == pytest.approx(own, abs=0.001)
    # timeline = list
    drawn = timeline(
        board.works, shown_range(asked, extent(board.works)), asked.group, whole=asked.lanes
    )
    dated = [work for work in board.works if work.pieces]
    assert sum(row.count for row in drawn.rows) == drawn.count == len(dated)
    assert sum(row.cost for row in drawn.rows) == listed_cost
    assert sum(row.active for row in drawn.rows) == listed_active
    # by the clock, as the usage page says it (history that sessions share counts there as well)
    own_clock = board.by_the_clock(board.shares) / 1000
    bounded = msgspec.structs.replace(filters, after=None, before=None)
    if asked.methods or bounded != Selection(hidden=asked.hidden).filters:
        assert own_clock == pytest.approx(total.times.active_clock, abs=0.001)
    else:
        assert own_clock <= total.times.active_clock + 0.001
    if asked.view == "engagements":
        assert board.stats.engagements == len(board.rows)
        assert board.stats.sessions == len({row.record.session_id for row in board.rows})
        work = {row.key for row in used.rows if "/" in row.key}
        if asked.hidden and asked.copies:  # nothing is left out
            assert work <= _shown(board)


def test_a_branch_lists_what_was_done_on_it(written: Written, tmp_path: Path) -> None:
    """VIEW-17, SRCH-08: of a session that changed its branch, the same engagements in every range,
    in lists, in statistics and where words are looked for."""
    moments = [datetime(2026, 3, 2, hour, tzinfo=UTC) for hour in (10, 12)]
    records, works = [], []
    for number, branch in enumerate(("main", "feature"), 1):
        when = {"timestamp": stamp(moments[number - 1]), "gitBranch": branch}
        reply = assistant("Done.", id=f"msg_{number}", **when)
        reply["message"]["usage"] = {"input_tokens": 10, "output_tokens": 20}
        records += [user(f"Work on {branch}", **when), reply]
        work = engagement(moments[number - 1], "build", branch, id=branch, branches=[branch])
        works.append({**work, "turn_range": [number, number]})
    session_id = written.session(*records)
    minutes = minutes_of(1, *works, session_id=session_id, git_branch="main", rounds=2)
    write_minutes(tmp_path / "archive", minutes)
    state = ServerState(tmp_path / "archive", (written.root,))
    after, before = _moment("2026-03-02"), _moment("2026-03-03")
    for branch in ("main", "feature"):
        always = Selection(branch=branch)
        for asked in (always, msgspec.structs.replace(always, after=after, before=before)):
            assert [e.topic for _, e in board_of(state, asked).pairs] == [branch]
        for typed in (f"branch:{branch}", f"{branch} branch:{branch}"):
            query = parse_query(typed)
            (hit,) = search(state.archive, query, where="engagements", mode="lexical").hits
            assert (hit.engagement and hit.engagement.topic, hit.branch) == (branch, branch)
            assert stats(state.archive, query).engagements == 1
    both = Selection(view="sessions", branch="feature")
    assert [row.record.session_id for row in board_of(state, both).rows] == [session_id]


def _shown(board: Board) -> set[str]:
    """Engagements of the list, as usage names them."""
    return {f"{r.record.session_id}/{r.engagement.id}" for r in board.rows if r.engagement}


def test_both_views_count_the_same_sessions(state: ServerState) -> None:
    """VIEW-17: a copy with an engagement of its own is a session in both lists."""
    engagements = board_of(state, Selection())
    sessions = board_of(state, Selection(view="sessions"))
    listed = {row.record.session_id for row in sessions.rows if row.engagements}
    assert listed == {record.session_id for record, _ in engagements.pairs}


def test_lanes_have_the_hours_of_usage(state: ServerState) -> None:
    """VIEW-17: a lane says the time by the clock, as the usage page does for the same project."""
    everything = Selection(view="sessions", ghosts=True, hidden=True, copies=True)
    board = board_of(state, everything)
    for row in timeline(board.works, Range(0, 1 << 33), "project", whole=True).rows:
        if row.narrowing.get("project") in (None, "="):
            continue
        only = msgspec.structs.replace(everything, project=f"={row.name}", view="engagements")
        used = usage_of(state.archive, "engagement", only.filters).total
        found = board_of(state, only)
        assert used.times is not None
        assert found.by_the_clock(found.shares) / 1000 == pytest.approx(
            used.times.active_clock, abs=0.001
        )
        assert 0 <= board.by_the_clock(row.keys) <= row.active


def test_a_project_is_matched_as_a_project(state: ServerState) -> None:
    """VIEW-17: chosen from the page, a project is not a part of another one's name."""
    some = board_of(state, Selection(project="o")).rows
    exact = board_of(state, Selection(project="=orchard")).rows
    assert 0 < len(exact) < len(some)
    assert board_of(state, Selection(project="=orch")).rows == []


def test_the_calendar_has_what_usage_has(state: ServerState) -> None:
    """VIEW-16: a day of the calendar is a day of usage, in the 53 weeks up to the newest work."""
    boards = Boards(state, Selection(), patience=None)
    year = year_of(boards, Selection())
    days = {
        row.key
        for row in usage_of(state.archive, "day").rows
        if row.key != "undated" and year.start <= _moment(row.key) < year.end
    }
    assert year.active_days == len(year.days) == len(days)
    assert (year.end - year.start) // (7 * DAY) in (52, 53)
    assert year.old  # the examples are of March
    assert "up to" not in year.words
    assert {day.level for day in year.days} <= {1, 2, 3, 4}


def _moment(day: str) -> int:
    return int(datetime.fromisoformat(day).timestamp())


def test_the_week_says_what_was_decided_and_what_it_cost(state: ServerState) -> None:
    """VIEW-16: the latest week with work: what, what came of it, cost, decisions."""
    week = week_of(Boards(state, Selection(), patience=None))
    assert week is not None
    assert week.title == "The latest 7 days with work"
    assert week.engagements >= week.told >= len(week.pieces) > 0
    assert week.figures is not None
    assert week.figures.cost is not None
    assert week.projects


def test_the_week_tells_the_same_work_once(tmp_path: Path) -> None:
    """VIEW-16: three engagements of one topic are one line, with how many they are."""
    start = datetime(2026, 3, 2, tzinfo=UTC)
    topics = ("Mend the gate", "Paint it", "mend the gate", "Mend the gate")
    records = [
        minutes_of(at, engagement(start.replace(hour=at), "build", topic))
        for at, topic in enumerate(topics, 1)
    ]
    write_minutes(tmp_path / "archive", *records)
    week = week_of(Boards(ServerState(tmp_path / "archive", ()), Selection(), patience=None))
    assert week is not None
    told = [(p.row.engagement.topic, p.times) for p in week.pieces if p.row.engagement]
    assert sorted(told) == [("Mend the gate", 3), ("Paint it", 1)]
    assert week.told == week.engagements == 4


def test_the_week_says_how_many_agents_it_does_not_name(tmp_path: Path) -> None:
    """VIEW-16: four are named; of more, three, and the number of the others."""
    for count, named, rest in ((4, 4, ""), (6, 3, "3 more agents")):
        records = [
            minutes_of(
                at,
                engagement(datetime(2026, 3, at, tzinfo=UTC), "build", "Build it"),
                agent_name=f"Agent {at}",
            )
            for at in range(1, count + 1)
        ]
        archive = tmp_path / str(count)
        write_minutes(archive, *records)
        week = week_of(Boards(ServerState(archive, ()), Selection(), patience=None))
        assert week is not None
        assert (len(week.people), week.more_people) == (named, rest)


def test_the_hour_is_the_latest_with_work(state: ServerState) -> None:
    """VIEW-17: the shortest zoom never shows an empty hour."""
    works = board_of(state, Selection()).works
    known = extent(works)
    asked = Selection()
    link = zooms(asked, shown_range(asked, known), known)["hour"]
    pairs = dict(pair.split("=") for pair in link[1:].split("&"))
    hour = selection(pairs)
    assert hour.before is not None
    assert hour.after is not None
    assert hour.before - hour.after == HOUR
    assert board_of(state, hour).rows


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 5000)), max_size=30))
def test_pieces_break_at_half_an_hour_of_silence(spans: list[tuple[int, int]]) -> None:
    """VIEW-17: a bar is only where there was activity."""
    given_spans: list[Piece] = [(start, start + length) for start, length in spans]
    pieces = unbroken(given_spans)
    for (_, end), (start, _) in pairwise(pieces):
        assert start - end > SILENCE
    for start, end in given_spans:
        assert any(first <= start and end <= last for first, last in pieces)
    edges = {moment for span in given_spans for moment in span}
    assert {moment for piece in pieces for moment in piece} <= edges


def test_silence_is_not_drawn() -> None:
    """VIEW-17: of a day between two hours of work, nothing is drawn."""
    pieces = ((0, HOUR), (23 * HOUR, DAY))
    work = Work(0, DAY, "build", RECORD, pieces=pieces)
    (row,) = timeline([work], Range(0, DAY), "project").rows
    assert [(round(b.x + b.lead, 2), round(b.width, 2)) for b in row.bars] == [
        (0, 4.17),
        (95.83, 4.17),
    ]
    assert sum(bar.labelled for bar in row.bars) == 1
    dense = timeline([work] * 300, Range(0, DAY), "project")
    assert dense.dense
    assert {column.start // HOUR for column in dense.rows[0].columns} == {0, 23}


def test_every_row_can_be_drawn() -> None:
    """VIEW-17: what has no room is counted, and drawn on demand."""
    works = [
        Work(at, at + 60, "build", SessionRecord(session_id=f"s{at}", cwd=f"/dev/p{at}"))
        for at in range(1, 21)
    ]
    few = timeline(works, Range(0, HOUR), "project")
    assert (len(few.rows), few.others) == (8, 13)
    assert few.rows[-1].narrowing == {"lanes": True}
    every = timeline(works, Range(0, HOUR), "project", whole=True)
    assert (len(every.rows), every.others) == (20, 0)
    assert sum(len(row.bars) for row in every.rows) == 20


def test_a_first_ingest_is_shown_without_its_lineage(examples: Path, tmp_path: Path) -> None:
    """VIEW-16: while minutes are taken, no page reads all transcripts to find copies."""
    minutebook.ingest(examples, archive=tmp_path, extractor="offline")
    layout = Layout(tmp_path)
    for path in (layout.lineage, layout.traces):
        path.unlink(missing_ok=True)
    state = ServerState(tmp_path, (examples,))
    state.grows(True)
    before = state.version
    assert board_of(state, Selection()).rows and copies(state.archive) == {}
    assert not layout.lineage.exists() and not layout.traces.exists()
    state.grows(False)
    assert state.version != before  # what was shown meanwhile is made again
    copies(state.archive)
    assert layout.lineage.exists()


def test_a_count_that_failed_is_tried_again(
    examples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    """VIEW-16: an error nobody expected is logged, gives no figures, and the next page has them."""
    minutebook.ingest(examples, archive=tmp_path, extractor="offline")
    with minutebook.open_archive(tmp_path, [examples]) as archive:
        count = BackgroundCount(archive)

        def fails() -> bool:
            raise ZeroDivisionError

        with monkeypatch.context() as patched:
            patched.setattr(count._counting, "look", fails)
            assert count.worked(Filters(), None) is None
        assert "could not be counted" in caplog.text
        assert count.worked(Filters(), None) is not None


def test_nobody_waits_for_a_count(
    examples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """VIEW-16: while figures are counted anew, those there were are given."""
    minutebook.ingest(examples, archive=tmp_path, extractor="offline")
    with minutebook.open_archive(tmp_path, [examples]) as archive:
        counting = Counting(archive)
        assert counting.look()
        old, begun, goes_on = counting.worked(), threading.Event(), threading.Event()
        count = counting._count

        def slow(*asked: Any) -> Worked:
            begun.set()
            assert goes_on.wait(30)
            return count(*asked)

        monkeypatch.setattr(counting, "_count", slow)
        monkeypatch.setattr(counting, "_version", None)
        again = threading.Thread(target=counting.look)
        again.start()
        assert begun.wait(30) and counting.worked() is old
        goes_on.set()
        again.join()
        assert counting.worked() is not old
