"""What changes while somebody is looking, and houses with little or nothing in them."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import Record, as_line, assistant, user
from tests.web.conftest import (
    Serve,
    Served,
    Written,
    engagement,
    minutes_of,
    needs_chromium,
    ready,
    start,
    write_minutes,
)

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


def one(number: int, topic: str, **fields: object) -> Record:
    return minutes_of(number, engagement(DAY + timedelta(hours=number), "build", topic), **fields)


@dataclass
class House:
    """A viewer, and the folder of transcripts it looks at; each test brings its own sessions."""

    served: Served
    written: Written

    def append(self, record: Record) -> None:
        with (self.served.archive / "sessions" / "engagements.jsonl").open("ab") as file:
            file.write(as_line(record) + b"\n")

    def session(self, *records: Record) -> str:
        """A new session that the viewer has heard of; its id."""
        id = self.written.session(*records)
        deadline = time.monotonic() + 20
        while self.served.get(f"/api/v1/sessions/{id}")[0] != 200:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        return id

    def address(self, id: str) -> str:
        return f"{self.served.url}/session/{id}"


def opened(folder: Path, *options: str) -> House:
    written = Written(folder / "claude")
    for fruit in ("pears", "plums", "apricots"):
        written.session(*talk(f"plant the {fruit}"))
    return House(start(written.root, folder / "archive", *options), written)


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A viewer that takes no minutes; two are written by hand."""
    folder = tmp_path_factory.mktemp("quiet")
    write_minutes(folder / "archive", one(1, "Plant the pears"), one(2, "Plant plums"))
    house = opened(folder, "--no-ingest")
    yield house
    house.served.stop()


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A viewer that took the minutes when it began."""
    house = opened(tmp_path_factory.mktemp("house"))
    house.served.settle()
    yield house
    house.served.stop()


# -- the home page


def test_new_minutes_appear(quiet: House, page: Page) -> None:
    """VIEW-02: a line that is appended to the index is a row, without a reload."""
    watched(page, quiet.served.url)
    quiet.append(one(3, "Water the pears"))
    expect(page.locator(".list .row .open").first).to_have_text("Water the pears")
    assert is_still_there(page)


def test_what_one_reads_stays_while_minutes_appear(quiet: House, page: Page) -> None:
    """VIEW-02: the selection and the row in focus are the same afterwards."""
    watched(page, f"{quiet.served.url}/?method=build&group=agent")
    row = page.locator(".row .open", has_text="Plant plums")
    row.focus()
    quiet.append(one(4, "Pick the pears"))
    expect(page.locator(".list .row .open").first).to_have_text("Pick the pears")
    expect(row).to_be_focused()
    assert page.url.endswith("/?method=build&group=agent")


def test_an_ingest_elsewhere_appears(house: House, page: Page) -> None:
    """VIEW-02: `minutebook ingest` in a terminal fills the open page."""
    watched(page, house.served.url)
    house.written.session(*talk("water the apples"))
    subprocess.run(
        [
            *(sys.executable, "-m", "minutebook", "ingest", "--extractor", "offline"),
            *("--root", str(house.served.root), "--archive", str(house.served.archive)),
        ],
        check=True,
        capture_output=True,
    )
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


def test_a_new_session_is_among_the_sessions(house: House, page: Page) -> None:
    """VIEW-02: without --watch a new session is still seen, as one without minutes."""
    watched(page, f"{house.served.url}/?view=sessions")
    house.written.session(*talk("graft the quinces"))
    row = page.locator(".list .row", has_text="graft the quinces")
    expect(row).to_contain_text("no minutes yet")


# -- a session that goes on


def test_an_open_session_grows(quiet: House, page: Page) -> None:
    """VIEW-02: a round that is written down appears where one is reading."""
    id = quiet.session(*talk("plant the pears", 2))
    watched(page, quiet.address(id))
    quiet.written.append(id, *talk("prune the pears", 1, first=3))
    expect(page.locator("#round-3")).to_contain_text("prune the pears, step 3")
    assert is_still_there(page)


def test_an_inscribed_session_grows(house: House, page: Page) -> None:
    """VIEW-02: likewise one whose minutes are taken already."""
    id = house.written.ids[0]
    watched(page, f"{house.address(id)}#round-4")
    house.written.append(id, *talk("prune the pears", 1, first=5))
    expect(page.locator("#round-5")).to_contain_text("prune the pears, step 5")


def at_the_end(page: Page) -> None:
    page.wait_for_function(
        "() => innerHeight + scrollY >= document.documentElement.scrollHeight - 4"
    )


def test_end_follows_the_newest_round(quiet: House, page: Page) -> None:
    """VIEW-02: after End, what comes is in view; scrolling up lets go."""
    id = quiet.session(*talk("plant the pears", 30))
    watched(page, quiet.address(id))
    page.keyboard.press("End")
    expect(page.locator("#follow")).to_have_text("Following")
    at_the_end(page)
    quiet.written.append(id, *talk("prune the pears", 2, first=31))
    expect(page.locator("#round-32")).to_be_in_viewport()
    at_the_end(page)
    page.mouse.move(700, 400)
    page.mouse.wheel(0, -600)
    expect(page.locator("#follow")).not_to_have_text("Following")
    quiet.written.append(id, *talk("pick the pears", 1, first=33))
    expect(page.locator("#follow")).to_have_text("Newest ↓")
    expect(page.locator("#follow")).to_be_visible()
    expect(page.locator("#round-33 .assistant")).not_to_be_in_viewport()


def test_a_deleted_session_stays_on_the_screen(quiet: House, page: Page) -> None:
    """VIEW-02: when the transcript goes, the page says so and what is open can be read on."""
    id = quiet.session(*talk("plant the pears", 3))
    watched(page, quiet.address(id))
    next(quiet.written.root.rglob(f"{id}.jsonl")).unlink()
    expect(page.locator(".toast")).to_have_text("This session no longer exists.")
    expect(page.locator("#round-2")).to_contain_text("plant the pears, step 2")
    assert is_still_there(page)


def test_a_missing_round_says_so(house: House, page: Page) -> None:
    """VIEW-11: a round that is nowhere any more is said where it was; the others are read."""
    id = house.written.ids[1]
    (folder,) = house.served.archive.glob(f"sessions/*/{id}")
    (folder / "rounds" / "002.json").unlink()
    document = folder.with_name(f"{id}.md")
    document.write_text(document.read_text().replace("<!-- message ", "<!-- massage "))
    ready(page, house.address(id))
    expect(page.locator("#round-2")).to_contain_text("is missing or damaged")
    expect(page.locator("#round-3")).to_contain_text("plant the plums, step 3")
    expect(page.locator(".rail .note")).to_contain_text("cannot be read")


def test_an_inscribed_session_outlives_its_transcript(house: House, page: Page) -> None:
    """VIEW-02: what the archive has is read from there, toggles and all."""
    id = house.written.ids[2]
    watched(page, house.address(id))
    next(house.written.root.rglob(f"{id}.jsonl")).unlink()
    page.locator('[data-toggle="assistant"]').click()
    expect(page.locator(".block.assistant")).to_have_count(0)
    page.reload()
    expect(page.locator("#round-3")).to_contain_text("plant the apricots, step 3")


def test_an_archive_outlives_its_folder_of_transcripts(
    serve: Serve, written: Written, page: Page
) -> None:
    """VIEW-11: where the whole folder is gone (another machine, a lost disk) one reads on."""
    id = written.session(*talk("plant the pears", 4))
    served = serve(written.root)
    served.stop()
    shutil.rmtree(written.root)
    again = serve(written.root, "--no-ingest", settle=False)
    page.goto(f"{again.url}/session/{id}")
    expect(page.locator("main")).to_contain_text("plant the pears, step 3", timeout=10_000)


# -- nothing, little, half


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """No archive and no transcripts."""
    folder = tmp_path_factory.mktemp("empty")
    (folder / "claude").mkdir()
    served = start(folder / "claude", folder / "archive")
    yield served
    served.stop()


def test_nothing_at_all_says_what_to_do(empty: Served, page: Page) -> None:
    """VIEW-11: no archive and no transcripts: a word, and the next step."""
    ready(page, empty.url)
    expect(page.locator(".empty")).to_contain_text("No transcripts were found")
    expect(page.locator(".empty")).to_contain_text("minutebook agents")
    expect(page.locator(".empty")).to_contain_text("minutebook demo")


def test_a_missing_folder_is_an_empty_state_too(serve: Serve, written: Written, page: Page) -> None:
    """VIEW-11: a folder that does not exist yet is no error of the page."""
    served = serve(written.root, "--no-ingest", settle=False)
    answer = page.goto(served.url)
    assert answer is not None
    assert answer.status == 200
    expect(page.locator(".empty")).to_contain_text("No minutes yet")


def test_minutes_can_be_taken_with_a_button(serve: Serve, written: Written, page: Page) -> None:
    """VIEW-11: transcripts without minutes: how many, and a button that takes them."""
    written.session(*talk("plant the pears"))
    written.session(*talk("water the apples"))
    served = serve(written.root, "--no-ingest", settle=False)
    watched(page, served.url)
    expect(page.locator(".empty")).to_contain_text("There are 2 transcripts")
    page.get_by_role("button", name="Ingest them").click()
    expect(page.locator(".list .row")).to_have_count(2, timeout=20_000)
    assert is_still_there(page)


def test_one_transcript_is_one(serve: Serve, written: Written, page: Page) -> None:
    """VIEW-11: the words agree with the number."""
    written.session(*talk("plant the pears"))
    served = serve(written.root, "--no-ingest", settle=False)
    ready(page, served.url)
    expect(page.locator(".empty")).to_contain_text("There is one transcript", timeout=10_000)


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Two good records, among them: bytes, a wrong kind, a later version's, half a line."""
    folder = tmp_path_factory.mktemp("damaged")
    (folder / "claude").mkdir()
    future = engagement(
        DAY, "hypnotise", "Dream of pears", phase="transcending", mood="mild", weights=[1, 2]
    )
    path = write_minutes(
        folder / "archive",
        one(1, "Plant the pears"),
        b"\x00\xff not even text",
        as_line({"session_id": 7, "engagements": "of a wrong kind"}),
        minutes_of(3, future, source="other-agent", schema=99, aura={"colour": "mauve"}),
        one(4, "Water the pears"),
        as_line(one(2, "Half a line"))[:-40],
    )
    path.write_bytes(path.read_bytes()[:-1])
    served = start(folder / "claude", folder / "archive", "--no-ingest")
    yield served
    served.stop()


