"""How a range of rounds ended: its phase, from its last words and deeds."""

from __future__ import annotations

import re
from collections.abc import Sequence

from minutebook.derive.activity import Activity
from minutebook.extract.offline.boundaries import Reason
from minutebook.model.engagement import Phase

_UNFINISHED = re.compile(r"(?::|…|\blet me [^.?!]{0,200}[.:]?)$", re.IGNORECASE)
_BLOCKED = re.compile(
    r"\b(?:blocked (?:on|by)|waiting (?:for|on) (?:you|your|the user|access|approval)"
    r"|can(?:'|no)t (?:proceed|continue) (?:until|without)|need(?:s)? your (?:input|approval"
    r"|access|password)"
    r"|hit (?:your|the) (?:usage|rate) limit)\b",
    re.IGNORECASE,
)
_HANDED = re.compile(r"\bhand(?:ed)?[- ]?(?:off|over)\b", re.IGNORECASE)
_DROPPED = re.compile(
    r"\b(?:revert(?: the| all| your| those| these)?|undo|roll back|throw (?:it|that) away"
    r"|scrap|forget (?:it|that|about)"
    r"|never ?mind|abandon)\b",
    re.IGNORECASE,
)


def phase_of(
    rounds: Sequence[Activity], following: Activity | None, *, last: bool
) -> tuple[Phase, Reason]:
    """In which phase a range ended; `following` is the round after it."""
    final = rounds[-1]
    answer = final.answer.strip()
    if following is not None and _DROPPED.search(following.prompt[:200]):
        return "abandoned", Reason("what follows takes it back", 1.0)
    if not last:
        return "completed", Reason("other work follows", 1.0)
    if _HANDED.search(final.command or "") or _HANDED.search(final.prompt[:80]):
        return "handed-off", Reason("it ends with a hand-over", 1.0)
    if _BLOCKED.search(answer[-600:]):
        return "blocked", Reason("the last words wait for something", 1.0)
    if final.interrupted and not final.closes:
        return "in-progress", Reason("the last round was interrupted", 1.0)
    if not answer:
        phase: Phase = "started" if len(rounds) == 1 else "in-progress"
        return phase, Reason("the last request has no answer", 1.0)
    if _UNFINISHED.search(answer):
        return "in-progress", Reason("the last words announce more", 1.0)
    if answer.endswith("?") and not final.closes:
        return "in-progress", Reason("it ends with an open question", 1.0)
    return "completed", Reason("the last words report a result", 1.0)
