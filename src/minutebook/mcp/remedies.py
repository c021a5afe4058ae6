"""What to do next, in words of the tools: about an error, and to read more (AGT)."""

from __future__ import annotations

from minutebook.errors import MinutebookError
from minutebook.verbs.round_text import Pointers

REMEDIES = {
    "force-step": "force=true takes the step anyway, and records that.",
    "child-or-switch": "Give child or switch.",
    "obligation": "Give an obligation, too.",
    "which-id": "Give the id of one.",
    "start": "`engagement_start` begins one.",
    "in-the-way": "child=true begins a part of it, switch=true puts it aside; `engagement_close` "
    "ends it.",
    "ended-in-the-way": "switch=true moves it to engagements/archive/.",
    "has-tools": "Or leave out has_tools.",
    "no-round-filters": "Leave out command, error, budget and has_tools.",
    "threads": "`search` names threads as thread=.",
    "engagements": "`engagements` lists them.",
    "one-of-sessions": "Give `context` one of them in sessions, with the engagement.",
}
"""By the name an error gives; one without an entry has no remedy that an agent could apply."""

TOOLS = Pointers(
    rounds='show address="{address}"',
    lines='context sessions=["{address}"] compressed=true',
    search="search query={query}",
    whole="`tool_output='full'` of `show` gives the whole round.",
)
"""How a context says to an agent where there is more."""


def worded(error: MinutebookError) -> str:
    """The fact, and what to do about it."""
    return f"{error} {REMEDIES.get(error.remedy, '')}".rstrip()
