"""Secrets in texts (VIEW-12). Every secret here is made at run time: none stands in this file."""

from __future__ import annotations

import base64
import random
import string
import time
import uuid
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minutebook.derive.secrets import Secret, digest, find_secrets, mask
from tests.conftest import corpus_files, needs_corpus

ALNUM = string.ascii_letters + string.digits
URLSAFE = ALNUM + "_-"
HEX = "0123456789abcdef"
BASE32 = string.ascii_uppercase + "234567"

# kind, well-known beginning, alphabet and length of the rest
KEYS = [
    ("Anthropic key", "sk-" + "ant-" + "api03-", URLSAFE, 95),
    ("Anthropic key", "sk-" + "ant-" + "oat01-", URLSAFE, 95),
    ("Anthropic key", "sk-" + "ant-", URLSAFE, 40),
    ("OpenRouter key", "sk-" + "or-v1-", HEX, 64),
    ("OpenAI key", "sk-" + "proj-", URLSAFE, 156),
    ("OpenAI key", "sk-" + "svcacct-", URLSAFE, 120),
    ("OpenAI key", "sk-", ALNUM, 48),
    ("OpenAI key", "sk-", HEX, 32),
    ("AWS key id", "AK" + "IA", BASE32, 16),
    ("AWS key id", "AS" + "IA", BASE32, 16),
    ("Google key", "AI" + "za", URLSAFE, 35),
    ("Google token", "ya" + "29.", URLSAFE, 180),
    ("Google secret", "GOC" + "SPX-", URLSAFE, 28),
    *(("GitHub token", f"gh{letter}_", ALNUM, 36) for letter in "pousr"),
    ("GitLab token", "gl" + "pat-", URLSAFE, 20),
    ("Stripe key", "sk_" + "live_", ALNUM, 24),
    ("Stripe key", "rk_" + "live_", ALNUM, 99),
    ("Stripe key", "sk_" + "test_", ALNUM, 24),
    ("npm token", "np" + "m_", ALNUM, 36),
    ("PyPI token", "pypi" + "-AgE", URLSAFE, 160),
    ("Hugging Face token", "h" + "f_", string.ascii_letters, 34),
    ("DigitalOcean token", "dop" + "_v1_", HEX, 64),
    ("Groq key", "gs" + "k_", ALNUM, 52),
    ("xAI key", "xa" + "i-", ALNUM, 80),
    ("Replicate token", "r" + "8_", ALNUM, 37),
    ("Databricks token", "da" + "pi", HEX, 32),
    ("Shopify token", "shp" + "at_", HEX, 32),
    ("Linear key", "lin" + "_api_", ALNUM, 40),
    ("Notion token", "nt" + "n_", ALNUM, 46),
    ("Notion token", "sec" + "ret_", ALNUM, 43),
    ("Fly token", "fm" + "2_", ALNUM + "+/", 200),
    ("Supabase token", "sb" + "p_", HEX, 40),
]
Planted = tuple[str, str, str, str]  # kind, context with one {}, well-known beginning, the rest


def chars(rng: random.Random, alphabet: str, length: int) -> str:
    return "".join(rng.choice(alphabet) for _ in range(length))


def pem(rng: random.Random, name: str = "RSA ", end: bool = True, newline: str = "\n") -> str:
    lines = [f"-----BEGIN {name}PRIVATE" + " KEY-----"]
    lines += [chars(rng, ALNUM + "+/", 64) for _ in range(12)]
    if end:
        lines += [chars(rng, ALNUM, 10) + "==", f"-----END {name}PRIVATE" + " KEY-----"]
    return newline.join(lines)


def jwt(rng: random.Random) -> str:
    head = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').decode().rstrip("=")
    return ".".join((head, "ey" + "J" + chars(rng, URLSAFE, 80), chars(rng, URLSAFE, 43)))


