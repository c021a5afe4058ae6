"""Surgery: what becomes of a session that is cut, shortened, merged or split (OPS-17)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from minutebook.archive import Archive, open_archive
from minutebook.archive.session import OpenSession
from minutebook.errors import BadArgument, NotFound
from minutebook.model import Notice, Session
from minutebook.sources.base import read_session
from minutebook.sources.claude_code.read import ClaudeReading
from minutebook.verbs.export import export_operated
from minutebook.verbs.inscribe import inscribe
from minutebook.verbs.surgery import (
    Operated,
    compressed_engagement,
    full_after,
    merged,
    only_engagement,
    parse_map,
    split,
)
from tests.agents.conftest import Run, session_of, taken, told, written
from tests.conftest import Record, assistant, user

FORK = "f0000000-0000-4000-8000-000000000000"


@pytest.fixture(scope="module")
def one(archive: Archive) -> OpenSession:
    return archive.open(session_of(archive, "passkey"))


@pytest.fixture(scope="module")
def other(archive: Archive, one: OpenSession) -> OpenSession:
    others = (archive.open(id) for id in archive.records() if id != one.session_id)
    return next(session for session in others if session.count > 2)


def exported(archive: Archive, operated: Operated, folder: Path) -> tuple[Session, bytes]:
    """What a reader finds in the transcript of an operation."""
    done = export_operated(archive, operated, "claude-code", root=folder, cwd="/home/dev/x")
    return read_session(ClaudeReading(done.path, "full")), done.path.read_bytes()


def prompts(session: Session) -> Iterator[str]:
    return (round.prompt.text for round in session.rounds if round.prompt is not None)


def own_prompts(session: OpenSession, *numbers: int) -> list[str]:
    return [
        r.prompt.text
        for r in session.stored_rounds()
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


def test_full_after_a_moment(archive: Archive, one: OpenSession, tmp_path: Path) -> None:
    """OPS-17: rounds before are references, those after are whole."""
    middle = one.stored(3)
    session, _ = exported(
        archive, full_after(archive, one.session_id, middle.started or ""), tmp_path
    )
    assert list(prompts(session)) == own_prompts(one, *range(3, one.count + 1))
    assert f"minutebook show {one.session_id[:8]}#2" in notices(session)


def test_only_an_engagement(archive: Archive, one: OpenSession, tmp_path: Path) -> None:
    """OPS-17: its rounds whole, all others as references before and behind."""
    session, _ = exported(
        archive, only_engagement(archive, one.session_id, "e", range(2, 4)), tmp_path
    )
    assert list(prompts(session)) == own_prompts(one, 2, 3)
    told_there = notices(session)
    for number in (1, 4, one.count):
        assert f"{one.session_id[:8]}#{number}`" in told_there


def test_a_compressed_engagement(archive: Archive, one: OpenSession, tmp_path: Path) -> None:
    """OPS-17: it becomes references where it was; the rest is whole and in order."""
    session, _ = exported(
        archive, compressed_engagement(archive, one.session_id, "e", range(2, 4)), tmp_path
    )
    rest = [n for n in range(1, one.count + 1) if n not in (2, 3)]
    assert list(prompts(session)) == own_prompts(one, *rest)
    assert f"{one.session_id[:8]}#2`" in notices(session)


def test_merged_sessions(
    archive: Archive, one: OpenSession, other: OpenSession, tmp_path: Path
) -> None:
    """OPS-17: both, in the order of time; both are named as parents."""
    operated = merged(archive, one.session_id, other.session_id)
    session, content = exported(archive, operated, tmp_path)
    assert sorted(prompts(session)) == sorted([*own_prompts(one), *own_prompts(other)])
    starts = [round.started for round in session.rounds if round.started]
    assert starts == sorted(starts)
    origin = json.loads(content.split(b"\n")[0])["minutebook"]["origin"]["surgery"]
    assert origin["kind"] == "merge"
    assert origin["parents"] == [one.session_id, other.session_id]
    links = {link.session_id for link in session.info.links if link.evidence == "surgery"}
    assert links == set(origin["parents"])


def test_a_session_merged_with_itself_is_refused(archive: Archive, one: OpenSession) -> None:
    """Bad input gets a sentence."""
    with pytest.raises(BadArgument, match="itself"):
        merged(archive, one.session_id, one.session_id)


def exchange(number: int, id: str, said: str = "") -> list[Record]:
    """A round: a prompt and its answer."""
    at = f"2026-03-01T10:{number:02}:00.000Z"
    own = {"timestamp": at, "cwd": "/home/dev/x"}
    return [
        user(f"Question {number}", uuid=f"u{number}", **own),
        assistant(said or f"Answer {number}", id=f"m{id}", uuid=f"a{id}", **own),
    ]


def forked(folder: Path, later: list[Record], cwd: str | None = None) -> tuple[Archive, str]:
    """A session of four rounds, and a fork of its first three that went on in another way."""
    id = "a0000000-0000-4000-8000-000000000000"
    common = [record for n in (1, 2, 3) for record in exchange(n, str(n))]
    written(folder / "claude", id, *common, *exchange(4, "4"))
    fork = [*common, *later]
    written(folder / "claude", FORK, *({**r, "cwd": cwd or r["cwd"]} for r in fork))
    return taken(folder / "claude", folder / "archive"), id


def test_what_two_sessions_share_is_there_once(tmp_path: Path) -> None:
    """OPS-17: a fork merged with its parent holds the common rounds once, and says which."""
    archive, id = forked(tmp_path / "same", [])
    with pytest.raises(BadArgument, match="nothing that"):
        merged(archive, id, FORK)
    archive, id = forked(tmp_path / "other", exchange(5, "5"))
    operated = merged(archive, id, FORK)
    assert [r.prompt and r.prompt.text for r in operated.rounds] == [
        f"Question {n}" for n in (1, 2, 3, 4, 5)
    ]
    assert operated.surgery.references == tuple(f"{FORK}#{n}" for n in (1, 2, 3))
    assert any("in both" in remark for remark in operated.remarks)


def test_forks_that_part_inside_a_round_are_both_there(tmp_path: Path) -> None:
    """OPS-17: the same prompt answered twice (a retry) is two rounds, and no answer is lost."""
    archive, id = forked(tmp_path, exchange(4, "other", "QUITE ANOTHER ANSWER"))
    operated = merged(archive, id, FORK)
    session, content = exported(archive, operated, tmp_path)
    assert b"QUITE ANOTHER ANSWER" in content
    assert len(session.rounds) == 5
    ids = [json.loads(line).get("uuid") for line in content.splitlines()]
    assert len(set(ids) - {None}) == len([id for id in ids if id])
    assert any("go on differently" in remark for remark in operated.remarks)


def test_other_rounds_are_another_session(archive: Archive, one: OpenSession) -> None:
    """OPS-17: the id tells what was chosen."""
    ids = {only_engagement(archive, one.session_id, "e", range(1, n)).session_id for n in (2, 3, 4)}
    assert len(ids) == 3
    first = {part.session_id for part in split(archive, one.session_id, {"a": "1-2", "b": "3-4"})}
    second = {part.session_id for part in split(archive, one.session_id, {"a": "1-3", "b": "4"})}
    assert not first & second


def test_a_split_is_all_or_nothing(
    archive: Archive, one: OpenSession, run: Run, tmp_path: Path
) -> None:
    """OPS-17: what is in the way of one part is found before any is written."""
    map_file = tmp_path / "map.json"
    map_file.write_text('{"a": "1-2", "b": "3-4"}')
    out = tmp_path / "parts"
    out.mkdir()
    second = split(archive, one.session_id, {"a": "1-2", "b": "3-4"})[1]
    (out / f"{second.session_id}.jsonl").write_text("in the way")
    id = one.session_id[:8]
    assert run("export-claude", id, "--split", map_file, "--out", out, ok=False).returncode == 2
    assert len(list(out.iterdir())) == 1
    assert run("export-claude", id, "--engagement", "", ok=False).returncode == 2


def test_sessions_of_different_folders_and_times_are_remarked(tmp_path: Path) -> None:
    """OPS-17: where it resumes is said."""
    archive, id = forked(tmp_path, exchange(5, "5"), cwd="/somewhere/else")
    remarks = merged(archive, id, FORK).remarks
    assert any("different folders" in remark and "/home/dev/x" in remark for remark in remarks)


def test_split_by_a_map(archive: Archive, one: OpenSession, tmp_path: Path) -> None:
    """OPS-17: every part is a session; it names its parent, and shared rounds are references."""
    count = one.count
    parts = split(archive, one.session_id, {"begin": "1-3", "end": f"3-{count}"})
    assert [part.surgery.part for part in parts] == ["begin", "end"]
    assert {part.surgery.parent_session for part in parts} == {one.session_id}
    first, second = [exported(archive, part, tmp_path)[0] for part in parts]
    assert list(prompts(first)) == own_prompts(one, 1, 2, 3)
    assert list(prompts(second)) == own_prompts(one, *range(4, count + 1))
    assert parts[1].surgery.references == (f"{one.session_id}#3",)
    assert f"{one.session_id[:8]}#3`" in notices(second)


def test_the_same_operation_gives_the_same_id(archive: Archive, one: OpenSession) -> None:
    """OPS-17: an export done twice is one file, not two."""
    moment = one.stored(2).started or ""
    again = [full_after(archive, one.session_id, moment) for _ in range(2)]
    assert again[0].session_id == again[1].session_id
    assert list(again[0].rounds) == list(again[1].rounds)
    ids = {
        part.session_id
        for part in split(archive, one.session_id, {"a": "1-2", "b": f"3-{one.count}"})
    }
    assert len(ids) == 2
    assert one.session_id not in ids


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
        (b'{"a": "x"}', "not a round"),
        (b'{"a": "1-\xc2\xb2"}', "not a round"),
        (b'{"a": "1", "a": "2-4"}', "twice"),
        (b'{"a": "1-99999999"}', "no round"),
    ],
)
def test_a_map_that_cannot_be_meant(
    archive: Archive, one: OpenSession, content: bytes, words: str
) -> None:
    """A map with gaps, of no rounds, or no map at all: what is wrong is said."""
    with pytest.raises((BadArgument, NotFound), match=words):
        split(archive, one.session_id, parse_map(content))


def test_gaps_are_named(archive: Archive, one: OpenSession) -> None:
    """Which rounds a map leaves out is said."""
    with pytest.raises(BadArgument, match="rounds 2, 4"):
        split(
            archive,
            one.session_id,
            {"a": "1,3"} | ({"b": f"5-{one.count}"} if one.count > 4 else {}),
        )


@pytest.mark.parametrize("moment", ["yesterdayish", "2100-01-01"])
def test_a_moment_that_cannot_be_meant(archive: Archive, one: OpenSession, moment: str) -> None:
    """Bad input gets a sentence."""
    with pytest.raises((BadArgument, NotFound)):
        full_after(archive, one.session_id, moment)


def test_the_store_is_not_touched(
    archive: Archive, one: OpenSession, run: Run, tmp_path: Path
) -> None:
    """OPS-17: surgery is an export; the archive's files stay as they are."""
    before = {p: p.read_bytes() for p in archive.layout.sessions.rglob("*.*") if p.is_file()}
    id = one.session_id[:8]
    out = tmp_path / "out.jsonl"
    done = told(
        run("export-claude", id, "--full-after", one.stored(3).started, "--out", out, "--json")
    )
    assert done["exported"]["rounds"] == one.count - 2
    after = {p: p.read_bytes() for p in archive.layout.sessions.rglob("*.*") if p.is_file()}
    assert before == after


