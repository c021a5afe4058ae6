"""Where an assignment can be that of a secret: a sign, after the letters that end such a name.

Texts are full of `=` and `:`. What follows is tried at each of them, so the order counts: first
what fails at nearly all of them, last what only the names of secrets pass.
"""

from __future__ import annotations

from collections.abc import Iterable

# The last letters of password, Passwort, secret, token, key, pass, passwd, passphrase, passcode,
# key_base: first a coarse look at three of them, then the word itself.
_TWO, _LAST = r"[oOsSpPrRkKaA][rRwWeEsSdD]", r"[dDtTnNyYsSeE]"
_WORDS = (
    *(r"[wW][oO][rR][dDtT]", r"[cC][rR][eE][tT]", r"[oO][kK][eE][nN]", r"[kK][eE][yY]"),
    *(r"[pP]ass", r"\wPASS", r"[sSpP][wW][dD]", r"[rR][aA][sS][eE]", r"[sS][cC][oO][dD][eE]"),
    *(r"[yY]_[bB][aA][sS][eE]", r"eyBase", r"[pP][aA][sS][sS][eE]"),
)
# An entry with a name has a `value`; people have a login, and credentials; user%5Bpassword%5D=
_OTHERS = ("alue", "ogin", "tials", "creds", "gsdaten", "%5[dD]")
# What can stand between a name and the sign, up to four times: `\\"password\\" :`
_CLOSE = r"""["'\] \\*`:?]"""
# Names that go on: `DB_PASSWORD_PROD`, `API_KEY_2`, `password1`.
_TAILS = (
    *("_PROD", "_DEV", "_TEST", "_STAGING", "_LIVE", "_LOCAL", "_DEFAULT"),
    *("PASS", r"[_DYNdyn]\d"),
)


def around(sign: str) -> str:
    """What has to hold around a sign, as a pattern after it."""
    either = [
        f"(?<={_LAST}{sign})(?:(?<={_TWO}.{sign})(?:{_behind(sign, _WORDS)})"
        f"|{_behind(sign, _OTHERS)})",
        f"(?<={_CLOSE}{sign})(?:{_closed(sign)}|(?<=alue.{sign})|(?<=[dDyYnN]\\d.{sign}))",
    ]
    if sign == "=":
        either.append(rf"(?<=[A-Z_dyn][A-Z\d]{sign})(?:{_behind(sign, _TAILS)})")
    return rf"(?![{sign}~=])(?:{'|'.join(either)})"


def _behind(sign: str, words: Iterable[str], closed: str = "") -> str:
    return "|".join(f"(?<={word}{closed}{sign})" for word in words)


def _closed(sign: str) -> str:
    counts = [rf"{_CLOSE}{{{count}}}" for count in range(1, 5)]
    return "|".join(
        f"(?<={_TWO}{_LAST}{close}{sign})(?:{_behind(sign, _WORDS, close)})" for close in counts
    )