def planted(seed: int) -> list[Planted]:
    """One secret of every kind."""
    rng = random.Random(seed)
    made = [(kind, "{}", known, chars(rng, abc, length)) for kind, known, abc, length in KEYS]
    basic = base64.b64encode(f"me:{chars(rng, ALNUM, 15)}".encode()).decode()
    hook = f"T{chars(rng, BASE32, 8)}/B{chars(rng, BASE32, 8)}/{chars(rng, ALNUM, 24)}"
    slack = f"{rng.randrange(10**11, 10**12)}-{rng.randrange(10**12, 10**13)}-"
    legacy = f"{chars(rng, ALNUM, 20)}T3Blbk" + f"FJ{chars(rng, ALNUM, 20)}"
    aws = chars(rng, ALNUM + "/+", 40)
    pat = f"{chars(rng, ALNUM, 22)}_{chars(rng, ALNUM, 59)}"
    grid = f"{chars(rng, URLSAFE, 22)}.{chars(rng, URLSAFE, 43)}"
    blob = f"{chars(rng, ALNUM, 16)}_{chars(rng, ALNUM, 30)}"
    bearer = chars(rng, ALNUM, 40)
    webhook = chars(rng, URLSAFE, 68)
    return [
        *made,
        ("OpenAI key", "{}", "sk-", legacy),
        ("GitHub token", "{}", "github" + "_pat_", pat),
        ("Slack token", "{}", "xo" + "xb-", slack + chars(rng, ALNUM, 24)),
        ("Slack token", "{}", "xap" + "p-", f"1-A0{slack}{chars(rng, HEX, 64)}"),
        ("Slack webhook", "https://hooks.slack.com/services/{}", "", hook),
        ("Discord webhook", "https://discord.com/api/webhooks/123456789012345678/{}", "", webhook),
        ("cookie", "Cookie: theme=dark; sid={}", "", bearer),
        ("cookie", "set-cookie: sid={}; Path=/; HttpOnly", "", bearer),
        ("SendGrid key", "{}", "S" + "G.", grid),
        ("Vercel token", "{}", "vercel" + "_blob_rw_", blob),
        ("AWS secret key", "aws_secret_access_key = {}", "", aws),
        ("AWS secret key", "AWS_SECRET_ACCESS_KEY={}", "", aws),
        ("Telegram bot token", "bot123456789:{}", "", "AA" + chars(rng, URLSAFE, 33)),
        ("JWT", "{}", "", jwt(rng)),
        ("bearer token", "Authorization: Bearer {}", "", bearer),
        ("bearer token", "authorization: bearer {}", "", bearer),
        ("basic credentials", "Authorization: Basic {}", "", basic),
        ("password in a URL", "postgres://ann:{}@db.example.org/x", "", chars(rng, ALNUM, 14)),
        ("password in a URL", "redis://:{}@127.0.0.1:6379", "", "t0p-" + chars(rng, ALNUM, 9)),
    ]


CONTEXTS = {
    "prose": "I have put {} there, please use it.",
    "JSON": '{{"type": "text", "text": "{}", "n": 1}}',
    "an escaped line": "first\\n{}\\nlast",
    "a shell export": "export THE_KEY='{}' && run",
    "a URL": "curl https://api.example.org/v1?q=1&key={}&page=2",
    "colours": "\x1b[32m{}\x1b[0m",
}
SEEDS = range(20)


@pytest.mark.parametrize("where", CONTEXTS)
def test_every_kind_is_found_everywhere(where: str) -> None:
    """VIEW-12: a secret of each kind is found, exactly, and told by its kind."""
    for seed in SEEDS:
        for kind, phrase, known, own in planted(seed):
            secret = known + own
            text = CONTEXTS[where].format(phrase.format(secret))
            start = text.index(secret)
            assert find_secrets(text) == [Secret(start, start + len(secret), kind)], text


@pytest.mark.parametrize("where", CONTEXTS)
def test_nothing_of_a_masked_secret_is_left(where: str) -> None:
    """VIEW-12: no eight characters of a secret's own survive, and the rest of the text does."""
    for seed in SEEDS:
        for kind, phrase, known, own in planted(seed):
            before, after = CONTEXTS[where].format(phrase).split("{}")
            masked = mask(before + known + own + after)
            assert masked.startswith(before)
            assert masked.endswith(after)
            assert f"({kind})" in masked
            assert not any(own[i : i + 8] in masked for i in range(len(own) - 7)), masked


def test_the_mask_tells_the_well_known_beginning() -> None:
    """VIEW-12: what kind of key was there can be seen."""
    known = "sk-" + "ant-" + "api03-"
    assert mask(known + chars(random.Random(1), URLSAFE, 95)) == f"{known}…•••• (Anthropic key)"


