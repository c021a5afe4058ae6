"""``minutebook hook``, which agents' hooks call: ingest one session in the background."""

from __future__ import annotations

import os
import re
import time
import traceback
from pathlib import Path

import click
import msgspec

from minutebook.archive import Archive, open_archive
from minutebook.cli.options import archive_option
from minutebook.derive.plain import clean, one_line
from minutebook.derive.wording import plural
from minutebook.errors import Locked, MinutebookError
from minutebook.extract.choose import choose_extractor
from minutebook.record.layout import Layout
from minutebook.record.store import make_folder
from minutebook.sources.base import Transcript
from minutebook.sources.library import may_be_transcript
from minutebook.sources.registry import SOURCES
from minutebook.verbs.ingest import ingest

_LOG_BYTES = 1_000_000
_PATIENCE, _PAUSE = 120.0, 1.0  # seconds


_CUT = re.compile(r'"(?:session_id|thread-id)"\s*:\s*"([\w-]{1,100})"')
"""The session in what is too long for the environment, and was cut."""


class _Event(msgspec.Struct):
    """What the agent tells a hook."""

    session_id: str = ""
    thread_id: str = msgspec.field(default="", name="thread-id")
    """What Codex calls it."""
    transcript_path: str | None = ""
    reason: str = ""


@click.command("hook")
@archive_option
@click.option("--agent", "program", help="The agent that calls.")
def command(archive: str | None, program: str | None) -> None:
    """Ingest the session that has just ended; whatever happens is written to a log."""
    layout = open_archive(archive, create=True).layout
    try:
        make_folder(layout.root)
        told = _take(layout, os.environ.get("MINUTEBOOK_EVENT", ""), program)
    except MinutebookError as error:
        told = f"not taken: {error}"
    except Exception:
        # A detached process prints for no one: the log is the only place for a bug.
        told = f"a bug:\n{traceback.format_exc()}"
    _log(layout, told)


def _take(layout: Layout, event: str, program: str | None) -> str:
    said = _heard(event)
    if said is None:
        return "the event could not be understood"
    id, why = said.session_id or said.thread_id, one_line(said.reason)[:40] or "turn ended"
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            archive, transcripts = _found(layout, said.transcript_path or "", id, program)
            if not transcripts:
                return f"{one_line(id)[:36]}: there is no transcript ({why})"
            report = ingest(archive, choose_extractor("offline"), transcripts, ended=True)
            return f"{one_line(id)[:36]}: {plural(report.engagements, 'engagement')} ({why})"
        except Locked:
            if time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE)


def _heard(event: str) -> _Event | None:
    try:
        return msgspec.json.decode(event, type=_Event)
    except msgspec.DecodeError:
        cut = _CUT.search(event)
        return _Event(cut[1]) if cut is not None else None


def _found(
    layout: Layout, named: str, id: str, program: str | None
) -> tuple[Archive, list[Transcript]]:
    """The session's transcript: the file the agent names, else the one in its home by that id."""
    path = Path(named)
    if named and may_be_transcript(path) and path.is_file():
        archive = Archive(layout.root, (path,))
        return archive, archive.library.transcripts
    source = SOURCES.by_program(program) if program else None
    if source is None or not id or not source.default_root().is_dir():
        return Archive(layout.root, ()), []
    archive = Archive(layout.root, (source.default_root(),))
    return archive, [t for t in archive.library.transcripts if t.session_id == id]


def _log(layout: Layout, told: str) -> None:
    log = layout.hook_log
    if log.exists() and log.stat().st_size > _LOG_BYTES:
        log.replace(log.with_suffix(".log.1"))
    with log.open("a", encoding="utf-8", errors="replace") as file:
        lines = clean(told).rstrip().replace("\n", "\n    ")
        file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {lines}\n")
