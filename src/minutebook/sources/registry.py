"""The sources there are. Adding an agent is adding a folder and a line here."""

from __future__ import annotations

from minutebook.sources.base import Source
from minutebook.sources.claude_code import ClaudeCode

SOURCES: dict[str, Source] = {source.name: source for source in (ClaudeCode(),)}
