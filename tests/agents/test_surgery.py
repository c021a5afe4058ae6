"""Surgery: what becomes of a session that is cut, shortened, merged or split (OPS-17)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from minutebook.record.layout import Layout
from minutebook.record.reading import Inscription, read_inscription
from minutebook.errors import BadArgument, NotFound
from minutebook.model import Notice, Roster, Session, Text
from minutebook.sources.base import read_session
from minutebook.sources.claude_code.read import ClaudeReading
from minutebook.sources.library import Library
from minutebook.verbs.export import export_operated
from minutebook.verbs.inscribe import inscribe
from minutebook.verbs.materialise import Shelf
from minutebook.verbs.surgery import (
    Operated,
    compressed_engagement,
    full_after,
    merged,
    only_engagement,
    parse_map,
    split,
)
from tests.agents.conftest import Run, session_of, told


def read(shelf: Shelf, words: str) -> Inscription:
    document = shelf.open(session_of(shelf, words)).document
    assert document is not None
    return read_inscription(document)


@pytest.fixture(scope="module")
def one(shelf: Shelf) -> Inscription:
    return read(shelf, "passkey")


@pytest.fixture(scope="module")
def other(shelf: Shelf, one: Inscription) -> Inscription:
    found = (read_inscription(path) for path in shelf.layout.documents())
    return next(
        i for i in found if i.header.session_id != one.header.session_id and len(i.rounds) > 2
    )


def exported(operated: Operated, folder: Path) -> tuple[Session, bytes]:
    """What a reader finds in the transcript of an operation."""
    done = export_operated(operated, root=folder, cwd="/home/dev/x")
    return read_session(ClaudeReading(done.path, "full")), done.path.read_bytes()


def prompts(session: Session) -> Iterator[str]:
    return (round.prompt.text for round in session.rounds if round.prompt is not None)


def own_prompts(inscription: Inscription, *numbers: int) -> list[str]:
    return [
        r.prompt.text
        for r in inscription.rounds
        if r.prompt and (not numbers or r.number in numbers)
    ]


def notices(session: Session) -> str:
    return "\n".join(
        block.text
        for round in session.rounds
        for message in round.messages
        for block in message.blocks
        if isinstance(block, Notice)
    )


def test_full_after_a_moment(one: Inscription, tmp_path: Path) -> None:
    """OPS-17: rounds before are references, those after are whole."""
    middle = one.rounds[2]
    session, _ = exported(full_after(one, middle.started or ""), tmp_path)
    assert list(prompts(session)) == own_prompts(one, *range(3, len(one.rounds) + 1))
    assert f"minutebook show {one.header.session_id[:8]}#2" in notices(session)


def test_only_an_engagement(one: Inscription, tmp_path: Path) -> None:
    """OPS-17: its rounds whole, all others as references before and behind."""
    session, _ = exported(only_engagement(one, "e", range(2, 4)), tmp_path)
    assert list(prompts(session)) == own_prompts(one, 2, 3)
    told_there = notices(session)
    for number in (1, 4, len(one.rounds)):
        assert f"{one.header.session_id[:8]}#{number}`" in told_there


def test_a_compressed_engagement(one: Inscription, tmp_path: Path) -> None:
    """OPS-17: it becomes references where it was; the rest is whole and in order."""
    session, _ = exported(compressed_engagement(one, "e", range(2, 4)), tmp_path)
    rest = [n for n in range(1, len(one.rounds) + 1) if n not in (2, 3)]
    assert list(prompts(session)) == own_prompts(one, *rest)
    assert f"{one.header.session_id[:8]}#2`" in notices(session)


def test_merged_sessions(one: Inscription, other: Inscription, tmp_path: Path) -> None:
    """OPS-17: both, in the order of time; both are named as parents."""
    operated = merged(one, other)
    session, content = exported(operated, tmp_path)
    assert sorted(prompts(session)) == sorted([*own_prompts(one), *own_prompts(other)])
    starts = [round.started for round in session.rounds if round.started]
    assert starts == sorted(starts)
    origin = json.loads(content.split(b"\n")[0])["minutebook"]["origin"]["surgery"]
    assert origin["kind"] == "merge"
    assert origin["parents"] == [one.header.session_id, other.header.session_id]
    links = {link.session_id for link in session.info.links if link.evidence == "surgery"}
    assert links == set(origin["parents"])


def test_a_session_merged_with_itself_is_refused(one: Inscription) -> None:
    """Bad input gets a sentence."""
    with pytest.raises(BadArgument, match="itself"):
        merged(one, one)


def test_what_two_sessions_share_is_there_once(one: Inscription) -> None:
    """OPS-17: a fork merged with its parent holds the common rounds once, and says which."""
    import msgspec

    header = msgspec.structs.replace(one.header, session_id="f0000000-0000-4000-8000-000000000000")
    half = Inscription(one.path, header, one.rounds[:3])
    with pytest.raises(BadArgument, match="nothing that"):
        merged(one, half)
    new = msgspec.structs.replace(
        one.rounds[3],
        messages=tuple(
            msgspec.structs.replace(m, id=f"new-{m.id}") for m in one.rounds[3].messages
        ),
    )
    fork = Inscription(one.path, header, [*one.rounds[:3], new])
    operated = merged(one, fork)
    assert len(operated.rounds) == len(one.rounds) + 1
    assert len(operated.surgery.references) == 3
    assert any("in both" in remark for remark in operated.remarks)


def test_forks_that_part_inside_a_round_are_both_there(one: Inscription, tmp_path: Path) -> None:
    """OPS-17: the same prompt answered twice (a retry) is two rounds, and no answer is lost."""
    import msgspec

    replace = msgspec.structs.replace
    header = replace(one.header, session_id="f0000000-0000-4000-8000-000000000000")
    last = one.rounds[3]
    other_answer = tuple(
        m if m.role == "user" else replace(m, id=f"new-{n}", blocks=(Text("QUITE ANOTHER ANSWER"),))
        for n, m in enumerate(last.messages)
    )
    fork = Inscription(one.path, header, [*one.rounds[:3], replace(last, messages=other_answer)])
    operated = merged(one, fork)
    session, content = exported(operated, tmp_path)
    assert b"QUITE ANOTHER ANSWER" in content
    assert len(session.rounds) == len(one.rounds) + 1
    ids = [json.loads(line).get("uuid") for line in content.splitlines()]
    assert len(set(ids) - {None}) == len([id for id in ids if id])
    assert any("go on differently" in remark for remark in operated.remarks)


def test_other_rounds_are_another_session(one: Inscription) -> None:
    """OPS-17: the id tells what was chosen."""
    ids = {only_engagement(one, "e", range(1, n)).session_id for n in (2, 3, 4)}
    assert len(ids) == 3
    first = {part.session_id for part in split(one, {"a": "1-2", "b": "3-4"})}
    second = {part.session_id for part in split(one, {"a": "1-3", "b": "4"})}
    assert not first & second


def test_a_split_is_all_or_nothing(one: Inscription, run: Run, tmp_path: Path) -> None:
    """OPS-17: what is in the way of one part is found before any is written."""
    map_file = tmp_path / "map.json"
    map_file.write_text('{"a": "1-2", "b": "3-4"}')
    out = tmp_path / "parts"
    out.mkdir()
    second = split(one, {"a": "1-2", "b": "3-4"})[1]
    (out / f"{second.session_id}.jsonl").write_text("in the way")
    id = one.header.session_id[:8]
    assert run("export-claude", id, "--split", map_file, "--out", out, ok=False).returncode == 2
    assert len(list(out.iterdir())) == 1
    assert run("export-claude", id, "--engagement", "", ok=False).returncode == 2


def test_sessions_of_different_folders_and_times_are_remarked(
    one: Inscription, other: Inscription
) -> None:
    """OPS-17: where it resumes is said."""
    import msgspec

    moved = msgspec.structs.replace(other.header, cwd="/somewhere/else")
    operated = merged(one, Inscription(other.path, moved, other.rounds))
    assert any("different folders" in remark for remark in operated.remarks)


def test_split_by_a_map(one: Inscription, tmp_path: Path) -> None:
    """OPS-17: every part is a session; it names its parent, and shared rounds are references."""
    count = len(one.rounds)
    parts = split(one, {"begin": "1-3", "end": f"3-{count}"})
    assert [part.surgery.part for part in parts] == ["begin", "end"]
    assert {part.surgery.parent_session for part in parts} == {one.header.session_id}
    first, second = [exported(part, tmp_path)[0] for part in parts]
    assert list(prompts(first)) == own_prompts(one, 1, 2, 3)
    assert list(prompts(second)) == own_prompts(one, *range(4, count + 1))
    assert parts[1].surgery.references == (f"{one.header.session_id}#3",)
    assert f"{one.header.session_id[:8]}#3`" in notices(second)


def test_the_same_operation_gives_the_same_id(one: Inscription) -> None:
    """OPS-17: an export done twice is one file, not two."""
    assert full_after(one, one.rounds[1].started or "") == full_after(
        one, one.rounds[1].started or ""
    )
    ids = {part.session_id for part in split(one, {"a": "1-2", "b": f"3-{len(one.rounds)}"})}
    assert len(ids) == 2
    assert one.header.session_id not in ids


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"nonsense", "JSON"),
        (b"[]", "names parts"),
        (b"{}", "names parts"),
        (b'{"a": {}}', "needs rounds"),
        (b'{"a": []}', "needs rounds"),
        (b'{"a": "1-2"}', "leaves out rounds"),
        (b'{"a": "1-999"}', "no round 999"),
        (b'{"a": "x"}', "no round"),
        (b'{"a": "1-\xc2\xb2"}', "no round"),
        (b'{"a": "1", "a": "2-4"}', "twice"),
        (b'{"a": "1-99999999"}', "no round"),
    ],
)
def test_a_map_that_cannot_be_meant(one: Inscription, content: bytes, words: str) -> None:
    """A map with gaps, of no rounds, or no map at all: what is wrong is said."""
    with pytest.raises((BadArgument, NotFound), match=words):
        split(one, parse_map(content))


def test_gaps_are_named(one: Inscription) -> None:
    """Which rounds a map leaves out is said."""
    with pytest.raises(BadArgument, match="rounds 2, 4"):
        split(one, {"a": "1,3"} | ({"b": f"5-{len(one.rounds)}"} if len(one.rounds) > 4 else {}))


@pytest.mark.parametrize("moment", ["yesterdayish", "2100-01-01"])
def test_a_moment_that_cannot_be_meant(one: Inscription, moment: str) -> None:
    """Bad input gets a sentence."""
    with pytest.raises((BadArgument, NotFound)):
        full_after(one, moment)


def test_the_store_is_not_touched(shelf: Shelf, one: Inscription, run: Run, tmp_path: Path) -> None:
    """OPS-17: surgery is an export; the archive's files stay as they are."""
    before = {p: p.read_bytes() for p in shelf.layout.sessions.rglob("*.*") if p.is_file()}
    id = one.header.session_id[:8]
    out = tmp_path / "out.jsonl"
    done = told(
        run("export-claude", id, "--full-after", one.rounds[2].started, "--out", out, "--json")
    )
    assert done["exported"]["rounds"] == len(one.rounds) - 2
    after = {p: p.read_bytes() for p in shelf.layout.sessions.rglob("*.*") if p.is_file()}
    assert before == after


