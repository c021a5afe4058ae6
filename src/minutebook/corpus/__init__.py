"""The turn-pair corpus: what I asked and what was answered, across all sessions (CORP-01 … 17).

>>> from minutebook.corpus import CorpusSource, search
>>> from minutebook.derive.turn_pairs import TurnMetadata, TurnPair
>>> def two_turns():
...     meta = TurnMetadata("a-session", 1, project="orchard")
...     yield TurnPair("a-session:1", "Fix the login redirect", "It keeps the query.", "", meta)
...     meta = TurnMetadata("a-session", 2, project="orchard")
...     yield TurnPair("a-session:2", "Draw a chart", "The bars are green.", "", meta)
>>> corpus = CorpusSource.from_claude_sessions(fetcher=two_turns)
>>> [hit.pair.id for hit in search(corpus, "redirects", mode="lexical")]
['a-session:1']
>>> search(corpus, "redirects", surfaces={"assistant_summary"}, mode="lexical")
[]
>>> corpus.scope["a-session:2"].assistant_summary
'The bars are green.'
>>> corpus.refresh().added  # nothing has changed since
0
"""

from minutebook.corpus.policy import DEFAULT_DAYS, Options, Policy, Schedule, Synopsis
from minutebook.corpus.reading import Fetcher
from minutebook.corpus.scope import TurnScope
from minutebook.corpus.searching import Filter, TurnHit, search
from minutebook.corpus.source import PRESETS, CorpusSource, kept_corpus, preset, with_synopsis
from minutebook.corpus.store import Indexed
from minutebook.corpus.strategy import Surface
from minutebook.corpus.strategy import TurnStrategy as ClaudeTurn

__all__ = [
    "DEFAULT_DAYS",
    "PRESETS",
    "ClaudeTurn",
    "CorpusSource",
    "Fetcher",
    "Filter",
    "Indexed",
    "Options",
    "Policy",
    "Schedule",
    "Surface",
    "Synopsis",
    "TurnHit",
    "TurnScope",
    "kept_corpus",
    "preset",
    "search",
    "with_synopsis",
]
