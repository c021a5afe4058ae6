"""``minutebook correct`` as a person types it (UND-07)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import minutebook
from minutebook.cli import terminal
from minutebook.mcp.tools import Tools
from minutebook.model.engagement import Engagement
from minutebook.model.said import SESSION_FIELDS, Undo
from tests.cli.conftest import Ran, Run

REED = "eb82c016-c70f-5ceb-a51c-144afda4b7b3"


class Typing:
    """The command line on an archive of one's own."""

    def __init__(self, run: Run, root: Path, archive: Path) -> None:
        self._run, self.root, self.archive = run, root, archive

    def __call__(self, *args: object) -> Ran:
        return self._run(*args, "--root", self.root, "--archive", self.archive)

    def done(self, *args: object) -> str:
        ran = self("correct", *args)
        assert ran.status == 0, ran.err
        return ran.out

    def engagements(self) -> tuple[Engagement, ...]:
        """Those of Reed's session."""
        return minutebook.open_archive(self.archive, [self.root]).record(REED).engagements

    def json(self, *args: object) -> Any:
        ran = self(*args, "--json")
        assert ran.status == 0, ran.err
        return json.loads(ran.out)


@pytest.fixture(scope="module")
def ingested(examples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("correct") / "archive"
    minutebook.ingest(examples, archive=folder, extractor="offline")
    return folder


@pytest.fixture
def typed(run: Run, examples: Path, ingested: Path, tmp_path: Path) -> Typing:
    import shutil

    shutil.copytree(ingested, tmp_path / "archive")
    return Typing(run, examples, tmp_path / "archive")


def test_what_was_said_already_is_answered(typed: Typing) -> None:
    """UND-07: status 0, what holds, and that nothing was recorded."""
    for args in (["correct", "star", "Reed"], ["correct", "Reed", "1", "topic=Graft the pears"]):
        first, again = typed(*args), typed(*args)
        assert (again.status, again.out) == (0, first.out)
        assert again.err == "Already recorded: nothing changed.\n"
    assert (
        "Already recorded"
        in typed("thread", "Reed", 1, "pears").err + typed(*("thread", "Reed", 1, "pears")).err
    )
    assert typed.json("correct", "star", "Reed")["said"] is None


def test_several_fields_at_once(typed: Typing) -> None:
    """UND-07: of an engagement, and of the session where none is named."""
    out = typed.done("Reed", "1", "topic=Login, done by hand", "method=debug", "phase=blocked")
    assert "Login, done by hand (debug, blocked, rounds 1-3)." in out
    out = typed.done("Reed", "title=Night shift", "agent_role=reviewer", "summary=In short.")
    assert "title 'Night shift'" in out and "role 'reviewer'" in out and "Summary: In short." in out
    (row,) = [row for row in typed.json("sessions")["sessions"] if row["id"] == REED]
    assert (row["title"], row["role"], row["name"]) == ("Night shift", "reviewer", "Reed")
    assert typed("show", "night shift").status == 0
    typed.done("Reed", "agent_name=Sedge")
    assert "Sedge" in typed("sessions").out
    assert typed.json("correct", "undo")["undone"]["statement"]["values"] == {"agent_name": "Sedge"}


def test_split_move_and_join(typed: Typing) -> None:
    """UND-07: both parts are shown; the same rounds are one again."""
    out = typed.done("split", "Reed", "1", "3")
    assert "rounds 1-2" in out and "round 3)" in out
    ids = [line.split(":")[0] for line in out.splitlines()]
    assert "round 1)" in typed.done("move", "Reed", ids[0], "1-1")
    found = typed.json("correct", "join", "Reed", ids[1], ids[0])
    assert found["engagement"]["turn_range"] == [1, 3]
    assert [e["turn_range"] for e in found["session"]["engagements"]] == [[1, 3]]
    assert found["said"]["words"] == "joined #1 to #2"


def test_what_a_move_takes_altogether_is_named(typed: Typing) -> None:
    """UND-07: topic and rounds of an engagement that has none left, and how to have it back."""
    typed.done("split", "Reed", "1", "2")
    typed.done("Reed", "2", "topic=Second half", "outcome=It works")
    typed.done("split", "Reed", "2", "3")
    for taken in (("move", "Reed", "1", "1-2"), ("Reed", "1", "turn_range=1-2")):
        out = typed.done(*taken)
        assert "No round is left of: Second half (round 2)." in out
        assert "`minutebook correct undo eb82c016` brings it back." in out
        typed.done("undo", "eb82c016")
        back = typed.engagements()[1]
        assert (back.topic, back.outcome) == ("Second half", "It works")
    told = typed.json("correct", "move", "Reed", "1", "1-3")
    assert [e["turn_range"] for e in told["gone"]] == [[2, 2], [3, 3]]
    assert "left of" not in typed.done("split", "Reed", "1", "2")
    assert typed.json("correct", "undo", "Reed")["gone"] == []


def test_every_engagement_that_has_other_rounds_is_named(typed: Typing) -> None:
    """UND-07: also those that were not named, and that what they were given is hidden."""
    typed.done("split", "Reed", "1", "3")
    typed.done("Reed", "3", "topic=Prune the pears")
    typed.done("hide", "Reed", "3")
    out = typed.done("move", "Reed", "1", "1-1").splitlines()
    assert "Prune the pears" in out[1] and out[1].endswith("rounds 2-3, hidden).")
    assert out[1].startswith("Also changed: ")
    assert out[2] == "Lists leave out round 2 now, in a hidden engagement."
    typed.done("undo")
    told = typed.json("correct", "move", "Reed", "1", "1-1")
    assert [e["turn_range"] for e in told["changed"]] == [[2, 3]]
    assert told["hidden_rounds"] == [[2, 2]]


def test_an_engagement_that_a_tag_cuts_is_named(typed: Typing) -> None:
    """DB-07: with the rounds it has left; there too where they are hidden."""
    typed.done("hide", "Reed", "1")
    out = typed("tag", "Reed", "2", "mine").out
    assert "Also changed: " in out and "rounds 1, 3, hidden)." in out
    assert "Lists leave out" not in out
    assert "Lists leave out round 2 now" in typed("tag", "Reed", "2", "-").out


def test_what_a_tag_takes_altogether_is_named(typed: Typing) -> None:
    """DB-07: likewise; taking the tag off brings it back."""
    out = typed("tag", "Reed", "1-3", "mine").out
    assert "No round is left of: Search misses notes" in out and "(rounds 1-3)." in out
    assert "`minutebook tag eb82c016 1-3 -` brings it back." in out
    assert "No round" not in typed("tag", "eb82c016", "1-3", "-").out
    assert [e.tagged for e in typed.engagements()] == [False]


def test_a_range_beyond_the_session_is_refused(typed: Typing) -> None:
    """DB-07: by `tag` as by `correct`; nothing is written."""
    ran = typed("tag", "Reed", "2-9", "mine")
    assert (ran.status, ran.err) == (2, "The session has 3 rounds; there is no round 9.\n")
    assert typed.json("correct", "list")["said"] == []


def test_the_answer_tells_the_fields_that_were_set(typed: Typing) -> None:
    """UND-07: also project, outcome and decisions, which are not in an engagement's line."""
    out = typed.done("Reed", "1", "project=/srv/x", "outcome=It works", "key_decisions=Stay; Go")
    lines = ["Project: /srv/x", "Outcome: It works", "Decided: Stay", "Decided: Go"]
    assert out.splitlines()[1:] == lines
    assert typed.done("Reed", "1", "phase=completed").count("\n") == 1
    assert typed.done("Reed", "1", "key_decisions=").splitlines()[1:] == ["Decided: (nothing)"]


@pytest.mark.parametrize(
    ("words", "decisions"),
    [
        (["a; b ;c"], ["a", "b", "c"]),
        ([r"Fix it\; leave the prose"], ["Fix it; leave the prose"]),
        ([r"Fix it\; leave the prose; b"], ["Fix it; leave the prose", "b"]),
        (["Fix it; leave the prose", "b"], ["Fix it; leave the prose", "b"]),
        (["Fix it; leave the prose", ""], ["Fix it; leave the prose"]),
        ([r"C:\temp; b"], [r"C:\temp", "b"]),
        ([""], []),
    ],
)
def test_a_decision_may_hold_a_semicolon(
    typed: Typing, words: list[str], decisions: list[str]
) -> None:
    r"""UND-07: given once it is split at ``;`` but not at ``\;``, given again each is one; and what
    the list shows can be typed again."""
    settings = [f"key_decisions={word}" for word in words]
    told = typed.json("correct", "Reed", "1", *settings)
    assert told["engagement"]["key_decisions"] == decisions
    again = told["said"]["words"].removeprefix("#1: ").replace(" emptied", "=")
    assert typed.json("correct", "Reed", "1", again)["engagement"]["key_decisions"] == decisions


def test_a_note_says_which_is_the_engagement_and_which_the_text(typed: Typing) -> None:
    """UND-07: one word is a text, unless it can only be an engagement."""
    id = typed.engagements()[0].id
    for word in ("2", id, id[:14]):
        ran = typed("correct", "note", "Reed", word)
        assert ran.status == 2 and f"'{word}' names an engagement" in ran.err
    for words in (["search"], ["", "2"], ["3 of 4"]):
        assert f"Note: {words[-1]}\n" in typed.done("note", "Reed", *words)
    assert f"Note: {id}" in typed.done("note", "Reed", "1", id)


def test_star_hide_note_and_back(typed: Typing) -> None:
    """UND-07: of a session and of an engagement, each with its way back."""
    assert typed.done("star", "Reed").startswith("★ eb82c016")
    assert typed.done("star", "Reed", "1").startswith("★ ")
    assert "hidden" in typed.done("hide", "Reed", "1")
    assert "Note: look again" in typed.done("note", "Reed", "1", "look again")
    assert "Note: a session's" in typed.done("note", "Reed", "a session's")
    shown = typed("show", "Reed").out
    assert "★ Reed" in shown and "look again" in shown and "a session's" in shown
    assert "★" not in typed.done("unstar", "Reed", "1")
    assert "hidden" not in typed.done("unhide", "Reed", "1")
    assert "Note" not in typed.done("note", "Reed", "1", "")


def test_list_shows_what_was_said_and_undo_what_is_taken_back(typed: Typing) -> None:
    """UND-07: in order, with when; what was taken back stays in the list."""
    assert "There is no correction" in typed("correct", "list", "Reed").err
    typed.done("Reed", "1", "method=debug")
    typed.done("star", "Wren")
    typed.done("note", "Reed", "remember")
    assert "Taken back (eb82c016): noted on the session: remember." in typed.done("undo")
    assert "starred the session" in typed.done("undo")
    assert "method=debug" in typed.done("undo", "Reed")
    typed.done("Reed", "1", "topic=Something else")
    told = typed.json("correct", "undo", "Reed")
    assert told["undone"]["undone"] and "topic=Something else" in told["undone"]["words"]
    assert told["engagement"]["id"] == told["undone"]["statement"]["engagement"]
    assert told["engagement"]["topic"] != "Something else"
    typed.done("Reed", "1", "topic=Something else")
    book = minutebook.open_archive(typed.archive, [typed.root])
    spoken = book.say("Reed", Undo())
    assert spoken.undone is not None and spoken.undone.undone and spoken.engagement is not None
    lines = typed.done("list", "Reed").splitlines()
    assert [line.endswith("(taken back)") for line in lines] == [True] * 4
    assert "method=debug" in lines[0] and "remember" in lines[1]
    items = typed.json("correct", "list", "Reed")["said"]
    assert [item["undone"] for item in items][:4] == [True, True, False, False]
    assert not any(item["id"] in "".join(lines) for item in items)
    assert all(item["at"] and item["words"] for item in items)


def test_a_session_may_have_the_name_of_a_command(typed: Typing) -> None:
    """UND-07: known commands win; `--` says that a session follows; `set` does, too."""
    typed.done("Reed", "title=split")
    assert typed("correct", "split", "title=x").status == 2
    assert "title 'x y'" in typed.done("--", "split", "title=x y")
    typed.done("Reed", "title=undo")
    assert "title 'z'" in typed.done("set", "undo", "title=z")


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["nobody", "1", "method=debug"], "No session is called 'nobody'"),
        (["Reed", "1", "colour=red"], "the fields are topic"),
        (["Reed", "colour=red"], "the fields are title"),
        (["Reed", "topic=x"], "name the engagement, or a round in it"),
        (["Reed", "1", "title=x"], "is a field of the session: leave out the engagement"),
        (["Reed", "1"], "Write field=value"),
        (["Reed", "1", "topic"], "Write topic=VALUE."),
        (["Reed", "title"], "Write title=VALUE."),
        (["Reed", "topic"], "name the engagement, or a round in it"),
        (["Reed", "star"], "The command comes first: `minutebook correct star Reed …`."),
        (["join", "Reed", "1"], "Missing argument 'OTHER'"),
        (["frob", "Reed", "1"], "No session or command is called 'frob'."),
        (["splitt", "Reed", "1", "3"], "No session or command is called 'splitt'. Did you mean 's"),
        (["c52bc01f", "1", "topic=x"], "has no engagements: a ghost gets none"),
        (["note", "Reed", "1"], "'1' names an engagement: write the note after it"),
        (["note", "Reed", "99"], "'99' names an engagement"),
        (["Reed", "1", "topic=a", "topic=b"], "two values for topic"),
        (["Reed", "1", "turn_range=x"], "is not a range of rounds"),
        (["split", "Reed", "1", "99"], "is not in"),
        (["split", "Reed", "1", "1"], "begins at round 1 already"),
        (["join", "Reed", "1", "2"], "are one already"),
        (["move", "Reed", "1", "3-1"], "has 3 rounds"),
        (["move", "Reed", "1", "x-y"], "is not a range of rounds"),
        (["star", "Reed", "wrong"], "has no engagement 'wrong'"),
        (["undo", "Wren"], "There is no correction"),
        (["list", "nobody"], "No session is called 'nobody'"),
    ],
)
def test_bad_input_is_one_sentence(typed: Typing, args: list[str], words: str) -> None:
    """UND-07: status 2, what was wrong, what would be right; nothing is written."""
    ran = typed("correct", *args)
    assert (ran.status, words in ran.err, ran.err.count("\n")) == (2, True, 1), ran.err
    assert not (typed.archive / "sessions" / "corrections.jsonl").exists()


