"""minutebook keeps and searches the sessions of coding agents.

>>> from minutebook import open_archive, said
>>> with open_archive() as archive:
...     for hit in archive.search("passkey login", limit=5):
...         print(archive.short(hit.session_id), hit.round, hit.snippet.text)
...     for record, engagement in archive.engagements():
...         print(record.project, engagement.topic, engagement.outcome)
...     for round in archive.session("Reed").rounds():
...         print(round.number, round.prompt and round.prompt.said)
...     archive.say("Reed", said.Set("1", values={"method": "debug"}))

What an archive hands out is masked, unless it is opened with ``secrets=True``. Names are loaded
when they are first used, so ``import minutebook`` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from minutebook.api import (
        engagements,
        find_transcripts,
        ingest,
        open_team,
        read_session,
        skim_session,
    )
    from minutebook.archive import Archive, open_archive
    from minutebook.archive.hit import Hit
    from minutebook.archive.session import OpenSession
    from minutebook.archive.sessions import SessionSummary
    from minutebook.derive.skeleton import skeleton
    from minutebook.derive.turn_pairs import turn_pairs
    from minutebook.errors import (
        Ambiguous,
        BadArgument,
        Conflict,
        Locked,
        MinutebookError,
        NotFound,
    )
    from minutebook.index.query import Query
    from minutebook.model import Round, Session, SessionInfo, said
    from minutebook.model.engagement import Engagement, SessionRecord
    from minutebook.model.lineage import Edge, Lineage
    from minutebook.verbs import engagement
    from minutebook.verbs.share import SharedFile, export

    __version__: str

_HOMES = {
    "Ambiguous": "minutebook.errors",
    "Archive": "minutebook.archive",
    "BadArgument": "minutebook.errors",
    "Conflict": "minutebook.errors",
    "Edge": "minutebook.model.lineage",
    "Engagement": "minutebook.model.engagement",
    "Hit": "minutebook.archive.hit",
    "Lineage": "minutebook.model.lineage",
    "Locked": "minutebook.errors",
    "MinutebookError": "minutebook.errors",
    "NotFound": "minutebook.errors",
    "OpenSession": "minutebook.archive.session",
    "Query": "minutebook.index.query",
    "Round": "minutebook.model",
    "Session": "minutebook.model",
    "SessionInfo": "minutebook.model",
    "SessionRecord": "minutebook.model.engagement",
    "SessionSummary": "minutebook.archive.sessions",
    "SharedFile": "minutebook.verbs.share",
    "engagements": "minutebook.api",
    "export": "minutebook.verbs.share",
    "find_transcripts": "minutebook.api",
    "ingest": "minutebook.api",
    "open_archive": "minutebook.archive",
    "open_team": "minutebook.api",
    "read_session": "minutebook.api",
    "skeleton": "minutebook.derive.skeleton",
    "skim_session": "minutebook.api",
    "turn_pairs": "minutebook.derive.turn_pairs",
}

_MODULES = {
    "engagement": "minutebook.verbs.engagement",  # engagement.start, engagement.advance …
    "said": "minutebook.model.said",  # said.Set, said.Split …
}

__all__ = [
    "Ambiguous",
    "Archive",
    "BadArgument",
    "Conflict",
    "Edge",
    "Engagement",
    "Hit",
    "Lineage",
    "Locked",
    "MinutebookError",
    "NotFound",
    "OpenSession",
    "Query",
    "Round",
    "Session",
    "SessionInfo",
    "SessionRecord",
    "SessionSummary",
    "SharedFile",
    "__version__",
    "engagement",
    "engagements",
    "export",
    "find_transcripts",
    "ingest",
    "open_archive",
    "open_team",
    "read_session",
    "said",
    "skeleton",
    "skim_session",
    "turn_pairs",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("minutebook")
    if name in _MODULES:
        return import_module(_MODULES[name])
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'minutebook' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