def test_a_damaged_line_costs_only_itself(damaged: Served, page: Page) -> None:
    """VIEW-11: what a killed writer left behind hides nothing else."""
    ready(page, damaged.url)
    topics = page.locator(".list .row .open")
    expect(topics).to_have_text(["Water the pears", "Plant the pears", "Dream of pears"])


def test_a_record_of_a_later_version_is_shown(damaged: Served, page: Page) -> None:
    """VIEW-11: fields and words nobody here knows do not hide what is known."""
    ready(page, damaged.url)
    row = page.locator(".list .row", has_text="Dream of pears")
    expect(row.locator(".sign")).to_have_text("·hypnotise")


def test_a_session_that_is_nowhere_says_so(empty: Served, page: Page) -> None:
    """VIEW-11: an address of a session that is gone has words and a way on."""
    answer = page.goto(f"{empty.url}/session/none")
    assert answer is not None
    assert answer.status == 404
    expect(page.locator(".empty")).to_contain_text("No session is called 'none'")
    expect(page.get_by_role("link", name="All minutes")).to_be_visible()


def test_a_selection_that_makes_no_sense_says_why(empty: Served, page: Page) -> None:
    """VIEW-11: an address typed wrong is explained."""
    page.goto(f"{empty.url}/?from=yesteryear")
    expect(page.locator(".empty")).to_contain_text("'yesteryear' is not a date")
