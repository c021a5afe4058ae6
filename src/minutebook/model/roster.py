"""The roster: names and roles registered by session-id prefix (ID-06)."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

PREFIX_LENGTH = 8


class RosterEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    session: str
    name: str | None = None
    role: str | None = None

    @property
    def prefix(self) -> str:
        return self.session[:PREFIX_LENGTH].lower()


class Roster:
    """Look-up of roster entries; an ambiguous prefix answers nothing and is listed."""

    def __init__(self, entries: Iterable[RosterEntry] = ()) -> None:
        self._by_prefix: dict[str, RosterEntry] = {}
        self.ambiguous: set[str] = set()
        for entry in entries:
            known = self._by_prefix.setdefault(entry.prefix, entry)
            if (known.name, known.role) != (entry.name, entry.role):
                self.ambiguous.add(entry.prefix)

    def among(self, session_ids: Iterable[str]) -> Roster:
        """This roster for these sessions: a prefix that fits two of them names neither (ID-06)."""
        seen: dict[str, str] = {}
        narrowed = Roster()
        narrowed._by_prefix = self._by_prefix
        narrowed.ambiguous = set(self.ambiguous)
        for id in session_ids:
            prefix = id[:PREFIX_LENGTH].lower()
            if prefix in self._by_prefix and seen.setdefault(prefix, id) != id:
                narrowed.ambiguous.add(prefix)
        return narrowed

    def find(self, session_id: str) -> RosterEntry | None:
        prefix = session_id[:PREFIX_LENGTH].lower()
        return None if prefix in self.ambiguous else self._by_prefix.get(prefix)
