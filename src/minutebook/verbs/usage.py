"""Usage for programs: one shape for `--json`, the API and CSV (docs/usage.md)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from minutebook.derive.usage.figures import Figures, Usage

CSV_COLUMNS = (
    *("key", "label", "sessions", "replies", "input", "output", "cache_read", "cache_write_5m"),
    *("cache_write_1h", "web_searches", "usd", "at_least", "unpriced_replies", "recorded_usd"),
    *("output_lower_bound_replies", "agent_s", "your_s", "agent_clock_s", "active_clock_s"),
    *("tool_calls", "tool_errors", "files", "lines_added", "lines_removed", "commits"),
    *("pull_requests", "subagent_replies", "subagent_usd", "address", "unrecorded_replies"),
    *("copied_agent_s", "copied_your_s"),
)


def plain_usage(found: Usage) -> dict[str, Any]:
    """Everything, as JSON has it."""
    return {
        "by": found.by,
        "since": _moment(found.after),
        "until": _moment(found.before),
        "projects": found.projects,
        "rows": [
            {
                "key": row.key,
                "label": row.label,
                "address": row.address or None,
                **plain_figures(row.figures),
                "subagents": plain_figures(row.subagents) if row.subagents is not None else None,
            }
            for row in found.rows
        ],
        "total": plain_figures(found.total),
        "subagents": plain_figures(found.subagents) if found.subagents is not None else None,
        "previous": plain_figures(found.previous) if found.previous is not None else None,
        "previous_since": _moment(found.previous_after),
        "previous_until": _moment(found.previous_before),
        "expensive": msgspec.to_builtins(found.expensive),
        "continued": found.continued,
        "ghosts": found.ghosts,
        "hidden": found.hidden,
        "timeless": found.timeless,
        "remarks": found.remarks,
    }


def plain_figures(figures: Figures) -> dict[str, Any]:
    """Figures of a row or a total."""
    cost, times = figures.cost, figures.times
    return {
        "sessions": figures.sessions,
        "replies": figures.replies,
        "tokens": msgspec.to_builtins(figures.tokens),
        "cache_hit_rate": figures.tokens.hit_rate,
        "web_searches": figures.web_searches,
        "output_lower_bound_replies": figures.open_ended,
        "first_release_replies": figures.thin,
        "damaged_replies": figures.damaged,
        "cost": None
        if cost is None
        else {
            "usd": cost.usd,
            "at_least": cost.at_least,
            "unpriced": cost.unpriced,
            "dearer_replies": cost.dearer,
            "recorded_usd": cost.recorded_usd,
            "unrecorded_replies": cost.unrecorded,
        },
        "times": None
        if times is None
        else {
            "agent_s": times.agent,
            "your_s": times.yours,
            "agent_clock_s": times.agent_clock,
            "active_clock_s": times.active_clock,
            "wall_s": times.wall,
            "copied_agent_s": times.copied_agent,
            "copied_your_s": times.copied_yours,
        },
        "work": msgspec.to_builtins(figures.work),
    }


def csv_rows(found: Usage) -> list[list[Any]]:
    """The rows of a table for spreadsheets; what is not known is empty."""
    rows: list[list[Any]] = []
    for row in found.rows:
        f, tokens, cost, times, work = (
            row.figures,
            row.figures.tokens,
            row.figures.cost,
            row.figures.times,
            row.figures.work,
        )
        agents = row.subagents
        rows.append(
            [
                *(_safe(row.key), _safe(row.label), f.sessions, f.replies),
                *(tokens.input, tokens.output, tokens.cache_read),
                *(tokens.cache_write_5m, tokens.cache_write_1h, f.web_searches),
                *((cost.usd, cost.at_least, sum(cost.unpriced.values())) if cost else ("",) * 3),
                cost.recorded_usd if cost and cost.recorded_usd is not None else "",
                f.open_ended,
                *(
                    (times.agent, times.yours, times.agent_clock, times.active_clock)
                    if times
                    else ("",) * 4
                ),
                *(work.calls, work.errors, work.files, work.lines_added, work.lines_removed),
                *(work.commits, work.pull_requests),
                agents.replies if agents else 0,
                agents.cost.usd if agents and agents.cost else 0,
                _safe(row.address),
                cost.unrecorded if cost else "",
                *((times.copied_agent, times.copied_yours) if times else ("",) * 2),
            ]
        )
    return rows


def _safe(text: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def _moment(seconds: int | None) -> str | None:
    return datetime.fromtimestamp(seconds).astimezone().isoformat() if seconds is not None else None
