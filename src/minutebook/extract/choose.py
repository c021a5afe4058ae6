"""The extractor a person asks for."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING

from minutebook.errors import BadArgument
from minutebook.extras import missing, needed

if TYPE_CHECKING:
    from minutebook.extract.extractor import Extractor


EXTRACTORS = ("auto", "anthropic", "claude-cli", "openai", "offline")


SUBSCRIBED = frozenset({"claude-cli"})
"""Extractors whose calls a subscription may cover: their costs are those of the API."""


UNKEYED = "claude-cli"
"""The extractor that needs no key."""


def unkeyed_program() -> str | None:
    """The program that `UNKEYED` asks, by its name, where there is one."""
    from minutebook.extract.claude_cli import find_claude

    found = find_claude()
    return Path(found).name if found is not None else None


def has_key() -> bool:
    """Whether there is a key for Claude, with or without anything to ask it with."""
    from minutebook.extract.secret import find_secret

    return find_secret("ANTHROPIC_API_KEY") is not None


def auto_is_offline() -> bool:
    """Whether ``auto`` asks no model: Claude's key or its SDK is missing."""
    return missing("anthropic") or not has_key()


def choose_extractor(
    name: str = "auto",
    *,
    model: str | None = None,
    base_url: str | None = None,
    max_cost: float | None = None,
    dry: bool = False,
) -> Extractor:
    """The extractor of this name; ``auto`` is Anthropic where there is a key and its SDK, else
    offline.

    A `dry` one only forecasts: it needs no key, and ``auto`` says what Anthropic would cost.
    """
    from minutebook.extract.pricing import Budget
    from minutebook.extract.secret import Secret, find_secret

    if name not in EXTRACTORS:
        raise BadArgument(f"'{name}' is not an extractor; choose one of {', '.join(EXTRACTORS)}.")
    if max_cost is not None and not math.isfinite(max_cost):
        raise BadArgument("The cost limit is a number of dollars, such as 2 or 0.50.")
    if max_cost is not None and name == "openai":
        raise BadArgument("The prices of that endpoint are not known.", remedy="no-limit")
    budget = Budget(max_cost)
    key = find_secret("ANTHROPIC_API_KEY") if name in ("auto", "anthropic") and not dry else None
    key = Secret("") if dry else key
    if name == "offline" or (name == "auto" and not dry and auto_is_offline()):
        from minutebook.extract.offline import OfflineExtractor

        return OfflineExtractor()
    if name in ("auto", "anthropic"):
        if key is None:
            raise BadArgument(
                "No API key found: set ANTHROPIC_API_KEY, or put it into ~/.secrets.",
                remedy="keyless",
            )
        if not dry:
            needed("anthropic")
        from minutebook.extract.anthropic import AnthropicExtractor

        url = base_url or os.environ.get("ANTHROPIC_BASE_URL")
        extractor = AnthropicExtractor(key, model, budget, url)
        if max_cost is not None and extractor.price is None:
            raise BadArgument(f"The price of '{model}' is not known.", remedy="no-limit")
        return extractor
    if name == "claude-cli":
        from minutebook.extract.claude_cli import ClaudeCliExtractor

        return ClaudeCliExtractor(model, budget)
    url = base_url or os.environ.get("OPENAI_BASE_URL")
    if url is None or model is None:
        raise BadArgument(
            "An OpenAI-compatible endpoint needs a model and an address (OPENAI_BASE_URL), such as "
            "http://127.0.0.1:11434/v1 for Ollama.",
            remedy="endpoint",
        )
    from minutebook.extract.openai import OpenAIExtractor

    return OpenAIExtractor(url, model, find_secret("OPENAI_API_KEY"), budget)
