"""What the name of a variable, a field or a flag says: that a secret follows, and of what kind.

Names are compared word by word, whatever joins the words: `dbPassword`, `DB_PASSWORD` and
`db-password` are one name.
"""

from __future__ import annotations

from functools import lru_cache

import msgspec

from minutebook.derive.patterns import pattern


class Named(msgspec.Struct, frozen=True):
    """What a name says about its value."""

    kind: str
    clear: bool  # hardly anything but a secret has this name: `client_secret`, not `pass`
    environment: bool  # written like a variable of the environment: `PGPASSWORD`


_WORDS = pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_ENVIRONMENT = pattern(r"[A-Z][A-Z0-9_]*[A-Z][A-Z0-9_]*")

# Words after the one that matters: `DB_PASSWORD_PROD`, `secretKeyBase`, `password2`.
_TAILS = frozenset(
    "base prod production dev development test testing stage staging live local default value "
    "plain plaintext raw old new confirm confirmation confirmed again repeat repeated".split()
)
_PASSWORDS = frozenset(
    "password passwd passphrase passcode passwort kennwort passwrd motdepasse contrasena".split()
)
# Also names of other things: a pass over data, the working directory.
_SHORT = frozenset("pass pwd pw mdp".split())
_NOT_PASS = pattern(r".*(?:com|by|tres|sur|over|under|encom|multi|single|one|two)pass")
_ACCOUNTS = frozenset(
    "db database user usr admin root my mysql maria mariadb pg postgres postgresql sql mssql sa "
    "oracle mongo mongodb redis rabbit rabbitmq amqp mq kafka elastic smtp imap pop mail email ftp "
    "sftp ssh ssl tls http https proxy basic auth login account acct ldap bind samba smb vnc rdp "
    "wifi wlan sudo become ansible vault keystore truststore store key keychain cert certificate "
    "p12 pfx jdbc hub docker registry svn git github gitlab jenkins nexus sonar minio app api "
    "client server master host default initial temp tmp require".split()
)
# What stands before `key` where the key is one to keep.
_KEYS = frozenset(
    "api access private secret encryption encrypt decryption signing sign auth master account "
    "subscription consumer admin hmac aes cipher fernet crypt crypto jwt webhook shared deploy "
    "license licence service openai anthropic stripe sendgrid mailgun twilio app application "
    "client server functions rest ingest write".split()
)
_SURE_KEYS = frozenset("api secret access private encryption signing".split())
# A name that begins so is about a secret, or about something else: `show_password`, `pad_token`.
_ABOUT = frozenset(
    "no has have is are was show hide see forgot forget forgotten lost reset change require "
    "requires required needs need use uses using toggle enable enabled disable disabled invalid "
    "valid wrong incorrect missing bad empty min max num number total count per n hash hashed "
    "encrypted encode encoded masked redacted verify validate check generate get fetch read load "
    "err error public skip allow should can with without existing".split()
)
_OTHER_TOKENS = frozenset(
    "next page pad padding eos bos unk cls sep mask special stop start end prev previous last "
    "first current cur continuation continue pagination cancel cancellation sync design color "
    "colour unexpected expected lookahead peek sub word image img text output input prompt new "
    "parse parser lexer begin open close closing opening progress event request action "
    "idempotency".split()
)


@lru_cache(maxsize=4096)
def named(name: str) -> Named | None:
    """What a name says, where it says that its value is a secret."""
    words = [word.lower() for word in _WORDS.findall(name)]
    if words[:2] == ["1", "password"]:
        return None  # the product
    while len(words) > 1 and (words[-1].isdigit() or words[-1] in _TAILS):
        words.pop()
    if not words:
        return None
    *before, last = words
    if _ABOUT.intersection(before[:1]):
        return None
    found = _password(last, before) or _other(last, before)
    if found is None:
        return None
    kind, clear = found
    return Named(kind, clear, _ENVIRONMENT.fullmatch(name) is not None)


def _password(last: str, before: list[str]) -> tuple[str, bool] | None:
    if last in _PASSWORDS:
        return "password", True
    if last in ("word", "phrase", "code") and before[-1:] == ["pass"]:
        return "password", True
    if last == "passe" and before[-2:] == ["mot", "de"]:
        return "password", True
    if last in _SHORT:
        known = bool(before) and before[-1] in _ACCOUNTS
        return ("password", known) if known or last in ("pass", "pw") else None
    for end in ("password", "passwd", "passphrase"):
        if last.endswith(end):  # joined without a mark: `pgpassword`
            return None if last.removesuffix(end) in _ABOUT else ("password", True)
    if last.endswith(("pass", "pwd")) and not _NOT_PASS.fullmatch(last):
        known = last.removesuffix("pass").removesuffix("pwd") in _ACCOUNTS
        return ("password", True) if known else None
    return None


def _other(last: str, before: list[str]) -> tuple[str, bool] | None:
    if last == "token" and not _OTHER_TOKENS.intersection(before):
        return "token", len(before) > 0
    if last == "secret" or last in ("clientsecret", "appsecret", "apisecret"):
        return "secret", last != "secret" or len(before) > 0
    if last in ("authtoken", "accesstoken", "apitoken"):
        return "token", True
    if last in ("apikey", "accesskey", "secretkey", "privatekey"):
        return ("secret" if last == "secretkey" else "key"), True
    if last == "key" and before and before[-1] in _KEYS and "public" not in before:
        if before[-1] == "secret" or (before[-1] == "access" and "secret" in before):
            return "secret", True
        return "key", before[-1] in _SURE_KEYS
    return None
