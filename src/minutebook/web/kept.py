"""Engagements kept in projects, as pages list them (FUT-01); a plain list."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from minutebook.archive.archive import Archive
from minutebook.archive.prospective import of_session, prospective, tied_of
from minutebook.archive.reporting import open_files
from minutebook.archive.threads import threads
from minutebook.index.query import Filters
from minutebook.model.prospective import Obligation, TiedEngagement
from minutebook.model.session import project_of
from minutebook.web import api
from minutebook.web.state import ServerState
from minutebook.web.threads import thread_url

_MOST = 20


class Owed(msgspec.Struct, frozen=True):
    what: str
    late: bool


class KeptRow(msgspec.Struct, frozen=True):
    """A line of the list."""

    topic: str
    facts: str
    href: str = ""
    owed: list[Owed] = []
    problems: tuple[str, ...] = ()


def open_rows(archive: Archive, project: str | None) -> list[KeptRow]:
    """What is open now, overdue ones first."""
    return [
        KeptRow(
            file.topic,
            _facts(file.method, file.phase, project_of(file.project), file.gone and "file is gone"),
            owed=_owed(file.owed, file.overdue),
            problems=file.problems,
        )
        for file in open_files(archive, Filters(project=project))[:_MOST]
    ]


def kept_rows(archive: Archive, session_id: str) -> list[KeptRow]:
    """The engagements and threads that a session took part in, with the phases it saw."""
    now = datetime.now().astimezone()
    files = {file.id: file for file in of_session(archive, session_id)}
    rows = []
    for tied in tied_of(archive, session_id):
        phases = f"{tied.phase_at_start or 'began here'} → {tied.phase_at_end or '?'}"
        file = files.get(tied.id)
        if file is None:
            rows.append(_thread_row(archive, tied))
            continue
        stands = f"now {file.phase}" if file.phase != tied.phase_at_end else ""
        facts = _facts(file.method, phases, stands, file.gone and "file is gone", file.id)
        owed = _owed(file.owed, file.overdue(now))
        rows.append(KeptRow(file.topic, facts, owed=owed, problems=file.problems))
    return rows


def _thread_row(archive: Archive, tied: TiedEngagement) -> KeptRow:
    """A thread by its topic, with a link to its page; by its name where it is no more."""
    seen = dict.fromkeys(phase for phase in (tied.phase_at_start, tied.phase_at_end) if phase)
    facts = _facts("thread", " → ".join(seen))
    known = {thread.id: thread for thread in threads(archive).every}
    if (thread := known.get(tied.id)) is None:
        return KeptRow(tied.id, facts)
    return KeptRow(thread.topic, facts, thread_url(tied.id))


def listed(state: ServerState, request: Request) -> Response:
    """``/api/v1/engagement-files``."""
    now = datetime.now().astimezone()
    rows: list[dict[str, Any]] = [
        {
            **msgspec.to_builtins(file),
            "kept": "prospective",
            "open": file.is_open,
            "overdue": msgspec.to_builtins(file.overdue(now)),
        }
        for file in prospective(state.archive).files
    ]
    return api.listing(rows, request, "engagements")


def _facts(*facts: str | bool) -> str:
    return " · ".join(fact for fact in facts if isinstance(fact, str) and fact)


def _owed(owed: tuple[Obligation, ...], late: tuple[Obligation, ...]) -> list[Owed]:
    return [
        Owed(item.what + (f" (due {item.due})" if item.due else ""), item in late) for item in owed
    ]
