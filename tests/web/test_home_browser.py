"""The home page in a real browser: the year, the week, cards, programs, and a server that goes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser, Page, expect

from minutebook.web.board import PAGE
from tests.web.conftest import (
    Served,
    engagement,
    minutes_of,
    needs_chromium,
    ready,
    shown_minutes,
    start,
)

pytestmark = needs_chromium

FIRST = datetime(2026, 3, 2, 9, tzinfo=UTC)
HOSTILE = '"><img src=x onerror="window.hurt=1"><script>window.hurt=1</script>'


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Sessions of two coding agents, one of them hostile in its words; a ghost; old work."""
    records = [
        minutes_of(
            at,
            engagement(
                FIRST + timedelta(days=at),
                "build" if at % 2 else "debug",
                f"Piece {at} of a rather long piece of work that needs a card to be read in full",
                key_decisions=[f"Decision {at}"],
                outcome=f"Outcome {at}",
                project=f"/home/dev/{'orchard' if at % 2 else 'orchard-api'}",
            ),
            source="codex" if at % 3 == 0 else "claude-code",
        )
        for at in range(1, 70)
    ]
    records.append(
        minutes_of(
            80,
            engagement(FIRST + timedelta(days=70), "write", HOSTILE, key_decisions=[HOSTILE]),
            title=HOSTILE,
            agent_name=HOSTILE,
        )
    )
    records.append(minutes_of(90, engagement(FIRST - timedelta(days=900), "plan", "Long ago")))
    records.append(minutes_of(95, ghost=True))
    served = shown_minutes(tmp_path_factory.mktemp("mixed"), *records)
    yield served
    served.stop()


