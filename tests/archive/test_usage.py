"""What was used: one answer however it is asked for, of whatever there is (USE-01 … USE-06)."""

from __future__ import annotations

import json
import os
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minutebook.archive import Archive
from minutebook.archive.using import OUTSIDE, usage_of, usage_of_list
from minutebook.derive.usage.digest import VERSION
from minutebook.derive.usage.figures import Figures
from minutebook.derive.usage.tally import DIMENSIONS, PERIODS
from minutebook.errors import BadArgument
from minutebook.extract.offline import OfflineExtractor
from minutebook.index.query import Filters
from minutebook.model import said
from minutebook.record.layout import Layout
from minutebook.verbs.ingest import ingest
from minutebook.verbs.inscribe import inscribe
from tests.conftest import Record, assistant, tool_result, tool_use, user
from tests.generated import generate

FIRST_RELEASE = Path(__file__).parents[1] / "fixtures" / "first-release.tar.gz"
USED = {
    "input_tokens": 5,
    "output_tokens": 70,
    "cache_read_input_tokens": 1000,
    "cache_creation_input_tokens": 300,
    "cache_creation": {"ephemeral_1h_input_tokens": 100},
}


def reply(id: str, at: str, *blocks: Record | str, **more: Any) -> Record:
    """An answer with usage; `more` goes into its message."""
    record = assistant(*(blocks or ("done",)), id=id, uuid=f"u-{id}", timestamp=at)
    record["message"] |= {"usage": USED, "stop_reason": "end_turn", **more}
    return record


def write(root: Path, name: str, *records: Record) -> Path:
    path = root / "projects" / "-w-app" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    os.utime(path, (1_700_000_000, 1_700_000_000))
    return path


def asked(text: str, at: str, **more: Any) -> Record:
    return user(text, timestamp=at, uuid=f"p-{at}", cwd="/w/app", gitBranch="main", **more)


def at(minute: int, hour: int = 10) -> str:
    return f"2026-03-01T{hour:02}:{minute:02}:00.000Z"


def cost(figures: Figures) -> int:
    assert figures.cost is not None
    return figures.cost.exact


def added(figures: list[Figures]) -> tuple[int, ...]:
    """What adds up: replies, five kinds of tokens, searches, the exact cost, work."""
    sums = [0] * 12
    for f in figures:
        more = (
            f.replies,
            *msgspec.structs.astuple(f.tokens),
            f.web_searches,
            cost(f),
            f.work.calls,
            f.work.errors,
            f.work.lines_added,
            f.work.lines_removed,
        )
        sums = [a + b for a, b in zip(sums, more, strict=True)]
    return tuple(sums)


# -- one function behind every figure


@pytest.fixture(scope="module")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    """Generated sessions with forks, subagents and engagements; some only in transcripts."""
    folder = tmp_path_factory.mktemp("usage")
    generate(folder / "claude", seed=11)
    archive = Archive(folder / "archive", (folder / "claude",))
    ingest(archive, OfflineExtractor(), ended=True)
    shutil.rmtree(folder / "claude")
    (folder / "claude").mkdir()
    generate(folder / "claude", seed=12)
    return Archive(folder / "archive", (folder / "claude",))


FILTERS = st.builds(
    Filters,
    project=st.sampled_from([None, None, "a", "orchard"]),
    branch=st.sampled_from([None, None, "main", "feat"]),
    model=st.sampled_from([None, None, "opus", "sonnet"]),
    method=st.sampled_from([None, None, "build", "debug"]),
    phase=st.sampled_from([None, None, "completed"]),
    after=st.none() | st.integers(1_740_000_000, 1_790_000_000),
    before=st.none() | st.integers(1_740_000_000, 1_790_000_000),
    starred=st.sampled_from([False, False, False, True]),
    hidden=st.booleans(),
)


@settings(max_examples=12, deadline=None)
@given(filters=FILTERS)
def test_every_dimension_adds_up_to_the_same(ingested: Archive, filters: Filters) -> None:
    """USE-04: day = week = month = project = session = … for any filter."""
    totals = set()
    for by in DIMENSIONS:
        found = usage_of(ingested, by, filters)
        assert added([row.figures for row in found.rows]) == added([found.total])
        totals.add(added([found.total]))
    assert len(totals) == 1


