"""Passwords named in sentences (ARC-06). Every password here is made at run time."""

from __future__ import annotations

import random
import string
import time

import pytest

from minutebook.derive.secrets import find_secrets, mask


def chosen(seed: int) -> str:
    """What a person makes up: a word with digits in it."""
    rng = random.Random(seed)
    word = "".join(rng.choice(string.ascii_lowercase) for _ in range(6))
    return f"{word[:3]}{rng.randrange(10, 99)}{word[3:]}{rng.randrange(10)}"


# a sentence with one {} where anything may stand that is not a word
TOLD = [
    "The admin password is {}.",
    "the admin password is {}!",
    "The password for the staging database is {}, please use it.",
    "my password: {}",
    "the pw is {} now",
    "pw: {}",
    "Use pw {} there",
    "Password for ann: {}",
    "I set the password to {} yesterday.",
    "You can log in as ann with password {} there.",
    "Please use the password {} and go on.",
    "username ann password {}",
    "The default password is **{}**.",
    "log in with ann / {}",
    "login with ann/{}",
    "Login: ann / {}",
    "credentials: ann / {}",
    "das Passwort für den Server ist {}",
    "Das Passwort lautet {}.",
    "Bitte das Passwort auf {} setzen",
    "Passwort: {}",
    "Kennwort: {}",
    "Das Kennwort für Anna ist {}",
    "Zugangsdaten: ann / {}",
    "le mot de passe est {}",
    "Le mot de passe de la base est {}.",
    "mot de passe : {}",
    "la contraseña es {}",
    "La contraseña de Ana es {}.",
    "contraseña: {}",
    "a senha é {}",
    "la password è {}",
    "パスワードは {} です",
    "パスワードは{}です。",
    "パスワード：{}",
    "密码是 {}",
    "管理员密码：{}",
    "密码为{}。",
    "密碼是{}",
    "비밀번호는 {} 입니다",
    "пароль: {}",
]
# a sentence with one {} in quotes, where a word is the password as well
QUOTED = [
    "The admin password is `{}`.",
    'The password for ann is "{}".',
    "The password was '{}'",
    "I changed the root password to `{}`.",
    "log in as ann with password '{}'",
    "Das Passwort ist „{}“.",
    "Le mot de passe est « {} ».",
    'La contraseña es "{}".',
    "パスワードは「{}」です",
    '密码是"{}"',
]


@pytest.mark.parametrize("sentence", TOLD + QUOTED)
def test_a_password_in_a_sentence_is_masked(sentence: str) -> None:
    """ARC-06: what a sentence names as a password is hidden, the sentence stays."""
    before, after = sentence.split("{}")
    end = after.removeprefix("!")  # a sign at the end may belong to the password
    for seed in range(12):
        assert mask(before + chosen(seed) + after) == f"{before}•••• (password){end}"


def test_a_password_may_have_capitals_and_digits_in_it() -> None:
    """ARC-06: letters with a number in their midst are not the name of a variable."""
    for word in ("wrenA064Gi", "Blu3Heron77"):
        assert mask(f"log in with password {word}.") == "log in with password •••• (password)."


@pytest.mark.parametrize("sentence", QUOTED)
def test_a_word_in_quotes_is_masked(sentence: str) -> None:
    """ARC-06: in quotes a password may be a word."""
    assert mask(sentence.format("zanzibar")) == sentence.format("•••• (password)")


@pytest.mark.parametrize("words", ["quartz lemon ferry candle", "quartz-lemon-ferry-candle"])
def test_a_passphrase_is_masked_whole(words: str) -> None:
    """ARC-06: a passphrase is some words."""
    assert mask(f"use the passphrase {words}") == "use the passphrase •••• (password)"
    assert mask(f"passphrase: {words}\n") == "passphrase: •••• (password)\n"
    assert mask(f'passphrase = "{words}"') == 'passphrase = "•••• (password)"'


@pytest.mark.parametrize("word", ["admin", "postgres", "changeme", "123456"])
def test_a_weak_password_is_one(word: str) -> None:
    """ARC-06: words that are passwords all over the world are masked where a sentence ends."""
    assert mask(f"The password is {word}.") == "The password is •••• (password)."


@pytest.mark.parametrize(
    "sentence",
    [
        *("the password is hashed", "The password is required.", "the password is wrong!"),
        *("password is a string of 12 characters", "the password is 8 characters long"),
        *("the password is SHA256 hashed", "the password is base64-encoded", "password is bcrypt"),
        *("the password is stored in the keychain", "The password is read from config2.yml"),
        *("the password for the database is in .env", "the password is in /etc/secrets/pw1"),
        *("set the password to null", "change the password to `None`", "the password to sha256"),
        *("the password is `required`", 'password is "optional"', "password is `user.password`"),
        *("the password is checked by verify_password2()", "password is $DB_PASS1", "password: $2"),
        *("Your new password is: {newpass1}", "`Your password is: ${code}`", "password is: {}."),
        'echo "password is: ".$row1["password"]."<br>";',
        '"Password is: " + user1.getPassword()',
        *("the pw is hashed", "pw reset2", "pw: str", "the pw of ann2", "mypw is a1b2c3"),
        *("with password authentication", "with password / touchid", "password OAuth2-based flow"),
        *("login with Google / GitHub", "login with email/password", "login as admin / viewer"),
        *("credentials: username/password", "credentials: true,", "credentials: 'include',"),
        *("POST /api/login: 200/401", "login: oauth2/token", "the token is counted in tokens2"),
        "Use the passphrase stored in the environment",
        "the passphrase is never written to disk",
        *("Enter password:", "Password: ********", "Password: "),
        *("Password (again)", "password reset2"),
        *("| Username | Password |", "| Password | string |", "The password is the 3rd argument"),
        *("das Passwort ist falsch", "Das Passwort muss mindestens 8 Zeichen lang sein."),
        *("le mot de passe est incorrect", "Le mot de passe est requis.", "mot de passe : requis"),
        *("la contraseña es obligatoria", "la contraseña es necesaria", "a senha é obrigatória"),
        *("パスワードは必須です", "パスワードは8文字以上で入力してください"),
        "パスワードはbcryptでハッシュ",
        *("密码是必填的", "判断密码是否为空", "验证密码是否正确"),
        *("口令错误", "비밀번호는 필수입니다"),
    ],
)  # fmt: skip
def test_sentences_about_passwords_stay(sentence: str) -> None:
    """ARC-06: most sentences are about passwords, and name none."""
    assert mask(sentence) == sentence


@pytest.mark.parametrize(
    "unit",
    [
        *("password ", "password is ", "password is a1 ", "pw is a1", "pw: a1b2c3 "),
        *("password for a ", "password for a is ", "ass"),
        *("password to ", "password `", "password «"),
        *("password “a", "passphrase aa ", "passphrase aa-"),
        *("n with ", "log in with a/", "de passe est ", "パスワードは"),
        *("密码是 a1 ", "密", "contraseña de a "),
        "密码是" + "a" * 79,
        "password for " + "a " * 30,
    ],
)  # fmt: skip
def test_hostile_sentences_take_linear_time(unit: str) -> None:
    """ARC-06: a long row of beginnings is soon over."""
    text = unit * (200_000 // len(unit))
    began = time.process_time()
    find_secrets(text)
    assert time.process_time() - began < 5
