"""What Cursor's tools do, in neutral words (AGT-03)."""

from __future__ import annotations

from minutebook.model import ToolKind

_NAMES: dict[ToolKind, str] = {
    "run": "Shell Bash run_terminal_cmd",
    "read": "Read read_file LS list_dir ReadLints",
    "edit": "Edit StrReplace MultiEdit ApplyPatch edit_file search_replace Delete delete_file",
    "write": "Write write",
    "search": "Grep Glob SemanticSearch grep codebase_search file_search glob_file_search",
    "fetch": "WebFetch WebSearch web_search",
    "delegate": "Agent Task",
    "plan": "TodoWrite todo_write CreatePlan",
}
_KINDS: dict[str, ToolKind] = {
    name: kind for kind, names in _NAMES.items() for name in names.split()
}


def tool_kind(name: str) -> ToolKind:
    """What a tool does; ``other`` for those of MCP servers, which may do anything."""
    return _KINDS.get(name, "other")
