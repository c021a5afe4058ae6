"""``minutebook hook``, which the SessionEnd hook calls: take one session's minutes, unseen."""

from __future__ import annotations

import os
import time
import traceback
from pathlib import Path

import click
import msgspec

from minutebook.archive import Archive, open_archive
from minutebook.cli.options import archive_option
from minutebook.derive.plain import clean, one_line
from minutebook.errors import Locked, MinutebookError
from minutebook.extract.choose import choose_extractor
from minutebook.record.layout import Layout
from minutebook.record.store import make_folder
from minutebook.sources.library import may_be_transcript
from minutebook.verbs.ingest import ingest

_LOG_BYTES = 1_000_000
_PATIENCE, _PAUSE = 120.0, 1.0  # seconds


class _Event(msgspec.Struct):
    """What the agent tells a hook."""

    session_id: str = ""
    transcript_path: str = ""
    reason: str = ""


@click.command("hook")
@archive_option
def command(archive: str | None) -> None:
    """Ingest the session that has just ended; whatever happens is written to a log."""
    layout = open_archive(archive, create=True).layout
    try:
        make_folder(layout.root)
        told = _take(layout, os.environ.get("MINUTEBOOK_EVENT", ""))
    except MinutebookError as error:
        told = f"not taken: {error}"
    except Exception:
        # A detached process prints for no one: the log is the only place for a bug.
        told = f"a bug:\n{traceback.format_exc()}"
    _log(layout, told)


def _take(layout: Layout, event: str) -> str:
    try:
        said = msgspec.json.decode(event, type=_Event)
    except msgspec.DecodeError:
        return "the hook was told nothing that could be understood"
    path, who = Path(said.transcript_path), one_line(said.session_id)[:36]
    if not may_be_transcript(path) or not path.is_file():
        return f"{who}: there is no transcript ({one_line(said.reason)[:40]})"
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            archive = Archive(layout.root, (path,))
            report = ingest(
                archive, choose_extractor("offline"), archive.library.transcripts, ended=True
            )
            why = one_line(said.reason)[:40]
            return f"{who}: {report.engagements} engagements ({why})"
        except Locked:
            if time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE)


def _log(layout: Layout, told: str) -> None:
    log = layout.hook_log
    if log.exists() and log.stat().st_size > _LOG_BYTES:
        log.replace(log.with_suffix(".log.1"))
    with log.open("a", encoding="utf-8", errors="replace") as file:
        lines = clean(told).rstrip().replace("\n", "\n    ")
        file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {lines}\n")
