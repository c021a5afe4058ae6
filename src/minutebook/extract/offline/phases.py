"""In which phase a range of rounds ended, and why.

A learned model tells whether the last engagement of a session is still open. What kind of open it
is has too few examples to be learned: that is read from listed words, where they are plain.
"""

from __future__ import annotations

from functools import partial

from minutebook.extract.offline import cues, phase_cues
from minutebook.extract.offline.features import Session
from minutebook.extract.offline.model import Models
from minutebook.extract.offline.reasons import Reason, Why
from minutebook.extract.offline.segments import of_ending
from minutebook.model.engagement import Phase

OPEN = -0.5
"""Log-odds from which an engagement counts as open: few are, so the model is cautious."""
_SAID = 200  # characters of a prompt in which it is taken back or handed over
_ENDING = 600


def phase_of(session: Session, start: int, end: int, models: Models) -> tuple[Phase, Why]:
    """In which phase rounds `start` up to (not with) `end` ended."""
    rounds, heard = session.rounds[start:end], session.heard[start:end]
    final, answer = rounds[-1], cues.small(rounds[-1].answer.strip()[-_ENDING:])
    if _taken_back(session, start, end):
        return "abandoned", lambda: (Reason("the person takes it back", 1.0),)
    if end < len(session.rounds):
        return "completed", lambda: (Reason("other work follows", 1.0),)
    if phase_cues.HANDED.search(f"{final.command or ''} {heard[-1].text[:_SAID]}".lower()):
        return "handed-off", lambda: (Reason("it ends with a hand-over", 1.0),)
    row = of_ending(rounds, heard)
    odds = models.ending.scores(row)[0]
    reasons = partial(models.ending.reasons, row)
    if phase_cues.BLOCKED.search(answer):
        return "blocked", lambda: (Reason("the last words wait for something", 1.0), *reasons())
    if odds <= OPEN:
        return "completed", lambda: tuple(Reason(r.what, -r.weight) for r in reasons())
    if len(rounds) == 1 and not final.closes and not (answer and final.edits):
        return "started", lambda: (
            Reason("one round, and nothing was changed", 1.0),
            *reasons(),
        )
    return "in-progress", reasons


def _taken_back(session: Session, start: int, end: int) -> bool:
    """Whether what was changed is undone: by the last prompt of a range, or by the next one."""
    rounds, heard = session.rounds, session.heard
    edited = [any(round.edits for round in rounds[start:stop]) for stop in (end - 1, end)]
    last = edited[0] and phase_cues.takes_back(heard[end - 1].bare[:_SAID])
    return last or (
        edited[1] and end < len(rounds) and phase_cues.takes_back(heard[end].bare[:_SAID])
    )
