"""Templates: where they are, and what every one of them knows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from markupsafe import Markup
from starlette.responses import HTMLResponse

from minutebook.archive.masking import unmarked
from minutebook.derive.plain import one_line
from minutebook.derive.usage.wording import short
from minutebook.derive.wording import plural
from minutebook.html.prose import prose
from minutebook.html.standing_alone import day
from minutebook.model.engagement import METHODS, Engagement, SessionRecord
from minutebook.sources.registry import SOURCES
from minutebook.web import signs
from minutebook.web.parts import TOGGLES
from minutebook.web.state import ServerState

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def _environment() -> Environment:
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=ChoiceLoader([PackageLoader("minutebook.web"), PackageLoader("minutebook.html")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(line=line, percent=percent, safe_json=safe_json, date=date)
    environment.filters.update(day=day, told=unmarked)
    environment.globals.update(
        METHODS=METHODS,
        TOGGLES=TOGGLES,
        letter=signs.letter,
        hue=signs.hue,
        phase_sign=signs.phase_sign,
        exact=signs.exact,
        ago=lambda at: signs.ago(at, datetime.now().astimezone()),
        span=signs.span,
        clock=signs.clock,
        worked_for=signs.worked_for,
        active_for=signs.active_for,
        dollars=signs.dollars,
        fullness=signs.fullness,
        program_name=SOURCES.program_of,
        money=signs.price,
        short=short,
        model_name=signs.model_name,
        project_name=signs.project_name,
        program_title=SOURCES.title_of,
        title_of_program=SOURCES.title_of_program,
        plural=plural,
        session_url=session_url,
        engagement_url=engagement_url,
        name_of=name_of,
        project_of=project_of,
        rounds_text=rounds_text,
    )
    return environment


def warm() -> None:
    """Compile the templates and load the renderers before somebody waits for them."""
    for name in _environment().list_templates():
        _environment().get_template(name)
    prose("```python\npass\n```")


_may_mend: ContextVar[bool] = ContextVar("may_mend", default=False)


@contextmanager
def mending(allowed: bool) -> Iterator[None]:
    """Whether pages made meanwhile offer to correct what they show."""
    token = _may_mend.set(allowed)
    try:
        yield
    finally:
        _may_mend.reset(token)


def render(template: str, /, status: int = 200, **values: Any) -> HTMLResponse:
    """A page; secrets that did not become buttons (in attributes, say) are words."""
    values.setdefault("may_mend", _may_mend.get())
    return HTMLResponse(unmarked(_environment().get_template(template).render(values)), status)


def line(text: str | None) -> str:
    """Other people's words on one line, without Markdown's marks; secrets as words."""
    return one_line(unmarked(text)).replace("**", "").replace("`", "") if text else ""


def archive_note(state: ServerState) -> str:
    """What a reader should know of the archive itself, in a sentence; usually nothing."""
    if state.archive.is_first_release:
        return (
            "This archive is in the format of the first release; the next `minutebook ingest` "
            "upgrades it."
        )
    troubles = state.archive.troubles()
    if troubles:
        first = troubles[0]
        many = f"{len(troubles)} files of the archive cannot be read; the first is"
        which = many if len(troubles) > 1 else "One file of the archive cannot be read:"
        return f"{which} {first.path} ({first.reason.rstrip('.')}). Everything else is shown."
    return "" if state.is_writable else "This archive is read-only: no new minutes are taken."


def safe_json(text: str) -> Markup:
    """JSON that cannot end the element it stands in."""
    return Markup(text.replace("<", "\\u003c"))


def date(moment: int | None) -> str:
    """A moment as a date field takes it."""
    return f"{datetime.fromtimestamp(moment):%Y-%m-%d}" if moment is not None else ""


def percent(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") + "%"


def session_url(session_id: str, round: int | None = None, **query: str) -> str:
    """The address of a session, at a round (VIEW-09)."""
    path = f"/session/{quote(session_id, safe='')}"
    if round:
        query["round"] = str(round)  # for the server, which never sees what follows a #
    told = {name: quote(unmarked(value), safe=",") for name, value in query.items() if value}
    said = "&".join(f"{name}={value}" for name, value in told.items())
    return path + (f"?{said}" if said else "") + (f"#round-{round}" if round else "")


def engagement_url(record: SessionRecord, engagement: Engagement) -> str:
    """Where an engagement opens: at its first round (VIEW-10)."""
    return session_url(record.session_id, engagement.turn_range[0], e=engagement.id)


def name_of(record: SessionRecord) -> str:
    """What a person calls a session; never its id (VIEW-13)."""
    return line(record.called) or "A session without a title"


def project_of(record: SessionRecord, engagement: Engagement | None = None) -> str:
    """The project an engagement is about (ING-12); of a session, the folder it ran in."""
    place = engagement.project if engagement is not None else ""
    return signs.project_name(unmarked(place or record.cwd or ""))


def rounds_text(engagement: Engagement) -> str:
    """``#3–17``; ``#3–5, 9`` where it covers several ranges."""
    told = (f"{first}" if first == last else f"{first}–{last}" for first, last in engagement.ranges)
    return f"#{', '.join(told)}"


def wants_fragment(headers: Mapping[str, str]) -> bool:
    """Whether a script of ours asks for the inner part of a page only."""
    return headers.get("x-fragment") == "1"
