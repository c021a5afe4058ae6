"""What an extractor is given of a session."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import msgspec

from minutebook.derive.activity import Activity, activity
from minutebook.derive.identity import Identity
from minutebook.derive.plain import clean
from minutebook.derive.secrets import mask
from minutebook.derive.skeleton import Skeleton, skeleton
from minutebook.model import Round, SessionInfo

SYSTEM, META = "system", "meta"
"""Projects of work that belongs to none (ING-12)."""


class Material(msgspec.Struct, frozen=True, kw_only=True):
    """A session reduced to what engagements are found in; small enough to travel."""

    info: SessionInfo
    identity: Identity
    rounds: tuple[Activity, ...]
    skeleton: str
    truncated: bool
    chars: int
    """Length of the whole skeleton, before it was shortened."""
    digest: str

    @property
    def project(self) -> str:
        return self.info.cwd or SYSTEM


def material_of(info: SessionInfo, identity: Identity, rounds: Sequence[Round]) -> Material:
    """Everything any extractor needs, from one reading of the rounds."""
    text: Skeleton = skeleton(rounds)
    told = mask(clean(text.text))  # nothing secret is sent to anybody
    seen = hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return Material(
        info=info,
        identity=identity,
        rounds=tuple(_masked(activity(round)) for round in rounds),
        skeleton=told,
        truncated=text.truncated,
        chars=text.chars,
        digest=f"{seen}-{len(rounds)}",
    )


def _masked(round: Activity) -> Activity:
    """What was said, without secrets: topics and outcomes are made of it."""
    return msgspec.structs.replace(
        round, prompt=mask(clean(round.prompt)), answer=mask(clean(round.answer))
    )
