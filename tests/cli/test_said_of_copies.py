"""A person's word on a conversation that has copies: said of one, said of all (UND-07, UND-08)."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request

from minutebook import said
from minutebook.archive import Archive
from minutebook.archive.finding import search
from minutebook.archive.refreshing import refresh
from minutebook.archive.threads import threads
from minutebook.derive.copies import mere_copies
from minutebook.errors import NotFound
from minutebook.extract.offline import OfflineExtractor
from minutebook.index.query import Filters, Query
from minutebook.mcp.tools import Tools
from minutebook.model import SessionInfo
from minutebook.model.engagement import Engagement, SessionRecord
from minutebook.model.said import SESSION_FIELDS, Statement
from minutebook.verbs.check_archive import check_archive
from minutebook.verbs.ingest import ingest
from minutebook.verbs.stats import stats
from minutebook.web.api import engagements, sessions
from minutebook.web.mending import mend_page
from minutebook.web.said import listed as said_listed
from minutebook.web.session import session_page
from minutebook.web.state import ServerState
from tests.archive.test_operations import put
from tests.cli.conftest import Run
from tests.extract.test_copies import FIRST, FORK, OTHER, rounds

EVERY = (FIRST, FORK, OTHER)


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    """A conversation of four rounds, a fork that went its own way, and one that went on."""
    for name, own in (
        (FIRST, []),
        (FORK, rounds(3, own="fork", start=5)),
        (OTHER, rounds(1, start=5)),
    ):
        put(tmp_path / "p", *rounds(4), *own, name=name)
    found = Archive(tmp_path / "archive", (tmp_path / "p",))
    ingest(found, OfflineExtractor(), ended=True)
    return found


def shared(archive: Archive) -> dict[str, Engagement]:
    """The engagement that all begin with, in each of them."""
    return {id: archive.record(id).engagements[0] for id in EVERY}


SAID: dict[str, tuple[Statement, Callable[[Engagement], object], object]] = {
    "topic": (said.Set("1", values={"topic": "Said"}), lambda e: e.topic, "Said"),
    "method": (said.Set("1", values={"method": "deploy"}), lambda e: e.method, "deploy"),
    "star": (said.Star("1"), lambda e: e.starred, True),
    "hide": (said.Hide("1"), lambda e: e.hidden, True),
    "note": (said.Note("1", text="see there"), lambda e: e.note, "see there"),
    "thread": (said.Thread("1", name="mine"), lambda e: e.said_thread, "mine"),
    "split": (said.Split("1", round=3), lambda e: e.turn_range, (1, 2)),
    "move": (said.Move("1", first=1, last=3), lambda e: e.turn_range, (1, 3)),
    "range": (said.Set("1", values={"turn_range": (1, 3)}), lambda e: e.turn_range, (1, 3)),
}


@pytest.mark.parametrize("kind", SAID)
@pytest.mark.parametrize("spoken_of", EVERY, ids=("first", "fork", "other"))
def test_what_is_said_of_one_is_said_of_its_copies(
    archive: Archive, kind: str, spoken_of: str
) -> None:
    """UND-07, UND-08: whichever of them a person named; undone, it is gone from all of them."""
    before = shared(archive)
    statement, of, expected = SAID[kind]
    archive.say(spoken_of, statement)
    assert {id: of(e) for id, e in shared(archive).items()} == dict.fromkeys(EVERY, expected)
    assert check_archive(archive) == []
    archive.say("", said.Undo())
    assert shared(archive) == before


def test_a_join_holds_in_every_copy(archive: Archive) -> None:
    """UND-07, UND-08: parts that all have; with what only one has, it is that one's alone."""
    made = archive.say(FIRST, said.Split("1", round=3)).made
    assert made is not None
    archive.say(FORK, said.Join("1", other=made.id))
    assert {id: e.turn_range[1] >= 4 for id, e in shared(archive).items()} == dict.fromkeys(
        EVERY, True
    )
    own = archive.say(FORK, said.Split("1", round=5)).made
    assert own is not None
    before = archive.record(FIRST), archive.record(OTHER)
    archive.say(FORK, said.Join("1", other=own.id))
    assert (archive.record(FIRST), archive.record(OTHER)) == before
    assert archive.record(FORK).engagements[0].turn_range == (1, 7)


def test_what_is_said_of_own_rounds_stays_there(archive: Archive) -> None:
    """UND-08: rounds after the fork are nobody else's."""
    before = archive.record(FIRST), archive.record(OTHER)
    own = archive.say(FORK, said.Split("1", round=5)).made
    assert own is not None
    archive.say(FORK, said.Hide(own.id))
    assert (archive.record(FIRST), archive.record(OTHER)) == before


