"""``ingest --explain``: why the offline extractor cuts and labels as it does."""

from __future__ import annotations

from collections.abc import Sequence

import click
import msgspec

from minutebook.cli import terminal
from minutebook.cli.json_output import print_json
from minutebook.compose import House
from minutebook.extract.offline.boundaries import Reason
from minutebook.sources.base import Transcript
from minutebook.verbs.survey import explain

_REASONS = 6


def print_explanations(house: House, transcripts: list[Transcript], as_json: bool) -> None:
    found = []
    for transcript in transcripts:
        explained = explain(transcript, house.roster)
        if explained is None:
            continue
        material, reply, reasons = explained
        if as_json:
            parts = [
                {**msgspec.to_builtins(part), "why": why}
                for part, why in zip(reply.engagements, reasons, strict=True)
            ]
            found.append({"session_id": material.info.id, "engagements": parts})
            continue
        terminal.say(click.style(terminal.one_line(material.info.title or ""), bold=True))
        for part, why in zip(reply.engagements, reasons, strict=True):
            terminal.say(
                f"{material.info.id[:8]}#{why.first}-{why.last}  {terminal.one_line(part.topic)}"
            )
            if why.cut:
                _say("cut before it", why.cut)
            _say(f"method {why.method}", why.method_reasons)
            _say(f"phase {why.phase}", [why.phase_reason])
        terminal.say()
    if as_json:
        print_json(sessions=found)


def _say(what: str, reasons: Sequence[Reason]) -> None:
    total = sum(reason.weight for reason in reasons)
    terminal.say(f"  {what} ({total:+.1f})")
    for reason in sorted(reasons, key=lambda r: -abs(r.weight))[:_REASONS]:
        line = terminal.fit(terminal.one_line(reason.what), terminal.columns() - 14)
        terminal.say(terminal.quiet(f"    {reason.weight:+5.1f}  {line}"))
