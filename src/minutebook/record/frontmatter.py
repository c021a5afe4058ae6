"""Untrusted YAML, before it is loaded: libyaml dies of deep nesting, and a few
aliases of aliases are a value that takes forever to compare or to write."""

from __future__ import annotations

import re

_DEEPEST = 100
_MOST_BYTES = 64_000
_IN_ONE_LINE = re.compile(rf"(?:[-?:] ){{{_DEEPEST}}}")


def unfit(text: str) -> str | None:
    """Why a frontmatter is not loaded; None where it may be."""
    if is_deep(text):
        return "is nested too deeply"
    if len(text) > _MOST_BYTES:
        return f"is longer than {_MOST_BYTES // 1000} KB"
    return "has YAML anchors or aliases" if _has_aliases(text) else None


def _has_aliases(text: str) -> bool:
    if "&" not in text and "*" not in text:
        return False
    import yaml  # only now: importing it costs more than all else an append does

    try:
        events = yaml.parse(text, Loader=yaml.CBaseLoader)
        return any(getattr(event, "anchor", None) is not None for event in events)
    except (yaml.YAMLError, ValueError):
        return False  # whoever loads it says what is wrong


def is_deep(text: str) -> bool:
    """Whether a text is nested deeper than any frontmatter; brackets in words count, too."""
    if _IN_ONE_LINE.search(text) or any(
        len(line) - len(line.lstrip(" ")) > 4 * _DEEPEST for line in text.splitlines()
    ):
        return True
    depth = 0
    for char in re.findall(r"[\[\]{}]", text):
        depth += 1 if char in "[{" else -1 if depth else 0
        if depth > _DEEPEST:
            return True
    return False
