"""The session page: rounds, toggles, deep links, finding, and what unfolds."""

from __future__ import annotations

import re
import secrets
import string
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import combinations
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.conftest import Record, as_line, assistant, tool_result, tool_use, user
from tests.web.conftest import (
    Served,
    Written,
    engagement,
    minutes_of,
    needs_chromium,
    ready,
    stamp,
    start,
)

pytestmark = needs_chromium

TOGGLES = ("user", "assistant", "thinking", "calls", "results")
CLASSES = {"user": "user", "assistant": "assistant", "thinking": "thinking"} | {
    "calls": "call",
    "results": "result",
}
ALL = ",".join(TOGGLES)
ROUNDS = 120
BEGAN = datetime(2026, 3, 2, 9, tzinfo=UTC)
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
# Made anew for every run: no scanner should ever find one in this file.
_LETTERS = string.ascii_letters + string.digits
TOKEN = "ghp_" + "".join(secrets.choice(_LETTERS) for _ in range(34)) + "7Q"


def at(seconds: float) -> str:
    return stamp(BEGAN + timedelta(seconds=seconds))


def thought(words: str) -> Record:
    return {"type": "thinking", "thinking": words, "signature": "c2ln"}


def round_of(number: int, answer: str | None = None) -> list[Record]:
    """A prompt, a thought, a sentence, a call and its answer, a sentence."""
    time = 60.0 * number
    call = f"toolu_{number:04}"
    words = f"This is question {number}. " + "It has some words of its own. " * (number % 4)
    return [
        user(words, timestamp=at(time)),
        assistant(
            thought(f"Thought {number}."),
            f"I look into {number}.",
            tool_use(call, command=f"make part-{number}"),
            id=f"msg_a{number}",
            timestamp=at(time + 5),
        ),
        tool_result(call, answer or f"part {number} is made", timestamp=at(time + 9)),
        assistant(f"Part {number} is done.", id=f"msg_b{number}", timestamp=at(time + 12)),
    ]


def long_session() -> list[Record]:
    """120 rounds; one word stands only in the answer of a call of the 101st."""
    hidden = {101: "line\n" * 40 + "the quagga is extinct"}
    hidden |= {number: f"a marten at {number}" for number in (12, 60, 118)}
    rounds = [round_of(number, hidden.get(number)) for number in range(1, ROUNDS + 1)]
    told = user("How to feed an okapi.", isMeta=True, timestamp=rounds[76][0]["timestamp"])
    rounds[76].insert(1, told)
    return [record for records in rounds for record in records]


def all_kinds() -> list[Record]:
    """A session with one of everything."""
    picture = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    edit = {
        "file_path": "/home/dev/orchard/pear.py",
        "old_string": "keep = 1\nold = 2\n",
        "new_string": "keep = 1\nnew = 3\n",
    }
    return [
        user(
            [
                {"type": "image", "source": picture},
                {"type": "text", "text": f"Look at this picture and use {TOKEN} to log in."},
            ],
            timestamp=at(1),
        ),
        assistant(
            thought("A picture of a single pear."),
            "I change the pear.",
            tool_use("c-edit", "Edit", **edit),
            id="m1",
            timestamp=at(2),
        ),
        tool_result("c-edit", "The file has been updated.", timestamp=at(3)),
        assistant(
            tool_use("c-bash", "Bash", command=f"login --token {TOKEN}"), id="m2", timestamp=at(4)
        ),
        tool_result("c-bash", f"welcome, bearer of {TOKEN}", timestamp=at(5)),
        assistant(
            tool_use("c-task", "Task", description="Count the pears", prompt="Count all pears."),
            id="m3",
            timestamp=at(6),
        ),
        tool_result("c-task", "Seven pears.", timestamp=at(9), toolUseResult={"agentId": "pears"}),
        assistant("Seven pears, all told.", id="m4", timestamp=at(10)),
        user("Go on, and never mind the answer.", timestamp=at(100)),
        assistant(tool_use("c-none", "Bash", command="sleep 9000"), id="m5", timestamp=at(101)),
        {
            "type": "system",
            "subtype": "compact_boundary",
            "content": "Conversation compacted",
            "timestamp": at(200),
            "compactMetadata": {"trigger": "auto", "preTokens": 150_000},
        },
        user(
            "This session is being continued from a previous conversation that ran out of "
            "context. There were seven pears.",
            timestamp=at(201),
            isCompactSummary=True,
            isVisibleInTranscriptOnly=True,
        ),
        user("What was I saying?", timestamp=at(300)),
        assistant("You counted pears.", id="m6", timestamp=at(301)),
        {"type": "ai-title", "aiTitle": "Count the pears of the orchard"},
    ]


