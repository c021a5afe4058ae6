"""YAML that somebody else wrote, before a parser sees it: libyaml dies of deep nesting."""

from __future__ import annotations

import re

_DEEPEST = 100
_IN_ONE_LINE = re.compile(rf"(?:[-?:] ){{{_DEEPEST}}}")


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
