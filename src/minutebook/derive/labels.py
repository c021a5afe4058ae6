"""Labels a person names, checked against those there are (SRCH-02)."""

from __future__ import annotations

from minutebook.errors import BadArgument
from minutebook.model.engagement import METHODS, PHASES

_KNOWN_PHASES = (*PHASES, "monitoring")  # the last is met in older records


def known_method(word: str) -> str:
    """One of the eleven methods; an error that lists them."""
    if word not in METHODS:
        raise BadArgument(f"'{word}' is not a method; choose one of {', '.join(METHODS)}.")
    return word


def known_phase(word: str) -> str:
    """One of the phases; an error that lists them."""
    if word not in _KNOWN_PHASES:
        raise BadArgument(f"'{word}' is not a phase; choose one of {', '.join(_KNOWN_PHASES)}.")
    return word
