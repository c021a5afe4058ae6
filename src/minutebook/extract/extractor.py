"""The protocol every extractor keeps, and the ways one can fail."""

from __future__ import annotations

from typing import Protocol

import msgspec

from minutebook.extract.material import Material, hidden
from minutebook.extract.reply import Reply
from minutebook.model import Usage


class Spent(msgspec.Struct, frozen=True):
    """What asking took, whether or not anything came of it."""

    calls: int = 0
    usage: Usage = Usage()
    cost_usd: float = 0.0

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            self.calls + other.calls, self.usage + other.usage, self.cost_usd + other.cost_usd
        )


class Extraction(msgspec.Struct, frozen=True):
    """A usable answer, and what it cost."""

    reply: Reply
    model: str | None = None
    spent: Spent = Spent()
    remarks: tuple[str, ...] = ()
    """What is out of bounds in it, and taken all the same."""


_LONGEST_REASON = 400


class NoAnswer(Exception):
    """Nothing usable; what was spent on it all the same is with it.

    The reason is shown and written down, and services choose its words: it is masked, and a
    clause without a full stop.
    """

    def __init__(self, reason: str, spent: Spent | None = None) -> None:
        super().__init__(hidden(reason)[:_LONGEST_REASON].rstrip(". \n"))
        self.spent = spent or Spent()


class Failed(NoAnswer):
    """No usable answer for this session; the others go on."""

    service = False
    """Whether the service is to blame rather than the session: a few in a row end the run."""


class Unavailable(Failed):
    """The service is slow, overloaded or down."""

    service = True


class Refused(NoAnswer):
    """No answer for any session: no key, no network, no credit. The run stops asking."""


class OverBudget(NoAnswer):
    """The next call might cross the limit."""

    def __init__(self, reason: str = "the cost limit is reached") -> None:
        super().__init__(reason)


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

    def extract(self, material: Material) -> Extraction:
        """Raises `Failed`, `Refused` or `OverBudget`; may be called from several threads."""
        ...

    def close(self) -> None:
        """Let go of connections."""
        ...
