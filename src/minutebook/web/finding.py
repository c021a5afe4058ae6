"""The search page: engagements and turns, as you type, by the engine of the command line."""

from __future__ import annotations

import msgspec
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from minutebook.derive.plain import one_line_kept
from minutebook.derive.secrets import mask
from minutebook.errors import MinutebookError
from minutebook.index.snippet import Snippet
from minutebook.verbs.search import Hit
from minutebook.web.desk import Desk
from minutebook.web.pages import render, session_url, wants_fragment

LIMIT = 20


class Found(msgspec.Struct, frozen=True):
    hit: Hit
    href: str
    snippet: Markup


def found(hits: list[Hit], typed: str) -> list[Found]:
    shown = []
    for hit in hits:
        engagement = hit.engagement.id if hit.engagement and hit.kind == "engagement" else ""
        href = session_url(hit.session_id, hit.round, e=engagement, q=typed)
        shown.append(Found(hit, href, marked(hit.snippet)))
    return shown


def marked(snippet: Snippet) -> Markup:
    """A snippet with its words marked; where it holds a secret, masked and without marks."""
    if (masked := mask(snippet.text)) != snippet.text:
        return Markup.escape(one_line_kept(masked))
    pieces, position = [], 0
    for start, end in snippet.marks:
        if position <= start < end <= len(snippet.text):
            pieces.append(Markup.escape(one_line_kept(snippet.text[position:start])))
            words = one_line_kept(snippet.text[start:end])
            pieces.append(Markup("<mark>{}</mark>").format(words))
            position = end
    pieces.append(Markup.escape(one_line_kept(snippet.text[position:])))
    return Markup("").join(pieces)


def search_page(desk: Desk, request: Request) -> Response:
    """Results; each kind of nothing has its own words."""
    typed = request.query_params.get("q", "")[:2000]
    hits: list[Found] = []
    state, problem = "empty", ""
    if typed.strip():
        if not desk.is_indexed:
            state = "not indexed"
        else:
            try:
                hits = found(desk.search(typed, limit=LIMIT).hits, typed)
                state = "found" if hits else "nothing"
            except MinutebookError as error:
                state, problem = "problem", str(error)
    template = "results.html" if wants_fragment(request.headers) else "search.html"
    return render(
        template,
        typed=typed,
        hits=hits,
        state=state,
        problem=problem,
        stale=desk.stale,
        page="search",
        title="Search",
    )
