"""``engagements-index.md``: date → session → engagements (ING-22), for reading and following."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import msgspec

from minutebook.derive.times import instant
from minutebook.model.engagement import Engagement, SessionRecord
from minutebook.record.indexes import harmless
from minutebook.record.layout import file_name

_UNDATED = "Undated"


def engagements_index(records: Iterable[SessionRecord], archived: Collection[str]) -> str:
    """The page, newest day first; sessions that are `archived` have a document to link to."""
    present = set(archived)
    days: dict[str, list[SessionRecord]] = {}
    known = list(records)
    visible = [_without_hidden(record) for record in known if not record.hidden]
    left_out = sum(len(record.engagements) for record in known) - sum(
        len(record.engagements) for record in visible
    )
    for record in sorted(visible, key=lambda r: (r.started or "", r.session_id), reverse=True):
        days.setdefault(_day(record.started), []).append(record)
    shown = [record for day in days.values() for record in day if not record.ghost]
    count = sum(len(record.engagements) for record in shown)
    lines = ["# Engagements", ""]
    if days:
        span = [day for day in days if day != _UNDATED]
        when = f", {min(span)} to {max(span)}" if len(span) > 1 else f", {span[0]}" if span else ""
        counts = f"{_plural(count, 'engagement')} in {_plural(len(shown), 'session')}"
        lines += [f"{counts}{when}, newest first.", ""]
    if left_out:
        what = _plural(left_out, "hidden engagement")
        lines += [f"Not shown: {what} (`minutebook search --hidden` lists them).", ""]
    for day, sessions in days.items():
        lines += [f"## {day}", ""]
        for record in sessions:
            if not record.ghost:
                lines += _session(present, record)
        ghosts = [record for record in sessions if record.ghost]
        if ghosts:
            names = ", ".join(_link(present, r, harmless(r.session_id[:8])) for r in ghosts)
            lines += [f"Hardly begun: {names}", ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _without_hidden(record: SessionRecord) -> SessionRecord:
    shown = tuple(engagement for engagement in record.engagements if not engagement.hidden)
    return msgspec.structs.replace(record, engagements=shown)


def _session(present: set[str], record: SessionRecord) -> list[str]:
    name = record.agent_name or record.title or record.session_id[:8]
    facts = [
        _times(record.started, record.ended),
        record.project,
        record.git_branch,
        _plural(record.rounds, "round"),
        record.model,
        f"`minutebook show {record.session_id[:8]}`",
    ]
    told = [fact if fact.startswith("`") else harmless(fact) for fact in facts if fact]
    lines = [f"### {_link(present, record, harmless(name))}", "", " · ".join(told), ""]
    if record.told_summary:
        lines += [harmless(record.told_summary), ""]
    if record.failure:
        what = "The last attempt failed" if record.engagements else "Not ingested"
        lines += [f"*{what}: {harmless(record.failure)}*", ""]
    for engagement in record.engagements:
        lines += _engagement(present, record, engagement)
    return [*lines, ""] if record.engagements else lines


def _engagement(present: set[str], record: SessionRecord, engagement: Engagement) -> list[str]:
    first, last = engagement.turn_range
    rounds = f"round {first}" if first == last else f"rounds {first}–{last}"
    where = _rounds_link(present, record, rounds)
    mark = f"**{harmless(engagement.method)}**, {harmless(engagement.phase)}"
    lines = [f"- {harmless(engagement.topic)} ({mark}; {where})"]
    if engagement.outcome:
        lines.append(f"  {harmless(engagement.outcome)}")
    lines += [f"  - decided: {harmless(decision)}" for decision in engagement.key_decisions]
    lines += [f"  - <{url}>" for url in engagement.pull_requests if _is_plain(url)]
    return lines


def _link(present: set[str], record: SessionRecord, text: str) -> str:
    """A link to the inscription; plain text where there is none."""
    if record.session_id not in present:
        return text
    return f"[{text}]({record.agent_id}/{_file(record)}.md)"


def _rounds_link(present: set[str], record: SessionRecord, text: str) -> str:
    if _link(present, record, text) == text:
        return text
    return f"[{text}]({record.agent_id}/{_file(record)}/index.md)"


def _file(record: SessionRecord) -> str:
    return file_name(record.session_id).replace("%", "%25")


def _plural(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def _is_plain(url: str) -> bool:
    return not any(char in url for char in "<> \n")


def _day(timestamp: str | None) -> str:
    moment = instant(timestamp)
    return moment.strftime("%Y-%m-%d") if moment else _UNDATED


def _times(started: str | None, ended: str | None) -> str | None:
    first, last = instant(started), instant(ended)
    if first is None:
        return None
    if last is None or last.date() != first.date():
        return first.strftime("%H:%M")
    return f"{first:%H:%M}–{last:%H:%M}"