def test_long_lines_are_wrapped_at_words(typed: Typing, monkeypatch: pytest.MonkeyPatch) -> None:
    """CLI-02: errors and the list, where a person reads them; what is piped stays whole."""
    typed.done("Reed", "1", f"topic={'Graft the pears, ' * 9}")
    asked = (["correct", "Reed", "99", "topic=x"], ["correct", "list"])
    whole = [typed(*args) for args in asked]
    assert all((ran.out + ran.err).count("\n") == 1 for ran in whole)
    monkeypatch.setattr(terminal, "is_terminal", lambda: True)
    for args, ran in zip(asked, whole, strict=True):
        wrapped = typed(*args)
        lines = (wrapped.out + wrapped.err).splitlines()
        assert len(lines) > 1 and max(map(len, lines)) <= 100
        assert " ".join(" ".join(lines).split()) == " ".join((ran.out + ran.err).split())


@pytest.mark.parametrize("args", [["split", "Reed"], ["split", "Reed", "1", "x"], ["note", "Reed"]])
def test_a_missing_word_is_said(typed: Typing, args: list[str]) -> None:
    """UND-07, CLI-02: one sentence, status 2."""
    ran = typed("correct", *args)
    assert ran.status == 2 and "Traceback" not in ran.err and ran.err.count("\n") == 1


