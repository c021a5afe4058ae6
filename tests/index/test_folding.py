"""Copies of one conversation are one hit."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from minutebook.archive import Archive
from minutebook.archive.finding import search
from minutebook.cli.main import cli
from minutebook.extract.offline import OfflineExtractor
from minutebook.index.query import parse_query
from minutebook.verbs.ingest import ingest
from tests.archive.test_operations import put
from tests.conftest import Record, assistant, user

FIRST, FORK, OTHER = (f"{letter * 8}-2222-4333-8444-555555555555" for letter in "abc")


def rounds(*words: str, own: str = "shared") -> list[Record]:
    found: list[Record] = []
    for number, word in enumerate(words):
        at = f"2026-03-01T10:{number:02}:00.000Z"
        ids = [f"{own}-{kind}-{number:04}-4333-8444" for kind in "ua"]
        asked = user(f"Please look after the {word}.", uuid=ids[0], timestamp=at)
        found += [asked, assistant(f"The {word} is done. " * 40, id=ids[1], uuid=ids[1])]
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
    (own,) = search(archive, parse_query("quince"), where="turns", mode="lexical").hits
    assert (own.session_id, own.round, own.copies) == (FORK, 3, ())
