"""What Claude Code's tools do, in neutral words (AGT-03)."""

from __future__ import annotations

from minutebook.model import ToolKind

_NAMES: dict[ToolKind, str] = {
    "run": "Bash BashOutput KillShell KillBash PowerShell TaskOutput TaskStop Monitor",
    "read": "Read NotebookRead LS View ReadNotebook ReadMcpResourceTool",
    "edit": "Edit MultiEdit NotebookEdit NotebookEditCell apply_patch",
    "write": "Write Replace",
    "search": "Grep Glob ToolSearch GrepTool GlobTool LSP",
    "fetch": "WebFetch WebSearch",
    "delegate": "Task Agent Workflow dispatch_agent",
    "plan": """
        TodoWrite TodoRead ExitPlanMode exit_plan_mode EnterPlanMode
        TaskCreate TaskUpdate TaskList TaskGet
    """,
}
_KINDS: dict[str, ToolKind] = {
    name: kind for kind, names in _NAMES.items() for name in names.split()
}


def tool_kind(name: str) -> ToolKind:
    """What a tool does; ``other`` for tools of plugins and servers, which may do anything."""
    return _KINDS.get(name, "other")
