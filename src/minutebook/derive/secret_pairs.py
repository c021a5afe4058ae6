"""A user and a password in one breath: "log in with admin / …", "credentials: ann:…"."""

from __future__ import annotations

import re

from minutebook.derive.secret_scan import Found
from minutebook.derive.secret_values import odd, weak

LOGIN = re.compile(r"(?i:logins?|credentials?|creds|account|zugangsdaten)")
_PAIR = re.compile(
    r"""\*{0,2}[ \t]{0,2}[`"']?(?P<user>[\w.@+-]{2,60}?)[`"']?[ \t]?[/:|][ \t]?"""
    r"""[`"']?(?P<value>[^\s"'`<>()\[\]{}\\,;•|/]{3,80})"""
)


def pair_after(text: str, at: int) -> Found | None:
    """The password of `user / password`, where it is one."""
    pair = _PAIR.match(text, at)
    if pair is None or text.startswith("//", pair.end("user") + 1):
        return None
    start, value = pair.start("value"), pair["value"].rstrip(".:")
    if not (odd(value) or (weak(value) and weak(pair["user"]))):
        return None
    return start, start + len(value), "password"
