"""Files to give to others, from a page: the same bytes as `minutebook export` and `report`."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response

from minutebook.archive.masking import unmarked
from minutebook.archive.reporting import named_period, report_of
from minutebook.archive.saying import find_engagement
from minutebook.archive.sharing import BLOCKS
from minutebook.derive.wording import rounds_text, size
from minutebook.errors import BadArgument
from minutebook.html.report_file import report_values
from minutebook.verbs.report import (
    REPORT_FORMATS,
    ReportFormat,
    period_words,
    report_content,
    report_left_out,
    report_name,
)
from minutebook.verbs.share import FORMATS, MEDIA_TYPES, Format, SharedFile, export
from minutebook.web.pages import render, session_url, wants_fragment
from minutebook.web.selection import whole
from minutebook.web.state import ServerState

_PERIODS = ("today", "yesterday", "this week", "last week", "this month", "last month")
_ASKED = ("since", "until", "date", "project", "agent")


def exported(state: ServerState, request: Request, session_id: str) -> Response:
    """The file itself: ``format``, ``rounds`` or ``e`` (an engagement), ``only``."""
    asked = request.query_params
    format: Format | None = next((f for f in FORMATS if f == asked.get("format", "html")), None)
    if format is None:
        raise BadArgument(f"The format is one of {', '.join(FORMATS)}.")
    made = _export(state, session_id, asked, format)
    return _attachment(made.content, made.format, made.name)


def share_page(state: ServerState, request: Request, session_id: str) -> Response:
    """What to put into the file, and what is masked in it (SHARE-03)."""
    asked = request.query_params
    named = asked.get("e")
    record = state.shared.record(session_id)
    engagement = find_engagement(record, named) if named else None
    made = _export(state, session_id, asked, "html")
    return render(
        "share_form.html" if wants_fragment(request.headers) else "share.html",
        record=record,
        engagement=engagement,
        what=rounds_text(engagement.ranges) if engagement else "",
        made=made,
        size=size(len(made.content)),
        blocks=BLOCKS,
        formats=FORMATS,
        action=f"{session_url(session_id)}/export",
        page="share",
        title="Export",
    )


def _export(state: ServerState, session_id: str, asked: QueryParams, format: Format) -> SharedFile:
    only = [word for text in asked.getlist("only") for word in text.split(",")]
    return export(
        state.shared,
        session_id,
        asked.get("e") or None,
        format=format,
        only=only or None,
        rounds=asked.get("rounds") or None,
    )


def report_page(state: ServerState, request: Request) -> Response:
    """The minutes of a period, and where to get them as a file (SHARE-02)."""
    asked = _period(request)
    report = report_of(state.shared, named_period(**asked))
    return render(
        "report.html",
        **report_values(report, _opens),
        title=f"Minutes {period_words(report)}",
        left_out=report_left_out(report),
        asked=asked,
        periods=[(name, f"?{urlencode({**_kept(asked), 'date': name})}") for name in _PERIODS],
        files=[
            (format, f"/report/file?{urlencode({**asked, 'format': format})}")
            for format in REPORT_FORMATS
        ],
        page="report",
    )


def _opens(address: str) -> str:
    """Where ``3a4d64e0#3-7`` is read."""
    name, _, rounds = address.rpartition("#")
    return session_url(name, whole(rounds.partition("-")[0], 1))


def report_download(state: ServerState, request: Request) -> Response:
    wanted = request.query_params.get("format", "md")
    format: ReportFormat | None = next((f for f in REPORT_FORMATS if f == wanted), None)
    if format is None:
        raise BadArgument(f"The format is one of {', '.join(REPORT_FORMATS)}.")
    report = report_of(state.shared, named_period(**_period(request)))
    return _attachment(report_content(report, format), format, report_name(report, format))


def _period(request: Request) -> dict[str, str]:
    found = ((name, request.query_params.get(name, "").strip()) for name in _ASKED)
    return {name: unmarked(text) for name, text in found if text}


def _kept(asked: dict[str, str]) -> dict[str, str]:
    """What stays when another period is chosen."""
    return {name: text for name, text in asked.items() if name in ("project", "agent")}


def _attachment(content: bytes, format: str, name: str) -> Response:
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}"}
    return Response(content, media_type=MEDIA_TYPES[format], headers=headers)