def test_the_last_word_wins_whichever_copy_it_was_said_of(archive: Archive) -> None:
    """UND-07: in the order of the file; what was said of another field before stays."""
    archive.say(FIRST, said.Set("1", values={"topic": "One", "phase": "blocked"}))
    archive.say(FORK, said.Set("1", values={"topic": "Two"}))
    assert {(e.topic, e.phase) for e in shared(archive).values()} == {("Two", "blocked")}
    archive.say(FIRST, said.Set("1", values={"topic": "Three"}))
    assert {e.topic for e in shared(archive).values()} == {"Three"}
    archive.say(FIRST, said.Undo())
    assert {e.topic for e in shared(archive).values()} == {"Two"}


def test_a_tag_holds_in_every_copy(archive: Archive) -> None:
    """DB-07, UND-08: the rounds that are shared belong to it everywhere; once it is taken off,
    nowhere."""
    from minutebook.verbs.tag import tag

    tag(archive, FORK, "2-3", "by-hand")
    for id in EVERY:
        found = {e.id: e.ranges for e in archive.record(id).engagements}
        assert found["by-hand"] == ((2, 3),)
    tag(archive, OTHER, "2-3", "-")
    assert [e.id for id in EVERY for e in archive.record(id).engagements if e.tagged] == []


FRONTS: dict[str, Callable[[Archive, Run, list[str]], str]] = {
    "library": lambda a, _r, _p: str(search(a, Query()).hits),
    "search": lambda _a, run, places: run("search", "-v", "--limit", "99", *places).out,
    "index page": lambda a, _r, _p: a.layout.engagements_index.read_text(),
    "MCP": lambda a, _r, _p: Tools(a).engagements(limit=99),
    "API": lambda a, _r, _p: str(asked(a, engagements)),
    "report": lambda _a, run, places: run("report", "--date", "2026-03-01", *places).out,
}


def asked(archive: Archive, page: Any, **params: str) -> Any:
    state = ServerState(archive.root, archive.places)
    request: Any = type("Request", (), {"query_params": params})()
    return json.loads(bytes(page(state, request).body))


def places_of(archive: Archive) -> list[str]:
    return ["--root", str(archive.places[0]), "--archive", str(archive.root)]


@pytest.mark.parametrize("front", FRONTS)
def test_what_is_hidden_does_not_come_up_in_a_copy(archive: Archive, run: Run, front: str) -> None:
    """UND-07, UND-08: whichever of the copies was shown, none is in its place; one with the
    person's topic, where it is not hidden."""
    places, topic = places_of(archive), "A topic that only a person gives"
    archive.say(FIRST, said.Set("1", values={"topic": topic}))
    assert FRONTS[front](archive, run, places).count(topic) >= 1
    (shown, *_) = [
        h for h in search(archive, Query()).hits if h.engagement and h.engagement.topic == topic
    ]
    archive.say(shown.session_id, said.Hide("1"))
    assert topic not in FRONTS[front](archive, run, places)


def test_what_is_hidden_counts_once(archive: Archive, run: Run) -> None:
    """UND-08, SRCH-16: one engagement is hidden, and every front end says so."""
    archive.say(FORK, said.Hide("1"))
    assert search(archive, Query()).hidden == 1
    assert search(archive, Query(filters=Filters(copies=True))).hidden == 3
    assert stats(archive, Query()).hidden == 1
    assert "1 hidden engagement (" in archive.layout.engagements_index.read_text()
    assert "1 engagement that a person hid" in Tools(archive).engagements()
    assert "1 that you hid (--hidden)" in run("search", *places_of(archive)).err
    assert asked(archive, engagements)["hidden"] == 1


def test_it_holds_after_another_extraction(archive: Archive, tmp_path: Path) -> None:
    """ING-33, UND-08: extracted again, with the transcripts gone, with other ids."""
    archive.say(FORK, said.Hide("1"))
    archive.say(OTHER, said.Thread("1", name="mine"))
    for path in (tmp_path / "p").iterdir():
        path.unlink()
    now = Archive(archive.root, archive.places)
    ingest(now, OfflineExtractor(), again=True, ended=True)
    assert {(e.hidden, e.said_thread) for e in shared(now).values()} == {(True, "mine")}
    content = now.layout.engagements.read_text()
    ids = {e.id for record in now.minutes.stored().values() for e in record.engagements[:1]}
    for id in ids:
        content = content.replace(f'"{id}"', '"another-id"')
    now.layout.engagements.write_text(content)
    now = Archive(archive.root, archive.places)
    assert {e.id for e in shared(now).values()} == {"another-id"}
    assert {(e.hidden, e.said_thread) for e in shared(now).values()} == {(True, "mine")}
    assert [t for t in threads(now).every if t.named] == []  # hidden work is in no thread


