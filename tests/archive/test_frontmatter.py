"""Frontmatter is anybody's text: nothing in it may take the process down (ARC-07)."""

from __future__ import annotations

import pytest

from minutebook.record.frontmatter import is_deep, unfit
from minutebook.record.header import read_header
from minutebook.record.patches import Malformed

DEEP = [
    "a: " + "[" * 200_000,
    "a: " + "{a: " * 5_000,
    "- " * 200_000 + "x",
    "\n" + " " * 900 + "a: 1",
]


@pytest.mark.parametrize("yaml", DEEP, ids=["lists", "maps", "in one line", "indented"])
def test_deep_nesting_is_refused_with_a_sentence(yaml: str) -> None:
    """ARC-07: libyaml crashes on it; a document that has it is malformed, and only that."""
    with pytest.raises(Malformed, match="nested too deeply"):
        read_header(f"---\nsession_id: x\n{yaml}\n---\n\n# A · B\n\nsummary\n\n")
    assert is_deep(yaml)


def test_what_people_write_is_not_deep() -> None:
    """Lists, maps, brackets in words."""
    assert not is_deep("a: [1, 2, {b: [3]}]\nc:\n  - d: e\n  - - f\ntitle: '[x] (y) {z} ]]]'")


@pytest.mark.parametrize("yaml", ["a: &x [1]\nb: [*x, *x]", "a: &x 1", "a: '" + "x" * 70_000 + "'"])
def test_anchors_and_long_ones_are_refused(yaml: str) -> None:
    """INS-07: a few aliases of aliases are a value that nothing can compare or write."""
    with pytest.raises(Malformed, match=r"anchors or aliases|longer than 64 KB"):
        read_header(f"---\n{yaml}\n---\n\n# x\n\ny\n")


def test_signs_in_words_are_not_anchors() -> None:
    assert unfit("a: R&D *now*\nb: '*x'\nc: \"&y\"\n# &z *z") is None
