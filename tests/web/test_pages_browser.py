"""The pages in a real browser: typing, choosing, no scripts, narrow, for everybody, hostile."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.conftest import as_line
from tests.web.conftest import Served, Written, needs_chromium, ready, start
from tests.web.test_accessibility_browser import LOOKS, troubles
from tests.web.test_xss_browser import PAYLOADS, Tour, hostile, hostile_minutes, walk

pytestmark = needs_chromium


def paths_of(served: Served) -> list[str]:
    """Every page of this file's, with something on it."""
    found = ["/search", "/search?q=the", "/search?q=the&method=build&in=turns", "/decisions"]
    found += ["/usage", "/usage?by=project&show=time", "/usage?by=session", "/files"]
    found += ["/threads", "/lineage", "/engagements"]
    file = served.json("/api/v1/files")["files"][0]["path"]
    found.append(f"/files?path={quote(file)}&read=1")
    for thread in served.json("/api/v1/threads")["threads"][:1]:
        found.append(f"/threads/{quote(thread['id'], safe='')}")
    for family in served.json("/api/v1/lineage")["families"][:1]:
        session = next(node["id"] for node in family["nodes"] if node["type"] == "session")
        found.append(f"/lineage/{quote(session, safe='')}")
    return found


# -- searching


def test_what_was_chosen_stays_while_one_types(viewer: Served, page: Page) -> None:
    """VIEW-14, VIEW-23: the address keeps mode and facets, and all counts come after a pause."""
    ready(page, f"{viewer.url}/search?q=the&mode=lexical")
    page.locator('[data-facet="method"] a').first.click()
    page.wait_for_url("**method=*")
    page.wait_for_selector("html[data-ready]")
    page.locator("#q").fill("login")
    page.wait_for_selector('#results[data-for="login"]')
    said = parse_qs(urlsplit(page.url).query)
    assert said["q"] == ["login"] and said["mode"] == ["lexical"] and "method" in said
    expect(page.locator('[data-facet="where"] small').first).to_be_visible()


def test_facets_need_no_script(viewer: Served, browser: Browser) -> None:
    """VIEW-23: each is a link, and what it says is what it shows."""
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{viewer.url}/search?q=the")
        option = page.locator('[data-facet="project"] li a').first
        count = option.locator("small").inner_text()
        option.click()
        page.wait_for_url("**project=*")
        expect(page.locator("#results .results .note").first).to_contain_text(f"of {count},")
        page.get_by_text("show everything").click()
        page.wait_for_url("**/search?q=the")


def test_a_narrow_palette_has_room_for_its_results(viewer: Served, browser: Browser) -> None:
    """VIEW-14: at 400 px they have most of the width."""
    with browser.new_context(viewport={"width": 400, "height": 800}) as context:
        page = ready(context.new_page(), viewer.url)
        page.keyboard.press("/")
        page.keyboard.type("passkey")
        page.wait_for_selector('#palette-results[data-for="passkey"] .row')
        what = page.locator("#palette-results .what").first.bounding_box()
        assert what is not None and what["width"] > 230


def test_a_change_opens_in_view(viewer: Served, page: Page) -> None:
    """VIEW-21: from the files to the diff, in two clicks."""
    ready(page, f"{viewer.url}/files")
    page.locator("table.files tbody th a").first.click()
    page.wait_for_url("**path=*")
    page.locator(".row .open").first.click()
    page.wait_for_url("**/session/**")
    expect(page.locator("details.call[open]").first).to_be_in_viewport()


# -- for everybody


@pytest.mark.parametrize("look", list(LOOKS))
def test_every_page_is_for_everybody(viewer: Served, browser: Browser, look: str) -> None:
    """VIEW-14: axe finds nothing serious, and nothing is wider than the screen."""
    wide, serious = [], []
    with browser.new_context(bypass_csp=True, reduced_motion="reduce", **LOOKS[look]) as context:
        page = context.new_page()
        for path in paths_of(viewer):
            ready(page, viewer.url + path)
            serious += [f"{path} {trouble}" for trouble in troubles(page)]
            if page.evaluate(
                "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"
            ):
                wide.append(path)
    assert serious == []
    assert wide == []


# -- hostile words


@pytest.fixture(scope="module")
def tour(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tour]:
    """A walk through these pages, full of payloads."""
    folder = tmp_path_factory.mktemp("hostile-pages")
    written = Written(folder / "claude")
    first, second = written.session(*hostile()), written.session(*hostile())
    served = start(written.root, folder / "archive")
    served.settle()
    with (served.archive / "sessions" / "engagements.jsonl").open("ab") as file:
        for id in (first, second):
            minutes = {**hostile_minutes(), "session_id": id}
            for at, engagement in enumerate(minutes["engagements"]):
                engagement["phase"] = "in-progress" if at % 2 else engagement["phase"]
            file.write(as_line(minutes) + b"\n")
    words = quote(PAYLOADS[1])
    asked = [f"/search?q=window&{name}={words}" for name in ("project", "agent", "month", "in")]
    asked += [f"/usage?project={words}", f"/usage?by={words}", f"/files?q={words}"]
    asked += [f"/files?path={words}", f"/threads?q={words}", f"/threads/{words}"]
    asked += [f"/lineage?project={words}", f"/lineage/{words}", f"/engagements?q={words}"]
    asked += ["/usage?by=branch", "/usage?by=engagement", "/usage?by=thread", "/usage?by=model"]
    yield walk(browser, served, [*paths_of(served), *asked, f"/lineage/{first}"])
    served.stop()


def test_hostile_words_stay_words(tour: Tour) -> None:
    """VIEW-12: in every new place: nothing runs, leaves the machine, or becomes an element."""
    assert tour.pages >= 26
    assert (tour.pwned, tour.dialogs, tour.strangers) == ([], [], [])
    assert (tour.handlers, tour.links, tour.elements, tour.sums) == ([], [], [], [])
    assert [text for text in tour.complaints if "Content Security Policy" in text] == []


def test_the_pages_keep_to_the_policy(viewer: Served, browser: Browser) -> None:
    """VIEW-12: on ordinary sessions no console has anything to say."""
    assert walk(browser, viewer, paths_of(viewer)).complaints == []
