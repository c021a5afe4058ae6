"""Do links land? Deep links and search hits in a real Chromium, cold and warm, wide and narrow.

    PYTHONPATH=. python benchmarks/deep_links.py [--keep FOLDER] [--links 200] [--hits 100]

One archive is made of the shared corpus, the training set and the samples of other agents. A
link has landed when the top of its round is in view after the page has loaded, and still is two
seconds later; a hit when its highlighted passage is. Exit status 1 where one has not (VIEW-15).
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
import urllib.parse
import urllib.request
from collections import Counter
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any, NamedTuple

from playwright.sync_api import Browser, Error, Page, ViewportSize, sync_playwright

from benchmarks.generated import CORPUS
from benchmarks.viewer import FLAGS, serving
from minutebook.sources.registry import SOURCES

_STAYS = 2_000  # milliseconds
_LANDED = "html[data-ready][data-landed]"
_LARGEST = 40
_WIDE: ViewportSize = {"width": 1280, "height": 860}
_NARROW: ViewportSize = {"width": 400, "height": 800}
_WORDS = (
    *("error", "tests", "commit", "server", "branch", "parser", "timeout", "schema", "login"),
    *("cache", "release", "migration", "deploy", "refactor", "docs", "failing test", "index"),
    *("regex", "button", "database", "import", "config", "type error", "memory", "permission"),
    *("screenshot", "layout", "token", "merge conflict", "performance", "subagent", "plan"),
)
# The top of a round below the bar that stays on top, and above the end of the window.
SEES_ROUND = """(number) => {
  const round = document.querySelector(`#round-${number}`);
  if (!round) return `round ${number} is not in the page`;
  const bar = document.querySelector(".toggles");
  const line = getComputedStyle(bar).position === "sticky" ? bar.getBoundingClientRect().bottom : 0;
  const head = round.querySelector(".round-head").getBoundingClientRect();
  if (head.bottom > line && head.top < innerHeight) return "";
  return `the top of round ${number} is at ${Math.round(head.top)} of ${innerHeight}`;
}"""
SEES_PASSAGE = """(words) => {
  const marked = [...(CSS.highlights.get("passage") ?? [])][0];
  if (!marked) return "nothing is highlighted";
  const bar = document.querySelector(".toggles");
  const line = getComputedStyle(bar).position === "sticky" ? bar.getBoundingClientRect().bottom : 0;
  const place = marked.getBoundingClientRect();
  if (!place.height) return "the passage has no height";
  if (place.bottom <= line || place.top >= innerHeight) {
    return `the passage is at ${Math.round(place.top)} of ${innerHeight}`;
  }
  for (let box = marked.startContainer.parentElement; box; box = box.parentElement) {
    const outer = box.getBoundingClientRect();
    const hidden = place.bottom <= outer.top || place.top >= outer.bottom;
    const scrolls = box.scrollHeight > box.clientHeight + 1 && box !== document.documentElement;
    if (scrolls && hidden && getComputedStyle(box).overflowY !== "visible") {
      return "the passage is scrolled away inside a box";
    }
  }
  const seen = marked.toString().toLowerCase();
  if (!words.length || words.some((word) => seen.includes(word))) return "";
  return `“${seen.slice(0, 60)}” is marked`;
}"""


class Link(NamedTuple):
    kind: str
    address: str
    round: int
    words: tuple[str, ...] = ()
    """Of a hit: words one of which stands in its passage."""


def places() -> list[Path]:
    """Folders with transcripts: the corpus, the training set, what other agents left."""
    training = CORPUS.parent / "training" / "claude"
    found = [CORPUS / "claude", *([training] if training.is_dir() else [])]
    for folder in sorted(path for path in (CORPUS / "agents").rglob("*") if path.is_dir()):
        inside = any(folder.is_relative_to(one) for one in found)
        if not inside and any(
            s.claims(folder) and s.discover([folder])[0] for s in SOURCES.values()
        ):
            found.append(folder)
    return found


def asked(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=60) as answer:
        return json.load(answer)


def sessions(url: str) -> list[tuple[str, int]]:
    """Sessions and their rounds, those with most rounds first."""
    listed = asked(f"{url}/api/v1/sessions?limit=500&ghosts=1")["sessions"]
    found = [(one["session_id"], one["rounds"]) for one in listed if one["rounds"]]
    return sorted(found, key=lambda pair: -pair[1])


def links(url: str, count: int, dice: random.Random) -> Iterator[Link]:
    """Links of all kinds into the largest sessions, and some of every agent's."""
    every = sessions(url)
    chosen = [*every[:_LARGEST], *dice.sample(every[_LARGEST:], min(40, len(every[_LARGEST:])))]
    kinds = cycle(("plain", "query", "both", "copied", "all shown"))
    for (id, rounds), kind in islice(zip(cycle(chosen), kinds, strict=False), count):
        number = dice.choice((dice.randint(1, rounds), dice.randint(1, rounds), rounds))
        base = f"{url}/session/{id}"
        yield {
            "plain": Link(kind, f"{base}#round-{number}", number),
            "query": Link(kind, f"{base}?round={number}", number),
            "both": Link(kind, f"{base}?round={number}#round-{number}", number),
            "copied": Link(kind, f"{base}#round-{number}", number),
            "all shown": Link(
                kind, f"{base}?show=user,assistant,thinking,calls,results#round-{number}", number
            ),
        }[kind]


