"""The viewer's pure parts: prose, diffs, parts, timeline, axis, selections."""

from __future__ import annotations

import re
import time
from datetime import datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minutebook.archive.masking import mark, unmarked
from minutebook.archive.session import RoundShape
from minutebook.archive.sharing import BLOCKS, SharedSession
from minutebook.derive.usage.figures import Cost, Figures, Tokens
from minutebook.errors import BadArgument
from minutebook.html import harness
from minutebook.html.diffs import diffs_of
from minutebook.html.prose import code, plain, prose
from minutebook.html.session_file import session_file
from minutebook.index.snippet import Snippet
from minutebook.model import Message, Round, Subagent, Text, ToolCall, ToolResult
from minutebook.model.blocks import Hunk
from minutebook.model.engagement import METHODS, Engagement, SessionRecord
from minutebook.web.axis import DAY, HOUR, Range, ticks, zoom_of, zoomed
from minutebook.web.finding import highlighted, in_words
from minutebook.web.pages import line, rounds_text, session_url
from minutebook.web.parts import TOGGLES, part_of, parts_of, show_query, shown_of, totals
from minutebook.web.selection import Selection, selection
from minutebook.web.signs import LETTERS, dollars, fullness, letter, model_name
from minutebook.web.story import figure_rows
from minutebook.web.timeline import MOST_BARS, Work, timeline

# -- prose

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "[x](javascript:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "![x](javascript:alert(1))",
    "<a href='javascript:alert(1)'>x</a>",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    '"><img src=x onerror=alert(1)>',
    "```html\n<script>alert(1)</script>\n```",
    '```"><script>alert(1)</script>\ncode\n```',
    "<!-- --><iframe srcdoc='<script>alert(1)</script>'>",
    "`<b onmouseover=alert(1)>`",
    "[x]: javascript:alert(1)\n\n[x]",
    "<javascript:alert(1)>",
]
_TAG = re.compile(r"<\s*/?\s*([a-zA-Z][a-zA-Z0-9]*)([^>]*)>")
_HARMLESS = set(
    "p br h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong s del a hr table thead tbody "
    "tr th td span button".split()
)


def assert_inert(html: str) -> None:
    for name, rest in _TAG.findall(html):
        assert name.lower() in _HARMLESS, html
        assert not re.search(r"\son\w+\s*=", rest), html
        assert "javascript:" not in rest.lower(), html
        assert "data:text" not in rest.lower(), html


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_inert(text: str) -> None:
    """VIEW-12: no tag, handler or address of a transcript survives as one."""
    for rendered in (prose(text), plain(text), code(text, "html")):
        assert_inert(str(rendered))


@given(st.lists(st.sampled_from([*HOSTILE, "*", "_", "`", "\n", "|", "a ", "> "]), max_size=8))
def test_mixtures_of_hostile_text_are_inert(pieces: list[str]) -> None:
    """VIEW-12: also when they stand inside each other."""
    assert_inert(str(prose("".join(pieces))))


def test_html_in_a_text_is_seen_as_text() -> None:
    """VIEW-12: what somebody wrote is shown, not swallowed."""
    assert "&lt;div&gt;" in prose("Use a <div> here.")


def test_pictures_from_elsewhere_become_links() -> None:
    """VIEW-12: no remote asset is ever loaded."""
    html = str(prose("![a chart](https://example.com/x.png)"))
    assert "<img" not in html
    assert 'href="https://example.com/x.png"' in html


def test_markdown_is_rendered() -> None:
    """VIEW-06: lists, tables, code and emphasis look like themselves."""
    html = prose(
        "# Plan\n\n- one\n- **two**\n\n|a|b|\n|-|-|\n|1|2|\n\n```python\ndef f(): pass\n```"
    )
    for tag in ("<h1>", "<li>", "<strong>", "<td>", '<span class="k">'):
        assert tag in html


def test_a_long_code_block_is_not_coloured() -> None:
    """VIEW-06: highlighting stops at a cap."""
    assert "<span" not in code("def f(): pass\n" * 5_000, "python")


def planted() -> str:
    return "gh" + "p_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"


