"""Transcripts and minutes are other people's words: no page of ours lets them do anything."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from playwright.sync_api import Browser, Page, Request

from tests.conftest import Record, as_line, assistant, tool_result, tool_use, user
from tests.web.conftest import Served, Written, engagement, minutes_of, needs_chromium, ready, start

pytestmark = needs_chromium

ALL = "user,assistant,thinking,calls,results"
PAYLOADS = (
    "<script>window.pwned=1</script>",
    "<img src=x onerror=window.pwned=1>",
    "<svg onload=window.pwned=1></svg>",
    "<svg><script>window.pwned=1</script></svg>",
    "<iframe srcdoc='<script>parent.pwned=1</script>'></iframe>",
    "<style>@import 'http://evil.example/s.css'; body{background:url(//evil.example/b)}</style>",
    "<a href='javascript:window.pwned=1'>raw link</a>",
    "<form action=http://evil.example/><button>send</button></form>",
    "<scr<script>ipt>window.pwned=1</scr</script>ipt>",
    '"><img src=x onerror=window.pwned=1>',
    "'><img src=x onerror=window.pwned=1>",
    '" onmouseover="window.pwned=1" autofocus onfocus="window.pwned=1" x="',
    "</script><script>window.pwned=1</script>",
    "</title><script>window.pwned=1</script>",
    "</textarea></pre></details><img src=x onerror=window.pwned=1>",
    "<!-- --!><img src=x onerror=window.pwned=1> -->",
    "<![CDATA[<img src=x onerror=window.pwned=1>]]>",
    "<math><mtext><table><mglyph><style><img src=x onerror=window.pwned=1>",
    "[x](javascript:window.pwned=1)",
    "[y](  JaVaScRiPt:window.pwned=1)",
    "[z](javascript&#58;window.pwned=1)",
    "[v](vbscript:window.pwned=1)",
    "[d](data:text/html,<script>window.pwned=1</script>)",
    "<javascript:window.pwned=1>",
    "![beacon](http://evil.example/p.png)",
    '![b](http://evil.example/p.png"onerror="window.pwned=1)',
    "[ref]\n\n[ref]: javascript:window.pwned=1",
    '```"><img src=x onerror=window.pwned=1>\ncode\n```',
    "```html\n<script>window.pwned=1</script>\n```",
    "| a |\n|---|\n| <img src=x onerror=window.pwned=1> |",
    "{{7331*3}} {% raw %} ${7331*3} {{ ''.__class__ }}",
    "\x1b]8;;javascript:window.pwned=1\x07link\x1b]8;;\x07 \x00 \u202e",
)
EVERYTHING = "\n\n".join(PAYLOADS)
LINE = " ".join(payload.replace("\n", " ") for payload in PAYLOADS)


def at(minute: int) -> str:
    return f"2026-03-01T10:{minute:02}:00.000Z"


def hostile() -> list[Record]:
    """A session that has every payload wherever a word can stand."""
    thought = {"type": "thinking", "thinking": EVERYTHING, "signature": "c2ln"}
    calls = [
        tool_use("c1", "Bash", command=EVERYTHING, description=LINE),
        tool_use("c2", "Edit", file_path=LINE, old_string="a\n" + EVERYTHING, new_string="b"),
        tool_use("c3", "Write", file_path=f"/x/{PAYLOADS[1]}", content=EVERYTHING),
        tool_use("c4", PAYLOADS[1], **{PAYLOADS[9]: EVERYTHING, "list": [LINE]}),
        tool_use("c5", "Task", description=LINE, prompt=EVERYTHING, subagent_type=LINE),
    ]
    answers = [
        tool_result(f"c{number}", EVERYTHING, timestamp=at(number)) for number in range(1, 5)
    ]
    html = {"type": "base64", "media_type": "image/svg+xml", "data": "PHN2Zz48L3N2Zz4="}
    remote = {"type": "url", "url": "http://evil.example/picture.png"}
    found: list[Record] = [
        user(EVERYTHING, timestamp=at(0), cwd=f"/home/dev/{PAYLOADS[1]}", gitBranch=PAYLOADS[9]),
        assistant(thought, EVERYTHING, *calls, id="m1", timestamp=at(1)),
        *answers,
        tool_result("c5", [{"type": "text", "text": EVERYTHING}], timestamp=at(6)),
        user(
            [
                {"type": "image", "source": html},
                {"type": "image", "source": remote},
                {"type": "text", "text": LINE},
            ],
            timestamp=at(7),
        ),
        assistant(EVERYTHING, id="m2", timestamp=at(8)),
        {"type": "system", "subtype": "local_command", "content": LINE, "timestamp": at(9)},
        user("<command-name>/" + LINE + "</command-name>", timestamp=at(10)),
        user(EVERYTHING, timestamp=at(11), isCompactSummary=True),
    ]
    for number, payload in enumerate(PAYLOADS):
        found += [
            user(payload, timestamp=at(12 + number)),
            assistant(payload, id=f"p{number}", timestamp=at(12 + number)),
        ]
    return [
        *found,
        {"type": "attachment", "attachment": {"type": LINE, "content": EVERYTHING}},
        {"type": LINE, "words": EVERYTHING},
        {"type": "summary", "summary": LINE, "leafUuid": "x"},
        {"type": "custom-title", "customTitle": f"Title {LINE}"},
        {"type": "agent-name", "agentName": f"Agent {PAYLOADS[1]} {PAYLOADS[9]}"},
    ]


def hostile_minutes() -> Record:
    """Engagements that say the payloads in every field."""
    found = [
        engagement(
            datetime(2026, 3, 2, number % 24, tzinfo=UTC),
            payload if number % 2 else "build",
            payload,
            id=payload,
            phase=payload,
            project=f"/home/dev/{payload}",
            key_decisions=[payload, f"Decided {payload}"],
            outcome=payload,
            files=[payload],
            turn_range=[1, 2],
        )
        for number, payload in enumerate(PAYLOADS)
    ]
    return minutes_of(
        1,
        *found,
        title=LINE,
        agent_name=PAYLOADS[1],
        agent_role=PAYLOADS[2],
        git_branch=PAYLOADS[9],
        model=PAYLOADS[11],
        session_summary=LINE,
        failure=LINE,
        extractor="somebody",
    )


@dataclass
class Tour:
    """What was seen on a walk through every page."""

    pwned: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)
    handlers: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    elements: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    sums: list[str] = field(default_factory=list)
    unfolded: int = 0
    pages: int = 0
    pieces: dict[str, tuple[str, str]] = field(default_factory=dict)


_LOOK = """() => {
  const all = [...document.querySelectorAll("*")];
  const says = (element) => element.outerHTML.slice(0, 200);
  const own = ".timeline a.bar > svg > foreignObject";  // the label of a bar
  const foreign = `main :is(iframe, object, embed, style, base, meta, link, math),
    main foreignObject:not(${own})`;
  const scripts = [...document.scripts].filter((s) => s.type !== "application/json" && !s.src);
  return {
    pwned: window.pwned !== undefined,
    handlers: all.filter((e) => [...e.attributes].some((a) => /^on/i.test(a.name))).map(says),
    links: [...document.querySelectorAll("[href], [src], [action], [formaction]")].filter((e) =>
      /^\\s*(javascript|vbscript|data):/i.test(
        e.getAttribute("href") ?? e.getAttribute("src") ?? e.getAttribute("action") ?? "",
      )).map(says),
    elements: [...document.querySelectorAll(foreign), ...scripts].map(says),
    sums: document.body.innerText.includes("21993") ? [document.title] : [],
  };
}"""


def walk(browser: Browser, served: Served, paths: list[str]) -> Tour:
    """Visit pages, unfold and hover over what is there, and write down what happened."""
    tour = Tour()
    with browser.new_context() as context:
        page = context.new_page()

        def asked(request: Request) -> None:
            to = urlsplit(request.url)
            if to.scheme not in ("http", "https") or to.netloc != f"127.0.0.1:{served.port}":
                tour.strangers.append(request.url)

        def refused(dialog: Any) -> None:
            tour.dialogs.append(dialog.message)
            dialog.dismiss()

        page.on("request", asked)
        page.on("dialog", refused)
        page.on("console", lambda said: tour.complaints.append(said.text))
        page.on("pageerror", lambda error: tour.complaints.append(str(error)))
        for path in paths:
            ready(page, served.url + path)
            if "/session/" in path:
                tour.unfolded += unfold_all(page)
            seen = page.evaluate(_LOOK)
            tour.pages += 1
            if seen.pop("pwned"):
                tour.pwned.append(path)
            for name, found in seen.items():
                getattr(tour, name).extend(found)
    return tour


def unfold_all(page: Page) -> int:
    """Open every folded block, of every part; how many there were."""
    page.evaluate(
        """async () => {
          const wait = (done) => new Promise((resolve) => {
            const look = () => (done() ? resolve() : requestAnimationFrame(look));
            look();
          });
          const folded = () => [...document.querySelectorAll("details.block")];
          for (let y = 0, last = -1; y !== last; ) {
            scrollTo(0, y);
            await wait(() => [...document.querySelectorAll(".part")].every((p) => p.innerHTML));
            folded().forEach((block) => (block.open = true));
            await wait(() => !document.querySelector("details.block[open] > .unfold"));
            document.opened = Math.max(document.opened ?? 0, folded().length);
            last = y;
            y = Math.min(y + innerHeight, document.documentElement.scrollHeight - innerHeight);
          }
        }"""
    )
    opened: int = page.evaluate("() => document.opened")
    return opened


@pytest.fixture(scope="module")
def tour(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tour]:
    """A walk through a house full of payloads."""
    folder = tmp_path_factory.mktemp("hostile")
    written = Written(folder / "claude")
    id = written.session(*hostile())
    served = start(written.root, folder / "archive")
    served.settle()
    with (served.archive / "sessions" / "engagements.jsonl").open("ab") as file:
        file.write(as_line(hostile_minutes()) + b"\n")
        file.write(as_line({**hostile_minutes(), "session_id": "other", "engagements": []}) + b"\n")
    words = "%3Cimg%20src%3Dx%20onerror%3Dwindow.pwned%3D1%3E"
    paths = [
        *("/", "/?view=sessions&ghosts=1", "/?group=method&from=2026-03-02&to=2026-03-03"),
        *(
            "/?group=agent&view=sessions",
            f"/?project={words}",
            "/decisions",
            f"/decisions?q={words}",
        ),
        *("/search?q=window", f"/search?q={words}", f"/?group={words}", f"/session/{words}"),
        f"/session/{id}?show={ALL}",
        f"/session/{id}/story",
        f"/session/{id}?round=1&block=1&passage={words}&q={words}",
        f"/session/{id}?show={ALL}&q={words}#round-3",
    ]
    paths += [f"/session/{id}/blocks/1/{block}" for block in range(8)]
    found = walk(browser, served, paths)
    found.pieces = pieces_of(served, id)
    yield found
    served.stop()


def pieces_of(served: Served, id: str) -> dict[str, tuple[str, str]]:
    """What scripts ask for, and files: kind of content, and content."""
    said = served.json(f"/api/v1/sessions/{id}")["session"]["engagements"]
    paths = [f"/card/{id}/-", f"/session/{id}/parts/0?show={ALL}", f"/session/{id}/story"]
    paths += [f"/card/{id}/{quote(e['id'], safe='')}" for e in said[:40] if "/" not in e["id"]]
    paths += ["/", "/?view=sessions", "/search?q=window", "/decisions", f"/session/{id}/mend"]
    paths += ["/year.svg", "/usage.csv?by=session", f"/session/{id}/markdown"]
    found = {}
    for path in paths:
        status, headers, body = served.get(path, {"X-Fragment": "1"})
        assert status == 200, path
        found[path] = headers["content-type"], body
    return found


def test_pieces_of_pages_have_no_element_of_theirs(tour: Tour) -> None:
    """VIEW-12: cards, rows, parts and the picture of the year have no element or handler of a
    transcript; files that are text say that they are."""
    assert len(tour.pieces) >= 12
    for path, (kind, body) in tour.pieces.items():
        if kind.startswith(("text/plain", "text/csv")):
            continue
        assert kind.startswith(("text/html", "image/svg+xml")), path
        seen = _Elements()
        seen.feed(body)
        assert seen.odd == [], path


class _Elements(HTMLParser):
    """Elements that no page of ours has, and attributes that run something."""

    def __init__(self) -> None:
        super().__init__()
        self.odd: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        odd = tag in ("script", "iframe", "object", "embed", "base", "math", "style", "mglyph")
        odd = odd or (tag == "img" and (dict(attrs).get("src") or "x")[0] != "/")
        for name, value in attrs:
            odd = odd or name.startswith("on")
            odd = odd or (value or "").strip().lower().startswith(("javascript:", "vbscript:"))
        if odd:
            self.odd.append(f"{tag} {attrs}"[:200])


def test_the_walk_saw_everything(tour: Tour) -> None:
    """VIEW-12: the checks below are worth something: pages were seen and blocks unfolded."""
    assert tour.pages == 23
    assert tour.unfolded >= 10


def test_no_word_of_a_transcript_runs(tour: Tour) -> None:
    """VIEW-12: no payload ran on any page."""
    assert tour.pwned == []
    assert tour.dialogs == []


def test_no_request_leaves_the_machine(tour: Tour) -> None:
    """VIEW-12: no picture, style or form of a transcript reaches another host."""
    assert tour.strangers == []


def test_no_element_has_a_handler(tour: Tour) -> None:
    """VIEW-12: no attribute that begins with `on`, though the policy would stop it."""
    assert tour.handlers == []


def test_no_link_runs_or_carries_a_page(tour: Tour) -> None:
    """VIEW-12: no javascript:, vbscript: or data: in any link, picture or form."""
    assert tour.links == []


def test_no_foreign_element_is_made(tour: Tour) -> None:
    """VIEW-12: no frame, style or script of a transcript is in the document."""
    assert tour.elements == []


def test_no_template_is_evaluated(tour: Tour) -> None:
    """VIEW-12: `{{7331*3}}` is shown as it was written."""
    assert tour.sums == []


def test_the_policy_had_nothing_to_refuse(tour: Tour) -> None:
    """VIEW-12: the policy is the second guard: nothing came as far as that."""
    told = [text for text in tour.complaints if "Content Security Policy" in text]
    assert told == []


def test_our_own_pages_keep_to_the_policy(viewer: Served, browser: Browser) -> None:
    """VIEW-12: on ordinary sessions no console has anything to say."""
    sessions = viewer.json("/api/v1/sessions")["sessions"]
    paths = [
        *("/", "/?view=sessions", "/?group=period", "/decisions", "/search?q=passkey"),
        *(f"/session/{session['session_id']}?show={ALL}" for session in sessions[:3]),
    ]
    assert walk(browser, viewer, paths).complaints == []


def test_payloads_are_still_readable(tour: Tour, viewer: Served) -> None:
    """VIEW-12: a page that says `<script>` says it as text (here: of a search)."""
    assert tour.pages
    html = viewer.get("/search?q=%3Cscript%3Ealert(1)%3C/script%3E")[2]
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert not re.search(r"<script>alert", html)
