"""Text without what a terminal would obey."""

from __future__ import annotations

import re

# CSI and OSC sequences as a whole, so that no "[31m" is left behind.
_SEQUENCES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x9b[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b."
)


def without_sequences(text: str) -> str:
    """A text without escape sequences."""
    if "\x1b" in text or "\x9b" in text:
        return _SEQUENCES.sub("", text)
    return text
