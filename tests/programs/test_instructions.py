"""Which files of instructions each agent has, and where its transcripts hold them (FUT-03)."""

from __future__ import annotations

from pathlib import Path

import pytest

from minutebook.archive import Archive
from minutebook.derive.instructions import version_hash
from minutebook.model import Attachment
from minutebook.sources.registry import SOURCES
from minutebook.verbs.inscribe import inscribe
from tests.conftest import needs_corpus
from tests.programs.samples import AGENTS, in_folder
from tests.programs.test_allowed import session

TOLD = "Use tabs. Be brief.\n"


@needs_corpus
@pytest.mark.parametrize(
    ("program", "session_id", "name"),
    [
        ("codex", "01a1e3c2-f3aa-7c13-b14e-f433b2f15256", "AGENTS.md"),
        ("gemini", "54cb1a1d-9b02-4446-9521-d544806d644c", "GEMINI.md"),
        ("pi", "01a1e3c8-fa29-7292-9bd6-d1bdff49afd6", "AGENTS.md"),
    ],
)
def test_what_an_agent_wrote_down_is_recorded(
    program: str, session_id: str, name: str, tmp_path: Path
) -> None:
    """FUT-03, AGT-01: the text that was put before the prompts, with its file."""
    (transcript,) = [t for t in in_folder(AGENTS / program) if t.session_id == session_id][:1]
    archive = Archive(tmp_path / "a", (transcript.path,))
    inscribe(archive, ended=True)
    (file,) = archive.instructions(session_id).files
    assert (file.path, file.grade) == (f"/home/dev/lab/demo/{name}", "recorded")
    assert file.hash == version_hash(TOLD)


def test_several_files_are_told_apart_and_a_cut_one_is_not_guessed_at() -> None:
    """FUT-03: one behind the other, an empty one, one without its end; and not for ever."""
    text = "".join(
        f"--- Context from: {p} ---\n{c}\n--- End of Context from: {p} ---\n"
        for p, c in (("/w/GEMINI.md", "One.\n--- not the end ---"), ("/w/b.md", ""))
    )
    cut = "--- Context from: /w/c.md ---\nx\n" * 50_000
    block = Attachment("context", {"text": text + cut})
    given = SOURCES["gemini"].instructions(block)
    assert [(one.path, one.content) for one in given] == [
        ("/w/GEMINI.md", "One.\n--- not the end ---"),
        ("/w/b.md", ""),
    ]


@pytest.mark.parametrize(
    ("program", "name"),
    [
        ("claude", "CLAUDE.md"),
        ("codex", "AGENTS.override.md"),
        ("opencode", "AGENTS.md"),
        ("gemini", "GEMINI.md"),
        ("copilot", ".github/copilot-instructions.md"),
        ("copilot", ".github/instructions/go.instructions.md"),
        ("pi", "AGENTS.md"),
        ("qwen", "QWEN.md"),
        ("cursor", ".cursor/rules/go.mdc"),
    ],
)
def test_each_agent_has_files_of_its_own(program: str, name: str, tmp_path: Path) -> None:
    """FUT-03, AGT-01: as its documentation names them, from the folder of a project."""
    source = SOURCES.by_program(program)
    assert source is not None
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(TOLD)
    assert path in [
        found for pattern in source.instruction_files for found in tmp_path.glob(pattern)
    ]


@pytest.mark.parametrize(
    ("program", "name"),
    [
        ("claude", ".claude/CLAUDE.md"),
        ("codex", ".codex/AGENTS.md"),
        ("opencode", ".config/opencode/AGENTS.md"),
        ("gemini", ".gemini/GEMINI.md"),
        ("copilot", ".copilot/copilot-instructions.md"),
        ("copilot", ".copilot/instructions/go.instructions.md"),
        ("pi", ".pi/agent/AGENTS.md"),
        ("qwen", ".qwen/QWEN.md"),
    ],
)
def test_each_agent_has_files_for_every_project(
    program: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FUT-03: in its own folder, or with its settings."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "COPILOT_HOME"):
        monkeypatch.delenv(variable, raising=False)
    source = SOURCES.by_program(program)
    assert source is not None
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_text(TOLD)
    assert source.home_instructions(None) == [path]


def test_a_file_of_the_project_is_found_by_its_agents_name(tmp_path: Path) -> None:
    """FUT-03: what another agent reads says nothing of this one's session."""
    project = tmp_path / "w"
    project.mkdir()
    (project / "AGENTS.md").write_text(TOLD)
    (project / "GEMINI.md").write_text("Other words.\n")
    session(tmp_path / "agent", "pi-one", cwd=str(project))
    archive = Archive(tmp_path / "a", (tmp_path / "agent",))
    inscribe(archive, ended=True)
    assert [Path(f.path).name for f in archive.instructions("pi-one").files] == ["AGENTS.md"]
