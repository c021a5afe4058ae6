"""The index files: from the top folder to any session by links alone (INS-04 … INS-06, DB-08)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from pathlib import Path

from minutebook.derive.titles import session_title
from minutebook.record.header import display_name
from minutebook.record.layout import Layout, file_name
from minutebook.record.ledger import Entry
from minutebook.record.rounds import RoundRow
from minutebook.record.store import write_atomically

_SAFE = str.maketrans(
    {char: f"&#{ord(char)};" for char in "<>|"} | {char: f"\\{char}" for char in "\\`*[]"}
)
# Between letters or digits an underscore is never emphasis (CommonMark 6.2).
_ENTITY = re.compile(r"&(?=#[0-9xX]|[A-Za-z][A-Za-z0-9]{0,40};)")
_SAID = re.compile(r"&#(38|60|62|124);|\\([\\`*\[\]_])")
_MARKING = re.compile(r"(?<!\w)_++|_++(?!\w)")


def write_indexes(layout: Layout, entries: Iterable[Entry]) -> None:
    """Write the pages that lead to every session."""
    for path, content in index_pages(layout, entries).items():
        write_atomically(path, content)


def index_pages(layout: Layout, entries: Iterable[Entry]) -> dict[Path, bytes]:
    """``sessions/index.md`` and one ``index.md`` for each agent."""
    pages: dict[Path, bytes] = {}
    agents: dict[str, list[Entry]] = {}
    for entry in sorted(entries, key=lambda e: (e.written.started or "", e.session_id)):
        agents.setdefault(entry.agent_id, []).append(entry)
    lines = ["# Sessions", "", "| agent | sessions | from | to |", "|---|---:|---|---|"]
    for agent_id, sessions in sorted(agents.items()):
        days = [
            day
            for entry in sessions
            for day in (_day(entry.written.started), _day(entry.written.ended))
            if day
        ]
        link = f"[{display_name(agent_id)}]({agent_id}/index.md)"
        span = f"{min(days)} | {max(days)}" if days else " | "
        lines.append(f"| {link} | {len(sessions)} | {span} |")
        pages[layout.agent_index(agent_id)] = _agent_index(agent_id, sessions).encode()
    return {**pages, layout.index: ("\n".join(lines) + "\n").encode()}


def _agent_index(agent_id: str, sessions: list[Entry]) -> str:
    lines = [
        f"# {display_name(agent_id)}: sessions",
        "",
        "| date | title | summary | rounds | session |",
        "|---|---|---|---:|---|",
    ]
    for entry in sessions:
        name = file_name(entry.session_id).replace("%", "%25")
        title = entry.title or session_title(entry.info)
        link = f"[{harmless(title or '(untitled)')}]({name}.md)"
        rounds = f"[{entry.rounds}]({name}/index.md)"
        lines.append(
            f"| {_day(entry.written.started)} | {link} | {harmless(entry.summary)} | {rounds} "
            f"| {harmless(entry.session_id)} |"
        )
    return "\n".join(lines) + "\n"


def rounds_index(session_id: str, rows: Iterable[RoundRow]) -> bytes:
    """``<session>/index.md``: the rounds of a session, from SQL."""
    names = (
        "round | timestamp | engagement | user_preview | agent_preview | tools | thinking | tokens"
    )
    lines = [
        f"# Rounds of {session_id}",
        "",
        f"| {names} |",
        "|---:|---|---|---|---|---:|---:|---:|",
    ]
    for row in rows:
        file = row.round_file.rsplit("/", 2)
        link = f"[{row.round}]({file[-2]}/{file[-1]})" if len(file) > 1 else str(row.round)
        cells = (
            link,
            row.started or "",
            harmless(row.engagement_id or ""),
            harmless(row.user_preview),
            harmless(row.agent_preview),
            str(row.tool_count),
            str(row.thinking_count),
            str(row.token_count),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return ("\n".join(lines) + "\n").encode()


def harmless(text: str) -> str:
    """Text that stays in its cell and cannot be taken for Markdown or HTML."""
    if not text.isprintable():
        text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    text = _ENTITY.sub("&#38;", text).translate(_SAFE)
    return _MARKING.sub(lambda found: "\\_" * len(found[0]), text)


def without_escapes(text: str) -> str:
    """What `harmless` was given, where a person reads it as it is."""
    return _SAID.sub(lambda found: found[2] or chr(int(found[1])), text)


def _day(timestamp: str | None) -> str:
    try:
        return date.fromisoformat((timestamp or "")[:10]).isoformat()
    except ValueError:
        return ""
