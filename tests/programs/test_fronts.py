"""Everything above the adapters works for every agent: one home with all samples."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from minutebook.archive import Archive
from minutebook.archive.budgets import session_budget
from minutebook.cli.main import cli
from minutebook.derive.messages import gist
from minutebook.extract.offline import OfflineExtractor
from minutebook.index.query import Filters, Query, parse_query
from minutebook.mcp.tools import Tools
from minutebook.model import Round, Text
from minutebook.sources.base import Transcript
from minutebook.sources.claude_code.wire import api_model
from minutebook.sources.registry import SOURCES
from minutebook.verbs.check import check, check_file
from minutebook.verbs.doctor import diagnose
from minutebook.verbs.export import export_session
from minutebook.verbs.ingest import ingest
from minutebook.verbs.lineage import of_agent
from minutebook.verbs.reread import compare
from minutebook.verbs.stats import stats
from tests.conftest import needs_corpus
from tests.programs.samples import AGENTS, homes, in_folder, programs, read

pytestmark = needs_corpus
# Its values were cut by whoever published it: calls share one id.
TRIMMED = "public-agent-sessions/codex/small.jsonl"
SAMPLES = [t for name in programs() for t in in_folder(AGENTS / name) if AGENTS.is_dir()]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which people used every agent there are samples of."""
    folder = tmp_path_factory.mktemp("everyone")
    for program in programs():
        for sample in homes(program):
            if "maintenance" not in str(sample):
                shutil.copytree(sample, folder / program, dirs_exist_ok=True)
    return folder


