"""The home page, the palette and the search page, as somebody sees and uses them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from minutebook.web.board import PAGE
from tests.conftest import Record
from tests.web.conftest import (
    Served,
    engagement,
    minutes_of,
    needs_chromium,
    ready,
    shown_minutes,
)

pytestmark = needs_chromium

Scheme = Literal["light", "dark"]
# design/viewer.md, "Colour and sign"
SIGNS = {
    "review": ("#2563eb", "#60a5fa", "R"),
    "build": ("#15803d", "#4ade80", "B"),
    "design": ("#7c3aed", "#a78bfa", "N"),
    "debug": ("#a21caf", "#e879f9", "D"),
    "triage": ("#c2410c", "#fb923c", "T"),
    "reorg": ("#0f766e", "#2dd4bf", "O"),
    "write": ("#b45309", "#fbbf24", "W"),
    "research": ("#0e7490", "#22d3ee", "S"),
    "plan": ("#be185d", "#f472b6", "P"),
    "discuss": ("#475569", "#94a3b8", "C"),
    "deploy": ("#4d7c0f", "#a3e635", "Y"),
}
PROJECTS, AGENTS = ("orchard", "atlas", "ledger"), ("Reed", "Wren")
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
DAY = 86400
FIRST = datetime(2026, 3, 1, 9, tzinfo=UTC)


def eleven_methods() -> list[Record]:
    """Each method once, two days apart, in three projects, by two agents."""
    return [
        minutes_of(
            at,
            engagement(
                FIRST + timedelta(days=2 * at),
                method,
                f"Work that is called {method}",
                project=f"/home/dev/{PROJECTS[at % 3]}",
                key_decisions=[f"{method} first", f"{method} later"][: at % 3],
            ),
            agent_name=AGENTS[at % 2],
            agent_name_source="title",
        )
        for at, method in enumerate(SIGNS)
    ]


def year_of_work() -> list[Record]:
    """400 engagements in 2025, all but five on days of their own; five on the 2nd of May."""
    methods = list(SIGNS)
    first = datetime(2025, 1, 1, 8, tzinfo=UTC)
    found = [
        engagement(first + timedelta(hours=22 * at), methods[at % 11], f"Chapter {at} of the year")
        for at in range(395)
    ]
    busy = datetime(2025, 5, 2, 6, tzinfo=UTC)
    found += [
        engagement(busy + timedelta(hours=3 * at), methods[at], f"Busy hour {at}", project="/x/bee")
        for at in range(5)
    ]
    return [minutes_of(at, one) for at, one in enumerate(found)]


@pytest.fixture(scope="module")
def eleven(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    served = shown_minutes(tmp_path_factory.mktemp("eleven"), *eleven_methods())
    yield served
    served.stop()


@pytest.fixture(scope="module")
def year(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    served = shown_minutes(tmp_path_factory.mktemp("year"), *year_of_work())
    yield served
    served.stop()


# -- what is on the page


def state(page: Page) -> dict[str, list[str]]:
    """The selection, as the address says it."""
    return parse_qs(urlsplit(page.url).query)


def numbers(page: Page) -> list[int]:
    """Sessions, engagements, active days, decisions of the summary strip."""
    texts = page.locator("#summary strong").all_inner_texts()
    return [int(text.replace(",", "")) for text in texts]


def topics(page: Page) -> list[str]:
    return page.locator(".list .row .open").all_inner_texts()


def lanes(page: Page) -> list[str]:
    names = page.locator(".lane-name bdi")
    return [text.split()[-1] for text in names.all_inner_texts()]


def shown_range(page: Page) -> tuple[int, int]:
    timeline = page.locator(".timeline")
    return int(timeline.get_attribute("data-start") or 0), int(
        timeline.get_attribute("data-end") or 0
    )


def drag(page: Page, over: Locator, first: float, last: float, *, y: float | None = None) -> None:
    """Press, move and let go, between two shares of an element's width."""
    box = over.bounding_box()
    assert box is not None
    at = y if y is not None else box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + first * box["width"], at)
    page.mouse.down()
    page.mouse.move(box["x"] + (first + last) / 2 * box["width"], at)
    page.mouse.move(box["x"] + last * box["width"], at)
    page.mouse.up()


