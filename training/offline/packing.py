"""The file of words' weights, as it is written; `minutebook.extract.offline.wording` reads it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from minutebook.extract.offline.wording import Lexicon


def packed(lexicon: Lexicon, groups: Mapping[str, Any], about: Mapping[str, Any]) -> bytes:
    """A line that says what it is, the checksums, then a byte for each weight.

    `groups` has for each kind of text a weight for each word and class.
    """
    table = np.hstack(list(groups.values()))
    scales = [float(f"{most / 127:.4g}") for most in np.maximum(np.abs(table).max(0), 1e-6)]
    header = {
        **about,
        "words": len(lexicon.keys),
        "groups": {name: np.shape(weights)[1] for name, weights in groups.items()},
        "scales": scales,
    }
    steps = np.clip(np.round(table / np.array(scales)), -127, 127).astype(np.int8)
    keys = np.array(lexicon.keys, dtype="<u4")
    return b"".join((json.dumps(header).encode(), b"\n", keys.tobytes(), steps.tobytes()))
