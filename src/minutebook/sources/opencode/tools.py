"""What OpenCode's tools do, in neutral words (AGT-03)."""

from __future__ import annotations

from minutebook.model import ToolKind

_KINDS: dict[str, ToolKind] = {
    "bash": "run",
    "read": "read",
    "list": "read",
    "ls": "read",
    "lsp": "read",
    "edit": "edit",
    "multiedit": "edit",
    "patch": "edit",
    "apply_patch": "edit",
    "write": "write",
    "grep": "search",
    "glob": "search",
    "codesearch": "search",
    "webfetch": "fetch",
    "websearch": "fetch",
    "task": "delegate",
    "todowrite": "plan",
    "todoread": "plan",
    "plan_enter": "plan",
    "plan_exit": "plan",
}


def tool_kind(name: str) -> ToolKind:
    """What a tool does; ``other`` for those of plugins and servers, which may do anything."""
    return _KINDS.get(name, "other")