def state(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def test_a_day_of_the_calendar_filters_to_it(mixed: Served, page: Page) -> None:
    """VIEW-16: a click on a day shows that day, in timeline, figures and list."""
    ready(page, mixed.url)
    assert page.locator(".calendar a").count() == 70
    expect(page.locator(".year")).to_contain_text("up to the newest work")
    page.locator(".calendar a", has=page.locator("title", has_text="Wed 4 Mar 2026")).click()
    page.wait_for_url("**from=2026-03-04&to=2026-03-05")
    expect(page.locator(".list .row")).to_have_count(1)
    expect(page.locator("#summary strong").nth(1)).to_have_text("1")
    expect(page.locator(".calendar a.on")).to_have_count(1)


def test_the_calendar_is_walked_by_arrows(mixed: Served, page: Page) -> None:
    """VIEW-16: the calendar is one stop of the Tab key, and arrows go from day to day."""
    ready(page, mixed.url)
    assert page.locator('.calendar a:not([tabindex="-1"])').count() == 1
    page.locator(".calendar a").last.focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowLeft")
    words = page.evaluate("document.activeElement.querySelector('title').textContent")
    assert words.startswith("Sun 3 May 2026")


def test_the_year_is_a_picture(mixed: Served, page: Page) -> None:
    """VIEW-16: the calendar is saved as one SVG file, which asks for nothing."""
    ready(page, mixed.url)
    with page.expect_download() as download:
        page.locator(".save").click()
    text = download.value.path().read_text()
    assert download.value.suggested_filename == "minutebook-year.svg"
    assert ElementTree.fromstring(text).tag.endswith("svg")
    assert "href" not in text
    assert "70 engagements" in text
    # Nothing is written over anything else, or beyond the edge.
    page.set_content(text)
    boxes = page.evaluate(
        """() => [...document.querySelectorAll("text")].map((text) => text.getBoundingClientRect())
          .map((box) => [box.top, box.left, box.right, box.bottom])"""
    )
    edge = page.evaluate("document.querySelector('svg').getBoundingClientRect().right")
    assert all(right < edge for _, _, right, _ in boxes)
    for top, left, _, _ in boxes:
        inside = [b for b in boxes if b[0] <= top < b[3] - 3 and b[1] < left < b[2]]
        assert inside == []


def test_the_latest_week_is_told(mixed: Served, page: Page) -> None:
    """VIEW-16: what was worked on lately, what came of it and what was decided, at the top."""
    ready(page, mixed.url)
    week = page.locator(".week")
    expect(week).to_be_in_viewport()
    expect(week).to_contain_text("The latest 7 days with work")
    expect(week).to_contain_text("Decision 69")
    expect(week).to_contain_text("Outcome 69")
    assert page.evaluate("window.hurt") is None


def test_a_bar_opens_a_card(mixed: Served, page: Page) -> None:
    """VIEW-17: a label ends in an ellipsis; pointing at it shows all of it. Escape closes it."""
    ready(page, f"{mixed.url}/?from=2026-03-03&to=2026-03-09&project=%3Dorchard")
    bar = page.locator(".bar").first
    overflow = bar.locator(".topic").evaluate("e => getComputedStyle(e).textOverflow")
    assert overflow == "ellipsis"
    bar.focus()
    card = page.locator("#card")
    expect(card).to_be_visible()
    expect(card).to_contain_text("needs a card to be read in full")
    expect(card).to_contain_text("Decision")
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()


def test_a_hostile_card_and_lane_do_nothing(mixed: Served, page: Page) -> None:
    """VIEW-12: words of a transcript are words, in cards, lanes, the week and the picture."""
    ready(page, f"{mixed.url}/?group=agent&from=2026-05-10&to=2026-05-13")
    page.locator(".bar").first.focus()
    expect(page.locator("#card")).to_contain_text("<img src=x")
    assert page.evaluate("window.hurt") is None
    assert page.locator("#card img, .lane img, .week img").count() == 0


def test_lanes_are_links_to_exactly_that_project(mixed: Served, page: Page) -> None:
    """VIEW-17: a lane opens its project, and not others whose names begin alike."""
    ready(page, mixed.url)
    page.locator(".lane-name a", has_text=re.compile("^orchard$")).click()
    page.wait_for_url("**project=%3Dorchard*")
    expect(page.locator(".lane-name")).to_have_count(1)
    counts = page.locator(".legend small").all_inner_texts()
    rows = page.locator("#summary strong").nth(1).inner_text()
    assert sum(map(int, counts)) == int(rows) == 36


def test_sessions_of_one_program(mixed: Served, page: Page) -> None:
    """AGT-01, VIEW-25: one coding agent's sessions, and a word of what is left out."""
    ready(page, mixed.url)
    page.locator('.programs [data-program="codex"]').click()
    page.wait_for_url("**agent=codex")
    expect(page.locator("#summary strong").first).to_have_text("23")
    signs = set(page.locator(".row a.program").all_inner_texts())
    assert signs == {"Codex CLI"}
    unshown = page.locator("#unshown a", has_text="other program")
    unshown.click()
    expect(page.locator("#summary strong").first).to_have_text("70")
    page.locator(".row a.program", has_text="Claude Code").first.click()
    page.wait_for_url("**agent=claude")
    expect(page.locator("#summary strong").first).to_have_text("47")


def test_what_is_not_shown_is_said(mixed: Served, page: Page) -> None:
    """VIEW-25: ghosts and work of other years are a click away."""
    ready(page, mixed.url)
    unshown = page.locator("#unshown")
    expect(unshown).to_contain_text("1 ghost")
    unshown.get_by_text("1 engagement of other years").click()
    page.wait_for_url("**from=2023*")
    expect(page.locator("#summary strong").nth(1)).to_have_text("71")
    ready(page, mixed.url)
    unshown.get_by_text("1 ghost").click()
    page.wait_for_url("**ghosts=1*")
    expect(unshown.get_by_text("leave out ghosts again")).to_be_visible()


def test_what_is_of_other_years_follows_the_filters(mixed: Served) -> None:
    """VIEW-17, VIEW-25: only what the filters let pass is elsewhere, in words and on the map."""
    assert "1 engagement of other years" in mixed.get("/?method=plan")[2]
    narrowed = mixed.get("/?agent=codex")[2]
    assert "of other years" not in narrowed
    towers = [page.count('class="tower"') for page in (narrowed, mixed.get("/")[2])]
    assert 0 < towers[0] < towers[1]


def test_nothing_moves_from_page_to_page(mixed: Served, page: Page) -> None:
    """VIEW-14: the name of the current page is marked, and takes no more room than before."""
    places = set()
    for path in ("/", "/search", "/decisions", "/engagements", "/report"):
        box = ready(page, mixed.url + path).locator("#q").bounding_box()
        assert box is not None
        places.add(round(box["x"]))
    assert len(places) == 1


def test_a_narrow_screen_has_room_for_words(mixed: Served, browser: Browser) -> None:
    """VIEW-14: at 400 px a card stays on the screen, marks of the axis do not run into each other,
    and the keys begin at their beginning."""
    with browser.new_context(viewport={"width": 400, "height": 800}) as context:
        page = ready(context.new_page(), f"{mixed.url}/?from=2026-03-02&to=2026-03-05")
        page.locator(".bar").first.focus()
        page.wait_for_selector("#card:not([hidden])")
        wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert page.evaluate(wide) <= 0
        marks = page.locator(".axis text:visible")
        boxes = [box for box in (mark.bounding_box() for mark in marks.all()) if box]
        assert len(boxes) > 1
        assert all(a["x"] + a["width"] < b["x"] for a, b in pairwise(boxes))
        page.keyboard.press("Escape")
        page.keyboard.press("?")
        assert page.locator("#help").evaluate("help => help.scrollTop") == 0


def test_the_first_row_is_a_few_tabs_away(mixed: Served, page: Page) -> None:
    """VIEW-24: Tab, Enter, Tab."""
    ready(page, mixed.url)
    expect(page.get_by_text("counting time")).to_have_count(0)  # then nothing is drawn again
    for key in ("Tab", "Enter", "Tab"):
        page.keyboard.press(key)
    expect(page.locator(".list .row .open").first).to_be_focused()


def test_escape_closes_and_keeps_the_words(mixed: Served, page: Page) -> None:
    """VIEW-24: the first Escape closes the palette; what was typed is still there."""
    ready(page, mixed.url)
    page.keyboard.press("/")
    page.keyboard.type("piece")
    page.keyboard.press("Escape")
    expect(page.locator("#palette")).to_be_hidden()
    assert page.locator("#pq").input_value() == "piece"


def test_back_restores_place_and_filters(mixed: Served, page: Page) -> None:
    """VIEW-24: from a session, Back leads to the same rows at the same place."""
    ready(page, f"{mixed.url}/?group=method")
    rows = page.locator(".list .row")
    rows.nth(PAGE - 1).scroll_into_view_if_needed()
    expect(rows).to_have_count(2 * PAGE)
    rows.nth(2 * PAGE - 1).scroll_into_view_if_needed()
    expect(rows).to_have_count(70)
    rows.nth(62).scroll_into_view_if_needed()
    place = page.evaluate("scrollY")
    assert place > 3000
    rows.nth(62).locator(".open").evaluate("e => (location.href = e.href)")
    page.wait_for_url("**/session/**")
    page.go_back()
    page.wait_for_selector("html[data-ready]")
    expect(rows).to_have_count(70)
    page.wait_for_function("place => Math.abs(scrollY - place) < 30", arg=place)
    assert state(page) == {"group": ["method"]}


def test_the_help_lists_the_keys(mixed: Served, page: Page) -> None:
    """VIEW-14: all keys are listed, and each place of the navigation has one."""
    ready(page, mixed.url)
    page.keyboard.press("?")
    keys = page.locator("#help kbd").all_inner_texts()
    assert {"/", "j", "k", "[", "]", "+", "-", "0", "f", "n", "N", "Home", "End", "Esc"} <= set(
        keys
    )
    places = page.locator(".places a").count()
    section = page.locator("#help section", has_text="Go to")
    assert section.locator("kbd").count() == places == 9


def test_a_server_that_is_gone_is_said(mixed: Served, page: Page) -> None:
    """VIEW-24: the page says so, keeps what it has, and goes on when the server is back."""
    served = start(mixed.root, mixed.archive, "--no-ingest")
    try:
        ready(page, served.url)
        expect(page.locator("#live")).to_contain_text("live")
        served.stop()
        expect(page.locator("#gone")).to_be_visible()
        page.locator(".list .row .open").first.click()
        expect(page.locator(".toast")).to_contain_text("stays as it is")
        page.locator('.legend a[data-method="build"]').click()
        assert page.locator(".list .row").count() == PAGE
        assert state(page) == {}
        again = start(mixed.root, mixed.archive, "--no-ingest", port=served.port)
        try:
            expect(page.locator("#gone")).to_be_hidden()
            page.locator('.legend a[data-method="debug"]').click()
            page.wait_for_url("**method=debug")
        finally:
            again.stop()
    finally:
        served.stop()
