"""What a search asks for, as its URL says it: words, where, how, narrowed to what (VIEW-23)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, cast, get_args
from urllib.parse import urlencode

import msgspec

from minutebook.archive.facets import EVERYTHING, FACETS, Narrowing
from minutebook.archive.finding import Answer, Sort
from minutebook.archive.masking import unmarked
from minutebook.archive.passing import PLACES, parse_where
from minutebook.errors import BadArgument
from minutebook.index.clauses import Side
from minutebook.index.engine import Mode
from minutebook.index.query import Filters
from minutebook.sources.registry import SOURCES
from minutebook.web.state import ServerState

MODES: tuple[str, ...] = get_args(Mode)
SORTS: tuple[str, ...] = get_args(Sort)
SIDES = ("both", "asked", "answered")
_LONGEST = 2_000
_SHOWN = 8  # values of a facet before the rest is folded away
_SIDES = {"both": "both sides", "asked": "you asked", "answered": "the agent answered"}
_PLACES = {
    "all": "everywhere",
    "turns": "what was said",
    "engagements": "the minutes",
    "tools": "commands and output",
    "files": "names of files",
    "thinking": "thinking",
    "subagents": "subagents",
}
_TITLES = {
    "project": "Project",
    "month": "Month",
    "method": "Method",
    "agent": "Agent",
    "program": "Program",
}


class Asked(msgspec.Struct, frozen=True):
    """A search, understood."""

    typed: str = ""
    where: str = "all"
    side: str = "both"
    mode: str = "hybrid"
    sort: str = "relevance"
    starred: bool = False
    hidden: bool = False
    narrowing: Narrowing = EVERYTHING

    @property
    def asks(self) -> bool:
        """Whether there is something to look for, or to list."""
        return bool(self.typed.strip() or self.starred or self.narrowing.chosen)

    @property
    def is_plain(self) -> bool:
        return self == Asked(self.typed, sort=self.sort)

    def said(self) -> dict[str, str]:
        """The fields of the query; what is usual is left out."""
        usual, said = Asked(), {"q": self.typed} if self.typed else {}
        for field, name in _FIELDS.items():
            if getattr(self, field) != getattr(usual, field):
                said[name] = getattr(self, field)
        for name in ("starred", "hidden"):
            if getattr(self, name):
                said[name] = "1"
        return {name: unmarked(value) for name, value in (said | self.narrowing.chosen).items()}

    def url(self, *, page: int = 1, **changes: Any) -> str:
        """The address of this search, changed; facets are changed by their names."""
        facets = {name: changes.pop(name) for name in FACETS if name in changes}
        narrowing = msgspec.structs.replace(self.narrowing, **facets)
        said = msgspec.structs.replace(self, narrowing=narrowing, **changes).said()
        if page > 1:
            said["page"] = str(page)
        return "/search" + (f"?{urlencode(said)}" if said else "")

    def answer(self, state: ServerState, *, limit: int, offset: int = 0) -> Answer:
        return state.search(
            self.typed,
            where=self.where,
            side=cast(Side, self.side),
            mode=cast(Mode, self.mode),
            sort=cast(Sort, self.sort),
            limit=limit,
            offset=offset,
            filters=Filters(starred=self.starred, hidden=self.hidden),
            narrowing=self.narrowing,
        )


_FIELDS = {"where": "in", "side": "side", "mode": "mode", "sort": "sort"}


def asked_of(params: Mapping[str, str]) -> Asked:
    """A URL's query, understood; what makes no sense is said."""
    for name, known in (("mode", MODES), ("sort", SORTS), ("side", SIDES)):
        if (text := params.get(name) or known[0]) not in known:
            raise BadArgument(f"'{text}' is not a {name}; choose one of {', '.join(known)}.")
    where = params.get("in") or "all"
    parse_where(where)
    return Asked(
        typed=params.get("q", "")[:_LONGEST],
        where=where,
        side=params.get("side") or "both",
        mode=params.get("mode") or "hybrid",
        sort=params.get("sort") or "relevance",
        starred=params.get("starred") in ("1", "true"),
        hidden=params.get("hidden") in ("1", "true"),
        narrowing=Narrowing(**{name: params.get(name) or None for name in FACETS}),
    )


class Option(msgspec.Struct, frozen=True):
    """A value one can choose, and how much that shows; None where it was not counted."""

    value: str
    label: str
    url: str
    count: int | None = None
    chosen: bool = False


class Facet(msgspec.Struct, frozen=True):
    name: str
    title: str
    options: list[Option]
    rest: list[Option] = []


def facets_of(asked: Asked, answer: Answer) -> list[Facet]:
    """What the answer can be narrowed to; a value that all hits have narrows nothing."""
    found = []
    chosen = asked.narrowing.chosen
    for name in FACETS:
        counts = answer.facets.get(name, {})
        if len(counts) < 2 and name not in chosen:
            continue
        options = [
            _option(asked, name, value, count, chosen=chosen.get(name) == value)
            for value, count in counts.items()
        ]
        options.sort(key=lambda option: not option.chosen)
        found.append(Facet(name, _TITLES[name], options[:_SHOWN], options[_SHOWN:]))
    return found


def _option(asked: Asked, name: str, value: str, count: int, *, chosen: bool) -> Option:
    other: dict[str, Any] = {name: None if chosen else value}
    return Option(value, facet_label(name, value), asked.url(**other), count, chosen)


def facet_label(name: str, value: str) -> str:
    """A value of a facet as a person says it."""
    if name == "month":
        return f"{datetime.strptime(value, '%Y-%m'):%b %Y}" if _is_month(value) else value
    if name == "program":
        return SOURCES.title_of_program(value)
    return value


def _is_month(value: str) -> bool:
    try:
        datetime.strptime(value, "%Y-%m")
    except ValueError:
        return False
    return True


def ways_of(state: ServerState, asked: Asked, *, counted: bool) -> list[Facet]:
    """Whose words, and where: each is a search of its own, and counted only where that is asked."""
    found = []
    for field, title, names in (("side", "Whose words", _SIDES), ("where", "Where", _PLACES)):
        options = []
        for value, label in names.items():
            own = msgspec.structs.replace(asked, **{field: value})
            count = None
            if counted:
                try:
                    count = own.answer(state, limit=0).total
                except BadArgument:
                    continue  # what tools did has no sides, and no meaning to compare
            chosen = getattr(asked, field) == value
            options.append(Option(value, label, own.url(), count, chosen))
        found.append(Facet(field, title, options))
    return found


def pages_of(number: int, last: int) -> Sequence[int]:
    """The pages worth a link: the first, the last, and those around this one; 0 for a gap."""
    near = sorted({1, last, *range(max(1, number - 2), min(last, number + 2) + 1)})
    found: list[int] = []
    for page in near:
        if found and page - found[-1] > 1:
            found.append(0)
        found.append(page)
    return found


assert set(_PLACES) == set(PLACES)
