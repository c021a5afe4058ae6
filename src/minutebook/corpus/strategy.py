"""What of a turn can be found: its surfaces, as entries of an index (CORP-07, CORP-13)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Literal, NamedTuple

import msgspec

from minutebook.derive.turn_pairs import TurnPair
from minutebook.errors import BadArgument
from minutebook.index.entry import Entry, Kind, title_entry, turn_entry
from minutebook.index.lexical import Side

Surface = Literal["user_prompt", "assistant_summary", "assistant_full", "title"]
KINDS: tuple[Kind, ...] = ("turn", "rest", "title")
"""A turn's prompt and summary; the rest of its answer; a session's title."""
_FULL, _TITLE = "full:", "title:"


class Look(NamedTuple):
    """Where an engine has to look for some surfaces, and nowhere else."""

    surfaces: frozenset[str]
    kinds: tuple[Kind, ...]
    side: Side


class TurnStrategy(msgspec.Struct, frozen=True):
    """The indexing strategy: which texts of a turn can be found (CORP-07)."""

    include_full: bool = False

    @property
    def surfaces(self) -> tuple[Surface, ...]:
        full: tuple[Surface, ...] = ("assistant_full",) if self.include_full else ()
        return ("user_prompt", "assistant_summary", *full, "title")

    def texts(self, pair: TurnPair) -> dict[str, str]:
        """The surfaces of a turn, without the empty ones (CORP-16)."""
        return {name: text for name, text in pair.surfaces().items() if name in self.surfaces}

    def entry(self, pair: TurnPair) -> Entry:
        """A turn as one entry, for its change signal."""
        entry = turn_entry(pair)
        return entry if self.include_full else msgspec.structs.replace(entry, rest="")

    def entries(self, pair: TurnPair, synopsis: str = "") -> Iterator[Entry]:
        """A turn as an index holds it. The rest of an answer is an entry of its own, so that a
        search of summaries does not see it, neither by words nor by meaning."""
        entry = turn_entry(pair)
        told = "\n\n".join(text for text in (entry.answered, synopsis) if text)
        yield msgspec.structs.replace(entry, answered=told, rest="")
        if self.include_full and entry.rest:
            yield msgspec.structs.replace(
                entry, kind="rest", key=_FULL + entry.key, asked="", answered=entry.rest, rest=""
            )

    def title(self, pairs: Sequence[TurnPair]) -> Entry | None:
        """A session's title, unless it only is the beginning of the first prompt."""
        first = turn_entry(pairs[0])
        called = pairs[0].metadata.title
        if not called or not called.strip() or first.asked.startswith(called.rstrip("…")):
            return None
        entry = title_entry(first.session_id, called, [first])
        # On both sides, for it is neither: a title can be looked for beside either.
        return msgspec.structs.replace(entry, key=_TITLE, answered=called, tools=first.tools)

    def look(self, surfaces: Collection[str] | None) -> Look:
        """Where to look for exactly these surfaces (CORP-08)."""
        wanted = frozenset(self.surfaces if surfaces is None else self._known(surfaces))
        asked = "user_prompt" in wanted
        answered = bool(wanted & {"assistant_summary", "assistant_full"})
        kinds: list[Kind] = ["turn"] if asked or answered else []
        kinds += ["rest"] if "assistant_full" in wanted else []
        kinds += ["title"] if "title" in wanted else []
        if asked == answered:
            return Look(wanted, tuple(kinds), "both")
        return Look(wanted, tuple(kinds), "asked" if asked else "answered")

    def _known(self, surfaces: Collection[str]) -> Collection[str]:
        named = {surfaces} if isinstance(surfaces, str) else surfaces
        if not named or set(named) - set(self.surfaces):
            raise BadArgument(f"The surfaces of this corpus are {', '.join(self.surfaces)}.")
        return named


def pair_key(key: str) -> str | None:
    """The key of the pair that an entry is of, by the entry's; None for a session's title."""
    return None if key == _TITLE else key.removeprefix(_FULL)
