"""The search page: engagements and turns, as you type, by the engine of the command line."""

from __future__ import annotations

from typing import Any

import msgspec
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from minutebook.archive.finding import Answer
from minutebook.archive.hit import Hit
from minutebook.archive.masking import MARK, unmarked, unmarked_value
from minutebook.derive.plain import one_line, one_line_kept
from minutebook.errors import MinutebookError
from minutebook.index.query import Filters, parse_query
from minutebook.index.snippet import Snippet
from minutebook.web.asking import MODES, Facet, asked_of, facet_label, facets_of, pages_of, ways_of
from minutebook.web.pages import render, session_url
from minutebook.web.selection import whole
from minutebook.web.state import ServerState

LIMIT = 20
_AROUND = 70  # characters before and after a word that was found
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
        passage = passage_of(hit.snippet)
        href = session_url(
            hit.session_id,
            hit.round,
            e=engagement,
            q=typed,
            block=block,
            passage=passage,
            show=show,
        )
        copies = [session_url(id, hit.round, q=typed) for id in hit.copies]
        shown.append(Found(hit, href, highlighted(hit.snippet), copies))
    return shown


def passage_of(snippet: Snippet) -> str:
    """What a link to a hit says of the place to highlight: the words around the first one found.

    A snippet leaves out what is between its pieces; those are not in one place.
    """
    told = in_words(snippet)
    text, marks = told.text, told.marks
    first, last = marks[0] if marks else (0, 0)
    start = max(text.rfind("…", 0, first + 1) + 1, first - _AROUND)
    end = text.find("…", last)
    end = min(end if end >= 0 else len(text), last + _AROUND)
    return one_line(text[start:end])


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


def search_page(state: ServerState, request: Request) -> Response:
    """Results; each kind of nothing has its own words.

    A script asks for parts: `1` hits alone (the palette), `page` what stands beside them, too, as
    one types, and `counted` all of that with every count, which takes longer.
    """
    part = request.headers.get("x-fragment")
    asked = asked_of(request.query_params)
    number = max(1, whole(request.query_params.get("page"), 1))
    hits: list[Found] = []
    answer: Answer | None = None
    status, problem, last = "empty", "", 1
    ways: list[Facet] = []
    if asked.asks:
        try:
            if not state.is_indexed:
                status = "not indexed"
            elif has_no_word(asked.typed):
                status = "no word"
            else:
                answer = asked.answer(state, limit=LIMIT, offset=(number - 1) * LIMIT)
                hits = found(answer.hits, asked.typed)
                last = max(1, -(-answer.total // LIMIT))
                status = "found" if hits else "no page" if answer.total else "nothing"
                if part != "1" and not answer.query.is_empty:
                    ways = ways_of(state, asked, counted=part != "page")
        except MinutebookError as error:
            status, problem = "problem", str(error)
    template = {"1": "results.html", "page": "search_inner.html", "counted": "search_inner.html"}
    return render(
        template.get(part or "", "search.html"),
        asked=asked,
        typed=asked.typed,
        hits=hits,
        answer=answer,
        ways=ways,
        facet_label=facet_label,
        facets=facets_of(asked, answer) if answer is not None else [],
        number=number,
        last=last,
        pages=pages_of(number, last),
        first=(number - 1) * LIMIT + 1,
        modes=MODES,
        state=status,
        problem=problem,
        stale=state.stale,
        page="search",
        title="Search",
    )
