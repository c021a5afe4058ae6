"""search, stats, similar, semantic: what a person and a program see (SRCH-01 … SRCH-15)."""

from __future__ import annotations

import json
import shutil
import sqlite3
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from minutebook.cli.terminal import width
from minutebook.index.query import span
from tests.archive.test_operations import put
from tests.cli.conftest import Run
from tests.cli.test_process import in_terminal
from tests.cli.test_verbs import golden
from tests.conftest import assistant, user


@pytest.fixture(scope="session")
def archive(examples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The examples, ingested."""
    import minutebook

    folder = tmp_path_factory.mktemp("search-archive")
    minutebook.ingest(examples, archive=folder, extractor="offline")
    return folder


@pytest.fixture
def places(examples: Path, archive: Path) -> list[str]:
    return ["--root", str(examples), "--archive", str(archive)]


def hits(run: Run, *args: object) -> list[dict[str, Any]]:
    ran = run("search", *args, "--json")
    assert ran.status == 0, ran.err
    document = json.loads(ran.out)
    assert document["version"] == 1
    found: list[dict[str, Any]] = document["hits"]
    return found


@pytest.mark.parametrize("columns", [80, 200])
def test_hits_fit_the_terminal(run: Run, places: list[str], columns: int) -> None:
    """Date, name, project, method, phase, topic, snippet, how to open it; at 80 and 200."""
    ran = run("search", "passkey login", *places, columns=columns)
    assert ran.status == 0
    assert max(width(line) for line in ran.out.splitlines()) <= columns
    golden(f"search-{columns}.txt", ran.out)
    run("search", "passkey login", *places)
    assert "ndex" not in run("search", "passkey login", *places).err


def test_the_json_is_pinned(run: Run, places: list[str], archive: Path) -> None:
    """SRCH-15: versioned and documented; the golden is its shape."""
    args = ["search", "integrity check", *places, "--mode", "lexical", "--limit", "1", "--json"]
    run(*args)  # the index is up to date
    text = run(*args).out.replace(str(archive), "ARCHIVE")
    document = json.loads(text)
    document["fresh_at"] = 0
    document["hits"][0] |= {"score": 0, "row": 0}
    golden("search.json", json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def test_every_list_says_how_many_there_are(run: Run, places: list[str]) -> None:
    """SRCH-16: `search -m build` prints so many of so many, and how to see the rest."""
    for words in ([], ["the"]):
        seen: list[tuple[str, int]] = []
        total = 0
        for page in range(1, 20):
            ran = run("search", *words, *places, "--limit", "2", "--page", page, "--json")
            document = json.loads(ran.out)
            total = document["total"]
            seen += [(hit["session_id"], hit["round"]) for hit in document["hits"]]
            if len(seen) >= total:
                break
        assert len(seen) == len(set(seen)) == total > 4
        whole = hits(run, *words, *places, "--limit", "100")
        assert seen == [(hit["session_id"], hit["round"]) for hit in whole]
        assert (
            f"1–2 of {total}. More: --page 2." in run("search", *words, *places, "--limit", "2").err
        )
        beyond = run("search", *words, *places, "--page", "99")
        assert f"There are {total} hits, so no page 99." in beyond.err and not beyond.out


@pytest.mark.parametrize("words", [[], ["fence"]])
def test_ten_hits_and_the_footer_fit_a_small_terminal(
    run: Run, tmp_path: Path, words: list[str]
) -> None:
    """SRCH-19: at 80x24 the first hit is on screen when the last line is written."""
    for number in range(14):
        name = f"{number:08}-2222-4333-8444-555555555555"
        said = f"Please mend the fence of orchard {number} " * (1 if number > 11 else 30)
        prompts = range(1 if number > 11 else 6)
        records = [
            record
            for place in prompts
            for record in (
                user(said, uuid=f"{number}-{place}-u", cwd="/w"),
                assistant(
                    "Mended the fence. " * 9, id=f"{number}-{place}", uuid=f"{number}-{place}-a"
                ),
            )
        ]
        put(tmp_path / "p", *records, name=name)
    places = ["--root", str(tmp_path / "p"), "--archive", str(tmp_path / "archive")]
    assert run("ingest", "--extractor", "offline", *places).status == 0
    run("search", *words, *places)
    ran = run("search", *words, *places, columns=80)
    lines = [*ran.out.splitlines(), *ran.err.splitlines()]
    assert ran.out.count("\n") == 20 and len(ran.err.splitlines()) == 1
    assert "1–10 of " in ran.err and ". More: --page 2." in ran.err
    assert bool(words) != ("Left out: 2 ghosts (--ghosts)." in ran.err)
    assert sum(max(1, -(-width(line) // 80)) for line in lines) <= 23


def test_a_list_tells_topics(run: Run, places: list[str]) -> None:
    """SRCH-19: without words the second line is method, phase and topic; -v adds the outcome."""
    listed = hits(run, *places)
    ran = run("search", *places, columns=200)
    for hit, line in zip(listed, ran.out.splitlines()[1::2], strict=True):
        engagement = hit["engagement"]
        assert line.startswith(f"  {engagement['method']}, {engagement['phase']}: ")
        assert engagement["topic"][:40] in line
    assert "  : " not in ran.out
    assert "  outcome: " in run("search", *places, "-v").out


def test_a_list_of_rounds_that_is_empty_speaks_of_rounds(run: Run, places: list[str]) -> None:
    """SRCH-17: `--command` lists rounds, not engagements."""
    ran = run("search", "--command", "florble snozzwanger", *places)
    assert ran.status == 0 and "No round passes these filters." in ran.err
    assert "No engagement" not in ran.err


def test_the_newest_can_come_first(run: Run, places: list[str]) -> None:
    """SRCH-11: with words by relevance, unless --sort date; the same conversations."""
    best = hits(run, "login", *places, "--limit", "100")
    newest = hits(run, "login", *places, "--limit", "100", "--sort", "date")
    assert [hit["at"] for hit in newest] == sorted((h["at"] for h in newest), reverse=True)
    assert {h["session_id"] for h in newest} <= {h["session_id"] for h in best}
    assert {h["session_id"] for h in best} <= {
        id for h in newest for id in (h["session_id"], "3a4d64e0-b51c-589c-948b-4beab5869bb6")
    }  # the fork goes on longer


@pytest.mark.parametrize("words", ["passkey login", "migrate atlas", "ontology", "password form"])
def test_you_is_only_what_somebody_said(run: Run, places: list[str], words: str) -> None:
    """SRCH-19: titles, topics and outcomes are labels; nobody is quoted with them."""
    sides = set()
    for hit in hits(run, words, *places, "--mode", "lexical"):
        sides.add(hit["side"])
        if hit["side"] == "asked":
            shown = run("show", f"{hit['session_id']}#{hit['round']}", *places, "--json")
            (found,) = json.loads(shown.out)["rounds"]
            said = " ".join(json.dumps(found["messages"][0], ensure_ascii=False).split())
            assert hit["snippet"]["text"].strip("… ")[:40] in said
    labels = {"topic", "outcome", "decision", "title", "summary", "project"}
    assert sides <= {"asked", "answered", *labels}


@pytest.mark.parametrize("outcome", ["Zymurgy: a failing build is found early.", ""])
def test_a_decision_is_shown_as_one(
    run: Run, examples: Path, archive: Path, tmp_path: Path, outcome: str
) -> None:
    """SRCH-19: outcome and decisions are labels of their own; each stands alone, whether words or
    a meaning were looked for."""
    shutil.copytree(archive, tmp_path / "archive")
    own = ["--root", str(examples), "--archive", str(tmp_path / "archive")]
    fix = "Fix the failing unit tests before deployment to production"
    decisions = f"key_decisions={fix};Numbats stay"
    run("correct", "Reed", "1", "topic=X", f"outcome={outcome}", decisions, *own)
    assert "  decision: Numbats stay\n" in run("search", "numbats", *own).out

    def told(words: str, *options: str) -> list[tuple[str, str]]:
        found = hits(run, words, "--in", "engagements", *options, *own)
        return [(h["side"], h["snippet"]["text"]) for h in found if h["agent"] == "Reed"]

    for side in ("both", "answered"):
        lexical = ("--mode", "lexical", "--side", side)
        assert told("zymurgy", *lexical) == ([("outcome", outcome)] if outcome else [])
        assert told("deployment", *lexical) == [("decision", fix)]
        assert told("numbats", *lexical) == [("decision", "Numbats stay")]
    first = ("outcome", outcome) if outcome else ("decision", fix)
    assert told("repair broken checks ahead of release", "--mode", "semantic") == [first]


def test_filters_and_order(run: Run, places: list[str]) -> None:
    """SRCH-02, SRCH-03, SRCH-04, SRCH-05, SRCH-06, SRCH-07, SRCH-08, SRCH-11: each filter
    alone, all at once, newest first and stable."""
    everything = hits(run, *places, "--limit", "100")
    days = [hit["at"] for hit in everything]
    assert days == sorted(days, reverse=True) and len(days) == 8
    assert hits(run, *places, "--limit", "100") == everything
    build = hits(run, *places, "-m", "build")
    assert {hit["engagement"]["method"] for hit in build} == {"build"}
    assert {hit["project"] for hit in hits(run, *places, "-p", "ATLAS")} == {"/home/mara/atlas"}
    assert {hit["agent"] for hit in hits(run, *places, "-a", "reed")} == {"Reed"}
    day = hits(run, *places, "-d", "2026-03-02")
    assert day and all(hit["at"].startswith("2026-03-02") for hit in day)
    assert hits(run, *places, "-m", "build", "-d", "2026-03-11") == []
    assert hits(run, *places, "--today") == [] and hits(run, *places, "-w") == []
    since = hits(run, *places, "--since", "2026-03-10", "--until", "2026-03-13")
    assert {hit["at"][:10] for hit in since} == {"2026-03-11", "2026-03-13"}
    assert hits(run, *places, "passkey", "-m", "build", "-p", "orchard")


def test_a_filter_may_be_said_twice_and_a_phase_of_older_records_named(
    run: Run, places: list[str]
) -> None:
    """SRCH-08, SRCH-02: the same value again changes nothing; `monitoring` is a phase, too."""
    twice = hits(run, *places, "-m", "build", "--method", "build")
    assert twice == hits(run, *places, "-m", "build") and len(twice) == 1
    assert hits(run, *places, "--phase", "monitoring") == []


def test_ghosts_only_when_asked_for(run: Run, places: list[str]) -> None:
    """SRCH-10: hidden, counted, and shown with --ghosts."""
    plain = run("search", *places)
    assert "Left out: 1 ghost (--ghosts)" in plain.err
    assert len(hits(run, *places, "--ghosts", "--limit", "100")) == 9


def test_where_and_side(run: Run, places: list[str]) -> None:
    """Engagements, turns, or all; what was asked, or what was answered."""
    turns = hits(run, "passkey", *places, "--in", "turns")
    assert {hit["kind"] for hit in turns} == {"turn"}
    engaged = hits(run, "passkey", *places, "--in", "engagements")
    assert {hit["kind"] for hit in engaged} == {"engagement"}
    asked = hits(run, "authenticator", *places, "--side", "asked", "--mode", "lexical")
    assert asked and asked[0]["side"] == "asked"
    assert hits(run, "authenticator", *places, "--side", "answered", "--mode", "lexical") == []


@pytest.mark.parametrize("mode", ["lexical", "semantic", "hybrid"])
def test_a_hit_can_be_opened(run: Run, places: list[str], mode: str, examples: Path) -> None:
    """Every mode finds the session, and the address it gives is one that `show` takes."""
    hit = hits(run, "Settle the ontology of places", *places, "--mode", mode)[0]
    shown = run("show", f"{hit['session_id'][:8]}#{hit['round']}", "--root", examples)
    assert shown.status == 0 and hit["resumable"]


def test_nothing_found_says_so(run: Run, places: list[str]) -> None:
    """SRCH-14: a clear message, no neighbours for nonsense."""
    ran = run("search", "florble snozzwanger", *places)
    assert (ran.status, ran.out) == (0, "")
    assert "Nothing found for 'florble snozzwanger'" in ran.err


def test_bad_input_is_one_sentence(run: Run, places: list[str], tmp_path: Path) -> None:
    """SRCH-02, SRCH-14: unknown method, impossible dates, no index."""
    for args, words in (
        (["-m", "magic"], "one of review, write, design"),
        (["--phase", "nonsense"], "'nonsense' is not a phase; choose one of started, in-progress"),
        (["-m", "build", "-m", "debug"], "two values for --method: 'build' and 'debug'"),
        (["-p", "atlas", "--project", "orchard"], "two values for --project"),
        (["-a", "Reed", "-a", "Wren"], "two values for --agent"),
        (["--branch", "a", "--branch", "b"], "two values for --branch"),
        (["--model", "a", "--model", "b"], "two values for --model"),
        (["--phase", "blocked", "--phase", "started"], "two values for --phase"),
        (["-d", "2026-02-31"], "is not a date"),
        (["--since", "2026-03-01", "-d", "2026-01-01"], "These dates contradict each other"),
        (["--since", "2026-03-01", "--until", "2026-01-01"], "no day: 2026-01-01 is before"),
        (['"" -- ()'], "has no word in it"),
        (["x", "--in", "elsewhere"], "elsewhere"),
    ):
        ran = run("search", *args, *places)
        assert (ran.status, words in ran.err) == (2, True), (args, ran.err)
    ran = run("search", "x", "--no-refresh", "--archive", tmp_path)
    assert ran.status == 2 and "no search index yet" in ran.err
    ran = run("stats", "--archive", tmp_path)
    assert ran.status == 2 and "minutebook ingest" in ran.err
    ran = run("semantic", "use", tmp_path / "nothing", "--archive", tmp_path)
    assert ran.status == 2 and "tokenizer.json" in ran.err


@pytest.mark.parametrize("columns", [80, 200])
def test_stats(run: Run, places: list[str], columns: int) -> None:
    """SRCH-09: counts by method, project, agent, phase and day of what passes the filters."""
    ran = run("stats", *places, columns=columns)
    golden(f"stats-{columns}.txt", ran.out)
    assert run("search", "-s", *places, columns=columns).out == ran.out
    document = json.loads(run("stats", *places, "-m", "build", "--json").out)["stats"]
    assert document["engagements"] == document["methods"]["build"] == 1


def test_stats_without_minutes_lead_to_ingest(run: Run, places: list[str], tmp_path: Path) -> None:
    """SRCH-09: also where a person has spoken of sessions that have none."""
    copied = shutil.copytree(places[3], tmp_path / "copied")
    run("correct", "star", "Reed", "--archive", copied)
    (copied / "sessions" / "engagements.jsonl").unlink()
    ran = run("stats", "--archive", copied)
    assert (ran.status, ran.out) == (2, "") and "`minutebook ingest` finds them" in ran.err


def test_stats_draw_days_on_a_terminal(places: list[str]) -> None:
    """A bar a day, where somebody looks; methods in their colours (SRCH-12)."""
    seen = in_terminal(["stats", *places], COLUMNS="100")
    assert any(bar in seen for bar in "▁▂▃▄▅▆▇█") and "\x1b[" in seen
    plain = in_terminal(["search", "passkey", *places], COLUMNS="100", NO_COLOR="1")
    assert "\x1b[" not in plain


def test_more_like_this(run: Run, places: list[str]) -> None:
    """`similar`: other sessions only, nearest first."""
    ran = run("similar", "3a4d64e0#1", *places, "--json")
    found = json.loads(ran.out)["hits"]
    assert found[0]["session_id"].startswith("7c8fc3ae")
    assert all(not hit["session_id"].startswith("3a4d64e0") for hit in found)
    assert run("similar", "3a4d64e0#99", *places).status == 2


def test_semantic_says_how_far_it_is(run: Run, places: list[str], archive: Path) -> None:
    """Which embedder, how many entries; `embed` finishes the rest."""
    run("search", "passkey", *places)
    done = run("semantic", "embed", "--archive", archive)
    assert "embedded" in done.out
    state = json.loads(run("semantic", "status", "--archive", archive, "--json").out)["state"]
    assert state["choice"]["kind"] == "static" and state["waiting"] == 0
    assert "static" in run("semantic", "use", "static", "--archive", archive).out


def test_a_refresh_sees_what_changed(run: Run, tmp_path: Path, examples: Path) -> None:
    """Every answer says how fresh it is; --no-refresh leaves the index alone."""
    config = tmp_path / "config"
    source = next(examples.glob("projects/*/3a4d64e0*.jsonl"))
    copy = config / "projects" / "p" / source.name
    copy.parent.mkdir(parents=True)
    copy.write_bytes(source.read_bytes())
    (tmp_path / "archive").mkdir()
    places = ["--root", str(config), "--archive", str(tmp_path / "archive")]
    first = run("search", "passkey", *places, "--mode", "lexical")
    assert "1 session updated" in first.err
    line = json.loads(source.read_text().splitlines()[0])
    line |= {"uuid": "new", "timestamp": datetime.now().astimezone().isoformat()}
    line["message"]["content"] = "A brand new zebra request"
    copy.write_text(copy.read_text() + json.dumps(line) + "\n")
    stale = run("search", "zebra", *places, "--mode", "lexical", "--no-refresh")
    assert "Nothing found" in stale.err and "0 minutes" not in stale.err
    database = next((tmp_path / "archive").glob("**/search.db"))
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE facts SET value = value - 7200 WHERE name = 'refreshed'")
    stale = run("search", "zebra", *places, "--mode", "lexical", "--no-refresh")
    assert "Index: 120 minutes old (--no-refresh)." in stale.err
    assert "zebra" in run("search", "zebra", *places, "--mode", "lexical").out


def test_a_hyphen_leaves_a_word_out(run: Run, places: list[str]) -> None:
    """`search login -redirect` as people type it, also where letters are options."""
    for word in ("-passkey", "-password", "-matters"):
        out = run("search", "login", word, *places, "--mode", "lexical").out.lower()
        assert word[1:] not in "".join(line for line in out.splitlines() if "you:" in line)
    assert hits(run, "login", "-m", "build", *places)


def test_filters_in_the_query_and_beside_it_all_count(run: Run, places: list[str]) -> None:
    """SRCH-08: a second filter never replaces the first."""
    days = hits(
        run, "after:2026-01-01 login", "--since", "2026-03-03", *places, "--mode", "lexical"
    )
    assert all(hit["at"] >= "2026-03-03" for hit in days)
    clash = run("search", "-m", "build", "method:debug", *places)
    assert clash.status == 2 and "two values for method" in clash.err
    stats = json.loads(run("search", "-s", "method:build", *places, "--json").out)["stats"]
    assert set(stats["methods"]) == {"build"}
    some = json.loads(run("search", "-s", "passkey", *places, "--json").out)["stats"]
    assert 0 < some["engagements"] < 9
    for args in (["--has-tools"], ["login", "--in", "engagements", "--has-tools"]):
        ran = run("search", *args, *places)
        assert ran.status == 2 and "about rounds" in ran.err


def test_words_are_looked_for_in_ghosts_too(run: Run, places: list[str]) -> None:
    """SRCH-10: what was said is found wherever it was said."""
    listed = json.loads(run("sessions", "--ghosts", "--json", *places).out)["sessions"]
    (ghost,) = [row["id"] for row in listed if row["ghost"]]
    query = f"session:{ghost[:8]} hi"
    assert [hit["session_id"] for hit in hits(run, query, *places, "--mode", "lexical")] == [ghost]


def test_agent_and_date_together(run: Run, places: list[str]) -> None:
    """A turn of an engagement that began earlier is found by its own date."""
    last = hits(run, "flag", "-p", "orchard", "--since", "2026-03-03", *places, "--mode", "lexical")
    assert last and last[0]["at"] >= "2026-03-03"
    assert hits(run, "triggers index", "-a", "Reed", "--since", "2026-03-04", *places)


def test_an_embedder_that_is_gone_leaves_words(run: Run, examples: Path, tmp_path: Path) -> None:
    """Hybrid falls back, and says so; semantic is an error."""
    (tmp_path / "sessions").mkdir()
    gone = '{"kind": "onnx", "where": "/gone", "model": ""}'
    (tmp_path / "sessions" / "semantic.json").write_text(gone)
    places = ["--root", str(examples), "--archive", str(tmp_path)]
    ran = run("search", "passkey", *places)
    assert ran.status == 0 and "words only" in ran.err and "passkey" in ran.out
    assert run("search", "passkey", "--mode", "semantic", *places).status == 2


def test_a_second_search_answers_from_what_there_is(
    run: Run, places: list[str], archive: Path
) -> None:
    """While somebody else refreshes, the index is used as it is, and that is said."""
    from minutebook.record.store import writing

    assert run("search", "passkey", *places, "--mode", "lexical").status == 0
    with writing(archive / ".search.lock", "search"):
        ran = run("search", "passkey", *places, "--mode", "lexical")
    assert ran.status == 0 and "passkey" in ran.out
    assert "could not be brought up to date now" in ran.err


def test_a_gone_transcript_is_read_in_its_inscription(
    run: Run, examples: Path, tmp_path: Path
) -> None:
    """The hit names the document, which can be opened."""
    import minutebook

    archive = tmp_path / "archive"
    minutebook.ingest(examples, archive=archive, extractor="offline")
    run("inscribe", "--all", "--ended", "--root", examples, "--archive", archive)
    empty = tmp_path / "empty"
    (empty / "projects").mkdir(parents=True)
    hit = hits(run, "passkey", "--root", empty, "--archive", archive, "--mode", "lexical")[0]
    assert not hit["resumable"] and Path(hit["document"]).is_file()


def test_titles_are_found(run: Run, places: list[str]) -> None:
    """CORP-13: a session's title is a surface, one a session."""
    found = hits(run, "Migrate atlas to SQLite", *places, "--mode", "lexical")
    assert found[0]["session_id"].startswith("a9fcfc80")
    assert [hit["session_id"] for hit in found].count(found[0]["session_id"]) == 1


def test_the_week_is_monday_to_sunday(run: Run, places: list[str]) -> None:
    """SRCH-06, SRCH-07: today and this week in local time, seven whole days from a Monday."""
    start, end = (datetime.fromtimestamp(moment).astimezone() for moment in span("this week"))
    assert start.weekday() == 0 and (start.hour, start.minute) == (0, 0)
    assert (end.date() - start.date()).days == 7
    assert start <= datetime.now().astimezone() < end
    assert run("search", "--today", *places).status == 0
