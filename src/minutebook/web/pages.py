"""Templates: where they are, and what every one of them knows."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from markupsafe import Markup
from starlette.responses import HTMLResponse

from minutebook.derive.plain import one_line
from minutebook.derive.secrets import mask
from minutebook.derive.wording import plural
from minutebook.model.engagement import METHODS, Engagement, SessionRecord
from minutebook.web import signs
from minutebook.web.parts import TOGGLES
from minutebook.web.prose import prose

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("minutebook.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(line=line, percent=percent, safe_json=safe_json, date=date)
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
        model_name=signs.model_name,
        project_name=signs.project_name,
        plural=plural,
        session_url=session_url,
        engagement_url=engagement_url,
        name_of=name_of,
        rounds_text=rounds_text,
    )
    return environment


def warm() -> None:
    """Compile the templates and load the renderers before somebody waits for them."""
    for name in _environment().list_templates():
        _environment().get_template(name)
    prose("```python\npass\n```")


def render(template: str, /, status: int = 200, **values: Any) -> HTMLResponse:
    return HTMLResponse(_environment().get_template(template).render(values), status)


def line(text: str | None) -> str:
    """Other people's words on one line, without secrets and without Markdown's marks."""
    return mask(one_line(text)).replace("**", "").replace("`", "") if text else ""


def safe_json(text: str) -> Markup:
    """JSON that cannot end the element it stands in."""
    return Markup(text.replace("<", "\\u003c"))


def date(moment: int | None) -> str:
    """A moment as a date field takes it."""
    return f"{datetime.fromtimestamp(moment):%Y-%m-%d}" if moment is not None else ""


def percent(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".") + "%"


def session_url(session_id: str, round: int | None = None, **query: str) -> str:
    """The address of a session, at a round (VIEW-09)."""
    path = f"/session/{quote(session_id, safe='')}"
    if round:
        query["round"] = str(round)  # for the server, which never sees what is behind a #
    said = "&".join(f"{name}={quote(value, safe=',')}" for name, value in query.items() if value)
    return path + (f"?{said}" if said else "") + (f"#round-{round}" if round else "")


def engagement_url(record: SessionRecord, engagement: Engagement) -> str:
    """Where an engagement opens: at its first round (VIEW-10)."""
    return session_url(record.session_id, engagement.turn_range[0], e=engagement.id)


def name_of(record: SessionRecord) -> str:
    """What a person calls a session; never its id (VIEW-13)."""
    return line(record.agent_name or record.title) or "A session without a title"


def rounds_text(turn_range: tuple[int, int]) -> str:
    first, last = turn_range
    return f"#{first}" if first == last else f"#{first}–{last}"


def wants_fragment(headers: Mapping[str, str]) -> bool:
    """Whether a script of ours asks for the inner part of a page only."""
    return headers.get("x-fragment") == "1"
