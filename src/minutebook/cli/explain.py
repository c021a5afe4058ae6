"""``ingest --explain``: why the offline extractor cuts and labels as it does."""

from __future__ import annotations

from collections.abc import Sequence

import click
import msgspec

from minutebook.archive import Archive
from minutebook.archive.masking import hidden
from minutebook.cli import terminal
from minutebook.cli.json_output import print_json
from minutebook.derive.titles import session_title
from minutebook.extract.offline.extractor import Explanation
from minutebook.extract.offline.reasons import Reason
from minutebook.extract.reply import Reply
from minutebook.verbs.survey import explain

_LEAST = 0.05  # what would be shown as 0.0


class _Explained(msgspec.Struct, frozen=True):
    """What is told of a session."""

    title: str
    reply: Reply
    reasons: list[Explanation]


def print_explanations(archive: Archive, sessions: Sequence[str] | None, as_json: bool) -> None:
    """Newest first, each engagement with its reasons."""
    found = []
    if sessions is None:
        newest = [transcript.session_id for transcript in archive.library.transcripts]
        sessions = list(dict.fromkeys([*newest, *sorted(archive.ids())]))
    for session_id in sessions:
        explained = explain(archive, session_id)
        if explained is None:
            continue
        material, reply, reasons = explained
        title = session_title(material.info, reply.engagements) or ""
        told = hidden(_Explained(title, reply, reasons), archive.hide)
        pairs = list(zip(told.reply.engagements, told.reasons, strict=True))
        if as_json:
            parts = [{**msgspec.to_builtins(part), "why": why} for part, why in pairs]
            found.append({"session_id": session_id, "engagements": parts})
            continue
        terminal.say(click.style(terminal.one_line(told.title), bold=True))
        for part, why in pairs:
            rounds = str(why.first) if why.first == why.last else f"{why.first}-{why.last}"
            address = f"{archive.short(session_id)}#{rounds}"
            terminal.say(f"{address}  {terminal.one_line(part.topic)}")
            if why.cut:
                _say("cut before it", why.cut)
            _say(f"method {why.method}", why.method_reasons)
            _say(f"phase {why.phase}", why.phase_reasons)
        terminal.say()
    if as_json:
        print_json(sessions=found)


def _say(what: str, reasons: Sequence[Reason]) -> None:
    total = sum(reason.weight for reason in reasons)
    terminal.say(f"  {what} ({total:+.1f})")
    for reason in sorted(reasons, key=lambda r: -abs(r.weight)):
        if abs(reason.weight) < _LEAST:
            break
        line = f"    {reason.weight:+5.1f}  {terminal.one_line(reason.what)}"
        terminal.say(terminal.quiet(terminal.hanging(line, 11)))
