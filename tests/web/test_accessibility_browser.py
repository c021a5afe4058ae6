"""axe-core finds nothing serious on any page, in light, in dark, and on a narrow screen."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]  # it has none
from playwright.sync_api import Browser, BrowserContext, Page

from tests.web.conftest import (
    Served,
    engagement,
    minutes_of,
    needs_chromium,
    ready,
    shown_minutes,
    start,
)
from tests.web.test_board_browser import SIGNS

pytestmark = needs_chromium

ALL = "user,assistant,thinking,calls,results"
LOOKS: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light", "viewport": {"width": 1280, "height": 860}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1280, "height": 860}},
    "narrow": {"color_scheme": "light", "viewport": {"width": 400, "height": 800}},
}


@pytest.fixture(scope="module")
def dense(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """300 engagements of all methods and phases in one day."""
    day, methods = datetime(2026, 3, 10, tzinfo=UTC), list(SIGNS)
    phases = ("started", "in-progress", "blocked", "completed", "abandoned", "handed-off")
    records = [
        minutes_of(
            at,
            engagement(
                day + timedelta(minutes=4 * at),
                methods[at % 11],
                f"Piece {at}",
                phase=phases[at % 6],
                key_decisions=["A first", "A second"],
            ),
            agent_name="Reed",
        )
        for at in range(300)
    ]
    served = shown_minutes(tmp_path_factory.mktemp("dense"), *records)
    yield served
    served.stop()


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("empty")
    (folder / "claude").mkdir()
    served = start(folder / "claude", folder / "archive")
    yield served
    served.stop()


@pytest.fixture(scope="module", params=list(LOOKS))
def context(browser: Browser, request: pytest.FixtureRequest) -> Iterator[BrowserContext]:
    """Without the policy, which would keep axe itself out; without motion."""
    options = LOOKS[request.param]
    with browser.new_context(bypass_csp=True, reduced_motion="reduce", **options) as opened:
        yield opened


@pytest.fixture(scope="module")
def page(context: BrowserContext) -> Page:
    return context.new_page()


def troubles(page: Page) -> list[str]:
    """What axe finds serious or critical: rule, and where."""
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [
        f"{trouble['id']}: {node['html'][:160]} {[why['message'] for why in node['any']]}"
        for trouble in found
        if trouble["impact"] in ("serious", "critical")
        for node in trouble["nodes"][:3]
    ]


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/?method=build", "/?view=sessions&ghosts=1"),
        *("/?project=%3Dorchard&group=method", "/?from=2026-03-09&to=2026-03-10"),
        *("/decisions", "/search?q=passkey", "/nowhere"),
    ],
)
def test_pages_of_the_examples(viewer: Served, page: Page, path: str) -> None:
    """VIEW-14: everybody can use the pages of the minutes."""
    assert troubles(ready(page, viewer.url + path)) == []


def test_a_session_with_everything_open(viewer: Served, page: Page) -> None:
    """VIEW-14: the transcript with all toggles on and its calls unfolded."""
    sessions = viewer.json("/api/v1/sessions?copies=1")["sessions"]
    id = next(s["session_id"] for s in sessions if s["title"] == "Add passkey login to orchard")
    ready(page, f"{viewer.url}/session/{id}?show={ALL}")
    closed = page.locator("details.block:not([open])")
    while closed.count():  # one by one: parts come and go while one scrolls
        closed.first.locator("summary").click()
    page.wait_for_function("() => !document.querySelector('details.block > .unfold')")
    page.wait_for_selector("#strip svg")
    assert troubles(page) == []
    assert troubles(ready(page, f"{viewer.url}/session/{id}/story")) == []


def test_the_palette_with_results(viewer: Served, page: Page) -> None:
    """VIEW-14: the palette, open."""
    ready(page, viewer.url)
    page.keyboard.press("/")
    page.keyboard.type("passkey")
    page.wait_for_selector('#palette-results[data-for="passkey"]')
    assert troubles(page) == []


def test_a_card(viewer: Served, page: Page) -> None:
    """VIEW-17: the card of a bar, open."""
    ready(page, f"{viewer.url}/?project=%3Dorchard")
    page.locator(".bar").first.focus()
    page.wait_for_selector("#card:not([hidden])")
    assert troubles(page) == []


def test_the_help(viewer: Served, page: Page) -> None:
    """VIEW-14: the keys, open."""
    ready(page, viewer.url)
    page.keyboard.press("?")
    assert troubles(page) == []


def test_a_dense_timeline(dense: Served, page: Page) -> None:
    """VIEW-14: density, all methods and phases."""
    ready(page, dense.url)
    page.wait_for_selector('.timeline[data-dense="true"]')
    assert troubles(page) == []


def test_the_empty_house(empty: Served, page: Page) -> None:
    """VIEW-14: nothing to see is for everybody too."""
    assert troubles(ready(page, empty.url)) == []


def test_nothing_is_wider_than_the_screen(
    viewer: Served, dense: Served, context: BrowserContext, page: Page
) -> None:
    """VIEW-14: no page has to be scrolled sideways."""
    session = viewer.json("/api/v1/sessions?copies=1")["sessions"][0]["session_id"]
    addresses = [viewer.url + path for path in ("/", "/?view=sessions", "/decisions", "/search")]
    addresses += [f"{viewer.url}/session/{session}?show={ALL}", dense.url]
    wide = [
        address
        for address in addresses
        if ready(page, address).evaluate(
            "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"
        )
    ]
    assert context.pages
    assert wide == []
