"""Other people's words between marks with a random name: what is quoted cannot pretend to end."""

from __future__ import annotations

import secrets


def new_mark() -> str:
    """A name that no quoted text can know."""
    return f"untrusted-{secrets.token_hex(6)}"


def between(mark: str, text: str) -> str:
    return f"<{mark}>\n{text.replace(mark, '').rstrip()}\n</{mark}>"