def test_one_that_is_left_out_is_one(typed: Typing) -> None:
    """SRCH-10, UND-07: "it", not "them", of a ghost or an engagement that you hid."""
    typed.done("hide", "Reed", "1")
    notes = typed("stats").err
    assert "1 ghost is not counted (`minutebook sessions --ghosts` lists it)." in notes
    assert "1 hidden engagement is not counted (--hidden counts it)." in notes


def test_hidden_things_are_left_out_and_counted(typed: Typing) -> None:
    """UND-07, SRCH-16: of lists and statistics, which say so; a search for words finds them."""
    before = typed.json("stats")["stats"]
    typed.done("hide", "Reed", "1")
    typed.done("hide", "Wren")
    after = typed.json("stats")["stats"]
    lost = before["engagements"] - after["engagements"]
    assert lost == after["hidden"] >= 2 and before["hidden"] == 0
    assert f"{lost} hidden engagements are not counted (--hidden" in typed("stats").err
    assert typed.json("stats", "--hidden")["stats"] == before
    listed = typed.json("search", "--limit", "100")
    assert listed["hidden"] == lost and REED not in {hit["session_id"] for hit in listed["hits"]}
    assert f"{lost} that you hid (--hidden)" in typed("search").err
    shown = typed.json("search", "--hidden", "--limit", "100")
    assert REED in {hit["session_id"] for hit in shown["hits"]} and shown["hidden"] == 0
    found = typed.json("search", "integrity check")["hits"]
    assert REED in {hit["session_id"] for hit in found}
    sessions = typed.json("sessions")
    assert (sessions["hidden"], "Wren" in str(sessions["sessions"])) == (1, False)
    assert "1 hidden (--hidden)" in typed("sessions").err
    assert "Wren" in typed("sessions", "--hidden").out


