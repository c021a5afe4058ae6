"""minutebook keeps the minutes of coding agents.

>>> from minutebook import find_transcripts, read_session
>>> for transcript in find_transcripts("~/.claude"):
...     session = read_session(transcript.path)
...     print(session.info.title, len(session.rounds))

Names are loaded when they are first used, so ``import minutebook`` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from minutebook.api import (
        engagements,
        find_transcripts,
        ingest,
        read_session,
        skim_session,
    )
    from minutebook.derive.skeleton import skeleton
    from minutebook.derive.turn_pairs import turn_pairs
    from minutebook.errors import Ambiguous, BadArgument, MinutebookError, NotFound
    from minutebook.model import Round, Session, SessionInfo
    from minutebook.model.engagement import Engagement, SessionRecord

    __version__: str

_HOMES = {
    "Ambiguous": "minutebook.errors",
    "BadArgument": "minutebook.errors",
    "Engagement": "minutebook.model.engagement",
    "MinutebookError": "minutebook.errors",
    "NotFound": "minutebook.errors",
    "Round": "minutebook.model",
    "Session": "minutebook.model",
    "SessionInfo": "minutebook.model",
    "SessionRecord": "minutebook.model.engagement",
    "engagements": "minutebook.api",
    "find_transcripts": "minutebook.api",
    "ingest": "minutebook.api",
    "read_session": "minutebook.api",
    "skeleton": "minutebook.derive.skeleton",
    "skim_session": "minutebook.api",
    "turn_pairs": "minutebook.derive.turn_pairs",
}

__all__ = [
    "Ambiguous",
    "BadArgument",
    "Engagement",
    "MinutebookError",
    "NotFound",
    "Round",
    "Session",
    "SessionInfo",
    "SessionRecord",
    "__version__",
    "engagements",
    "find_transcripts",
    "ingest",
    "read_session",
    "skeleton",
    "skim_session",
    "turn_pairs",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("minutebook")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'minutebook' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