@dataclass
class House:
    served: Served
    long: str
    kinds: str

    def of(self, which: str, query: str = "") -> str:
        return f"{self.served.url}/session/{getattr(self, which)}{query}"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("sessions")
    written = Written(folder / "claude")
    long, kinds = written.session(*long_session()), written.session(*all_kinds())
    agents = next(written.root.rglob(f"{kinds}.jsonl")).with_suffix("") / "subagents"
    agents.mkdir(parents=True)
    lines = [
        user("Count all pears.", isSidechain=True, sessionId=kinds, uuid="a-1", timestamp=at(7)),
        assistant("I see seven.", isSidechain=True, sessionId=kinds, uuid="a-2", timestamp=at(8)),
    ]
    (agents / "agent-pears.jsonl").write_bytes(b"".join(as_line(line) + b"\n" for line in lines))
    served = start(written.root, folder / "archive")
    served.settle()
    parts = [
        engagement(
            BEGAN + timedelta(minutes=first),
            method,
            f"Rounds from {first}",
            id=f"from-{first}",
            turn_range=[first, first + 39],
        )
        for first, method in ((1, "build"), (41, "debug"), (81, "review"))
    ]
    record = minutes_of(1, *parts, session_id=long, title="A long day", rounds=ROUNDS)
    with (served.archive / "sessions" / "engagements.jsonl").open("ab") as file:
        file.write(as_line(record) + b"\n")
    yield House(served, long, kinds)
    served.stop()


def on_top(page: Page, number: int) -> None:
    """A round stands right below the bar of toggles."""
    page.wait_for_function(
        """number => {
          const round = document.getElementById(`round-${number}`);
          const bar = document.querySelector(".toggles").getBoundingClientRect();
          if (!round || bar.top > 1) return false;
          const below = round.getBoundingClientRect().top - Math.max(0, bar.bottom);
          return below > -3 && below < 60;
        }""",
        arg=number,
        timeout=15_000,
    )


# -- deep links


def test_a_link_to_a_round_opens_there(house: House, page: Page) -> None:
    """VIEW-09: "show me turn 47" shows turn 47, below the bar that stays on top."""
    ready(page, house.of("long", "#round-47"))
    on_top(page, 47)
    expect(page.locator("#round-47")).to_contain_text("This is question 47.")


def test_only_what_is_near_is_in_the_document(house: House, page: Page) -> None:
    """VIEW-09: a long session is not loaded to show one round of it."""
    ready(page, house.of("long", "#round-47"))
    on_top(page, 47)
    assert 0 < page.locator(".round").count() < 50


def test_the_bar_of_a_narrow_page_hides_no_round(house: House, page: Page) -> None:
    """VIEW-09: also where the toggles need two lines."""
    page.set_viewport_size({"width": 400, "height": 800})
    ready(page, house.of("long", "#round-47"))
    on_top(page, 47)


def test_another_hash_is_another_round(house: House, page: Page) -> None:
    """VIEW-09: the address can be changed by hand."""
    ready(page, house.of("long", "#round-47"))
    on_top(page, 47)
    page.evaluate("location.hash = '#round-96'")
    on_top(page, 96)


def test_a_link_to_a_round_keeps_its_toggles(house: House, page: Page) -> None:
    """VIEW-14: round and toggles are both in the address."""
    ready(page, house.of("long", f"?show={ALL}#round-88"))
    on_top(page, 88)
    expect(page.locator("#round-88 .block.thinking")).to_have_text(re.compile("Thought 88"))


