"""Links that land and stay, the session as a story, outputs one can read (VIEW-15, 18, 19)."""

from __future__ import annotations

import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from benchmarks.deep_links import SEES_PASSAGE, SEES_ROUND
from playwright.sync_api import Browser, Page, expect

from tests.conftest import Record, assistant, tool_result, tool_use, user
from tests.web.conftest import Served, Written, needs_chromium, ready, stamp, start

pytestmark = needs_chromium

ROUNDS = 90
BEGAN = datetime(2026, 3, 2, 9, tzinfo=UTC)
SEEN = f"number => ({SEES_ROUND})(number) === ''"
LANDED = "html[data-landed]"
FILLER = "This sentence is here to make the answer long. " * 60


def at(seconds: float) -> str:
    return stamp(BEGAN + timedelta(seconds=seconds))


def long_round(number: int) -> list[Record]:
    """Heights differ so much that nobody could guess them."""
    call, time = f"toolu_{number:04}", 60.0 * number
    said = f"Part {number} is done. " + "\n\n".join([FILLER] * (number * 7 % 5))
    deep = f"{FILLER}{FILLER}{FILLER}{FILLER}{FILLER}\n\nThe wombat sleeps in burrow {number}."
    output = "\n".join(f"line {n} of {number}" for n in range(300)) + f"\nnumbat {number} counted"
    return [
        user(f"This is question {number}.", timestamp=at(time)),
        assistant(
            deep if number == 40 else f"I look into {number}.",
            tool_use(call, command=f"make part-{number}", description=f"Make part {number}"),
            id=f"msg_a{number}",
            timestamp=at(time + 5),
        ),
        tool_result(call, output if number == 60 else "made", timestamp=at(time + 9)),
        assistant(said, id=f"msg_b{number}", timestamp=at(time + 12)),
    ]


def readable() -> list[Record]:
    """Everything that has to be made readable."""
    answers = {
        "c-ansi": "\x1b[31mred\x1b[0m and \x1b[1;32mgreen\x1b[0m, see https://example.org/a?b=1.",
        "c-read": (
            "     7→def pear():\n     8→    return 7\n\n"
            "<system-reminder>\nBe kind.\n</system-reminder>"
        ),
        "c-grep": "pear.py:7",
    }
    return [
        user("Look at https://example.org/pears please.", timestamp=at(1)),
        assistant(
            tool_use("c-ansi", "Bash", command="pytest -q", description="Run the tests"),
            tool_use("c-read", "Read", file_path="/home/dev/orchard/src/fruit/pear.py", offset=7),
            tool_use("c-grep", "Grep", pattern="def pear", path="/home/dev/orchard/src/fruit"),
            id="m1",
            timestamp=at(2),
        ),
        *(tool_result(id, text, timestamp=at(3)) for id, text in answers.items()),
        user(
            "<command-name>/compact</command-name>\n<command-args></command-args>", timestamp=at(4)
        ),
        user("<local-command-stdout>Compacted.</local-command-stdout>", timestamp=at(5)),
        user("Thanks.", timestamp=at(6)),
        assistant("You are welcome.", id="m2", timestamp=at(7)),
    ]


@dataclass
class House:
    served: Served
    long: str
    readable: str

    def of(self, which: str, query: str = "") -> str:
        return f"{self.served.url}/session/{getattr(self, which)}{query}"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("story")
    written = Written(folder / "claude")
    long = written.session(*(r for n in range(1, ROUNDS + 1) for r in long_round(n)))
    other = written.session(*readable())
    served = start(written.root, folder / "archive")
    served.settle()
    yield House(served, long, other)
    served.stop()


# -- links land


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize(
    "query",
    [
        "#round-{}",
        "?round={}",
        "?round={0}#round-{0}",
        "?show=user,assistant,calls,results#round-{}",
    ],
)
def test_a_link_lands_and_stays(house: House, browser: Browser, width: int, query: str) -> None:
    """VIEW-15: the round is in view after the page has loaded, and later, whatever has loaded."""
    wrong = []
    with browser.new_context(viewport={"width": width, "height": 800}) as context:
        page = context.new_page()
        for number in (1, 23, 47, 71, ROUNDS):
            page.goto("about:blank")
            page.goto(house.of("long", query.format(number)))
            page.wait_for_selector(LANDED)
            wrong += [page.evaluate(SEES_ROUND, number)]
            page.wait_for_timeout(700)
            wrong += [page.evaluate(SEES_ROUND, number)]
    assert [said for said in wrong if said] == []


def test_what_loads_above_moves_nothing(house: House, page: Page) -> None:
    """VIEW-15: a picture, a font, anything that grows above the round leaves it where it is."""
    page.goto(house.of("long", "#round-47"))
    page.wait_for_selector(LANDED)
    before = page.evaluate("document.querySelector('#round-47').getBoundingClientRect().top")
    page.evaluate(
        """() => {
          const late = document.createElement("div");
          late.style.height = "900px";
          const above = document.querySelector("#round-46, .session-head");
          above.append(late);
        }"""
    )
    page.wait_for_timeout(300)
    after = page.evaluate("document.querySelector('#round-47').getBoundingClientRect().top")
    assert abs(after - before) < 2


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("words", ["wombat burrow", "numbat 60", "question 33"])
def test_a_hit_shows_its_passage(house: House, browser: Browser, width: int, words: str) -> None:
    """VIEW-15: at the end of a long text, in the output of a folded call, in a prompt."""
    with browser.new_context(viewport={"width": width, "height": 800}) as context:
        page = ready(
            context.new_page(),
            f"{house.served.url}/search?{urllib.parse.urlencode({'q': words})}",
        )
        page.locator("#results .row a.open").first.click()
        page.wait_for_selector(LANDED)
        page.wait_for_timeout(500)
        assert page.evaluate(SEES_PASSAGE, [words.split()[0]]) == ""


