"""Which context windows a model can have in Claude Code (FUT-04).

A transcript names the model without its window: `claude-opus-4-6` may be either. Settings and
some third parties write the larger one as a suffix, `[1m]`.
"""

from __future__ import annotations

import re

USUAL, LONG = 200_000, 1_000_000
_LONG_NAME = re.compile(r"\[1m\]", re.IGNORECASE)
# Models that were never offered with the long window.
_SHORT = re.compile(r"claude-(?:[23]|instant|haiku-4|opus-4(?:-[015])?(?:-\d{8})?(?:$|@|-v))")


def context_windows(model: str) -> tuple[int, ...]:
    """The windows a model can have, the usual one first; none for other providers' models."""
    if _LONG_NAME.search(model):
        return (LONG,)
    name = model.lower()
    if "claude" not in name:
        return ()
    return (USUAL,) if _SHORT.search(name) else (USUAL, LONG)