def test_a_copied_link_opens_at_the_same_round(house: House, browser: Browser) -> None:
    """VIEW-09: a click on a round's number copies what brings another reader to it."""
    with browser.new_context(permissions=["clipboard-read", "clipboard-write"]) as context:
        page = ready(context.new_page(), house.of("long", "?show=user#round-71"))
        on_top(page, 71)
        page.locator("#round-72 a.number").click()
        expect(page.locator(".toast")).to_contain_text("copied")
        copied: str = page.evaluate("navigator.clipboard.readText()")
        other = ready(context.new_page(), copied)
        on_top(other, 72)
        assert parse_qs(urlsplit(copied).query) == {"show": ["user"], "round": ["72"]}


def test_the_button_that_copies_a_link_is_at_hand(house: House, browser: Browser) -> None:
    """VIEW-09: "Copy link" can be clicked where one is reading, and copies that round."""
    with browser.new_context(permissions=["clipboard-read", "clipboard-write"]) as context:
        page = ready(context.new_page(), house.of("long", "#round-71"))
        on_top(page, 71)
        button = page.get_by_role("button", name="Copy link")
        expect(button).to_be_in_viewport(timeout=10_000)
        button.click()
        expect(page.locator(".toast")).to_contain_text("round 71")
        copied: str = page.evaluate("navigator.clipboard.readText()")
        on_top(ready(context.new_page(), copied), 71)


def test_the_buttons_are_at_hand_at_the_end_of_a_session(house: House, page: Page) -> None:
    """VIEW-15: to copy a link to the last round, nobody has to scroll away from it."""
    page.set_viewport_size({"width": 1280, "height": 320})  # the rail is higher than the window
    ready(page, house.of("long"))
    page.keyboard.press("End")
    expect(page.locator(f"#round-{ROUNDS}")).to_be_in_viewport()
    page.wait_for_timeout(500)
    left = "document.documentElement.scrollHeight - innerHeight - scrollY"
    assert page.evaluate(left) < 2
    expect(page.get_by_role("button", name="Copy link")).to_be_in_viewport()


def test_reading_on_changes_the_address(house: House, page: Page) -> None:
    """VIEW-14: the round at the top is in the address, so a reload comes back to it."""
    ready(page, house.of("long", "#round-20"))
    on_top(page, 20)
    for number in (21, 22, 23):
        page.keyboard.press("j")
        on_top(page, number)
    page.wait_for_url("**#round-23")
    page.reload()
    page.wait_for_selector("html[data-ready]")
    on_top(page, 23)


def test_three_quick_keys_are_three_rounds(house: House, page: Page) -> None:
    """VIEW-14: j is not lost while the parts around are still on their way."""
    ready(page, house.of("long", "#round-20"))
    on_top(page, 20)
    for _ in range(3):
        page.keyboard.press("j")
    on_top(page, 23)


def test_a_key_counts_from_where_one_is_going(house: House, page: Page) -> None:
    """VIEW-14: j after a link, before the round it leads to has come, is the round after that."""
    ready(page, house.of("long", "#round-20"))
    on_top(page, 20)
    held: list[Route] = []
    page.route("**/parts/*", lambda route: held.append(route))
    page.evaluate("location.hash = '#round-90'")
    page.wait_for_timeout(300)
    page.keyboard.press("j")
    assert held
    while held:
        held.pop().continue_()
        page.wait_for_timeout(50)  # what is asked for next is held too
    on_top(page, 91)
    page.unroute("**/parts/*")


def test_an_engagement_opens_at_its_first_round(house: House, page: Page) -> None:
    """VIEW-10: a row of the list leads to its rounds, and the rail says where that is."""
    ready(page, house.served.url)
    page.locator(".row .open", has_text="Rounds from 41").click()
    page.wait_for_selector("html[data-ready]")
    on_top(page, 41)
    expect(page.locator(".rail a[aria-current]")).to_have_attribute("data-first", "41")
    assert page.locator(".rail a[aria-current]").count() == 1


def test_the_rail_leads_to_an_engagement(house: House, page: Page) -> None:
    """VIEW-10: a click on the rail, or ], goes to where the work began."""
    ready(page, house.of("long"))
    page.locator(".rail a[data-first]", has_text="Rounds from 81").click()
    on_top(page, 81)
    page.keyboard.press("[")
    on_top(page, 41)
    expect(page.locator(".rail a[aria-current]")).to_have_attribute("data-first", "41")


