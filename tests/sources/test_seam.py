"""What the rest of the house may ask of a source (AGT-02)."""

from __future__ import annotations

from pathlib import Path

import pytest

from minutebook.sources.base import Source
from minutebook.sources.registry import SOURCES
from tests.conftest import CORPUS, as_line, corpus_files, is_listed, needs_corpus, user
from tests.may_skip import FOREIGN

CLAUDE: Source = SOURCES["claude-code"]


@needs_corpus
def test_a_source_claims_its_own_files_and_no_others() -> None:
    """AGT-02: transcripts of other agents, histories and look-alikes are not Claude Code's."""
    patterns = ("claude/projects/*/*.jsonl", "cli-versions/**/*.jsonl", "fixtures/**/*.jsonl")
    ours = [path for pattern in patterns for path in corpus_files(pattern) if path.stat().st_size]
    wrong = [path for path in ours if CLAUDE.claims(path) == is_listed(path, FOREIGN)]
    assert wrong == []
    assert [path for path in corpus_files("agents/**/*.jsonl") if CLAUDE.claims(path)] == []
    assert CLAUDE.claims(CORPUS / "claude")
    assert not CLAUDE.claims(CORPUS / "agents")


def test_what_is_claimed_by_hand(tmp_path: Path) -> None:
    """FMT-02: a single file, a folder of files, a configuration folder; nothing else."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"\n{broken\n" + as_line(user("go")) + b"\n")
    assert CLAUDE.claims(path)
    assert CLAUDE.claims(tmp_path)
    (tmp_path / "root" / "projects").mkdir(parents=True)
    assert CLAUDE.claims(tmp_path / "root")
    for name, content in {
        "a.txt": b"x",
        "b.jsonl": b"",
        "c.jsonl": b'{"type":"session"}\n',
    }.items():
        (tmp_path / name).write_bytes(content)
        assert not CLAUDE.claims(tmp_path / name)
    assert not CLAUDE.claims(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("cwd", "command"),
    [
        (None, "claude --resume 'a b'"),
        ("/w", "cd /w && claude --resume 'a b'"),
        ("/it's", """cd '/it'"'"'s' && claude --resume 'a b'"""),
    ],
)
def test_how_to_go_on(cwd: str | None, command: str) -> None:
    """AGT-02: a line for the shell, quoted."""
    assert CLAUDE.resume_command("a b", cwd) == command


def test_what_to_watch(tmp_path: Path) -> None:
    """FUT-05: the folder of the transcripts, and which sessions a changed file is of."""
    (tmp_path / "projects" / "p").mkdir(parents=True)
    assert CLAUDE.folders([tmp_path]) == [tmp_path / "projects"]
    assert CLAUDE.folders([tmp_path / "projects" / "p"]) == [tmp_path / "projects" / "p"]
    assert CLAUDE.folders([tmp_path / "nowhere"]) == []
    agent = tmp_path / "projects" / "p" / "s1" / "subagents" / "agent-a.jsonl"
    assert CLAUDE.matters(agent)
    assert not CLAUDE.matters(agent.with_suffix(".txt"))
    assert "s1" in CLAUDE.sessions_of([agent])
    assert "s2" in CLAUDE.sessions_of([tmp_path / "projects" / "p" / "s2.jsonl"])


def test_where_an_export_goes(tmp_path: Path) -> None:
    """OPS-09: where ``claude --resume`` looks; no id leads out of the folder."""
    exporter = CLAUDE.exporter
    assert exporter is not None
    assert (
        exporter.place_for(tmp_path, "/w/a_b", "s1")
        == tmp_path / "projects" / "-w-a-b" / "s1.jsonl"
    )
    odd = exporter.place_for(tmp_path, "/w", "../../etc/passwd")
    assert odd.parent == tmp_path / "projects" / "-w"


@pytest.mark.parametrize("source", SOURCES.values(), ids=lambda source: str(source.program))
def test_every_adapter_answers_everything(source: Source) -> None:
    """AGT-02: the registry finds adapters by name, so no type checker looks at them: this does."""
    asked = [name for name in dir(Source) if not name.startswith("_")]
    asked += list(Source.__annotations__)
    assert [name for name in asked if not hasattr(source, name)] == []
