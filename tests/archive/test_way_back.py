"""export-claude and check: the way back, and the proof of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from minutebook.cli.remedies import worded
from minutebook.errors import BadArgument, Conflict
from minutebook.record.layout import Layout
from minutebook.record.store import write_pieces
from minutebook.sources.claude_code.export import ClaudeExporter
from minutebook.sources.claude_code.fidelity import FIELDS, MATTERS, Facts
from minutebook.sources.claude_code.locate import encoded_folder
from minutebook.sources.library import Library
from minutebook.verbs import check as check_module
from minutebook.verbs import export as export_module
from tests.archive.conftest import Write, snapshot, times
from tests.archive.steps import check, documents, export_claude, inscribe, read_inscription
from tests.archive.test_operations import SID, put, turn
from tests.conftest import PROJECT, assistant, corpus_sessions, needs_corpus, short, user

SESSIONS = corpus_sessions(
    "claude/projects/*/*.jsonl", "cli-versions/**/*.jsonl", "fixtures/**/*.jsonl"
)


LARGE = 700_000  # bytes; larger ones are for `make slow`
BY_SIZE = [
    pytest.param(path, marks=[pytest.mark.slow] if path.stat().st_size > LARGE else [])
    for path in SESSIONS
]


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


@needs_corpus
@pytest.mark.parametrize("source", BY_SIZE, ids=short)
def test_every_real_session_comes_back_byte_for_byte(source: Path, tmp_path: Path) -> None:
    """OPS-14, OPS-16: inscribe ∘ export ∘ inscribe = inscribe, and nothing that matters is lost."""
    layout = Layout(tmp_path / "archive")
    library = Library([source])
    (inscribed,) = inscribe(layout, library.transcripts, ended=True, jobs=1).sessions
    assert inscribed.outcome == "new"
    (document,) = documents(layout)
    exported = export_claude(layout, document, root=tmp_path / "claude", cwd=None)
    again = Layout(tmp_path / "again")
    transcripts = Library([exported.path]).transcripts
    inscribe(again, transcripts, ended=True, jobs=1)
    one, other = snapshot(layout.root), snapshot(again.root)
    # What a transcript says of itself beside its messages (how it was started, by which
    # versions) is in no document, and so not in an export.
    keep = [name for name in one if not name.endswith(("ledger.json", "session.json"))]
    assert [name for name in keep if one[name] != other.get(name)] == []
    result = check(layout, document, [source])
    assert result.problems == []


def test_the_export_has_the_shape_every_version_resumes(
    write: Write, layout: Layout, examples: Path, tmp_path: Path
) -> None:
    """OPS-09, OPS-10, OPS-12: linear, compact, results behind calls, title last, times kept."""
    write(examples)
    for document in documents(layout):
        exported = export_claude(layout, document, root=tmp_path / "claude")
        assert exported.path.parent.name == encoded_folder(
            read_inscription(document).header.cwd or ""
        )
        text = exported.path.read_text("utf-8")
        assert '": ' not in text.split("\n")[1][:120]
        found = records(exported.path)
        chain = [r for r in found if "parentUuid" in r]
        cuts = 0
        for before, record in zip([None, *chain], chain, strict=False):
            if record["parentUuid"] is None:
                cuts += 1
            else:
                assert before is not None
                assert record["parentUuid"] == before["uuid"]
        compactions = sum(r.get("subtype") == "compact_boundary" for r in found)
        assert cuts == 1 + compactions
        assert len({r["uuid"] for r in chain}) == len(chain)
        assert {r["entrypoint"] for r in chain} == {"cli"}
        assert found[-1]["type"] in ("ai-title", "custom-title")
        calls: list[str] = []
        for record in found:
            blocks = (record.get("message") or {}).get("content")
            for block in blocks if isinstance(blocks, list) else []:
                if block["type"] == "tool_use":
                    calls.append(block["id"])
                elif block["type"] == "tool_result":
                    assert block["tool_use_id"] in calls


def test_the_same_export_twice(
    write: Write, layout: Layout, examples: Path, tmp_path: Path
) -> None:
    """OPS-13: deterministic ids; same document, same bytes."""
    write(examples)
    for document in documents(layout):
        one = export_claude(layout, document, root=tmp_path, out=tmp_path / "one" / document.name)
        two = export_claude(layout, document, root=tmp_path, out=tmp_path / "two" / document.name)
        assert one.path.read_bytes() == two.path.read_bytes()


def test_unsigned_thinking_and_unknown_blocks_are_kept_but_not_sent(
    write: Write, layout: Layout, tmp_path: Path
) -> None:
    """OPS-11: included, with a warning; Claude does not see what the API would refuse."""
    odd = assistant(
        {"type": "thinking", "thinking": "unsigned"},
        {"type": "hologram", "x": 1},
        "hello",
        id="m1",
        uuid="a1",
    )
    write(put(tmp_path / "p", user("go", uuid="u1", cwd="/w"), odd))
    (document,) = documents(layout)
    exported = export_claude(layout, document, root=tmp_path / "claude")
    assert exported.warnings == ["1 × thinking without a signature", "1 × block Claude cannot take"]
    sent = [
        block["type"]
        for record in records(exported.path)
        if record.get("type") == "assistant"
        for block in record["message"]["content"]
    ]
    assert sent == ["text"]
    carried = [
        r["minutebook"]["message"]
        for r in records(exported.path)
        if "message" in r.get("minutebook", {})
    ]
    assert [block["type"] for block in carried[0]["blocks"]] == ["thinking", "unknown", "text"]


def test_an_original_is_never_overwritten(write: Write, layout: Layout, tmp_path: Path) -> None:
    """OPS-13: refused; with ``--force`` a copy is kept."""
    write(put(tmp_path / "p", *turn(1)))
    (document,) = documents(layout)
    first = export_claude(layout, document, root=tmp_path / "claude")
    first.path.write_text("an original")
    with pytest.raises(Conflict, match="exists already"):
        export_claude(layout, document, root=tmp_path / "claude")
    assert first.path.read_text() == "an original"
    forced = export_claude(layout, document, root=tmp_path / "claude", force=True)
    assert forced.backup is not None
    assert forced.backup.read_text() == "an original"
    assert forced.path.read_text() != "an original"


def test_the_folder_can_be_chosen(write: Write, layout: Layout, tmp_path: Path) -> None:
    """OPS-09: ``--cwd``, for a project that has moved; without any folder it is asked for."""
    write(put(tmp_path / "p", *turn(1)))
    (document,) = documents(layout)
    exported = export_claude(layout, document, root=tmp_path / "claude", cwd="/new/place")
    assert exported.path.parent.name == "-new-place"
    assert {r["cwd"] for r in records(exported.path) if "cwd" in r} == {"/new/place"}
    bare = [{"type": "user", "message": {"content": f"q{n}"}} for n in range(3)]
    write(put(tmp_path / "q", *bare, name="22222222-2222-4333-8444-555555555555"))
    with pytest.raises(BadArgument, match="working folder") as refused:
        export_claude(layout, documents(layout)[1], root=tmp_path / "claude")
    assert "--cwd" in worded(refused.value)


@pytest.mark.parametrize(
    ("cwd", "name"),
    [
        ("/home/me/my_app.v2", "-home-me-my-app-v2"),
        ("D:\\git\\x", "D--git-x"),
        ("/" + "a" * 250, "-" + "a" * 199 + "-1qmrz1"),
    ],
)
def test_project_folders_are_named_as_the_cli_names_them(cwd: str, name: str) -> None:
    """OPS-09: long paths are cut and hashed."""
    found = encoded_folder(cwd)
    assert found[:200] == name[:200]
    assert len(found) <= 208


def test_subagents_come_back_too(
    write: Write, layout: Layout, examples: Path, tmp_path: Path
) -> None:
    """FMT-15, INS-16: their transcripts stand beside the export, tied to the same call."""
    write(examples)
    (document,) = [d for d in documents(layout) if read_inscription(d).header.name == "Reed"]
    exported = export_claude(layout, document, root=tmp_path / "claude")
    assert exported.subagents == 1
    (meta,) = exported.path.with_suffix("").glob("subagents/*.meta.json")
    call = json.loads(meta.read_bytes())["toolUseId"]
    assert call in exported.path.read_text()


# ------------------------------------------------------------ check


def test_an_export_that_breaks_off_leaves_nothing(
    write: Write, layout: Layout, examples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OPS-13: the last file of a subagent fails; no part of the others stays beside it."""
    write(examples)
    agents = [path for path in layout.sessions.rglob("*.md") if path.parent.name == "subagents"]
    session = agents[0].parent.parent

    def full(path: Path, pieces: Iterable[bytes]) -> None:
        if path.suffix == ".json":
            raise OSError("No space left on device")
        write_pieces(path, pieces)

    monkeypatch.setattr(export_module, "write_pieces", full)
    with pytest.raises(OSError, match="No space"):
        export_claude(layout, session.with_name(f"{session.name}.md"), root=tmp_path / "claude")
    assert [path for path in (tmp_path / "claude").rglob("*") if path.is_file()] == []