def test_scrolling_reaches_every_round_in_order(house: House, page: Page) -> None:
    """VIEW-09: nothing is left out and nothing comes twice, from the first to the last."""
    ready(page, house.of("long", "#round-100"))
    on_top(page, 100)
    seen: list[int] = []
    for _ in range(60):
        numbers: list[int] = page.evaluate(
            "[...document.querySelectorAll('.round[id]')].map((r) => +r.dataset.round)"
        )
        assert numbers == sorted(set(numbers))
        seen += [number for number in numbers if number not in seen]
        if ROUNDS in numbers:
            break
        page.mouse.wheel(0, 700)
        page.wait_for_function(
            "() => [...document.querySelectorAll('.part')].every((p) => p.innerHTML)"
        )
    assert seen == list(range(min(seen), ROUNDS + 1))


# -- toggles


def blocks_in(html: str) -> dict[str, int]:
    """Blocks of each kind that a served page shows."""
    found = re.findall(r'class="block (\w+)', html)
    return {name: found.count(CLASSES[name]) for name in TOGGLES}


def test_toggles_are_independent(house: House) -> None:
    """VIEW-06: of all 32 combinations, each shows exactly the kinds it names."""
    path = f"/session/{house.kinds}?show="
    everything = blocks_in(house.served.get(path + ALL)[2])
    assert all(everything.values())
    wrong = {}
    for size in range(6):
        for chosen in combinations(TOGGLES, size):
            shown = blocks_in(house.served.get(path + (",".join(chosen) or "none"))[2])
            wanted = {name: everything[name] if name in chosen else 0 for name in TOGGLES}
            if shown != wanted:
                wrong[chosen] = shown
    assert wrong == {}


def test_a_badge_counts_what_is_hidden(house: House, page: Page) -> None:
    """VIEW-06: each toggle says how many blocks it hides; a call without answer hides none."""
    everything = blocks_in(house.served.get(f"/session/{house.kinds}?show={ALL}")[2])
    ready(page, house.of("kinds", "?show=none"))
    said = {
        name: int(page.locator(f'[data-toggle="{name}"] small').inner_text()) for name in TOGGLES
    }
    assert said == everything


def test_a_key_is_a_toggle(house: House, page: Page) -> None:
    """VIEW-06: keys 1 to 5 show and hide one kind each; the address and the badge follow."""
    ready(page, house.of("kinds", f"?show={ALL}"))
    counts = {name: page.locator(f".block.{CLASSES[name]}").count() for name in TOGGLES}
    for key, name in enumerate(TOGGLES, start=1):
        others = [one for one in TOGGLES if one != name]
        page.keyboard.press(str(key))
        expect(page.locator(f".block.{CLASSES[name]}")).to_have_count(0)
        expect(page.locator(f'[data-toggle="{name}"]')).to_have_attribute("aria-pressed", "false")
        for one in others:
            expect(page.locator(f".block.{CLASSES[one]}")).to_have_count(counts[one])
        assert parse_qs(urlsplit(page.url).query)["show"] == [",".join(others)]
        page.keyboard.press(str(key))
        expect(page.locator(f".block.{CLASSES[name]}")).to_have_count(counts[name])


def test_a_toggle_keeps_the_round_in_view(house: House, page: Page) -> None:
    """VIEW-06: showing more does not lose the place."""
    ready(page, house.of("long", "#round-66"))
    on_top(page, 66)
    page.locator('[data-toggle="results"]').click()
    expect(page.locator("#round-66 .block.result")).to_be_visible()
    on_top(page, 66)


def test_toggled_off_stays_off_after_a_reload(house: House, page: Page) -> None:
    """VIEW-14: the toggles are in the address, none of them too."""
    ready(page, house.of("kinds", "?show=user"))
    page.locator('[data-toggle="user"]').click()
    page.wait_for_url("**show=none**")
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert page.locator(".block:not(.compaction, .notice, .folded)").count() == 0


# -- finding


def test_find_sees_what_is_folded_and_not_loaded(house: House, page: Page) -> None:
    """VIEW-08: a word of one answer far below is found, unfolded and marked."""
    ready(page, house.of("long"))
    page.keyboard.press("f")
    page.keyboard.type("quagga")
    expect(page.locator("#find-count")).to_have_text("1 / 1")
    found = page.locator("details.call[open]")
    expect(found).to_contain_text("the quagga is extinct")
    expect(found.get_by_text("the quagga is extinct")).to_be_in_viewport()
    page.wait_for_function("() => CSS.highlights.get('found')?.size === 1")


