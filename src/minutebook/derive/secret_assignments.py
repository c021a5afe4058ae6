"""Secrets that are given to a name: `PGPASSWORD=…`, `"client_secret": "…"`, `password: …`.

The hints are the signs of an assignment where the letters before them can end the name of a
secret; only there the name is read (backwards) and the value (forwards). Both are bounded, so a
text takes time in proportion to its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from minutebook.derive.secret_names import Named, named
from minutebook.derive.secret_pairs import LOGIN, pair_after
from minutebook.derive.secret_scan import Found, Hint, first
from minutebook.derive.secret_values import (
    numbered,
    odd,
    passphrase,
    plausible,
    random,
    reference,
    weak,
)

# The last letters of password, Passwort, secret, token, key, pass, passwd, passphrase, passcode,
# key_base: first a coarse look at three, then the word itself.
_COARSE = r"[oOsSpPrRkKaA][rRwWeEsSdD]", r"[dDtTnNyYsSeE]"
_WORDS = (
    *(r"[wW][oO][rR][dDtT]", r"[cC][rR][eE][tT]", r"[oO][kK][eE][nN]", r"[kK][eE][yY]"),
    *(r"[pP]ass", r"\wPASS", r"[sSpP][wW][dD]", r"[rR][aA][sS][eE]", r"[sS][cC][oO][dD][eE]"),
    *(r"[yY]_[bB][aA][sS][eE]", r"eyBase"),
)
_CLOSE = r"""["'\] \\*`:?]"""
# An entry with a name has a `value`; people have a login, and credentials; user%5Bpassword%5D=
_OTHERS = ("alue", "ogin", "tials", "creds", "%5[dD]")
# Variables whose names go on: `DB_PASSWORD_PROD`, `API_KEY_2`.
_TAILS = ("_PROD", "_DEV", "_TEST", "_STAGING", "_LIVE", "_LOCAL", "_DEFAULT", "PASS", r"[_DYN]\d")


def assignment_hints() -> Iterator[Hint]:
    """The signs of assignments whose name can be that of a secret."""
    tails = "|".join(f"(?<={tail}=)" for tail in _TAILS)
    for sign, more in (("=", rf"|(?<=[A-Z_][A-Z\d]=)(?:{tails})"), (":", "")):
        yield Hint(sign, first(_given, back=1), rf"(?![{sign}~=])(?:{_ended(sign)}{more})")


def _ended(sign: str) -> str:
    def behind(words: Iterable[str], closed: str = "") -> str:
        return "|".join(f"(?<={word}{closed}{sign})" for word in words)

    two, last = _COARSE
    closed = [rf"{_CLOSE}{{{count}}}" for count in range(1, 5)]
    quoted = "|".join(f"(?<={two}{last}{c}{sign})(?:{behind(_WORDS, c)})" for c in closed)
    return (
        f"(?<={last}{sign})(?:(?<={two}.{sign})(?:{behind(_WORDS)})|{behind(_OTHERS)})"
        f"|(?<={_CLOSE}{sign})(?:{quoted}|(?<=alue.{sign}))"
    )


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
_RUN = r"""[^\s\x00-\x1f\x7f"'`\\<>•“”]"""
_BARE, _REST = re.compile(_RUN + "{1,200}"), re.compile(_RUN + "{0,2000}")
_LONGEST = 4_000
_JUDGED = 64  # so many signs of a value say what it is

_EXPORT = re.compile(r"[ \t]{1,3}(?:tropxe|VNE|vne--|e-|tes|xtes|GRA|gra-dliub--)(?:\W|$)|=")
_LISTED = re.compile(r"[;&?][ \t]{0,2}|[ \t]{1,2}[^\s=,(]{1,60}=")
_PAIR_NEXT = re.compile(r"[ \t]{1,2}[\w.-]{1,60}=[^\s=]")
_STOPS, _STOPS_SOONER = re.compile(r"[;&|\][(){}]"), re.compile(r"[,;&|\][(){}]")
_SEPARATES, _SEPARATES_SOONER = re.compile(r"[;&|]"), re.compile(r"[,;&|]")
_LINE_ENDS = re.compile(r"[ \t]*(?:$|[\r\n#])")
_ENDS_HERE = re.compile(r"""[ \t]{0,8}(?:$|[\r\n#|]|//|\\[nrt]|["'`,;})\]])""")
_GOES_ON = re.compile(r"[ \t]{0,3}(?:[+?%]|\|\|?|&&|\bif\b|\bor\b|\bas\b|\.\w|\()")
_NESTED = re.compile(r"[A-Za-z_][\w-]{0,40}+=[^=\s]", re.ASCII)
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


def _given(text: str, at: int) -> Found | None:
    sign = text[at]
    left = _NAME.match(text[max(0, at - 150) : at][::-1])
    about = _about(text, at, left) if left else None
    if left and about is None and LOGIN.fullmatch(left["name"][::-1]):
        return pair_after(text, at + 1)
    if left is None or about is None or (sign == ":" and _other_colon(left)):
        return None
    if sign == ":" and left["before"].startswith("{$"):
        found = _DEFAULT.match(text, at + 1)
        good = found is not None and literal(found[1], about)
        return (*found.span(1), about.kind) if found and good else None
    typed = sign == ":" and "=" in text[at + 2 : at + 46]  # password: str = "…"
    between = (typed and _TYPE.match(text, at + 1)) or _BETWEEN.match(text, at + 1)
    start = between.end() if between else at + 1
    tight = not left["space"] and text[at + 1 : at + 2] not in (" ", "\t")
    plain = sign == "=" and tight and _is_plain(left, about)
    if opened := _OPEN.match(text, start):
        return _quoted(text, opened, about, plain)
    if about.environment and not about.clear and sign == ":":
        return None  # --- PASS: TestIt
    if _NESTED.match(text, start):
        return None  # token=password=…: that is for the next sign to say
    bare = _BARE.match(text, start)
    whole = _cut(bare[0], plain or (sign == ":" and not tight)) if bare else ""
    value, end = whole[:_JUDGED], start + len(whole)
    if plain or (sign == "=" and tight and _PAIR_NEXT.match(text, end)):
        good = _fits_plain(value, about)
    elif sign == ":" and about.environment and about.clear and not (tight or left["close"]):
        good = _LINE_ENDS.match(text, end) is not None and _fits_plain(value, about)
    else:
        good = _fits(text, start, end, value, about, tight and sign == "=")
    if good and len(whole) == 200 and (rest := _REST.match(text, end)):
        end = rest.end()
    return (start, end, about.kind) if good else None


def _about(text: str, at: int, left: re.Match[str]) -> Named | None:
    name, before = left["name"][::-1], left["before"]
    if before.startswith("\\") and name[0] in "nrt":
        name, before = name[1:], ""  # a line break, as it is written in a string
    about = named(name)
    if about is None:
        short = name.lower()
        if short == "value":
            return _entry(text[max(0, at - 160) : at - left.end("close") - len("value")])
        if short == "pwd" and before.startswith(";"):
            return Named("password", True, False)  # Server=…;Uid=…;Pwd=…
        if short != "key":
            return None
    # In a sentence the name has more words: "API key: …", "next page token: …".
    word = re.match(r" ([A-Za-z]{2,16})\b", before)
    if word is None:
        return about
    wider = named(f"{word[1][::-1].lower()}_{name}")
    return about and wider if name.lower() == "token" else about or wider


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


def _cut(value: str, whole: bool) -> str:
    """A run of signs as far as it is the value."""
    stop = (_STOPS if whole else _STOPS_SOONER).search(value)
    if stop and stop[0] in "([{":
        stop = (_SEPARATES if whole else _SEPARATES_SOONER).search(value)
    return (value[: stop.start()] if stop else value).rstrip(".,:")


def _fits_plain(value: str, about: Named) -> bool:
    if about.kind == "password":
        return plausible(value) and (about.clear or odd(value))
    return _made(value, about, 6)


def _fits(text: str, start: int, end: int, value: str, about: Named, tight: bool) -> bool:
    """Code or a sentence could stand here as well: the value has to look like a secret."""
    ended = _ENDS_HERE.match(text, end) is not None
    if not about.clear and about.kind == "password":
        # Where the name says little, the value has to say it all.
        if about.environment or not ended or "/" in value or numbered(value):
            return False
        return odd(value, 6) and not reference(value)
    if reference(value) or numbered(value) or _GOES_ON.match(text, end):
        return False
    if about.kind != "password":
        if tight and not value.isidentifier() and _LINE_ENDS.match(text, end) and odd(value, 8):
            return True
        return random(value, 12 if ended else 16)
    if odd(value):
        return True
    if not plausible(value):
        return False
    if value.isdigit():
        return ended and len(value) >= 4 and not about.environment
    return ended and (weak(value) or _beside_user(text, start, end, value))


def _beside_user(text: str, start: int, end: int, value: str) -> bool:
    if len(value) < 6 or not _LINE_ENDS.match(text, end):
        return False
    return _USER_ABOVE.search(text[max(0, start - 260) : start]) is not None
