"""Copies of one conversation are one hit."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from minutebook import said
from minutebook.archive import Archive
from minutebook.archive.budgets import budget_overview
from minutebook.archive.finding import search
from minutebook.cli.main import cli
from minutebook.extract.offline import OfflineExtractor
from minutebook.index.query import Filters, Query, parse_query
from minutebook.model.said import Statement
from minutebook.record.engagements import append_record
from minutebook.verbs.correct import correct
from minutebook.verbs.ingest import ingest
from minutebook.verbs.stats import stats
from tests.archive.test_operations import put
from tests.conftest import Record, assistant, user

FIRST, FORK, OTHER = (f"{letter * 8}-2222-4333-8444-555555555555" for letter in "abc")


def rounds(*words: str, own: str = "shared") -> list[Record]:
    found: list[Record] = []
    for number, word in enumerate(words):
        at = f"2026-03-01T10:{number:02}:00.000Z"
        ids = [f"{own}-{kind}-{number:04}-4333-8444" for kind in "ua"]
        asked = user(f"Please look after the {word}.", uuid=ids[0], timestamp=at)
        done = f"The {word} is done ({own}). " * 40
        found += [asked, assistant(done, id=ids[1], uuid=ids[1])]
    return found


def test_a_fork_is_one_hit_the_most_complete(tmp_path: Path) -> None:
    """SRCH-20, UND-08: what both hold is found once, with the other named; what only one has is
    found there; the same words of another conversation are another hit."""
    places = tmp_path / "p"
    put(places, *rounds("walnut", "cherry"), name=FIRST)
    put(places, *rounds("walnut", "cherry", "quince"), name=FORK)
    put(places, *rounds("walnut", own="other"), name=OTHER)
    archive = Archive(tmp_path / "archive", (places,))
    ingest(archive, OfflineExtractor())
    for mode in ("lexical", "hybrid"):
        found = search(archive, parse_query("walnut"), mode=mode).hits
        turns = [hit for hit in found if hit.session_id != OTHER]
        assert [(hit.session_id, hit.copies) for hit in turns] == [(FORK, (FIRST,))]
        assert len(found) == 2
    run = CliRunner().invoke(
        cli, ["search", "walnut", "--root", str(places), "--archive", str(archive.root)]
    )
    assert f"also in {FIRST[:8]}" in run.output
    topic = (
        told[0]
        if (told := [e.topic for r, e in archive.engagements(copies=True) if r.copy_of])
        else ""
    )
    assert [h.copies for h in search(archive, parse_query(topic), mode="lexical").hits][:1] == [
        (FIRST,)
    ], "also where one is found by its label and the other by what was said"
    (own,) = search(archive, parse_query("quince"), where="turns", mode="lexical").hits
    assert (own.session_id, own.round, own.copies) == (FORK, 3, ())


LABELS: dict[str, Statement] = {
    "title": said.Set(values={"title": "Pomology for beginners"}),
    "topic": said.Set("1", values={"topic": "Pomology for beginners"}),
    "outcome": said.Set("1", values={"outcome": "Wrote pomology for beginners."}),
    "note": said.Note(text="pomology for beginners"),
}


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("spoken_of", [FIRST, FORK])
def test_a_label_is_shown_in_the_most_complete_copy(
    tmp_path: Path, label: str, spoken_of: str
) -> None:
    """SRCH-19, SRCH-20: a title, a topic or a note that copies have is one hit where most of the
    conversation is, whichever of them it was found in; with the others named, and quoted."""
    places = tmp_path / "p"
    for name, more in ((FORK, ()), (FIRST, ("medlar",)), (OTHER, ("medlar", "quince"))):
        put(places, *rounds("walnut", "cherry", *more), name=name)
    archive = Archive(tmp_path / "archive", (places,))
    ingest(archive, OfflineExtractor())
    archive.say(spoken_of, LABELS[label])
    for mode in ("lexical", "hybrid"):
        found = search(archive, parse_query("pomology beginners"), mode=mode).hits
        assert [(hit.session_id, hit.copies) for hit in found] == [(OTHER, (FIRST, FORK))]
        assert (found[0].round, found[0].side, found[0].is_label) == (1, label, True)
        assert "omology" in found[0].snippet.text


def test_a_label_that_only_one_copy_has_is_shown_there(tmp_path: Path) -> None:
    """SRCH-19, SRCH-20: another topic, or one that lacks words, is not quoted in its place."""
    places = tmp_path / "p"
    put(places, *rounds("walnut", "cherry"), name=FIRST)
    put(places, *rounds("walnut", "cherry", "quince"), name=FORK)
    archive = Archive(tmp_path / "archive", (places,))
    ingest(archive, OfflineExtractor())
    record = archive.minutes.stored()[FIRST]
    for id in ("another", record.engagements[0].id):
        own = msgspec.structs.replace(record.engagements[0], id=id, topic="Pomology for beginners")
        append_record(archive.layout, msgspec.structs.replace(record, engagements=(own,)))
        (hit,) = search(archive, parse_query("pomology"), mode="lexical").hits
        assert (hit.session_id, hit.copies, hit.side) == (FIRST, (FORK,), "topic")


def test_engagements_of_copies_are_listed_once(tmp_path: Path) -> None:
    """UND-08, SRCH-16: a list and statistics have the most complete, say how many they leave
    out, and have all with --copies; what began elsewhere at the same moment is no copy."""
    places = tmp_path / "p"
    for name, own in ((FIRST, "shared"), (FORK, "shared"), (OTHER, "other")):
        more = ("quince",) if name == FORK else ()
        put(places, *rounds("walnut", "cherry", "medlar", *more, own=own), name=name)
    archive = Archive(tmp_path / "archive", (places,))
    ingest(archive, OfflineExtractor())
    pairs = list(archive.engagements(copies=True))
    starts = {(record.session_id, engagement.started) for record, engagement in pairs}
    same = [pair for pair in pairs if pair[0].session_id in (FIRST, FORK)]
    assert len(same) == 2 and len({started for _, started in starts}) == 1
    for record, engagement in same:
        correct(archive, record.session_id, engagement.id, "topic=Look after trees")
    listed = search(archive, Query())
    assert (listed.copies_hidden, listed.total) == (1, 2)
    assert {hit.session_id for hit in listed.hits} == {FORK, OTHER}
    everything = search(archive, Query(filters=Filters(copies=True)))
    assert (everything.copies_hidden, everything.total) == (0, 3)
    assert stats(archive, Query()).copies_hidden == 1
    run = CliRunner().invoke(cli, ["search", "--root", str(places), "--archive", str(archive.root)])
    assert "Left out: 1 copy (--copies)." in run.output


def test_a_copy_with_other_ids_is_one_hit_too(tmp_path: Path) -> None:
    """SRCH-20, UND-08, FUT-02: agents that copy history under new ids make one conversation."""
    places = tmp_path / "p"
    first = rounds("walnut", "cherry")
    again = [
        {**record, "uuid": f"other-{at:04}-4333-8444-5555"}
        for at, record in enumerate(rounds("walnut", "cherry", "quince"))
    ]
    put(places, *first, name=FIRST)
    put(places, *again, name=FORK)
    archive = Archive(tmp_path / "archive", (places,))
    ingest(archive, OfflineExtractor())
    (hit,) = search(archive, parse_query("walnut"), where="turns", mode="lexical").hits
    assert (hit.session_id, hit.round, hit.copies) == (FORK, 1, (FIRST,))
    (own,) = search(archive, parse_query("quince"), where="turns", mode="lexical").hits
    assert (own.session_id, own.copies) == (FORK, ())
    assert [s.id for s in archive.sessions().sessions] == [FORK]
    assert archive.sessions().copies_hidden == 1
    overview = budget_overview(archive, Filters())
    assert (overview.sessions, overview.copies_hidden) == (1, 1)
