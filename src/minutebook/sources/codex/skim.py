"""Which lines a skim needs: told by their bytes, before anything is decoded."""

from __future__ import annotations

_PAYLOAD, _NEAR = b'"payload":{"type":"', 160
_ITEM, _PROMPT = b'"item":{"type":"', b'"item":{"type":"UserMessage"'
_DEVELOPER = b'"role":"developer"'
_GLUED = b'}{"timestamp":'
_CLOSING = (b"function_call_output", b"custom_tool_call_output", b"token_count")
_PASSED = frozenset(
    {
        *_CLOSING,
        b"tool_search_output",
        b"exec_command_end",
        b"patch_apply_end",
        b"mcp_tool_call_end",
        b"agent_message",
        b"agent_reasoning",
        b"task_complete",
        b"turn_aborted",
        b"thread_settings_applied",
        b"web_search_end",
        b"context_compacted",
        b"additional_tools",
    }
)


def needed(data: bytearray, start: int, end: int) -> tuple[bool, bool]:
    """Whether a line has to be decoded; and, where not, whether a response is complete there."""
    near = min(end, start + _NEAR)
    at = data.find(_PAYLOAD, start, near)
    if at < 0:
        closing = data.find(b'"type":"token_usage_record"', start, near) >= 0
        if not closing and data.find(b'"type":"world_state"', start, near) < 0:
            return True, False
        return data.find(_GLUED, start, end) >= 0, closing
    at += len(_PAYLOAD)
    name = bytes(data[at : data.find(b'"', at, at + 60)])
    if name == b"item_completed":
        passed = 0 <= data.find(_ITEM, at, at + 500) != data.find(_PROMPT, at, at + 500)
    elif name == b"message":
        passed = data.find(_DEVELOPER, at, min(end, at + 200)) >= 0
    else:
        passed = name in _PASSED
    if not passed:
        return True, False
    return data.find(_GLUED, start, end) >= 0, name in _CLOSING
