"""Regular expressions that are compiled when they are first used.

Compiling takes Python a tenth of a second for what masking may need, and a text mostly needs
little of it.
"""

from __future__ import annotations

import re
from typing import Any, cast

WIDE = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
"""Inside of a set: the letters of scripts without blanks between words."""


def pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """`re.compile`, put off."""
    return cast("re.Pattern[str]", _Later(source, flags))


class _Later:
    def __init__(self, source: str, flags: int) -> None:
        self._given = source, flags

    def __getattr__(self, name: str) -> Any:
        """A method of the compiled pattern; kept, so the next use of it costs nothing more."""
        found = getattr(re.compile(*self._given), name)
        setattr(self, name, found)
        return found


WIDE_SIGN = pattern(rf"[{WIDE}]")
WIDE_RUN = pattern(rf"[{WIDE}]+")


def pairs_of(run: str) -> list[str]:
    """Each sign of such a script with the next: they stand for words."""
    return [run[place : place + 2] for place in range(len(run) - 1)]
