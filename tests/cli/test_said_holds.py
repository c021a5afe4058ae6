"""Whatever is said and taken back, in whatever order: it holds, whatever happens then."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from minutebook import said
from minutebook.archive import Archive
from minutebook.archive.threads import threads
from minutebook.cli.main import cli
from minutebook.errors import MinutebookError
from minutebook.extract.offline import OfflineExtractor
from minutebook.model.engagement import SessionRecord
from minutebook.model.said import Statement
from minutebook.record.documents import read_head
from minutebook.verbs.check_archive import check_archive
from minutebook.verbs.ingest import ingest
from minutebook.verbs.rebuild import rebuild
from tests.archive.test_operations import put
from tests.extract.test_copies import FIRST, FORK, OTHER, rounds

EVERY = (FIRST, FORK, OTHER)
WORDS = st.sampled_from(["Prune the old trees", "Ship it", "See the note of May"])
ROUND = st.integers(1, 5)
STATEMENTS: tuple[Callable[[int, int, str], Statement], ...] = (
    lambda a, _b, text: said.Set(str(a), values={"topic": text}),
    lambda a, b, _t: said.Set(str(a), values={"method": ("debug", "plan")[b % 2]}),
    lambda a, _b, text: said.Note(str(a), text=text),
    lambda a, _b, _t: said.Star(str(a)),
    lambda a, _b, _t: said.Hide(str(a)),
    lambda a, _b, _t: said.Unhide(str(a)),
    lambda a, b, _t: said.Thread(str(a), name=("", "mine", "yours")[b % 3]),
    lambda a, _b, _t: said.Unthread(str(a)),
    lambda a, b, _t: said.Split(str(a), round=b),
    lambda a, b, _t: said.Join(str(a), other=str(b)),
    lambda a, b, _t: said.Move(str(a), first=min(a, b), last=max(a, b)),
    lambda _a, _b, text: said.Set(values={"title": text}),
    lambda _a, _b, text: said.Set(values={"agent_name": text.split()[0], "summary": text}),
    lambda _a, _b, _t: said.Hide(),
    lambda _a, _b, _t: said.Star(),
    lambda _a, _b, _t: said.Undo(),
    lambda _a, _b, _t: said.Undo(),
)
Spoken = tuple[str, int, int, int, str, bool]
SPOKEN = st.tuples(
    st.sampled_from(EVERY),
    st.integers(0, len(STATEMENTS) - 1),
    ROUND,
    ROUND,
    WORDS,
    st.booleans(),
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A conversation, a fork of it that went its own way, and one that went on; ingested."""
    folder = tmp_path_factory.mktemp("said-holds")
    own = {FIRST: [], FORK: rounds(3, own="fork", start=5), OTHER: rounds(1, start=5)}
    for name, records in own.items():
        put(folder / "p", *rounds(4), *records, name=name)
    ingest(Archive(folder / "archive", (folder / "p",)), OfflineExtractor(), ended=True)
    return folder


def say(archive: Archive, spoken: Spoken) -> None:
    """By the library, or by the command line; what makes no sense is refused by both."""
    session, kind, a, b, text, typed = spoken
    statement = STATEMENTS[kind](a, b, text)
    if not typed:
        with suppress(MinutebookError):
            archive.say(session, statement)
        return
    places = ["--root", str(archive.places[0]), "--archive", str(archive.root)]
    done = CliRunner().invoke(cli, [*as_typed(session, statement), *places])
    assert done.exception is None or isinstance(done.exception, (MinutebookError, SystemExit))


def as_typed(session: str, statement: Statement) -> list[str]:
    about = [session, e] if (e := getattr(statement, "engagement", "")) else [session]
    match statement:
        case said.Set(values=values):
            return ["correct", *about, *(f"{name}={text}" for name, text in values.items())]
        case said.Note(text=text):
            return ["correct", "note", *about, text]
        case said.Thread(name=name):
            return ["thread", *about, *([name] if name else ["--none"])]
        case said.Unthread():
            return ["thread", *about, "--forget"]
        case said.Split(round=round):
            return ["correct", "split", *about, str(round)]
        case said.Join(other=other):
            return ["correct", "join", *about, other]
        case said.Move(first=first, last=last):
            return ["correct", "move", *about, f"{first}-{last}"]
    return ["correct", type(statement).__name__.lower(), *about]


