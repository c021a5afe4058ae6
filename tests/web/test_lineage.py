"""The lineage of a session in the viewer: a plain list with links, and the API."""

from __future__ import annotations

import re

from tests.web.conftest import Served

FIRST = "3a4d64e0-b51c-589c-948b-4beab5869bb6"
SECOND = "7c8fc3ae-4707-5518-bd7d-1ffffd093cb2"


def listed(page: str) -> list[tuple[str, str, str]]:
    """Relation, address and name of each line of the list."""
    (own,) = re.findall(r'<nav class="lineage"[^>]*>(.*?)</nav>', page, re.DOTALL)
    found = re.findall(r"<li[^>]*>([^<]*)<a href=\"([^\"]*)\"><bdi>(.*?)</bdi>", own)
    return [(relation.strip(), href, name) for relation, href, name in found]


def test_the_session_page_lists_where_it_comes_from(viewer: Served) -> None:
    """FUT-02, VIEW-13: both ways, by name and with a link to the round; no id to be read."""
    (up,) = listed(viewer.get(f"/session/{SECOND}")[2])
    assert up[0] == "Resumes" and up[2] == "Add passkey login to orchard"
    assert up[1].startswith(f"/session/{FIRST}?round=4")
    page = viewer.get(f"/session/{FIRST}")[2]
    (down,) = listed(page)
    assert down[0] == "Resumed by" and down[1].startswith(f"/session/{SECOND}")
    assert viewer.get(up[1])[0] == 200
    words = re.sub(r"<[^>]*>", " ", page.split('<nav class="lineage"')[1].split("</nav>")[0])
    assert "7c8fc3ae" not in words


def test_the_api_tells_the_same(viewer: Served) -> None:
    """FUT-02: of one session, and all families with total and pages."""
    one = viewer.json(f"/api/v1/sessions/{SECOND}/lineage")
    assert one["session_id"] == SECOND
    (edge,) = one["lineage"]["edges"]
    assert (edge["older"], edge["newer"], edge["kind"]) == (FIRST, SECOND, "resumes")
    every = viewer.json("/api/v1/lineage")
    assert (every["total"], every["next"], every["families"]) == (1, None, [one["lineage"]])
    assert viewer.get("/api/v1/sessions/nothing/lineage")[0] == 404