def test_find_goes_from_one_place_to_the_next(house: House, page: Page) -> None:
    """VIEW-08: the count says which of how many; after the last comes the first."""
    ready(page, house.of("long"))
    page.locator("#find-words").fill("marten")
    expect(page.locator("#find-count")).to_have_text("1 / 3")
    for count, place in (("2 / 3", 60), ("3 / 3", 118), ("1 / 3", 12)):
        page.locator("#find-words").press("Enter")
        expect(page.locator("#find-count")).to_have_text(count)
        expect(page.get_by_text(f"a marten at {place}")).to_be_in_viewport()


def test_find_shows_what_only_stands_beside_results(house: House, page: Page) -> None:
    """VIEW-08: what the agent's program added is folded away with the results, and found there."""
    ready(page, house.of("long"))
    page.locator("#find-words").fill("okapi")
    expect(page.locator("#find-count")).to_have_text("1 / 1")
    expect(page.locator('[data-toggle="results"]')).to_have_attribute("aria-pressed", "true")
    expect(page.locator("details.folded[open]")).to_contain_text("How to feed an okapi.")
    page.wait_for_function("() => CSS.highlights.get('found')?.size > 0")


def test_find_says_when_there_is_nothing(house: House, page: Page) -> None:
    """VIEW-11: no place has its own word."""
    ready(page, house.of("long"))
    page.locator("#find-words").fill("no such words anywhere")
    expect(page.locator("#find-count")).to_have_text("none")


# -- what unfolds


def test_a_subagent_was_asked_by_an_agent(house: House) -> None:
    """VIEW-18: what a subagent is given is a task, on its page, in place and in a file; the words
    of a person are theirs."""
    speaker = '<h3 class="speaker">{}'.format
    base = f"/session/{house.kinds}"
    for path in (f"{base}/agents/pears", f"{base}/agents/pears/parts/0?within=1"):
        page = house.served.get(path, {"X-Fragment": "1"} if "parts" in path else None)[2]
        assert speaker("Task") in page and speaker("You") not in page
    file = house.served.get(f"{base}/export?format=html")[2]
    assert file.count(speaker("Task")) == 1 and speaker("You") in file


def call(page: Page, words: str) -> Any:
    """A folded call, opened."""
    block = page.locator("details.call", has_text=words)
    block.locator("summary").click()
    expect(block.locator(".opened")).to_be_visible()
    return block


def test_an_edit_is_shown_as_a_diff(house: House, page: Page) -> None:
    """VIEW-06: what came and what went, as insertions and deletions."""
    block = call(ready(page, house.of("kinds")), "pear.py")
    expect(block.locator(".diff ins")).to_have_text(re.compile(r"^\s*new = 3\s*$"))
    expect(block.locator(".diff del")).to_have_text(re.compile(r"^\s*old = 2\s*$"))


def test_a_command_is_shown_with_its_output(house: House, page: Page) -> None:
    """VIEW-06: what was run, and what it said."""
    block = call(ready(page, house.of("long")), "make part-3")
    expect(block.locator(".command")).to_have_text("make part-3")
    expect(block.locator(".answer")).to_have_text("part 3 is made")


def test_a_subagents_transcript_is_a_link_away(house: House, page: Page) -> None:
    """VIEW-06: a call that spawned an agent leads to what the agent did, and back."""
    block = call(ready(page, house.of("kinds")), "Count the pears")
    block.get_by_role("link", name="subagent").click()
    page.wait_for_url("**/agents/pears")
    expect(page.locator(".block.assistant")).to_contain_text("I see seven.")
    page.get_by_role("link", name="Back").click()
    expect(page.locator("h1")).to_contain_text("Count the pears of the orchard")


def test_a_picture_is_shown(house: House, page: Page) -> None:
    """VIEW-06: a pasted picture is a picture."""
    ready(page, house.of("kinds"))
    page.wait_for_function("() => document.querySelector('.block.user img')?.naturalWidth === 1")


