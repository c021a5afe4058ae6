"""The search page: engagements and turns, as you type, by the engine of the command line."""

from __future__ import annotations

from functools import partial
from typing import Any
from urllib.parse import urlencode

import msgspec
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from minutebook.archive.finding import Answer, Sort
from minutebook.archive.hit import Hit
from minutebook.archive.masking import MARK, unmarked, unmarked_value
from minutebook.derive.plain import one_line_kept
from minutebook.errors import MinutebookError
from minutebook.index.query import Filters, parse_query
from minutebook.index.snippet import Snippet
from minutebook.web.pages import render, session_url, wants_fragment
from minutebook.web.selection import whole
from minutebook.web.state import ServerState

LIMIT = 20
_WITH_THINKING = "user,assistant,thinking,calls"  # else hidden, and a hit in it could not be seen


class Found(msgspec.Struct, frozen=True):
    hit: Hit
    href: str
    snippet: Markup
    copies: list[str]
    """Addresses of other sessions that have the same words."""


def found(hits: list[Hit], typed: str) -> list[Found]:
    shown = []
    for hit in hits:
        engagement = hit.engagement.id if hit.engagement and hit.kind == "engagement" else ""
        block = str(hit.block - 1) if hit.block is not None else ""  # addresses count from 0
        show = _WITH_THINKING if hit.side == "thinking" else ""
        href = session_url(hit.session_id, hit.round, e=engagement, q=typed, block=block, show=show)
        copies = [session_url(id, hit.round, q=typed) for id in hit.copies]
        shown.append(Found(hit, href, highlighted(hit.snippet), copies))
    return shown


def plain_hits(hits: list[Hit]) -> list[dict[str, Any]]:
    """Hits for programs."""
    told = [msgspec.structs.replace(hit, snippet=in_words(hit.snippet)) for hit in hits]
    plain: list[dict[str, Any]] = unmarked_value(msgspec.to_builtins(told))
    return plain


def in_words(snippet: Snippet) -> Snippet:
    """A snippet with words for its secrets; no part of those words counts as found."""
    text = snippet.text
    secrets = [match.span() for match in MARK.finditer(text)]
    if not secrets:
        told = unmarked(text)
        return snippet if told == text else Snippet(told)  # half a secret: nothing to highlight
    pieces, shifted, at, shift = [], [], 0, 0
    for start, end in [*secrets, (len(text), len(text))]:
        between = [(a, b) for a, b in snippet.marks if at <= a and b <= start]
        shifted += [(a + shift, b + shift) for a, b in between]
        words = unmarked(text[start:end])
        pieces += [text[at:start], words]
        shift += len(words) - (end - start)
        at = end
    told = "".join(pieces)
    whole = unmarked(told)
    return Snippet(told, tuple(shifted)) if whole == told else Snippet(whole)


def highlighted(snippet: Snippet) -> Markup:
    """A snippet with the words that were found marked; everything else is text."""
    snippet = in_words(snippet)
    pieces, position = [], 0
    for start, end in snippet.marks:
        if position <= start < end <= len(snippet.text):
            pieces.append(Markup.escape(one_line_kept(snippet.text[position:start])))
            words = one_line_kept(snippet.text[start:end])
            pieces.append(Markup("<mark>{}</mark>").format(words))
            position = end
    pieces.append(Markup.escape(one_line_kept(snippet.text[position:])))
    return Markup("").join(pieces)


def has_no_word(typed: str) -> bool:
    """Whether something was typed, but nothing that can be looked for (SRCH-20)."""
    return bool(typed.strip()) and parse_query(typed).says_nothing(Filters())


def search_url(
    typed: str, sort: str, number: int, *, page: int | None = None, by: str | None = None
) -> str:
    """The address of other results for the same words."""
    chosen = {"q": typed, "sort": by or sort, "page": str(page or (1 if by else number))}
    usual = {"sort": "relevance", "page": "1"}
    return "/search?" + urlencode({n: v for n, v in chosen.items() if usual.get(n) != v})


def search_page(state: ServerState, request: Request) -> Response:
    """Results; each kind of nothing has its own words."""
    typed = request.query_params.get("q", "")[:2000]
    number = max(1, whole(request.query_params.get("page"), 1))
    sort: Sort = "date" if request.query_params.get("sort") == "date" else "relevance"
    hits: list[Found] = []
    answer: Answer | None = None
    status, problem, last = "empty", "", 1
    if typed.strip():
        if not state.is_indexed:
            status = "not indexed"
        else:
            try:
                if has_no_word(typed):
                    status = "no word"
                else:
                    start = (number - 1) * LIMIT
                    answer = state.search(typed, sort=sort, limit=LIMIT, offset=start)
                    hits = found(answer.hits, typed)
                    last = -(-answer.total // LIMIT)
                    status = "found" if hits else "no page" if answer.total else "nothing"
            except MinutebookError as error:
                status, problem = "problem", str(error)
    template = "results.html" if wants_fragment(request.headers) else "search.html"
    return render(
        template,
        typed=typed,
        hits=hits,
        answer=answer,
        number=number,
        last=last,
        sort=sort,
        first=(number - 1) * LIMIT + 1,
        place=partial(search_url, typed, sort, number),
        state=status,
        problem=problem,
        stale=state.stale,
        page="search",
        title="Search",
    )
