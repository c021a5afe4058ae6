"""What Copilot CLI's tools do, in neutral words (AGT-03)."""

from __future__ import annotations

from minutebook.model import ToolKind

_KINDS: dict[str, ToolKind] = {
    "bash": "run",
    "powershell": "run",
    "shell": "run",
    "local_shell": "run",
    "view": "read",
    "show_file": "read",
    "edit": "edit",
    "str_replace_editor": "edit",
    "apply_patch": "edit",
    "create": "write",
    "grep": "search",
    "rg": "search",
    "glob": "search",
    "web_search": "fetch",
    "web_fetch": "fetch",
    "task": "delegate",
    "read_agent": "read",
    "write_agent": "delegate",
    "list_agents": "read",
    "update_todo": "plan",
    "exit_plan_mode": "plan",
    "report_intent": "plan",
}
_OF_A_SHELL = ("_bash", "_powershell")  # read_bash, write_bash, stop_bash, list_bash …


def tool_kind(name: str) -> ToolKind:
    """What a tool does; ``other`` for those of MCP servers, which may do anything."""
    if name.endswith(_OF_A_SHELL):
        return "run"
    return _KINDS.get(name, "other")
