"""Keys and tokens of well-known formats: few false alarms before many finds.

A hint is cheap to look for and ends where an anchor ends (`ghp_`, `://`); only there the patterns
are tried. Every pattern is bounded, or stops for good where its run stops.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import msgspec

from minutebook.derive.patterns import pattern
from minutebook.derive.secret_scan import Candidate, Hint
from minutebook.derive.secret_values import random

_MIXED = pattern(r"[A-Za-z]\d|\d[A-Za-z]|[A-Z]{2}[a-z]|[a-z][A-Z]{2}")
_PIECES = pattern(r"[A-Za-z0-9]{8,}")
_PLACEHOLDER = pattern(
    r"x{5}|example|placeholder|redacted|(?:^|[-_.])(?:your|dummy|sample|fake)(?:[-_.]|$)",
    re.IGNORECASE,
)
_NO_PASSWORD = pattern(
    r"""(?:my|your|the|db|some)?[-_]?(?:pass(?:word|wd|phrase)?|pwd|pw|user(?:name)?|secret|token|
    key|api[-_]?key|change[-_]?me|admin|root|guest|test|example|foo|bar|postgres|mysql|redis|
    redacted|hidden|none|null|x-oauth-basic|x-token-auth|port)|
    x+|\W+|_+|\$[\w(].*|%s|%\(.*|%\w+%|:.*|\d{2,5}[,;&|)].*|.*(?:…|\.\.\.|\*\*\*).*""",
    re.IGNORECASE | re.VERBOSE,
)


def _random(found: re.Match[str]) -> bool:
    """Not words, not a placeholder: a piece of it mixes letters, digits and cases."""
    own = found["own"]
    if len(set(own)) < 8 or _PLACEHOLDER.search(own):
        return False
    if len(_MIXED.findall(own)) > 1:
        return True
    return any(_MIXED.search(piece) for piece in _PIECES.findall(own))


def _sure(found: re.Match[str]) -> bool:
    return not found["own"].endswith("EXAMPLE")


def _base64(found: re.Match[str]) -> bool:
    own = found["own"]
    return own.lower() != own and own.upper() != own and not own[1:].islower()


def _password(found: re.Match[str]) -> bool:
    own = found["own"]
    if own == found["user"] or _NO_PASSWORD.fullmatch(own) or _PLACEHOLDER.search(own):
        return False
    return not (own.replace("_", "").isalpha() and own.isupper())


def _token(found: re.Match[str]) -> bool:
    """Made by a machine, or with a beginning that only tokens have: nobody's user name."""
    own = found["own"]
    if _PLACEHOLDER.search(own):
        return False
    return random(own, 20) or own.startswith(_BEGINNINGS)


# A key does not begin inside a word; after a literal \n, %3D or a colour it does.
_AFTER = r"|(?<=\\[nrt])|(?<=%[0-9A-F]{2})|(?<=\[0m)|(?<=\[\d\dm))"
_START = rf"(?:(?<![A-Za-z0-9]){_AFTER}"
_END = r"(?![A-Za-z0-9_])"

# kind, anchors, what else of it is well known, what is its own
_KEYS = (
    ("Anthropic key", "sk-", r"ant-(?:[a-z]{2,8}\d\d-)?", r"[\w-]{20,300}"),
    ("OpenRouter key", "sk-", "or-v1-", r"[0-9a-f]{64}"),
    ("OpenAI key", "sk-", "(?:proj|svcacct|admin|None)-", r"[\w-]{32,300}"),
    ("OpenAI key", "sk-", "", r"[\w-]{16,80}?T3BlbkFJ[\w-]{16,80}"),
    ("OpenAI key", "sk-", "", r"[A-Za-z0-9]{32,64}" + _END),
    ("GitLab token", "glpat-", "", r"[\w-]{20,300}(?:\.[0-9a-z]{2}\.[0-9a-z]{9})?"),
    ("Slack token", "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs-", "", r"[A-Za-z0-9-]{20,300}"),
    ("Slack token", "xapp-", "", r"\d-[A-Za-z0-9-]{20,300}"),
    ("xAI key", "xai-", "", r"[A-Za-z0-9]{60,120}" + _END),
    ("PyPI token", "pypi-", "AgE", r"[\w-]{50,1000}"),
    ("Google secret", "GOCSPX-", "", r"[\w-]{28}" + _END),
    ("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", "", r"[A-Za-z0-9]{36,255}"),
    ("GitHub token", "github_pat_", "", r"[A-Za-z0-9]{22}_[A-Za-z0-9]{40,100}"),
    ("Stripe key", "sk_live_ rk_live_ sk_test_ rk_test_", "", r"[A-Za-z0-9]{16,250}"),
    ("npm token", "npm_", "", r"[A-Za-z0-9]{36}" + _END),
    ("Hugging Face token", "hf_", "", r"[A-Za-z0-9]{34,40}" + _END),
    ("DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", "", r"[0-9a-f]{64}"),
    ("Groq key", "gsk_", "", r"[A-Za-z0-9]{40,64}" + _END),
    ("Replicate token", "r8_", "", r"[A-Za-z0-9]{37,40}" + _END),
    ("Shopify token", "shpat_ shpca_ shppa_ shpss_", "", r"[0-9a-fA-F]{32}" + _END),
    ("Linear key", "lin_api_", "", r"[A-Za-z0-9]{40}" + _END),
    ("Notion token", "ntn_", "", r"[A-Za-z0-9]{43,50}" + _END),
    ("Notion token", "secret_", "", r"[A-Za-z0-9]{43}" + _END),
    ("Vercel token", "vercel_blob_rw_", "", r"[A-Za-z0-9]{16}_[A-Za-z0-9]{28,40}" + _END),
    ("Fly token", "fm2_", "", r"[A-Za-z0-9+/]{60,3000}={0,2}"),
    ("Supabase token", "sbp_", "", r"[0-9a-f]{40}" + _END),
    ("SendGrid key", "SG.", "", r"[\w-]{22}\.[\w-]{43}(?![\w-])"),
    ("Google token", "ya29.", "", r"[\w-]{20,2000}"),
    ("Google key", "AIza", "", r"[\w-]{35}" + _END),
    ("Databricks token", "dapi", "", r"[0-9a-f]{32}(?:-\d{1,2})?" + _END),
)

_BEGINNINGS = tuple(anchor for _, anchors, *_ in _KEYS for anchor in anchors.split())

_ASSIGN = r"""["'\]\\]{0,4}\s{0,4}(?:=>|[:=,])\s{0,4}[bf]?["'\\]{0,4}"""
_AWS = rf"{_ASSIGN}(?P<own>[A-Za-z0-9/+]{{40}})(?![A-Za-z0-9/+=])"
_BASE64 = r"(?:[A-Za-z0-9+/]{4}){2,500}(?:[A-Za-z0-9+/]{2,3}={1,2})?"

# kind, anchor, a pattern that begins with the anchor and says what is secret, what must hold of it
_PHRASES = (
    (
        "JWT",
        "eyJ",
        rf"(?:(?<![\w-]){_AFTER}(?P<own>eyJ[\w-]{{8,}}+\.eyJ[\w-]{{8,}}+\.[\w-]{{16,}}+)",
        _sure,
    ),
    ("AWS key id", "AKIA ASIA", rf"{_START}(?P<own>A[KS]IA[A-Z2-7]{{16}}){_END}", _sure),
    ("AWS secret key", "ecret_access_key", "ecret_access_key" + _AWS, _random),
    ("AWS secret key", "ECRET_ACCESS_KEY", "ECRET_ACCESS_KEY" + _AWS, _random),
    ("AWS secret key", "ecretAccessKey", "ecretAccessKey" + _AWS, _random),
    (
        "Slack webhook",
        "hooks.slack.com/",
        r"hooks\.slack\.com/\w{5,20}/(?P<own>[\w/]{20,200})",
        _random,
    ),
    (
        "Discord webhook",
        "/api/webhooks/",
        r"/api/webhooks/\d{15,22}/(?P<own>[\w-]{50,100})(?![\w-])",
        _random,
    ),
    ("Telegram bot token", ":AA", r"(?<=\d{8}):(?P<own>AA[\w-]{33})(?![\w-])", _random),
    (
        "bearer token",
        "uthorization",
        rf"uthorization{_ASSIGN}(?i:bearer|token)\s{{1,4}}(?P<own>[\w.~+/=|-]{{16,}}+)",
        _random,
    ),
    (
        "basic credentials",
        "uthorization",
        rf"uthorization{_ASSIGN}(?i:basic)\s{{1,4}}(?P<own>{_BASE64})(?![\w+/=-])",
        _base64,
    ),
    (
        "password in a URL",
        "://",
        r"""(?<=[A-Za-z])://(?P<user>[^\s/:@?#"'`<>\\()\[\]{}^|*]{0,100}):"""
        r"""(?P<own>[^\s/?"'`<>\\{}]{1,200})@(?!sha\d)[\w\[$%{<]""",
        _password,
    ),
    (
        "token in a URL",
        "://",
        r"""(?<=[A-Za-z])://(?P<own>[^\s/:@?#"'`<>\\()\[\]{}^|*]{16,400})"""
        r"""(?::(?:x-oauth-basic)?)?@[\w\[]""",
        _token,
    ),
)

# How anchors are looked for: the sign, what has to hold around it, the anchors that end there.
_HINTS = (
    ("_", r"(?=[A-Za-z0-9+/]{16})", r"\w+_"),
    ("_", r"access_key|ACCESS_KEY", r"(?i:ecret_access_key)"),
    ("-", r"(?<=[ktabeoprsiX]-)(?=[\w-]{16})", r"\w+-"),
    (":", r"//(?=[^\s/?]{1,301}@)|AA", r":.."),
    ("A", r"KIA|SIA|Iza|ccessKey", r"A...|ecretAccessKey"),
    ("G", r"(?<=SG)\.", r"SG\."),
    ("9", r"(?<=ya29)\.", r"ya29\."),
    ("J", r"(?<=eyJ)", r"eyJ"),
)  # the others are looked for as they are

_PEM_BEGIN = pattern(r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_PEM_END = pattern(r"-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_PEM_MATERIAL = pattern(r"[A-Za-z0-9+/]{32}")
_PEM_GAP = r"""(?:\\+[nrt]|\d{1,6}[→:|\t]|[\s"'`,|>#*+])"""
# Only runs of one class are possessive: Python before 3.11.5 errs with groups.
# Without an END line: lines of material, with what quoting, numbering or escaping puts between.
_PEM_OPEN = pattern(
    rf"(?:{_PEM_GAP}{{0,40}}(?:(?:Proc-Type|DEK-Info|Version|Comment):[^\n\\]{{0,100}}+"
    rf"|[A-Za-z0-9+/=]{{16,}}+))*(?:{_PEM_GAP}{{1,40}}[A-Za-z0-9+/]{{1,15}}+(?:={{1,2}}|\Z))?"
)
_PEM_LONGEST = 20_000


_COOKIES = pattern(rf"ookie{_ASSIGN}(?=[\w.$-]{{1,80}}=)", re.ASCII)
_COOKIE = pattern(
    r"""[\w.$-]{1,80}=(?P<own>[^\s;,"'\\`<>(){}$&•\x00-\x1f]{0,4000})"""
    r"""(?:;[ ]?(?=[\w.$-]{1,80}=))?""",
    re.ASCII,
)


def beginning(secret: str, kind: str) -> str:
    """The part of a key that everybody knows: `ghp_`."""
    found = (
        re.match(f"(?:{_either(anchors)}){more}", secret)
        for name, anchors, more, _ in _KEYS
        if name == kind
    )
    return next((match[0] for match in found if match), "")


class _Rule(msgspec.Struct, frozen=True):
    rank: int  # of two kinds for one place, the lower is shown
    kind: str
    anchors: tuple[str, ...]  # all of one length
    pattern: re.Pattern[str]
    holds: Callable[[re.Match[str]], bool]
    part: str | int  # the group that is secret


def key_hints() -> Iterator[Hint]:
    """Where the anchors are, and what to try there."""
    rows: list[tuple[str, str, str, Callable[[re.Match[str]], bool], str | int]] = [
        (kind, anchors, f"{_START}(?:{_either(anchors)}){more}(?P<own>{own})", _random, 0)
        for kind, anchors, more, own in _KEYS
    ]
    rows += [(*row, "own") for row in _PHRASES]
    groups: dict[tuple[str, str], list[_Rule]] = {}
    for rank, (kind, anchors, source, holds, part) in enumerate(rows, 1):
        words = tuple(anchors.split())
        shared = ((s, around) for s, around, ending in _HINTS if re.fullmatch(ending, words[0]))
        rule = _Rule(rank, kind, words, pattern(source, re.ASCII), holds, part)
        groups.setdefault(next(shared, (words[0], "")), []).append(rule)
    for (sign, around), rules in groups.items():
        behind = _behind(rules) if around.endswith("16})") else ""
        yield Hint(sign, partial(_read, tuple(rules)), around + behind)
    yield Hint("-", _read_pem, "BEGIN (?<=-----BEGIN )")
    yield Hint("ookie", partial(_read_cookies, len(rows) + 1))


def _behind(rules: Sequence[_Rule]) -> str:
    """The anchors, behind a hint that many other things have."""
    lengths: dict[int, list[str]] = {}
    for anchor in dict.fromkeys(anchor for rule in rules for anchor in rule.anchors):
        lengths.setdefault(len(anchor), []).append(re.escape(anchor))
    each = ("|".join(some) for some in lengths.values())
    return f"(?:{'|'.join(f'(?<={some})' for some in each)})"


def _read(rules: tuple[_Rule, ...], text: str, end: int) -> Iterator[Candidate]:
    for rule in rules:
        if text.endswith(rule.anchors, 0, end):
            found = rule.pattern.match(text, end - len(rule.anchors[0]))
            if found and rule.holds(found):
                yield found.start(rule.part), rule.rank, found.end(rule.part), rule.kind


def _read_pem(text: str, end: int) -> Iterator[Candidate]:
    begin = _PEM_BEGIN.match(text, end - len("-----BEGIN "))
    stop = _pem_end(text, begin.end()) if begin else None
    if begin and stop is not None:
        yield begin.start(), 0, stop, "private key"


def _read_cookies(rank: int, text: str, end: int) -> Iterator[Candidate]:
    """`Cookie: theme=dark; session=…`: values that a machine made."""
    begin = _COOKIES.match(text, end - len("ookie"))
    cookie = _COOKIE.match(text, begin.end()) if begin else None
    while cookie:
        own = cookie["own"]
        if len(own) >= 16 and _random(cookie) and not own.endswith("..."):  # cut when printed
            yield cookie.start("own"), rank, cookie.end("own"), "cookie"
        cookie = _COOKIE.match(text, cookie.end()) if cookie[0].endswith((";", " ")) else None


def _either(words: str) -> str:
    return "|".join(re.escape(word) for word in words.split())


def _pem_end(text: str, at: int) -> int | None:
    dashes = text.find("-----", at, at + _PEM_LONGEST)
    closed = _PEM_END.match(text, dashes) if dashes >= 0 else None
    if closed:
        return closed.end() if _PEM_MATERIAL.search(text, at, dashes) else None
    material = _PEM_OPEN.match(text, at)
    end = material.end() if material else at
    return end if _PEM_MATERIAL.search(text, at, end) else None
