"""A corpus of our own: Claude Code transcripts of many versions, made from a seed.

Whoever has no `../shared` still gets the proofs that need real-looking sessions. Nothing here
imports minutebook: what is written is what the format says, not what the reader expects.
"""

from tests.generated.big import big_session
from tests.generated.generate import generate

__all__ = ["big_session", "generate"]
