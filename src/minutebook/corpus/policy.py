"""How a corpus is kept: when it is refreshed, what gets a synopsis, where its index is.

>>> Policy().refreshes_at_search
True
>>> Policy(schedule="manual").refreshes_at_search
False
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec

from minutebook.derive.turn_pairs import TurnPair
from minutebook.errors import BadArgument
from minutebook.record.store import make_folder, write_atomically

Schedule = Literal["search", "manual"]
Synopsis = Callable[[TurnPair], str]
DEFAULT_DAYS = 90
_FILE = "corpus.json"


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """The work a corpus may cause, and where it goes."""

    schedule: Schedule = "search"
    """``search``: refreshed before each search; ``manual``: only by `refresh` or `build`."""
    synopsis: Synopsis | None = None
    """What is said of a turn beside its own words; by default nothing (CORP-10). It is called
    once a turn; another function of the same name is taken for the same."""
    synopsis_days: int | None = 30
    """Only sessions active in the last so many days get synopses; None: all of them."""
    storage: str | Path | None = None
    """The folder of the index; None: a temporary one, which goes with the corpus."""

    @property
    def refreshes_at_search(self) -> bool:
        return self.schedule == "search"


class Options(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a kept corpus is made of, as its folder remembers it. A synopsis is a function, and
    cannot be written down: whoever opens the corpus has to give it again."""

    since: int | str | None = DEFAULT_DAYS
    projects: tuple[str, ...] | None = None
    include_full: bool = False
    max_sessions: int | None = None
    schedule: Schedule = "search"
    synopsis_days: int | None = 30


def read_options(folder: Path) -> Options | None:
    """The options a folder remembers; None where there are none, or they cannot be read."""
    try:
        return msgspec.json.decode((folder / _FILE).read_bytes(), type=Options)
    except (OSError, msgspec.DecodeError):
        return None


def write_options(folder: Path, options: Options) -> None:
    make_folder(folder)
    write_atomically(folder / _FILE, msgspec.json.encode(options) + b"\n")


def checked(options: Options) -> Options:
    """The same options, if they make sense."""
    if options.schedule not in ("search", "manual"):
        raise BadArgument(f"'{options.schedule}' is not a schedule; choose search or manual.")
    for name in ("max_sessions", "synopsis_days"):
        value = getattr(options, name)
        if value is not None and value < 0:
            raise BadArgument(f"{name} cannot be negative.")
    return options
