"""``agent-roster.jsonl``: who registered under which session (ID-06)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from minutebook.model import Roster, RosterEntry
from minutebook.record.layout import Layout

# The founding documents do not fix the key, so the usual ones are all accepted.
_KEYS = ("session", "session_id", "session_prefix", "id", "prefix")


def load_roster(layout: Layout) -> Roster:
    """The archive's roster; empty where there is none."""
    try:
        raw = layout.roster.read_bytes()
    except OSError:
        return Roster()
    return Roster(_entries(raw))


def _entries(raw: bytes) -> Iterator[RosterEntry]:
    for line in raw.split(b"\n"):
        try:
            value: Any = msgspec.json.decode(line) if line.strip() else None
        except msgspec.DecodeError:
            continue  # a half-written line: the next run sees it whole
        if not isinstance(value, dict):
            continue
        session = next((value[key] for key in _KEYS if isinstance(value.get(key), str)), "")
        if len(session) >= 8:
            name, role = value.get("name") or value.get("agent_name"), value.get("role")
            yield RosterEntry(
                session,
                name if isinstance(name, str) else None,
                role if isinstance(role, str) else None,
            )
