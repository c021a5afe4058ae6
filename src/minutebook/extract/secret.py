"""Keys: found where people keep them, and never shown (ING-29)."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from minutebook.errors import BadArgument
from minutebook.extract.material import hidden

_BARE = {"ANTHROPIC_API_KEY": re.compile(r"sk-ant-[\w-]+")}
"""Keys that say by themselves whose they are; others need their name."""


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


def shown_address(url: str) -> str:
    """An endpoint's address as it may be shown: scheme, host and path, none of which is a key."""
    try:
        parts = urlsplit(url)
        usual = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        usual = False
    if not usual:
        raise BadArgument(
            "The address of the endpoint is not a web address, such as http://127.0.0.1:11434/v1."
        )
    host = parts.netloc.rpartition("@")[2]
    return hidden(urlunsplit((parts.scheme, host, parts.path, "", "")))


def find_secret(name: str, home: Path | None = None) -> Secret | None:
    """A key from the environment, else from ``~/.secrets``; None where there is none."""
    value = os.environ.get(name, "").strip() or _from_file(name, home or Path.home())
    return Secret(value) if value else None


def _from_file(name: str, home: Path) -> str | None:
    """``NAME=value``, ``export NAME=value`` or the bare key; the last one counts."""
    try:
        text = (home / ".secrets").read_text(encoding="utf-8-sig", errors="replace")
    except OSError:
        return None
    named = bare = None
    for line in text.splitlines():
        for word in _words(line):
            given, equals, value = word.partition("=")
            if equals and given == name and not value.startswith("$"):
                named = value or None
            elif name in _BARE and _BARE[name].fullmatch(word):
                bare = word
    return named or bare


def _words(line: str) -> list[str]:
    """The words of a line as a shell would see them; none where it would not."""
    try:
        words = shlex.shlex(line.replace(" = ", "="), posix=True, punctuation_chars=";")
        words.whitespace_split = True
        return list(words)
    except ValueError:
        return []