def test_hidden_things_are_marked_where_they_are_shown(typed: Typing) -> None:
    """UND-07: one sees which rows of a list were hidden, an engagement's or its session's; also of
    a search for words, and for programs and agents."""
    typed.done("hide", "Reed", "1")
    typed.done("star", "Wren")
    typed.done("hide", "Wren")
    sessions = typed("sessions", "--hidden", "--limit", "100").out
    assert "(hidden) ★ Wren" in sessions and sessions.count("(hidden)") == 1
    listed = typed("search", "--hidden", "--limit", "100").out
    assert "(hidden) Reed" in listed and "(hidden) ★ Wren" in listed
    assert listed.count("(hidden)") == 2
    hits = typed.json("search", "--hidden", "--limit", "100")["hits"]
    assert {hit["agent"] for hit in hits if hit["hidden"]} == {"Reed", "Wren"}
    assert "(hidden) Reed" in typed("search", "integrity check").out
    tools = Tools(minutebook.open_archive(typed.archive, [typed.root]))
    assert tools.engagements(hidden=True, limit=100).count("(hidden)") == 2
    assert tools.search("integrity check").count("(hidden)") == 1


def test_starred_things_are_marked_and_can_be_asked_for(typed: Typing) -> None:
    """UND-07: ★ in text, `starred` in JSON; order is as it was."""
    order = [hit["session_id"] for hit in typed.json("search")["hits"]]
    typed.done("star", "Reed", "1")
    typed.done("star", "Wren")
    assert [hit["session_id"] for hit in typed.json("search")["hits"]] == order
    hits = typed.json("search", "--starred")["hits"]
    assert len({hit["session_id"] for hit in hits}) == 2 and all(hit["starred"] for hit in hits)
    words = typed.json("search", "the", "--starred")["hits"]
    assert words and {hit["session_id"] for hit in words} <= {hit["session_id"] for hit in hits}
    assert typed("search", "--starred").out.count("★") == len(hits)
    (row,) = typed.json("sessions", "--starred")["sessions"]
    assert row["name"] == "Wren" and "★ Wren" in typed("sessions", "--starred").out


