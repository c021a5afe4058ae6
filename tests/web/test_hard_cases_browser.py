"""What a reviewer broke in the browser: many tabs, quick hands, news while one is busy."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.conftest import assistant, user
from tests.web.conftest import SIZE, Serve, Served, Written, needs_chromium, ready

pytestmark = needs_chromium


def trees(count: int, start: int = 1) -> list[dict[str, object]]:
    return [user(f"Please plant tree number {n}.") for n in range(start, start + count)]


def test_many_tabs_can_be_open(viewer: Served, browser: Browser) -> None:
    """VIEW-02: a browser allows six connections a host; the tabs share one for their news."""
    with browser.new_context(viewport=SIZE) as context:
        pages = [ready(context.new_page(), f"{viewer.url}/") for _ in range(8)]
        for page in pages:
            expect(page.locator("#live")).to_have_text("live")


def test_when_the_listening_tab_closes_another_listens(
    serve: Serve, written: Written, browser: Browser
) -> None:
    """VIEW-02: news reach the tabs that are left."""
    written.session(*trees(4))
    served = serve(written.root, "--watch")
    with browser.new_context(viewport=SIZE) as context:
        first = ready(context.new_page(), f"{served.url}/?view=sessions")
        second = ready(context.new_page(), f"{served.url}/?view=sessions")
        expect(second.locator("#live")).to_have_text("live")
        first.close()
        second.wait_for_timeout(600)
        written.session(*(user(f"Graft the quince, part {n}.") for n in range(4)))
        expect(second.locator(".list").get_by_text("Graft the quince").first).to_be_visible(
            timeout=15_000
        )


def test_one_can_tab_past_the_search_field(viewer: Served, page: Page) -> None:
    """VIEW-14: keyboard-first: focus goes through the field, and typing there searches."""
    ready(page, f"{viewer.url}/")
    page.locator("#q").focus()
    assert not page.locator("#palette").evaluate("dialog => dialog.open")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "help-button"
    page.keyboard.press("Shift+Tab")
    page.keyboard.type("passkey")
    expect(page.locator("#palette .row").first).to_be_visible()
    expect(page.locator("#pq")).to_have_value("passkey")


def test_news_do_not_disturb_who_is_typing(serve: Serve, written: Written, page: Page) -> None:
    """VIEW-02: a filter half typed stays; the news come when one is done."""
    written.session(*trees(4))
    served = serve(written.root, "--watch")
    ready(page, f"{served.url}/")
    field = page.locator('.filters input[name="agent"]')
    field.click()
    page.keyboard.type("orch")
    written.session(*(user(f"Graft the quince, part {n}.") for n in range(4)))
    page.wait_for_timeout(3_500)
    expect(field).to_have_value("orch")
    expect(field).to_be_focused()
    field.fill("")
    page.locator("h2.day").first.click()
    expect(page.locator(".list").get_by_text("Graft the quince").first).to_be_visible(
        timeout=15_000
    )


def test_the_last_click_wins(viewer: Served, page: Page) -> None:
    """VIEW-14: an answer that comes late does not replace what was asked for since."""
    ready(page, f"{viewer.url}/")

    def late(route: Route) -> None:
        page.wait_for_timeout(700)
        route.continue_()

    page.route("**/?group=method", late)
    page.locator('a[data-group="method"]').click()
    page.locator('a[data-group="agent"]').click()
    page.wait_for_timeout(1_500)
    expect(page.locator('a[data-group="agent"]')).to_have_attribute("aria-current", "true")
    assert "group=agent" in page.url


def test_following_lets_go_however_one_moves_up(serve: Serve, written: Written, page: Page) -> None:
    """VIEW-02: dragging the scrollbar is moving up too."""
    id = written.session(*trees(60))
    served = serve(written.root, "--no-ingest", settle=False)
    ready(page, f"{served.url}/session/{id}")
    page.keyboard.press("End")
    expect(page.locator("#follow")).to_have_text("Following")
    for place in (900, 600, 300, 0):  # as a hand drags it
        page.wait_for_timeout(400)
        page.evaluate("place => scrollTo(0, place)", place)
    expect(page.locator("#follow")).not_to_have_text("Following")
    written.append(id, *trees(5, 100))
    page.wait_for_timeout(2_500)
    assert page.evaluate("scrollY") < 400


def test_a_part_that_failed_is_asked_for_again(serve: Serve, written: Written, page: Page) -> None:
    """VIEW-06: a hiccup is not the end of a page."""
    id = written.session(
        *(r for n in range(150) for r in (user(f"Tree {n}?"), assistant("Yes. " * 60)))
    )
    served = serve(written.root, "--no-ingest", settle=False)
    ready(page, f"{served.url}/session/{id}")
    failed: list[str] = []

    def once(route: Route) -> None:
        if len(failed) < 3:
            failed.append(route.request.url)
            route.abort()
        else:
            route.continue_()

    page.route("**/parts/**", once)
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight / 2)")
    for _ in range(60):
        if len(failed) == 3:
            break
        page.wait_for_timeout(100)
    page.wait_for_function(
        "() => [...document.querySelectorAll('.part')].length > 0 &&"
        " [...document.querySelectorAll('.part')].every(part => part.querySelector('.round'))",
        timeout=20_000,
    )
    assert failed


def test_a_session_that_was_empty_fills(serve: Serve, written: Written, page: Page) -> None:
    """VIEW-11: "no rounds yet" goes when there are some; the count follows."""
    id = written.session({"type": "summary", "summary": "Nothing yet", "leafUuid": "x"})
    written.append(id, {"type": "ai-title", "aiTitle": "An empty one"})
    served = serve(written.root, "--no-ingest", settle=False)
    status, _, _ = served.get(f"/session/{id}")
    if status != 200:
        pytest.skip("a file without a conversation is no session here")
    ready(page, f"{served.url}/session/{id}")
    written.append(id, *trees(3))
    expect(page.locator(".round")).to_have_count(3, timeout=10_000)
    expect(page.locator("#scroll > .nothing")).to_have_count(0)
    expect(page.locator("#rounds")).to_have_text("3 rounds")


def test_quick_toggles_keep_the_place(serve: Serve, written: Written, page: Page) -> None:
    """VIEW-06: two keys in a row, and the same round is still on top."""
    records = [r for n in range(1, 300) for r in (user(f"Tree {n}?"), assistant("Yes. " * 80))]
    id = written.session(*records)
    served = serve(written.root, "--no-ingest", settle=False)
    ready(page, f"{served.url}/session/{id}#round-200")
    page.wait_for_function(
        "() => document.querySelector('#round-200')?.getBoundingClientRect().top < 120"
    )
    page.keyboard.press("5")
    page.keyboard.press("3")
    page.wait_for_url("**show=user,assistant,thinking,calls,results**")
    page.wait_for_timeout(1_200)
    # The parts may still be on their way on a busy machine; where it comes to rest is what counts.
    page.wait_for_function(
        """() => {
             const top = document.querySelector('#round-200')?.getBoundingClientRect().top;
             return top > -200 && top < 300;
           }""",
        timeout=15_000,
    )


def test_everything_on_a_narrow_page_has_its_letter(
    viewer: Served, page: Page, tmp_path: Path
) -> None:
    """VIEW-04: never colour alone, also at 400 px."""
    page.set_viewport_size({"width": 400, "height": 850})
    ready(page, f"{viewer.url}/")
    signs = page.locator(".bar .sign")
    assert signs.count() > 3
    page.screenshot(path=tmp_path / "narrow.png")
    shown = page.evaluate(
        """[...document.querySelectorAll('.bar > svg')].filter(svg => {
             const box = svg.getBoundingClientRect();
             return box.width >= 16;
           }).length"""
    )
    assert shown >= signs.count() * 0.6