def test_the_command_line_splits_and_merges(
    one: Inscription, other: Inscription, run: Run, tmp_path: Path
) -> None:
    """OPS-17: `--split` writes several transcripts, `--merge` takes two sessions."""
    map_file = tmp_path / "map.json"
    map_file.write_text(json.dumps({"a": "1-2", "b": f"3-{len(one.rounds)}"}))
    ids = [one.header.session_id[:8], other.header.session_id[:8]]
    run("export-claude", ids[0], "--split", map_file, "--out", tmp_path / "parts")
    assert len(list((tmp_path / "parts").glob("*.jsonl"))) == 2
    run("export-claude", *ids, "--merge", "--out", tmp_path / "both.jsonl")
    assert (tmp_path / "both.jsonl").exists()
    assert run("export-claude", ids[0], "--merge", ok=False).returncode == 2
    assert run("export-claude", *ids, ok=False).returncode == 2
    both = ("--merge", "--full-after", "2026-01-01")
    assert run("export-claude", *ids, *both, ok=False).returncode == 2
    assert run("export-claude", ids[0], "--split", tmp_path / "none", ok=False).returncode == 2


def test_the_result_can_be_inscribed_again(one: Inscription, tmp_path: Path) -> None:
    """OPS-17: a merged or cut session is a session like any other."""
    done = export_operated(only_engagement(one, "e", range(2, 4)), root=tmp_path, cwd="/home/dev/x")
    layout = Layout(tmp_path / "archive")
    report = inscribe(layout, Roster(), Library([done.path]).transcripts, ended=True)
    assert [s.outcome for s in report.sessions] == ["new"]