def test_notes_and_titles_are_found_by_their_words(typed: Typing) -> None:
    """UND-07, ARC-05: what was said can be searched for at once."""
    typed.done("note", "Reed", "1", "zymurgy matters")
    typed.done("Wren", "title=Quinquereme of Nineveh")
    noted = typed.json("search", "zymurgy")["hits"][0]
    assert (noted["session_id"], noted["side"]) == (REED, "note")
    assert noted["snippet"]["text"] == "zymurgy matters"
    (hit,) = typed.json("search", "quinquereme")["hits"]
    assert hit["side"] == "title"


def test_a_title_that_was_found_is_shown(typed: Typing) -> None:
    """SRCH-14: once, in the first line, or below it where the agent's name stands there."""
    words = ("search", "ledger outage", "--limit", "1")
    typed.done("e30ddb67", "1", "topic=Roll back the release")
    assert typed(*words).out.count("Ledger outage after") == 1
    typed.done("e30ddb67", "agent_name=Sedge")
    assert "Sedge" in typed(*words).out
    assert "\n  title: Ledger outage after the 22:28 rollout\n" in typed(*words).out


@pytest.mark.parametrize(
    "args",
    [
        *(["unstar", "Reed"], ["unhide", "Reed", "1"], ["note", "Reed", ""]),
        *(["note", "Reed", "1", " "], ["Reed", "title="]),
    ],
)
def test_what_is_not_there_is_not_taken_off(typed: Typing, args: list[str]) -> None:
    """UND-07: nothing is recorded that changes nothing, so `undo` takes back what matters."""
    ran = typed("correct", *args)
    assert ran.status == 2 and "nothing was changed" in ran.err
    assert typed.json("correct", "list")["said"] == []