def test_a_compaction_is_marked(house: House, page: Page) -> None:
    """VIEW-06: where the context was compacted, and what was kept of it."""
    ready(page, house.of("kinds"))
    mark = page.locator("details.compaction", has_text="compacted here")
    mark.first.locator("summary").click()
    expect(mark.first.locator(".opened")).not_to_be_empty()


# -- secrets


def test_a_secret_is_on_no_page(house: House) -> None:
    """VIEW-12: no page, part, block or listing has it before somebody asks."""
    session = f"/session/{house.kinds}"
    paths = [
        *("/", "/?view=sessions", "/decisions", "/search?q=login", "/search?q=bearer"),
        *(f"{session}?show={ALL}", f"{session}/parts/0?show={ALL}", f"{session}/markdown"),
        *(f"{session}/blocks/1/{block}" for block in range(7)),
        *(f"{session}/raw/1/{block}" for block in range(7)),
        *("/api/v1/engagements", "/api/v1/sessions", "/api/v1/search?q=login"),
    ]
    assert [path for path in paths if TOKEN in house.served.get(path)[2]] == []


def test_a_secret_is_masked_for_programs(house: House) -> None:
    """VIEW-12: the rounds of the API are masked unless they are asked for with reveal=1."""
    rounds = f"/api/v1/sessions/{house.kinds}/rounds?rounds=1-3"
    assert TOKEN in house.served.get(f"{rounds}&reveal=1")[2]
    assert TOKEN not in house.served.get(rounds)[2]


def test_a_secret_is_shown_to_who_clicks(house: House, page: Page) -> None:
    """VIEW-12: masked with its kind; a click says it."""
    ready(page, house.of("kinds"))
    assert all(TOKEN not in block.inner_html() for block in page.locator(".block").all())
    button = page.locator(".block.user .secret").first
    expect(button).to_have_text("GitHub token")
    button.click()
    expect(button).to_have_text(TOKEN)
    said = page.locator(".block.user", has_text="Look at this")
    expect(said).to_contain_text(f"and use {TOKEN} to log in.")


def test_a_secret_in_an_unfolded_call_is_masked(house: House, page: Page) -> None:
    """VIEW-12: command and output hide it too, and say it when clicked."""
    block = call(ready(page, house.of("kinds")), "login --token")
    expect(block.locator(".secret")).to_have_count(3)  # on its line, in command and answer
    assert TOKEN not in block.inner_html()
    block.locator(".answer .secret").click()
    expect(block.locator(".answer")).to_contain_text(TOKEN)


# -- without scripts


@pytest.fixture
def plain(browser: Browser) -> Iterator[Page]:
    with browser.new_context(java_script_enabled=False) as context:
        yield context.new_page()


def test_a_session_is_read_without_scripts(house: House, plain: Page) -> None:
    """VIEW-06: its parts are pages, forwards and backwards."""
    plain.goto(house.of("long"))
    expect(plain.locator(".block.user").first).to_contain_text("question 1.")
    plain.get_by_role("link", name="Later").click()
    plain.wait_for_url("**part=1**")
    second = plain.locator(".round").first.get_attribute("data-round")
    assert int(second or 0) > 1
    plain.get_by_role("link", name="Earlier").click()
    plain.wait_for_url("**part=0**")
    expect(plain.locator("#round-1")).to_be_visible()


def test_a_call_opens_without_scripts(house: House, plain: Page) -> None:
    """VIEW-06: what is folded has a page of its own, and that a way back."""
    plain.goto(house.of("long"))
    plain.locator("details.call summary").first.click()
    plain.locator("details.call .unfold").first.click()
    expect(plain.locator(".answer")).to_have_text("part 1 is made")
    plain.get_by_role("link", name="round 1 of").click()
    expect(plain.locator("#round-1")).to_be_visible()


def test_a_toggle_works_without_scripts(house: House, plain: Page) -> None:
    """VIEW-06: toggles are links."""
    plain.goto(house.of("kinds"))
    plain.locator('[data-toggle="thinking"]').click()
    expect(plain.locator(".block.thinking")).to_have_count(1)
    plain.locator('[data-toggle="user"]').click()
    expect(plain.locator(".block.user")).to_have_count(0)
    expect(plain.locator(".block.thinking")).to_have_count(1)
