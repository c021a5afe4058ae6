"""Other people's words, made safe to show."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from minutebook.derive import plain


def test_it_looks_for_what_it_takes_out() -> None:
    """VIEW-12: the quick look and the taking out know the same characters."""
    found = {code for code in range(0x110000) if plain._UNCLEAN.match(chr(code))}
    assert found == set(plain._CONTROLS)


@given(st.text(st.characters()))
def test_nothing_unclean_is_left(text: str) -> None:
    """VIEW-12: whatever comes in, a terminal only shows what goes out."""
    assert plain._UNCLEAN.search(plain.clean(text)) is None
