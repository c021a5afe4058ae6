"""Secrets that are given to a name: `PGPASSWORD=…`, `"client_secret": "…"`, `password: …`.

From the sign of an assignment the name is read backwards and the value forwards. Both are
bounded, so a text takes time in proportion to its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from minutebook.derive.patterns import pattern
from minutebook.derive.secret_ends import FIRST, late, rest, soon, without_calls
from minutebook.derive.secret_forms import LOGIN, user_and_password
from minutebook.derive.secret_names import Named, named
from minutebook.derive.secret_scan import Found, Hint, first
from minutebook.derive.secret_signs import around
from minutebook.derive.secret_values import (
    numbered,
    odd,
    passphrase,
    plausible,
    random,
    reference,
    weak,
)

# Read backwards from the sign: what closes the name, the name, what stands before it.
_NAME = pattern(
    r"""(?P<sign>[:+?|]{0,2})(?P<space>[ \t]{0,12})(?P<close>(?:[dD]5%|["'\]\\?*`]){0,6})"""
    r"""(?P<name>[\w-]{2,64})(?P<before>[^\n]{0,64})""",
    re.ASCII,
)
_TYPE = pattern(r"""[ \t]?[A-Za-z_&][\w.:<>\[\]|&? ']{0,40}?[ \t]?=[ \t]?(?=["'`])""")
_BETWEEN = pattern(r">?(?P<space>[ \t]{0,8})\*{0,2}[ \t]?")
_OPEN = pattern(r"""[bBrRuUfFL@$]{0,2}(?P<quote>\\{0,3}["'`]|%22|[“„«「])""")
_CLOSING = {"“": "”", "„": "“", "«": "»", "「": "」"}
_LONGEST = 4_000
_JUDGED = 64  # so many signs of a value say what it is

_EXPORT = pattern(r"[ \t]{1,3}(?:tropxe|VNE|vne--|e-|tes|xtes|GRA|gra-dliub--)(?:\W|$)|=")
_LISTED = pattern(r"[;&?][ \t]{0,2}|[ \t]{1,2}[^\s=,(]{1,60}=")
_PAIR_NEXT = pattern(r"[ \t]{1,2}[\w.-]{1,60}=[^\s=]")
_QUERY = pattern(r"""[^\s"'`;]{0,64}?[&?]""")
_DIGIT, _CODE_END = pattern(r"\d"), pattern(r"[)\]}]|://")
_FIRST_ON_LINE = pattern(r"[ \t]*(?:$|\n)")
_LINE_ENDS = pattern(r"[ \t]*(?:$|[\r\n#])")
_ENDS_HERE = pattern(r"""[ \t]{0,8}(?:$|[\r\n#|]|//|\\[nrt]|["'`,;})\]])""")
_GOES_ON = pattern(r"[ \t]{0,3}(?:[+?%]|\|\|?|&&|\bif\b|\bor\b|\bas\b|\.\w|\()")
_NESTED = pattern(r"([A-Za-z_][\w-]{0,40}+)=[^=\s]", re.ASCII)
_DEFAULT = pattern(r"""-([^\s}"'`$]{1,200})\}""")  # ${DB_PASSWORD:-changeme}
# - name: DB_PASSWORD↵  value: …
_ENTRY = pattern(
    r"""(?:name|key)["']?[ \t]{0,2}[:=][ \t]{0,2}["']?([\w.-]{2,64})["']?,?\s{0,40}["']?$""",
    re.IGNORECASE,
)
# A line that says who logs in where, above the one with the password.
_USER_ABOVE = pattern(
    r"""(?:^|\n)[ \t]{0,40}(?:\d{1,6}[→:|\t-][ \t]{0,40})?[-"']{0,2}[\w.-]{0,40}"""
    r"""(?:user(?:name)?|login|e?mail|account|host(?:name)?)["']?[ \t]{0,2}[=:][ \t]{0,2}"""
    r"""["']?[\w.@+-]{1,80}["']?[ \t]{0,4}\n[^\n]{0,60}$""",
    re.IGNORECASE,
)


def assignment_hints() -> Iterator[Hint]:
    """The signs of assignments whose name can be that of a secret."""
    for sign in "=:":
        yield Hint(sign, first(_given, back=1), around(sign))


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
    value = value[:_JUDGED]
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
    return odd(value, least) or (not value.isdigit() and random(value))


class _Place(msgspec.Struct, frozen=True):
    """How a value without quotes is assigned."""

    about: Named
    sign: str
    tight: bool  # without blanks around the sign
    plain: bool  # where only a value can stand
    closed: bool  # the name is in quotes or brackets
    listed: str  # in a query or a row of pairs: the sign that separates them
    first: bool  # nothing stands before the name on its line


def _given(text: str, at: int) -> Found | None:
    left = _NAME.match(text[max(0, at - 150) : at][::-1])
    if left is None:
        return None
    about, sign = _about(text, at, left), text[at]
    if about is None:
        return user_and_password(text, at + 1) if LOGIN.fullmatch(left["name"][::-1]) else None
    if sign == ":" and _other_colon(left):
        return None
    if sign == ":" and left["before"].startswith("{$"):
        found = _DEFAULT.match(text, at + 1)
        return _if(found, found is not None and literal(found[1], about), about)
    start = _begin(text, at, sign)
    tight = not left["space"] and text[at + 1 : at + 2] not in (" ", "\t")
    plain = sign == "=" and tight and _is_plain(left, about)
    if opened := _OPEN.match(text, start):
        return _quoted(text, opened, about, plain)
    before = left["before"]
    query = "5%" in left["close"] or _QUERY.match(before) is not None
    listed = "&" if query else ";" if before.startswith(";") else ""
    first = tight and sign == "=" and _FIRST_ON_LINE.fullmatch(before) is not None
    return _bare(text, start, _Place(about, sign, tight, plain, bool(left["close"]), listed, first))


def _begin(text: str, at: int, sign: str) -> int:
    """Where the value begins; after a type, where there is one: `password: str = "…"`."""
    typed = None
    if sign == ":" and "=" in text[at + 2 : at + 46]:
        typed = _TYPE.match(text, at + 1)
    between = typed or _BETWEEN.match(text, at + 1)
    return between.end() if between else at + 1


def _about(text: str, at: int, left: re.Match[str]) -> Named | None:
    name, before = left["name"][::-1], left["before"]
    if before.startswith("\\") and name[0] in "nrt" and named(name[1:]):
        name, before = name[1:], ""  # a line break or a tab, as it is written in a string
    about = named(name)
    if about is None:
        short = name.lower()
        if short == "value":
            return _entry(text[max(0, at - 160) : at - left.end("close") - len("value")])
        if short == "pwd" and before.startswith(";"):
            return Named("password", True, False)  # Server=…;Uid=…;Pwd=…
        if short != "key":
            return None
    # In a sentence the name has more words: "API key: …" is a key, "next page token: …" is none.
    word = re.match(r" ([A-Za-z]{2,16})\b", before)
    if word is None:
        return about
    wider = named(f"{word[1][::-1].lower()}_{name}")
    if about and about.kind == "token":
        return about if wider else None
    return about or wider


def _entry(before: str) -> Named | None:
    """The name that an entry says above its value."""
    if "name" not in before and "key" not in before:
        return None
    entry = _ENTRY.search(before)
    return named(entry[1]) if entry else None


def _other_colon(left: re.Match[str]) -> bool:
    """`password?: string`, `password ::=`, `arn:aws:…:secret:name`."""
    return bool(left["sign"]) or "?" in left["close"] or left["before"].startswith(":")


def _quoted(text: str, opened: re.Match[str], about: Named, plain: bool) -> Found | None:
    quote, start = opened["quote"], opened.end()
    closing = _CLOSING.get(quote, quote)
    end = text.find(closing, start, start + _LONGEST)
    for _ in range(8):  # quotes in quotes, but not without end
        if len(closing) > 1 or end <= start or text[end - 1] != "\\":
            break
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


def _bare(text: str, start: int, place: _Place) -> Found | None:
    about = place.about
    if about.environment and not about.clear and place.sign == ":":
        return None  # --- PASS: TestIt
    nested = _NESTED.match(text, start)
    if nested and (named(nested[1]) or not odd(nested[1])):
        return None  # token=password=…: that is for the next sign to say
    whole = place.plain or (place.sign == ":" and not place.tight)
    value = soon(text, start, whole)
    good = _judged(text, start, value, place)
    longer = ""
    if (whole or place.first) and place.listed != "&":
        longer = late(text, start, not about.environment)
        longer = longer.partition(";")[0] if place.listed else longer
    amid = len(longer) > len(value)
    if len(longer) >= len(value) > 0 and (whole or _LINE_ENDS.match(text, start + len(longer))):
        good = good or _judged_longer(text, start, longer, place)
        value = longer
    end = start + len(value)
    if good and len(value) == FIRST:
        end = rest(text, end, amid)
    return (start, end, about.kind) if good else None


def _judged(text: str, start: int, whole: str, place: _Place) -> bool:
    value, end = whole[:_JUDGED], start + len(whole)
    if _only_values(text, end, place):
        return _fits_plain(value, place.about)
    return _fits(text, start, end, value, place)


def _judged_longer(text: str, start: int, whole: str, place: _Place) -> bool:
    """A value with signs in it that could as well be those of code."""
    about = place.about
    if about.environment and about.clear and _LINE_ENDS.match(text, start + len(whole)):
        called = whole[-1] in "()[]{}" or not odd(re.split(r"[(\[{]", whole)[0], 3)
        return _judged(text, start, whole if called else without_calls(whole), place)
    value = place.plain or (_DIGIT.search(whole) and not _CODE_END.search(whole))
    return bool(value) and _judged(text, start, whole, place)


def _only_values(text: str, end: int, place: _Place) -> bool:
    """Neither code nor a sentence stands here."""
    if place.sign == "=":
        return place.plain or (place.tight and _PAIR_NEXT.match(text, end) is not None)
    if place.tight or place.closed or not (place.about.environment and place.about.clear):
        return False
    return _LINE_ENDS.match(text, end) is not None  # DB_PASSWORD: …, in YAML


def _fits_plain(value: str, about: Named) -> bool:
    if about.kind == "password":
        return plausible(value) and (about.clear or odd(value))
    return _made(value, about, 6)


def _fits(text: str, start: int, end: int, value: str, place: _Place) -> bool:
    """Code or a sentence could stand here as well: the value has to look like a secret."""
    about, ended = place.about, _ENDS_HERE.match(text, end) is not None
    if not about.clear and about.kind == "password":
        # Where the name says little, the value has to say it all.
        if about.environment or not ended or "/" in value or numbered(value):
            return False
        return odd(value, 6) and not reference(value)
    if reference(value) or numbered(value) or _GOES_ON.match(text, end):
        return False
    if about.kind != "password":
        tight = place.sign == "=" and place.tight and not value.isidentifier()
        if tight and _LINE_ENDS.match(text, end) and odd(value, 8):
            return True
        return random(value, 12 if ended else 16)
    if odd(value):
        return True
    if not ended or not plausible(value):
        return False
    if value.isdigit():
        return len(value) >= 4 and not about.environment
    return weak(value) or _beside_user(text, start, end, value)


def _beside_user(text: str, start: int, end: int, value: str) -> bool:
    if len(value) < 6 or not _LINE_ENDS.match(text, end):
        return False
    return _USER_ABOVE.search(text[max(0, start - 260) : start]) is not None


def _if(found: re.Match[str] | None, good: bool, about: Named) -> Found | None:
    return (*found.span(1), about.kind) if found and good else None
