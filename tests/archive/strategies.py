"""Arbitrary rounds, with everything in their texts that could be mistaken for structure."""

from __future__ import annotations

import base64

from hypothesis import strategies as st

from minutebook.model import (
    Attachment,
    Billing,
    Compaction,
    Document,
    Hunk,
    Image,
    Message,
    Notice,
    Reply,
    Round,
    StrayResult,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
    Usage,
)

PITFALLS = (
    "---",
    "",
    "### 2026-03-01T10:00:00Z · user",
    "### x · assistant",
    "\\### x · user",
    "<details><summary>Tool: X</summary>",
    "</details>",
    "```",
    "`````json",
    "<!-- text -->",
    '<!-- message {"round":{"number":1}} -->',
    "\\<!-- text -->",
    "![image](x)",
    "\x1b[31m",
    "\x00",
    "&#27;",
    "&amp;#27;",
    "a\r\nb",
    "\u2028",
    "  ",
    "# h",
    "session_id: x",
    "🌸",
)

plain = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
texts = st.one_of(plain, st.lists(st.sampled_from(PITFALLS), max_size=6).map("\n".join))
maybe = st.none() | texts
jsons = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
binary = st.binary(max_size=20).map(lambda raw: base64.b64encode(raw).decode())
images = st.builds(Image, st.sampled_from(["image/png", "", "x/é"]), binary | texts, maybe)
documents = st.builds(Document, st.just("application/pdf"), binary | texts, maybe, maybe)
unknowns = st.builds(Unknown, texts, jsons)
parts = st.builds(Text, texts) | images | documents | unknowns
places = st.integers(-5, 10**6)
lines = st.lists(
    st.one_of(texts, st.sampled_from(["+a", "-b", " c", "@@ -1,1 +1,1 @@"])), max_size=3
)
hunks = st.builds(Hunk, places, places, places, places, lines.map(tuple))
results = st.builds(
    ToolResult,
    texts | st.lists(parts, max_size=3).map(tuple),
    st.booleans(),
    maybe,
    maybe,
    st.lists(hunks, max_size=2).map(tuple),
    st.none() | st.integers(-1, 255),
    st.booleans(),
    st.none() | st.integers(0, 10**6),
)
kinds = st.sampled_from(["run", "read", "edit", "write", "search", "fetch", "plan", "other"])
blocks = st.one_of(
    st.builds(Text, texts),
    st.builds(Text, texts, maybe),
    st.builds(Thinking, texts, maybe, st.booleans()),
    st.builds(ToolCall, texts, texts, jsons, st.none() | results, maybe, maybe, kinds),
    st.builds(StrayResult, texts, results),
    images,
    documents,
    st.builds(Notice, texts, texts),
    st.builds(Attachment, texts, st.dictionaries(texts, jsons, max_size=3)),
    unknowns,
)
times = st.none() | st.just("2026-03-01T10:00:00.000Z") | texts
counts = st.integers(0, 10**9)
usages = st.builds(Usage, counts, counts, counts, counts, counts)
billings = st.builds(
    Billing,
    maybe,
    st.none() | usages,
    maybe,
    maybe,
    maybe,
    st.dictionaries(texts, counts, max_size=2),
    st.none() | st.floats(0, 100),
    st.none() | counts,
    st.booleans(),
)
replies = st.builds(Reply, texts, maybe, maybe, usages, maybe, st.none() | billings)
compactions = st.builds(Compaction, maybe, maybe, st.none() | counts)
messages = st.builds(
    Message,
    st.sampled_from(["user", "assistant"]),
    st.lists(blocks, max_size=3).map(tuple),
    maybe,
    times,
    maybe,
    maybe,
    st.none() | usages,
    maybe,
    st.booleans(),
    st.none() | billings,
)


@st.composite
def rounds(draw: st.DrawFn) -> list[Round]:
    found = []
    for number in range(1, draw(st.integers(0, 3)) + 1):
        said = draw(st.lists(messages, min_size=1, max_size=3))
        duration = draw(st.none() | st.integers(0, 10**6))
        found.append(
            Round(
                number,
                tuple(said),
                draw(maybe),
                draw(maybe),
                duration,
                draw(st.integers(0, 9)),
                draw(texts),
                tuple(draw(st.lists(replies, max_size=2))),
                tuple(draw(st.lists(compactions, max_size=2))),
            )
        )
    return found
