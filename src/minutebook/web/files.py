"""The files page: who changed what when, and each file's history (VIEW-21)."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from minutebook.archive.archive import Archive
from minutebook.archive.files import (
    CHANGING,
    HOWS,
    FileAnswer,
    FileHit,
    FileList,
    change_of,
    find_file,
    list_files,
)
from minutebook.archive.masking import hide, unmarked
from minutebook.derive.wording import plural
from minutebook.index.query import Filters
from minutebook.model.engagement import Engagement
from minutebook.web import api
from minutebook.web.pages import render, session_url
from minutebook.web.selection import Selection, selection, whole
from minutebook.web.state import ServerState

_PAGE = 100
_ROUNDS = 30
_LONGEST = 1_000
_SHOWN = "user,assistant,calls"  # a round's diff is in a call


class Change(msgspec.Struct, frozen=True):
    """What a round did to a file."""

    hit: FileHit
    href: str
    did: str
    engagement: Engagement | None


def files_page(state: ServerState, request: Request) -> Response:
    params = request.query_params
    asked = selection(params)
    words, path = params.get("q", "")[:_LONGEST], params.get("path", "")[:_LONGEST]
    read = params.get("read") == "1"
    if path:
        return _file_page(state, path, whole(params.get("start")), read=read)
    start = whole(params.get("start"))
    every = FileList([], 0)
    if state.is_indexed:
        every = list_files(
            state.archive, words, _filters(asked), read=read, limit=_PAGE, offset=start
        )
    return render(
        "files.html",
        selection=asked,
        words=words,
        read=read,
        files=every.files,
        total=every.total,
        indexed=state.is_indexed,
        narrows=bool(words or asked.narrows),
        place=lambda start=0, **changes: _place(words, asked, read, start, **changes),
        file_url=file_url,
        file_name=_name,
        start=start,
        next=start + _PAGE if start + _PAGE < every.total else None,
        page="files",
        title="Files",
    )


def _file_page(state: ServerState, path: str, start: int, *, read: bool) -> Response:
    changes: list[Change] = []
    found = None
    if state.is_indexed:
        found = _history(state.archive, path, read=read, limit=_ROUNDS, start=start)
        changes = [_change(state.archive, hit, path) for hit in found.hits]
    return render(
        "file.html",
        200 if changes or start else 404,
        path=hide(path),
        name=hide(_name(path)),
        changes=changes,
        found=found,
        start=start,
        read=read,
        here=(file_url(path) or "/files?") + ("&read=1" if read else ""),
        others=(file_url(path) or "/files?") + ("" if read else "&read=1"),
        next=start + _ROUNDS if found is not None and start + _ROUNDS < found.rounds else None,
        page="files",
        title=f"{hide(_name(path))} · Files",
    )


def listed(state: ServerState, request: Request) -> Response:
    """``/api/v1/files``: every file, or with ``path`` the history of one."""
    params = request.query_params
    if not state.is_indexed:
        return api.answer(503, problem="The search index is still being made. Try again soon.")
    start, limit = api.limits(request)
    found: FileAnswer | FileList
    if path := params.get("path", ""):
        read = params.get("read") == "1"
        found = _history(state.archive, path, read=read, limit=limit, start=start)
    else:
        words, filters = params.get("q", "")[:_LONGEST], _filters(selection(params))
        read = params.get("read") == "1"
        found = list_files(state.archive, words, filters, read=read, limit=limit, offset=start)
    following = start + limit if start + limit < found.total else None
    plain: dict[str, Any] = msgspec.to_builtins(found)
    return api.answer(next=following, **plain)


def _history(archive: Archive, path: str, *, read: bool, limit: int, start: int) -> FileAnswer:
    """The rounds that changed a file, or with `read` that touched it at all."""
    return find_file(
        archive,
        path,
        Filters(),
        limit=limit,
        offset=start,
        exact=True,
        once=True,
        hows=HOWS if read else CHANGING,
    )


def file_url(path: str) -> str:
    """The address of a file's history; none where its name holds a secret."""
    return f"/files?{urlencode({'path': path})}" if unmarked(path) == path == hide(path) else ""


def _filters(asked: Selection) -> Filters:
    return Filters(project=asked.project, agent=asked.agent, after=asked.after, before=asked.before)


def _name(path: str) -> str:
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2] or path


def _place(words: str, asked: Selection, read: bool, start: int, **changes: Any) -> str:
    said = msgspec.structs.replace(asked, **changes).said()
    said |= {"q": words} if words else {}
    said |= {"read": "1"} if read else {}
    said |= {"start": str(start)} if start else {}
    return f"/files?{urlencode(said)}" if said else "/files"


def _change(archive: Archive, hit: FileHit, path: str) -> Change:
    block = change_of(archive, hit.session_id, hit.round, path)
    engagements = archive.record(hit.session_id).engagements
    place = str(block - 1) if block is not None else ""  # addresses count from 0
    return Change(
        hit,
        session_url(hit.session_id, hit.round, block=place, show=_SHOWN),
        ", ".join(
            verb if times == 1 else f"{verb} {plural(times, 'time')}"
            for verb, times in hit.how.items()
        ),
        next((e for e in engagements if e.covers(hit.round)), None),
    )