def test_the_list_without_a_session_has_every_session(typed: Typing) -> None:
    """UND-07: as `undo` does."""
    typed.done("star", "Reed")
    typed.done("note", "Wren", "remember")
    said = typed.json("correct", "list")["said"]
    assert [item["words"] for item in said] == [
        "starred the session",
        "noted on the session: remember",
    ]
    lines = typed("correct", "list").out.splitlines()
    assert REED[:8] in lines[0] and REED[:8] not in lines[1]


def test_the_list_calls_an_engagement_by_its_round(typed: Typing) -> None:
    """UND-07: as it is typed, not by its id; one round is one, and what is empty is said."""
    typed.done("Reed", "2", "topic=Mine", "key_decisions=A;B")
    typed.done("split", "Reed", "1", "3")
    typed.done("join", "Reed", "3", "1")
    typed.done("Reed", "title=Night shift")
    typed.done("star", "Reed", "2")
    typed.done("Reed", "2", "outcome=", "turn_range=2-2")
    typed.done("move", "Reed", "2", "3-3")
    typed.done("Reed", "title=")
    said = typed.json("correct", "list", "Reed")["said"]
    words = [item["words"] for item in said]
    assert words == [
        "#1: topic=Mine, key_decisions=A; B",
        "split #1 at round 3: #3 begins there",
        "joined #1 to #3",
        "title=Night shift",
        "starred #1",
        "#1: outcome emptied, turn_range=2",
        "moved #2 to round 3",
        "title as recorded",
    ]
    lines = typed.done("list", "Reed").splitlines()
    assert [line.split("  ")[-1] for line in lines] == words


@pytest.mark.parametrize("field", SESSION_FIELDS)
def test_an_empty_value_clears_what_was_said_of_a_session(typed: Typing, field: str) -> None:
    """UND-07: the recorded value shows again, whatever was said since; nothing is deleted."""
    of = {"summary": "session_summary"}.get(field, field)
    archive = minutebook.open_archive(typed.archive, [typed.root])
    before = archive.record(REED)
    typed.done("Reed", f"{field}=Said by hand")
    typed.done("star", REED)
    assert getattr(archive.record(REED), of) == "Said by hand"
    typed.done(REED, f"{field}=")
    now = archive.record(REED)
    assert (getattr(now, of), now.starred, now.corrected) == (getattr(before, of), True, ())
    assert len(typed.json("correct", "list", REED)["said"]) == 3
    typed.done("undo")
    assert getattr(archive.record(REED), of) == "Said by hand"


@pytest.mark.parametrize("words", [["bogus=1"], ["1", "bogus=1"], ["title=x", "bogus=1"]])
def test_an_unknown_field_is_named(typed: Typing, words: list[str]) -> None:
    """UND-07: the error says which word was not understood."""
    ran = typed("correct", "Reed", *words)
    assert ran.status == 2 and "'bogus' is not a field; the fields are" in ran.err