def test_the_clock_of_days_adds_up(ingested: Archive) -> None:
    """USE-03: what runs at once counts once, in a day and in all days together."""
    for by in PERIODS:
        found = ingested.usage(by)
        assert found.total.times is not None
        active = sum(row.figures.times.active_clock for row in found.rows if row.figures.times)
        assert active == pytest.approx(found.total.times.active_clock)
        assert found.total.times.active_clock <= found.total.times.agent + found.total.times.yours


def test_engagements_have_what_their_rounds_used(ingested: Archive) -> None:
    """USE-04: replies outside any engagement are a row of their own."""
    found = ingested.usage("engagement")
    keys = {row.key for row in found.rows}
    assert OUTSIDE in keys and len(keys) > 3
    for record, engagement in ingested.engagements():
        key = f"{record.session_id}/{engagement.id}"
        if key in keys:
            assert engagement.topic in {row.label for row in found.rows if row.key == key}


def test_what_is_being_ingested_is_left_to_that(tmp_path: Path) -> None:
    """USE-06, VIEW-16: while another process ingests, a page does not read what it reads; but the
    one session somebody looks at."""
    for name in ("one", "two"):
        write(tmp_path, name, user("go", timestamp=at(0), uuid=name), reply(f"m-{name}", at(1)))
    archive = Archive(tmp_path / "none", (tmp_path,))
    archive.growing = True
    assert archive.usage().total.replies == 0
    (session, _) = sorted(archive.ids())
    assert archive.usage("session", session=session).total.replies == 1
    archive.growing = False
    assert archive.usage().total.replies == 2
    grown = archived(tmp_path, tmp_path / "archive")
    grown.layout.ledger.unlink()  # written last; what was kept of each session counts before
    grown.growing = True
    assert grown.usage().total.replies == 2


def test_a_session_counts_before_it_is_written_down_that_it_is_archived(tmp_path: Path) -> None:
    """USE-06, VIEW-16: a page that looked when nothing was archived counts what another process
    has archived since, and calls it what its transcript does."""
    watching = Archive(tmp_path / "archive", (tmp_path,))
    watching.growing = True
    assert not watching.ledger().sessions
    for name in ("one", "two"):
        write(tmp_path, name, user("go", timestamp=at(0), uuid=name), reply(f"m-{name}", at(1)))
    archived(tmp_path, tmp_path / "archive").layout.ledger.unlink()  # it is written last
    watching.look_again()
    assert {row.key for row in watching.usage("session").rows} == {"one", "two"}


def test_branches_are_of_their_project(tmp_path: Path) -> None:
    """USE-04: two projects' `main` are two rows."""
    for name, cwd in (("one", "/w/app"), ("two", "/w/site")):
        prompt = user("go", timestamp=at(0), uuid=name, cwd=cwd, gitBranch="main")
        write(tmp_path, name, prompt, reply(f"m-{name}", at(1)))
    found = Archive(tmp_path / "none", (tmp_path,)).usage("branch")
    assert sorted(row.key for row in found.rows) == ["app/main", "site/main"]


# -- whatever there is


def test_subagents_belong_to_their_session(tmp_path: Path) -> None:
    """USE-01: their replies count there, and are shown apart; a repeated line counts once."""
    call = tool_use("t1", "Task", description="look", prompt="look", subagent_type="Explore")
    repeated = reply("sub-2", at(3))
    write(
        tmp_path,
        "main",
        asked("go", at(0)),
        reply("m1", at(1), call),
        {"type": "progress", "data": {"message": reply("sub-1", at(2))}, "timestamp": at(2)},
        {"type": "progress", "data": {"message": repeated}, "timestamp": at(3)},
        tool_result("t1", timestamp=at(4), toolUseResult={"agentId": "abc"}),
    )
    agent = tmp_path / "projects" / "-w-app" / "main" / "subagents" / "agent-abc.jsonl"
    agent.parent.mkdir(parents=True)
    lines = [{**record, "isSidechain": True} for record in (asked("look", at(2)), repeated)]
    agent.write_text("".join(json.dumps(line) + "\n" for line in lines))
    (row,) = Archive(tmp_path / "none", (tmp_path,)).usage("session").rows
    assert (row.key, row.figures.replies) == ("main", 3)
    assert row.subagents is not None and row.subagents.replies == 2