@pytest.mark.parametrize(
    "text", ["token {}", "`{}`", "```sh\nexport T={}\n```", "[x](https://a.example/?t={})"]
)
def test_secrets_are_masked_wherever_they_stand(text: str) -> None:
    """VIEW-12: in prose, in code and in links; the page does not hold them."""
    html = str(prose(mark(text.format(planted()))))
    assert planted() not in html
    assert planted()[8:20] not in html


def test_a_masked_secret_is_a_button() -> None:
    """VIEW-12: a click may reveal it, and a screen reader is told what it is."""
    html = str(prose(mark(f"token {planted()}")))
    assert re.search(r'<button type="button" class="secret" data-secret="[0-9a-f]+"', html)
    assert "GitHub token" in html


def test_escape_sequences_and_directions_are_gone() -> None:
    """VIEW-12: nothing in a text turns the page around."""
    assert str(plain("\x1b[31mred\x1b[0m \u202eevil")) == "red evil"


def test_marks_of_a_snippet() -> None:
    """VIEW-08: the words that were found are marked, everything else is text."""
    assert str(highlighted(Snippet("a <b> c", ((2, 5),)))) == "a <mark>&lt;b&gt;</mark> c"


def test_a_secret_in_a_snippet_is_words_and_is_not_highlighted() -> None:
    """VIEW-12: words around it stay marked where they are; its kind was not searched for."""
    text = mark(f"the {planted()} opens the door")
    found = tuple(m.span() for m in re.finditer("the|token|door", text))
    shown = in_words(Snippet(text, found))
    assert shown.text == "the ghp_…•••• (GitHub token) opens the door"
    assert [shown.text[start:end] for start, end in shown.marks] == ["the", "the", "door"]
    assert str(highlighted(Snippet(text, found))).count("<mark>") == 3


@given(st.integers(0, 80))
def test_a_cut_leaves_no_half_of_a_mark(place: int) -> None:
    """VIEW-12: wherever a line is cut, the reader sees dots, never a digest."""
    text = mark(f"Please use {planted()} to log in")
    for shown in (unmarked(text[:place]), unmarked(text[place:]), str(plain(text, place))):
        shown = re.sub('data-secret="[0-9a-f]+"', "", shown)
        assert not re.search("[\U00100000-\U0010ffff]|[0-9a-f]{5}", shown)


@pytest.mark.parametrize("text", ["{}", "Use {} now", "# {}", "a\n{}\nb"])
def test_a_line_of_a_page_has_words_for_secrets(text: str) -> None:
    """VIEW-12: topics, titles, branches and addresses hold no button and no mark."""
    told = mark(text.format(planted()))
    assert "•••• (GitHub token)" in line(told)
    assert "%F4" not in session_url("x", 1, e=told)


# -- diffs


def test_an_edit_is_a_diff() -> None:
    """VIEW-06, VIEW-19: what was removed and what was added, signed, with the lines around."""
    given = {"file_path": "a.py", "old_string": "a\nb\nc", "new_string": "a\nB\nc"}
    (found,) = diffs_of(ToolCall("1", "Edit", given, kind="edit"))
    assert (found.added, found.removed) == (1, 1)
    assert [line.sign for line in found.lines] == [" ", "-", "+", " "]
    assert [line.gutter.strip() for line in found.lines] == ["", "−", "+", ""]


@pytest.mark.parametrize("given_input", [None, "text", [], {"edits": "x"}, {"edits": [1]}, {}])
def test_an_edit_without_sense_is_no_diff(given_input: object) -> None:
    """VIEW-06: wrongly typed input breaks nothing."""
    assert diffs_of(ToolCall("1", "Edit", given_input, kind="edit")) == []


def test_a_recorded_patch_is_the_diff() -> None:
    """VIEW-06, VIEW-19: what the agent recorded is aligned with the file and numbered by it."""
    patch = (Hunk(10, 3, 10, 3, (" keep", "-old", "+new", " rest")),)
    given = {"file_path": "a.py", "old_string": "old", "new_string": "new"}
    call = ToolCall("1", "Edit", given, ToolResult("ok", patch=patch), kind="edit")
    (found,) = diffs_of(call)
    assert [(line.gutter.split(), str(line.html)) for line in found.lines] == [
        (["10", "10"], "keep"),
        (["11", "−"], "old"),
        (["11", "+"], "new"),
        (["12", "12"], "rest"),
    ]
    assert (found.added, found.removed) == (1, 1)


