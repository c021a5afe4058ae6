"""``workspace.yaml``: what a session is called, and where it was."""

from __future__ import annotations

from typing import Any

import msgspec

_NULL = frozenset({"", "~", "null"})


class Workspace(msgspec.Struct, frozen=True):
    name: str | None = None
    user_named: bool = False
    """Whether a person gave the name."""
    cwd: str | None = None
    branch: str | None = None


def read_workspace(content: bytes) -> Workspace:
    """The fields of the file; what is not one is left at its default."""
    if not content:
        return Workspace()
    import yaml  # only now: it is slow to import

    try:
        # Scalars stay words: a session called 2026 is not a number. This loader is written in
        # Python: libyaml's overflows the stack on nested brackets.
        fields = yaml.load(content, Loader=yaml.BaseLoader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return Workspace()
    if not isinstance(fields, dict):
        return Workspace()
    return Workspace(
        _word(fields, "name"),
        fields.get("user_named") == "true",
        _word(fields, "cwd"),
        _word(fields, "branch"),
    )


def _word(fields: dict[Any, Any], name: str) -> str | None:
    found = fields.get(name)
    if not isinstance(found, str):
        return None
    clean = found.encode("utf-8", "replace").decode().strip()
    return None if clean in _NULL else clean
