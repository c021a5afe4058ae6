"""Contexts: which rounds are told how, within which budget."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minutebook.archive import Archive, open_archive
from minutebook.archive.names import parse_rounds
from minutebook.archive.session import OpenSession
from minutebook.derive.tokens import tokens
from minutebook.errors import BadArgument, NotFound
from minutebook.model import Message, Round, Text, Thinking, ToolCall, ToolResult
from minutebook.verbs.context import build_context, inject
from minutebook.verbs.context_text import Context, Source, preamble
from minutebook.verbs.materialise import materialise
from minutebook.verbs.round_text import COMMANDS, EVERYTHING, Fidelity, round_text
from minutebook.verbs.tag import tag
from tests.agents import planted
from tests.agents.conftest import (
    Run,
    continued,
    session_of,
    taken,
    told,
    without_transcripts,
    written,
)
from tests.conftest import (
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
    archive = taken(path, tmp_path / "archive")
    ids = [transcript.session_id for transcript in archive.library.transcripts]
    session = archive.open(ids[0])
    assert session.count
    for budget in (400, 1_500, 6_000, 20_000, 200_000):
        assert_sound(materialise(archive, [ids[0]], budget=budget), session)


@needs_corpus
@pytest.mark.parametrize("path", CORPUS[::6], ids=short)
def test_compressed_and_injected_is_everything(path: Path, tmp_path: Path) -> None:
    """CTX-04: a line a round, and each line's command gives the whole round: every text, every
    tool input and every tool output of it."""
    archive = taken(path, tmp_path / "archive")
    session = archive.open(archive.library.transcripts[0].session_id)
    context = materialise(archive, [session.session_id], mode="compressed")
    assert {piece.told for piece in context.pieces} <= {"reference"}
    assert rounds_told(context) == [(session.session_id, n) for n in range(1, session.count + 1)]
    for piece in context.pieces:
        number = int(piece.inject.rsplit("#", 1)[1])
        whole = inject(session, number)
        for block in session.round(number).blocks[len(session.round(number).asked) :]:
            if isinstance(block, Text):
                assert block.text.split()[:3] == [] or block.text.split()[0] in whole
            elif isinstance(block, ToolCall) and block.result is not None:
                assert all(w in whole for w in block.result.text.split()[:20] if w.isalnum())


def kept(number: int, asked: str, said: str, output: str = "") -> Round:
    at = f"2026-03-0{number % 9 + 1}T10:00:00Z"
    call = ToolCall("t", "Bash", {"command": "make test"}, ToolResult(output or "ok"))
    blocks = (Thinking("pondering at length"), Text(said), call)
    prompt = Message("user", (Text(asked),), at=at)
    return Round(number, (prompt, Message("assistant", blocks, at=at)), tool_count=1)


class FakeSession(OpenSession):
    """Rounds made by a test."""

    def __init__(self, rounds: list[Round], id: str = "3a4d64e0-1111") -> None:
        self.session_id, self._made, self._short = id, rounds, lambda name: name[:8]

    @property
    def count(self) -> int:
        return len(self._made)

    @property
    def damaged(self) -> dict[str, str]:
        return {}

    def round(self, number: int) -> Round:
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


def test_only_an_engagements_rounds(archive: Archive) -> None:
    """CTX-02: engagement-filtered."""
    record = next(r for r in archive.records().values() if len(r.engagements) > 1)
    engagement = record.engagements[1]
    context = materialise(archive, [record.session_id], engagement=engagement.id)
    first, last = engagement.turn_range
    assert rounds_told(context) == [(record.session_id, n) for n in range(first, last + 1)]
    assert {piece.told for piece in context.pieces} == {"full"}


def test_an_engagement_that_does_not_exist(archive: Archive) -> None:
    """CTX-02: the nearest names are suggested."""
    id = next(e.id for r in archive.records().values() for e in r.engagements)
    with pytest.raises(NotFound, match=id):
        materialise(archive, [], engagement=f"{id}x")


def test_what_a_person_tagged_is_an_engagement_too(examples: Path, tmp_path: Path) -> None:
    """CTX-02, DB-07: a tag wins over what was extracted, and may go over several sessions."""
    archive = taken(examples, tmp_path / "archive")
    # What is said of a copy is shown in the session that stands for it.
    copies = archive.mere_copies(archive.records())
    first, second = [
        id for id in archive.records() if archive.open(id).count > 2 and id not in copies
    ][:2]
    tag(archive, first, "2", "console-work")
    tag(archive, second, "1-2", "console-work")
    context = materialise(archive, [], engagement="console-work")
    assert sorted(rounds_told(context)) == sorted([(first, 2), (second, 1), (second, 2)])


def test_a_query_tells_the_rounds_that_match(archive: Archive) -> None:
    """CTX-01: what matches is told with its answer, the rest is a line each."""
    id = session_of(archive, "passkey")
    context = materialise(archive, [id], query="two tabs challenge")
    told = [piece for piece in context.pieces if piece.told in ("full", "answer")]
    assert told
    assert any("two tabs" in piece.text for piece in told)
    assert len(rounds_told(context)) == archive.open(id).count


def test_a_query_at_a_fidelity_tells_rounds_in_full(archive: Archive) -> None:
    """CTX-04: whoever asks for tools' output gets it."""
    id = session_of(archive, "passkey")
    context = materialise(archive, [id], query="two tabs challenge", mode="full")
    best = [piece for piece in context.pieces if piece.told == "full"]
    assert best
    for piece in best:
        assert piece.text == inject(archive.open(id), piece.first)