def test_what_is_an_edit_is_a_matter_of_its_kind() -> None:
    """AGT-03: the name of a tool does not matter."""
    given = {"path": "a.py", "old_str": "a", "new_str": "b"}
    assert diffs_of(ToolCall("1", "whatever_replace", given, kind="edit"))
    assert not diffs_of(ToolCall("1", "Edit", {"content": "x"}, kind="read"))


# -- parts

shapes = st.lists(
    st.lists(
        st.sampled_from(["user", "assistant", "thinking", "call", "result", "notice"]), max_size=60
    ),
    max_size=40,
).map(lambda rounds: [RoundShape(n, tuple(kinds)) for n, kinds in enumerate(rounds, 1)])


@given(shapes)
def test_parts_hold_every_block_once(rounds: list[RoundShape]) -> None:
    """VIEW-09: all blocks, in order, none twice; every round begins in the part it is found in."""
    parts = parts_of(rounds)
    blocks = [
        (piece.round, at)
        for part in parts
        for piece in part.pieces
        for at in range(piece.first, piece.last)
    ]
    assert blocks == [(r.number, at) for r in rounds for at in range(len(r.kinds))]
    for shape in rounds:
        pieces = parts[part_of(parts, shape.number)].pieces
        assert any(piece.round == shape.number and piece.first == 0 for piece in pieces)


@given(shapes, st.integers(0, 40))
def test_a_growing_session_only_gets_new_parts(rounds: list[RoundShape], count: int) -> None:
    """VIEW-02: what is before the last part never moves."""
    before, after = parts_of(rounds[:count]), parts_of(rounds)
    assert after[: max(0, len(before) - 1)] == before[:-1]


@given(shapes)
def test_hidden_counts(rounds: list[RoundShape]) -> None:
    """VIEW-06: the badges count blocks; a call's answer is one of the results."""
    kinds = [kind for shape in rounds for kind in shape.kinds]
    found = totals(parts_of(rounds))
    assert found["calls"] == kinds.count("call")
    assert found["results"] == kinds.count("call") + kinds.count("result")
    assert found["thinking"] == kinds.count("thinking")


@given(st.sets(st.sampled_from(TOGGLES)))
def test_what_is_shown_is_in_the_address(shown: set[str]) -> None:
    """VIEW-14: all 32 combinations come back as they were."""
    assert shown_of(show_query(shown) or None) == shown


def test_an_engagement_of_several_ranges_says_so() -> None:
    """ARC-05: a person's tags may leave an engagement in pieces."""
    one = Engagement(
        id="e", topic="t", project="p", method="build", phase="started", turn_range=(3, 17)
    )
    assert rounds_text(one) == "#3–17"
    parts = msgspec.structs.replace(one, parts=((3, 5), (9, 9), (12, 17)))
    assert rounds_text(parts) == "#3–5, 9, 12–17"


# -- time

RECORD = SessionRecord(session_id="s", cwd="/home/dev/p")
works = st.lists(
    st.builds(
        lambda start, length, method, name: Work(
            start, start + length, method, SessionRecord(session_id="s", cwd=name, agent_name=name)
        ),
        st.integers(1_700_000_000, 1_800_000_000),
        st.integers(0, 5 * DAY),
        st.sampled_from(METHODS),
        st.sampled_from(list("abcdefghijklmnop")),
    ),
    max_size=60,
)


@given(works, st.integers(1_690_000_000, 1_800_000_000), st.integers(HOUR, 400 * DAY))
@pytest.mark.parametrize("group", ["project", "method", "agent", "period"])
def test_nothing_is_drawn_outside_or_lost(
    group: str, found: list[Work], start: int, length: int
) -> None:
    """VIEW-05: in every grouping all bars are in the picture, and those not drawn are counted."""
    drawn = timeline(found, Range(start, start + length), group)
    inside = [w for w in found if w.start < start + length and w.end >= start]
    assert drawn.count == len(inside)
    for row in drawn.rows:
        assert row.count == len(row.bars) + row.more or drawn.dense
        for bar in row.bars:
            assert -0.01 <= bar.x <= 100
            assert bar.x + bar.width <= 100.01
        if drawn.dense:  # what was worked on for long stands in several columns
            assert sum(column.count for column in row.columns) >= row.count
    if group != "period":
        assert sum(row.count for row in drawn.rows) == len(inside)


