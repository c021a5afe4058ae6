"""Keys: found where people keep them, and never shown (ING-29)."""

from __future__ import annotations

import os
import re
from pathlib import Path

_LINE = re.compile(r"(?:export\s+)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)\s*=\s*(?P<value>.+)")
_BARE = {"ANTHROPIC_API_KEY": re.compile(r"sk-ant-\S+"), "OPENAI_API_KEY": re.compile(r"sk-\S+")}


class Secret:
    """A key that neither a traceback nor a log nor a ``repr`` shows."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        return self._value

    def scrub(self, text: str) -> str:
        """A text without the key."""
        return text.replace(self._value, "***") if self._value else text

    def __repr__(self) -> str:
        return "Secret(***)"

    __str__ = __repr__


def find_secret(name: str, home: Path | None = None) -> Secret | None:
    """A key from the environment, else from ``~/.secrets``; None where there is none."""
    value = os.environ.get(name, "").strip() or _from_file(name, home or Path.home())
    return Secret(value) if value else None


def _from_file(name: str, home: Path) -> str | None:
    """``NAME=value``, ``export NAME=value`` or the bare key on a line of its own."""
    try:
        text = (home / ".secrets").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    bare = None
    for line in text.splitlines():
        line = line.strip()
        if match := _LINE.fullmatch(line):
            if match["name"] == name:
                return match["value"].split(" #")[0].strip().strip("\"'") or None
        elif bare is None and _BARE[name].fullmatch(line):
            bare = line
    return bare
