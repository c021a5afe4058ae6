"""What a reading of a rollout has to remember between two lines."""

from __future__ import annotations

import hashlib

import msgspec

from minutebook.model import Attachment
from minutebook.sources.codex.results import End


class Memory(msgspec.Struct, omit_defaults=True):
    """A value, so that a reading can be taken up again."""

    # -- the session
    id: str = ""
    nested: bool = False
    """Whether it is a subagent's."""
    exported: bool = False
    """Whether the file begins with an export: its lines say more than they seem to."""
    title: str | None = None
    titled: bool = False
    """Whether an export says that a person gave the title."""
    originator: str | None = None
    model: str | None = None
    spawned: dict[str, str] = {}
    """Subagents → the calls that started them."""
    # -- ids
    chain: str = ""
    fed: bool = False
    asides: int = 0
    replies: int = 0
    # -- the history of a parent, copied
    copying: bool = False
    copied_turns: bool = False
    copied_at: str | None = None
    # -- the turn
    prompted: bool | None = None
    undecided: bool = False
    """Whether it is still to be seen who wanted the last compaction."""
    aborted: bool = False
    told: str | None = None
    """A prompt whose event is still to come."""
    announced: str | None = None
    """A prompt whose event came first."""
    context: list[tuple[Attachment, str | None]] = []
    """Given to the model before a prompt that is still to come; with their times."""
    # -- the reply
    reply: str | None = None
    is_open: bool = False
    is_billed: bool = False
    ends: dict[str, End] = {}
    """What events said of calls that are not answered yet."""
    found: str | None = None
    """What the last search of the web found."""
    # -- usage
    total: tuple[int, int, int] | None = None
    recorded: bool = False
    """Whether the response that the next total includes was counted already."""
    window: int = 0
    window_before: int = 0
    limit: int | None = None
    """Tokens the model's window has, as the last turn said."""

    # Messages have no ids in most versions, `codex migrate-rollouts` rewrites files, and a fork
    # has copied lines under new times. So an id is made from what was said and called up to there,
    # beginning with the id of the first turn, else of the session where it was said first.

    def seed(self, session_id: str) -> None:
        self.chain = _digest(session_id)

    def advance(self, kind: str, text: str) -> str:
        """The id of something that was said, which all later ones depend on."""
        self.chain = _digest(f"{self.chain}\0{kind}\0{text}")
        self.fed, self.asides, self.replies = True, 0, 0
        return self.chain

    def aside(self) -> str:
        """The id of something a skim need not see."""
        self.asides += 1
        return _digest(f"{self.chain}\0aside\0{self.asides}")

    def passed_aside(self) -> None:
        """Something that could have been named, and goes by another's name."""
        self.asides += 1

    def next_reply(self) -> str:
        self.replies += 1
        return _digest(f"{self.chain}\0reply\0{self.replies}")


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()
