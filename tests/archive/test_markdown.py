"""The document: readable, and exactly reversible."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from minutebook.model import (
    Billing,
    Image,
    Message,
    Round,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
)
from minutebook.record.header import Header, read_header, summary_line, write_header
from minutebook.record.markdown import read_rounds, split_messages, write_round
from minutebook.record.media import MediaStore, with_pictures, without_pictures
from minutebook.record.notation import decode, encode, parse_carrier
from minutebook.record.patches import Malformed
from minutebook.record.rounds import read_round, read_words, round_file
from tests.archive.strategies import PITFALLS, rounds, texts


def there_and_back(given: list[Round]) -> list[Round]:
    return list(read_rounds(split_messages(write_body(given).split("\n"))))


def write_body(rounds: list[Round]) -> str:
    return "".join(write_round(round, "session") for round in rounds)


def kept(rounds: list[Round]) -> list[Round]:
    """Rounds as they are kept: pictures are files."""
    return [without_pictures(round, MediaStore()) for round in rounds]


@settings(max_examples=120, deadline=None)
@given(rounds())
def test_any_rounds_parse_back_equal(given: list[Round]) -> None:
    """INS-15: whatever is in a message, the document gives it back exactly."""
    assert there_and_back(kept(given)) == kept(given)


@settings(max_examples=120, deadline=None)
@given(rounds())
def test_any_round_file_gives_its_round_back(given: list[Round]) -> None:
    """RND-02, DB-09: the permanent record holds everything, to the last message boundary."""
    for round in kept(given):
        assert read_round(round_file("s", round)) == round


def test_every_field_of_a_message_is_kept() -> None:
    """DB-09: a field added to `Message` must be added to round files and documents too."""
    full = Message(
        "user",
        (Text("go"),),
        id="m",
        at="2026-03-01T10:00:00Z",
        reply_id="r",
        model="opus",
        usage=Usage(1, 2, 3, 4),
        stop="end_turn",
        queued=True,
        billing=Billing(speed="fast"),
    )
    unset = Message("assistant", ())
    assert all(getattr(full, n) != getattr(unset, n) for n in Message.__struct_fields__)
    round = Round(1, (full,))
    assert read_round(round_file("s", round)) == round
    assert there_and_back([round]) == [round]


@settings(max_examples=100, deadline=None)
@given(rounds())
def test_the_words_of_a_round_file_are_those_of_the_round(given: list[Round]) -> None:
    """ARC-01: the quick reader of an index sees what the patient one sees."""
    for round in kept(given):
        quick = read_words(round_file("s", round))
        assert [m.role for m in quick.messages] == [m.role for m in round.messages]
        assert [m.said for m in quick.replies] == [m.said for m in round.replies]
        assert quick.usage == round.usage
        if round.prompt is not None:
            assert quick.prompt is not None
            assert quick.prompt.said == round.prompt.said


@pytest.mark.parametrize(
    "text", [*PITFALLS, *("\n".join((a, "", b)) for a in PITFALLS for b in PITFALLS)]
)
def test_every_pitfall_in_every_place(text: str) -> None:
    """INS-15: separators, headings, folds, fences, frontmatter, CRLF, control characters."""
    result = ToolResult(text, at="2026-03-01T10:00:01Z")
    blocks = (Text(text), Thinking(text, "s"), ToolCall("t", "Bash", {"command": text}, result))
    message = Message("assistant", blocks, "id", "2026-03-01T10:00:00Z")
    round = Round(1, (Message("user", (Text(text),), "u"), message))
    assert there_and_back([round]) == [round]


@settings(max_examples=150, deadline=None)
@given(rounds())
def test_no_control_character_reaches_the_file(given: list[Round]) -> None:
    """A document can be shown with `cat`: nothing in it is obeyed by a terminal."""
    body = write_body(given)
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", body)


@given(texts)
def test_control_characters_are_encoded_reversibly(text: str) -> None:
    """INS-15: numeric entities, and literal ones protected."""
    assert decode(encode(text)) == text


def simple() -> Round:
    user = Message("user", (Text("What *is* this?"),), "u1", "2026-03-01T10:00:00Z")
    call = ToolCall("t1", "Bash", {"command": "ls"}, ToolResult("a\n```\nb", error=True))
    said = (Text("Looking."), call, Text("Done."))
    return Round(1, (user, Message("assistant", said, "a1", "2026-03-01T10:00:05Z")), tool_count=1)


def test_a_document_reads_like_one() -> None:
    """INS-11 … INS-14: headings, plain Markdown, folded calls, separators, none at the end."""
    body = write_body([simple()])
    assert body.split("\n") == [
        "",
        "---",
        "",
        "### 2026-03-01T10:00:00Z · user",
        "",
        '<!-- message {"round":{"number":1,"tool_count":1},"id":"u1"} -->',
        "",
        "What *is* this?",
        "",
        "---",
        "",
        "### 2026-03-01T10:00:05Z · assistant",
        "",
        '<!-- message {"id":"a1"} -->',
        "",
        "Looking.",
        "",
        "<details><summary>Tool: Bash</summary>",
        "",
        '<!-- call {"id":"t1","name":"Bash"} -->',
        "",
        "**Input**",
        "",
        "```json",
        "{",
        '  "command": "ls"',
        "}",
        "```",
        "",
        "**Output (error)**",
        "",
        '<!-- output {"error":true} -->',
        "",
        "````",
        "a",
        "```",
        "b",
        "````",
        "",
        "</details>",
        "",
        "Done.",
        "",
    ]


def test_carriers_are_invisible_and_whole() -> None:
    """INS-17: what the way back needs travels in HTML comments that cannot end early."""
    round = Round(1, (Message("user", (Text("x"),), "a --> b <!-- c"),))
    body = write_body([round])
    (line,) = [line for line in body.split("\n") if line.startswith("<!-- message")]
    assert line.count("-->") == 1
    found = parse_carrier(line)
    assert found is not None
    assert found[1]["id"] == "a --> b <!-- c"


def test_pictures_are_files_named_by_their_hash(tmp_path: Path) -> None:
    """INS-16: out of the text, and back; the same picture twice is one file."""
    media = MediaStore()
    picture = Image("image/png", "iVBORw0KGgo=")
    round = Round(1, (Message("user", (picture, picture), "u"),))
    outside = without_pictures(round, media)
    media.flush(tmp_path)
    (file,) = tmp_path.iterdir()
    assert file.suffix == ".png"
    body = write_body([outside])
    assert f"![image](session/media/{file.name})" in body
    assert "iVBORw0KGgo=" not in body
    (back,) = there_and_back([outside])
    assert with_pictures(back, tmp_path) == round


def test_same_rounds_same_bytes() -> None:
    """INS-18."""
    assert write_body([simple()]) == write_body([simple()])


@pytest.mark.parametrize(
    "damage",
    [
        lambda body: body.replace("<!-- message", "<!-- massage", 1),
        lambda body: body.replace("</details>", "", 1),
        lambda body: body.replace("````", "`", 1),
        lambda body: body.replace('<!-- call {"id"', "<!-- call {id", 1),
    ],
)
def test_damage_is_said_not_guessed(damage: object) -> None:
    """A document edited into something else is malformed; nothing is made up."""
    body = write_body([simple()])
    with pytest.raises(Malformed):
        list(read_rounds(split_messages(damage(body).split("\n"))))  # type: ignore[operator]


# ------------------------------------------------------------ header


def header(**fields: object) -> Header:
    return Header(session_id="s", agent_id="claude", **fields)  # type: ignore[arg-type]


def test_the_header_has_what_was_asked_for() -> None:
    """INS-07 … INS-10."""
    text = write_header(
        header(
            role="Architect",
            name="Reed",
            model="claude-opus-4-6",
            started="2026-03-04T14:02:00Z",
            ended="2026-03-04T15:00:00Z",
            messages=12,
            source="/x/s.jsonl",
            summary="Fixed the index.",
        )
    )
    for line in (
        'session_id: "s"',
        'agent_id: "claude"',
        'role: "Architect"',
        'model: "claude-opus-4-6"',
        "messages: 12",
        'source: "/x/s.jsonl"',
        "engagements: []",
        "# Reed · 2026-03-04",
        "Fixed the index.",
    ):
        assert line in text.split("\n")


@settings(deadline=None)
@given(texts, texts, texts)
def test_any_header_parses_back_equal(title: str, cwd: str, summary: str) -> None:
    """INS-15: untrusted titles and paths in YAML."""
    given = header(title=title, cwd=cwd, name=title, summary=summary_line(summary))
    found, start = read_header(write_header(given) + "\n---\n")
    assert found == given
    assert write_header(given)[start:] == ""


@settings(deadline=None)
@given(texts, texts, texts)
def test_the_frontmatter_is_real_yaml(title: str, cwd: str, extra: str) -> None:
    """INS-07: any YAML reader gets what we wrote, and what a person wrote is read as YAML."""
    given = header(title=title, cwd=cwd, engagements=[{"id": extra}], extra={"mine": [extra]})
    frontmatter = write_header(given).split("\n---\n")[0].removeprefix("---\n")
    fields = yaml.safe_load(frontmatter)
    assert (fields["title"], fields["cwd"]) == (title, cwd)
    assert (fields["engagements"], fields["mine"]) == ([{"id": extra}], [extra])
    by_hand = yaml.safe_dump(fields)
    found, _ = read_header(f"---\n{by_hand}---\n\n# x\n\n\n")
    assert (found.title, found.cwd, found.extra) == (title, cwd, {"mine": [extra]})


def test_a_persons_summary_is_recognised() -> None:
    """INS-10: the placeholder is marked with its hash, so that an edit is seen."""
    text = write_header(header(summary="generated"))
    assert not read_header(text)[0].edited
    edited = read_header(text.replace("\ngenerated\n", "\nI wrote this.\n"))[0]
    assert (edited.edited, edited.summary) == (True, "I wrote this.")
    again = read_header(write_header(edited))[0]
    assert (again.edited, again.summary) == (True, "I wrote this.")


@pytest.mark.parametrize(
    "text", ["", "# no frontmatter", "---\n[\n---\n\n# x\n\ny\n", "---\na: 1\n---\n\n# x\n\ny\n"]
)
def test_what_is_no_inscription_is_said(text: str) -> None:
    """OPS-03: another file at the target path is never taken for ours."""
    with pytest.raises(Malformed):
        read_header(text)


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_round_names_sort_like_numbers(one: int, other: int) -> None:
    """RND-01: also past 999."""
    from minutebook.record.layout import round_name

    assert (one < other) == (round_name(one) < round_name(other))


@pytest.mark.parametrize("role", ["../../etc", "a/b", "..", ".", "", "Ünï cödé", "Chief Architect"])
def test_agent_ids_never_leave_the_folder(role: str) -> None:
    """INS-02: the role as a slug, whatever it contains."""
    from minutebook.record.layout import agent_id_of

    assert re.fullmatch(r"[a-z0-9][a-z0-9-]*", agent_id_of(role, "claude"))


@pytest.mark.parametrize(
    "id", ["../x", "a/b", ".", "..", ".hidden", "index", "x\x00y", "a b", "é" * 99]
)
def test_session_ids_become_harmless_file_names(id: str) -> None:
    """INS-03: a UUID stays as it is; anything else cannot escape."""
    from minutebook.record.layout import file_name

    assert re.fullmatch(r"_[A-Za-z0-9%_-]*", file_name(id))
    uuid = "634355e9-1f7f-4e0a-9d53-7cd289f99fb0"
    assert file_name(uuid) == uuid