def test_check_writes_nothing(write: Write, layout: Layout, examples: Path) -> None:
    """OPS-15: not a byte and not a time of the store."""
    write(examples)
    before = times(layout.root)
    for document in documents(layout):
        assert check(layout, document, [examples]).ok
    assert times(layout.root) == before


def test_check_says_when_a_message_was_edited(write: Write, layout: Layout, tmp_path: Path) -> None:
    """OPS-14: a body changed by hand, a round file gone or changed."""
    path = put(tmp_path / "p", *turn(1))
    write(path)
    (document,) = documents(layout)
    original = document.read_text()
    document.write_text(original.replace("reply 1", "reply one"))
    result = check(layout, document, [path])
    assert not result.ok
    assert any("differs from the document" in problem for problem in result.problems)
    document.write_text(original)
    (file,) = layout.sessions.rglob("rounds/001.json")
    file.unlink()
    assert "No such file" in check(layout, document, [path]).problems[0]
    document.write_text("ruin")
    assert "cannot be read" in check(layout, document, [path]).problems[0]


def test_check_works_without_the_source(write: Write, layout: Layout, tmp_path: Path) -> None:
    """OPS-14: after the clean-up only the inscription is left, and still proves itself."""
    path = put(tmp_path / "p", *turn(1))
    write(path)
    path.unlink()
    result = check(layout, documents(layout)[0], [tmp_path / "p"])
    assert result.ok
    assert "the source is gone" in result.remarks[0]


