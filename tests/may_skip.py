"""What the suite may leave out, pinned: tests that skip, and files of the corpus passed over.

A test that skips for any other reason fails (`pytest_runtest_makereport` in conftest.py), and so
does one whose file is passed over without being listed here, or is listed and can be read.
"""

from __future__ import annotations

_CORPUS = "needs the real transcripts"
_CHROMIUM = "needs Chromium"
_CLAUDE = "needs the real CLI"

MAY_SKIP: tuple[tuple[str, str], ...] = (
    # test file, and how the reason it gives begins
    ("tests/agents/test_context.py", _CORPUS),
    ("tests/agents/test_install_agents.py", "needs node"),
    ("tests/agents/test_real_claude.py", _CLAUDE),
    ("tests/agents/test_real_claude.py", _CORPUS),
    ("tests/agents/test_watch.py", "needs /proc"),
    ("tests/archive/test_cluster.py", "needs minutebook[cluster]"),
    ("tests/archive/test_lineage.py", _CORPUS),
    ("tests/archive/test_operations.py", _CORPUS),
    ("tests/archive/test_rebuild.py", _CORPUS),
    ("tests/archive/test_exports_read_again.py", _CORPUS),
    ("tests/archive/test_way_back.py", _CORPUS),
    ("tests/cli/test_completion_shells.py", "needs the shell"),
    ("tests/cli/test_fastembed.py", "needs a sentence transformer"),
    ("tests/derive/test_secrets.py", _CORPUS),
    ("tests/derive/test_secret_assignments.py", _CORPUS),
    ("tests/extract/test_ingest.py", "needs the shared stub"),
    ("tests/extract/test_prompt.py", _CORPUS),
    ("tests/extract/test_prompt.py", "needs the labels"),
    ("tests/extract/test_services.py", _CLAUDE),
    ("tests/extract/test_services.py", "needs the shared stub"),
    ("tests/extract/test_without_transcripts.py", _CORPUS),
    ("tests/index/test_at_once.py", "needs to mount"),
    ("tests/programs/test_codex.py", _CORPUS),
    ("tests/programs/test_codex_cli.py", _CLAUDE),
    ("tests/programs/test_codex_cli.py", _CORPUS),
    ("tests/programs/test_codex_export.py", _CORPUS),
    ("tests/programs/test_copilot.py", _CORPUS),
    ("tests/programs/test_cursor.py", _CORPUS),
    ("tests/programs/test_expected.py", _CORPUS),
    ("tests/programs/test_every_agent.py", _CORPUS),
    ("tests/programs/test_opencode.py", _CORPUS),
    ("tests/programs/test_gemini.py", _CORPUS),
    ("tests/programs/test_qwen.py", _CORPUS),
    ("tests/sources/test_checkpoint.py", _CORPUS),
    ("tests/sources/test_fuzz.py", "needs the corpus"),
    ("tests/sources/test_round_trip.py", _CORPUS),
    ("tests/sources/test_seam.py", _CORPUS),
    ("tests/sources/test_usage_reference.py", _CORPUS),
    ("tests/team/test_breakage.py", "needs PostgreSQL"),
    ("tests/team/test_breakage.py", "needs to mount"),
    ("tests/team/test_push.py", "needs PostgreSQL"),
    ("tests/team/test_rights.py", "needs PostgreSQL"),
    ("tests/test_budget.py", _CORPUS),
    ("tests/test_cli_versions.py", _CORPUS),
    ("tests/test_conservation.py", _CORPUS),
    ("tests/test_release.py", "needs man"),
    ("tests/test_resume.py", _CLAUDE),
    ("tests/test_resume.py", _CORPUS),
    ("tests/test_usage_from_the_archive.py", _CORPUS),
    ("tests/test_usage_from_the_archive.py", "needs the reference count"),
    ("tests/web/test_accessibility_browser.py", _CHROMIUM),
    ("tests/web/test_board_browser.py", _CHROMIUM),
    ("tests/web/test_hard_cases_browser.py", _CHROMIUM),
    ("tests/web/test_mend_browser.py", _CHROMIUM),
    ("tests/web/test_live_browser.py", _CHROMIUM),
    ("tests/web/test_pages_browser.py", _CHROMIUM),
    ("tests/web/test_session_browser.py", _CHROMIUM),
    ("tests/web/test_xss_browser.py", _CHROMIUM),
)

FOREIGN: tuple[tuple[str, str], ...] = (
    # file of the corpus, and what it is instead of a transcript of Claude Code
    (
        "claude/projects/-Users-dev-project/00000000-1111-2222-3333-444444444444.jsonl",
        "no record of Claude Code in it",
    ),
    (
        "claude/projects/-Users-dev-project/11111111-2222-3333-4444-555555555555.jsonl",
        "a transcript of Qwen Code",
    ),
    (
        "claude/projects/-Users-dev-project/cccccccc-dddd-eeee-ffff-000000000000.jsonl",
        "a transcript of Qwen Code",
    ),
    (
        "claude/projects/-tmp-as-qwen-fixture-old-project/"
        "019f0000-0000-7000-8000-000000000004.jsonl",
        "a transcript of Qwen Code",
    ),
    ("cli-versions/2.1.325-interactive/history.jsonl", "the prompts typed, not a session"),
    (
        "fixtures/jazzyalex+agent-sessions/Resources/Fixtures/stage0/agents/cursor/subagent/"
        "subagents/child.jsonl",
        "a transcript of Cursor",
    ),
)

WITHOUT_ROUNDS: tuple[tuple[str, str], ...] = (
    # file of the corpus, and why there is nothing to inscribe in it
    (
        "fixtures/chiphuyen+sniffly/tests/mock-data/-Users-chip-dev-ai-music/"
        "ff71dbed-a4f2-4284-a4fc-fe2fb90de929.jsonl",
        "one summary and no message",
    ),
    (
        "cli-versions/2.0.77/projects/-home-dev-lab-work-vp-2-0-77/"
        "90b81d17-573f-49e1-8a29-29b1219c712a.jsonl",
        "zero bytes",
    ),
    (
        "cli-versions/2.1.2/projects/-home-dev-lab-work-vp-2-1-2/"
        "e522510a-586b-4834-9b9e-3a02922ca289.jsonl",
        "zero bytes",
    ),
)


def may_skip(file: str, reason: str) -> bool:
    """Whether a test of this file may be skipped for this reason."""
    return any(file == listed and reason.startswith(why) for listed, why in MAY_SKIP)
