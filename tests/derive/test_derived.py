"""Skeletons, turn pairs, names, histories, dates: all pure."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minutebook.derive.calls import describe, path_of
from minutebook.derive.genealogy import shared_history
from minutebook.derive.identity import Identity, identify
from minutebook.derive.skeleton import SkeletonBuilder, skeleton
from minutebook.derive.times import instant
from minutebook.derive.turn_pairs import turn_pairs
from minutebook.model import (
    Link,
    Message,
    NameEvidence,
    Roster,
    RosterEntry,
    Round,
    SessionInfo,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from minutebook.record.layout import Layout
from minutebook.record.roster import load_roster
from tests.conftest import ReadRecords, assistant, tool_result, tool_use, user


def round_of(number: int, asked: str, *answers: str) -> Round:
    replies = tuple(Message("assistant", (Text(answer),), id=f"a{number}") for answer in answers)
    return Round(number, (Message("user", (Text(asked),), id=f"u{number}"), *replies))


def info(**fields: object) -> SessionInfo:
    return SessionInfo(id="0123456789ab", source="test", **fields)  # type: ignore[arg-type]


# ------------------------------------------------------------ skeleton


def test_the_skeleton_is_labelled_and_numbered() -> None:
    """ING-01: plain text, role-labelled, round-numbered."""
    text = skeleton([round_of(1, "hi", "hello"), round_of(2, "bye", "so long")]).text
    assert (
        text
        == "[1] user: hi\n\n[1] assistant: hello\n\n[2] user: bye\n\n[2] assistant: so long\n\n"
    )


def test_no_tool_and_no_thinking_is_in_the_skeleton(read_records: ReadRecords) -> None:
    """ING-02: not a word of calls, results, thinking or notices."""
    session, _ = read_records(
        user("go"),
        assistant({"type": "thinking", "thinking": "SECRET1", "signature": "s"}, "fine"),
        assistant(tool_use("t1", command="SECRET2"), id="m2"),
        tool_result("t1", "SECRET3"),
        user("<local-command-stdout>SECRET4</local-command-stdout>"),
        user("SECRET5", isCompactSummary=True),
    )
    text = skeleton(session.rounds).text
    assert "SECRET" not in text
    assert "fine" in text


def test_exactly_a_hundred_thousand_characters_are_untouched() -> None:
    """ING-07: the limit itself is not over it."""
    frame = len(skeleton([round_of(1, "")]).text) or len("[1] user: \n\n")
    whole = skeleton([round_of(1, "x" * (100_000 - frame))])
    assert len(whole.text) == 100_000
    assert not whole.truncated


def test_long_answers_are_shortened_first() -> None:
    """ING-07, ING-08: over the limit long answers keep their beginning and their end, shorter
    ones and every prompt stay whole, and a marker says what is missing."""
    answers = [f"begin{n} {'w' * 40_000} end{n}" for n in (1, 2, 3)]
    rounds = [
        round_of(n, f"prompt {n} " + "p" * 3_000, answer) for n, answer in enumerate(answers, 1)
    ]
    rounds.append(round_of(4, "and now?", "A short answer. " * 20))
    told = skeleton(rounds)
    assert told.truncated and told.chars > 100_000 and 85_000 < len(told.text) <= 90_000
    for n in (1, 2, 3):
        assert f"prompt {n} " + "p" * 3_000 in told.text
        assert f"[{n}] assistant: begin{n} w" in told.text and f"w end{n}\n" in told.text
    assert "A short answer. " * 20 in told.text
    missing = [int(n) for n in re.findall(r"\[\.\.\. (\d+) characters left out here", told.text)]
    markers = len("".join(re.findall(r"\n\[\.\.\. .*? \.\.\.\]\n", told.text)))
    assert len(missing) == 3 and sum(missing) == told.chars - (len(told.text) - markers)


def test_all_that_was_said_in_a_round_is_one_answer() -> None:
    """ING-07: what an agent says on the way goes before what it says at the end."""
    on_the_way = [f"Let me look at file {n}. " + "x" * 300 for n in range(400)]
    told = skeleton([round_of(1, "fix it", *on_the_way, "Fixed: the cause was a typo.")])
    assert told.truncated and len(told.text) <= 90_000
    assert "Let me look at file 0." in told.text and "Let me look at file 150." not in told.text
    assert told.text.endswith("[1] assistant: Fixed: the cause was a typo.\n\n")


def test_where_that_is_not_enough_the_middle_is_dropped() -> None:
    """ING-07, ING-08: 50,000 + a marker + 10,000; it says how much and which rounds."""
    rounds = [round_of(n, "w" * 30_000, "q") for n in range(1, 5)]
    text = "".join(skeleton([round]).text for round in rounds)
    cut = skeleton(rounds)
    assert cut.truncated
    assert cut.text.startswith(text[:50_000])
    assert cut.text.endswith(text[-10_000:])
    marker = cut.text[50_000:-10_000].strip()
    assert marker == f"[... {len(text) - 60_000} characters left out here, from rounds 2-4 ...]"


def test_half_a_key_is_not_left_at_a_cut() -> None:
    """NFR-01: secrets are taken out before anything is cut."""
    builder = SkeletonBuilder()
    keys = " ".join(f"KEY{n:04}END" for n in range(20_000))
    builder.add(round_of(1, "go", keys))
    told = builder.skeleton(lambda text: re.sub(r"KEY\d+END", "****", text))
    assert told.truncated and "KEY" not in told.text and "END" not in told.text


@given(st.lists(st.tuples(st.integers(0, 60_000), st.integers(0, 60_000)), max_size=12))
def test_a_skeleton_never_exceeds_the_limit(sizes: list[tuple[int, int]]) -> None:
    """ING-07: whatever the lengths, at most the limit is sent, and `truncated` is said of
    exactly what lost something."""
    told = skeleton([round_of(n, "p" * p, "a" * a) for n, (p, a) in enumerate(sizes, 1)])
    assert len(told.text) <= 100_000
    assert told.truncated == (told.chars > 100_000) == ("characters left out here" in told.text)


def test_the_boundary_is_exact() -> None:
    """ING-07: 100,001 characters are truncated."""
    frame = len("[1] user: \n\n")
    assert skeleton([round_of(1, "x" * (100_001 - frame))]).truncated


# ------------------------------------------------------------ turn pairs


def test_a_turn_pair_has_what_was_asked_and_answered() -> None:
    """CORP-01, CORP-02, CORP-03: id, prompt, final text block, all assistant text."""
    (pair,) = turn_pairs(info(), [round_of(1, "why?", "let me see", "because")])
    assert pair.id == "0123456789ab:u1"
    assert (pair.user_prompt, pair.assistant_summary) == ("why?", "because")
    assert pair.assistant_full == "let me see\n\nbecause"


def test_turn_pairs_can_be_filtered() -> None:
    """CORP-04: session, cwd, project, branch, time, model, tool use."""
    prompt = Message("user", (Text("q"),), id="u", at="2026-03-01T10:00:00Z")
    reply = Message("assistant", (Text("a"),), model="opus")
    round = Round(3, (prompt, reply), cwd="/home/x/proj", branch="dev", tool_count=2)
    (pair,) = turn_pairs(info(cwds=("/home/x/proj",)), [round])
    meta = pair.metadata
    assert (meta.session_id, meta.round, meta.timestamp) == ("0123456789ab", 3, prompt.at)
    assert (meta.cwd, meta.project, meta.branch) == ("/home/x/proj", "proj", "dev")
    assert (meta.model, meta.has_tool_use) == ("opus", True)


def test_empty_surfaces_are_dropped() -> None:
    """CORP-16: a prompt without an answer has one surface."""
    (pair,) = turn_pairs(info(), [round_of(1, "hello?")])
    assert pair.surfaces() == {"user_prompt": "hello?"}
    silent = Round(1, (Message("assistant", (Thinking("hm"),)),))
    assert list(turn_pairs(info(), [silent])) == []


# ------------------------------------------------------------ identity


def test_the_first_source_wins() -> None:
    """ID-01, ID-08: rename, then title, then signature, then roster; the source is kept."""
    roster = Roster([RosterEntry("01234567", "Ada", "architect")])
    names = NameEvidence(("Reed",), ("Title",), ("Wren",))
    expected = [
        ("Reed", "rename"),
        ("Title", "custom-title"),
        ("Wren", "signature"),
        ("Ada", "roster"),
    ]
    evidence = [
        names,
        NameEvidence((), names.titles, names.signatures),
        NameEvidence((), (), names.signatures),
        NameEvidence(),
    ]
    found = [identify(info(names=item), roster) for item in evidence]
    assert [(identity.name, identity.source) for identity in found] == expected
    assert {identity.role for identity in found} == {"architect"}


def test_nobody_is_nobody() -> None:
    """ID-07: no source, no name."""
    assert identify(info()) == Identity(None, None, None)


@pytest.mark.parametrize(
    "records",
    [
        [user("/rename Reed")],
        [user("<command-name>/rename</command-name>\n<command-args>Reed</command-args>")],
        [
            {
                "type": "system",
                "subtype": "local_command",
                "content": "<command-name>/rename</command-name>"
                "<command-message>rename</command-message><command-args>Reed</command-args>",
            }
        ],
    ],
    ids=["typed", "user record", "system record"],
)
@pytest.mark.parametrize("depth", ["skim", "full"])
def test_every_encoding_of_rename(
    read_records: ReadRecords, records: list[dict[str, object]], depth: str
) -> None:
    """ID-02: typed text, wrapped in a user record, in ``system/local_command``."""
    session, _ = read_records(user("go"), *records, assistant("ok"), depth=depth)
    assert session.info.names.renames == ("Reed",)


def test_the_last_rename_wins_and_prose_is_none(read_records: ReadRecords) -> None:
    """ID-02, ID-03: a mention or quoted code renames nobody."""
    session, _ = read_records(
        user("/rename First"),
        user("/rename Second"),
        user("please type /rename Third"),
        user("what does `<command-name>/rename</command-name>` do?"),
        user("/rename"),
    )
    assert identify(session.info).name == "Second"


def test_signatures_count_only_where_the_session_wrote_them(read_records: ReadRecords) -> None:
    """ID-05: assistant text and Write/Edit/Bash inputs; not prompts, not what was read. The first
    of its own counts; one with another session's id is not its own."""
    for depth in ("skim", "full"):
        session, _ = read_records(
            user("as [claude:opus::Impostor] said"),
            assistant("signed [claude:opus::Wren]"),
            assistant(tool_use("t1", "Read", file_path="[claude:opus::NotMe]"), id="m2"),
            tool_result("t1", "[claude:opus::Impostor]"),
            assistant(
                tool_use("t2", "Bash", command="echo '[claude:haiku-4:1a2b3c4d:Reed]'"), id="m3"
            ),
            depth=depth,
        )
        assert session.info.names.signatures == ("Wren",)