DAMAGES: dict[str, Callable[[str], str]] = {
    "user text": lambda text: text.replace("prompt 1", "prompt one"),
    "assistant text": lambda text: text.replace("reply 1", "reply one"),
    "tool call": lambda text: text.replace("ls 1", "ls one"),
    "tool result": lambda text: text.replace("out 1", "out one"),
    "message id": lambda text: text.replace('"u1"', '"other"'),
    "timestamp": lambda text: text.replace("10:01:00", "10:01:01"),
    "reply id": lambda text: text.replace('"m1"', '"m77"'),
    "model": lambda text: text.replace("claude-opus-4-6", "claude-other"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_check_sees_every_kind_of_loss(
    write: Write, layout: Layout, tmp_path: Path, name: str
) -> None:
    """OPS-14: the check can fail: each fact changed on the way is named."""
    source = put(tmp_path / "p", *turn(1))
    write(source)
    exported = export_claude(layout, documents(layout)[0], root=tmp_path / "claude").path
    facts, _ = ClaudeExporter().compare(source, exported)
    assert [fact.name for fact in facts if fact.lost] == []
    exported.write_text(DAMAGES[name](exported.read_text()))
    facts, _ = ClaudeExporter().compare(source, exported)
    assert name in [fact.name for fact in facts if fact.lost and fact.lost_examples]


def test_a_lossy_export_fails_the_check(
    write: Write, layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OPS-15, OPS-16: an exporter that drops a block is found out, twice."""
    path = put(tmp_path / "p", *turn(1))
    write(path)
    real = export_module.write_scratch

    def lossy(*args: Any) -> Path:
        made = real(*args)
        made.write_text(made.read_text().replace("reply 1", ""))
        return made

    monkeypatch.setattr(check_module, "write_scratch", lossy)
    problems = check(layout, documents(layout)[0], [path]).problems
    assert any("same document" in problem for problem in problems)
    assert any("assistant text lost" in problem for problem in problems)


def test_fidelity_is_written_down() -> None:
    """OPS-14: docs/fidelity.md names every fact that matters and every field left behind."""
    text = (PROJECT / "docs" / "fidelity.md").read_text(encoding="utf-8")
    assert [name for name in MATTERS if f"| {name} |" not in text] == []
    for field, (fate, reason) in FIELDS.items():
        assert f"| `{field}` | {fate} | {reason} |" in text, field


def test_facts_count_the_same_whichever_way_a_message_is_kept() -> None:
    """The counting itself: a repeated uuid once, a reply over two lines once."""
    lines = [*turn(1), turn(1)[0]]
    facts = Facts(json.dumps(line).encode() for line in lines)
    assert facts.counts["user text"].total() == 1
    assert facts.counts["reply id"].total() == 1
    assert SID not in str(facts.counts)