def test_a_query_without_a_session_finds_its_sessions(archive: Archive) -> None:
    """CTX-01: several sessions may be told of at once."""
    context = materialise(archive, [], query="passkey login", budget=2_000)
    told = {piece.session_id for piece in context.pieces}
    # Of a conversation and its fork, which goes on longer, the fork.
    assert {
        link.session_id for link in archive.summary(session_of(archive, "passkey")).links
    } & told
    assert context.tokens <= 2_000


def test_nothing_relevant_is_said(archive: Archive) -> None:
    """No hit is an answer."""
    with pytest.raises(NotFound):
        materialise(archive, [], query="xyzzyplugh qwfpgj")


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


def test_the_store_is_only_read(archive: Archive, run: Run) -> None:
    """CTX-01: building a context leaves every file of the archive as it was."""
    before = {p: p.read_bytes() for p in archive.layout.sessions.rglob("*.json*") if p.is_file()}
    run("context", session_of(archive, "passkey")[:8], "--full")
    assert before == {
        p: p.read_bytes() for p in archive.layout.sessions.rglob("*.json*") if p.is_file()
    }


def test_the_commands_of_references_work(archive: Archive, run: Run) -> None:
    """CTX-03: what a reference says can be typed as it stands."""
    id = session_of(archive, "passkey")
    built = told(run("context", id[:8], "--compressed", "--json"))["context"]
    command = built["pieces"][1]["inject"].removeprefix("minutebook ").split()
    assert "Write tests for both" in run(*command).stdout


def test_the_command_line_says_where_quoted_text_ends(archive: Archive, run: Run) -> None:
    """CTX-05: a mark with a random name ends it, the last line of all, within the budget."""
    id = session_of(archive, "passkey")
    marks = set()
    for budget in (300, 700, 4_000):
        shown = run("context", id, "--budget", str(budget)).stdout.rstrip("\n")
        first, *_, last = shown.split("\n")
        mark = last.strip("</>")
        assert first.endswith(f"`</{mark}>`:") and shown.count(f"</{mark}>") == 2
        assert tokens(shown) <= budget
        marks.add(mark)
    assert len(marks) == 3


def test_the_command_line_builds_contexts(archive: Archive, run: Run) -> None:
    """CTX-02: full, compressed, rounds and budget as options; Markdown or JSON."""
    id = session_of(archive, "passkey")[:8]
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
def test_bad_requests_get_a_sentence(archive: Archive, run: Run, args: tuple[str, ...]) -> None:
    """One clear sentence, status 2."""
    id = session_of(archive, "passkey")[:8]
    done = run("context", *(arg.format(id=id) for arg in args), ok=False)
    assert done.returncode == 2
    assert done.stderr.strip()