def minutes(root: Path, places: Path) -> dict[str, Any]:
    """All that a person may have changed, as everybody sees it."""
    archive = Archive(root, (places,), lenient=True)
    known, listed = threads(archive), archive.sessions().sessions
    return {
        "records": {id: plain(record) for id, record in archive.records().items()},
        "threads": {thread.id: thread.members for thread in known.every},
        "sessions": {s.id: (s.name, s.title, s.hidden, s.copies) for s in listed},
        "titles": {id: read_head(archive.folder(id).document)[0].title for id in EVERY},
        "page": archive.layout.engagements_index.read_text(),
    }


def plain(record: SessionRecord) -> SessionRecord:
    """Without what another run may change: when it was made, and from what."""
    return msgspec.structs.replace(record, digest="", origin=None, usage=None)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(sequence=st.lists(SPOKEN, min_size=3, max_size=9))
def test_what_was_said_holds(
    whole: Path, tmp_path_factory: pytest.TempPathFactory, sequence: list[Spoken]
) -> None:
    """UND-07, ING-33, UND-08: any sequence of statements and undos gives the same minutes, threads,
    titles and lists after everything was extracted again, after the transcripts were deleted, and
    after everything disposable and every document was lost and made again."""
    folder = tmp_path_factory.mktemp("said")
    for name in ("archive", "p"):
        shutil.copytree(whole / name, folder / name)
    root, places = folder / "archive", folder / "p"
    for spoken in sequence:
        say(Archive(root, (places,)), spoken)
    assert check_archive(Archive(root, (places,))) == []
    expected = minutes(root, places)
    ingest(Archive(root, (places,)), OfflineExtractor(), again=True, ended=True)
    assert minutes(root, places) == expected
    shutil.rmtree(places)
    places.mkdir()
    ingest(Archive(root, (places,)), OfflineExtractor(), again=True, ended=True)
    assert minutes(root, places) == expected
    sessions = root / "sessions"
    for path in (*sessions.glob("*.db"), *sessions.glob("*/*.md"), sessions / "ledger.json"):
        path.unlink()
    rebuild(Archive(root, (places,)))
    assert minutes(root, places) == expected
    shutil.rmtree(folder)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(sequence=st.lists(SPOKEN, min_size=3, max_size=9))
def test_what_was_said_holds_for_another_extractor(
    whole: Path, tmp_path_factory: pytest.TempPathFactory, sequence: list[Spoken]
) -> None:
    """UND-07, ING-33: one that cuts in the same places, and has other ids and topics: cuts, marks,
    notes, threads and what was set are the same.

    Not where a cut is taken back: what was said meanwhile of a piece that is gone goes by its id,
    and where that is another, by the rounds it had.
    """
    kinds = {type(STATEMENTS[kind](a, b, text)) for _, kind, a, b, text, _ in sequence}
    assume(said.Undo not in kinds or not kinds & {said.Split, said.Join, said.Move})
    folder = tmp_path_factory.mktemp("said")
    for name in ("archive", "p"):
        shutil.copytree(whole / name, folder / name)
    archive = Archive(folder / "archive", (folder / "p",))
    for spoken in sequence:
        say(archive, spoken)
    expected = {id: said_of(archive.record(id)) for id in EVERY}
    content = archive.layout.engagements.read_text()
    for record in archive.minutes.stored().values():
        for engagement in record.engagements:
            content = content.replace(f'"{engagement.id}"', f'"other-{engagement.id}"')
    archive.layout.engagements.write_text(content.replace("Prune the shared", "Look after a"))
    now = Archive(archive.root, archive.places)
    assert {id: said_of(now.record(id)) for id in EVERY} == expected
    shutil.rmtree(folder)


def said_of(record: SessionRecord) -> list[tuple[object, ...]]:
    """What a person said of a session's engagements, by what they cover."""
    told: list[tuple[object, ...]] = []
    for e in record.engagements:
        names = [n.rpartition(".")[2] for n in record.corrected if n.startswith(f"{e.id}.")]
        values = tuple((name, getattr(e, name)) for name in sorted(names))
        told.append((e.ranges, e.starred, e.hidden, e.note, e.said_thread, values))
    return told
