"""Secrets on a command line: `--password …`, `mysql -p…`, `curl -u user:…`, `sshpass -p …`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from minutebook.derive.patterns import pattern
from minutebook.derive.secret_assignments import literal
from minutebook.derive.secret_names import Named, named
from minutebook.derive.secret_scan import Found, Hint, first
from minutebook.derive.secret_values import (
    numbered,
    odd,
    plausible,
    reference,
    spoken,
    weak,
)

# A short flag that takes a password somewhere, or a long one whose name ends like a secret's.
_ENDS = r"(?i:(?<=word)|(?<=oken)|(?<=cret)|(?<=key)|(?<=pass)|(?<=wd)|(?<=rase)|(?<=user))"
_AFTER_DASH = (
    r"""(?<=[\s"'`\[(,]-)(?=[pPuUawS][ ="'\w$]"""
    rf"""|-?[A-Za-z][A-Za-z-]{{1,40}}+(?<=[rRsSwWeEkK][dDtTnNyYsSeErR]){_ENDS}["']?[ ,])"""
)
_LONG = pattern(
    r"""--?(?P<name>[A-Za-z][A-Za-z-]{1,40})(?:[ \t]{1,4}|["'],[ \t]{0,4}(?=["']))"""
    r"""(?:(?P<quote>["'])(?P<value>[^"'\n-][^"'\n]{0,200})(?P=quote)"""
    r"""|(?P<bare>[^\s"'`\\<>(){}\[\],;|•=-][^\s"'`\\<>;|•=]{0,200}={0,2}))""",
    re.ASCII,
)
_SHORT = pattern(
    r"""-(?P<flag>[pPuUawS])(?:["'],)?(?P<space>[ =]?)["']?"""
    r"""(?P<value>[^\s"'`\\<>;|•-][^\s"'`\\<>|•]{0,200})""",
    re.ASCII,
)
# The flag, whether the password is the next word or glued to it, what stands between a user and
# the password, and the programs.
_PROGRAMS = (
    ("p", False, "", "mysql mysqldump mysqladmin mysqlimport mariadb mariadb-dump sshpass 7z rar"),
    ("p", True, "", "sshpass"),
    ("P", True, "", "unzip zip sqlcmd bcp osql"),
    ("a", True, "", "redis-cli"),
    ("a", True, ":", "http https"),
    ("w", True, "", "ldapsearch ldapmodify ldapadd ldapdelete ldappasswd ldapwhoami"),
    ("u", True, ":", "curl xh"),
    ("u", False, ":", "curl"),
    ("U", True, ":", "curl"),
    ("U", True, "%", "smbclient rpcclient"),
)
_LOGINS = pattern(r"\b(?:docker|podman|buildah|skopeo|nerdctl|az|oc|cf|registry|auth) login\b")
_WORDS = pattern(r"[\w-]+")
_PIPED = pattern(r"""\becho (?:-n )?["']?([^\s"'|•$]{3,100})["']? ?\| ?sudo(?: -\w)* $""")
_USER = pattern(r"[\w.@+\\-]{1,80}")
_BACK = 200
# These give a secret by its name: `docker service create --secret db`.
_BY_NAME = "docker podman nerdctl gcloud kubectl aws fly flyctl vault buildx"
_SAID_BEFORE = pattern(
    r"(?:\b(?:the|an?|our|this|that|your|each|both|no|add(?:s|ed)?|removed?|drop|supports?|documents?"
    r"|needs?|requires?|pass(?:es|ing)?|accepts?|fix(?:es)?|new|via)|,) $",
    re.IGNORECASE,
)
_NEXT_WORD = pattern(r"[ \t]([A-Za-z']{1,16})(?=[.,;:!?)]?(?:\s|$))")


def flag_hints() -> Iterator[Hint]:
    """The dashes of flags that may take a secret."""
    yield Hint("-", first(_long, _short, back=1), _AFTER_DASH)


def _long(text: str, at: int) -> Found | None:
    flag = _LONG.match(text, at)
    if flag and flag["name"] in ("user", "proxy-user"):
        return _user(text, at, flag)
    about = named(flag["name"]) if flag else None
    if flag is None or about is None or not (about.clear or text.startswith("--", at)):
        return None
    if flag["value"] is not None:
        good = literal(flag["value"], about, True)
        listed = "," in text[flag.end("name") : flag.start("value")]  # a call may take words
        good = good or (not listed and _argument(text, at, flag["name"], about, flag["value"]))
        return (*flag.span("value"), about.kind) if good else None
    value, start = flag["bare"].rstrip(".,:)]}"), flag.start("bare")
    good = odd(value, 5 if about.kind == "password" else 8)
    if about.kind == "password":
        good = good or weak(value)
    good = good or (
        _command(text, at, flag.end("name"), start, start + len(value))
        and _argument(text, at, flag["name"], about, value)
    )
    return (start, start + len(value), about.kind) if good else None


def _argument(text: str, at: int, name: str, about: Named, value: str) -> bool:
    """What such a flag takes, though it looks like any word."""
    if not text.startswith("--", at) or len(value) < 4 or value.isdigit():
        return False
    if about.kind == "password":
        if not (about.clear or name in ("pass", "pw")):
            return False
    elif about.kind not in ("token", "secret") and not name.endswith("api-key"):
        return False
    if not plausible(value) or reference(value) or numbered(value) or spoken(value):
        return False
    return about.kind != "secret" or not _runs(_line(text, at), _BY_NAME)


def _command(text: str, at: int, name_end: int, start: int, end: int) -> bool:
    """A flag and a word in a command; in a sentence, the word would be said of the flag."""
    if start - name_end != 1 or _SAID_BEFORE.search(text[max(0, at - 14) : at]):
        return False
    after = _NEXT_WORD.match(text, end)
    return after is None or not spoken(after[1])


def _user(text: str, at: int, flag: re.Match[str]) -> Found | None:
    """curl --user name:…"""
    part = "bare" if flag["value"] is None else "value"
    line = _line(text, at)
    if "•" in line or "curl" not in line:
        return None
    return _taken(flag.start(part), flag[part], ":")


def _short(text: str, at: int) -> Found | None:
    line = _line(text, at)
    if "•" in line:
        return None  # masking makes a line shorter: what was too far away has to stay so
    flag = _SHORT.match(text, at)
    if text.startswith("-S", at):
        piped = _PIPED.search(line)  # echo … | sudo -S
        start = at - len(line) + piped.start(1) if piped else 0
        return (start, start + len(piped[1]), "password") if piped else None
    if flag is None:
        return None
    apart = bool(flag["space"])
    for letter, next_word, mark, programs in _PROGRAMS:
        if flag["flag"] == letter and apart == next_word and _runs(line, programs):
            return _taken(flag.start("value"), flag["value"], mark)
    if flag["flag"] == "p" and apart and "login" in line and _LOGINS.search(line):
        return _taken(flag.start("value"), flag["value"], "")
    return None


def _line(text: str, at: int) -> str:
    """The command so far, also over lines that end with a backslash."""
    return text[max(0, at - _BACK) : at].replace("\\\n", "  ").rpartition("\n")[2]


def _runs(line: str, programs: str) -> bool:
    """A line has one of the programs as a word of its own."""
    there = [program for program in programs.split() if program in line]
    return bool(there) and not set(there).isdisjoint(_WORDS.findall(line))


def _taken(start: int, value: str, mark: str) -> Found | None:
    value = value.rstrip(",;)")
    if mark:
        user, _, value = value.partition(mark)
        if not _USER.fullmatch(user):
            return None
        start += len(user) + len(mark)
    return (start, start + len(value), "password") if plausible(value) else None
