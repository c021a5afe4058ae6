"""Passwords named in sentences: "the admin password is …", "das Passwort lautet …".

A sentence about a password is far more often about passwords than about one: what follows is
taken only where it is in quotes, or where nobody would write it as a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from minutebook.derive.patterns import pattern
from minutebook.derive.secret_forms import LOWER, UPPER, sql, user_and_password
from minutebook.derive.secret_scan import Found, Hint, first
from minutebook.derive.secret_values import (
    numbered,
    odd,
    ordinary,
    passphrase,
    plausible,
    weak,
)

# What stands in the quotes of some language, or the next run of signs.
_PAIRS = "`` \"\" '' “” „“ «» 「」 『』".split()
_QUOTED = "|".join(rf"{pair[0]}\s?([^{pair[1]}\n•]{{1,80}}?)\s?{pair[1]}" for pair in _PAIRS)
_FAR = r"\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7af\uff00-\uff0f"
_NOT = rf"""\s\x00-\x1f"'`<>()\[\]\\,;•|“”«»{_FAR}"""
_BARE = rf"([^{{}}{_NOT}][^{_NOT}]{{3,80}})(?![(\[])"
_VALUE = rf"(?:\*{{0,2}}|<\w{{1,8}}>)(?:{_QUOTED}|{_BARE})"

_OF = (  # "for the admin account", "von Anna", "pour la base"
    r"(?:\s(?:for|of|on|to|in|at|I|we|you|für|von|zu|zum|zur|des|der|de|du|pour|del|para|do|da|di"
    r"|per|от|для)\s[^\n.,;:!?()\"`•=]{1,48}?)"
)
_IS = (
    r"\s(?:is|was|are|will be|should be|is now|is still|ist|lautet|war|heißt|est|était|sera|es|era"
    r"|será|é|è|это)(?:\s?:)?\s"
)
_TO = r"\s(?:to|is set to|set to|auf|à|a)\s"
_MARK = r"(?:\s?[:：]\s{0,2}|\s[-–—]\s)"
_WORD = r"(?:ass(?:wor[dt]|phrase|code)|asse|ennwort|ontraseña|enha|ароль|pw)"
_SAID = pattern(
    rf"(?:{_WORD}\*{{0,2}}(?:{_OF}?(?:(?P<sure>{_IS})|{_TO})|{_OF}{_MARK}|\s[:–—-]\s)"
    rf"|(?:ontraseña|ароль|pw){_MARK}){_VALUE}"
)
_NEXT = pattern(rf"{_WORD}[ \t\n]{_VALUE}")
_VERB = pattern(
    r"\b(?:use|using|with|enter|type|try|mit|avec|con)\s(?:the |my |our |this |dem |le |la )?p?$",
    re.IGNORECASE,
)
_PHRASE = pattern(
    r"assphrase(\sis|\s?:)?\s((?:[a-z]{2,16} ){2,9}[a-z]{2,16}|(?:[a-z]{2,16}-){3,9}[a-z]{2,16})"
    r"(?=[.!\n]|$)"
)
_EASTERN = pattern(
    r"(?:パスワード|密码|密碼|口令|비밀번호)(?:[はがを是为為는은이가：:＝=]|\s){1,4}" + _VALUE
)
_LOGIN = pattern(r"\b(?:log(?:ged)? ?in|sign(?:ed)? ?in) with $", re.IGNORECASE)
_SETS = pattern(r"\b(?:set|chang|reset|updat)[a-z]{0,5}\s[^\n.,;:•]{0,30}$", re.IGNORECASE)
_STOPS = pattern(r"\*{0,2}(?:\s*$|\s*[.,;!)<\n])")
_NAMED = pattern(r"[A-Za-z_]{2,}=")
_MIXED = pattern(r"[A-Za-z]\d|\d[A-Za-z]|[!@#$%^&*]")


def prose_hints() -> Iterator[Hint]:
    """The words for a password, in the languages people write."""
    yield Hint("ass", first(*LOWER, _said, _next, back=3), "(?=w)")
    yield Hint("ass", first(_phrase, _said, _next, back=3), "(?=phrase)")
    yield Hint("ass", first(_said, back=3), "(?=e )(?<=de pass)")
    yield Hint("A", first(*UPPER, back=4), "SSW")
    yield Hint("pw ", first(_short, back=3))
    yield Hint("pw: ", first(_short, back=4))
    yield Hint("DENTIFIED BY ", first(sql, back=13))
    yield Hint("n with ", first(_login))
    for word, beside in (("ontraseña", "ñ"), ("ennwort", "ü"), ("enha", "é"), ("ароль", "ь")):
        yield Hint(word, first(_said, _next, back=len(word)), beside=beside)
    for sign in "パ密口비":
        yield Hint(sign, first(_eastern, back=1), beside=sign)


def _said(text: str, at: int) -> Found | None:
    """The password for … is …"""
    found = _SAID.match(text, at)
    if found is None:
        return None
    sure = found["sure"] is not None or _SETS.search(text[max(0, at - 40) : at]) is not None
    return _value(text, found, sure)


def _next(text: str, at: int) -> Found | None:
    """With the password …"""
    found = _NEXT.match(text, at)
    if found is None:
        return None
    sure = _VERB.search(text[max(0, at - 24) : at]) is not None
    return _value(text, found, sure) if sure or _strong(found) else None


def _short(text: str, at: int) -> Found | None:
    """The pw is … (so little a word that the value has to look like one)"""
    if at and (text[at - 1].isalnum() or text[at - 1] in "_-./$@"):
        return None
    found = _SAID.match(text, at) or _NEXT.match(text, at)
    return _value(text, found, False) if found and _strong(found) else None


def _phrase(text: str, at: int) -> Found | None:
    """Use the passphrase correct horse battery staple."""
    found = _PHRASE.match(text, at)
    if found is None or not (found[1] or _VERB.search(text[max(0, at - 24) : at])):
        return None
    return (*found.span(2), "password") if passphrase(found[2].replace("-", " ")) else None


def _eastern(text: str, at: int) -> Found | None:
    found = _EASTERN.match(text, at)
    return _value(text, found, True) if found else None


def _login(text: str, at: int) -> Found | None:
    """Log in with admin / …"""
    return user_and_password(text, at) if _LOGIN.search(text[max(0, at - 20) : at]) else None


def _value(text: str, found: re.Match[str], sure: bool) -> Found | None:
    group = found.lastindex or 0
    start, value = found.start(group), found[group]
    if group < found.re.groups:  # in quotes
        return (start, start + len(value), "password") if _quoted(value, sure) else None
    value = value.rstrip(".:*")
    end = start + len(value)
    if value.isdigit() or (weak(value) and not odd(value)):
        good = sure and len(value) >= 4 and _STOPS.match(text, end) is not None
    else:
        good = odd(value) and not (ordinary(value) or _NAMED.match(value))
        good = good and (sure or not numbered(value))
    return (start, end, "password") if good else None


def _quoted(value: str, sure: bool) -> bool:
    if " " in value:
        return passphrase(value)
    if value[0] in ".,;+)<&":
        return False  # the quote before it closes a string
    if odd(value) or weak(value):
        return sure or not numbered(value)
    return sure and plausible(value) and not ordinary(value)


def _strong(found: re.Match[str]) -> bool:
    """Not only one digit: `OAuth2`, `sha1`."""
    group = found.lastindex or 0
    return group < found.re.groups or len(_MIXED.findall(found[group])) > 1
