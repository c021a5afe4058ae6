"""Passwords in notations of their own: SQL, .netrc, XML, a setter, a table, a default value.

Each reader is asked where the word stands, at the `assword` of it, and finds the value after it.
"""

from __future__ import annotations

import re

from minutebook.derive.patterns import pattern
from minutebook.derive.secret_scan import Found
from minutebook.derive.secret_values import odd, plausible, reference, weak

_SQL = pattern(r"""(?:ASSWORD|assword|DENTIFIED BY)[ \t\n]{1,3}'([^'\n•]{1,100})'""")
_SQL_LEFT = pattern(r"\b(?:create|alter)\s{1,4}(?:user|role|login)\b[^\n;]{0,80}$", re.IGNORECASE)
_ELEMENT = pattern(r"assword>([^<>\s•]{3,100})</")
_SETTER = pattern(r"""assword\([ \t\n]{0,20}["']([^"'\n\s•]{3,100})["'][ \t\n]{0,20}\)""")
_SETS = pattern(r"(?:\b[sS]et_?|\b[wW]ith_?|\.)[pP]$")
_MACRO = pattern(r"""ASSWORD[ \t]{1,8}"([^"\n\s•]{3,100})\"""")
_MACROS = pattern(r"#[ \t]{0,2}define[ \t]{1,4}\w{0,60}$")
_DEFAULT = pattern(
    r"""(?:ASSWORD|assword)["'\]]{0,2}\s?(?:\|\||\?\?)\s?["'`]([^"'`\s•]{3,100})["'`]"""
)
_PAIR = pattern(r"""(?:ASSWORD|assword)\\?["'],\s?\\?["']([^"'\\\s•]{3,100})\\?["']""")
_PAIRS = pattern(
    r"(?:append|set|put|add|get|env|define|config|header|param|field)\w{0,12}(?:<\w{1,20}>)?"
    r"""\([ \t]?\\?["'][\w.-]{0,60}$""",
    re.IGNORECASE,
)
_CELL = pattern(
    r"(?:ASSWORD|assword)[*`]{0,3}[ \t]{0,30}\|[ \t]{0,8}`?([^\s`|•]{4,80})`?[ \t]{0,40}\|"
)
_NETRC = pattern(r"""assword\s{1,8}["']?([^\s•"']{3,100})""")
_NETRC_LEFT = pattern(
    r"\b(?:default|machine\s{1,4}[^\s•]{1,80})\s{1,8}login\s{1,4}[^\s•]{1,80}\s{1,8}"
    r"(?:account\s{1,4}[^\s•]{1,80}\s{1,8})?p$"
)
LOGIN = pattern(r"(?i:login|credentials|creds|zugangsdaten)")
_LOGIN_PAIR = pattern(
    r"""\*{0,2}[ \t]{0,2}[`"']?(?P<user>[\w.@+-]{2,60}?)[`"']?[ \t]?[/:|][ \t]?"""
    r"""[`"']?(?P<value>[^\s"'`<>()\[\]{}\\,;•|/]{3,80})"""
)
_DOCKER = pattern(r"ASSWORD[ \t]([^\s•=]{3,100})[ \t]*(?:\n|$)")
_DOCKER_LEFT = pattern(r"(?:^|\n)[ \t]*ENV[ \t]\w{0,60}$")


def sql(text: str, at: int) -> Found | None:
    """ALTER USER ann WITH PASSWORD '…'; CREATE USER ann IDENTIFIED BY '…'"""
    found = _SQL.match(text, at)
    if found is None or (text[at] == "a" and not _SQL_LEFT.search(text[max(0, at - 120) : at])):
        return None
    return _if(found, plausible(found[1]))


def element(text: str, at: int) -> Found | None:
    """<password>…</password>"""
    found = _ELEMENT.match(text, at)
    return _if(found, found is not None and plausible(found[1]) and not reference(found[1]))


def setter(text: str, at: int) -> Found | None:
    """user.set_password("…")"""
    found = _SETTER.match(text, at)
    if found is None or not _SETS.search(text[max(0, at - 8) : at]):
        return None
    return _if(found, plausible(found[1]) and not reference(found[1]))


def macro(text: str, at: int) -> Found | None:
    """#define WIFI_PASSWORD "…" """
    found = _MACRO.match(text, at)
    if found is None or not _MACROS.search(text[max(0, at - 80) : at]):
        return None
    return _if(found, plausible(found[1]))


def default(text: str, at: int) -> Found | None:
    """process.env.DB_PASSWORD || "…" """
    found = _DEFAULT.match(text, at)
    return _if(found, found is not None and plausible(found[1]) and not reference(found[1]))


def pair(text: str, at: int) -> Found | None:
    """getenv("DB_PASSWORD", "…"), form.append("password", "…")"""
    found = _PAIR.match(text, at)
    if found is None or not _PAIRS.search(text[max(0, at - 90) : at]):
        return None
    if text.startswith("A", at):  # a variable of the environment has a value, not a label
        return _if(found, plausible(found[1]) and not reference(found[1]))
    return _if(found, odd(found[1]) or weak(found[1]))


def cell(text: str, at: int) -> Found | None:
    """| Password | … |"""
    found = _CELL.match(text, at)
    return _if(found, found is not None and (odd(found[1]) or weak(found[1])))


def netrc(text: str, at: int) -> Found | None:
    """machine example.org login ann password …"""
    found = _NETRC.match(text, at)
    if found is None or not _NETRC_LEFT.search(text[max(0, at - 220) : at]):
        return None
    return _if(found, plausible(found[1]))


def docker(text: str, at: int) -> Found | None:
    """ENV DB_PASSWORD …"""
    found = _DOCKER.match(text, at)
    if found is None or not _DOCKER_LEFT.search(text[max(0, at - 80) : at]):
        return None
    return _if(found, plausible(found[1]))


def user_and_password(text: str, at: int) -> Found | None:
    """admin / …"""
    pair = _LOGIN_PAIR.match(text, at)
    if pair is None:
        return None
    start, value = pair.start("value"), pair["value"].rstrip(".:")
    if not (odd(value) or (weak(value) and weak(pair["user"]))):
        return None
    return start, start + len(value), "password"


def _if(found: re.Match[str] | None, good: bool) -> Found | None:
    return (*found.span(1), "password") if found and good else None


LOWER = (netrc, sql, element, setter, pair, default, cell)
UPPER = (sql, pair, default, macro, docker, cell)