@pytest.fixture(scope="module")
def archive(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Archive:
    places = {t.root for name in programs() for t in in_folder(home / name) if t.root}
    found = Archive(tmp_path_factory.mktemp("archive") / "a", tuple(sorted(places)))
    ingest(found, OfflineExtractor(), ended=True)
    found.read_again()
    return found


def test_a_second_run_changes_nothing(archive: Archive) -> None:
    """AGT-01, ING-25: all of a home by one command; unchanged, nothing is done again."""
    before = {p: p.stat().st_mtime_ns for p in archive.root.rglob("*.json")}
    report = ingest(archive, OfflineExtractor(), ended=True, skip_existing=True)
    assert report.ingested == 0
    assert {s.outcome for s in report.inscribed.sessions} <= {"unchanged", "empty", "duplicate"}
    assert {p: p.stat().st_mtime_ns for p in archive.root.rglob("*.json")} == before


@pytest.mark.parametrize("program", programs())
def test_an_agent_is_a_filter(archive: Archive, program: str) -> None:
    """AGT-01: sessions, engagements, statistics and families of exactly that program."""
    source = SOURCES.by_program(program)
    assert source is not None
    listed = archive.sessions(agent=program, ghosts=True, copies=True).sessions
    every = {id for id, e in archive.ledger().sessions.items() if e.info.source == source.name}
    # What has no rounds is listed, and nothing of it is archived.
    assert {session.id for session in listed if session.info.rounds} == every
    assert {session.program for session in listed} <= {program}
    assert set(stats(archive, Query(filters=Filters(agent=program))).programs) <= {program}
    hits = archive.search(parse_query(f"calc agent:{program}"), mode="lexical", limit=100)
    assert {hit.program for hit in hits} <= {program}
    for family in of_agent(archive, archive.lineage().families(), program):
        assert {node.id for node in family.nodes} & every


def test_statistics_count_by_program(archive: Archive) -> None:
    """SRCH-09, AGT-01: every engagement counts for the agent that held the conversation."""
    found = stats(archive, Query())
    assert sum(found.programs.values()) == found.engagements
    assert len(found.programs) > 1


def test_agents_are_told_the_program(archive: Archive) -> None:
    """AGT-01: answers over MCP name it, and take it as a filter."""
    told = Tools(archive).engagements(agent="codex")
    assert "program=codex" in told
    assert "program=pi" not in told


def test_a_session_of_an_adapter_that_is_gone(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AGT-02, ARC-02: it is listed, read and found by the name of its source."""
    known = {name: source for name, source in SOURCES.items() if name != "pi"}
    monkeypatch.setitem(SOURCES.__dict__, "_found", known)
    left = Archive(archive.root, (archive.root / "nothing",), lenient=True)
    listed = left.sessions(agent="pi", ghosts=True).sessions
    assert listed and {session.program for session in listed} == {"pi"}
    assert next(left.session(listed[0].id).rounds())
    assert left.search("calc agent:pi", mode="lexical")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("<turn_aborted>\nThe user did.\n</turn_aborted>", "The user did."),
        ('<subagent_notification>{"id": "0", "status": {"completed": "Three lines."}}'
         "</subagent_notification>", "Three lines."),
        ("<task-notification><summary>Counted</summary>x</task-notification>", "Counted"),
        ("<a>one</a> and <b>two</b>", "<a>one</a> and <b>two</b>"),
        ("<note>{not json</note>", "{not json"),
        ('{"left": "as it is"}', '{"left": "as it is"}'),
    ],
)  # fmt: skip
def test_a_notice_is_told_without_its_tags(text: str, told: str) -> None:
    """VIEW-06: what agents write for programs comes down to its words."""
    assert gist(text) == told


def test_lists_and_sessions_name_the_agent(archive: Archive) -> None:
    """AGT-01: where there are several, a column says whose each is; a session says its own."""
    where = ["--archive", str(archive.root)]
    roots = [part for place in archive.places for part in ("--root", str(place))]
    runner = CliRunner(env={"COLUMNS": "140"})
    listed = runner.invoke(cli, ["sessions", *where, *roots], terminal_width=140).output
    assert {"codex", "gemini", "pi"} <= set(listed.split())
    shown = runner.invoke(cli, ["show", "01a1e3c2#3", *where, *roots]).output
    assert "Codex CLI · demo" in shown


def test_a_fork_is_told_once(archive: Archive) -> None:
    """SRCH-20, UND-08: pi copies a session's lines into its fork."""
    fork, parent = "01a1e3c9-4bbd-7507-ad83-b6f799f4025a", "01a1e3c8-fa29-7292-9bd6-d1bdff49afd6"
    (hit,) = archive.search("calc.py bug agent:pi", mode="lexical")
    assert {hit.session_id, *hit.copies} == {fork, parent}
    listed = {session.id: session for session in archive.sessions(agent="pi").sessions}
    assert parent not in listed
    assert listed[fork].copies == (parent,)


def test_each_agent_is_diagnosed(archive: Archive) -> None:
    """FMT-23: versions, unknown records, retention and troubles of each; no session of another is
    taken for a subagent without one."""
    found = diagnose(archive)
    assert found.troubles == []
    there = {SOURCES.program_of(t.source) for t in archive.library.transcripts}
    assert {agent.program for agent in found.agents} == there
    assert len(there) > 5
    assert sum(agent.sessions for agent in found.agents) == found.sessions
    whole = sum((sum(agent.versions.values()) for agent in found.agents), 0)
    assert whole == sum(found.report.versions.values())


def test_the_window_that_codex_recorded_is_the_limit(archive: Archive) -> None:
    """FUT-04: its models are in no table of ours; each turn says how many tokens fit."""
    id = "01a1e3c2-f3aa-7c13-b14e-f433b2f15256"
    found = session_budget(archive, id).budget
    raw = next(t.path for t in archive.library.transcripts if t.session_id == id).read_text("utf-8")
    (said,) = set(re.findall(r'"model_context_window":(\d+)', raw))
    assert {(limit.tokens, limit.evidence) for limit in found.limits.values()} == {
        (int(said), "recorded")
    }
    assert found.peak is not None and found.peak < 80


def test_a_subagent_without_its_session_is_listed(home: Path, tmp_path: Path) -> None:
    """FMT-15: nothing else would show what it did; it is no trouble then."""
    folder = tmp_path / "home"
    shutil.copytree(home / "codex", folder)
    (transcript,) = [t for t in in_folder(folder) if t.session_id.startswith("01a1e3c2")]
    day = transcript.path.parent
    lonely = day.parent / "17"
    lonely.mkdir()
    for path in list(day.iterdir()):
        if b'"parent_thread_id"' in path.read_bytes().split(b"\n", 1)[0]:
            path.rename(lonely / path.name)
    transcript.path.unlink()
    assert transcript.root is not None
    left = Archive(tmp_path / "a", (transcript.root,))
    (alone,) = [t for t in left.library.transcripts if t.path.parent == lonely]
    assert read(alone).rounds[0].prompt is not None
    assert [t for t in diagnose(left).troubles if "subagent" in t.reason] == []
    assert in_folder(lonely) == [msgspec.structs.replace(alone, root=lonely)]


def test_every_inscription_holds_what_its_source_said(archive: Archive) -> None:
    """OPS-14: whatever agent it is of."""
    problems = {id: check(archive, id).problems for id in archive.ledger().sessions}
    assert {id: found for id, found in problems.items() if found} == {}


@pytest.mark.parametrize("transcript", SAMPLES, ids=lambda t: f"{t.source}-{t.path.name[-30:]}")
def test_a_file_that_is_not_archived_is_checked(transcript: Transcript) -> None:
    """OPS-14: every sample of every agent, through its own adapter."""
    result = check_file(transcript.path, transcript.key)
    if TRIMMED not in transcript.location:
        assert result.problems == []
    assert result.facts or not read(transcript).rounds


def _without_text(round: Round) -> Round:
    messages = tuple(
        msgspec.structs.replace(m, blocks=tuple(b for b in m.blocks if not isinstance(b, Text)))
        for m in round.messages
    )
    return msgspec.structs.replace(round, messages=messages)


def test_a_loss_is_found_by_reading_again() -> None:
    """OPS-14: the comparison with a source that cannot be written can fail."""
    rounds = read(next(t for t in SAMPLES if t.source == "pi")).rounds
    assert [fact.lost for fact in compare(rounds, rounds)] == [0] * 7
    lost = {f.name: f.lost for f in compare(rounds, [_without_text(r) for r in rounds])}
    assert lost["assistant text"] > 0
    assert lost["tool call"] == 0


@pytest.mark.parametrize("to", [s.name for s in SOURCES.values() if s.exporter is not None])
def test_any_session_is_written_for_any_agent(archive: Archive, to: str, tmp_path: Path) -> None:
    """AGT-06, OPS-09: and the command that goes on with it is that agent's."""
    for id in archive.ledger().sessions:
        done = export_session(archive, id, to, root=tmp_path, cwd="/home/dev/lab/demo")
        assert SOURCES[to].claims(done.path)
        assert done.resume is not None and done.session_id in done.resume


def test_a_claude_model_is_written_as_claude_knows_it(archive: Archive, tmp_path: Path) -> None:
    """OPS-13: Copilot's `claude-sonnet-4.5`; else its thinking is not sent. We read the name that
    was recorded again."""
    id = "f0aa8e27-abc0-4fe0-87bc-2d92af89d65d"
    done = export_session(archive, id, "claude-code", root=tmp_path, cwd="/w")
    records = [json.loads(line) for line in done.path.read_text("utf-8").split("\n") if line]
    models = {r["message"]["model"] for r in records if r["type"] == "assistant"}
    assert models == {"claude-sonnet-4-5"}
    again = read(in_folder(done.path.parent)[0])
    assert again.info.models == ("claude-sonnet-4.5",)
    assert api_model("anthropic/claude-opus-4.6") == "claude-opus-4-6"
    assert api_model("us.anthropic.claude-x:0") == "us.anthropic.claude-x:0"


def test_what_another_provider_signed_is_not_sent_to_claude(
    archive: Archive, tmp_path: Path
) -> None:
    """OPS-11: its API refuses it; the export keeps it, and says so."""
    id = "01a1e3c2-f3aa-7c13-b14e-f433b2f15256"
    done = export_session(archive, id, "claude-code", root=tmp_path, cwd="/w")
    records = [json.loads(line) for line in done.path.read_text("utf-8").split("\n") if line]
    sent = [b for r in records if r["type"] == "assistant" for b in r["message"]["content"]]
    assert not [block for block in sent if "thinking" in block["type"]]
    assert any("thinking of another provider" in warning for warning in done.warnings)