def test_work_counts_once(tmp_path: Path) -> None:
    """USE-05: calls, errors, files, lines, commits and requests; a fork does not do them again."""
    edit = tool_use("t1", "Edit", file_path="/w/app/a.py", old_string="x", new_string="y\nz")
    commit = tool_use("t2", "Bash", command="git commit -m x")
    opens = tool_use("t3", "Bash", command="gh pr create --title 'A title'")
    records = [
        asked("go", at(0)),
        reply("m1", at(1), edit),
        tool_result("t1", timestamp=at(2)),
        reply("m2", at(3), commit),
        tool_result("t2", "[main 1a2b3c4] Fix it", timestamp=at(4)),
        reply("m3", at(5), opens),
        tool_result("t3", "https://github.com/o/r/pull/7", timestamp=at(6)),
        reply("m4", at(7), tool_use("t4", "Bash", command="false")),
        user(
            [{"type": "tool_result", "tool_use_id": "t4", "content": "no", "is_error": True}],
            timestamp=at(8),
        ),
    ]
    write(tmp_path, "first", *records)
    write(tmp_path, "fork", *records, reply("m5", at(9)))
    work = Archive(tmp_path / "none", (tmp_path,)).usage().total.work
    assert work == msgspec.structs.replace(
        work,
        calls=4,
        errors=1,
        tools={"Bash": 3, "Edit": 1},
        files=1,
        lines_added=2,
        lines_removed=1,
        commits=1,
        pull_requests=1,
    )


def test_a_fork_says_what_it_continues(tmp_path: Path) -> None:
    """USE-01: of one session, replies that count elsewhere are named."""
    write(tmp_path, "first", asked("go", at(0)), reply("m1", at(1)))
    write(tmp_path, "fork", asked("go", at(0)), reply("m1", at(1)), reply("m2", at(9)))
    found = Archive(tmp_path / "none", (tmp_path,)).usage("model", session="fork")
    assert (found.total.replies, found.continued) == (1, {"first": 1})


def forked(root: Path) -> Archive:
    """A session of two minutes, a fork of it that goes on for five, and a copy without anything
    of its own."""
    first = [asked("go", at(0)), reply("m1", at(1)), asked("on", at(2)), reply("m2", at(3))]
    write(root, "first", *first)
    write(root, "fork", *first, asked("more", at(10)), reply("m3", at(15)))
    write(root, "later", *first, asked("what?", at(20)))
    return Archive(root / "none", (root,))


def test_a_fork_has_only_the_time_of_what_is_its_own(tmp_path: Path) -> None:
    """USE-03: history that a session copied is not its time, in lists and alone."""
    archive = forked(tmp_path)
    rows = {row.key: row.figures.times for row in archive.usage("session").rows}
    assert {key: times.active_clock for key, times in rows.items() if times} == {
        "first": 180,
        "fork": 300,
    }
    alone = archive.usage("model", session="fork").total.times
    assert alone is not None and (alone.active_clock, alone.own_agent) == (300, 300)


def test_a_session_that_only_copied_has_no_row(tmp_path: Path) -> None:
    """USE-03, USE-04: no row without a reply, with nothing but the time of another session."""
    archive = forked(tmp_path)
    for by in ("session", "engagement"):
        assert "later" not in {row.key.split("/")[0] for row in archive.usage(by).rows}


def test_agents_hours_say_what_of_them_is_copied(tmp_path: Path) -> None:
    """USE-03: the plain sum over sessions is kept beside the time that was really worked."""
    times = forked(tmp_path).usage().total.times
    assert times is not None
    assert (times.agent, times.copied_agent, times.own_agent) == (660, 240, 420)
    assert times.own_agent + times.own_yours == times.active_clock