# -- sessions


def info(id: str, *prompts: str, rounds: int = 0, ended: str = "") -> SessionInfo:
    ids = tuple(prompt * 16 for prompt in prompts)
    return SessionInfo(
        id=id, source="x", rounds=rounds or len(ids), prompt_ids=ids, ended=ended or None
    )


def test_only_what_another_session_has_in_full_is_a_mere_copy() -> None:
    """UND-08: a fork with a prompt of its own is none; of equals the more complete stands; ids
    that are numbers, and sessions without prompts, say nothing."""
    found = mere_copies(
        [
            info("part", "a", "b"),
            info("whole", "a", "b", "c"),
            info("fork", "a", "b", "d"),
            info("same", "a", "b", "c", ended="2026"),
            info("tail", "b", "c"),
            info("empty"),
            SessionInfo(id="one", source="x", prompt_ids=("1", "2")),
            SessionInfo(id="two", source="x", prompt_ids=("1", "2", "3")),
        ]
    )
    assert found == {"part": "same", "whole": "same", "tail": "same"}


def by_library(archive: Archive, _run: Run) -> tuple[list[str], int, int]:
    found = archive.sessions()
    return [s.id for s in found.sessions], found.total, found.copies_hidden


def by_cli(archive: Archive, run: Run) -> tuple[list[str], int, int]:
    found = json.loads(run("sessions", "--json", *places_of(archive)).out)
    return [s["id"] for s in found["sessions"]], found["total"], found["copies_hidden"]


def by_api(archive: Archive, _run: Run) -> tuple[list[str], int, int]:
    found = asked(archive, sessions)
    return [s["session_id"] for s in found["sessions"]], found["total"], found["copies_hidden"]


@pytest.mark.parametrize("listed", [by_library, by_cli, by_api])
def test_a_mere_copy_is_not_listed(
    archive: Archive, run: Run, listed: Callable[[Archive, Run], tuple[list[str], int, int]]
) -> None:
    """UND-08, SRCH-16: each conversation once, the most complete; a fork that went its own way is
    another; what is left out is counted, before and after the transcripts are gone."""
    assert listed(archive, run) == ([FORK, OTHER], 2, 1)
    for path in archive.places[0].iterdir():
        path.unlink()
    assert listed(Archive(archive.root, archive.places), run) == ([FORK, OTHER], 2, 1)


def test_copies_are_named_and_can_be_asked_for(archive: Archive, run: Run) -> None:
    """UND-08, SRCH-16: in text, in JSON, in the viewer; a filter that only a copy passes has it."""
    places = places_of(archive)
    assert [s.copies for s in archive.sessions().sessions] == [(FIRST,), ()]
    assert {s.id for s in archive.sessions(copies=True).sessions} == set(EVERY)
    assert "Not shown: 1 copy (--copies)." in run("sessions", *places).err
    every = run("sessions", "--copies", *places)
    assert FIRST[:8] in every.out and "3 sessions." in every.err
    assert asked(archive, sessions, copies="1")["total"] == 3
    archive.say(FIRST, said.Set(values={"title": "The first of them"}))
    archive.say(FIRST, said.Unstar())
    assert archive.resolve("the first of them") == FORK, "what stands for it"


@pytest.mark.parametrize("verb", ["show", "report"])
def test_a_copy_says_that_it_is_one(archive: Archive, run: Run, verb: str) -> None:
    """UND-08: it has the title and the engagements of the session that lists show, and names it;
    neither that session nor a fork that went its own way does."""
    told = {id: run(verb, id, *places_of(archive)).out for id in EVERY}
    assert re.search(f"[Cc]opy of:? {FORK[:8]}", told[FIRST])
    assert "opy of" not in told[FORK] + told[OTHER]
    plain = {id: run(verb, id, "--json", *places_of(archive)).out for id in EVERY}
    assert re.search(f'"copy_of": ?"{FORK[:8]}', plain[FIRST])
    assert all(re.search('"copy_of": ?null', plain[id]) for id in (FORK, OTHER))


def test_the_page_of_a_copy_leads_to_what_it_is_a_copy_of(archive: Archive) -> None:
    """UND-08: in the viewer, too; the session that stands for it says nothing of the kind."""
    state = ServerState(archive.root, archive.places)
    query = Request({"type": "http", "query_string": b"", "headers": [], "path": "/"})
    pages = {id: bytes(session_page(state, query, id).body).decode() for id in (FIRST, FORK)}
    assert f'<span id="copy">copy of <a href="/session/{FORK}' in pages[FIRST]
    assert 'id="copy"' not in pages[FORK]


