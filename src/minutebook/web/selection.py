"""What a page is about, as its URL says it: view, grouping, range, filters (VIEW-14)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from urllib.parse import urlencode

import msgspec

from minutebook.archive.passing import matching, passes
from minutebook.archive.programs import in_project
from minutebook.derive.times import instant
from minutebook.errors import BadArgument
from minutebook.index.entry import seconds
from minutebook.index.query import Filters
from minutebook.model.engagement import METHODS, Engagement, SessionRecord
from minutebook.verbs.decisions import Pair, newest_first

GROUPS = ("project", "method", "agent", "program", "period")
VIEWS = ("engagements", "sessions")
_FLAGS = ("ghosts", "starred", "hidden", "copies", "lanes")
_TEXTS = ("project", "agent", "phase", "branch", "model")


class Selection(msgspec.Struct, frozen=True):
    """Everything on the board that can be chosen."""

    view: str = "engagements"
    group: str = "project"
    methods: tuple[str, ...] = ()
    """Methods to show; empty for all."""
    after: int | None = None
    before: int | None = None
    project: str | None = None
    agent: str | None = None
    phase: str | None = None
    branch: str | None = None
    model: str | None = None
    ghosts: bool = False
    starred: bool = False
    hidden: bool = False
    copies: bool = False
    lanes: bool = False
    """Whether the timeline shows every row and every bar."""

    @property
    def filters(self) -> Filters:
        return Filters(
            project=self.project,
            agent=self.agent,
            phase=self.phase,
            branch=self.branch,
            model=self.model,
            after=self.after,
            before=self.before,
            ghosts=self.ghosts,
            starred=self.starred,
            hidden=self.hidden,
            copies=self.copies,
        )

    @property
    def narrows(self) -> bool:
        """Whether a filter may be hiding something."""
        return self != Selection(view=self.view, group=self.group, lanes=self.lanes)

    @property
    def shown_project(self) -> str:
        """The project as a person calls it."""
        return (self.project or "").removeprefix("=")

    @property
    def unbounded(self) -> Selection:
        """The same of all time."""
        return msgspec.structs.replace(self, after=None, before=None)

    def query(self, **changes: object) -> str:
        """This selection, changed, as the query of a URL; what is usual is left out."""
        said = msgspec.structs.replace(self, **changes).said()
        return f"?{urlencode(said, safe=',:')}" if said else "?"

    def said(self) -> dict[str, str]:
        """The fields of the query."""
        said: dict[str, str] = {}
        usual = Selection()
        for name in ("view", "group", *_TEXTS):
            if getattr(self, name) != getattr(usual, name):
                said[name] = getattr(self, name)
        if self.methods:
            said["method"] = ",".join(self.methods)
        for name, moment in (("from", self.after), ("to", self.before)):
            if moment is not None:
                said[name] = _written(moment)
        for name in _FLAGS:
            if getattr(self, name):
                said[name] = "1"
        return said

    def toggled(self, method: str) -> tuple[str, ...]:
        """The methods with one taken in or left out; all of them are none."""
        if not self.methods:
            return (method,)  # the first click on the legend asks for one
        chosen = set(self.methods) ^ {method}
        return () if len(chosen) == len(METHODS) else tuple(m for m in METHODS if m in chosen)


def selection(params: Mapping[str, str]) -> Selection:
    """A URL's query, understood; what makes no sense is said."""
    view, group = params.get("view", "engagements"), params.get("group", "project")
    if view not in VIEWS:
        raise BadArgument(f"'{view}' is not a view; choose one of {', '.join(VIEWS)}.")
    if group not in GROUPS:
        raise BadArgument(f"'{group}' is not a grouping; choose one of {', '.join(GROUPS)}.")
    methods = tuple(m for m in params.get("method", "").split(",") if m)
    if odd := [m for m in methods if m not in METHODS]:
        raise BadArgument(f"'{odd[0]}' is not a method; choose one of {', '.join(METHODS)}.")
    after, before = _moment(params, "from"), _moment(params, "to")
    if after is not None and before is not None and after >= before:
        raise BadArgument("This range ends before it begins.")
    return Selection(
        view=view,
        group=group,
        methods=methods,
        after=after,
        before=before,
        ghosts=_is_on(params, "ghosts"),
        starred=_is_on(params, "starred"),
        hidden=_is_on(params, "hidden"),
        copies=_is_on(params, "copies"),
        lanes=_is_on(params, "lanes"),
        **{name: params.get(name) or None for name in _TEXTS},
    )


def _is_on(params: Mapping[str, str], name: str) -> bool:
    return params.get(name) in ("1", "true")


def whole(text: str | None, usual: int = 0) -> int:
    """A number of an address; what is none, or of no reasonable length, is the usual one."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else usual


def _moment(params: Mapping[str, str], name: str) -> int | None:
    text = params.get(name)
    if not text:
        return None
    moment = instant(text)
    if moment is None:
        raise BadArgument(f"'{text}' is not a date: write it like 2026-03-15 or 2026-03-15T14:30.")
    return int(moment.timestamp())


def _written(moment: int) -> str:
    local = datetime.fromtimestamp(moment)
    if (local.hour, local.minute, local.second) == (0, 0, 0):
        return f"{local:%Y-%m-%d}"
    return local.strftime("%Y-%m-%dT%H:%M" if local.second == 0 else "%Y-%m-%dT%H:%M:%S")


def chosen(records: Mapping[str, SessionRecord], selection: Selection) -> list[Pair]:
    """The engagements a selection asks for, newest first."""
    pairs = [
        pair
        for pair in matching(dict(records), selection.filters)
        if not selection.methods or pair[1].method in selection.methods
    ]
    return newest_first(pairs)


def chosen_sessions(
    records: Mapping[str, SessionRecord], selection: Selection, pairs: list[Pair]
) -> Iterator[tuple[SessionRecord, list[Engagement]]]:
    """Sessions with the engagements that pass, newest first; those without any where they may be.

    A session without minutes passes where no filter is about engagements; its own star is meant,
    as by `minutebook sessions`.
    """
    by_session: dict[str, list[Engagement]] = {}
    for record, engagement in reversed(pairs):
        by_session.setdefault(record.session_id, []).append(engagement)
    loose = not (selection.methods or selection.phase)
    rows = []
    for record in records.values():
        if selection.starred and not record.starred:
            continue
        found = by_session.get(record.session_id, [])
        if not found and not (loose and _bare(record, selection)):
            continue
        rows.append((record, found))
    rows.sort(key=lambda row: (seconds(row[0].ended or row[0].started), row[0].session_id))
    return reversed(rows)


def _bare(record: SessionRecord, selection: Selection) -> bool:
    """Whether a session without engagements passes."""
    if record.engagements and not all(e.hidden for e in record.engagements):
        return False
    if record.ghost and not selection.ghosts:
        return False
    filters = selection.filters
    return passes(record, filters) and in_project(filters, record.cwd or record.project)
