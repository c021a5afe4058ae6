"""Keys: found where people keep them, never shown (ING-29)."""

from __future__ import annotations

from pathlib import Path

import pytest

from minutebook.cli.remedies import worded
from minutebook.errors import BadArgument
from minutebook.extract.choose import choose_extractor
from minutebook.extract.secret import Secret, find_secret

NAME = "ANTHROPIC_API_KEY"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (f"{NAME}=sk-ant-1\n", "sk-ant-1"),
        (f"export {NAME}=sk-ant-1\n", "sk-ant-1"),
        (f'OTHER=x\nexport {NAME} = "sk-ant-1"  # mine\n', "sk-ant-1"),
        (f"{NAME}='sk-ant-1'", "sk-ant-1"),
        ("# keys\n\nsk-ant-bare\n", "sk-ant-bare"),
        (f"sk-ant-bare\n{NAME}=sk-ant-1\n", "sk-ant-1"),
        ("OPENAI_API_KEY=sk-x\n", None),
        (f"{NAME}=\n", None),
        ("", None),
        ("\x00\xff garbage", None),
        ("\xef\xbb\xbfexport " + NAME + "=sk-ant-1", "sk-ant-1"),
        (f"{NAME}=sk-ant-1;", "sk-ant-1"),
        (f'export {NAME}="sk-ant-1"; export OTHER=1', "sk-ant-1"),
        ("'sk-ant-bare'", "sk-ant-bare"),
        (f"{NAME}=sk-ant-old\n{NAME}=sk-ant-new\n", "sk-ant-new"),
        (f"{NAME}=$OTHER_KEY\n", None),
        (f"{NAME}='unbalanced\n", None),
    ],
)
def test_the_secrets_file(own_home: Path, content: str, expected: str | None) -> None:
    """``KEY=value``, ``export KEY=value``, the bare key; anything else is passed over."""
    (own_home / ".secrets").write_text(content, encoding="latin-1")
    secret = find_secret(NAME)
    assert (secret.reveal() if secret else None) == expected


def test_the_environment_comes_first(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (own_home / ".secrets").write_text(f"{NAME}=from-file")
    monkeypatch.setenv(NAME, "from-environment")
    secret = find_secret(NAME)
    assert secret is not None and secret.reveal() == "from-environment"


def test_an_unreadable_file_is_no_key(own_home: Path) -> None:
    """A folder in its place, or no permission, is the same as none."""
    (own_home / ".secrets").mkdir()
    assert find_secret(NAME) is None
    assert choose_extractor("auto").name == "offline"
    with pytest.raises(BadArgument, match="No API key found") as refused:
        choose_extractor("anthropic")
    assert "offline` needs no key" in worded(refused.value)


@pytest.mark.parametrize("limit", [float("nan"), float("inf")])
def test_a_limit_is_a_number_of_dollars(limit: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be compared is no limit; nor is one for a model nobody has a price of."""
    monkeypatch.setenv(NAME, "sk-ant-x")
    with pytest.raises(BadArgument, match="number of dollars"):
        choose_extractor(max_cost=limit)
    with pytest.raises(BadArgument, match="The price of 'my-model' is not known"):
        choose_extractor(model="my-model", max_cost=1.0)


def test_a_secret_shows_itself_to_nobody() -> None:
    """Neither printing, formatting nor a traceback shows it."""
    secret = Secret("hidden-value")
    assert "hidden" not in f"{secret!r} {secret} {[secret]}"
    assert secret.scrub("Bearer hidden-value!") == "Bearer ***!"


def test_auto_takes_anthropic_where_there_is_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """ING-09: Sonnet by default, another model when asked for."""
    monkeypatch.setenv(NAME, "sk-ant-x")
    assert (choose_extractor().name, choose_extractor().model) == ("anthropic", "claude-sonnet-5-5")
    assert choose_extractor(model="claude-haiku-5-5").model == "claude-haiku-5-5"