def test_a_list_of_copies_says_which_they_are(archive: Archive, run: Run) -> None:
    """UND-08: and whose; without `--copies` none is listed."""
    listed = run("sessions", "--copies", *places_of(archive)).out
    (line,) = [line for line in listed.splitlines() if "(copy of " in line]
    assert FIRST[:8] in line and f"(copy of {FORK[:8]})" in line
    assert "copy of" not in run("sessions", *places_of(archive)).out


def test_a_session_and_its_copies_are_hidden_together(archive: Archive, run: Run) -> None:
    """UND-07, UND-08: its mere copy does not come up in its place, nor do its engagements; a fork
    that went its own way stays; a copy that is hidden takes nothing with it."""
    archive.say(FIRST, said.Hide())
    assert [s.id for s in archive.sessions().sessions] == [FORK, OTHER]
    archive.say(FIRST, said.Undo())
    archive.say(FORK, said.Hide())
    found = archive.sessions()
    assert ([s.id for s in found.sessions], found.hidden) == ([OTHER], 2)
    assert {r.session_id for r, _ in archive.engagements()} == {OTHER}
    assert FIRST[:8] not in run("sessions", "--copies", *places_of(archive)).out
    assert "(--hidden)" in run("sessions", *places_of(archive)).err


def test_what_is_hidden_and_a_copy_has_its_own_flags(archive: Archive, run: Run) -> None:
    """UND-08, SRCH-16: what a list says it leaves out, and how to see it, is so."""
    places = places_of(archive)

    def left_out() -> str:
        return run("sessions", *places).err.splitlines()[-1]

    archive.say(FIRST, said.Hide())
    assert left_out() == "Not shown: 1 hidden copy (--hidden --copies)."
    both = json.loads(run("sessions", "--hidden", "--copies", "--json", *places).out)["sessions"]
    assert [row["id"] for row in both if row["hidden"]] == [FIRST]
    archive.say(FORK, said.Hide())
    assert left_out() == "Not shown: 1 hidden (--hidden), 1 hidden copy (--hidden --copies)."
    alone = json.loads(run("sessions", "--hidden", "--json", *places).out)
    assert [row["id"] for row in alone["sessions"] if row["hidden"]] == [FORK]
    assert (alone["hidden"], alone["copies_hidden"]) == (0, 1)


def test_what_was_said_of_a_copy_is_said_of_what_stands_for_it(archive: Archive) -> None:
    """UND-06, UND-07, UND-08: the title a person gave before the conversation was copied, their
    star and note; not to a fork that does not stand for it."""
    refresh(archive)
    archive.say(FIRST, said.Set(values={"title": "Orchard", "summary": "All in all."}))
    archive.say(FIRST, said.Star())
    archive.say(FIRST, said.Note(text="begun in spring"))
    record = archive.record(FORK)
    assert (record.title, record.starred, record.note) == ("Orchard", True, "begun in spring")
    (row, other) = archive.sessions().sessions
    assert (row.title, row.starred, other.title == "Orchard") == ("Orchard", True, False)
    assert not archive.record(OTHER).starred


def field(name: str) -> tuple[Callable[[str], Statement], Callable[[SessionRecord], object]]:
    """A field of a session: how a person sets it, and what the record has of it."""
    kept = {"summary": "session_summary"}.get(name, name)
    return (lambda word: said.Set(values={name: word})), (lambda record: getattr(record, kept))


OF_SESSIONS: dict[str, tuple[Callable[[str], Statement], Callable[[SessionRecord], object]]] = {
    **{name: field(name) for name in SESSION_FIELDS},
    "note": (lambda word: said.Note(text=word), lambda record: record.note),
    "star": (lambda word: said.Unstar() if word == "one" else said.Star(), lambda r: r.starred),
}
"""What is said of a session, by a word; and what its record has of it."""


@pytest.mark.parametrize("kind", OF_SESSIONS)
def test_what_is_said_of_a_session_is_said_of_its_mere_copies(archive: Archive, kind: str) -> None:
    """UND-07, UND-08: of those that lists leave out, and of nobody else; what is said of a copy
    by its own id later is its own, and changes nothing that lists show."""
    say, of = OF_SESSIONS[kind]
    before = of(archive.record(OTHER))

    def now() -> list[object]:
        return [of(archive.record(id)) for id in (FORK, FIRST)]

    archive.say(FIRST, say("one"))
    one, same = now()
    assert one == same
    archive.say(FORK, say("two"))
    two, same = now()
    assert two == same != one
    archive.say(FIRST, say("one"))
    assert now() == [two, one]
    archive.say(FORK, say("two"))
    assert now() == [two, two]
    for _ in range(4):
        archive.say(FORK, said.Undo())
    assert of(archive.record(OTHER)) == before
    with pytest.raises(NotFound):
        archive.say(FORK, said.Undo())


