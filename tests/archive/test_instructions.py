"""Which instructions a session had: recorded, from git, as they are, or not known (FUT-03)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from minutebook.archive import Archive, repositories
from minutebook.archive.instructions import compare, sessions_with, versions
from minutebook.archive.repositories import repository_of
from minutebook.cli.main import main
from minutebook.derive.instructions import Instruction, version_hash
from minutebook.extract.offline import OfflineExtractor
from minutebook.mcp.tools import Tools
from minutebook.sources.registry import SOURCES
from minutebook.verbs.ingest import ingest
from minutebook.verbs.inscribe import inscribe
from minutebook.verbs.rebuild import rebuild
from tests.conftest import as_line, assistant, tool_result, tool_use, user

IDS = [f"{digit * 8}-2222-4333-8444-555555555555" for digit in "56789"]
TEXTS = ["# Rules\n\nUse tabs.\n", "# Rules\n\nUse spaces.\n", "# Rules\n\nUse spaces.\nNo lint.\n"]


def git(folder: Path, *args: str, at: str = "2026-02-01T00:00:00Z") -> None:
    own = {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at, "GIT_CONFIG_GLOBAL": os.devnull}
    for name in ("AUTHOR", "COMMITTER"):
        own |= {f"GIT_{name}_NAME": "Reed", f"GIT_{name}_EMAIL": "reed@example.org"}
    subprocess.run(["git", *args], cwd=folder, check=True, env={**os.environ, **own})


def write(root: Path, id: str, at: str, cwd: Path | str, *records: dict[str, Any]) -> Path:
    path = root / "projects" / "-w" / f"{id}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        user("go on", uuid=f"u{id[0]}", timestamp=at, cwd=str(cwd), sessionId=id),
        *records,
        assistant("gone on", id=f"m{id[0]}", uuid=f"a{id[0]}", timestamp=at),
    ]
    path.write_bytes(b"".join(as_line(record) + b"\n" for record in lines))
    return path


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """CLAUDE.md of three commits, a month apart; its file was touched just now."""
    project = tmp_path / "project"
    project.mkdir()
    git(project, "init", "-q", "-b", "main")
    for month, text in enumerate(TEXTS, 1):
        (project / "CLAUDE.md").write_text(text)
        git(project, "add", ".")
        git(project, "commit", "-qm", f"rules {month}", at=f"2026-0{month}-01T00:00:00Z")
    return project


def archived(tmp_path: Path) -> Archive:
    inscribe(Archive(tmp_path / "archive", (tmp_path / "root",)), ended=True)
    return Archive(tmp_path / "archive", (tmp_path / "root",))


def only(archive: Archive, id: str) -> Instruction:
    (file,) = archive.instructions(id).files
    return file


def test_each_session_has_the_commit_in_force(repository: Path, tmp_path: Path) -> None:
    """FUT-03: sessions between commits get the version of their time, one before them none."""
    for month, id in zip((1, 2, 3), IDS, strict=False):
        write(tmp_path / "root", id, f"2026-0{month}-15T10:00:00.000Z", repository)
    write(tmp_path / "root", IDS[3], "2025-12-15T10:00:00.000Z", repository)
    archive = archived(tmp_path)
    for id, text in zip(IDS, TEXTS, strict=False):
        file = only(archive, id)
        assert (file.grade, file.scope, file.hash) == ("git", "project", version_hash(text))
        assert file.commit
        assert (archive.layout.instructions / f"{file.hash}.md").read_text() == text
    before = only(archive, IDS[3])
    assert (before.grade, before.hash) == ("unknown", None)
    assert before.note == "it was first committed after the session began"


def test_what_was_kept_outlives_transcript_and_repository(repository: Path, tmp_path: Path) -> None:
    """FUT-03, ARC-02: both deleted, the version and its diff are still there; files are private."""
    for month, id in zip((1, 2), IDS, strict=False):
        write(tmp_path / "root", id, f"2026-0{month}-15T10:00:00.000Z", repository)
    before = [archived(tmp_path).instructions(id) for id in IDS[:2]]
    shutil.rmtree(repository)
    shutil.rmtree(tmp_path / "root" / "projects")
    archive = Archive(tmp_path / "archive", (tmp_path / "root",))
    assert [archive.instructions(id) for id in IDS[:2]] == before
    (changed,) = compare(archive, IDS[0], IDS[1])
    assert changed.state == "changed"
    assert "-Use tabs." in changed.diff
    assert "+Use spaces." in changed.diff
    for path in archive.layout.instructions.iterdir():
        assert path.stat().st_mode & 0o777 == 0o600


def test_a_project_that_is_gone_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """FUT-03: nothing is guessed where there is no folder any more."""
    write(tmp_path / "root", IDS[0], "2026-02-15T10:00:00.000Z", tmp_path / "nowhere")
    archive = archived(tmp_path)
    told = archive.instructions(IDS[0])
    assert (told.project, told.files) == ("gone", ())
    with pytest.raises(SystemExit):
        main(["instructions", IDS[0][:8], "--archive", str(tmp_path / "archive")])
    assert "folder is gone" in capsys.readouterr().out


def test_the_file_counts_only_if_it_is_older_than_the_session(tmp_path: Path) -> None:
    """FUT-03: without git, what was changed since the session began says nothing about it."""
    project = tmp_path / "plain"
    project.mkdir()
    rules = project / "AGENTS.md"
    rules.write_text("Be kind.\n")
    stamp = 1_770_000_000  # 2026-02-02
    os.utime(rules, (stamp, stamp))
    write(tmp_path / "root", IDS[0], "2026-01-15T10:00:00.000Z", project)
    write(tmp_path / "root", IDS[1], "2026-02-15T10:00:00.000Z", project)
    archive = archived(tmp_path)
    early, late = only(archive, IDS[0]), only(archive, IDS[1])
    assert (early.grade, early.note) == ("unknown", "it was changed after the session began")
    assert (late.grade, late.hash) == ("present", version_hash("Be kind.\n"))


def test_what_was_not_committed_is_better_evidence(repository: Path, tmp_path: Path) -> None:
    """FUT-03: a file that differs from its commit, and is older than the session, was in force."""
    (repository / "CLAUDE.md").write_text("Mine.\n")
    stamp = 1_775_000_000  # 2026-03-31
    os.utime(repository / "CLAUDE.md", (stamp, stamp))
    write(tmp_path / "root", IDS[0], "2026-04-15T10:00:00.000Z", repository)
    file = only(archived(tmp_path), IDS[0])
    assert (file.grade, file.hash) == ("present", version_hash("Mine.\n"))


def test_parents_rules_and_home_are_found(repository: Path, tmp_path: Path) -> None:
    """FUT-03: a session in a folder inside has the repository's, its own rules, and the home's."""
    inner = repository / "inner" / ".claude" / "rules"
    inner.mkdir(parents=True)
    (inner / "go.md").write_text("Go rules.\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "inner", at="2026-01-02T00:00:00Z")
    (tmp_path / "root").mkdir()
    home = tmp_path / "root" / "CLAUDE.md"
    home.write_text("Everywhere.\n")
    os.utime(home, (1, 1))
    write(tmp_path / "root", IDS[0], "2026-01-15T10:00:00.000Z", repository / "inner")
    told = archived(tmp_path).instructions(IDS[0])
    assert [(file.scope, file.grade, Path(file.path).name) for file in told.files] == [
        ("home", "present", "CLAUDE.md"),
        ("parent", "git", "CLAUDE.md"),
        ("project", "git", "go.md"),
    ]


def test_what_the_transcript_records_wins(repository: Path, tmp_path: Path) -> None:
    """FUT-03: what the agent put into the window, and what a tool read before any change."""
    where = str(repository / "CLAUDE.md")
    seen = {
        "type": "attachment",
        "uuid": "n1",
        "timestamp": "2026-02-15T10:00:01.000Z",
        "attachment": {
            "type": "nested_memory",
            "path": where,
            "content": {"path": where, "content": "Seen.", "rawContent": "---\na: b\n---\nSeen."},
        },
    }
    write(tmp_path / "root", IDS[0], "2026-02-15T10:00:00.000Z", repository, seen)
    read = assistant(tool_use("t1", "Read", file_path=where), id="r1", uuid="r1")
    numbered = tool_result("t1", "     1→One.\n     2→Two.", uuid="r2")
    edit = assistant(tool_use("t2", "Edit", file_path=where), id="r3", uuid="r3")
    edited = tool_result("t2", "done", uuid="r4")
    write(tmp_path / "root", IDS[1], "2026-02-15T10:00:00.000Z", repository, read, numbered)
    write(
        tmp_path / "root",
        IDS[2],
        "2026-02-15T10:00:00.000Z",
        repository,
        *(edit, edited, read, numbered),
    )
    archive = archived(tmp_path)
    attached, told, after = (only(archive, id) for id in IDS[:3])
    assert (attached.grade, attached.how) == ("recorded", "attached")
    assert attached.hash == version_hash("---\na: b\n---\nSeen.")
    assert (told.how, told.hash, told.round) == ("read", version_hash("One.\nTwo.\n"), 1)
    assert after.grade == "git"  # what it read, it had changed itself
    assert [(change.path, change.round) for change in archive.instructions(IDS[2]).changed] == [
        (where, 1)
    ]


def test_the_context_of_a_session_is_taken_apart(read_records: Any) -> None:
    """FUT-03: newer versions quote every file of the project under a heading."""
    quoted = (
        "Codebase and user instructions are shown below.\n\n"
        "Contents of /w/CLAUDE.md (project instructions, checked into the codebase):\n\nBe brief.\n"
        "\nContents of /home/x/.claude/CLAUDE.md (user's private global instructions):\n\nBe kind."
    )
    record = {
        "type": "attachment",
        "uuid": "s1",
        "timestamp": "2026-02-15T10:00:01.000Z",
        "attachment": {"type": "session_context", "context": {"claudeMd": quoted}},
    }
    session, _ = read_records(user("go", uuid="u1"), record, assistant("gone"))
    source = SOURCES["claude-code"]
    given = [g for b in session.rounds[0].blocks for g in source.instructions(b)]
    assert [(g.path, (g.content or "").strip(), g.how) for g in given] == [
        ("/w/CLAUDE.md", "Be brief.", "attached"),
        ("/home/x/.claude/CLAUDE.md", "Be kind.", "attached"),
    ]


@pytest.mark.parametrize(
    "data",
    [
        {"type": "nested_memory"},
        {"type": "nested_memory", "path": 3, "content": {"content": "x"}},
        {"type": "nested_memory", "path": "/w/CLAUDE.md", "content": "x"},
        {"type": "nested_memory", "path": "/w/CLAUDE.md", "content": {"content": None}},
        {"type": "session_context", "context": {"claudeMd": ["x"]}},
        {"type": "session_context", "context": "x"},
    ],
)
def test_odd_attachments_record_nothing(data: dict[str, Any], read_records: Any) -> None:
    """FMT-04: no missing or wrongly typed field raises."""
    record = {"type": "attachment", "uuid": "s1", "attachment": data}
    session, _ = read_records(user("go", uuid="u1"), record, assistant("gone"))
    source = SOURCES["claude-code"]
    assert [g for b in session.rounds[0].blocks for g in source.instructions(b)] == []


def test_a_link_is_followed_in_git_and_on_disk(tmp_path: Path) -> None:
    """FUT-03: CLAUDE.md is often a link to AGENTS.md; one that leads to a key is left alone."""
    project = tmp_path / "linked"
    project.mkdir()
    git(project, "init", "-q")
    (project / "AGENTS.md").write_text("Shared.\n")
    (project / "CLAUDE.md").symlink_to("AGENTS.md")
    git(project, "add", ".")
    git(project, "commit", "-qm", "both", at="2026-01-01T00:00:00Z")
    (tmp_path / "key").write_text("secret\n")
    (project / "CLAUDE.local.md").symlink_to(tmp_path / "key")
    write(tmp_path / "root", IDS[0], "2026-01-15T10:00:00.000Z", project)
    told = archived(tmp_path).instructions(IDS[0])
    assert {(Path(f.path).name, f.grade, f.hash) for f in told.files} == {
        ("AGENTS.md", "git", version_hash("Shared.\n")),
        ("CLAUDE.md", "git", version_hash("Shared.\n")),
    }


def test_a_pipe_or_a_huge_file_is_not_read(tmp_path: Path) -> None:
    """Untrusted: what would block or fill the memory is left out."""
    project = tmp_path / "odd"
    project.mkdir()
    os.mkfifo(project / "CLAUDE.md")
    (project / "AGENTS.md").write_bytes(b"x" * 300_000)
    write(tmp_path / "root", IDS[0], "2026-01-15T10:00:00.000Z", project)
    assert archived(tmp_path).instructions(IDS[0]).files == ()


def test_a_repository_runs_nothing(repository: Path, tmp_path: Path) -> None:
    """Untrusted: its configuration names programs, and none of them is started; no file changes."""
    trap = tmp_path / "trap"
    script = tmp_path / "evil"
    script.write_text(f"#!/bin/sh\ntouch {trap}\n")
    script.chmod(0o700)
    for name in (
        *("core.fsmonitor", "core.pager", "pager.log", "diff.external", "gpg.program"),
        *("core.sshCommand", "diff.evil.textconv", "core.alternateRefsCommand"),
    ):
        git(repository, "config", name, str(script))
    git(repository, "config", "log.showSignature", "true")
    (repository / ".gitattributes").write_text("*.md diff=evil\n")
    for hook in ("post-checkout", "post-index-change", "reference-transaction"):
        shutil.copy(script, repository / ".git" / "hooks" / hook)
    before = {p: p.stat().st_mtime_ns for p in repository.rglob("*")}
    write(tmp_path / "root", IDS[0], "2026-02-15T10:00:00.000Z", repository)
    assert only(archived(tmp_path), IDS[0]).grade == "git"
    assert not trap.exists()
    assert {p: p.stat().st_mtime_ns for p in repository.rglob("*")} == before


def test_a_repository_fetches_nothing(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Untrusted: a missing blob of a promised remote starts no program, of an older git neither."""
    trap = tmp_path / "trap"
    script = tmp_path / "evil"
    script.write_text(f"#!/bin/sh\ntouch {trap}\n")
    script.chmod(0o700)
    blob = repository_of(repository).history(None, ["CLAUDE.md"])["CLAUDE.md"][1].blob or ""  # type: ignore[union-attr]  # it is one
    (repository / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    for name, value in (
        ("remote.origin.url", f"ext::{script}"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.partialCloneFilter", "blob:none"),
        ("extensions.partialClone", "origin"),
        ("core.repositoryFormatVersion", "1"),
        ("protocol.ext.allow", "always"),
    ):
        git(repository, "config", name, value)
    monkeypatch.delitem(repositories._ENVIRONMENT, "GIT_NO_LAZY_FETCH")
    found = repository_of(repository)
    assert found is not None and found.content(blob) is None
    assert not trap.exists()


def test_a_merge_counts_from_when_it_was_made(tmp_path: Path) -> None:
    """FUT-03: before it, a session had the branch's own version; after it, the merged one."""
    project = tmp_path / "project"
    project.mkdir()
    git(project, "init", "-q", "-b", "main")
    (project / "CLAUDE.md").write_text(TEXTS[0])
    git(project, "add", ".")
    git(project, "commit", "-qm", "rules", at="2026-01-01T00:00:00Z")
    git(project, "checkout", "-qb", "other")
    (project / "CLAUDE.md").write_text(TEXTS[1])
    git(project, "commit", "-qam", "other rules", at="2026-02-01T00:00:00Z")
    git(project, "checkout", "-q", "main")
    git(project, "merge", "-q", "--no-ff", "-m", "merge", "other", at="2026-03-01T00:00:00Z")
    for month, id in zip((2, 3), IDS, strict=False):
        write(tmp_path / "root", id, f"2026-0{month}-15T10:00:00.000Z", project)
    archive = archived(tmp_path)
    found = [only(archive, id) for id in IDS[:2]]
    assert [(file.grade, file.hash) for file in found] == [
        ("git", version_hash(TEXTS[0])),
        ("git", version_hash(TEXTS[1])),
    ]


def test_a_repository_that_points_elsewhere_is_not_followed(tmp_path: Path) -> None:
    """Untrusted: a working tree that is not the folder's own is nobody's evidence."""
    project = tmp_path / "here"
    project.mkdir()
    git(project, "init", "-q")
    git(project, "config", "core.worktree", str(tmp_path / "elsewhere"))
    (tmp_path / "elsewhere").mkdir()
    assert repository_of(project) is None


def test_a_grown_session_keeps_what_was_found_at_first(repository: Path, tmp_path: Path) -> None:
    """FUT-03: the repository is looked at once; later rounds only add what they record."""
    path = write(tmp_path / "root", IDS[0], "2026-01-15T10:00:00.000Z", repository)
    first = archived(tmp_path).instructions(IDS[0])
    lines = (tmp_path / "archive" / "instructions" / "sessions.jsonl").read_bytes()
    shutil.rmtree(repository)
    more = user("more", uuid="u9", timestamp="2026-01-16T10:00:00.000Z", sessionId=IDS[0])
    with path.open("ab") as file:
        file.write(as_line(more) + b"\n" + as_line(assistant("done", id="m9", uuid="a9")) + b"\n")
    assert archived(tmp_path).instructions(IDS[0]) == first
    assert (tmp_path / "archive" / "instructions" / "sessions.jsonl").read_bytes() == lines


def test_a_run_with_nothing_to_do_looks_at_nothing(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The path of an ingest without news starts no process and reads no project."""
    write(tmp_path / "root", IDS[0], "2026-01-15T10:00:00.000Z", repository)
    archived(tmp_path)

    def looked(*_: object) -> None:
        raise AssertionError("a project was looked at")

    monkeypatch.setattr("minutebook.archive.capturing._look", looked)
    archived(tmp_path)


def test_archives_from_before_are_filled_by_a_rebuild(repository: Path, tmp_path: Path) -> None:
    """ARC-08: what an older release did not keep is found now, and kept by `rebuild`."""
    write(tmp_path / "root", IDS[0], "2026-01-15T10:00:00.000Z", repository)
    archive = archived(tmp_path)
    shutil.rmtree(archive.layout.instructions)
    told = archive.instructions(IDS[0])
    assert (told.kept, told.files[0].grade) == (False, "git")
    assert not archive.layout.instructions.exists()
    assert versions(archive).unkept == 1
    rebuild(archive)
    assert archive.instructions(IDS[0]).kept


@pytest.fixture
def labelled(repository: Path, tmp_path: Path) -> Archive:
    """Two sessions with the first version of the rules, one with the second; a key in that."""
    (repository / "CLAUDE.md").write_text("# Rules\n\nPGPASSWORD=hunter2hunter2\n")
    git(repository, "commit", "-qam", "secret", at="2026-02-02T00:00:00Z")
    moments = ("2026-01-10", "2026-01-20", "2026-02-15")
    for id, day in zip(IDS, moments, strict=False):
        calls = [
            assistant(tool_use(f"c{n}", "Bash", command="make"), id=f"w{n}", uuid=f"w{n}{id[0]}")
            for n in range(12)
        ]
        write(tmp_path / "root", id, f"{day}T10:00:00.000Z", repository, *calls)
    archive = Archive(tmp_path / "archive", (tmp_path / "root",))
    ingest(archive, OfflineExtractor(), ended=True)
    return Archive(tmp_path / "archive", (tmp_path / "root",))


def test_versions_count_their_sessions_and_engagements(labelled: Archive) -> None:
    """FUT-03: sessions by version, and how engagements went, as plain counts."""
    found = versions(labelled)
    assert [(v.hash, len(v.sessions)) for v in found.versions][1] == (version_hash(TEXTS[0]), 2)
    outcomes = found.versions[1].outcomes
    records = labelled.records()
    own = [e for id in IDS[:2] for e in records[id].engagements]
    assert outcomes.engagements == len(own) == sum(outcomes.phases.values()) > 0
    assert sum(outcomes.methods.values()) == len(own)


def test_search_by_version(labelled: Archive, capsys: pytest.CaptureFixture[str]) -> None:
    """FUT-03: `search --instructions HASH`, with words and without; an unknown one is an error."""
    hash = version_hash(TEXTS[0])
    assert sessions_with(labelled, hash[:6]) == {IDS[0], IDS[1]}
    place = ["--archive", str(labelled.root), "--instructions", hash[:8], "--json"]
    for words in (["go", "on"], []):
        with pytest.raises(SystemExit):
            main(["search", *words, *place])
        hits = json.loads(capsys.readouterr().out)["hits"]
        assert {hit["session_id"] for hit in hits} == {IDS[0], IDS[1]}
    with pytest.raises(SystemExit) as end:
        main(["search", "go", "--archive", str(labelled.root), "--instructions", "ffff"])
    assert end.value.code == 2
    assert "minutebook instructions" in capsys.readouterr().err


def test_the_verb_masks_and_cleans(labelled: Archive, capsys: pytest.CaptureFixture[str]) -> None:
    """ARC-06: a diff shows no secret, on the terminal, in JSON and to agents."""
    texts = [Tools(labelled).instructions(IDS[0], IDS[2])]
    for more in ([], ["--json"]):
        with pytest.raises(SystemExit) as end:
            args = ["instructions", IDS[0][:8], "--diff", IDS[2][:8], *more]
            main([*args, "--archive", str(labelled.root)])
        assert end.value.code == 0
        texts.append(capsys.readouterr().out)
    for text in texts:
        assert "hunter2hunter2" not in text
        assert "-Use tabs." in text
        assert "+PGPASSWORD=" in text
    assert f"With the version of {IDS[0][:8]} (2026-01-10): 2 sessions" in texts[1]


def test_a_version_counts_a_session_once_and_dates_every_one(
    repository: Path, tmp_path: Path
) -> None:
    """FUT-03: the same text in two files is one session, and one that is only a copy has a day."""
    (repository / "sub").mkdir()
    read = [
        record
        for n, name in enumerate(("CLAUDE.md", "sub/CLAUDE.md"))
        for record in (
            assistant(
                tool_use(f"r{n}", "Read", file_path=str(repository / name)),
                id=f"r{n}",
                uuid=f"r{n}",
            ),
            tool_result(f"r{n}", "     1→Same.", uuid=f"t{n}"),
        )
    ]
    more = [user(f"go on {n}", uuid=f"more{n}") for n in range(3)]
    first = write(tmp_path / "root", IDS[0], "2026-01-15T10:00:00.000Z", repository, *read, *more)
    copied = first.read_text().replace(IDS[0], IDS[1])
    first.with_name(f"{IDS[1]}.jsonl").write_text(copied)
    found = next(v for v in versions(archived(tmp_path)).versions if len(v.paths) == 2)
    assert found.first is not None and found.first.startswith("2026-01-15")
    assert sum(found.grades.values()) == len(found.sessions) == 2


def test_what_is_not_archived_is_not_called_unlooked_at(repository: Path, tmp_path: Path) -> None:
    """FUT-03: `rebuild` looks at archived sessions only, so only those are counted."""
    write(tmp_path / "root", IDS[0], "2026-01-15T10:00:00.000Z", repository)
    archive = archived(tmp_path)
    write(tmp_path / "root", IDS[1], "2026-01-16T10:00:00.000Z", repository)
    found = versions(Archive(archive.root, (tmp_path / "root",)))
    assert (found.sessions, found.unkept) == (1, 0)


def test_what_could_not_be_looked_at_is_not_called_removed(
    repository: Path, tmp_path: Path
) -> None:
    """FUT-03: a session whose project is gone may have had the file; one that was there had not."""
    write(tmp_path / "root", IDS[0], "2026-02-15T10:00:00.000Z", repository)
    write(tmp_path / "root", IDS[1], "2026-02-15T10:00:00.000Z", tmp_path / "nowhere")
    (tmp_path / "bare").mkdir()
    write(tmp_path / "root", IDS[2], "2026-02-15T10:00:00.000Z", tmp_path / "bare")
    archive = archived(tmp_path)
    assert [file.state for file in compare(archive, IDS[0], IDS[1])] == ["unknown"]
    assert [file.state for file in compare(archive, IDS[0], IDS[2])] == ["removed"]
    assert [file.state for file in compare(archive, IDS[2], IDS[0])] == ["added"]


def test_damaged_lines_cost_only_themselves(labelled: Archive) -> None:
    """ARC-07: the file is named, and the other sessions' instructions are there."""
    path = labelled.layout.session_instructions
    path.write_bytes(b"{broken\n" + path.read_bytes())
    again = Archive(labelled.root, labelled.places)
    assert again.instructions(IDS[0]).kept
    assert any(trouble.path == path for trouble in again.troubles())
