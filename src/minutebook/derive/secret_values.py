"""Does it look like the value of a secret, or like code, a type, a reference, a placeholder?

Placeholders that tell nobody anything (`<token>`, `your-api-key`, `xxx`) stay visible; weak
passwords that are in use (`changeme`, `postgres`) do not.
"""

from __future__ import annotations

import re

_NOTHING = frozenset(
    # types and the words of a schema
    "string str text varchar char bytes byte buffer bool boolean int integer float double number "
    "numeric any object dict map list array set tuple void unknown never optional nullable type "
    "field input secretstr securestring uuid date datetime email function func fn self this cls "
    # constants
    "true false yes no on off null nil none undefined nan empty blank default unset "
    # words about a value
    "required missing invalid valid incorrect correct wrong hidden redacted masked removed omitted "
    "encrypted hashed plaintext plain base64 hex stdin env environment prompt file here below above "
    "todo tbd n/a the a an and or not is are was if in on of to for with "
    # the thing itself
    "password passwd passphrase passcode passwort kennwort pass pwd pw user username login secret "
    "secrets token tokens key keys apikey api_key api-key credential credentials value placeholder "
    "example sample "
    # names that are no secret: ways to hash, encode or log in
    "bcrypt argon2 argon2i argon2id scrypt pbkdf2 sha1 sha256 sha512 sha-1 sha-256 sha-512 sha2 sha3 "
    "md5 hmac aes aes128 aes256 aes-128 aes-256 base32 base58 utf8 utf-8 utf16 ascii latin1 oauth "
    "oauth2 oauth1 oidc saml2 ldap 2fa mfa otp totp http2 ipv4 ipv6 k8s i18n l10n x509 p12 pkcs12 "
    "pkcs8 pem jwt bearer basic digest ntlm h2 v1 v2 v3".split()
)
_WEAK = frozenset(
    "admin administrator root toor postgres postgresql mysql mariadb mongo redis rabbitmq guest test "
    "testing tester demo changeme changeit change-me change_me letmein letmeinplease qwerty qwertz "
    "azerty welcome iloveyou dragon monkey master sunshine princess football baseball shadow "
    "superman batman trustno1 swordfish opensesame abc123 hunter hunter2 foobar minioadmin "
    "supersecret topsecret mysecret mypassword testpassword adminadmin rootroot sa oracle vagrant "
    "raspberry alpine ubuntu pi toortoor p4ssw0rd passw0rd".split()
)
_PLACEHOLDER = re.compile(
    r"x{4}|\*\*\*|\.\.\.|…|•|redacted|placeholder|example|masked"
    r"|(?:^|[-_. ])(?:your|dummy|fake|insert|enter|replace|sample|some)(?:[-_. ]|$)|^your|^my-?$"
    r"|^(?:x+|X+|\W+|_+|0+|<.*>|\[.*\]|__\w+__|-+)$",
    re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"\$(?![12][aby]?\$|[56y]\$)[\w({:$@!?*]"  # a shell variable; not what crypt(3) writes
    r"|.*?(?:\$\{|\{\{|#\{|<%|%\{|\$\()|\{[\w.:!]*\}|%[\w(-].{0,3}$|%\w+%$|%\("
    r"|.*?\{[A-Za-z_][\w.!:]*\}|[@#:!&*?.]\w*$|[@#:][A-Za-z_]\w*\b|!\w+ |&(?:mut )?\w|&#|\\+\w$"
    r"|[a-z][a-z0-9+.-]{1,20}://|(?:urn|arn|op|vault|ssm|env|file|ref|secret|projects):\S"
    r"|(?:~|\.{1,2})?/[\w.@-]*(?:/|$)|[A-Za-z]:\\"
    r"|enc\[|ansible_vault",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"[A-Za-z_$@][\w$]*(?:(?:\.|::|->|\?\.|!\.)[A-Za-z_$][\w$]*)+[!?]?"
    r"|[A-Za-z_$@][\w$.:?!>-]*[(\[{<].*|.*(?:=>|==(?=.)|\|\||&&|::|\)\.).*"
    r"|[(\[{<].*|0x[0-9a-fA-F]{1,8}|\d+(?:\.\d+){1,3}|v\d[\w.-]*|[\d:.,/+-]{1,3}|[\w-]+\(\)"
    r"|[\w/-]+\.(?:py|js|ts|tsx|jsx|json|ya?ml|toml|txt|md|sh|go|rs|rb|java|env|pem|key|crt|conf|cfg|"
    r"ini|html|css|com|org|net|io|dev|php|c|h|cpp|cs|sql|log|lock)"
)
_CONSTANT = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[A-Z]*(?:PASS|SECRET|TOKEN|KEY|YOUR|PWD)[A-Z]*")
# Names of variables that get a number: `password = pw2`.
_NUMBERED = re.compile(
    r"(?:\w*(?:pass(?:word|wd|phrase)?|pwd|pw|secret|token|key|value|val|arg|str|text|input|param|"
    r"var|field|tmp|result|res|data|config|hash|user|name|string|type|item|line|col|row|step|test))"
    r"_?\d{1,2}",
    re.IGNORECASE,
)
# A name that stands for a secret: `clientSecret`, `user_password`, `PasswordField`.
_NAMES = re.compile(r"[A-Za-z][a-z]*(?:_[a-z]+)+|[A-Za-z][a-z]*(?:[A-Z]+[a-z]*)+")
_OF_SECRETS = re.compile(r"pass(?:word|wd|phrase)|secret|token|_key|Key|pwd", re.IGNORECASE)
_SPOKEN = frozenset(
    "a an the is are was be been must should can will may has have had do does did not no in on at "
    "of to for from by with and or if your you my our we i it its this that these those as when "
    "where which who how all any new old current only same too very please enter type confirm "
    "forgot reset change set repeat retype show hide password passphrase passwords characters "
    "required invalid incorrect wrong valid missing empty stored never always into over under "
    "uses used using user via per der die das ist le la les est de el es su votre ihr".split()
)
_SWITCHES = re.compile(r"[A-Za-z][0-9]|[0-9][A-Za-z]")
_CASES = re.compile(r"[A-Z]{2}[a-z]|[a-z][A-Z]{2}|[a-z][A-Z][a-z]?[A-Z]")
_WORDY = re.compile(r"[A-Za-z]?[a-z]{3,}|[A-Z]{4,}")
_SYMBOL = re.compile(r"[A-Za-z0-9][!@#$%^&*+=~?§€£]+[A-Za-z0-9]|[A-Za-z]\d+[!@#$%^&*+=~?]|[!#^&@%][A-Za-z]\w*\d")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def plausible(value: str) -> bool:
    """It can be a secret: not a type, a reference, a piece of code, a placeholder."""
    if not value or value.lower() in _NOTHING or value.strip("*_-.!?").lower() in _NOTHING:
        return False
    if _PLACEHOLDER.search(value) or _REFERENCE.match(value) or _CONSTANT.fullmatch(value):
        return False
    return not _CODE.fullmatch(value) and any(sign.isalnum() for sign in value)


