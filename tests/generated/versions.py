"""Versions of Claude Code, and how their files differ."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property


def number(name: str) -> tuple[int, ...]:
    return tuple(int(part) for part in name.split("."))


@dataclass(frozen=True)
class Version:
    """One release; the facts are those of the format notes, to a few releases."""

    name: str
    model: str

    @cached_property
    def number(self) -> tuple[int, ...]:
        return number(self.name)

    def since(self, name: str) -> bool:
        return self.number >= number(name)

    def within(self, first: str, last: str) -> bool:
        return number(first) <= self.number <= number(last)

    @property
    def whole_messages(self) -> bool:
        """One line a message; later one line a content block."""
        return not self.since("1.0.10")

    @property
    def envelope_last(self) -> bool:
        """Where and when after the message instead of before it."""
        return self.since("2.1.76")

    @property
    def sidechains(self) -> str:
        """Where subagents are written: in the main file, beside it, or in a folder."""
        if not self.since("2.0.28"):
            return "inline"
        return "folder" if self.since("2.1.2") else "beside"

    @property
    def ticks(self) -> bool:
        """Whether progress is written down, with copies of what subagents say."""
        return self.within("2.1.9", "2.1.81")

    @property
    def era(self) -> str:
        """Versions that tell the same things in the same places."""
        return f"{self.sidechains}, ticking" if self.ticks else self.sidechains

    @property
    def spawning_tool(self) -> str:
        return "Agent" if self.since("2.1.63") else "Task"

    @property
    def says_why_it_stopped(self) -> bool:
        return self.whole_messages or self.within("2.0.20", "2.0.49") or self.since("2.1.60")


VERSIONS = (
    Version("0.2.126", "claude-3-7-sonnet-20250219"),
    Version("1.0.3", "claude-sonnet-4-20250514"),
    Version("1.0.60", "claude-opus-4-20250514"),
    Version("1.0.128", "claude-opus-4-1-20250805"),
    Version("2.0.0", "claude-sonnet-4-5-20250929"),
    Version("2.0.77", "claude-sonnet-4-5-20250929"),
    Version("2.1.2", "claude-opus-4-5-20251101"),
    Version("2.1.50", "claude-opus-4-6"),
    Version("2.1.72", "claude-sonnet-4-6"),
    Version("2.1.100", "claude-opus-4-6"),
    Version("2.1.150", "claude-opus-4-7"),
    Version("2.1.218", "claude-opus-4-8"),
)
