"""What holds for every agent that can be read, on all samples there are of it (AGT-02 … AGT-05)."""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import msgspec
import pytest

from minutebook.archive import Archive
from minutebook.model import Session, Unknown, Usage
from minutebook.sources.base import Reading, Transcript, read_session
from minutebook.sources.codex.results import json_or_text
from minutebook.sources.copilot.conversation import _opened
from minutebook.sources.library import Library, open_file, open_transcript
from minutebook.sources.registry import SOURCES
from minutebook.verbs.inscribe import inscribe
from tests.conftest import needs_corpus
from tests.programs.samples import (
    AGENTS,
    MOVED,
    all_samples,
    expectations,
    expected,
    homes,
    programs,
)

pytestmark = needs_corpus
SAMPLES = list(all_samples()) if AGENTS.is_dir() else []
LINES = [t for t in SAMPLES if t.path.suffix == ".jsonl" and not t.key]
WHOLE = [  # of a tree of files, none holds a session alone
    t
    for t in SAMPLES
    if t.path.suffix == ".json" and not t.key and b'"messages"' in t.path.read_bytes()
]
ODD: list[Any] = [None, True, -1, 1e300, "x", [], {}, [None, 1, {"type": None}], {"type": 7}]
ODD += ["\ud83d", {"type": "\ud83d", "id": "\ud83d"}]  # half a character: a text was cut there
ODD += [10**30, 2**63, float("nan"), float("inf"), "\0", "x" * 70_000, "9999-99-99T99:99:99Z"]


def name(transcript: Transcript) -> str:
    return f"{transcript.source}-{transcript.path.name[-30:]}{transcript.key[-12:]}"


@pytest.mark.parametrize("transcript", SAMPLES, ids=name)
def test_a_skim_says_what_a_full_reading_says(transcript: Transcript) -> None:
    """AGT-04: metadata, prompts and the words of both sides agree at both depths."""
    skim = read_session(open_transcript(transcript, "skim"))
    full = read_session(open_transcript(transcript, "full"))
    assert without_usage(skim) == without_usage(full)
    assert words(skim) == words(full)


def without_usage(session: Session) -> Any:
    info = json.loads(json.dumps(session.info, default=_plain))
    return {k: v for k, v in info.items() if k not in ("usage", "duration_ms", "cost", "models")}


def _plain(value: Any) -> Any:
    return msgspec.to_builtins(value)


def words(session: Session) -> list[tuple[int, int, str, list[str]]]:
    return [
        (
            round.number,
            round.tool_count,
            round.prompt.text if round.prompt is not None else "",
            [message.text for message in round.replies if message.text],
        )
        for round in session.rounds
    ]


@pytest.mark.parametrize("transcript", LINES, ids=name)
def test_reading_on_gives_what_one_reading_gives(transcript: Transcript, tmp_path: Path) -> None:
    """AGT-04: a file that grows is gone on with, and ends up the same."""
    source = SOURCES[transcript.source]
    lines = transcript.path.read_bytes().splitlines(keepends=True)
    path = tmp_path / transcript.path.name
    path.write_bytes(b"".join(lines))
    whole = rounds_of(source.read(open_as(transcript, path), "full"))
    cuts = sorted(random.Random(7).sample(range(1, len(lines)), min(6, len(lines) - 1)))
    for cut in cuts:
        path.write_bytes(b"".join(lines[:cut]))
        reading = source.read(open_as(transcript, path), "full")
        first = rounds_of(reading)[: reading.closed]
        if reading.checkpoint is None:
            continue
        path.write_bytes(b"".join(lines))
        resumed = source.resume(open_as(transcript, path), reading.checkpoint)
        assert resumed is not None
        assert first + rounds_of(resumed) == whole


@pytest.mark.parametrize("transcript", SAMPLES, ids=name)
def test_usage_is_not_a_lower_bound(transcript: Transcript) -> None:
    """USE-02: other agents write usage down when a response has ended, so each reply that has
    some ended; but for OpenCode, which says how, and Copilot's oldest, which have no input."""
    rounds = read_session(open_transcript(transcript)).rounds
    replies = [message for round in rounds for message in round.messages]
    open_ended = [m.usage for m in replies if m.usage is not None and m.stop is None]
    assert [reply for round in rounds for reply in round.progress if reply.stop is None] == []
    if transcript.source == "opencode":
        assert all(usage == Usage() for usage in open_ended)
    elif transcript.source == "copilot":
        assert all(usage == Usage(output=usage.output) for usage in open_ended)
    else:
        assert open_ended == []


def open_as(transcript: Transcript, path: Path) -> Transcript:
    stat = path.stat()
    return Transcript(
        path, transcript.source, transcript.session_id, stat.st_size, stat.st_mtime, None
    )


