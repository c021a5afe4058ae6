"""``workspace.yaml``: what a session is called, and where it was."""

from __future__ import annotations

from typing import Any

import msgspec


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
        # The loader written in Python: libyaml's overflows the stack on nested brackets.
        typed = yaml.load(content, Loader=yaml.SafeLoader)
        words = yaml.load(content, Loader=yaml.BaseLoader)
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError):
        return Workspace()
    if not isinstance(typed, dict) or not isinstance(words, dict):
        return Workspace()
    return Workspace(
        _word(typed, words, "name"),
        typed.get("user_named") is True,
        _word(typed, words, "cwd"),
        _word(typed, words, "branch"),
    )


def _word(typed: dict[Any, Any], words: dict[Any, Any], name: str) -> str | None:
    """A field as it was written: a session called 2026 is not a number."""
    found = words.get(name)
    if typed.get(name) is None or not isinstance(found, str):
        return None
    clean = found.encode("utf-8", "replace").decode().strip()
    return clean or None