def test_an_ai_title_names_nobody(read_records: ReadRecords) -> None:
    """ID-04: it is a title, and only that."""
    session, _ = read_records(user("go"), {"type": "ai-title", "aiTitle": "Fix the build"})
    assert identify(session.info).name is None
    assert session.info.title == "Fix the build"


def test_an_ambiguous_prefix_gives_no_name() -> None:
    """ID-06: two agents under one prefix are nobody, and the roster says so."""
    roster = Roster([RosterEntry("01234567", "Ada"), RosterEntry("01234567", "Bob")])
    assert identify(info(), roster).name is None
    assert roster.ambiguous == {"01234567"}


def test_the_roster_file_may_be_missing_or_broken(tmp_path: Path) -> None:
    """ID-06: no file is fine, a broken line is passed over."""
    assert load_roster(Layout(tmp_path)).find("01234567") is None
    (tmp_path / "agent-roster.jsonl").write_text(
        '{"session":"01234567","name":"Ada","role":"architect"}\n{"half\n[]\n{"session":5}\n'
    )
    entry = load_roster(Layout(tmp_path)).find("0123456789ab")
    assert entry is not None
    assert (entry.name, entry.role) == ("Ada", "architect")


# ------------------------------------------------------------ the rest


def test_shared_messages_link_sessions() -> None:
    """FMT-16: by message ids, most shared first; unique ones link nothing."""
    found = shared_history(
        [("a", ["1", "2", "3"]), ("b", ["2", "3", "9"]), ("c", ["3"]), ("d", ["7"])]
    )
    assert found["a"] == [Link("b", "shared-messages", 2), Link("c", "shared-messages", 1)]
    assert "d" not in found


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (ToolCall("1", "Bash", {"command": "pytest -q\nls"}), "pytest -q"),
        (
            ToolCall(
                "1",
                "Edit",
                {"file_path": "a.py", "old_string": "x", "new_string": "y\nz"},
                kind="edit",
            ),
            "a.py (+2 -1)",
        ),
        (ToolCall("1", "Read", {"path": "b.py"}), "b.py"),
        (ToolCall("1", "Grep", {"pattern": "foo"}), "foo"),
        (ToolCall("1", "mcp__x", {"n": 1, "who": "me"}), "me"),
        (ToolCall("1", "Odd", ["no", "dict"]), ""),
    ],
)
def test_a_call_in_one_line(call: ToolCall, line: str) -> None:
    """FMT-10: the telling argument; paths under ``file_path`` or ``path``."""
    assert describe(call) == line


def test_paths_are_found_under_any_name() -> None:
    """FMT-10."""
    assert path_of(ToolCall("1", "NotebookEdit", {"notebook_path": "n.ipynb"})) == "n.ipynb"
    assert path_of(ToolCall("1", "Bash", {"command": "ls"})) is None


def test_the_text_of_a_result() -> None:
    """A result is text, or parts of which some are."""
    assert ToolResult((Text("a"), Text("b"))).text == "a\nb"


@pytest.mark.parametrize("odd", [None, "", "yesterday", "2026-99-99T00:00:00Z", "0000"])
def test_odd_timestamps_are_no_moment(odd: str | None) -> None:
    """FMT-04."""
    assert instant(odd) is None
