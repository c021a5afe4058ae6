"""What an extractor is given of a session."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import msgspec

from minutebook.derive.activity import Activity, activity
from minutebook.derive.identity import Identity
from minutebook.derive.plain import clean
from minutebook.derive.skeleton import SkeletonBuilder
from minutebook.model import Round, SessionInfo

SYSTEM, META = "system", "meta"
"""Projects of work that belongs to none (ING-12)."""

OPENING_CHARS = 400
"""Of a prompt, where only how it begins is needed."""


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


def rest_of(material: Material, after: int) -> Material:
    """A session without its first rounds. Its title is about these as well, so it goes, too."""
    info = msgspec.structs.replace(material.info, title=None)
    return msgspec.structs.replace(material, info=info, rounds=material.rounds[after:])


class MaterialBuilder:
    """Gathers what extractors need of rounds as they pass; nothing of a round is held."""

    def __init__(self) -> None:
        self._skeleton = SkeletonBuilder()
        self._rounds: list[Activity] = []

    def add(self, round: Round) -> None:
        self._skeleton.add(round)
        self._rounds.append(activity(round, hidden))

    def material(self, info: SessionInfo, identity: Identity) -> Material:
        text = self._skeleton.skeleton(hidden)
        seen = hashlib.sha256(text.text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        return Material(
            info=info,
            identity=identity,
            rounds=tuple(self._rounds),
            skeleton=text.text,
            truncated=text.truncated,
            chars=text.chars,
            digest=f"{seen}-{len(self._rounds)}",
        )


def material_of(info: SessionInfo, identity: Identity, rounds: Iterable[Round]) -> Material:
    """Everything any extractor needs, from one reading of the rounds."""
    builder = MaterialBuilder()
    for round in rounds:
        builder.add(round)
    return builder.material(info, identity)


def hidden(text: str) -> str:
    """A text without secrets: nothing secret is sent to anybody, and none is in a topic."""
    if not text:
        return text
    from minutebook.derive.secrets import mask

    return mask(clean(text))
