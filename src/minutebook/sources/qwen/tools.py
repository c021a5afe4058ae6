"""What Qwen Code's tools do, in neutral words (AGT-03)."""

from __future__ import annotations

from minutebook.model import ToolKind

_NAMES: dict[ToolKind, str] = {
    "run": "run_shell_command task_stop monitor",
    "read": "read_file read_many_files list_directory",
    "edit": "edit replace notebook_edit",
    "write": "write_file",
    "search": "grep_search search_file_content glob tool_search lsp",
    "fetch": "web_fetch web_search google_web_search",
    "delegate": "agent task send_message workflow",
    "plan": "todo_write exit_plan_mode enter_plan_mode task_create task_update task_list task_get",
}
_KINDS: dict[str, ToolKind] = {
    name: kind for kind, names in _NAMES.items() for name in names.split()
}


def tool_kind(name: str) -> ToolKind:
    """What a tool does; ``other`` for those of servers and extensions, which may do anything."""
    return _KINDS.get(name, "other")