def test_a_list_counts_copies_where_it_shows_them(tmp_path: Path) -> None:
    """USE-04, UND-08: the session that stands for its copies has what all of them used."""
    records = [asked("go", at(0)), reply("m1", at(1)), asked("on", at(2)), reply("m2", at(3))]
    write(tmp_path, "first", *records)
    write(tmp_path, "whole", *records, asked("more", at(10)), reply("m3", at(15)))
    archive = Archive(tmp_path / "none", (tmp_path,))
    shown = archive.sessions(ghosts=True).sessions
    assert [(session.id, session.copies) for session in shown] == [("whole", ("first",))]
    found = usage_of_list(archive, shown)
    assert [(row.key, row.figures.replies) for row in found.rows] == [("whole", 3)]
    assert cost(found.rows[0].figures) == cost(archive.usage().total)


def archived(root: Path, folder: Path) -> Archive:
    archive = Archive(folder, (root,))
    inscribe(archive, ended=True)
    return Archive(folder, (root,))


def test_a_mixture_counts_all_of_it(tmp_path: Path) -> None:
    """USE-01, ARC-01: archived and gone, archived with a living tail, never archived."""
    gone = write(tmp_path / "claude", "gone", asked("go", at(0)), reply("m1", at(1)))
    living = [asked("go", at(10)), reply("m2", at(11))]
    write(tmp_path / "claude", "living", *living)
    archived(tmp_path / "claude", tmp_path / "archive")
    gone.unlink()
    write(tmp_path / "claude", "living", *living, asked("on", at(12)), reply("m3", at(13)))
    os.utime(tmp_path / "claude" / "projects" / "-w-app" / "living.jsonl")
    write(tmp_path / "claude", "new", asked("go", at(20)), reply("m4", at(21)))
    archive = Archive(tmp_path / "archive", (tmp_path / "claude",))
    rows = {row.key: row.figures.replies for row in archive.usage("session").rows}
    assert rows == {"gone": 1, "living": 2, "new": 1}


def test_a_digest_is_made_again_where_it_is_lost_or_damaged(tmp_path: Path) -> None:
    """USE-01: digests are disposable, private, and never believed when they are broken."""
    write(tmp_path / "claude", "one", asked("go", at(0)), reply("m1", at(1)))
    archive = archived(tmp_path / "claude", tmp_path / "archive")
    wanted = archive.usage().total
    path = Layout(tmp_path / "archive").usage_digest("one")
    known = path.read_bytes()
    assert path.stat().st_mode & 0o077 == 0 and path.parent.stat().st_mode & 0o077 == 0
    other_version = known.replace(b"[%d," % VERSION, b"[999,", 1)
    for damage in (b"", b"[1", other_version.replace(b"m1", b"m9"), b"{}"):
        path.write_bytes(damage)
        assert archive.usage().total == wanted
        assert path.read_bytes() == known
    shutil.rmtree(path.parent)
    assert archive.usage().total == wanted and path.read_bytes() == known


def test_the_digest_of_the_rounds_is_that_of_the_transcript(ingested: Archive) -> None:
    """USE-01: written when a session is inscribed, and made again from its rounds, it is the
    same."""
    layout = ingested.layout
    ids = list(ingested.ledger().sessions)
    written = {id: p.read_bytes() for id in ids if (p := layout.usage_digest(id)).exists()}
    assert written
    shutil.rmtree(layout.usage)
    ingested.usage()
    assert {id: layout.usage_digest(id).read_bytes() for id in written} == written


def test_nothing_is_written_where_there_is_no_archive(tmp_path: Path) -> None:
    """SRCH-22: a first look creates nothing."""
    write(tmp_path / "claude", "one", asked("go", at(0)), reply("m1", at(1)))
    Archive(tmp_path / "archive", (tmp_path / "claude",)).usage()
    assert not (tmp_path / "archive").exists()


