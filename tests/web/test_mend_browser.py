"""Mending and exporting as a person does it: dialogs, keys, undo; and hostile files (VIEW-20)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

import minutebook
from tests.web.conftest import Served, Written, needs_chromium, ready, start
from tests.web.test_accessibility_browser import LOOKS, troubles
from tests.web.test_said import REED, post
from tests.web.test_xss_browser import _LOOK, hostile, walk

pytestmark = [needs_chromium, pytest.mark.xdist_group("mend-browser")]


@pytest.fixture(scope="module")
def served(examples: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("mend-browser") / "archive"
    minutebook.ingest(examples, archive=folder, extractor="offline")
    viewer = start(examples, folder, "--no-ingest")
    yield viewer
    viewer.stop()


@pytest.fixture
def clean(served: Served) -> Iterator[Served]:
    yield served
    while post(served, {"kind": "undo"}, REED)[0] == 200:
        pass


def correct_first(page: Page) -> None:
    """Open the form of the first engagement by key."""
    page.locator(".rail ol a[data-first]").first.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#sheet input[name=topic]")).to_be_focused()


def test_a_topic_is_corrected_by_key_and_taken_back(clean: Served, page: Page) -> None:
    """VIEW-20: Tab to it, type, Enter; what was said is listed, and one button takes it back."""
    ready(page, f"{clean.url}/session/{REED}")
    before = page.locator(".rail .topic bdi").first.inner_text()
    correct_first(page)
    page.keyboard.press("Control+a")
    page.keyboard.type("Corrected by key")
    page.keyboard.press("Enter")
    expect(page.locator(".undo-bar")).to_contain_text(
        re.compile(r"Saved: #\d.*: topic=Corrected by key")
    )
    expect(page.locator(".rail .topic bdi").first).to_have_text("Corrected by key")
    expect(page.locator(".said li").first).to_contain_text("Corrected by key")
    page.get_by_role("button", name="Undo").last.press("Enter")
    expect(page.locator(".undo-bar")).to_contain_text("Taken back")
    expect(page.locator(".rail .topic bdi").first).to_have_text(before)


def test_a_row_of_the_list_is_mended_in_place(clean: Served, page: Page) -> None:
    """VIEW-20: on the list, the row shows the change, and loses it again; Esc changes nothing."""
    ready(page, f"{clean.url}/?from=2026-01-01&to=2027-01-01")
    row = page.locator(f'.row:has(a.open[href*="{REED}"])').first
    row.locator("a.open").focus()
    page.keyboard.press("e")
    page.wait_for_selector("#sheet[open]")
    page.keyboard.press("Escape")
    expect(page.locator("#sheet")).not_to_be_visible()
    expect(row.locator("a.open")).to_be_focused()
    page.keyboard.press("e")
    page.get_by_role("button", name="★ Star").press("Enter")
    expect(row.locator(".star")).to_have_count(1)
    page.locator(".undo-bar").get_by_role("button", name="Undo").click()
    expect(row.locator(".star")).to_have_count(0)


def test_a_problem_stays_in_the_dialog(clean: Served, page: Page) -> None:
    """VIEW-20: an empty topic is refused with a sentence, and nothing that was typed is lost."""
    ready(page, f"{clean.url}/session/{REED}")
    correct_first(page)
    page.fill("#sheet input[name=topic]", "")
    page.fill("#sheet input[name=note]", "Kept")
    page.locator("#sheet .primary").click()
    expect(page.locator("#sheet .problem")).to_contain_text("The topic cannot be empty")
    expect(page.locator("#sheet input[name=note]")).to_have_value("Kept")


def test_it_works_without_a_script(clean: Served, browser: Browser) -> None:
    """VIEW-20: links lead to pages of forms, which post and offer to undo."""
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{clean.url}/session/{REED}")
        page.locator(".actions a", has_text="Correct").click()
        page.fill("input[name=title]", "Without a script")
        page.locator(".primary").click()
        expect(page.locator(".done")).to_contain_text("title=Without a script")
        page.locator(".done").get_by_role("button", name="Undo").click()
        expect(page.locator(".done")).to_contain_text("Taken back")


def test_the_button_saves_the_file(clean: Served, page: Page, tmp_path: Path) -> None:
    """VIEW-22: what was masked is said, blocks can be chosen, the bytes are those of the CLI."""
    ready(page, f"{clean.url}/session/{REED}")
    page.locator(".actions [data-share]").click()
    expect(page.locator("#sheet .masked")).to_contain_text("secret")
    page.uncheck("#sheet input[value=thinking]")
    with page.expect_download() as saved:
        page.locator("#sheet .primary").click()
    saved.value.save_as(tmp_path / "a.html")
    with minutebook.open_archive(clean.archive, [clean.root]) as archive:
        made = minutebook.export(archive, REED, only="user,assistant,calls,results")
    assert saved.value.suggested_filename == made.name
    assert (tmp_path / "a.html").read_bytes() == made.content


@pytest.mark.parametrize("look", list(LOOKS))
def test_everybody_can_use_it(clean: Served, browser: Browser, look: str, tmp_path: Path) -> None:
    """VIEW-14, VIEW-20, VIEW-22: axe finds nothing serious on forms, dialogs, reports, files;
    nothing is wider than a narrow screen."""
    with minutebook.open_archive(clean.archive, [clean.root]) as archive:
        (tmp_path / "a.html").write_bytes(minutebook.export(archive, REED).content)
    post(clean, {"kind": "note", "engagement": "1", "text": "Something said"}, REED)
    with browser.new_context(bypass_csp=True, reduced_motion="reduce", **LOOKS[look]) as context:
        page = context.new_page()
        for path in ("mend", "mend?e=1", "share"):
            assert troubles(ready(page, f"{clean.url}/session/{REED}/{path}")) == [], path
        assert troubles(ready(page, f"{clean.url}/report?since=2026-03-01")) == []
        ready(page, f"{clean.url}/session/{REED}")
        page.keyboard.press("e")
        page.wait_for_selector("#sheet[open]")
        assert troubles(page) == []
        page.goto((tmp_path / "a.html").as_uri())
        page.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")
        assert troubles(page) == []
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= page.evaluate("innerWidth")


def test_a_hostile_session_can_do_nothing(browser: Browser, tmp_path: Path) -> None:
    """VIEW-12, SHARE-01: not on the forms, not in the report, not in a file opened from disk."""
    written = Written(tmp_path / "claude")
    id = written.session(*hostile())
    viewer = start(written.root, tmp_path / "archive")
    try:
        viewer.settle()
        note = "<img src=x onerror=window.pwned=1>\"'><script>window.pwned=1</script>"
        post(viewer, {"kind": "note", "text": note}, id)
        paths = [f"/session/{id}{end}" for end in ("/mend", "/mend?e=1", "/share", "/share?e=1")]
        tour = walk(browser, viewer, [*paths, "/report?since=2026-01-01"])
        found = (tour.pwned, tour.dialogs, tour.strangers, tour.handlers, tour.links)
        assert (*found, tour.elements, tour.sums) == ([],) * 7
        file = tmp_path / "hostile.html"
        with minutebook.open_archive(viewer.archive, [written.root]) as archive:
            file.write_bytes(minutebook.export(archive, id).content)
    finally:
        viewer.stop()
    with browser.new_context() as context:
        page, asked, told = context.new_page(), list[str](), list[str]()
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda said: told.append(said.text))
        page.on("dialog", lambda dialog: told.append(dialog.message))
        page.goto(file.as_uri())
        page.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        page.wait_for_timeout(300)
        seen = page.evaluate(_LOOK)
        assert page.locator("details.block").count() > 10
    assert asked == [file.as_uri()] and told == []
    assert not seen["pwned"] and not seen["handlers"] and not seen["elements"] and not seen["sums"]
    assert [link for link in seen["links"] if "data:image/" not in link] == []
