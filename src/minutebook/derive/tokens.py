"""How many tokens a text is: an estimate, the same everywhere.

Providers count differently, and none of them offline. Three and a half bytes a token is on
the safe side for English and code; scripts with long encodings count as more than they are.
"""

from __future__ import annotations

import math

BYTES_A_TOKEN = 3.5


def tokens(*texts: str) -> int:
    """Estimated tokens of some texts: their bytes in UTF-8, divided by 3.5 and rounded up."""
    return math.ceil(sum(map(utf8_bytes, texts)) / BYTES_A_TOKEN)


def utf8_bytes(text: str) -> int:
    """The length of a text in UTF-8, whatever it holds."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