def test_ghosts_and_hidden_sessions_count_and_are_said(tmp_path: Path) -> None:
    """USE-06: what lists leave out was used all the same; a hidden session is not named."""
    write(tmp_path / "claude", "ghost", asked("go", at(0)), reply("m1", at(1)))
    archive = archived(tmp_path / "claude", tmp_path / "archive")
    assert archive.usage().ghosts == 1
    archive.say("ghost", said.Hide())
    found = archive.usage("session")
    assert (found.hidden, found.total.replies) == (1, 1)
    assert [row.key for row in found.rows] == ["(hidden)"]
    assert [r.key for r in usage_of(archive, "session", Filters(hidden=True)).rows] == ["ghost"]


def test_ghosts_without_a_reply_are_counted_with_their_row(tmp_path: Path) -> None:
    """USE-06: every ghost that has a row is among those that are said to be included."""
    write(tmp_path, "one", asked("go", at(0)), reply("m1", at(1)))
    write(tmp_path, "two", asked("go", at(2)), asked("on", at(3)))
    found = Archive(tmp_path / "none", (tmp_path,)).usage("session")
    assert len(found.rows) == found.ghosts == 2


# -- marks


ODD: list[tuple[str, dict[str, Any], Callable[[Figures], object]]] = [
    ("an unknown model", {"model": "m-1"}, lambda f: f.cost and f.cost.unpriced == {"m-1": 1}),
    ("a model without a name", {"model": ""}, lambda f: f.cost and f.cost.at_least),
    ("fast mode", {"usage": {**USED, "speed": "fast"}}, lambda f: f.cost and f.cost.dearer == 1),
    ("no end", {"stop_reason": None}, lambda f: f.open_ended == 1),
    ("less than none", {"usage": {**USED, "output_tokens": -5}}, lambda f: f.tokens.output == 0),
    ("too many", {"usage": {**USED, "output_tokens": 10**30}}, lambda f: f.tokens.output == 0),
    ("words", {"usage": {**USED, "output_tokens": "many"}}, lambda f: f.tokens.output == 0),
    ("truth", {"usage": {**USED, "input_tokens": True}}, lambda f: f.tokens.input == 0),
]


@pytest.mark.parametrize(("what", "more", "holds"), ODD, ids=[odd[0] for odd in ODD])
def test_odd_replies_are_marked(
    what: str, more: dict[str, Any], holds: Callable[[Figures], object], tmp_path: Path
) -> None:
    """USE-02, USE-06: a mark, never a crash, never a guess."""
    del what
    write(tmp_path / "claude", "odd", asked("go", at(0)), reply("m1", at(1), **more))
    for archive in (
        Archive(tmp_path / "none", (tmp_path / "claude",)),
        archived(tmp_path / "claude", tmp_path / "archive"),
    ):
        total = archive.usage().total
        assert total.replies == 1 and holds(total)


@pytest.mark.parametrize(
    "stamp", ["1066-10-14T10:00:00Z", "9999-12-31T23:59:59Z", "yesterday", None, 17]
)
def test_clocks_that_jump_are_marked(stamp: Any, tmp_path: Path) -> None:
    """USE-03, USE-06: a time that cannot be is no day's, and takes no time."""
    odd = {**reply("m1", at(1)), "timestamp": stamp}
    write(tmp_path, "odd", asked("go", at(0)), odd, reply("m2", at(2)))
    for by in DIMENSIONS:
        found = Archive(tmp_path / "none", (tmp_path,)).usage(by)
        assert found.total.replies == 2
        assert found.total.times is not None and found.total.times.active_clock <= 600


def test_broken_prices_are_no_prices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """USE-02: where the library's prices are broken, replies are unpriced."""

    def broken(*_: object, **__: object) -> object:
        raise ValueError("Invalid price value")

    monkeypatch.setattr("genai_prices.calc_price", broken)
    write(tmp_path, "one", asked("go", at(0)), reply("m1", at(1)))
    found = Archive(tmp_path / "none", (tmp_path,)).usage()
    assert found.total.cost is not None
    assert found.total.cost.unpriced == {"claude-opus-4-6": 1} and found.total.cost.at_least
    assert any("Unpriced" in remark for remark in found.remarks)