def minutebook(*words: str, served: Served) -> Any:
    """What the command line says of the same archive."""
    run = subprocess.run(
        [
            *(sys.executable, "-m", "minutebook", *words, "--json"),
            *("--root", str(served.root), "--archive", str(served.archive)),
        ],
        capture_output=True,
        check=True,
    )
    return json.loads(run.stdout)


# -- colour and sign


def colours(page: Page) -> dict[str, list[str]]:
    """By method: bar, chip of the legend, letter of either."""
    found: dict[str, list[str]] = page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll(".legend a")].map((link) => {
          const chip = link.querySelector("span.sign");
          const bar = document.querySelector(`.bar[data-method="${link.dataset.method}"]`);
          return [link.dataset.method, [
            getComputedStyle(bar.querySelector(".edge")).fill,
            getComputedStyle(chip).backgroundColor,
            bar.querySelector(".sign").textContent,
            chip.querySelector("[aria-hidden]").textContent,
          ]];
        }))"""
    )
    return found


def rgb(code: str) -> str:
    red, green, blue = (int(code[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgb({red}, {green}, {blue})"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_method_has_its_colour_and_its_letter(
    eleven: Served, browser: Browser, scheme: Scheme
) -> None:
    """VIEW-04: bars and legend are coloured as designed, with a letter; no two are alike."""
    with browser.new_context(color_scheme=scheme) as context:
        found = colours(ready(context.new_page(), eleven.url))
    at = 0 if scheme == "light" else 1
    wanted = {method: [rgb(sign[at])] * 2 + [str(sign[2])] * 2 for method, sign in SIGNS.items()}
    assert found == wanted
    assert [len(set(column)) for column in zip(*found.values(), strict=True)] == [11, 11, 11, 11]


def test_the_button_changes_the_colours(eleven: Served, page: Page) -> None:
    """VIEW-14: the theme is a button away, and is remembered."""
    ready(page, eleven.url)
    page.locator("#theme").click()
    assert colours(page)["build"][0] == rgb("#4ade80")
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert colours(page)["build"][0] == rgb("#4ade80")
    page.evaluate("() => localStorage.clear()")


def test_the_legend_narrows_the_list(eleven: Served, page: Page) -> None:
    """VIEW-04: a click on a method leaves only that, in list, summary and address."""
    ready(page, eleven.url)
    page.locator('.legend a[data-method="build"]').click()
    expect(page.locator(".list .row")).to_have_count(1)
    assert topics(page) == ["Work that is called build"]
    assert numbers(page)[:2] == [1, 1]
    assert state(page) == {"method": ["build"]}


def test_a_second_method_widens_the_list(eleven: Served, page: Page) -> None:
    """VIEW-04: another click adds a method; one on a chosen method takes it out again."""
    ready(page, eleven.url)
    for method in ("build", "debug"):
        page.locator(f'.legend a[data-method="{method}"]').click()
        page.wait_for_url(re.compile(method))
    expect(page.locator(".list .row")).to_have_count(2)
    assert sorted(state(page)["method"][0].split(",")) == ["build", "debug"]
    page.locator('.legend a[data-method="build"]').click()
    expect(page.locator(".list .row")).to_have_count(1)
    page.locator('.legend a[data-method="debug"]').click()
    expect(page.locator(".list .row")).to_have_count(11)
    assert state(page) == {}


# -- groupings, views, ranges


@pytest.mark.parametrize(
    ("group", "names"),
    [
        ("project", {"orchard", "atlas", "ledger"}),
        ("method", set(SIGNS)),
        ("agent", {"Reed", "Wren"}),
    ],
)
def test_the_timeline_is_grouped(eleven: Served, page: Page, group: str, names: set[str]) -> None:
    """VIEW-05: a lane for each project, method or agent; the address says which."""
    ready(page, f"{eleven.url}/?group={'agent' if group != 'agent' else 'project'}")
    page.locator(f'[data-group="{group}"].segmented, .segmented [data-group="{group}"]').click()
    expect(page.locator(f'.timeline[data-group="{group}"]')).to_be_visible()
    if group == "method":  # eight lanes; what is beyond is one of them
        assert len(lanes(page)) == 8
        assert set(lanes(page)) - names == {"others"}
    else:
        assert set(lanes(page)) == names
    assert state(page).get("group", ["project"]) == [group]


def test_the_timeline_is_grouped_by_period(eleven: Served, page: Page) -> None:
    """VIEW-05: three weeks of work are a lane a week, the newest first."""
    ready(page, eleven.url)
    page.locator('[data-group="period"]').click()
    expect(page.locator('.timeline[data-group="period"]')).to_be_visible()
    names = page.locator(".lane-name bdi").all_inner_texts()
    assert names == [f"Week of {day}" for day in ("16 Mar", "9 Mar", "2 Mar", "23 Feb")]
    assert state(page) == {"group": ["period"]}


def test_sessions_and_engagements_are_two_views(eleven: Served, page: Page) -> None:
    """VIEW-07: the toggle shows sessions by name, and engagements by topic again."""
    ready(page, eleven.url)
    toggle = page.get_by_role("navigation", name="What to show")
    toggle.get_by_text("Sessions").click()
    page.wait_for_url("**/?view=sessions")
    expect(page.locator(".list .row .open").first).to_have_text(re.compile("^(Reed|Wren)$"))
    toggle.get_by_text("Engagements").click()
    expect(page.locator(".list .row .open").first).to_have_text("Work that is called deploy")
    assert state(page) == {}


def test_a_drag_over_the_timeline_chooses_a_range(eleven: Served, page: Page) -> None:
    """VIEW-14: what was brushed is what is shown, and what the address says."""
    ready(page, eleven.url)
    start, end = shown_range(page)
    lane = page.locator(".bars").nth(1).bounding_box()
    assert lane is not None
    drag(page, page.locator(".axis svg"), 0.25, 0.5, y=lane["y"] + 10)
    page.wait_for_url(re.compile("from=.*to="))
    expect(page.locator(".timeline")).not_to_have_attribute("data-start", str(start))
    length = end - start
    found = shown_range(page)
    assert found == pytest.approx((start + length / 4, start + length / 2), abs=length / 200)
    assert len(topics(page)) < 11


def test_a_drag_over_the_map_chooses_a_range(year: Served, page: Page) -> None:
    """VIEW-14: the map of all time is brushed like the timeline."""
    ready(page, year.url)
    all_time = page.locator(".map")
    start = int(all_time.get_attribute("data-start") or 0)
    length = int(all_time.get_attribute("data-end") or 0) - start
    drag(page, all_time, 0.5, 0.6)
    page.wait_for_url(re.compile("from=.*to="))
    expect(page.locator(".figures .clear")).to_be_visible()
    wanted = (start + length * 0.5, start + length * 0.6)
    assert shown_range(page) == pytest.approx(wanted, abs=length / 200)


def test_a_click_after_a_drag_is_a_click(eleven: Served, page: Page) -> None:
    """VIEW-04: a drag that ends elsewhere does not swallow what is clicked next."""
    ready(page, eleven.url)
    axis, filters = (
        page.locator(".axis svg").bounding_box(),
        page.locator(".filters").bounding_box(),
    )
    assert axis is not None
    assert filters is not None
    page.mouse.move(axis["x"] + 100, axis["y"] + 5)
    page.mouse.down()
    page.mouse.move(axis["x"] + 300, axis["y"] + 5)
    page.mouse.move(axis["x"] + 900, filters["y"] + 5)
    page.mouse.up()
    page.wait_for_url(re.compile("from=.*to="))
    expect(page.locator(".figures .clear")).to_be_visible()
    page.locator(".figures .clear").click()
    expect(page.locator(".list .row")).to_have_count(11)


def test_zoom_links_show_the_newest_so_much(year: Served, page: Page) -> None:
    """VIEW-17: a day, a week, a month up to the newest work; the current one is marked."""
    ready(page, year.url)
    whole, end = shown_range(page)
    current = page.locator(".zooms [aria-current]")
    expect(current).to_have_text("year")
    for zoom, days in (("day", 1), ("week", 7), ("month", 31)):
        page.locator(f'[data-zoom="{zoom}"]').click()
        start = end - days * DAY
        expect(page.locator(f'.timeline[data-start="{start}"][data-end="{end}"]')).to_be_visible()
        expect(current).to_have_text(zoom)
    page.locator(".calendar a").first.click()  # a day of its own
    expect(page.locator(f'.timeline[data-end="{end}"]')).to_have_count(0)
    expect(current).to_have_text("day")
    page.locator('[data-zoom="year"]').click()
    expect(page.locator(f'.timeline[data-start="{whole}"][data-end="{end}"]')).to_be_visible()
    page.keyboard.press("[")
    expect(page.locator(f'.timeline[data-start="{whole}"]')).to_have_count(0)
    expect(current).to_have_count(0)


def test_keys_zoom_and_move(eleven: Served, page: Page) -> None:
    """VIEW-14: + halves the range, - doubles it, [ and ] move it, 0 shows all of it."""
    ready(page, f"{eleven.url}/?from=2026-03-05&to=2026-03-09")
    start = int(datetime(2026, 3, 5, tzinfo=UTC).timestamp())
    everything = int(datetime(2026, 3, 1, tzinfo=UTC).timestamp())
    wanted = {
        "+": (start + DAY, start + 3 * DAY),
        "-": (start, start + 4 * DAY),
        "]": (start + 2 * DAY, start + 6 * DAY),
        "[": (start, start + 4 * DAY),
        "0": (everything, everything + 21 * DAY),
    }
    for key, (first, last) in wanted.items():
        page.keyboard.press(key)
        expect(page.locator(f'.timeline[data-start="{first}"][data-end="{last}"]')).to_be_visible()


def test_a_wheel_that_turns_on_does_not_zoom_the_browser(eleven: Served, page: Page) -> None:
    """VIEW-14: while the first zoom loads, and where the page moved under the pointer."""
    ready(page, eleven.url)
    turned = page.evaluate(
        """() => ["h2", ".timeline", "h2"].map((place) => {
          const options = { ctrlKey: true, deltaY: -100, clientX: 600 };
          const turn = new WheelEvent("wheel", { ...options, bubbles: true, cancelable: true });
          document.querySelector(place).dispatchEvent(turn);
          return turn.defaultPrevented;
        })"""
    )
    assert turned == [False, True, True]
    page.wait_for_url("**from=*")


@pytest.mark.parametrize(
    ("query", "options"),
    [
        ("", ()),
        ("?method=debug", ("--method", "debug")),
        ("?project=orchard", ("--project", "orchard")),
        ("?from=2026-03-03&to=2026-03-12", ("--since", "2026-03-03", "--until", "2026-03-11")),
    ],
)
def test_the_summary_says_what_the_command_line_says(
    viewer: Served, page: Page, query: str, options: tuple[str, ...]
) -> None:
    """SRCH-09: the same numbers everywhere, for every filter."""
    told = minutebook("stats", *options, served=viewer)
    told = told.get("stats", told)
    used = minutebook("usage", "day", *options, served=viewer)["usage"]
    ready(page, f"{viewer.url}/{query}")
    days = [row for row in used["rows"] if row["key"] != "undated"]
    wanted = [told["sessions"], told["engagements"], len(days), told["decisions"]]
    assert numbers(page) == wanted
    cost = f"${used['total']['cost']['usd']:,.2f}"
    assert cost in page.locator("#summary").inner_text()


def test_back_restores_the_earlier_selection(eleven: Served, page: Page) -> None:
    """VIEW-14: every choice is a step of the history."""
    ready(page, eleven.url)
    page.locator('.legend a[data-method="plan"]').click()
    expect(page.locator(".list .row")).to_have_count(1)
    page.locator('[data-group="agent"]').click()
    expect(page.locator('.timeline[data-group="agent"]')).to_be_visible()
    page.go_back()
    expect(page.locator('.timeline[data-group="project"]')).to_be_visible()
    expect(page.locator(".list .row")).to_have_count(1)
    page.go_back()
    expect(page.locator(".list .row")).to_have_count(11)
    assert state(page) == {}


def test_filtered_away_has_its_own_words(eleven: Served, page: Page) -> None:
    """VIEW-11: a filter that leaves nothing says so, and how to get everything back."""
    ready(page, f"{eleven.url}/?project=nowhere")
    words = page.locator(".list .nothing")
    expect(words).to_contain_text("hide everything: 11 entries are hidden")
    expect(page.get_by_role("link", name="Show all time")).to_have_count(0)  # nor is it there
    words.get_by_role("link").click()
    expect(page.locator(".list .row")).to_have_count(11)


def test_the_filters_are_in_the_address(eleven: Served, page: Page) -> None:
    """VIEW-14: what a field says is in the address, beside what was chosen before."""
    ready(page, f"{eleven.url}/?group=agent")
    page.get_by_label("agent").first.fill("Wren")
    page.get_by_label("agent").first.press("Enter")
    page.wait_for_url(re.compile("agent=Wren"))
    expect(page.locator(".lane-name")).to_have_count(1)
    assert state(page) == {"group": ["agent"], "agent": ["Wren"]}


def test_a_filter_keeps_the_range(eleven: Served, page: Page) -> None:
    """VIEW-14: a field narrows what is chosen; it does not throw the range away."""
    ready(page, f"{eleven.url}/?from=2026-03-05&to=2026-03-12")
    page.get_by_label("agent").first.fill("Wren")
    page.get_by_label("agent").first.press("Enter")
    page.wait_for_url(re.compile("agent=Wren"))
    assert {"from", "to", "agent"} == set(state(page))


# -- much work


def test_a_year_is_shown_as_density(year: Served, page: Page) -> None:
    """VIEW-04: where bars would be slivers, columns say how much of which method there was."""
    ready(page, year.url)
    page.keyboard.press("0")
    expect(page.locator('.timeline[data-dense="true"]')).to_be_visible()
    assert page.locator(".timeline .bar").count() == 0
    assert page.locator(".columns .part").count() > 100


def test_columns_and_bars_are_walked_by_arrows(year: Served, page: Page) -> None:
    """VIEW-14: the timeline's columns are one stop of the Tab key; arrows reach all of them, and
    every bar."""
    ready(page, f"{year.url}/?from=2025-01-01&to=2026-01-01")
    stops = page.locator('.columns a:not([tabindex="-1"])')
    assert stops.count() == 1
    place = "document.activeElement.getBoundingClientRect().left"
    lane = "document.activeElement.closest('svg[aria-label]').getAttribute('aria-label')"
    stops.focus()
    last, first_lane = page.evaluate(place), page.evaluate(lane)
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(place) < last
    page.keyboard.press("ArrowRight")
    assert page.evaluate(place) == last
    page.keyboard.press("ArrowDown")
    assert page.evaluate(lane) != first_lane
    page.keyboard.press("ArrowUp")
    assert page.evaluate(lane) == first_lane
    assert stops.count() == 1
    page.keyboard.press("Enter")
    expect(page.locator('.timeline[data-dense="false"]')).to_be_visible()
    bars = page.locator(".timeline .bars").first.locator("a")
    bars.first.focus()
    address = "document.activeElement.getAttribute('href')"
    walked = set()
    for _ in range(bars.count()):
        page.keyboard.press("ArrowLeft")
    for _ in range(bars.count()):
        walked.add(page.evaluate(address))
        page.keyboard.press("ArrowRight")
    assert walked == {bar.get_attribute("href") for bar in bars.all()}


def test_a_column_opens_its_days(year: Served, page: Page) -> None:
    """VIEW-14: a click on a column shows the days it stands for."""
    ready(page, f"{year.url}/?from=2025-01-01&to=2026-01-01")
    page.locator(".columns a .part").nth(40).click()
    expect(page.locator('.timeline[data-dense="false"]')).to_be_visible()
    start, end = shown_range(page)
    assert end - start == 7 * DAY
    assert {"from", "to"} <= set(state(page))


def test_a_day_shows_its_topics(year: Served, page: Page) -> None:
    """VIEW-04: zoomed into one day, every bar says what it was about."""
    ready(page, f"{year.url}/?from=2025-05-02&to=2025-05-03&project=bee")
    expect(page.locator('.timeline[data-dense="false"]')).to_be_visible()
    shown = page.locator(".bar title").all_text_contents()
    assert [text.split(": ")[1] for text in shown] == [f"Busy hour {at}" for at in range(5)]


def test_a_bar_with_room_has_its_topic_written_on_it(eleven: Served, page: Page) -> None:
    """VIEW-04: half an hour of an afternoon is wide enough for words."""
    ready(page, f"{eleven.url}/?from=2026-03-03T06:00&to=2026-03-03T12:00")
    expect(page.locator(".bar .topic")).to_have_text("Work that is called build")


def test_the_list_is_filled_as_it_is_read(year: Served, page: Page) -> None:
    """VIEW-14: fifty rows first; more when the end comes near; all of them in the end."""
    ready(page, year.url)
    rows = page.locator(".list .row")
    count = rows.count()
    assert count < 120
    while count < 400:
        page.mouse.wheel(0, 20_000)
        expect(rows.nth(count)).to_be_attached()
        count = rows.count()
    assert count == 400
    assert len(set(topics(page))) == 400


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """10,000 engagements of one day; the newest two in Hebrew and Japanese."""
    day = datetime(2026, 3, 10, tzinfo=UTC)
    methods = list(SIGNS)
    records = [
        minutes_of(
            at,
            *(
                engagement(
                    day + timedelta(seconds=8 * (100 * at + one)),
                    methods[one % 11],
                    f"Piece {100 * at + one}",
                    id=f"piece-{one}",
                )
                for one in range(100)
            ),
        )
        for at in range(100)
    ]
    late = day + timedelta(hours=23)
    records.append(
        minutes_of(
            900,
            engagement(late, "write", "כתיבת פרק (א)", id="rtl", project="/home/dev/ספר"),
            engagement(late, "write", "朝の散歩のブログ", id="cjk", project="/home/dev/日記"),
            title="שלום",
        )
    )
    served = shown_minutes(tmp_path_factory.mktemp("crowd"), *records)
    yield served
    served.stop()


def test_ten_thousand_in_a_day_are_few_nodes(crowd: Served, page: Page) -> None:
    """VIEW-04: a crowded day is density and a list that is filled later."""
    ready(page, crowd.url)
    expect(page.locator('.timeline[data-dense="true"]')).to_be_visible()
    assert numbers(page)[1] == 10_002
    assert page.evaluate("document.querySelectorAll('*').length") < 5_000


def test_topics_of_other_scripts_stand_by_themselves(crowd: Served, page: Page) -> None:
    """VIEW-13: a topic from right to left does not turn what is around it."""
    ready(page, crowd.url)
    for topic in ("כתיבת פרק (א)", "朝の散歩のブログ"):
        expect(page.locator(".row .open > bdi", has_text=topic)).to_be_visible()


# -- by key


def focused(page: Page) -> str:
    text: str = page.evaluate("document.activeElement.innerText")
    return text


def test_j_and_k_walk_and_enter_opens(viewer: Served, page: Page) -> None:
    """VIEW-14: the list is read with three keys."""
    ready(page, viewer.url)
    names = topics(page)
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert focused(page) == names[1]
    page.keyboard.press("k")
    assert focused(page) == names[0]
    page.keyboard.press("Enter")
    page.wait_for_url("**/session/**")


@pytest.mark.parametrize("key", ["/", "Control+k"])
def test_a_key_opens_the_palette_and_escape_closes_it(viewer: Served, page: Page, key: str) -> None:
    """VIEW-14: the palette is opened, typed into and closed without a mouse."""
    ready(page, viewer.url)
    page.keyboard.press(key)
    expect(page.locator("#palette")).to_be_visible()
    expect(page.locator("#pq")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#palette")).to_be_hidden()


def test_escape_closes_a_palette_with_words_in_it(viewer: Served, page: Page) -> None:
    """VIEW-14: Escape closes, whatever was typed; at most the words go first."""
    ready(page, viewer.url)
    page.keyboard.press("/")
    page.keyboard.type("passkey")
    expect(page.locator("#palette .row").first).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(page.locator("#palette")).to_be_hidden()


def test_a_question_mark_shows_the_keys(viewer: Served, page: Page) -> None:
    """VIEW-14: what the keys are is a key away."""
    ready(page, viewer.url)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keys")).to_be_hidden()


def test_keys_do_nothing_to_the_page_behind_a_dialog(viewer: Served, page: Page) -> None:
    """VIEW-14: a dialog has the keys while it is open."""
    ready(page, viewer.url)
    page.evaluate(
        """() => document.querySelector('[data-key="+"]').addEventListener(
          "click", () => (document.body.dataset.zoomed = "yes"))"""
    )
    page.keyboard.press("?")
    page.keyboard.press("+")
    assert page.evaluate("() => document.body.dataset.zoomed ?? 'no'") == "no"


def test_g_goes_to_the_decisions(viewer: Served, page: Page) -> None:
    """VIEW-14: g, then d."""
    ready(page, viewer.url)
    page.keyboard.press("g")
    page.keyboard.press("d")
    page.wait_for_url("**/decisions")


# -- searching


def typed(page: Page, words: str) -> Locator:
    """The results of what is typed into the palette."""
    page.keyboard.press("/")
    page.keyboard.type(words)
    page.wait_for_selector(f'#palette-results[data-for="{words}"]')
    return page.locator("#palette-results")


def test_the_palette_finds_as_one_types(viewer: Served, page: Page) -> None:
    """VIEW-08: topics, words of a summary and agent names are found while they are typed."""
    ready(page, viewer.url)
    results = typed(page, "passkey")
    expect(results).to_contain_text("passkey", ignore_case=True)
    for words, found in (
        ("upsert everywhere", "UPSERT"),
        ("Reed", "orchard · Reed"),
        ("朝の散歩", "散歩"),
    ):
        page.locator("#pq").fill(words)
        page.wait_for_selector(f'#palette-results[data-for="{words}"]')
        expect(results).to_contain_text(found, ignore_case=True)


def test_half_a_word_is_enough(viewer: Served, page: Page) -> None:
    """VIEW-08: what is still being typed finds already."""
    ready(page, viewer.url)
    expect(typed(page, "passk").locator(".row").first).to_be_visible()


def test_found_words_are_marked(viewer: Served, page: Page) -> None:
    """VIEW-08: a result shows why it is one."""
    ready(page, viewer.url)
    marks = typed(page, "challenge").locator("mark")
    expect(marks.first).to_have_text(re.compile("challenge", re.IGNORECASE))


def test_enter_opens_what_was_found_first(viewer: Served, page: Page) -> None:
    """VIEW-08: type, Enter, read."""
    ready(page, viewer.url)
    results = typed(page, "passkey")
    wanted = results.locator(".row .open").first.get_attribute("href")
    page.keyboard.press("Enter")
    page.wait_for_url("**/session/**")
    assert wanted is not None
    assert urlsplit(page.url).path == urlsplit(wanted).path


def test_arrows_walk_through_what_was_found(viewer: Served, page: Page) -> None:
    """VIEW-14: the second result is two keys away."""
    ready(page, viewer.url)
    second = typed(page, "decision").locator(".row .open").nth(1)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(second).to_be_focused()


def test_the_page_finds_what_the_command_line_finds(viewer: Served, page: Page) -> None:
    """VIEW-08: one engine: the same hits in the same order."""
    told = minutebook("search", "challenge", "--limit", "20", served=viewer)
    hits = told["hits"] if isinstance(told, dict) else told
    wanted = [(hit["session_id"], hit["round"]) for hit in hits]
    ready(page, f"{viewer.url}/search?q=challenge")
    links = page.locator("#results .row .open")
    found = [urlsplit(links.nth(at).get_attribute("href") or "") for at in range(links.count())]
    assert wanted
    assert [
        (link.path.rsplit("/", 1)[-1], int(link.fragment.removeprefix("round-"))) for link in found
    ] == wanted


def test_nothing_found_has_its_own_words(viewer: Served, page: Page) -> None:
    """VIEW-11: words that are nowhere are said back, with what to try."""
    ready(page, viewer.url)
    results = typed(page, "xyzzyplugh -passkey")
    expect(results.locator(".nothing")).to_contain_text("Nothing is about")
    expect(results.locator(".nothing")).to_contain_text("xyzzyplugh")


def test_a_filter_at_the_end_is_no_half_word(viewer: Served, page: Page) -> None:
    """VIEW-11: nothing found with a filter is nothing found, not a mistake of the reader."""
    ready(page, f"{viewer.url}/search?q=xyzzyplugh+method:deploy")
    assert page.locator("#results .nothing").inner_text().startswith("Nothing is about")


def test_the_search_page_follows_its_field(viewer: Served, page: Page) -> None:
    """VIEW-14: what is typed on the search page is in its address."""
    ready(page, f"{viewer.url}/search?q=outage")
    page.locator("#q").fill("ontology")
    page.wait_for_selector('#results[data-for="ontology"]')
    assert state(page) == {"q": ["ontology"]}
    expect(page.locator("#results .row").first).to_contain_text("ontology", ignore_case=True)


def test_a_hit_opens_exactly_there(viewer: Served, page: Page) -> None:
    """SRCH-19: what a tool printed opens at its call, unfolded and in view."""
    ready(page, f"{viewer.url}/search?q=14+passed+in+2.31s")
    row = page.locator("#results .row").first
    expect(row.locator(".snippet").first).to_contain_text("output")
    row.locator(".open").click()
    call = page.locator("details.call[open]")
    expect(call).to_contain_text("14 passed in 2.31s")
    expect(call).to_be_in_viewport()


def test_results_come_in_pages(viewer: Served, page: Page) -> None:
    """SRCH-11, SRCH-16: how many there are, in either order, and where the others are."""
    ready(page, f"{viewer.url}/search?q=the")
    note = page.locator("#results .note").first
    expect(note).to_contain_text("best first")
    count = page.locator("#results .row").count()
    expect(note).to_contain_text(f"1 to {count} of ")
    note.locator("a").click()
    page.wait_for_url("**sort=date*")
    days = page.locator("#results .row time").evaluate_all("all => all.map(t => t.dateTime)")
    assert days == sorted(days, reverse=True)
    ready(page, f"{viewer.url}/search?q=the&page=99")
    expect(page.locator("#results")).to_contain_text("There is no page 99")


# -- without scripts


@pytest.fixture
def plain(browser: Browser) -> Iterator[Page]:
    """A page that runs no script."""
    with browser.new_context(java_script_enabled=False) as context:
        yield context.new_page()


def test_searching_needs_no_script(viewer: Served, plain: Page) -> None:
    """VIEW-08: the form is a form."""
    plain.goto(viewer.url)
    plain.locator("#q").fill("passkey")
    plain.locator("#q").press("Enter")
    plain.wait_for_url("**/search?q=passkey")
    expect(plain.locator("#results .row").first).to_be_visible()


def test_the_home_page_needs_no_script(viewer: Served, plain: Page) -> None:
    """VIEW-14: links choose, rows open."""
    plain.goto(viewer.url)
    everything = plain.locator(".list .row").count()
    plain.locator(".legend a").first.click()
    plain.wait_for_url("**method=**")
    assert 0 < plain.locator(".list .row").count() < everything
    plain.locator(".row .open").first.click()
    plain.wait_for_url("**/session/**")
    expect(plain.locator(".block.user").first).to_be_visible()


def test_older_rows_need_no_script(year: Served, plain: Page) -> None:
    """VIEW-14: the end of the list is a link to the next page of it."""
    plain.goto(year.url)
    first = topics(plain)
    plain.locator(".more").click()
    plain.wait_for_url(f"**start={PAGE}")
    assert len(topics(plain)) == PAGE
    assert not set(first) & set(topics(plain))


# -- every page


PAGES = ("/", "/?view=sessions&ghosts=1", "/?group=agent", "/decisions", "/search?q=passkey")


def test_no_page_shows_an_id(viewer: Served, page: Page) -> None:
    """VIEW-13: names and topics, not UUIDs."""
    shown = {}
    for path in (*PAGES, "/session/none", "/nowhere"):
        ready(page, viewer.url + path)
        shown[path] = UUID.findall(page.locator("body").inner_text() + page.title())
    assert not any(shown.values()), shown


def test_no_session_page_shows_an_id(viewer: Served, page: Page) -> None:
    """VIEW-13: likewise every session, with all there is to see, and in its title."""
    shown = []
    for session in viewer.json("/api/v1/sessions?copies=1")["sessions"]:
        address = f"/session/{session['session_id']}?show=user,assistant,thinking,calls,results"
        page.goto(viewer.url + address, wait_until="domcontentloaded")
        shown.append(page.locator("body").inner_text() + page.title())
    assert len(shown) == 8
    assert [text for text in shown if UUID.search(text)] == []


@pytest.mark.parametrize(
    "steps",
    [
        ['.legend a[data-method="build"]'],
        ['[data-group="method"]', '.segmented :text("Sessions")'],
        ['[data-zoom="week"]', '[data-key="["]'],
        ['[data-zoom="all"]', '.legend a[data-method="debug"]', '[data-group="agent"]'],
    ],
    ids=lambda steps: str(len(steps)),
)
def test_a_reload_shows_the_same(eleven: Served, page: Page, steps: list[str]) -> None:
    """VIEW-14: all state is in the URL."""
    ready(page, eleven.url)
    for step in steps:
        before = page.url
        page.locator(step).first.click()
        page.wait_for_function("before => location.href !== before", arg=before)
    seen = [numbers(page), topics(page), lanes(page), shown_range(page)]
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert [numbers(page), topics(page), lanes(page), shown_range(page)] == seen