def test_a_hit_in_words_no_page_shows_leads_to_its_round(house: House, page: Page) -> None:
    """VIEW-15: what was found in a summary is not marked wherever a few of its words stand."""
    ready(page, house.of("long"))
    topic = page.locator(".rail .topic bdi").first.inner_text()
    asked = {"round": "60", "q": "numbat", "passage": f"A numbat sleeps in the summary. {topic}"}
    page.goto(house.of("long", f"?{urllib.parse.urlencode(asked)}#round-60"))
    page.wait_for_selector(LANDED)
    page.wait_for_timeout(500)
    assert page.evaluate(SEES_ROUND, 60) == ""
    marked = page.evaluate(
        "[...CSS.highlights.get('passage')][0].startContainer.parentElement.closest('.rail')"
    )
    assert marked is None


def test_the_address_of_a_block_is_a_link(house: House, page: Page) -> None:
    """VIEW-15: `#round-12.3` is what a list of hits calls the third block of round 12."""
    page.goto(house.of("long", "#round-12.3"))
    page.wait_for_selector(LANDED)
    assert page.locator('[data-at="12.2"]').bounding_box() is not None


def test_a_round_that_is_not_there_is_said(house: House, page: Page) -> None:
    """VIEW-15: a link to round 4711 of 90 says so, instead of leading somewhere else."""
    page.goto(house.of("long", "#round-4711"))
    expect(page.locator(".toast")).to_contain_text("There is no round 4711")


# -- the strip


def test_the_strip_leads_to_a_round(house: House, page: Page) -> None:
    """VIEW-18: a click half way along the strip is half way through the session."""
    ready(page, house.of("long"))
    strip = page.locator("#strip svg")
    strip.wait_for()
    box = strip.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 30)
    page.wait_for_function(SEEN, arg=ROUNDS // 2)
    assert page.evaluate("location.hash") == f"#round-{ROUNDS // 2}"


def test_a_number_and_enter_lead_to_a_round(house: House, page: Page) -> None:
    """VIEW-18: digits alone are still toggles."""
    ready(page, house.of("long"))
    page.wait_for_selector("#strip svg")
    page.keyboard.type("47")
    page.keyboard.press("Enter")
    page.wait_for_function(SEEN, arg=47)
    assert page.locator('[data-toggle="calls"]').get_attribute("aria-pressed") == "true"


def test_the_strip_and_the_figures_have_words(house: House, page: Page) -> None:
    """VIEW-18: engagements, ticks and the line have titles; tokens and cost stand beside."""
    ready(page, house.of("long"))
    page.wait_for_selector("#strip svg")
    named = page.locator("#strip svg [aria-label]").count()
    assert named == page.locator("#strip svg title").count() > 0
    expect(page.locator("#beside")).to_contain_text("Tool calls")
    assert page.evaluate("document.querySelectorAll('*').length") < 2_000


# -- outputs


def opened(page: Page, words: str) -> str:
    call = page.locator("details.call", has_text=words)
    call.locator("summary").first.click()
    call.locator(".opened").wait_for()
    return str(call.locator(".opened").inner_html())


def test_colours_and_addresses_of_an_output_are_kept(house: House, page: Page) -> None:
    """VIEW-19: ANSI colours as classes; an address is a link that tells nobody where it stood."""
    html = opened(ready(page, house.of("readable")), "Run the tests")
    assert '<span class="a-fg1">red</span>' in html
    assert '<span class="a-bold a-fg2">green</span>' in html
    assert '<a href="https://example.org/a?b=1" rel="noopener noreferrer nofollow">' in html


def test_a_file_is_read_without_its_gutter(house: House, page: Page) -> None:
    """VIEW-19: code in colour, numbers gone, the note of the harness in words."""
    html = opened(ready(page, house.of("readable")), "pear.py, from line 7")
    assert "→" not in html and '<span class="k">def' in html
    assert "Note to the model:" in html and "system-reminder" not in html


def test_a_call_says_what_it_is_about(house: House, page: Page) -> None:
    """VIEW-19: the pattern of a search, the description of a command, the end of a path."""
    ready(page, house.of("readable"))
    lines = page.locator("details.call > summary").all_inner_texts()
    assert [line for line in lines if "Run the tests" in line and "pytest -q" in line]
    assert [line for line in lines if "def pear in" in line and "src/fruit" in line]


def test_no_tag_of_the_harness_is_on_the_page(house: House, page: Page) -> None:
    """VIEW-19: commands and their output are told in words."""
    ready(page, house.of("readable", "?show=user,assistant,thinking,calls,results"))
    for block in page.locator("details.folded > summary").all():
        block.click()
    page.wait_for_function("() => !document.querySelector('details.folded > .unfold')")
    text = page.locator("#scroll").inner_text()
    assert "/compact" in text and "Compacted." in text
    assert not [tag for tag in ("command-name", "local-command", "system-reminder") if tag in text]