@pytest.mark.parametrize("name", ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "])
@pytest.mark.parametrize(
    "newline", ["\n", "\r\n", "\\n", "\\\\n", "\n    ", '\\n" +\n  "', "\n 12→"]
)
@pytest.mark.parametrize("end", [True, False])
def test_private_keys_are_masked_as_a_whole(name: str, newline: str, end: bool) -> None:
    """VIEW-12: a PEM block, however its lines are written, with its END line or without."""
    key = pem(random.Random(name), name, end, newline)
    assert mask(f"key: {key}") == "key: •••• (private key)"


def test_a_private_key_without_end_spares_what_follows() -> None:
    """VIEW-12: prose after a key that was cut off stays."""
    key = pem(random.Random(3), end=False)
    assert mask(f"{key}\n\nand so on.") == "•••• (private key)\n\nand so on."


def test_a_mention_of_private_keys_is_none() -> None:
    """VIEW-12: the words around a key are not a key."""
    begin, end = "-----BEGIN PRIVATE" + " KEY-----", "-----END PRIVATE" + " KEY-----"
    for text in (f"It starts with {begin} and then", f"{begin}\n...\n{end}", f"{begin}{end}"):
        assert find_secrets(text) == []


def test_a_bearer_key_is_told_by_its_own_kind() -> None:
    """VIEW-12: where two patterns meet there is one finding, the more telling one."""
    rng = random.Random(4)
    key, token = "sk-" + "ant-" + chars(rng, ALNUM, 60), jwt(rng)
    text = f"Authorization: Bearer {key}\nAuthorization: Bearer {token}\nhttps://x:{key}@host/"
    assert [found.kind for found in find_secrets(text)] == ["Anthropic key", "JWT", "Anthropic key"]


def test_many_secrets_do_not_overlap() -> None:
    """VIEW-12: findings are sorted, apart from each other, and all there."""
    many = [phrase.format(known + own) for seed in SEEDS for _, phrase, known, own in planted(seed)]
    random.Random(5).shuffle(many)
    found = find_secrets("\n".join(many))
    assert len(found) == len(many)
    assert all(a.end <= b.start for a, b in pairwise(found))


def test_a_front_end_may_put_something_else() -> None:
    """VIEW-12: what replaces a secret is the caller's choice, and a digest names it."""
    key = "gh" + "p_" + chars(random.Random(6), ALNUM, 36)
    masked = mask(f"a {key} b", lambda secret, where: f"<{where.kind} {digest(secret)}>")
    assert masked == f"a <GitHub token {digest(key)}> b"


def test_a_digest_is_short_and_tells_secrets_apart() -> None:
    """VIEW-12: the same secret has the same name, another has another."""
    names = {digest(known + own) for seed in SEEDS for _, _, known, own in planted(seed)}
    assert digest("a") == digest("a")
    assert {len(name) for name in names} == {16}
    assert len(names) > 40 * len(SEEDS)


@pytest.mark.parametrize(
    "text",
    [
        "sk-spinner-double-bounce1 sk-folding-cube-inner-wrapper2 .sk-chasing-dot-before",
        "task-output-waiting-1772719908210 disk-usage-of-the-whole-machine2 risk-assessment-2026",
        "sk-output-waiting-1772719908210-and-more sk-dont-infer-owner-vocabulary",
        "sk-ant-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx sk-ant-... sk-... sk-ant-your-api-key-goes-here",
        "sk-ant-api03-YOUR_API_KEY_GOES_HERE_PLEASE sk-proj-your-openai-key-here-0123456789abc",
        "YOUR_API_KEY <API_KEY> ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx hf_xxxxxxxxxxxxxxxxxxxx",
        "npm_config_registry npm_lifecycle_event secret_access_key_of_the_account_holder r8_unorm",
        "AKIAIOSFODNN7" + "EXAMPLE",
        "Authorization: Bearer $TOKEN; Authorization: Bearer <TOKEN>; Authorization: Bearer {t}",
        "Authorization: Bearer YOUR_ACCESS_TOKEN; Authorization: Basic authentication is simple",
        "Authorization: Basic <redacted>; authorization: basic base64credentials",
        "https://example.org:8080/a@b http://localhost:3000?mail=a@b.org ssh://git@host:22/x@v1",
        "docker://alpine:3.18@sha256:abc git+ssh://git@github.com:me/it.git https://[::1]:80/@x",
        r"re.compile(r'://([^:]+):([^@]+)@') ://[^:]+:[^@]+@x",
    ],
)
def test_placeholders_and_names_are_none(text: str) -> None:
    """VIEW-12: words that only look like keys stay as they are."""
    assert mask(text) == text


@pytest.mark.parametrize(
    "password",
    "password pass user secret changeme PASSWORD your_password ${VAR} $DB_PASS <password> xxx *** "
    "%s %(pw)s {password} … ... postgres DB_PASSWORD".split(),
)
def test_placeholders_of_passwords_are_none(password: str) -> None:
    """VIEW-12: a URL with a placeholder tells nothing."""
    assert find_secrets(f"postgres://ann:{password}@db.example.org/x") == []


def test_hashes_and_data_are_none() -> None:
    """VIEW-12: thousands of hashes, ids, integrity strings and images raise no alarm."""
    rng = random.Random(7)
    for _ in range(5000):
        data = rng.randbytes(64)
        encoded = base64.b64encode(data).decode()
        texts = (
            f"commit {data[:20].hex()} sha256:{data[:32].hex()} {data[:16].hex()}",
            f"{uuid.UUID(bytes=data[:16])} toolu_{chars(rng, ALNUM, 24)} req_{encoded[:24]}",
            f'"integrity": "sha512-{encoded}" sha256-{encoded[:44]}',
            base64.urlsafe_b64encode(data).decode(),
            f"_next/static/chunks/{chars(rng, URLSAFE, 20)}.js?v={data[:4].hex()}",
        )
        for text in texts:
            assert find_secrets(text) == [], text
    image = base64.b64encode(rng.randbytes(3_000_000)).decode()
    assert find_secrets(f"data:image/png;base64,{image}") == []


def test_minified_code_is_none() -> None:
    """VIEW-12: long lines of names and punctuation raise no alarm."""
    rng = random.Random(8)
    words = (
        "function return e.sk-t.npm_a a_b a-b -1 eyJ eyJa.eyJb 0x1f ghp_ xoxb- SG.a AKIA".split()
    )
    signs = "( ) { } , ; : :// ?a:AA => = == && . [ ] \" '".split()
    code = "".join(rng.choice(words) + rng.choice(signs) for _ in range(100_000))
    assert find_secrets(code) == []


@pytest.mark.parametrize(
    "unit",
    [
        *("eyJ", "eyJa.", "\\neyJ", "eyJaaaaaaaaa.eyJaaaaaaaaa.", "sk-", "-sk-ant-", "xoxb-"),
        *("ghp_", "fm2_" + "a" * 16, "pypi-AgE", "AKIA", "ya29.", "SG.", "12345678:AA", "___"),
        *("://", "a://a:", "a://:@", "x://a:@@", "hooks.slack.com/aaaaa/", "ecretAccessKey:"),
        *("Authorization: Bearer ", "Authorization: Basic aaaa", "-", "a", "\\", "-----BEGIN "),
        "-----BEGIN PRIVATE" + " KEY-----",
        "-----BEGIN PRIVATE" + " KEY-----\\n" + "\n" * 60,
    ],
)  # fmt: skip
def test_hostile_texts_take_linear_time(unit: str) -> None:
    """VIEW-12: a megabyte of beginnings is over in seconds."""
    text = unit * (1_000_000 // len(unit))
    began = time.process_time()
    find_secrets(text)
    assert time.process_time() - began < 5


@given(st.text())
def test_a_text_without_secrets_is_itself(text: str) -> None:
    """VIEW-12: masking changes nothing else."""
    if not find_secrets(text):
        assert mask(text) == text


@given(st.lists(st.one_of(st.text(max_size=5), st.sampled_from(planted(9))), max_size=8))
def test_findings_are_within_bounds_and_sorted(pieces: list[str | Planted]) -> None:
    """VIEW-12: whatever stands next to each other, findings are places of the text."""
    text = "".join(p if isinstance(p, str) else p[1].format(p[2] + p[3]) for p in pieces)
    at = 0
    for found in find_secrets(text):
        assert at <= found.start < found.end <= len(text)
        at = found.end


@given(st.lists(st.sampled_from(planted(10)), min_size=1, max_size=4), st.sampled_from(" \n,;\"'"))
def test_masked_text_has_no_secrets(some: list[Planted], between: str) -> None:
    """VIEW-12: masking once is enough."""
    text = between.join(phrase.format(known + own) for _, phrase, known, own in some)
    assert find_secrets(mask(text)) == []


@needs_corpus
def test_real_transcripts_raise_no_false_alarm() -> None:
    """VIEW-12: the corpus was cleaned of known keys before it came here; none is found in it."""
    given_to_names = {"password", "token", "secret", "key"}  # judged in test_secret_assignments
    alarms: Counter[str] = Counter()
    for path in corpus_files("**/*"):
        text = path.read_bytes().decode("utf-8", "replace")
        kinds = {found.kind for found in find_secrets(text)} - given_to_names
        alarms.update(f"{path.name}: {kind}" for kind in kinds)
    assert alarms == {}
