"""What must not go wrong: half a secret, half a commit, what is dead in the way of the living."""

from __future__ import annotations

import random
import string
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from minutebook.derive.secrets import mask
from minutebook.derive.surfaces import bounded
from minutebook.index.engine import Engine
from minutebook.index.lexical import Lexical
from minutebook.index.query import Query, parse_query
from minutebook.index.snippet import snippet
from minutebook.index.vectors import Vectors
from tests.index.conftest import put, turn

_LETTERS = random.Random(3).choices(string.ascii_letters + string.digits, k=93)
KEY = f"sk-ant-api03-{''.join(_LETTERS)}AA"


def test_a_secret_is_hidden_before_a_passage_is_cut() -> None:
    """ARC-06: also where a key stands across the border of two passages."""
    for before in range(780, 930, 10):
        text = f"{'w ' * (before // 2)}{KEY} and more of it {'v ' * 500}"
        for entry in (turn(text), turn("asked", text)):
            for passage in (1, 2, -1, -2):
                shown = snippet(entry, Query(), passage=passage, hide=mask).snippet.text
                assert not any(KEY[at : at + 12] in shown for at in range(14, len(KEY) - 12))


@pytest.mark.parametrize(
    "text",
    [
        "x" * 400_000,
        '{"error":"a"}' * 60_000,
        "word " * 100_000,
        ("no error here " * 9 + "\n") * 4000,
    ],
)
def test_a_long_line_is_bounded_at_once(text: str) -> None:
    """SRCH-17: minified code, base64 and logs; a pattern that tries every start would hang here."""
    kept = bounded(text)
    assert kept.startswith(text[:16_000]) and kept.endswith(text[-8_000:])
    assert len(kept) < 16_000 + 8_000 + 4_000 + 600


def test_lines_about_errors_are_kept() -> None:
    """SRCH-17: those between the beginning and the end of a long output."""
    lines = [f"line {number} of a build" for number in range(4_000)]
    lines[2_000] = "FATAL: the quokka escaped"
    assert "FATAL: the quokka escaped\n" in bounded("\n".join(lines))


def test_a_full_disk_at_the_last_moment_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows were committed and the full text was not: the next run finds out, and mends it."""
    put(tmp_path, [turn("an apple", session="s0"), turn("a pear", session="s1")])
    real = Lexical.writing

    def full(self: Lexical) -> Any:
        writing = real(self)

        class Broken:
            def __enter__(self) -> Any:
                return writing.__enter__()

            def __exit__(self, *_: object) -> None:
                with suppress(OSError):
                    writing.__exit__(OSError, OSError("disk full"), None)
                raise OSError("disk full")

        return Broken()

    with monkeypatch.context() as patch:
        patch.setattr(Lexical, "writing", full)
        with pytest.raises(OSError, match="disk full"):
            put(tmp_path, [turn("a quince", session="s0")])
    put(tmp_path, [turn("a quince", session="s0"), turn("a pear", session="s1")])
    engine = Engine(tmp_path / "search.db", tmp_path)

    def ids(word: str) -> list[str]:
        hits = engine.search(parse_query(word), mode="lexical")
        return [hit.entry.session_id for hit in hits]

    assert (ids("quince"), ids("pear"), ids("apple")) == (["s0"], ["s1"], [])


def test_vectors_of_what_is_gone_take_no_place(tmp_path: Path) -> None:
    """However often a round was embedded before, what is there now is found."""
    vectors = Vectors(tmp_path / "v", 8)
    one = np.eye(8, dtype=np.float32)[0]
    vectors.put(list(range(1, 501)), [1] * 500, np.tile(one, (500, 1)))
    other = (one + 0.5 * np.eye(8, dtype=np.float32)[1]) / np.sqrt(1.25)
    vectors.put([900, 901], [1, 1], np.stack([other, other]).astype(np.float32))
    vectors.keep([900, 901])
    assert [like.row for like in vectors.search(one, 10)] == [900, 901]
    assert [like.row for like in vectors.search(one, 10, without=[900])] == [901]
