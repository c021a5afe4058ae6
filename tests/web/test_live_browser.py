"""What changes while somebody is looking, and houses with little or nothing in them."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import Record, as_line, assistant, user
from tests.web.conftest import Serve, Served, Written, needs_chromium, ready
from tests.web.test_board_browser import engagement, minutes_of, write_minutes

pytestmark = needs_chromium

DAY = datetime(2026, 3, 3, 9, tzinfo=UTC)


def talk(topic: str, rounds: int = 4, first: int = 1) -> list[Record]:
    """A conversation long enough to be worth minutes."""
    found: list[Record] = []
    for number in range(first, first + rounds):
        at = DAY + timedelta(minutes=3 * number)
        found += [
            user(f"Please {topic}, step {number}.", timestamp=at.isoformat()),
            assistant(
                f"Step {number} of it is done. " + "It took a while. " * 12,
                id=f"msg_{number}",
                timestamp=(at + timedelta(seconds=50)).isoformat(),
            ),
        ]
    return found


def watched(page: Page, address: str) -> Page:
    """A page that listens, and would forget this mark in a reload."""
    ready(page, address)
    expect(page.locator("#live")).to_have_text("live")
    page.evaluate("window.mark = 'not reloaded'")
    return page


def is_still_there(page: Page) -> bool:
    return bool(page.evaluate("window.mark === 'not reloaded'"))


def append(served: Served, record: Record) -> None:
    with (served.archive / "sessions" / "engagements.jsonl").open("ab") as file:
        file.write(as_line(record) + b"\n")


def one(number: int, topic: str, **fields: object) -> Record:
    return minutes_of(number, engagement(DAY + timedelta(hours=number), "build", topic), **fields)


# -- the home page


def test_new_minutes_appear(serve: Serve, written: Written, tmp_path: Path, page: Page) -> None:
    """VIEW-02: a line that is appended to the index is a row, without a reload."""
    write_minutes(tmp_path / "archive", one(1, "Plant the pears"))
    served = serve(written.root, "--no-ingest", settle=False)
    watched(page, served.url)
    append(served, one(2, "Water the pears"))
    expect(page.locator(".list .row")).to_have_count(2)
    expect(page.locator(".list .row .open").first).to_have_text("Water the pears")
    assert is_still_there(page)


def test_what_one_reads_stays_while_minutes_appear(
    serve: Serve, written: Written, tmp_path: Path, page: Page
) -> None:
    """VIEW-02: the selection and the row in focus are the same afterwards."""
    write_minutes(tmp_path / "archive", one(1, "Plant the pears"), one(2, "Plant plums"))
    served = serve(written.root, "--no-ingest", settle=False)
    watched(page, f"{served.url}/?method=build&group=agent")
    page.keyboard.press("j")
    page.keyboard.press("j")
    append(served, one(3, "Water the pears"))
    expect(page.locator(".list .row")).to_have_count(3)
    expect(page.locator(".row .open", has_text="Plant the pears")).to_be_focused()
    assert page.url.endswith("/?method=build&group=agent")


def test_an_ingest_elsewhere_appears(serve: Serve, written: Written, page: Page) -> None:
    """VIEW-02: `minutebook ingest` in a terminal fills the open page."""
    written.session(*talk("plant the pears"))
    served = serve(written.root)
    watched(page, served.url)
    expect(page.locator(".list .row")).to_have_count(1)
    written.session(*talk("water the apples"))
    subprocess.run(
        [
            *(sys.executable, "-m", "minutebook", "ingest", "--extractor", "offline"),
            *("--root", str(served.root), "--archive", str(served.archive)),
        ],
        check=True,
        capture_output=True,
    )
    expect(page.locator(".list .row")).to_have_count(2)
    expect(page.locator(".list")).to_contain_text("water the apples", ignore_case=True)
    assert is_still_there(page)


def test_a_watching_viewer_takes_the_minutes_itself(
    serve: Serve, written: Written, page: Page
) -> None:
    """FUT-05: with --watch a new transcript is a row by itself."""
    written.session(*talk("plant the pears"))
    served = serve(written.root, "--watch")
    watched(page, served.url)
    written.session(*talk("water the apples"))
    expect(page.locator(".list .row")).to_have_count(2, timeout=20_000)
    expect(page.locator(".list")).to_contain_text("water the apples", ignore_case=True)
    assert is_still_there(page)


def test_a_new_session_is_among_the_sessions(serve: Serve, written: Written, page: Page) -> None:
    """VIEW-02: without --watch a new session is still seen, as one without minutes."""
    written.session(*talk("plant the pears"))
    served = serve(written.root)
    watched(page, f"{served.url}/?view=sessions")
    written.session(*talk("water the apples"))
    expect(page.locator(".list .row")).to_have_count(2)
    expect(page.locator(".list")).to_contain_text("no minutes yet")


# -- a session that goes on


def test_an_open_session_grows(serve: Serve, written: Written, page: Page) -> None:
    """VIEW-02: a round that is written down appears where one is reading."""
    id = written.session(*talk("plant the pears", 2))
    served = serve(written.root, "--no-ingest", settle=False)
    watched(page, f"{served.url}/session/{id}")
    written.append(id, *talk("prune the pears", 1, first=3))
    expect(page.locator("#round-3")).to_contain_text("prune the pears, step 3")
    assert is_still_there(page)


def test_an_inscribed_session_grows(serve: Serve, written: Written, page: Page) -> None:
    """VIEW-02: likewise one whose minutes are taken already."""
    id = written.session(*talk("plant the pears", 4))
    served = serve(written.root)
    watched(page, f"{served.url}/session/{id}#round-4")
    written.append(id, *talk("prune the pears", 1, first=5))
    expect(page.locator("#round-5")).to_contain_text("prune the pears, step 5")


def at_the_end(page: Page) -> None:
    page.wait_for_function(
        "() => innerHeight + scrollY >= document.documentElement.scrollHeight - 4"
    )


def test_end_follows_the_newest_round(serve: Serve, written: Written, page: Page) -> None:
    """VIEW-02: after End, what comes is in view; scrolling up lets go."""
    id = written.session(*talk("plant the pears", 30))
    served = serve(written.root, "--no-ingest", settle=False)
    watched(page, f"{served.url}/session/{id}")
    page.keyboard.press("End")
    expect(page.locator("#follow")).to_have_text("Following")
    at_the_end(page)
    written.append(id, *talk("prune the pears", 2, first=31))
    expect(page.locator("#round-32")).to_be_in_viewport()
    at_the_end(page)
    page.mouse.move(700, 400)
    page.mouse.wheel(0, -600)
    expect(page.locator("#follow")).not_to_have_text("Following")
    written.append(id, *talk("pick the pears", 1, first=33))
    expect(page.locator("#follow")).to_have_text("Newest ↓")
    expect(page.locator("#follow")).to_be_visible()
    expect(page.locator("#round-33 .assistant")).not_to_be_in_viewport()


def test_a_deleted_session_stays_on_the_screen(serve: Serve, written: Written, page: Page) -> None:
    """VIEW-02: when the transcript goes, the page says so and what is open can be read on."""
    id = written.session(*talk("plant the pears", 3))
    served = serve(written.root, "--no-ingest", settle=False)
    watched(page, f"{served.url}/session/{id}")
    next(written.root.rglob(f"{id}.jsonl")).unlink()
    expect(page.locator(".toast")).to_have_text("This session is not there any more.")
    expect(page.locator("#round-2")).to_contain_text("plant the pears, step 2")
    assert is_still_there(page)


def test_an_inscribed_session_outlives_its_transcript(
    serve: Serve, written: Written, page: Page
) -> None:
    """VIEW-02: what the archive has is read from there, toggles and all."""
    id = written.session(*talk("plant the pears", 4))
    served = serve(written.root)
    watched(page, f"{served.url}/session/{id}")
    next(written.root.rglob(f"{id}.jsonl")).unlink()
    page.locator('[data-toggle="assistant"]').click()
    expect(page.locator(".block.assistant")).to_have_count(0)
    page.reload()
    expect(page.locator("#round-4")).to_contain_text("plant the pears, step 4")


# -- nothing, little, half


def test_nothing_at_all_says_what_to_do(serve: Serve, written: Written, page: Page) -> None:
    """VIEW-11: no archive and no transcripts: a word, and the next step."""
    served = serve(written.root, settle=False)
    ready(page, served.url)
    expect(page.locator(".empty")).to_contain_text("No transcripts of Claude Code were found")
    expect(page.locator(".empty")).to_contain_text("minutebook demo")


def test_minutes_can_be_taken_with_a_button(serve: Serve, written: Written, page: Page) -> None:
    """VIEW-11: transcripts without minutes: how many, and a button that takes them."""
    written.session(*talk("plant the pears"))
    written.session(*talk("water the apples"))
    served = serve(written.root, "--no-ingest", settle=False)
    watched(page, served.url)
    expect(page.locator(".empty")).to_contain_text("There are 2 transcripts")
    page.get_by_role("button", name="Take the minutes").click()
    expect(page.locator(".list .row")).to_have_count(2, timeout=20_000)
    assert is_still_there(page)


def test_one_transcript_is_one(serve: Serve, written: Written, page: Page) -> None:
    """VIEW-11: the words agree with the number."""
    written.session(*talk("plant the pears"))
    served = serve(written.root, "--no-ingest", settle=False)
    ready(page, served.url)
    expect(page.locator(".empty")).to_contain_text("There is 1 transcript")


@pytest.mark.parametrize(
    "last",
    [
        as_line(one(2, "Half a line"))[:-40],
        b"\x00\xff not even text",
        as_line({"session_id": 7, "engagements": "of a wrong kind"}),
    ],
    ids=["half", "bytes", "kinds"],
)
def test_a_damaged_line_costs_only_itself(
    serve: Serve, written: Written, tmp_path: Path, page: Page, last: bytes
) -> None:
    """VIEW-11: what a killed writer left behind hides nothing else."""
    path = write_minutes(tmp_path / "archive", one(1, "Plant the pears"), last)
    path.write_bytes(path.read_bytes()[:-1])
    served = serve(written.root, "--no-ingest", settle=False)
    ready(page, served.url)
    expect(page.locator(".list .row .open")).to_have_text(["Plant the pears"])


def test_a_record_of_a_later_version_is_shown(
    serve: Serve, written: Written, tmp_path: Path, page: Page
) -> None:
    """VIEW-11: fields and words nobody here knows do not hide what is known."""
    future = engagement(
        DAY, "hypnotise", "Dream of pears", phase="transcending", mood="mild", weights=[1, 2]
    )
    record = minutes_of(1, future, source="other-agent", schema=99, aura={"colour": "mauve"})
    write_minutes(tmp_path / "archive", record)
    served = serve(written.root, "--no-ingest", settle=False)
    ready(page, served.url)
    expect(page.locator(".list .row .open")).to_have_text(["Dream of pears"])
    expect(page.locator(".list .row .sign")).to_have_text("·hypnotise")


def test_a_missing_round_says_so(serve: Serve, written: Written, page: Page) -> None:
    """VIEW-11: a round file that is gone is said where it was; the others are read."""
    id = written.session(*talk("plant the pears", 4))
    served = serve(written.root)
    gone = [path for path in served.archive.rglob("*2.json") if path.parent.name == "rounds"]
    assert len(gone) == 1
    os.remove(gone[0])
    ready(page, f"{served.url}/session/{id}")
    expect(page.locator("#round-2")).to_contain_text("is missing or damaged")
    expect(page.locator("#round-3")).to_contain_text("plant the pears, step 3")


def test_a_session_that_is_nowhere_says_so(serve: Serve, written: Written, page: Page) -> None:
    """VIEW-11: an address of a session that is gone has words and a way on."""
    served = serve(written.root, "--no-ingest", settle=False)
    answer = page.goto(f"{served.url}/session/none")
    assert answer is not None
    assert answer.status == 404
    expect(page.locator(".empty")).to_contain_text("no such session")
    expect(page.get_by_role("link", name="All minutes")).to_be_visible()


def test_a_selection_that_makes_no_sense_says_why(
    serve: Serve, written: Written, page: Page
) -> None:
    """VIEW-11: an address typed wrong is explained."""
    served = serve(written.root, "--no-ingest", settle=False)
    page.goto(f"{served.url}/?from=yesteryear")
    expect(page.locator(".empty")).to_contain_text("'yesteryear' is not a date")