def rounds_of(reading: Reading) -> list[Any]:
    return list(reading.rounds())


@pytest.mark.parametrize("transcript", LINES, ids=name)
def test_nothing_in_a_file_makes_it_fail(transcript: Transcript, tmp_path: Path) -> None:
    """FMT-03, FMT-04: odd values anywhere, torn lines, rubbish: read, counted, never raised."""
    chance = random.Random(11)
    lines = transcript.path.read_bytes().splitlines()
    path = tmp_path / transcript.path.name
    for _ in range(8):
        broken = []
        for line in chance.sample(lines, min(len(lines), 60)):
            record = decoded(line)
            for _ in range(chance.randint(0, 3)):
                spoil(record, chance)
            broken.append(json.dumps(record).encode())
        broken.insert(len(broken) // 2, b'{"half')
        broken.append(b"\xff\xfe rubbish")
        path.write_bytes(b"\n".join(broken))
        for depth in ("skim", "full"):
            reading = SOURCES[transcript.source].read(open_as(transcript, path), depth)
            msgspec.json.encode(read_session(reading))  # it can be written down
            assert depth == "skim" or len(reading.report.bad_lines) >= 1


@pytest.mark.parametrize("source", sorted({t.source for t in LINES}))
def test_no_field_of_any_record_makes_it_fail(source: str, tmp_path: Path) -> None:
    """FMT-04: each field of each kind of record, with something of each type in its place."""
    kinds: dict[tuple[str, ...], tuple[Transcript, bytes, Any]] = {}
    for transcript in (t for t in LINES if t.source == source):
        head, *lines = transcript.path.read_bytes().splitlines()
        for line in (head, *lines):
            record = decoded(line) if len(line) < 20_000 else {}
            if record:
                kinds.setdefault(kind_of(record), (transcript, head, record))
    for transcript, head, record in kinds.values():
        path = tmp_path / transcript.path.name
        lines = [head]
        for where in fields(record):
            for odd in (None, [], {}, ["a"], {"a": 1}, 10**30, -1, "\0", "\ud83d"):
                spoilt = deepcopy(record)
                inside = spoilt
                for key in where[:-1]:
                    inside = inside[key]
                inside[where[-1]] = odd
                lines.append(json.dumps(spoilt).encode())
        path.write_bytes(b"\n".join([*lines, json.dumps(record).encode(), b""]))
        for depth in ("skim", "full"):
            reading = SOURCES[source].read(open_as(transcript, path), depth)
            msgspec.json.encode(read_session(reading))
            assert depth == "skim" or reading.checkpoint is not None or not reading.at_end


def kind_of(record: Any) -> tuple[str, ...]:
    """What tells records apart, wherever an agent has it."""
    inside = [v for key in ("payload", "data", "message") if isinstance(v := record.get(key), dict)]
    inside += [v["item"] for v in inside if isinstance(v.get("item"), dict)]
    return tuple(
        str(one.get(key)) for one in (record, *inside) for key in ("type", "subtype", "role")
    )


def fields(value: Any, where: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Places in a record; of a list, those of its first item."""
    inside = value.items() if isinstance(value, dict) else enumerate(value[:1])
    for key, one in inside:
        yield (*where, key)
        if isinstance(one, dict | list) and len(where) < 6:
            yield from fields(one, (*where, key))


@pytest.mark.parametrize("transcript", WHOLE, ids=name)
def test_nothing_in_a_whole_file_makes_it_fail(transcript: Transcript, tmp_path: Path) -> None:
    """FMT-03, FMT-04: odd values anywhere are read; half a file is a trouble, and nothing else."""
    chance = random.Random(13)
    raw = transcript.path.read_bytes().strip()
    path = tmp_path / transcript.path.name
    for _ in range(30):
        session = json.loads(raw)
        for _ in range(chance.randint(1, 6)):
            spoil(session, chance)
        path.write_text(json.dumps(session), encoding="utf-8")
        for depth in ("skim", "full"):
            reading = SOURCES[transcript.source].read(open_as(transcript, path), depth)
            msgspec.json.encode(read_session(reading))
    for cut in (0, 1, len(raw) // 2, len(raw) - 1):
        path.write_bytes(raw[:cut])
        with pytest.raises(OSError, match=r"half-written|blank"):
            read_session(SOURCES[transcript.source].read(open_as(transcript, path), "full"))


@pytest.mark.parametrize("source", sorted({t.source for t in LINES}))
def test_half_a_character_is_written_down_as_a_mark(source: str, tmp_path: Path) -> None:
    """FMT-03: a text that was cut inside of a character is valid JSON, and no UTF-8: a record
    nobody knows is kept, and with it."""
    transcript = next(t for t in LINES if t.source == source)
    path = tmp_path / transcript.path.name
    odd = [
        b'{"type":"never-heard-of","left":"\\ud83d"}',
        b'{"type":"nor-of","left":"\xed\xa0\xbd"}',
    ]
    path.write_bytes(b"\n".join([*transcript.path.read_bytes().splitlines(), *odd, b""]))
    session = read_session(SOURCES[source].read(open_as(transcript, path), "full"))
    kept = [b for r in session.rounds for b in r.blocks if isinstance(b, Unknown)]
    texts = [msgspec.json.encode(block).decode() for block in kept]
    assert sum('"left":"\N{REPLACEMENT CHARACTER}' in text for text in texts) == len(odd)


def test_what_a_call_was_given_may_hold_half_a_character() -> None:
    """FMT-03: where an agent writes JSON in a text, the text is fine and what is in it is not."""
    for opened in (json_or_text, _opened):
        found = opened('{"cmd": "echo \\ud83d"}')
        assert found == {"cmd": "echo \N{REPLACEMENT CHARACTER}"}


def decoded(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return {}


def spoil(value: Any, chance: random.Random) -> None:
    """Put something odd anywhere inside."""
    while isinstance(value, dict | list) and value:
        key: Any = chance.choice(list(value) if isinstance(value, dict) else range(len(value)))
        if chance.random() < 0.4 or not isinstance(value[key], dict | list):
            value[key] = deepcopy(chance.choice(ODD))  # else one would end up in itself
            return
        value = value[key]


@pytest.mark.parametrize("program", programs())
def test_archived_once_and_for_all(program: str, tmp_path: Path) -> None:
    """AGT-04, AGT-05, INS-18: the same bytes each time, nothing to do the second time, and all of
    it readable once the source is gone."""
    home = next(iter(homes(program)), AGENTS / program)
    source = SOURCES.by_program(program)
    assert source is not None
    copy = tmp_path / "home"
    shutil.copytree(home, copy)
    places = tuple(place for place in [copy, *copy.glob("**/")] if source.claims(place))[:1]
    archives = [Archive(tmp_path / n, places) for n in ("one", "two")]
    for archive in archives:
        report = inscribe(archive, ended=True)
        assert {one.outcome for one in report.sessions} == {"new"}
    first, second = (documents(archive.root) for archive in archives)
    assert first == second
    assert any(f"sessions/{source.program}/" in path for path in first)
    assert {o.outcome for o in inscribe(archives[0], ended=True).sessions} == {"unchanged"}
    before = {
        t.session_id: read_session(open_transcript(t)) for t in archives[0].library.transcripts
    }
    shutil.rmtree(copy)
    left = Archive(tmp_path / "one", ())
    for id, session in before.items():
        assert [r.number for r in left.open(id).rounds()] == [r.number for r in session.rounds]


def documents(root: Path) -> dict[str, bytes]:
    files = [*root.glob("sessions/*/*.md"), *root.glob("sessions/*/*/rounds/*.json")]
    return {str(path.relative_to(root)): path.read_bytes() for path in files}


def test_each_session_is_listed_once(tmp_path: Path) -> None:
    """AGT-02: every agent's files in one home; nothing is claimed by two adapters."""
    home = tmp_path / "home"
    for program in programs():
        for folder in homes(program):
            shutil.copytree(folder, home, dirs_exist_ok=True)
    seen: dict[str, list[str]] = {}
    for source in SOURCES.values():
        for place in [p for p in home.rglob("*") if p.is_dir() and source.claims(p)]:
            for transcript in source.discover([place])[0]:
                seen.setdefault(str(transcript.path) + transcript.key, []).append(source.name)
    assert {path: names for path, names in seen.items() if len(set(names)) > 1} == {}


def test_a_home_of_everyone_is_found_without_being_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AGT-01: each agent's sessions in their own places, once, and no subagent among them."""
    for program in programs():
        for folder in homes(program):
            if "maintenance" not in str(folder):
                shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in MOVED:
        monkeypatch.delenv(name, raising=False)
    listed = Counter((t.session_id, t.source) for t in Library(()).transcripts)
    assert set(listed.values()) == {1}
    known = [(path, one) for path in expectations() for one in expected(path)["sessions"]]
    for path, one in known:
        source = SOURCES.by_program(path.parent.parent.name)
        assert source is not None
        wanted = 0 if one.get("kind") == "subagent" else 1
        assert listed[one["id"], source.name] == wanted, one["id"]


def test_a_file_is_opened_by_its_own_adapter() -> None:
    """FMT-02: any session's file can be named, and its agent is found out."""
    for transcript in [*LINES, *WHOLE]:
        assert open_file(transcript.path).source == transcript.source


def test_the_registry_names_every_adapter_once() -> None:
    """AGT-02: names and programs are unique."""
    assert len({source.program for source in SOURCES.values()}) == len(SOURCES)
    assert Library(()).places == ()