def odd(value: str, least: int = 5) -> bool:
    """Nobody would write it as a word: letters with digits or signs among them."""
    if len(value) < least or not plausible(value):
        return False
    if re.fullmatch(r"\d+-[A-Za-z]+(?:-[A-Za-z]+)*|[A-Z]{2,8}-\d{1,6}|\d+(?:st|nd|rd|th|px|ms|s|k|kb|mb|x)", value, re.IGNORECASE):
        return False  # 12-character, ABC-123, 3rd
    if re.fullmatch(r"[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{2,64}", value):
        return False  # a mail address
    return _SWITCHES.search(value) is not None or _SYMBOL.search(value) is not None


def weak(value: str) -> bool:
    """A word that is a password all over the world."""
    return value.lower() in _WEAK


def numbered(value: str) -> bool:
    """The name of a variable, with a number."""
    return _NUMBERED.fullmatch(value) is not None


def reference(value: str) -> bool:
    """The name of the place where a secret is."""
    return _NAMES.fullmatch(value) is not None and _OF_SECRETS.search(value) is not None


def random(value: str, least: int = 16) -> bool:
    """Made by a machine: no words in it, or digits all over it."""
    if len(value) < least or len(set(value)) < 6 or not plausible(value):
        return False
    if _UUID.fullmatch(value):
        return True
    switches = len(_SWITCHES.findall(value))
    if switches >= 4:
        return True
    words = sum(len(word) for word in _WORDY.findall(value))
    if words > 0.6 * len(value):
        return False
    return switches >= 2 or len(_CASES.findall(value)) >= 2


def passphrase(value: str, least: int = 3) -> bool:
    """Some words in a row that are no sentence."""
    words = value.split()
    if not least <= len(words) <= 12 or any(word.lower() in _SPOKEN for word in words):
        return False
    return all(re.fullmatch(r"[a-z0-9]{2,16}", word) for word in words)


def ordinary(value: str) -> bool:
    """Words of prose and names of code, where they stand in for no secret."""
    if re.fullmatch(r"[a-z]+(?:ed|ing|able|ible|ory|only|less)|[a-z]+(?:_[a-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+", value):
        return True
    return any(part.lower() in _NOTHING for part in re.split(r"[-/_+]", value))
