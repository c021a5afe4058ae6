"""What Gemini CLI's tools do, in neutral words (AGT-03)."""

from __future__ import annotations

from minutebook.model import ToolKind

_NAMES: dict[ToolKind, str] = {
    "run": "run_shell_command",
    "read": "read_file read_many_files list_directory get_internal_docs",
    "edit": "replace edit smart_edit",
    "write": "write_file",
    "search": "search_file_content grep_search glob",
    "fetch": "web_fetch google_web_search",
    "delegate": "invoke_agent delegate_to_agent codebase_investigator generalist cli_help",
    "plan": "write_todos enter_plan_mode exit_plan_mode update_topic",
}
_KINDS: dict[str, ToolKind] = {
    name: kind for kind, names in _NAMES.items() for name in names.split()
}


def tool_kind(name: str) -> ToolKind:
    """What a tool does; ``other`` for those of servers and extensions, which may do anything."""
    return _KINDS.get(name, "other")
