"""Record and attachment types by what they mean to us.

Whatever is in none of these sets is unknown: kept verbatim in the round where it was
met, counted, and named by ``minutebook doctor``.
"""

from __future__ import annotations

from typing import Any

CONVERSATION = frozenset({"user", "human", "assistant", "tool_use", "tool_result"})
TITLES = frozenset({"custom-title", "agent-name", "ai-title", "summary"})

# Understood and left out: state of the interface, copies of what other records hold,
# telemetry. From transcripts up to 2.1.325 and the loader of that version.
BOOKKEEPING = frozenset(
    """
    progress file-history-snapshot file-history-delta last-prompt permission-mode mode
    repl-mode bridge-session frame-link tag relocated agent-color agent-setting
    isolation-latch session-owner dev-mods memory-mode atis-latch tools-used
    data-flow-records data-flow-incomplete derived-from worktree-state
    history-suppression ended-by-model continued-in observer-ref artifact-comment-monitor
    artifact-autoreact-ledger attribution-snapshot content-replacement api-request
    api-request-shape api-request-blob resume-head-vouch
    """.split()
)
ROUTED = frozenset(
    "minutebook system attachment queue-operation pr-link fork-context-ref cost-state".split()
)

BOUNDARY = "compaction-boundary"
"""The kind of notice that marks where the window was emptied."""

SYSTEM_BOOKKEEPING = frozenset(
    """
    turn_duration stop_hook_summary bridge_status api_error microcompact_boundary
    custom_title attribution_snapshot
    """.split()
)
# Their `content` is shown to the person (and not sent to the model), so it is part of the
# record: subtype → the kind of notice it becomes.
SYSTEM_NOTICES = {
    "local_command": "local-command",
    "compact_boundary": BOUNDARY,
    "away_summary": "recap",
    "informational": "system",
    "model_refusal_fallback": "system",
}
NOTICE_SUBTYPES = {
    "local-command": "local_command",
    BOUNDARY: "compact_boundary",
    "recap": "away_summary",
    "system": "informational",
}

ATTACHMENT_BOOKKEEPING = frozenset(
    """
    hook_success hook_non_blocking_error hook_cancelled async_hook_response
    total_tokens_reminder task_reminder todo_reminder deferred_tools_delta skill_listing
    mcp_instructions_delta command_permissions agent_listing_delta auto_mode auto_mode_exit
    ultra_effort_enter date_change date environment model remote_session_change
    prompt_snapshot silent_turn_reminder
    """.split()
)
# Context a person, a hook or the project gave to the model. `nested_memory` and
# `session_context` (under `claudeMd`) hold the instructions in force (FUT-03).
ATTACHMENTS = frozenset(
    """
    file directory edited_text_file selected_lines_in_ide opened_file_in_ide nested_memory
    hook_additional_context hook_system_message hook_blocking_error diagnostics plan_mode
    plan_mode_exit plan_mode_reentry compact_file_reference goal_status
    read_truncation_notice queued_command session_context
    """.split()
)


def is_empty(attachment: dict[str, Any]) -> bool:
    """Whether an attachment only says that there was nothing to attach."""
    return attachment.get("type") == "session_context" and not attachment.get("context")
