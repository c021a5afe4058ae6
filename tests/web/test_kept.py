"""The viewer lists the engagements that projects keep (FUT-01)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from minutebook import engagement
from tests.engagement.test_in_the_archive import ID, MORNING, Place, session
from tests.web.conftest import Served, start

TOPIC = "Login <script>alert(1)</script> redirects"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder: Path = tmp_path_factory.mktemp("kept")
    place = Place(folder)
    session(place.root, place.project)
    engagement.start(place.project, TOPIC, "build", now=MORNING)
    engagement.note(place.project, obligation="Tell ops", due="2026-03-05", now=MORNING)
    place.taken()
    found = start(place.root, folder / "archive", "--no-ingest")
    yield found
    found.stop()


def test_the_home_page_lists_what_is_open_and_overdue(served: Served) -> None:
    """FUT-01, VIEW-12: a plain list; the file's words are only words."""
    page = served.get("/")[2]
    assert "Open now, by engagement.md" in page and "<strong>overdue</strong>" in page
    assert "Login &lt;script&gt;" in page and "<script>alert" not in page


def test_the_session_page_says_which_phases_it_saw(served: Served) -> None:
    """FUT-01, INS-08: with the engagement it took part in."""
    page = served.get(f"/session/{ID}")[2]
    assert "started → started" in page and "by engagement.md" in page


def test_programs_get_the_same(served: Served) -> None:
    """FUT-01: /api/v1/engagement-files, and `kept` in every engagement."""
    (file,) = served.json("/api/v1/engagement-files")["engagements"]
    assert file["kept"] == "prospective" and file["overdue"][0]["what"] == "Tell ops"
    (row,) = served.json("/api/v1/engagements")["engagements"]
    assert (row["kept"], row["prospective"]) == ("prospective", file["id"])
