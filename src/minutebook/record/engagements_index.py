"""``engagements-index.md``: the minutes as a page, by day and project (ING-22).

Made from the records alone: the same records give the same bytes, whenever it is written.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import timedelta

from minutebook.derive.genealogy import Pair
from minutebook.derive.threads import Key
from minutebook.derive.times import instant
from minutebook.derive.wording import plural
from minutebook.model.engagement import Engagement, SessionRecord
from minutebook.model.session import project_of
from minutebook.record.indexes import harmless
from minutebook.record.layout import file_name

_UNDATED = "Undated"
_NO_PROJECT = "no project"
_OPEN_WEEKS = 4
"""What was left open longer ago than this, before the newest engagement, is not a to-do."""
_MOST_OPEN = 20


def engagements_index(
    records: Iterable[SessionRecord],
    archived: Collection[str],
    pairs: Sequence[Pair],
    still_open: Collection[Key],
    copies: int = 0,
    hid: int = 0,
) -> str:
    """The page, newest day first; sessions that are `archived` have a document to link to.

    `pairs` are the engagements to show: copies of a conversation are among them once. `copies` and
    `hid` say how many are left out.
    """
    present = set(archived)
    known = list(records)
    days: dict[str, list[Pair]] = {}
    for pair in sorted(pairs, key=_order):
        days.setdefault(_day(_at(pair)), []).append(pair)
    ghosts = _by_day(record for record in known if record.ghost)
    failed = _by_day(record for record in known if record.failure and not record.ghost)
    lines = [
        "# Engagements",
        "",
        *_head(days, pairs, copies, hid),
        *_open(present, pairs, still_open),
    ]
    noted: set[str] = set()
    for day in [*sorted({*days, *ghosts, *failed} - {_UNDATED}, reverse=True), _UNDATED]:
        if day not in days and day not in ghosts and day not in failed:
            continue
        lines += [f"## {day}", ""]
        for project, found in sorted(_by_project(days.get(day, ())).items()):
            lines += [f"### {harmless(project)}", ""]
            for record, engagement in found:
                lines += _engagement(present, record, engagement)
                if record.note and record.session_id not in noted:
                    noted.add(record.session_id)
                    lines.append(f"  - note on the session: {harmless(record.note)}")
            lines.append("")
        lines += [line for record in failed.get(day, ()) for line in _failure(present, record)]
        if count := len(ghosts.get(day, ())):
            what = plural(count, "session", "sessions")
            lines += [f"*{what} without substantive work.*", ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _head(days: Collection[str], pairs: Sequence[Pair], copies: int, hid: int) -> list[str]:
    if not pairs:
        return []
    span = [day for day in days if day != _UNDATED]
    when = f", {min(span)} to {max(span)}" if len(span) > 1 else f", {span[0]}" if span else ""
    sessions = plural(len({record.session_id for record, _ in pairs}), "session")
    told = f"{plural(len(pairs), 'engagement')} in {sessions}{when}, newest day first."
    if copies:
        told += f" {plural(copies, 'engagement')} of copied conversations left out."
    if hid:
        told += f" Not shown: {plural(hid, 'hidden engagement')} (`minutebook search --hidden`)."
    return [told, ""]


def _open(present: set[str], pairs: Sequence[Pair], still_open: Collection[Key]) -> list[str]:
    """What is still open, newest first."""
    dated = [(moment, pair) for pair in pairs if (moment := instant(_at(pair))) is not None]
    every = [item for item in dated if (item[1][0].session_id, item[1][1].id) in still_open]
    if not every:
        return []
    since = max(moment for moment, _ in dated) - timedelta(weeks=_OPEN_WEEKS)
    every.sort(key=lambda item: (item[0], _order(item[1])), reverse=True)
    found = [item for item in every if item[0] >= since]
    lines = ["## Still open", ""]
    for moment, (record, engagement) in found[:_MOST_OPEN]:
        what = f"**{harmless(engagement.topic)}** · {_label(engagement)}"
        where = f"{harmless(_project(record, engagement))}, {moment:%Y-%m-%d}"
        lines.append(f"- {what} · {where}, {_rounds_link(present, record, engagement)}")
    if len(found) > _MOST_OPEN:
        lines.append(f"- … and {len(found) - _MOST_OPEN:,} more, below")
    if older := len(every) - len(found):
        command = f"`minutebook report --since {every[-1][0]:%Y-%m-%d}`"
        lines.append(f"- {older:,} older: {command} lists everything that is still open")
    return [*lines, ""]


def _engagement(present: set[str], record: SessionRecord, engagement: Engagement) -> list[str]:
    star = "★ " if engagement.starred or record.starred else ""
    facts = [f"{star}**{harmless(engagement.topic)}**", _label(engagement)]
    if when := _times(engagement.started, engagement.ended):
        facts.append(when)
    lines = [f"- {' · '.join(facts)}"]
    if engagement.outcome:
        lines.append(f"  {harmless(engagement.outcome)}")
    lines += [f"  - decided: {harmless(decision)}" for decision in engagement.key_decisions]
    if engagement.note:
        lines.append(f"  - note: {harmless(engagement.note)}")
    lines += [f"  - <{url}>" for url in engagement.pull_requests if _is_plain(url)]
    name = harmless(record.called or "a session")
    where = f"{_link(present, record, name)}, {_rounds_link(present, record, engagement)}"
    return [*lines, f"  - in {where}"]


def _failure(present: set[str], record: SessionRecord) -> list[str]:
    what = "The last attempt failed" if record.engagements else "Not ingested"
    name = _link(present, record, harmless(record.called or "a session"))
    return [f"*{what}:* {name}: {harmless(record.failure or '')}", ""]


def _label(engagement: Engagement) -> str:
    return f"{harmless(engagement.method)}, {harmless(engagement.phase)}"


def _link(present: set[str], record: SessionRecord, text: str) -> str:
    """A link to the inscription; plain text where there is none."""
    if record.session_id not in present:
        return text
    return f"[{text}]({record.agent_id}/{_file(record)}.md)"


def _rounds_link(present: set[str], record: SessionRecord, engagement: Engagement) -> str:
    told = [str(a) if a == b else f"{a}–{b}" for a, b in engagement.ranges]
    one = len(told) == 1 and "–" not in told[0]
    text = f"{'round' if one else 'rounds'} {', '.join(told)}"
    if record.session_id not in present:
        return text
    return f"[{text}]({record.agent_id}/{_file(record)}/index.md)"


def _file(record: SessionRecord) -> str:
    return file_name(record.session_id).replace("%", "%25")


def _is_plain(url: str) -> bool:
    return not any(char in url for char in "<> \n")


def _at(pair: Pair) -> str | None:
    return pair[1].started or pair[0].started


def _order(pair: Pair) -> tuple[str, str, int]:
    return _at(pair) or "", pair[0].session_id, pair[1].turn_range[0]


def _by_day(records: Iterable[SessionRecord]) -> dict[str, list[SessionRecord]]:
    found: dict[str, list[SessionRecord]] = {}
    for record in sorted(records, key=lambda r: (r.started or "", r.session_id)):
        found.setdefault(_day(record.started), []).append(record)
    return found


def _by_project(pairs: Iterable[Pair]) -> dict[str, list[Pair]]:
    found: dict[str, list[Pair]] = {}
    for pair in pairs:
        found.setdefault(_project(*pair), []).append(pair)
    return found


def _project(record: SessionRecord, engagement: Engagement) -> str:
    return project_of(engagement.project or record.cwd or "") or _NO_PROJECT


def _day(timestamp: str | None) -> str:
    moment = instant(timestamp)
    return moment.strftime("%Y-%m-%d") if moment else _UNDATED


def _times(started: str | None, ended: str | None) -> str | None:
    first, last = instant(started), instant(ended)
    if first is None:
        return None
    begun = f"{first:%H:%M}"
    if last is None or last < first:
        return begun
    if last.date() != first.date():
        return f"{begun} to {last:%Y-%m-%d %H:%M}"
    return begun if f"{last:%H:%M}" == begun else f"{begun}–{last:%H:%M}"