def test_the_command_line_splits_and_merges(
    one: OpenSession, other: OpenSession, run: Run, tmp_path: Path
) -> None:
    """OPS-17: `--split` writes several transcripts, `--merge` takes two sessions."""
    map_file = tmp_path / "map.json"
    map_file.write_text(json.dumps({"a": "1-2", "b": f"3-{one.count}"}))
    ids = [one.session_id[:8], other.session_id[:8]]
    run("export-claude", ids[0], "--split", map_file, "--out", tmp_path / "parts")
    assert len(list((tmp_path / "parts").glob("*.jsonl"))) == 2
    run("export-claude", *ids, "--merge", "--out", tmp_path / "both.jsonl")
    assert (tmp_path / "both.jsonl").exists()
    assert run("export-claude", ids[0], "--merge", ok=False).returncode == 2
    assert run("export-claude", *ids, ok=False).returncode == 2
    both = ("--merge", "--full-after", "2026-01-01")
    assert run("export-claude", *ids, *both, ok=False).returncode == 2
    assert run("export-claude", ids[0], "--split", tmp_path / "none", ok=False).returncode == 2


def test_the_result_can_be_inscribed_again(
    archive: Archive, one: OpenSession, tmp_path: Path
) -> None:
    """OPS-17: a merged or cut session is a session like any other."""
    operated = only_engagement(archive, one.session_id, "e", range(2, 4))
    done = export_operated(archive, operated, "claude-code", root=tmp_path, cwd="/home/dev/x")
    report = inscribe(open_archive(tmp_path / "archive", [done.path], create=True), ended=True)
    assert [s.outcome for s in report.sessions] == ["new"]


