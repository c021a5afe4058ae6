"""Events: what the screen showed. Most repeat items; these say what no item does."""

from __future__ import annotations

from typing import Any

from minutebook.derive import messages as kinds
from minutebook.model import Notice
from minutebook.sources.codex.conversation import Conversation, pieces_of
from minutebook.sources.codex.records import Payload
from minutebook.sources.codex.results import End, change_hunks

_REPEATED = frozenset(
    {
        "agent_message",
        "agent_reasoning",
        "agent_reasoning_raw_content",
        "agent_reasoning_section_break",
        "thread_settings_applied",
        "context_compacted",
        "web_search_begin",
        "exec_command_begin",
        "patch_apply_begin",
        "mcp_tool_call_begin",
        "collab_waiting_end",
        "collab_agent_interaction_end",
        "collab_close_end",
        "collab_resume_end",
        "dynamic_tool_call_request",
        "dynamic_tool_call_response",
        "view_image_tool_call",
        "image_generation_end",
        "sub_agent_activity",
        "thread_goal_updated",
    }
)
_ITEMS = frozenset(
    {
        "AgentMessage",
        "Reasoning",
        "ContextCompaction",
        "WebSearch",
        "ImageView",
        "ImageGeneration",
        "Plan",
        "Sleep",
        "DynamicToolCall",
    }
)
_ERRORS = frozenset({"error", "stream_error", "warning", "undo_completed"})
_INJECTED = ("user_instructions", "environment_context")  # a kind may be a list, too


class Events:
    def __init__(self, conversation: Conversation) -> None:
        self._told = conversation
        self._draft, self._memory = conversation.draft, conversation.memory

    def take(self, event: Payload, at: str | None) -> bool:
        """Whether it is known what the event means."""
        kind, told = event.type, self._told
        if kind == "user_message":
            if event.kind not in _INJECTED:
                told.announced(event.message or "", at)
        elif kind == "item_completed" and event.item is not None:
            return self._item(event.item, at)
        elif kind == "token_count":
            told.done()
            if event.info is not None and event.info.model_context_window:
                self._memory.limit = event.info.model_context_window
            if event.info is not None and event.info.total_token_usage is not None:
                told.counted(event.info.total_token_usage, event.info.last_token_usage, at)
        elif kind == "task_started":
            self._memory.limit = event.model_context_window or self._memory.limit
            if event.turn_id and not self._memory.fed:
                self._memory.seed(event.turn_id)
            self._memory.prompted, self._memory.aborted = False, False
        elif kind in ("task_complete", "turn_aborted"):
            self._over(event, at)
        elif kind in _ERRORS:
            told.notice(Notice(kinds.SYSTEM, error_text(event.error) or event.message or ""), at)
        elif kind == "thread_name_updated":
            self._memory.title = event.thread_name or self._memory.title
        elif kind == "thread_rolled_back":
            turns = event.num_turns or 0
            told.notice(Notice(kinds.SYSTEM, f"{turns} turns were rolled back."), at)
        elif kind == "web_search_end":
            if isinstance(event.results, list) and event.results:
                self._memory.found = _lines(event.results)
        elif kind in _REPEATED:
            self._draft.report.left_out[f"event {kind}"] += 1
        else:
            return self._ended(kind, event)
        return True

    def total(self, event: Payload) -> None:
        """A count of the parent's: where ours begins."""
        info = event.info
        if info is not None and info.total_token_usage is not None:
            self._memory.recorded = True
            self._told.counted(info.total_token_usage, None, None)

    def _item(self, item: Payload, at: str | None) -> bool:
        """0.166 has events of one form, with an item inside."""
        kind = item.type
        if kind == "UserMessage":
            texts = [piece.text for piece in pieces_of(item.content) if piece.text]
            self._told.announced("\n".join(texts), at)
        elif kind == "CommandExecution":
            self._end(item.id, End(item.exit_code, _failed(item)))
        elif kind == "FileChange":
            self._end(item.id, End(None, _failed(item), change_hunks(item.changes or {})))
        elif kind == "McpToolCall":
            self._end(item.id, End(None, _failed(item) or bool(item.error)))
        elif kind == "CollabAgentToolCall":
            agents = item.receiver_thread_ids or []
            if item.tool == "spawn_agent" and item.id and agents:
                self._told.started(item.id, agents[0])
        elif kind not in _ITEMS:
            return False
        else:
            self._draft.report.left_out[f"item {kind}"] += 1
        return True

    def _ended(self, kind: str, event: Payload) -> bool:
        if kind == "exec_command_end":
            self._end(event.call_id, End(event.exit_code, bool(event.exit_code)))
        elif kind == "patch_apply_end":
            failed = event.success is False
            self._end(event.call_id, End(None, failed, change_hunks(event.changes or {})))
        elif kind == "mcp_tool_call_end":
            self._end(event.call_id, End(None, _is_error(event.result)))
        elif kind == "collab_agent_spawn_end":
            if event.call_id and event.new_thread_id:
                self._told.started(event.call_id, event.new_thread_id)
        else:
            return False
        return True

    def _end(self, call_id: str | None, end: End) -> None:
        if call_id:
            self._told.ended(call_id, end)

    def _over(self, event: Payload, at: str | None) -> None:
        told, memory = self._told, self._memory
        told.decide("manual")
        milliseconds = event.duration_ms
        if milliseconds is not None and 0 <= milliseconds < 1e12:
            self._draft.lasted(round(milliseconds))
        if event.type == "turn_aborted":
            if not memory.aborted:
                self._draft.interrupted(event.reason or "", id=memory.aside(), at=at)
            memory.aborted = False
        elif (text := error_text(event.error)) is not None:
            told.notice(Notice(kinds.SYSTEM, text), at)


def error_text(error: Any) -> str | None:
    """What went wrong, in the provider's words."""
    if isinstance(error, str):
        return error or None
    message = error.get("message") if isinstance(error, dict) else None
    return message if isinstance(message, str) else None


def _failed(item: Payload) -> bool:
    return item.status in ("failed", "declined")


def _is_error(result: Any) -> bool:
    if not isinstance(result, dict):
        return False
    good = result.get("Ok")
    return "Err" in result or (isinstance(good, dict) and good.get("isError") is True)


def _lines(results: list[Any]) -> str:
    found = [result for result in results if isinstance(result, dict)]
    fields = ("title", "url", "snippet")
    return "\n\n".join(
        "\n".join(text for name in fields if isinstance(text := result.get(name), str) and text)
        for result in found
    )
