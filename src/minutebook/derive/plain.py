"""Other people's words, made safe to show: nothing is left that a terminal would obey.

`clean` takes out escape sequences, control characters and text-direction overrides; every
piece of transcript text goes through it before a front end shows it.
"""

from __future__ import annotations

import re

# CSI and OSC sequences as a whole, so that no "[31m" is left behind.
_SEQUENCES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x9b[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b."
)


def without_sequences(text: str) -> str:
    """A text without escape sequences."""
    if "\x1b" in text or "\x9b" in text:
        return _SEQUENCES.sub("", text)
    return text


_CONTROLS = dict.fromkeys(
    [
        *(*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0)),  # C0 and C1, but tab and newline
        *(*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F),  # text direction
        *range(0xD800, 0xE000),  # lone surrogates cannot be printed at all
    ]
)
_UNCLEAN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_LINE_BREAKS = dict.fromkeys([0x0A, 0x85, 0x2028, 0x2029, 0x09], " ")


def clean(text: str) -> str:
    """Text that a terminal only shows."""
    if _UNCLEAN.search(text) is None:
        return text  # most texts: looking is ten times as fast as taking out
    return without_sequences(text).replace("\r\n", "\n").translate(_CONTROLS)


def one_line(text: str) -> str:
    """Clean text on a single line."""
    return " ".join(clean(text.translate(_LINE_BREAKS)).split())


def one_line_kept(text: str) -> str:
    """Clean text on a single line, its blanks left alone: for pieces of a line."""
    return clean(text.translate(_LINE_BREAKS))
