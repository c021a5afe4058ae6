"""``ingest --explain``: why the offline extractor cuts and labels as it does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click
import msgspec

from minutebook.archive import Archive
from minutebook.archive.masking import hidden
from minutebook.cli import terminal
from minutebook.cli.json_output import print_json
from minutebook.extract.offline.reasons import Reason
from minutebook.verbs.explain import Explained, ExplainedSession, explain
from minutebook.verbs.select import OFFLINE

_LEAST = 0.05  # what would be shown as 0.0
_ANOTHER = "These are offline labels: other extractors give no reasons."


def print_explanations(
    archive: Archive, sessions: Sequence[str] | None, extractor: str, as_json: bool
) -> None:
    """Newest first, each engagement with its reasons."""
    found, skipped = [], 0
    if sessions is None:
        newest = [transcript.session_id for transcript in archive.library.transcripts]
        sessions = list(dict.fromkeys([*newest, *sorted(archive.ids())]))
    if extractor not in ("auto", OFFLINE):
        terminal.note(_ANOTHER)
    for session_id in sessions:
        explained = explain(archive, session_id)
        if explained is None:
            skipped += 1
            continue
        told = hidden(explained, archive.hide)
        if as_json:
            found.append(_as_json(told))
        else:
            _print_session(told, archive.short(session_id))
    if as_json:
        print_json(sessions=found)
    elif skipped:
        terminal.say(f"{skipped:,} skipped (not transcripts).")


def _as_json(told: ExplainedSession) -> dict[str, Any]:
    parts = [
        {**msgspec.to_builtins(part.engagement), "why": part.why, "corrected": part.corrected}
        for part in told.engagements
    ]
    fields = ((name, getattr(told, name)) for name in ExplainedSession.__struct_fields__)
    return {**dict(fields), "engagements": parts}


def _print_session(told: ExplainedSession, name: str) -> None:
    terminal.say(click.style(terminal.one_line(told.title), bold=True))
    if told.ghost:
        terminal.say(f"{name} is a ghost: it gets no labels.")
    elif told.extractor not in (None, OFFLINE):
        by = terminal.one_line(told.extractor or "")
        terminal.say(f"Labelled by {by}, which gives no reasons: these are offline labels.")
    _print_corrected(told.corrected, "")
    for words in told.said:
        terminal.say(terminal.hanging(f"you {terminal.one_line(words)}", 2))
    for part in told.engagements:
        _print_engagement(part, name)
    terminal.say()


def _print_engagement(part: Explained, name: str) -> None:
    why = part.why
    rounds = str(why.first) if why.first == why.last else f"{why.first}-{why.last}"
    terminal.say(f"{name}#{rounds}  {terminal.one_line(part.engagement.topic)}")
    _print_corrected(part.corrected, "  ")
    if why.cut:
        _say("cut before it", why.cut)
    _say(f"method {why.method}", why.method_reasons)
    _say(f"phase {why.phase}", why.phase_reasons)
    _say_source("topic", why.topic_reasons[0].what)
    _say_signs(why.topic_reasons[1:])
    _say_source("outcome", f"taken from {why.outcome_reason}")
    for decision, whose in zip(part.engagement.key_decisions, why.decision_reasons, strict=True):
        _say_source("decision", f"{whose}: {decision}")


def _print_corrected(corrected: Mapping[str, str], indent: str) -> None:
    """Where a person said otherwise: that holds, whatever the reasons below."""
    for field, words in corrected.items():
        told = terminal.one_line(f"you corrected the {_named(field)}: {words or '(nothing)'}")
        terminal.say(terminal.hanging(indent + told, len(indent) + 2))


def _named(field: str) -> str:
    return {"key_decisions": "decisions", "turn_range": "rounds"}.get(field, field).replace(
        "_", " "
    )


def _say(what: str, reasons: Sequence[Reason]) -> None:
    total = sum(reason.weight for reason in reasons)
    terminal.say(f"  {what} ({total:+.1f})")
    _say_signs(reasons)


def _say_source(what: str, source: str) -> None:
    terminal.say(terminal.hanging(f"  {what} {terminal.one_line(source)}", 4))


def _say_signs(reasons: Sequence[Reason]) -> None:
    for reason in sorted(reasons, key=lambda r: -abs(r.weight)):
        if abs(reason.weight) < _LEAST:
            break
        line = f"    {reason.weight:+5.1f}  {terminal.one_line(reason.what)}"
        terminal.say(terminal.quiet(terminal.hanging(line, 11)))
