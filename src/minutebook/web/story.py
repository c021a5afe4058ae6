"""The session as a story (VIEW-18): a strip as long as the session, and what came of it beside."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from minutebook.archive.story import Story, story_of
from minutebook.derive.about import path_end
from minutebook.derive.usage.figures import Figures
from minutebook.derive.usage.wording import short
from minutebook.derive.wording import plural
from minutebook.model.engagement import SessionRecord
from minutebook.web.pages import name_of, render, rounds_text, session_url, wants_fragment
from minutebook.web.signs import active_for, fullness, price
from minutebook.web.state import ServerState

WIDE = 1000
"""Units the strip is long; pages stretch it."""
_LINE_TOP, _LINE_END = 13.0, 39.0  # between them the window is full, or empty
_MOST_BANDS = 200
_MOST_LISTED = 12
_MOST_NAMED = 8  # rounds that a title names


class Band(msgspec.Struct, frozen=True):
    """An engagement, or a range of it, on the strip."""

    x: float
    width: float
    method: str
    title: str
    href: str
    first: int


class Ticks(msgspec.Struct, frozen=True):
    """All marks of one kind, as one path."""

    kind: str
    title: str
    path: str


class Strip(msgspec.Struct, frozen=True):
    rounds: int
    bands: list[Band]
    ticks: list[Ticks]
    line: str
    """The window's fill, as a path; empty where it is not known."""
    line_title: str


def story_page(state: ServerState, request: Request, session_id: str) -> Response:
    """The strip and the figures; as a page of its own where no script asks."""
    record = state.archive.record(session_id)
    story = story_of(state.archive, session_id)
    used = state.archive.usage("session", session=session_id)
    template = "story.html" if wants_fragment(request.headers) else "story_page.html"
    return render(
        template,
        record=record,
        story=story,
        strip=strip_of(record, story),
        figures=figure_rows(used.total),
        continued=sum(used.continued.values()),
        most=_MOST_LISTED,
        path_end=path_end,
        page="session",
        title=name_of(record),
    )


def strip_of(record: SessionRecord, story: Story) -> Strip:
    """What is drawn; a round is as wide as any other."""
    rounds = max(1, story.rounds)
    step = WIDE / rounds
    bands = [
        Band(
            x=round((first - 1) * step, 2),
            width=round((min(last, rounds) - first + 1) * step, 2),
            method=engagement.method,
            title=f"{engagement.topic} ({engagement.method}, {rounds_text(engagement)})",
            href=session_url(record.session_id, first, e=engagement.id),
            first=first,
        )
        for engagement in record.engagements
        if not engagement.hidden
        for first, last in engagement.ranges
        if 1 <= first <= rounds
    ]
    commits = [made.round for made in story.commits]
    ticks = [
        _ticks("error", "failed call", story.errors.keys(), sum(story.errors.values()), step),
        _ticks("commit", "commit", commits, len(commits), step),
        _ticks(
            "compaction", "compaction", story.compactions, sum(story.compactions.values()), step
        ),
    ]
    peak = max(story.filled.values(), default=0.0)
    return Strip(
        rounds=story.rounds,
        bands=bands[:_MOST_BANDS],
        ticks=[kind for kind in ticks if kind.path],
        line=_line(story.filled, step),
        line_title=f"How full the model's window was: at most {fullness(peak)}",
    )


def _ticks(kind: str, word: str, rounds: Iterable[int], count: int, step: float) -> Ticks:
    numbers = sorted(set(rounds))
    named = ", ".join(map(str, numbers[:_MOST_NAMED]))
    more = ", …" if len(numbers) > _MOST_NAMED else ""
    where = f"{'round' if len(numbers) == 1 else 'rounds'} {named}{more}"
    top, end = {"error": (34, 40), "commit": (11, 19)}.get(kind, (11, 40))
    places = sorted({round((number - 0.5) * step, 1) for number in numbers})
    path = "".join(f"M{place:g} {top}V{end}" for place in places)
    return Ticks(kind, f"{plural(count, word)}, in {where}", path)


def _line(filled: dict[int, float], step: float) -> str:
    """The window's fill from round to round; it breaks where nobody recorded it."""
    pieces: list[str] = []
    last = None
    for number, percent in sorted(filled.items()):
        y = _LINE_END - min(100.0, max(0.0, percent)) / 100 * (_LINE_END - _LINE_TOP)
        letter = "L" if last == number - 1 else "M"
        pieces.append(f"{letter}{(number - 0.5) * step:.1f} {y:.1f}")
        last = number
    # A single round would be a point, which has no length to draw.
    return "".join(pieces) if len(pieces) > 1 else ""


def figure_rows(figures: Figures) -> list[tuple[str, str, str]]:
    """Tokens, cost and time of a session: a name, a figure, and what it means."""
    tokens, times, work = figures.tokens, figures.times, figures.work
    bound = "at least " if figures.open_ended else ""
    found = [
        (
            "Tokens read",
            short(tokens.prompt) if tokens.prompt or not tokens.output else "",
            f"{tokens.cache_read:,} of {tokens.prompt:,} from the cache",
        ),
        (
            "Tokens written",
            f"{'≥' if bound else ''}{short(tokens.output)}",
            f"{bound}{tokens.output:,}",
        ),
        ("Cost", price(figures.cost), "at API prices, by the list; not what was paid"),
    ]
    if times is not None:
        active = active_for(times.active_clock)
        found.append(("Active", active, "by the clock; silence is left out"))
    failed = f"{work.errors:,} failed"
    found.append(("Tool calls", f"{work.calls:,}", failed))
    return (
        found if figures.replies else [row for row in found if row[0] in ("Active", "Tool calls")]
    )