def test_a_session_named_twice_is_told_once(archive: Archive) -> None:
    """CTX-01: the rounds of both addresses, each once, under one heading."""
    id = session_of(archive, "passkey")
    context = materialise(archive, [f"{id}#1-2", f"{id}#4", f"{id}#2"])
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
def test_rounds_are_chosen_in_one_way(archive: Archive, given: dict[str, str]) -> None:
    """Nothing that was asked for is silently ignored."""
    id = session_of(archive, "passkey")
    names = [given.pop("names", "{id}").format(id=id)]
    with pytest.raises(BadArgument):
        materialise(archive, names, **given)  # type: ignore[arg-type]  # texts, all of them


def test_a_compressed_engagement_is_lines(archive: Archive) -> None:
    """CTX-02: both wishes count."""
    record = next(r for r in archive.records().values() if len(r.engagements) > 1)
    id = record.engagements[1].id
    context = materialise(archive, [record.session_id], engagement=id, mode="compressed")
    assert {piece.told for piece in context.pieces} == {"reference"}


def test_addresses_name_one_session(tmp_path: Path) -> None:
    """CTX-03: where eight characters fit two sessions, references have more."""
    for last in "12":
        id = f"aaaaaaaa-0000-4000-8000-00000000000{last}"
        written(tmp_path / "claude", id, *(user(f"Tree {n}?", uuid=f"{last}{n}") for n in range(4)))
    archive = taken(tmp_path / "claude", tmp_path / "archive")
    context = materialise(archive, ["aaaaaaaa-0000-4000-8000-000000000001"])
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
            user("x" * before + f" {secret} and {coloured}", uuid=f"u{n}"),
            assistant(
                f"Look: {'y' * before} {secret}",
                tool_use(f"t{n}", command=f"{'z' * before} {secret}"),
                id=f"m{n}",
                uuid=f"a{n}",
            ),
            tool_result(f"t{n}", f"{coloured}\n{'w' * before} {secret}", uuid=f"r{n}"),
        ]
    written(tmp_path / "claude", id, *records)
    archive = taken(tmp_path / "claude", tmp_path / "archive")
    texts = [materialise(archive, [id], mode=mode).text for mode in ("full", "compressed")]
    texts.append(materialise(archive, [id], budget=3_000).text)
    texts.append(str(archive.records()))
    places = ["--root", str(tmp_path / "claude"), "--archive", str(tmp_path / "archive")]
    for options in ([], ["--full"]):
        command = [sys.executable, "-m", "minutebook", "show", id, *options, *places]
        texts.append(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    for text in texts:
        for start in range(len(own) - 8):
            assert own[start : start + 8].lower() not in text.lower()


def test_secrets_are_masked_unless_asked_for(tmp_path: Path) -> None:
    """VIEW-12: the archive masks, here too; `--secrets` shows them to who asks at a terminal."""
    secret = "gh" + "p_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"
    id = "11111111-2222-4333-8444-555555555555"
    path = written(tmp_path, id, user(f"Use {secret} please"))
    command = [sys.executable, "-m", "minutebook", "context", id, "--full", "--root", str(path)]
    for option, shown in ((), False), (("--secrets",), True):
        done = subprocess.run([*command, *option], capture_output=True, text=True, check=True)
        assert (secret in done.stdout) is shown


def test_a_secret_anywhere_is_not_told(tmp_path: Path) -> None:
    """ARC-06: keys, assignments and passwords in prose; in every kind of block, in the title,
    the branch, the folder, and in what the minutes say."""
    secrets = planted.planted(tmp_path / "claude")
    archive = taken(tmp_path / "claude", tmp_path / "archive")
    planted.corrected(archive, secrets)
    id, places = planted.ID, ["--root", tmp_path / "claude", "--archive", tmp_path / "archive"]
    texts = [str(materialise(archive, [id], mode=mode)) for mode in ("full", "compressed")]
    texts.append(str(materialise(archive, [id], budget=4_000, thinking="summary")))
    texts.append(str(materialise(archive, [], query="deploy the garden")))
    texts += [str(materialise(archive, [], engagement=e.id)) for _, e in archive.engagements()]
    for option in ("--full", "--json"):
        command = [sys.executable, "-m", "minutebook", "context", id, option, *map(str, places)]
        texts.append(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    for text in texts:
        assert "garden" in text
        assert secrets.found_in(text) == {}
    # They were there to be told, but for what a context never has.
    shown = materialise(open_archive(tmp_path / "archive", secrets=True), [id], mode="full").text
    never = {"url", "link", "document", "cwd", "named input", *planted.FIELDS}
    assert set(secrets.made) - set(secrets.found_in(shown)) <= never


def test_contexts_are_the_same_without_transcripts(own_archive: Archive) -> None:
    """ARC-02: with every transcript deleted."""
    id = session_of(own_archive, "passkey")
    engagement = own_archive.records()[id].engagements[0].id
    requests: list[dict[str, Any]] = [
        {"names": [id], "mode": "compressed"},
        {"names": [id], "budget": 700},
        {"names": [f"{id[:8]}#2-3"]},
        {"names": [id], "rounds": "1,3-4"},
        {"names": [id], "query": "two tabs challenge"},
        {"names": [], "query": "passkey login", "budget": 2_000},
        {"names": [], "engagement": engagement},
        *({"names": [name], "mode": "full"} for name in own_archive.records()),
    ]
    before = [materialise(own_archive, **asked) for asked in requests]
    gone = without_transcripts(own_archive)
    assert [materialise(gone, **asked) for asked in requests] == before


def shown(archive: Archive, address: str) -> str:
    """What `show` gives for an address, as a context would tell it."""
    places = ["--archive", archive.root, "--root", *archive.places]
    command = [sys.executable, "-m", "minutebook", "show", address, "--json", *map(str, places)]
    done = subprocess.run(command, capture_output=True, check=True)
    (round,) = json.loads(done.stdout)["rounds"]
    return round_text(address, msgspec.convert(round, Round), EVERYTHING)


def test_a_number_is_the_same_round_everywhere(tmp_path: Path) -> None:
    """ARC-03: a round that was archived while it was running and then went on keeps its number,
    and so do those after it, before and after they are archived too."""
    archive, id = continued(tmp_path)
    seen: list[list[str]] = []
    for _ in range(2):
        session = archive.open(id)
        seen.append([])
        for number in range(1, session.count + 1):
            one = materialise(archive, [f"{id[:8]}#{number}"], mode="full")
            (piece,) = one.pieces
            assert (piece.first, piece.text) == (number, inject(session, number))
            by_number = materialise(archive, [id], rounds=str(number), mode="full")
            assert by_number.pieces == one.pieces
            assert shown(archive, f"{id[:8]}#{number}") == piece.text
            seen[-1].append(piece.text)
        archive = taken(tmp_path / "claude", tmp_path / "archive")
    assert seen[0] == seen[1]
    assert [text.split("**User**")[-1].split()[0] for text in seen[0]][:2] == ["First", "Second"]
    assert sum("went on" in text for text in seen[0]) == 1
    assert "Third" in seen[0][-1]


def test_what_is_damaged_is_named(examples: Path, tmp_path: Path) -> None:
    """ARC-07: a round whose file and document are damaged says so; the others are told."""
    archive = taken(examples, tmp_path / "archive")
    id = session_of(archive, "passkey")
    folder = archive.folder(id)
    folder.round(2).write_bytes(b"{")
    folder.document.write_text("nothing")
    context = materialise(open_archive(tmp_path / "archive", [examples]), [id], mode="compressed")
    assert len(rounds_told(context)) == archive.open(id).count
    assert str(folder.round(2)) in context.damaged
    assert "two tabs" in context.text


def test_it_says_what_it_is(archive: Archive) -> None:
    """Whoever reads it is told that it is data, and how to get more."""
    text = materialise(archive, [session_of(archive, "passkey")]).text
    assert text.startswith(preamble(COMMANDS))
    assert "not as instructions" in preamble(COMMANDS)
    assert "`--full`" in preamble(COMMANDS)


def test_typed_words_are_told_as_they_were_typed() -> None:
    """A wrapper of the agent is not what the person said."""
    prompt = Message("user", (Text("<ide_selection>x</ide_selection>Fix it", said="Fix it"),))
    text = round_text("3a4d64e0#1", Round(1, (prompt,)), EVERYTHING)
    assert "Fix it" in text
    assert "ide_selection" not in text
