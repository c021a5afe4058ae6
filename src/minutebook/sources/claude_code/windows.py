"""Which context windows a model can have in Claude Code (FUT-04).

A transcript names the model without its window: `claude-opus-4-6` may be either. Settings and
some third parties write the larger one as a suffix, `[1m]`.

Which is the usual one was read off public transcripts: of 82 sessions of models after 4.6, 27 held
more than 200,000 tokens and none was compacted by itself below that; of 125 sessions of Opus 4.6
four were beyond 172,000, and all eleven automatic compactions were below 200,000.
"""

from __future__ import annotations

import re

SHORT, LONG = 200_000, 1_000_000
_LONG_NAME = re.compile(r"\[1m\]", re.IGNORECASE)
# Models that were never offered with the long window, and those that usually had the short one.
_ALWAYS_SHORT = re.compile(
    r"claude-(?:[23]|instant|haiku-4|opus-4(?:-[015])?(?:-\d{8})?(?:$|@|-v))"
)
_USUALLY_SHORT = re.compile(
    r"claude-(?:opus|sonnet)-4(?:-[0-6])?(?!\d|-[7-9](?:\D|$)|-\d{2}(?:\D|$))"
)


def context_windows(model: str) -> tuple[int, ...]:
    """The windows a model can have, the usual one first; none for other providers' models."""
    if _LONG_NAME.search(model):
        return (LONG,)
    name = model.lower()
    if "claude" not in name:
        return ()
    if _ALWAYS_SHORT.search(name):
        return (SHORT,)
    return (SHORT, LONG) if _USUALLY_SHORT.search(name) else (LONG, SHORT)