def test_bars_of_a_lane_do_not_touch() -> None:
    """VIEW-04: what overlaps in time stands in lanes."""
    found = [Work(n * 10, n * 10 + 500, "build", RECORD) for n in range(1, 4)]
    (row,) = timeline(found, Range(0, 1000), "project").rows
    assert [bar.lane for bar in row.bars] == [2, 1, 0]


def test_ten_thousand_in_a_day_are_a_density() -> None:
    """VIEW-04: at the far zoom (or in a crowd) the page shows density."""
    found = [Work(n, n + 5, METHODS[n % 11], RECORD) for n in range(1, 10_001)]
    drawn = timeline(found, Range(0, DAY), "project")
    assert drawn.dense
    assert sum(len(column.parts) for row in drawn.rows for column in row.columns) < 1_000
    assert not timeline(found[:MOST_BARS], Range(0, HOUR), "project").dense


@given(st.integers(0, 2_000_000_000), st.integers(HOUR, 20 * 366 * DAY))
def test_ticks_are_few_and_in_order(start: int, length: int) -> None:
    """VIEW-04: from an hour to years, there are some marks, and not too many."""
    found = ticks(Range(start, start + length))
    places = [tick.at for tick in found]
    assert places == sorted(places)
    assert len(found) <= 25
    assert len([tick for tick in found if not tick.minor]) in range(min(len(found), 1), 7)
    assert all(0 <= place < 100 for place in places)


def test_a_narrow_screen_names_the_days() -> None:
    """VIEW-14: of a mark every six hours, it keeps the names of the days."""
    start = int(datetime(2026, 3, 2).timestamp())
    found = ticks(Range(start, start + 3 * DAY))
    assert len(found) == 12
    assert [t.label for t in found if not t.minor] == ["Mon 2", "Tue 3", "Wed 4"]


