"""Labels as models spell them: another case, another form of the word, spaces for hyphens.

Only forms of the very word are listed, and what everybody calls a `reorg`; a label that
means something else is sent back rather than guessed at.
"""

from __future__ import annotations

from typing import Any

from minutebook.model.engagement import METHODS, PHASES

_METHODS = {
    "review": ("reviewing", "reviewed", "code-review"),
    "write": ("writing", "written"),
    "design": ("designing", "designed"),
    "build": ("building", "built"),
    "reorg": (
        *("refactor", "refactoring", "refactored", "restructure", "restructuring"),
        *("reorganise", "reorganize", "reorganising", "reorganizing"),
        *("reorganisation", "reorganization", "re-org"),
    ),
    "triage": ("triaging", "triaged"),
    "discuss": ("discussing", "discussed", "discussion"),
    "debug": ("debugging", "debugged"),
    "deploy": ("deploying", "deployed", "deployment"),
    "research": ("researching", "researched"),
    "plan": ("planning", "planned"),
}
_PHASES = {
    "started": ("start", "starting"),
    "in-progress": ("inprogress", "progress"),
    "blocked": ("block",),
    "completed": ("complete", "completion"),
    "abandoned": ("abandon",),
    "handed-off": ("handedoff", "hand-off", "handoff"),
}


def _spellings(words: tuple[str, ...], others: dict[str, tuple[str, ...]]) -> dict[str, str]:
    known = {word: word for word in words}
    return known | {other: word for word in words for other in others[word]}


_KNOWN = {"method": _spellings(METHODS, _METHODS), "phase": _spellings(PHASES, _PHASES)}


def spelled(reply: Any) -> Any:
    """A decoded reply with its labels as the schema spells them; anything else as it is."""
    if not isinstance(reply, dict) or not isinstance(reply.get("engagements"), list):
        return reply
    return {**reply, "engagements": [_engagement(part) for part in reply["engagements"]]}


def _engagement(part: Any) -> Any:
    if not isinstance(part, dict):
        return part
    labels = {
        field: known.get(_plain(part[field]), part[field])
        for field, known in _KNOWN.items()
        if isinstance(part.get(field), str)
    }
    return {**part, **labels}


def _plain(label: str) -> str:
    return "-".join(label.lower().replace("_", " ").replace("-", " ").split())
