"""Filters of a search in an archive: sessions, engagements, rounds and tools, all at once."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from minutebook.archive import Archive
from minutebook.archive.finding import search
from minutebook.archive.refreshing import refresh
from minutebook.derive.surfaces import surfaces_of
from minutebook.extract.offline import OfflineExtractor
from minutebook.index.query import Filters, parse_query
from minutebook.model import Round
from minutebook.model.engagement import SessionRecord
from minutebook.verbs.ingest import ingest
from minutebook.verbs.materialise import materialise


@pytest.fixture(scope="module")
def archive(examples: Path, tmp_path_factory: pytest.TempPathFactory) -> Archive:
    found = Archive(tmp_path_factory.mktemp("filters") / "archive", (examples,))
    ingest(found, OfflineExtractor())
    refresh(found)
    return found


def passes(record: SessionRecord, round: Round, filters: Filters) -> bool:
    """By hand."""
    engagement = next((e for e in record.engagements if e.covers(round.number)), None)
    named = " ".join(filter(None, (record.agent_name, record.agent_role, record.slug))).lower()

    def did(surface: str, words: str) -> bool:
        texts = (p.text for p in surfaces_of(round) if p.surface == surface)
        return any(words in " ".join(text.lower().split()) for text in texts)

    return (
        (not filters.agent or filters.agent in named)
        and (not filters.method or (engagement is not None and engagement.method == filters.method))
        and (not filters.phase or (engagement is not None and engagement.phase == filters.phase))
        and (not filters.branch or filters.branch in (round.branch or ""))
        and (not filters.command or did("commands", filters.command))
        and (not filters.error or did("errors", filters.error))
    )


def test_every_combination_is_filtering_by_hand(archive: Archive) -> None:
    """SRCH-08, SRCH-18: method, phase, agent, branch, command and error together."""
    records = archive.minutes.records()
    sessions = {id: list(archive.open(id).rounds()) for id in archive.ids()}
    choices = itertools.product(
        (None, "build", "discuss"),
        (None, "completed"),
        (None, "reed"),
        (None, "main"),
        (None, "git", "pytest"),
        (None, "no such"),
    )
    word, found_some = "the", 0
    for method, phase, agent, branch, command, error in choices:
        filters = Filters(
            method=method, phase=phase, agent=agent, branch=branch, command=command, error=error
        )
        query = parse_query(word, filters)
        hits = search(archive, query, where="turns", mode="lexical", limit=100, fresh=False).hits
        wanted = {
            id
            for id, rounds in sessions.items()
            for round in rounds
            if passes(records[id], round, filters) and _says(round, word)
        }
        ids = {id for hit in hits for id in (hit.session_id, *hit.copies)}
        assert {hit.session_id for hit in hits} <= wanted <= ids, filters
        found_some += bool(wanted)
    assert found_some > 5


def _says(round: Round, word: str) -> bool:
    blocks = [*round.asked, *(b for m in round.replies for b in m.blocks)]
    texts = " ".join(getattr(block, "said", "") or getattr(block, "text", "") for block in blocks)
    said = "".join(c if c.isalnum() else " " for c in texts.lower()).split()
    return word in said


def test_a_context_holds_filters(archive: Archive) -> None:
    """CTX-01, SRCH-18: a query that names a method, an agent or a project is held to it."""
    built = materialise(archive, [], query="agent:reed search", budget=4_000)
    names = {archive.record(piece.session_id).agent_name for piece in built.pieces}
    assert names == {"Reed"}
