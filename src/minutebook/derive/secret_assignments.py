"""Secrets that are given to a name: `PGPASSWORD=…`, `"client_secret": "…"`, `password: …`.

The hints are the signs of an assignment where the letters before them can end the name of a
secret; only there the name is read (backwards) and the value (forwards). Both are bounded, so a
text takes time in proportion to its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from minutebook.derive.secret_names import Named, named
from minutebook.derive.secret_values import (
    numbered,
    odd,
    passphrase,
    plausible,
    random,
    reference,
    weak,
)

Found = tuple[int, int, str]  # start, end, kind

# The last letters of password, secret, token, key, pass and passphrase; or any variable of the
# environment, so that `DB_PASSWORD_PROD=` is looked at; or the `value` of an entry with a name.
_ENDS = r"[oOsSpPrRkKaA][rRwWeEsS][dDtTnNyYsSeE]"
_CLOSE = r"""["'\] ?\\*`:]"""


def _hints(sign: str) -> re.Pattern[str]:
    behind = "|".join(rf"(?<={_ENDS}{_CLOSE}{{{count}}}{sign})" for count in range(5))
    more = rf"""(?<=[A-Z][A-Z\d]{sign})|(?<=alue{sign})|(?<=alue["']{sign})"""
    return re.compile(rf"{sign}(?:{behind}|{more})(?![{sign}~])", re.ASCII)


_SIGNS = (("=", _hints("=")), (":", _hints(":")))
_ENCODED = re.compile(r"=(?<=[dDtTnNyY]%5[dD]=)")  # user%5Bpassword%5D=

# Read backwards from the sign: what closes the name, the name, what stands before it.
_NAME = re.compile(
    r"""(?P<sign>[:+?|]{0,2})(?P<space>[ \t]{0,12})(?P<close>(?:[dD]5%|["'\]\\?*`]){0,6})"""
    r"""(?P<name>[\w-]{2,64})(?P<before>[^\n]{0,64})""",
    re.ASCII,
)
_TYPE = re.compile(r"""[ \t]?[A-Za-z_&][\w.:<>\[\]|&? ']{0,40}?[ \t]?=[ \t]?(?=["'`])""")
_BETWEEN = re.compile(r">?(?P<space>[ \t]{0,8})\*{0,2}[ \t]?")
_OPEN = re.compile(r"""[bBrRuUfFL@$]{0,2}(?P<quote>\\{0,3}["'`]|%22|[“„«「])""")
_CLOSING = {"“": "”", "„": "“", "«": "»", "「": "」"}
_BARE = re.compile(r"""[^\s"'`\\<>•“”]{1,1000}""")
_LONGEST = 1_000

_EXPORT = re.compile(r"[ \t]{1,3}(?:tropxe|VNE|vne--|e-|tes|xtes|GRA|gra-dliub--)(?:\W|$)|=")
_LISTED = re.compile(r"[;&?][ \t]{0,2}|[ \t]{1,2}[^\s=,(]{1,60}=")
_PAIR_NEXT = re.compile(r"[ \t]{1,2}[\w.-]{1,60}=[^\s=]")
_BRACKET = re.compile(r"[][(){}]")
_LINE_ENDS = re.compile(r"[ \t]*(?:$|[\r\n#])")
_ENDS_HERE = re.compile(r"""[ \t]{0,8}(?:$|[\r\n#|]|//|\\[nrt]|["'`,;})\]])""")
_GOES_ON = re.compile(r"[ \t]{0,3}(?:[+?%]|\|\|?|&&|\bif\b|\bor\b|\bas\b|\.\w|\()")
_DEFAULT = re.compile(r"""-([^\s}"'`$]{1,200})\}""")  # ${DB_PASSWORD:-changeme}
# - name: DB_PASSWORD↵  value: …
_ENTRY = re.compile(
    r"""(?:name|key)["']?[ \t]{0,2}[:=][ \t]{0,2}["']?([\w.-]{2,64})["']?,?\s{0,40}["']?$""",
    re.IGNORECASE,
)
# A line that says who logs in where, above the one with the password.
_USER_ABOVE = re.compile(
    r"""(?:^|\n)[ \t]{0,40}(?:\d{1,6}[→:|\t-][ \t]{0,40})?[-"']{0,2}[\w.-]{0,40}"""
    r"""(?:user(?:name)?|login|e?mail|account|host(?:name)?)["']?[ \t]{0,2}[=:][ \t]{0,2}"""
    r"""["']?[\w.@+-]{1,80}["']?[ \t]{0,4}\n[^\n]{0,60}$""",
    re.IGNORECASE,
)


def assigned(text: str) -> Iterator[Found]:
    """The values of a text that are given to the name of a secret."""
    for sign, hints in _SIGNS:
        if sign in text:
            yield from _after(text, sign, hints)
    if "%5" in text:
        yield from _after(text, "=", _ENCODED)


def kind_of(name: str, value: object) -> str | None:
    """What kind of secret a value is, where it stands alone and has this name."""
    about = named(name)
    if about is None or isinstance(value, bool):
        return None
    if isinstance(value, int):
        return about.kind if about.clear and about.kind == "password" and value > 999 else None
    return about.kind if isinstance(value, str) and literal(value, about) else None


def literal(value: str, about: Named, sure: bool = False) -> bool:
    """A value in quotes, or one that stands alone, is the secret its name promises."""
    value = value[:_LONGEST]
    if len(value) < 3 or not plausible(value) or (reference(value) and not sure):
        return False
    if re.search(r"\s", value):
        return about.kind == "password" and passphrase(value, 2 if sure else 3)
    if about.kind == "password":
        return about.clear or odd(value)
    return _made(value, about, 8)


def _made(value: str, about: Named, least: int) -> bool:
    """Not a word: most tokens and keys are made by a machine."""
    if about.kind == "secret" and (about.clear or about.environment) and len(value) >= 6:
        return plausible(value)
    return not value.isdigit() and (odd(value, least) or random(value))


def _after(text: str, sign: str, hints: re.Pattern[str]) -> Iterator[Found]:
    done = 0
    for hint in hints.finditer(text):
        if hint.start() >= done and (found := _given(text, hint.start(), sign)):
            yield found
            done = found[1]


def _given(text: str, at: int, sign: str) -> Found | None:
    left = _NAME.match(text[max(0, at - 150) : at][::-1])
    about = _about(text, at, left) if left else None
    if left is None or about is None or (sign == ":" and _other_colon(left)):
        return None
    if sign == ":" and left["before"].startswith("{$"):
        found = _DEFAULT.match(text, at + 1)
        good = found is not None and literal(found[1], about)
        return (*found.span(1), about.kind) if found and good else None
    between = (_TYPE.match(text, at + 1) if sign == ":" else None) or _BETWEEN.match(text, at + 1)
    start = between.end() if between else at + 1
    tight = not left["space"] and text[at + 1 : at + 2] not in (" ", "\t")
    plain = sign == "=" and tight and _is_plain(left, about)
    if opened := _OPEN.match(text, start):
        return _quoted(text, opened, about, plain)
    bare = _BARE.match(text, start)
    value = _cut(bare[0], plain or (sign == ":" and not tight)) if bare else ""
    end = start + len(value)
    if plain or (sign == "=" and tight and _PAIR_NEXT.match(text, end)):
        good = _fits_plain(value, about)
    elif sign == ":" and about.environment and about.clear and not (tight or left["close"]):
        good = _LINE_ENDS.match(text, end) is not None and _fits_plain(value, about)
    else:
        good = _fits(text, start, value, about, tight and sign == "=")
    return (start, end, about.kind) if good else None


def _about(text: str, at: int, left: re.Match[str]) -> Named | None:
    name, before = left["name"][::-1], left["before"]
    about = named(name)
    if about is None:
        if name.lower() == "value":
            entry = _ENTRY.search(text[max(0, at - 160) : at - left.end("close") - len("value")])
            return named(entry[1]) if entry else None
        if name.lower() == "pwd" and before.startswith(";"):
            return Named("password", True, False)  # Server=…;Uid=…;Pwd=…
        if name.lower() != "key":
            return None
    # In a sentence the name has more words: "API key: …", "next page token: …".
    word = re.match(r" ([A-Za-z]{2,16})\b", before)
    if word is None:
        return about
    wider = named(f"{word[1][::-1].lower()}_{name}")
    return about and wider if name.lower() == "token" else about or wider


def _other_colon(left: re.Match[str]) -> bool:
    """`password?: string`, `password ::=`, `arn:aws:…:secret:name`."""
    return bool(left["sign"]) or "?" in left["close"] or left["before"].startswith(":")


def _quoted(text: str, opened: re.Match[str], about: Named, plain: bool) -> Found | None:
    quote, start = opened["quote"], opened.end()
    closing = _CLOSING.get(quote, quote)
    end = text.find(closing, start, start + _LONGEST)
    while len(closing) == 1 and 0 < end and text[end - 1] == "\\":
        end = text.find(closing, end + 1, start + _LONGEST)
    if end < 0 or "\n" in text[start:end]:
        return None
    return (start, end, about.kind) if literal(text[start:end], about, plain) else None


def _is_plain(left: re.Match[str], about: Named) -> bool:
    """`NAME=value` where only a value can stand: in a shell, a query, a list of pairs."""
    if left["close"]:
        return "5%" in left["close"]
    if about.environment or left["name"].endswith("-") or _EXPORT.match(left["before"]):
        return True  # the name is read backwards: a flag ends with its dash
    return _LISTED.match(left["before"]) is not None


def _cut(value: str, whole: bool) -> str:
    """A run of signs as far as it is the value."""
    value = re.split(r"[;&|]" if whole else r"[,;&|]", value, maxsplit=1)[0]
    bracket = _BRACKET.search(value)
    if bracket and bracket[0] in ")]}":
        value = value[: bracket.start()]
    return value.rstrip(".,:")


def _fits_plain(value: str, about: Named) -> bool:
    if about.kind == "password":
        return plausible(value) and (about.clear or odd(value))
    return _made(value, about, 6)


def _fits(text: str, start: int, value: str, about: Named, tight: bool) -> bool:
    """Code or a sentence could stand here as well: the value has to look like a secret."""
    end = start + len(value)
    if not plausible(value) or reference(value) or numbered(value) or _GOES_ON.match(text, end):
        return False
    ended = _ENDS_HERE.match(text, end) is not None
    if about.kind != "password":
        if tight and not value.isidentifier() and odd(value, 8) and _LINE_ENDS.match(text, end):
            return True
        return random(value, 12 if ended else 16)
    if not about.clear:
        return ended and not about.environment and "/" not in value and odd(value, 6)
    if odd(value):
        return True
    if value.isdigit():
        return ended and len(value) >= 4 and not about.environment
    return ended and (weak(value) or _beside_user(text, start, end, value))


def _beside_user(text: str, start: int, end: int, value: str) -> bool:
    if len(value) < 6 or not _LINE_ENDS.match(text, end):
        return False
    return _USER_ABOVE.search(text[max(0, start - 260) : start]) is not None
