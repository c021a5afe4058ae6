"""Contexts: which rounds are told how, within which budget."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minutebook.record.rounds import KeptRound
from minutebook.derive.tokens import tokens
from minutebook.errors import BadArgument, NotFound
from minutebook.model import Text, Thinking, ToolCall, ToolResult
from minutebook.verbs.context import Context, Source, build_context, inject
from minutebook.verbs.materialise import Shelf, materialise, parse_rounds
from minutebook.verbs.open_session import OpenSession
from minutebook.verbs.round_text import EVERYTHING, Fidelity, round_text
from minutebook.verbs.tag import tag
from tests.agents.conftest import Run, session_of, taken, told
from tests.conftest import (
    as_line,
    assistant,
    corpus_sessions,
    needs_corpus,
    short,
    tool_result,
    tool_use,
    user,
)

CORPUS = corpus_sessions("claude/**/*.jsonl", "cli-versions/**/*.jsonl", "fixtures/**/*.jsonl")


def rounds_told(context: Context) -> list[tuple[str, int]]:
    return [
        (piece.session_id, number)
        for piece in context.pieces
        for number in range(piece.first, piece.last + 1)
    ]


def assert_sound(context: Context, session: OpenSession) -> None:
    """Within the budget, every round once, none split, each with a way to get it."""
    assert context.tokens == tokens(context.text)
    assert context.budget is None or context.tokens <= context.budget
    expected = [(session.session_id, n) for n in range(1, session.count + 1)]
    assert rounds_told(context) == expected
    for piece in context.pieces:
        assert piece.text.rstrip() in context.text
        address = f"{session.session_id[:8]}#{piece.first}"
        assert address in piece.inject
        if piece.told == "full":
            assert piece.text == round_text(address, session.round(piece.first), Fidelity())


@needs_corpus
@pytest.mark.parametrize("path", CORPUS, ids=short)
def test_budgets_are_held_on_every_session(path: Path, tmp_path: Path) -> None:
    """CTX-03, CTX-05: for every session of the corpus and budgets from scarce to ample."""
    shelf = taken(path, tmp_path / "archive")
    ids = [transcript.session_id for transcript in shelf.library.transcripts]
    session = shelf.open(ids[0])
    assert session.count
    for budget in (400, 1_500, 6_000, 20_000, 200_000):
        assert_sound(materialise(shelf, [ids[0]], budget=budget), session)


@needs_corpus
@pytest.mark.parametrize("path", CORPUS[::6], ids=short)
def test_compressed_and_injected_is_everything(path: Path, tmp_path: Path) -> None:
    """CTX-04: a line a round, and each line's command gives the whole round: every text, every
    tool input and every tool output of it."""
    shelf = taken(path, tmp_path / "archive")
    session = shelf.open(shelf.library.transcripts[0].session_id)
    context = materialise(shelf, [session.session_id], mode="compressed")
    assert {piece.told for piece in context.pieces} <= {"reference"}
    assert rounds_told(context) == [(session.session_id, n) for n in range(1, session.count + 1)]
    for piece in context.pieces:
        number = int(piece.inject.rsplit("#", 1)[1])
        whole = inject(session, number)
        for block in session.round(number).agent:
            if isinstance(block, Text):
                assert block.text.split()[:3] == [] or block.text.split()[0] in whole
            elif isinstance(block, ToolCall) and block.result is not None:
                assert all(w in whole for w in block.result.text.split()[:20] if w.isalnum())


def kept(number: int, asked: str, said: str, output: str = "") -> KeptRound:
    call = ToolCall("t", "Bash", {"command": "make test"}, ToolResult(output or "ok"))
    blocks = (Thinking("pondering at length"), Text(said), call)
    return KeptRound(
        round=number, started=f"2026-03-0{number % 9 + 1}T10:00:00Z", user=asked, agent=blocks
    )


class FakeSession(OpenSession):
    """Rounds made by a test."""

    def __init__(self, rounds: list[KeptRound], id: str = "3a4d64e0-1111") -> None:
        self.session_id, self._made = id, rounds

    @property
    def count(self) -> int:
        return len(self._made)

    def round(self, number: int) -> KeptRound:
        return self._made[number - 1]


@given(
    st.lists(st.tuples(st.text(max_size=400), st.text(max_size=3_000)), min_size=1, max_size=60),
    st.integers(120, 20_000),
    st.data(),
)
def test_any_session_fits_any_budget(
    words: list[tuple[str, str]], budget: int, data: st.DataObject
) -> None:
    """CTX-05: whatever the rounds are like and whichever are wanted, the budget is held or the
    smallest possible one is named."""
    session = FakeSession([kept(n, a, s) for n, (a, s) in enumerate(words, 1)])
    wanted = data.draw(st.lists(st.integers(1, session.count), unique=True))
    try:
        context = build_context([Source(session, wanted=tuple(wanted))], budget=budget)
    except BadArgument as error:
        assert "smallest" in str(error)
        return
    assert_sound(context, session)


def test_the_oldest_become_references_first() -> None:
    """CTX-05: what is told in full is newer than what is not."""
    session = FakeSession([kept(n, f"ask {n}", "words " * 300) for n in range(1, 21)])
    context = build_context([Source(session, wanted=tuple(range(20, 0, -1)))], budget=4_000)
    full = [piece.first for piece in context.pieces if piece.told == "full"]
    assert full
    assert full == list(range(full[0], 21))


def test_the_least_relevant_become_references_first() -> None:
    """CTX-01, CTX-05: rounds are told in the order of their relevance while there is room."""
    session = FakeSession([kept(n, f"ask {n}", "words " * 300) for n in range(1, 21)])
    context = build_context([Source(session, wanted=(7, 3, 15, 1, 2, 4))], budget=2_600)
    full = {piece.first for piece in context.pieces if piece.told == "full"}
    assert full
    assert full == set((7, 3, 15, 1, 2, 4)[: len(full)])


def test_a_round_larger_than_the_budget_is_a_reference() -> None:
    """CTX-03: it is never cut; the smaller ones beside it are told."""
    rounds = [kept(1, "small", "short"), kept(2, "huge", "x " * 50_000), kept(3, "small", "short")]
    session = FakeSession(rounds)
    context = build_context([Source(session, wanted=(3, 2, 1))], budget=500)
    assert [piece.told for piece in context.pieces] == ["full", "reference", "full"]


def test_a_budget_that_holds_nothing_is_refused() -> None:
    """CTX-05: with the smallest one that would do."""
    session = FakeSession([kept(1, "ask", "answer")])
    with pytest.raises(BadArgument, match="smallest"):
        build_context([Source(session, wanted=(1,))], budget=3)


@pytest.mark.parametrize(
    ("fidelity", "present", "absent"),
    [
        (EVERYTHING, ["pondering", '"make test"', "line 40"], []),
        (Fidelity(), ["make test", "line 1"], ["pondering", "line 40"]),
        (Fidelity("summary", "omit", "omit"), ["pondering"], ["make test", "line 1"]),
        (Fidelity("omit", "full", "omit"), ['"make test"'], ["line 1", "pondering"]),
        (Fidelity("omit", "omit", "full"), ["line 40"], ["make test", "pondering"]),
    ],
)
def test_fidelity_of_each_kind_of_block(
    fidelity: Fidelity, present: list[str], absent: list[str]
) -> None:
    """CTX-04: thinking, tool input and tool output, each full, summary or omitted."""
    output = "\n".join(f"line {n} of the output" for n in range(1, 41))
    text = round_text("3a4d64e0#1", kept(1, "Run it", "Done", output), fidelity)
    assert "Run it" in text
    assert "Done" in text
    for words in present:
        assert words in text
    for words in absent:
        assert words not in text


def test_only_an_engagements_rounds(shelf: Shelf) -> None:
    """CTX-02: engagement-filtered."""
    record = next(r for r in shelf.minutes.records().values() if len(r.engagements) > 1)
    engagement = record.engagements[1]
    context = materialise(shelf, [record.session_id], engagement=engagement.id)
    first, last = engagement.turn_range
    assert rounds_told(context) == [(record.session_id, n) for n in range(first, last + 1)]
    assert {piece.told for piece in context.pieces} == {"full"}


def test_an_engagement_that_does_not_exist(shelf: Shelf) -> None:
    """CTX-02: the nearest names are suggested."""
    id = next(e.id for r in shelf.minutes.records().values() for e in r.engagements)
    with pytest.raises(NotFound, match=id):
        materialise(shelf, [], engagement=f"{id}x")


def test_what_a_person_tagged_is_an_engagement_too(examples: Path, tmp_path: Path) -> None:
    """CTX-02, DB-07: a tag wins over what was extracted, and may go over several sessions."""
    shelf = taken(examples, tmp_path / "archive")
    first, second = [id for id in shelf.minutes.records() if shelf.open(id).count > 2][:2]
    tag(shelf.layout, first, "2", "console-work")
    tag(shelf.layout, second, "1-2", "console-work")
    context = materialise(shelf, [], engagement="console-work")
    assert sorted(rounds_told(context)) == sorted([(first, 2), (second, 1), (second, 2)])


def test_a_query_tells_the_relevant_rounds_in_full(shelf: Shelf) -> None:
    """CTX-01: the rest is a line each."""
    id = session_of(shelf, "passkey")
    context = materialise(shelf, [id], query="two tabs challenge")
    full = [piece for piece in context.pieces if piece.told == "full"]
    assert full
    assert any("two tabs" in piece.text for piece in full)
    assert len(rounds_told(context)) == shelf.open(id).count


def test_a_query_without_a_session_finds_its_sessions(shelf: Shelf) -> None:
    """CTX-01: several sessions may be told of at once."""
    context = materialise(shelf, [], query="passkey login", budget=2_000)
    assert session_of(shelf, "passkey") in {piece.session_id for piece in context.pieces}
    assert context.tokens <= 2_000


def test_nothing_relevant_is_said(shelf: Shelf) -> None:
    """No hit is an answer."""
    with pytest.raises(NotFound):
        materialise(shelf, [], query="xyzzyplugh qwfpgj")


@pytest.mark.parametrize(
    ("text", "numbers"), [("3", [3]), ("1,3-5", [1, 3, 4, 5]), ("4-9", [4, 5, 6]), ("2,2", [2])]
)
def test_rounds_as_people_write_them(text: str, numbers: list[int]) -> None:
    """CTX-02: single rounds and ranges."""
    assert parse_rounds(text, 6) == numbers


@pytest.mark.parametrize("text", ["", "x", "0", "5-3", "1,,2", "-1", "9"])
def test_rounds_nobody_can_mean(text: str) -> None:
    """Bad input gets a sentence."""
    with pytest.raises((BadArgument, NotFound)):
        parse_rounds(text, 6)


def test_the_store_is_only_read(shelf: Shelf, run: Run) -> None:
    """CTX-01: building a context leaves every file of the archive as it was."""
    before = {p: p.read_bytes() for p in shelf.layout.sessions.rglob("*.json*") if p.is_file()}
    run("context", session_of(shelf, "passkey")[:8], "--full")
    assert before == {
        p: p.read_bytes() for p in shelf.layout.sessions.rglob("*.json*") if p.is_file()
    }


def test_the_commands_of_references_work(shelf: Shelf, run: Run) -> None:
    """CTX-03: what a reference says can be typed as it stands."""
    id = session_of(shelf, "passkey")
    built = told(run("context", id[:8], "--compressed", "--json"))["context"]
    command = built["pieces"][1]["inject"].removeprefix("minutebook ").split()
    assert "Write tests for both" in run(*command).stdout


def test_the_command_line_builds_contexts(shelf: Shelf, run: Run) -> None:
    """CTX-02: full, compressed, rounds and budget as options; Markdown or JSON."""
    id = session_of(shelf, "passkey")[:8]
    assert run("context", id, "--full").stdout.count("### ") >= 4
    assert "### " not in run("context", id, "--compressed").stdout
    assert run("context", id, "--rounds", "1,3-4").stdout.count("### ") == 3
    assert run("context", f"{id}#2-3").stdout.count("### ") == 2
    assert told(run("context", id, "--budget", "700", "--json"))["context"]["tokens"] <= 700


@pytest.mark.parametrize(
    "args",
    [
        (),
        ("nobody",),
        ("{id}", "--budget", "2"),
        ("{id}", "--rounds", "99"),
        ("{id}#99",),
        ("{id}", "--engagement", "nothing-like-it"),
        ("{id}", "--compressed", "--full"),
        ("{id}", "--query", "x", "--rounds", "1"),
        ("{id}", "--query", "   "),
    ],
)
def test_bad_requests_get_a_sentence(shelf: Shelf, run: Run, args: tuple[str, ...]) -> None:
    """One clear sentence, status 2."""
    id = session_of(shelf, "passkey")[:8]
    done = run("context", *(arg.format(id=id) for arg in args), ok=False)
    assert done.returncode == 2
    assert done.stderr.strip()


def test_a_session_named_twice_is_told_once(shelf: Shelf) -> None:
    """CTX-01: the rounds of both addresses, each once, under one heading."""
    id = session_of(shelf, "passkey")
    context = materialise(shelf, [f"{id}#1-2", f"{id}#4", f"{id}#2"])
    assert rounds_told(context) == [(id, 1), (id, 2), (id, 4)]
    assert context.text.count("\n## ") == 1


@pytest.mark.parametrize(
    "given",
    [
        {"engagement": "e", "query": "x"},
        {"rounds": "1", "query": "x"},
        {"names": "{id}#1", "rounds": "3"},
        {"names": "{id}#1", "query": "x"},
    ],
)
def test_rounds_are_chosen_in_one_way(shelf: Shelf, given: dict[str, str]) -> None:
    """Nothing that was asked for is silently ignored."""
    id = session_of(shelf, "passkey")
    names = [given.pop("names", "{id}").format(id=id)]
    with pytest.raises(BadArgument):
        materialise(shelf, names, **given)  # type: ignore[arg-type]  # texts, all of them


def test_a_compressed_engagement_is_lines(shelf: Shelf) -> None:
    """CTX-02: both wishes count."""
    record = next(r for r in shelf.minutes.records().values() if len(r.engagements) > 1)
    id = record.engagements[1].id
    context = materialise(shelf, [record.session_id], engagement=id, mode="compressed")
    assert {piece.told for piece in context.pieces} == {"reference"}


def test_addresses_name_one_session(tmp_path: Path) -> None:
    """CTX-03: where eight characters fit two sessions, references have more."""
    for last in "12":
        id = f"aaaaaaaa-0000-4000-8000-00000000000{last}"
        path = tmp_path / "claude" / "projects" / "-x" / f"{id}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        records = [user(f"Tree {n}?", sessionId=id, uuid=f"{last}{n}") for n in range(4)]
        path.write_bytes(b"".join(as_line(r) + b"\n" for r in records))
    shelf = taken(tmp_path / "claude", tmp_path / "archive")
    context = materialise(shelf, ["aaaaaaaa-0000-4000-8000-000000000001"])
    assert "aaaaaaaa-0000-4000-8000-000000000001#1" in context.pieces[0].inject


def test_no_part_of_a_secret_is_told(tmp_path: Path) -> None:
    """VIEW-12: not behind an escape sequence, at a cut, in input or output; nor by `show`."""
    own = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"
    secret = "gh" + "p_" + own
    coloured = f"{secret[:12]}\x1b[31m{secret[12:]}"
    id = "11111111-2222-4333-8444-555555555555"
    records = []
    for n, before in enumerate((85, 95, 100, 225)):
        records += [
            user("x" * before + f" {secret} and {coloured}", sessionId=id, uuid=f"u{n}"),
            assistant(
                f"Look: {'y' * before} {secret}",
                tool_use(f"t{n}", command=f"{'z' * before} {secret}"),
                id=f"m{n}",
                sessionId=id,
                uuid=f"a{n}",
            ),
            tool_result(
                f"t{n}", f"{coloured}\n{'w' * before} {secret}", sessionId=id, uuid=f"r{n}"
            ),
        ]
    path = tmp_path / "claude" / "projects" / "-x" / f"{id}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"".join(as_line(r) + b"\n" for r in records))
    shelf = taken(tmp_path / "claude", tmp_path / "archive")
    texts = [materialise(shelf, [id], mode=mode).text for mode in ("full", "compressed")]
    texts.append(materialise(shelf, [id], budget=3_000).text)
    texts.append(str(shelf.minutes.records()))
    places = ["--root", str(tmp_path / "claude"), "--archive", str(tmp_path / "archive")]
    for options in ([], ["--full"]):
        command = [sys.executable, "-m", "minutebook", "show", id, *options, *places]
        texts.append(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    for text in texts:
        for start in range(len(own) - 8):
            assert own[start : start + 8].lower() not in text.lower()


def test_secrets_are_masked_unless_asked_for(tmp_path: Path) -> None:
    """VIEW-12: one module masks, here too."""
    secret = "gh" + "p_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"
    path = tmp_path / "11111111-2222-4333-8444-555555555555.jsonl"
    path.write_bytes(as_line(user(f"Use {secret} please", sessionId=path.stem)) + b"\n")
    command = [
        sys.executable,
        "-m",
        "minutebook",
        "context",
        path.stem,
        "--full",
        "--root",
        str(path),
    ]
    for option, shown in ((), False), (("--secrets",), True):
        done = subprocess.run([*command, *option], capture_output=True, text=True, check=True)
        assert (secret in done.stdout) is shown