def test_a_little_money_is_not_none() -> None:
    """VIEW-17: what cost less than a cent did not cost nothing."""
    cent = 10_000_000_000
    told = [dollars(exact) for exact in (0, 1, cent // 2, cent, 123 * cent)]
    assert told == ["", "under $0.01", "$0.01", "$0.01", "$1.23"]
    told = [row[1] for row in figure_rows(Figures(replies=1, cost=Cost(1))) if row[0] == "Cost"]
    assert told == ["under $0.01"]


def test_a_little_of_the_window_is_not_none() -> None:
    """VIEW-18: a short session fills less than a percent of a large window."""
    assert [fullness(percent) for percent in (0, 0.04, 0.5, 12.4)] == [
        *("0 %", "under 1 %", "under 1 %", "12 %"),
    ]


def test_tokens_that_were_not_recorded_are_not_none() -> None:
    """VIEW-18: some agents do not record what was read; nothing was read where nothing was."""
    told = [
        figure_rows(Figures(replies=1, tokens=Tokens(i, o)))[0][1]
        for i, o in ((0, 9), (7, 9), (0, 0))
    ]
    assert told == ["", "7", "0"]


@pytest.mark.parametrize(
    ("length", "zoom"),
    [
        *((HOUR, "hour"), (DAY, "day"), (23 * HOUR, "day"), (25 * HOUR, "day"), (7 * DAY, "week")),
        *((28 * DAY, "month"), (31 * DAY, "month"), (365 * DAY, "year"), (366 * DAY, "year")),
        *((2 * HOUR, ""), (2 * DAY, ""), (27 * DAY, ""), (53 * 7 * DAY, "")),
    ],
)
def test_a_range_is_the_zoom_it_is_as_long_as(length: int, zoom: str) -> None:
    """VIEW-17: a day that was chosen in the calendar is a day, also when clocks change."""
    assert zoom_of(Range(1_700_000_000, 1_700_000_000 + length)) == zoom


def test_zooming_keeps_the_middle() -> None:
    """VIEW-04: in and out again is where one was; an hour is the nearest."""
    shown = Range(1_700_000_000, 1_700_000_000 + 30 * DAY)
    assert zoomed(zoomed(shown, 0.5), 2) == shown
    assert zoomed(Range(1_700_000_000, 1_700_000_000 + HOUR), 0.1).length == HOUR


# -- selections

selections = st.builds(
    Selection,
    view=st.sampled_from(["engagements", "sessions"]),
    group=st.sampled_from(["project", "method", "agent", "period"]),
    methods=st.lists(st.sampled_from(METHODS), unique=True, max_size=5).map(tuple),
    after=st.none() | st.integers(1_600_000_000, 1_700_000_000),
    before=st.none() | st.integers(1_700_000_001, 1_800_000_000),
    project=st.none() | st.text(min_size=1, max_size=20),
    phase=st.none() | st.sampled_from(["completed", "blocked"]),
    ghosts=st.booleans(),
)


@given(selections)
def test_every_selection_comes_back_from_its_address(chosen: Selection) -> None:
    """VIEW-14: all state is in the URL."""
    from urllib.parse import parse_qsl

    query = chosen.query()
    try:
        query.encode()
    except UnicodeEncodeError:
        return  # a lone surrogate cannot be typed into an address
    assert selection(dict(parse_qsl(query[1:], keep_blank_values=True))) == chosen


def test_the_legend_chooses_one_then_more_then_all() -> None:
    """VIEW-04: the first click asks for a method, others join, the last one out means all."""
    one = Selection(methods=Selection().toggled("build"))
    assert one.methods == ("build",)
    two = Selection(methods=one.toggled("debug"))
    assert set(two.methods) == {"build", "debug"}
    assert Selection(methods=one.methods).toggled("build") == ()


def test_a_range_that_ends_before_it_begins_is_refused() -> None:
    """VIEW-14: with a sentence."""
    with pytest.raises(BadArgument):
        selection({"from": "2026-03-02", "to": "2026-03-01"})


# -- signs


def test_every_method_has_a_letter_of_its_own() -> None:
    """VIEW-04: never colour alone."""
    assert set(LETTERS) == set(METHODS)
    assert len(set(LETTERS.values())) == len(METHODS)
    assert letter("something else") == "·"


def test_models_are_called_as_people_call_them() -> None:
    """VIEW-13: names on screen."""
    assert model_name("claude-opus-4-6-20260101") == "opus 4.6"
    assert model_name("claude-sonnet-5") == "sonnet 5"
    assert model_name("claude-3-5-sonnet-20241022") == "claude 3.5 sonnet"
    assert model_name("gpt-5-codex") == "gpt 5 codex"
    assert model_name("gemini-2.5-pro") == "gemini 2.5 pro"
    assert model_name("<synthetic>") == "<synthetic>"
    assert datetime.now().year >= 2026


@pytest.mark.parametrize("blanks", [" ", "\t", " \t"])
def test_blanks_in_an_answer_take_no_time(blanks: str) -> None:
    """VIEW-08: a long run of blanks is read once, not once from each of its characters."""
    text = f"<bash-stdout>a{blanks * 200_000}b</bash-stdout>"
    started = time.monotonic()
    assert harness.answer_in_words(text) == text[len("<bash-stdout>") : -len("</bash-stdout>")]
    assert time.monotonic() - started < 5


def test_blanks_around_tags_go_with_them() -> None:
    """VIEW-08: also between two tags, where the first one takes them."""
    assert harness.in_words("<bash-stdout> \t<status> ok") == "Status: ok"


def test_a_subagent_stands_in_a_file_once() -> None:
    """SHARE-01: where several calls name it, and where subagents name each other in a circle."""
    ids = [f"agent{number}" for number in range(12)]
    calls = tuple(ToolCall(f"call-{id}", "Task", {}, agent=id) for id in ids)
    round = Round(1, (Message("user", (Text("go"),)), Message("assistant", calls)))
    shared = SharedSession(
        record=SessionRecord(session_id="x", rounds=1),
        short="x",
        rounds=(round,),
        whole=True,
        subagents=tuple(Subagent(id=id, rounds=(round,)) for id in ids),
    )
    page = session_file("A title", [shared], BLOCKS, "").decode()
    assert [page.count(f'id="{id}-round-1"') for id in ids] == [1] * len(ids)