def test_rounds_are_whole_and_references_masked(tmp_path: Path) -> None:
    """ARC-06: an export gives the record back as it is; what it says of other rounds is masked."""
    secret = "gh" + "p_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"
    id = "a0000000-0000-4000-8000-000000000000"
    records = [r for n in (1, 2) for r in exchange(n, str(n), f"Number {n}: {secret}")]
    written(tmp_path / "claude", id, *records)
    archive = taken(tmp_path / "claude", tmp_path / "archive")
    (round,) = only_engagement(archive, id, "e", [2]).rounds
    note, *rest = round.messages
    assert "minutebook show a0000000#1" in str(note)
    assert secret not in str(note)
    assert secret in str(rest)


def test_surgery_is_the_same_without_the_transcript(tmp_path: Path) -> None:
    """ARC-02: everything comes from the archive, pictures too."""
    picture = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
    }
    id = "a0000000-0000-4000-8000-000000000000"
    shown = user([{"type": "text", "text": "Look"}, picture], uuid="p1")
    records = [*exchange(1, "1"), shown, assistant("I see", id="mp", uuid="ap")]
    path = written(tmp_path / "claude", id, *records)
    archive = taken(tmp_path / "claude", tmp_path / "archive")
    before = only_engagement(archive, id, "e", [2])
    rounds = list(before.rounds)
    assert "iVBORw0KGgo=" in str(rounds)
    path.unlink()
    after = only_engagement(open_archive(tmp_path / "archive", [path.parent]), id, "e", [2])
    assert after.session_id == before.session_id
    assert list(after.rounds) == rounds


def test_only_what_is_archived_is_cut(tmp_path: Path) -> None:
    """OPS-17: rounds that wait are not exported, and that is said; no session is made up."""
    id = "a0000000-0000-4000-8000-000000000000"
    records = [record for n in (1, 2, 3) for record in exchange(n, str(n))]
    path = written(tmp_path / "claude", id, *records)
    archive = open_archive(tmp_path / "archive", [path], create=True)
    with pytest.raises(NotFound, match="inscribe"):
        full_after(archive, id, "2026-03-01")
    inscribe(archive)
    archive = open_archive(tmp_path / "archive", [path])
    operated = full_after(archive, id, "2026-03-01")
    assert [round.number for round in operated.rounds] == [1, 2]
    assert any("wait" in remark for remark in operated.remarks)
