"""The protocol every extractor keeps, and the ways one can fail."""

from __future__ import annotations

from typing import Protocol

import msgspec

from minutebook.extract.material import Material
from minutebook.extract.reply import Reply
from minutebook.model import Usage


class Extraction(msgspec.Struct, frozen=True):
    """A usable answer, and what it cost."""

    reply: Reply
    model: str | None = None
    usage: Usage = Usage()
    cost_usd: float = 0.0


class Failed(Exception):
    """No usable answer for this session; the others go on."""

    def __init__(self, reason: str, *, service: bool = False) -> None:
        super().__init__(reason)
        self.service = service
        """Whether the service is to blame rather than the session: a few in a row end the run."""


class Refused(Exception):
    """No answer for any session: no key, no network, no credit. The run stops asking."""


class Extractor(Protocol):
    """Skeleton and metadata in, validated engagements out."""

    @property
    def name(self) -> str: ...
    @property
    def model(self) -> str | None: ...
    @property
    def version(self) -> str:
        """Of the prompt, or of the rules: after a change, sessions are extracted again."""
        ...

    @property
    def destination(self) -> str | None:
        """To whom skeletons are sent; None where nothing leaves the machine."""
        ...

    def forecast(self, material: Material) -> float | None:
        """What a call will probably cost, in dollars; None where nobody can know."""
        ...

    def close(self) -> None:
        """Let go of connections."""
        ...

    def extract(self, material: Material) -> Extraction:
        """Raises `Failed` or `Refused`; may be called from several threads."""
        ...
