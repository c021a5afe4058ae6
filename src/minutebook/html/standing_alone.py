"""A page as one file: no request, no script, its style inside, light and dark (SHARE-01)."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from minutebook.derive.plain import one_line
from minutebook.derive.times import instant
from minutebook.derive.wording import plural
from minutebook.model.engagement import METHODS

if TYPE_CHECKING:
    from jinja2 import Environment

# The viewer's own style, so that a file looks like the page it was made from; a sheet of the
# session page that is there as well; then what only a file needs.
_SHEETS = ("web/static/style.css", "web/static/story.css", "html/templates/file.css")


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("minutebook.html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(line=_line, day=day, minute=_minute)
    environment.globals.update(plural=plural, hue=_hue)
    return environment


@cache
def _style() -> tuple[Markup, str]:
    """The style, and what the policy says of it: this one and no other."""
    sheets = (files("minutebook").joinpath(name) for name in _SHEETS)
    text = "\n".join(sheet.read_text(encoding="utf-8") for sheet in sheets if sheet.is_file())
    digest = b64encode(hashlib.sha256(text.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return Markup(text), policy


def stand_alone(template: str, /, **values: Any) -> bytes:
    """A file from a template, with nothing outside it."""
    style, policy = _style()
    made = _environment().get_template(template).render(style=style, policy=policy, **values)
    return made.encode("utf-8", "replace")


def _line(text: str | None) -> str:
    """Other people's words on one line, without Markdown's marks."""
    return one_line(text).replace("**", "").replace("`", "") if text else ""


def day(timestamp: str | None) -> str:
    """``Mon 23 Mar 2026``"""
    moment = instant(timestamp)
    return f"{moment:%a} {moment.day} {moment:%b %Y}" if moment else "undated"


def _minute(timestamp: str | None) -> str:
    moment = instant(timestamp)
    return f"{moment:%Y-%m-%d %H:%M}" if moment else ""


def _hue(method: str) -> str:
    return f"m-{method}" if method in METHODS else "m-none"