def hits(browser: Browser, url: str, count: int) -> Iterator[Link]:
    """What the search page leads to, whatever kind of hit it is."""
    page = browser.new_context(viewport=_WIDE).new_page()
    left = count
    for words in _WORDS:
        if left <= 0:
            break
        page.goto(f"{url}/search?{urllib.parse.urlencode({'q': words})}")
        for row in page.query_selector_all("#results .row")[: min(left, 4)]:
            opened = row.query_selector("a.open")
            assert opened is not None
            address = opened.get_attribute("href") or ""
            marked = tuple(
                mark.inner_text().lower() for mark in row.query_selector_all(".snippet mark")
            )
            number = int(urllib.parse.parse_qs(urllib.parse.urlsplit(address).query)["round"][0])
            is_turn = row.query_selector(".snippet") is not None
            yield Link("hit", f"{url}{address}", number, marked if is_turn else ())
            left -= 1
    page.context.close()


def landed(page: Page, link: Link) -> str:
    """Nothing where a link landed and stayed; else what is wrong."""
    page.goto("about:blank")
    page.goto(link.address)
    page.wait_for_selector(_LANDED)
    if link.kind == "copied":  # what the button gives, or the round's number; opened again
        narrow = page.evaluate("innerWidth") < 900
        page.click(f"#round-{link.round} .number" if narrow else '[data-copy="link"]')
        page.wait_for_selector(".toast")
        copied = page.evaluate("navigator.clipboard.readText()")
        page.goto("about:blank")
        page.goto(copied)
        page.wait_for_selector(_LANDED)
    script, given = (
        (SEES_PASSAGE, list(link.words)) if link.kind == "hit" else (SEES_ROUND, link.round)
    )
    at_once = page.evaluate(script, given)
    page.wait_for_timeout(_STAYS)
    later = page.evaluate(script, given)
    return f"{at_once or 'in view'}, then {later}" if at_once or later else ""


def tried(browser: Browser, wanted: list[Link], dice: random.Random) -> list[str]:
    """Each link in a browser that has never been there, or in one that has; of either width."""
    wrong: list[str] = []
    seen: Counter[str] = Counter()
    warm = {size["width"]: _window(browser, size) for size in (_WIDE, _NARROW)}
    for link in wanted:
        size = dice.choice((_WIDE, _NARROW))
        cold = dice.random() < 0.5
        page = _window(browser, size) if cold else warm[size["width"]]
        try:
            said = landed(page, link)
        except Error as error:
            said = str(error).split("\n", 1)[0]
        how = f"{link.kind}, {'cold' if cold else 'warm'}, {size['width']} px"
        seen[how] += 1
        if said:
            wrong.append(f"{how}: {link.address}: {said}")
            print(wrong[-1], flush=True)
        if cold:
            page.context.close()
    for how, number in sorted(seen.items()):
        print(f"  {number:4} {how}")
    return wrong


def _window(browser: Browser, size: Any) -> Page:
    context = browser.new_context(viewport=size, permissions=["clipboard-read", "clipboard-write"])
    return context.new_page()


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--keep", type=Path, help="make the archive here, and leave it")
    options.add_argument("--links", type=int, default=200)
    options.add_argument("--hits", type=int, default=100)
    options.add_argument("--seed", type=int, default=15)
    given = options.parse_args()
    if not CORPUS.is_dir():
        raise SystemExit("There is no corpus here; set MINUTEBOOK_CORPUS.")
    folder = given.keep or Path(tempfile.mkdtemp(prefix="deep-links-"))
    dice = random.Random(given.seed)
    with (
        serving(places(), folder / "archive") as (url, _),
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=list(FLAGS)
        )
        wrong = tried(browser, list(links(url, given.links, dice)), dice)
        print(f"{given.links} deep links: {len(wrong)} wrong", flush=True)
        found = list(hits(browser, url, given.hits))
        missed = tried(browser, found, dice)
        print(f"{len(found)} search hits: {len(missed)} wrong")
        browser.close()
    if given.keep is None:
        shutil.rmtree(folder)
    return 1 if wrong or missed else 0


if __name__ == "__main__":
    sys.exit(main())