def test_lists_show_the_word_on_the_most_complete_session(archive: Archive, run: Run) -> None:
    """UND-08: when a session goes on once more in another one, its title goes on, not that which
    a lesser copy was given afterwards; in the list, as in every row of ``--copies``."""
    archive.say(FORK, said.Set(values={"title": "What lists show"}))
    archive.say(FIRST, said.Set(values={"title": "What nobody sees", "summary": "Of all"}))
    late = f"{'d' * 8}-2222-4333-8444-555555555555"
    own = rounds(3, own="fork", start=5)
    put(archive.places[0], *rounds(4), *own, *rounds(3, own="late", start=8), name=late)
    now = Archive(archive.root, archive.places)
    ingest(now, OfflineExtractor(), ended=True)
    rows = json.loads(run("sessions", "--copies", "--json", *places_of(now)).out)["sessions"]
    titles = {row["id"]: row["title"] for row in rows if row["id"] != OTHER}
    shown = "What lists show"
    assert titles == {late: shown, FORK: shown, FIRST: "What nobody sees"}
    assert now.record(late).session_summary == "Of all", "nobody said anything else of that"
    assert [s.title for s in now.sessions() if s.copies] == [shown]


@pytest.mark.parametrize("front", ["CLI", "viewer", "API"])
def test_what_was_said_of_a_copy_is_listed_where_it_holds(
    archive: Archive, run: Run, front: str
) -> None:
    """UND-07, UND-08: with the copy it was said of; also that it was taken back; what does not
    hold for a session is not in its list."""
    places = places_of(archive)
    archive.say(FORK, said.Set(values={"title": "Mine"}))
    archive.say(FIRST, said.Star("1"))
    archive.say(FIRST, said.Note(text="by a copy"))
    archive.say(FIRST, said.Set(values={"title": "Not heard"}))

    def listed(session: str) -> str:
        if front == "CLI":
            return run("correct", "list", session, *places).out
        state = ServerState(archive.root, archive.places)
        request: Any = type("Request", (), {"query_params": {}, "headers": {}})()
        page = mend_page if front == "viewer" else said_listed
        return html.unescape(bytes(page(state, request, session).body).decode())

    told = listed(FORK)
    assert told.count("by a copy") >= 1 and "starred" in told and "Mine" in told
    assert FIRST[:8] in told and "Not heard" not in told
    assert "Mine" not in listed(OTHER) and "starred" in listed(OTHER)
    archive.say(FORK, said.Undo())
    assert not archive.record(FORK).note
    assert any(word in listed(FORK) for word in ("taken back", '"undone":true'))
    assert archive.record(FIRST).title == "Not heard", "which no list of another one has"


def test_undo_takes_back_what_the_list_has_last(archive: Archive, run: Run) -> None:
    """UND-07, UND-08: wherever it was said, and says where."""
    places = places_of(archive)
    archive.say(FORK, said.Star())
    archive.say(FIRST, said.Hide("1"))
    taken = run("correct", "undo", FORK, *places)
    assert taken.out == f"Taken back ({FORK[:8]}): hid #1 (said of {FIRST[:8]}).\n"
    assert not any(e.hidden for e in shared(archive).values()) and archive.record(FORK).starred
    last = run("correct", "list", FORK, *places).out.splitlines()[-1]
    assert last.endswith(f"hid #1 (said of {FIRST[:8]}) (taken back)")


def test_a_fork_made_later_has_what_was_said(archive: Archive, tmp_path: Path) -> None:
    """UND-07, UND-08: of the rounds it shares, in its own files, too."""
    archive.say(FIRST, said.Split("1", round=3))
    archive.say(FIRST, said.Set("1", values={"topic": "The first two trees"}))
    late = f"{'d' * 8}-2222-4333-8444-555555555555"
    put(tmp_path / "p", *rounds(4), *rounds(4, own="late", start=5), name=late)
    now = Archive(archive.root, archive.places)
    ingest(now, OfflineExtractor(), ended=True)
    first, second, *_ = now.record(late).engagements
    assert (first.topic, first.turn_range, second.turn_range[0]) == (
        *("The first two trees", (1, 2)),
        3,
    )
    assert first.id in now.folder(late).index.read_text()
    assert second.id in now.folder(late).index.read_text()
    assert check_archive(now) == []
