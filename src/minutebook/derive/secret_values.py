"""Does it look like the value of a secret, or like code, a type, a reference, a placeholder?

Placeholders that give nothing away (`<token>`, `your-api-key`, `xxx`) stay visible. Weak
passwords that people do use (`changeme`, `postgres`) do not.
"""

from __future__ import annotations

import re

from minutebook.derive.patterns import pattern

_NOTHING = frozenset(
    # types and the words of a schema
    "string str text varchar char bytes byte buffer bool boolean int integer float double number "
    "numeric any object dict map list array set tuple void unknown never optional nullable type "
    "field input secretstr securestring uuid date datetime email function func fn self this cls "
    # constants
    "true false yes no on off null nil none undefined nan empty blank default unset "
    # words about a value
    "required missing invalid valid incorrect correct wrong hidden redacted masked removed omitted "
    "encrypted hashed plaintext plain base64 hex stdin env environment prompt file here below "
    "above todo tbd n/a the a an and or not is are was if in of to for with try await new lambda "
    # the thing itself
    "password passwd passphrase passcode passwort kennwort pass pwd pw user username login secret "
    "secrets token tokens key keys apikey api_key api-key credential credentials value "
    # ways to hash, to encode, to log in
    "bcrypt argon2 argon2i argon2id scrypt pbkdf2 sha1 sha256 sha512 sha-1 sha-256 sha-512 sha2 "
    "sha3 md5 hmac aes aes128 aes256 aes-128 aes-256 base32 base58 utf8 utf-8 utf16 ascii latin1 "
    "oauth oauth1 oauth2 oidc saml2 ldap 2fa mfa otp totp http2 ipv4 ipv6 k8s i18n l10n x509 p12 "
    "pkcs8 pkcs12 pem jwt bearer basic digest ntlm".split()
)
_WEAK = frozenset(
    "admin administrator root toor postgres postgresql mysql mariadb mongo redis rabbitmq guest "
    "test testing tester demo changeme changeit change-me change_me letmein qwerty qwertz azerty "
    "welcome iloveyou dragon monkey master sunshine princess football baseball shadow superman "
    "batman trustno1 swordfish opensesame abc123 hunter hunter2 foobar minioadmin supersecret "
    "topsecret mysecret adminadmin rootroot sa oracle vagrant raspberry "
    "alpine ubuntu pi p4ssw0rd passw0rd".split()
)
# The private plane is where marks are made of that stand for secrets.
_UNTOLD = pattern(
    "xxxx|\\*\\*\\*|\\.\\.\\.|[…•\U00100000-\U0010ffff]|redacted|placeholder|example|masked"
)
_PLACEHOLDER = pattern(
    r"(?:.*[-_. ])?(?:your|dummy|fake|insert|enter|replace|sample|some)(?:[-_. ].*)?|your.*"
    r"|x+|\W+|_+|0+|<.*>|\[.*\]|__\w+__"
)
_REFERENCE = pattern(
    r"\$(?![12][aby]?\$|[56y]\$)[\w({:$@!?*]"  # a variable of a shell; not a hash of crypt(3)
    r"|%[\w(-].{0,3}$|%\w+%$|%\("
    r"|[@#:!&*?.]{1,2}[A-Za-z_.-]*$|&(?:mut |#)|\\+\w$"
    r"|[a-z][a-z0-9+.-]{1,20}://|(?:urn|arn|op|vault|ssm|env|file|ref|secret|projects):\S"
    r"|(?:~|\.{1,2})?/[\w.@-]*(?:/|$)|[a-z]:\\|enc\[",
    re.IGNORECASE,
)
_TEMPLATE = pattern(r"\{\{|[$#%]\{|\$\(|<%|\{(?:[A-Za-z_][\w.!:]*)?\}")
_OPERATOR = pattern(r"=>|==(?=.)|\|\||&&|::|\)\.")
_CODE = pattern(
    r"[A-Za-z_$@][\w$]*(?:(?:\.|::|->|\?\.|!\.)[A-Za-z_$][\w$]*)+[!?]?"  # a.b
    r"|[A-Za-z_$@][\w$.:?!>-]*+[(\[{<].*|[(\[{<].*"  # f(x)
    r"|0x[0-9a-fA-F]{1,8}|\d+(?:\.\d+){1,3}|v\d[\w.-]*|[\d:.,/+-]{1,3}"  # numbers, versions
    r"|[\w/-]+\.(?:py|js|ts|tsx|jsx|json|ya?ml|toml|txt|md|sh|go|rs|rb|java|env|pem|key|crt|conf"
    r"|cfg|ini|html|css|com|org|net|io|dev|php|c|h|cpp|cs|sql|log|lock)"
)
_CONSTANT = pattern(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[A-Z]*(?:PASS|SECRET|TOKEN|KEY|YOUR|PWD)[A-Z]*")
# Names of variables that get a number: `password = pw2`.
_NUMBERED = pattern(
    r"\w*(?:pass(?:word|wd|phrase)?|pwd|pw|secret|token|key|value|val|arg|str|text|input|param|var"
    r"|field|tmp|result|res|data|config|hash|user|name|string|type|item|line|col|row|step|test)"
    r"_?\d{1,2}",
    re.IGNORECASE,
)
# The name of a place where a secret is: `clientSecret`, `user_password`, `auth_token_v1`.
_NAMES = pattern(r"[A-Za-z][a-z]*(?:(?:_[a-z]+)+|(?:[A-Z]+[a-z]*)+)(?:_?v?\d{1,2})?")
_OF_SECRETS = pattern(r"pass(?:word|wd|phrase)|secret|token|_key|key$|pwd", re.IGNORECASE)
_ORDINARY = pattern(
    r"[a-z]+(?:ed|ing|able|ible|ory|only|less)|[a-z]+(?:_[a-z0-9]+)+|[a-z]+(?:[A-Z](?!\d\d)[a-z0-9]+)+"
)
_SPOKEN = frozenset(
    "a an the is are was be been must should can will may has have had do does did not no in on at "
    "of to for from by with and or if your you my our we i it its this that these those as when "
    "where which who how all any new old current only same too very please enter type confirm "
    "forgot reset change set repeat retype show hide password passphrase passwords characters "
    "required invalid incorrect wrong valid missing empty stored never always into over under "
    "uses used using user via per der die das ist le la les est de el es su votre ihr".split()
)
# What is said of a flag: `the --password option`, `pass --token through`, `--secret support`.
_OF_FLAGS = frozenset(
    "flag flags option options argument arguments arg args parameter parameters param switch "
    "switches setting settings variable variables support supports handling behavior behaviour "
    "docs documentation help parsing parser validation flow path prompts prompting auth "
    "authentication authorization login logins access works work worked exists given through along "
    "but so then because instead either also already now still yet during after before while "
    "takes taken accepts accepted wins needed optional deprecated refresh rotation store storage "
    "protected protection manager field fields name names input inputs line lines form forms "
    "usage example examples there here one ones source target database user server admin client "
    "account bearer api registry github gitlab json yaml plain mode".split()
)
_SWITCHES = pattern(r"[A-Za-z][0-9]|[0-9][A-Za-z]")
_CASES = pattern(r"[A-Z]{2}[a-z]|[a-z][A-Z]{2}|[a-z][A-Z][a-z]?[A-Z]")
_WORDY = pattern(r"[A-Za-z]?[a-z]{3,}|[A-Z]{4,}")
_SYMBOL = pattern(
    r"[A-Za-z0-9][!@#$%^&*+=~?§€£]+[A-Za-z0-9]|[A-Za-z]\d+[!@#$%^&*+=~?]|[!#^&@%][A-Za-z]\w*\d"
)
# 12-character, ABC-123, 3rd, a mail address, an address on a chain
_COUNTED = pattern(
    r"\d+-[A-Za-z]+(?:-[A-Za-z]+)*|[A-Za-z]{2,8}-\d{1,6}|\d+(?:st|nd|rd|th|px|ms|s|k|kb|mb|x)"
    r"|[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{2,64}|0x[0-9a-fA-F]{40}"
)
_UUID = pattern(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def plausible(value: str) -> bool:
    """It can be a secret: not a type, a reference, a piece of code, a placeholder."""
    low = value.lower()
    if not value or low.strip("*_-.!?") in _NOTHING:
        return False
    if _REFERENCE.match(value) or _TEMPLATE.search(value) or _OPERATOR.search(value):
        return False
    if _CODE.fullmatch(value) or _CONSTANT.fullmatch(value):
        return False
    return not (_UNTOLD.search(low) or _PLACEHOLDER.fullmatch(low))


def odd(value: str, least: int = 5) -> bool:
    """Nobody writes it as a word: letters with digits or signs among them."""
    if len(value) < least or not (_SWITCHES.search(value) or _SYMBOL.search(value)):
        return False
    return not _COUNTED.fullmatch(value) and plausible(value)


def weak(value: str) -> bool:
    """A word that is a password all over the world."""
    return value.lower() in _WEAK


def spoken(word: str) -> bool:
    """A word that a sentence goes on with, after the name of a flag."""
    low = word.lower()
    return low in _SPOKEN or low in _OF_FLAGS or low in _NOTHING


def telling(value: str) -> bool:
    """Nothing else in a text is likely to be written so: where it stands, it is the same secret."""
    if len(value) < 6 or weak(value) or not plausible(value) or reference(value) or spoken(value):
        return False
    mixed = value.lower() != value != value.capitalize() or any(sign.isdigit() for sign in value)
    return (mixed or len(value) >= 8) and not (value.isdigit() or ordinary(value))


def numbered(value: str) -> bool:
    """The name of a variable, with a number."""
    return value[-1:].isdigit() and _NUMBERED.fullmatch(value) is not None


def reference(value: str) -> bool:
    """The name of the place where a secret is."""
    return _NAMES.fullmatch(value) is not None and _OF_SECRETS.search(value) is not None


def ordinary(value: str) -> bool:
    """Words of prose and names of code."""
    if _ORDINARY.fullmatch(value):
        return True
    return any(part.lower() in _NOTHING for part in re.split(r"[-/_+]", value))


def random(value: str, least: int = 16) -> bool:
    """Made by a machine: without words, or with digits all over it."""
    return len(value) >= least and _mixed(value) and plausible(value)


def _mixed(value: str) -> bool:
    if len(set(value)) < 6 or _COUNTED.fullmatch(value):
        return False
    switches = len(_SWITCHES.findall(value))
    if switches >= 4 or _UUID.fullmatch(value):
        return True
    words = sum(len(word) for word in _WORDY.findall(value))
    if words > 0.6 * len(value):
        return False
    return switches >= 2 or len(_CASES.findall(value)) >= 2


def passphrase(value: str, least: int = 3) -> bool:
    """Some words in a row that are not a sentence."""
    words = value.split()
    if not least <= len(words) <= 12 or any(word.lower() in _SPOKEN for word in words):
        return False
    return all(re.fullmatch(r"[a-z0-9]{2,16}", word) for word in words)