def test_kept_prices_are_believed_of_the_same_library_only(tmp_path: Path) -> None:
    """USE-02: prices that were looked up are kept; others, or broken ones, are looked up again."""
    write(tmp_path / "claude", "one", asked("go", at(0)), reply("m1", at(1)))
    archive = archived(tmp_path / "claude", tmp_path / "archive")
    wanted = archive.usage().total
    kept = archive.layout.prices
    known = json.loads(kept.read_bytes())
    for odd in (b"", b"{}", json.dumps({**known, "library": "old", "prices": {}}).encode()):
        kept.write_bytes(odd)
        assert archive.usage().total == wanted
    assert json.loads(kept.read_bytes()) == known


def test_recorded_costs_stand_beside(tmp_path: Path) -> None:
    """USE-02: what the agent recorded is told, and not mixed in."""
    record = {**reply("m1", at(1)), "costUSD": 12.5}
    write(tmp_path, "one", asked("go", at(0)), record)
    total = Archive(tmp_path / "none", (tmp_path,)).usage().total
    assert total.cost is not None
    assert total.cost.recorded_usd == 12.5 and total.cost.usd < 0.01


def test_names_are_masked(tmp_path: Path) -> None:
    """ARC-06: a key that got into a branch, a model's or a tool's name does not get out."""
    key = "sk-ant-" + "api03-" + "Zq7RtYp2LmKd9WvXc4Hb8NsG3fJa6TuE1oQi5BzyUr0"
    write(
        tmp_path,
        "one",
        user("go", timestamp=at(0), uuid="p", cwd="/w/app", gitBranch=key),
        reply("m1", at(1), tool_use("t1", key), model=key),
    )
    archive = Archive(tmp_path / "none", (tmp_path,))
    for by in DIMENSIONS:
        assert key not in str(msgspec.to_builtins(archive.usage(by)))


def test_an_unknown_dimension_is_refused(tmp_path: Path) -> None:
    """A sentence that lists the dimensions."""
    with pytest.raises(BadArgument, match="day, week, month"):
        Archive(tmp_path, (tmp_path,)).usage("year")


def test_an_archive_of_the_first_release_says_what_it_cannot_know(tmp_path: Path) -> None:
    """USE-06: its replies count; how long writes are held, and the times, are marked unknown."""
    with tarfile.open(FIRST_RELEASE) as packed:
        packed.extractall(tmp_path, filter="data")
    shutil.rmtree(tmp_path / "claude")
    (tmp_path / "claude").mkdir()
    found = Archive(tmp_path / "archive", (tmp_path / "claude",)).usage()
    assert found.total.replies == found.total.thin > 0
    assert found.timeless > 0 and found.total.tokens.cache_write_1h == 0
    assert any("first release" in remark for remark in found.remarks)


def test_replies_without_ids_are_each_their_own(tmp_path: Path) -> None:
    """USE-01: what has no id is never the same as something else, in this session or another."""
    for name in ("one", "two"):
        records = [asked("go", at(0))]
        for minute in (1, 2):
            record = reply("m", at(minute))
            del record["message"]["id"], record["uuid"]
            records.append(record)
        write(tmp_path / "claude", name, *records)
    for archive in (
        Archive(tmp_path / "none", (tmp_path / "claude",)),
        archived(tmp_path / "claude", tmp_path / "archive"),
    ):
        total = archive.usage().total
        assert total.replies == 4 and total.tokens.output == 4 * USED["output_tokens"]  # type: ignore[operator]


def test_a_round_whose_times_are_none_is_of_no_first_release(tmp_path: Path) -> None:
    """USE-06: a time that nobody can read leaves no clock, and nothing else follows from it."""
    write(tmp_path, "one", asked("go", "yesterday"), reply("m1", "later"))
    found = Archive(tmp_path / "none", (tmp_path,)).usage()
    assert (found.total.replies, found.total.thin, found.timeless) == (1, 0, 1)
    assert any("no recorded times" in remark for remark in found.remarks)
