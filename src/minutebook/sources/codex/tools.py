"""What Codex's tools do, in neutral words (AGT-03)."""

from __future__ import annotations

from typing import Any

from minutebook.model import ToolKind

_KINDS: dict[str, ToolKind] = {
    "shell": "run",
    "shell_command": "run",
    "local_shell": "run",
    "container.exec": "run",
    "exec_command": "run",
    "write_stdin": "run",
    "exec": "run",
    "apply_patch": "edit",
    "read_file": "read",
    "list_dir": "read",
    "view_image": "read",
    "read_mcp_resource": "read",
    "grep_files": "search",
    "tool_search": "search",
    "web_search": "fetch",
    "spawn_agent": "delegate",
    "send_input": "delegate",
    "followup_task": "delegate",
    "send_message": "delegate",
    "wait": "delegate",
    "wait_agent": "delegate",
    "close_agent": "delegate",
    "resume_agent": "delegate",
    "update_plan": "plan",
    "request_user_input": "other",
}
SCRIPTS = frozenset({"exec"})
"""Tools whose calls are programs that call tools themselves (code mode)."""


def tool_kind(name: str) -> ToolKind:
    """What a tool does; ``other`` for those of servers, which may do anything."""
    return _KINDS.get(name, "other")


def kind_of(name: str, input: Any) -> ToolKind:
    """The same of a call: up to 0.2x patches went through the shell."""
    return "edit" if patch_of(name, input) is not None else tool_kind(name)


def patch_of(name: str, input: Any) -> str | None:
    """The patch a call applies; None where it does something else."""
    if name == "apply_patch":
        text = input.get("input") if isinstance(input, dict) else input
        return text if isinstance(text, str) else None
    command = input.get("command") if isinstance(input, dict) else None
    if isinstance(command, list) and len(command) == 2 and command[0] == "apply_patch":
        return command[1] if isinstance(command[1], str) else None
    return None
