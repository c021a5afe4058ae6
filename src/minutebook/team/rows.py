"""The rows of a team's database, as searches ask for them.

Every answer is of what the person may see: the tables have their policies.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from minutebook.index import database as db
from minutebook.index.entry import Entry, Touch
from minutebook.index.rows import Round
from minutebook.team.database import Database


class Keys(Protocol):
    """Which session a key of the database stands for, and the reverse."""

    size: int
    """How many entries there are, about: a session has its rounds and a few others."""

    def id_of(self, key: int) -> str | None:
        """None for another person's push of a session that is read from somebody else."""
        ...

    def key_of(self, session_id: str) -> int | None: ...

    def ids(self) -> Collection[str]: ...


class TeamRows:
    """Entries by their numbers."""

    def __init__(self, database: Database, keys: Keys) -> None:
        self._database, self._keys = database, keys

    def owners(self, rows: Sequence[int]) -> dict[int, db.Owner]:
        found = self._database.ask(
            "SELECT entry, session_key, round, at, quoted FROM minutebook.shared_entries "
            "WHERE entry = ANY (%s)",
            list(rows),
        )
        return {
            entry: db.Owner(id, round, at, quoted)
            for entry, key, round, at, quoted in found
            if (id := self._keys.id_of(key)) is not None
        }

    def fetch(self, rows: Sequence[int], *, texts: bool = True) -> dict[int, db.Found]:
        found = self._database.ask(
            "SELECT e.entry, e.session_key, e.kind, e.key, e.round, e.at, e.tools, e.quoted, "
            "e.budget, CASE WHEN %(all)s THEN e.blocks ELSE '' END, "
            "CASE WHEN %(all)s OR e.kind <> 'turn' THEN t.asked ELSE '' END, "
            "CASE WHEN %(all)s THEN t.answered ELSE '' END, "
            "CASE WHEN %(all)s THEN t.rest ELSE '' END, n.project, n.branch, n.model "
            "FROM minutebook.shared_entries e JOIN minutebook.shared_texts t ON t.entry = e.entry "
            "JOIN minutebook.names_of(%(rows)s) n ON n.entry = e.entry "
            "WHERE e.entry = ANY (%(rows)s) AND t.entry = ANY (%(rows)s)",
            {"all": texts, "rows": list(rows)},
        )
        return {row[0]: one for row in found if (one := self._found(row)) is not None}

    def _found(self, row: tuple[Any, ...]) -> db.Found | None:
        number, session_key, kind, key, round, at, tools, quoted, budget, blocks = row[:10]
        asked, answered, rest, project, branch, model = row[10:]
        session_id = self._keys.id_of(session_key)
        if session_id is None:
            return None
        entry = Entry(
            kind=kind,
            session_id=session_id,
            key=key,
            round=round,
            at=at,
            project=project or "",
            branch=branch or "",
            model=model or "",
            tools=tools,
            asked=asked,
            answered=answered,
            rest=rest,
            quoted=quoted,
            budget=budget,
            blocks=blocks,
        )
        return db.Found(number, entry)

    def holders(self, rounds: Sequence[Round]) -> dict[Round, list[Round]]:
        wanted = [
            (key, round)
            for session_id, round in dict.fromkeys(rounds)
            if (key := self._keys.key_of(session_id)) is not None
        ]
        found = self._database.ask(
            "SELECT * FROM minutebook.copies(%s, %s::int[])",
            *([key for key, _ in wanted], [round for _, round in wanted]),
        )
        holders: dict[Round, list[Round]] = {}
        for own, round, other, there in found:
            place, holder = self._keys.id_of(own), self._keys.id_of(other)
            if place is not None and holder is not None:
                holders.setdefault((place, round), []).append((holder, there))
        return holders

    def turn(self, session_id: str, round: int) -> int | None:
        found = self._database.ask(
            "SELECT entry FROM minutebook.shared_entries "
            "WHERE session_key = %s AND round = %s AND kind = 'turn'",
            *(self._keys.key_of(session_id), round),
        )
        return found[0][0] if found else None

    def keyed(self, session_id: str, key: str) -> int | None:
        found = self._database.ask(
            "SELECT entry FROM minutebook.shared_entries WHERE session_key = %s AND key = %s",
            *(self._keys.key_of(session_id), key),
        )
        return found[0][0] if found else None

    def count(self) -> int:
        found = self._database.ask(
            "SELECT count(*) FROM minutebook.shared_entries WHERE kind <> 'session'"
        )
        return int(found[0][0])

    def work(self, session_id: str, round: int) -> Mapping[str, list[str]]:
        """What was done in a round, by its kind."""
        found = self._database.ask(
            "SELECT t.work FROM minutebook.shared_texts t "
            "JOIN minutebook.shared_entries e ON e.entry = t.entry "
            "WHERE e.session_key = %(key)s AND t.session_key = %(key)s AND e.round = %(round)s "
            "AND e.kind = 'turn' AND t.work IS NOT NULL",
            {"key": self._keys.key_of(session_id), "round": round},
        )
        return msgspec.json.decode(found[0][0], type=dict[str, list[str]]) if found else {}

    # -- files and budgets

    def paths(self) -> list[str]:
        return [
            path
            for (path,) in self._database.ask("SELECT DISTINCT path FROM minutebook.shared_files")
        ]

    def touches(self, wanted: Sequence[str]) -> Iterator[tuple[str, Touch]]:
        found = self._database.ask(
            "SELECT session_key, round, at, how, path, times FROM minutebook.shared_files "
            "WHERE path = ANY (%s)",
            list(wanted),
        )
        for key, *fields in found:
            if (session_id := self._keys.id_of(key)) is not None:
                yield session_id, Touch(*fields)

    def touched(
        self, hows: Sequence[str], after: int | None, before: int | None
    ) -> Iterator[db.Touched]:
        found = self._database.ask(
            "SELECT DISTINCT path, session_key, round, at FROM minutebook.shared_files "
            "WHERE how = ANY (%s) AND at >= %s AND at < %s",
            *(list(hows), -1 if after is None else after, 1 << 60 if before is None else before),
        )
        for path, key, round, at in found:
            if (session_id := self._keys.id_of(key)) is not None:
                yield db.Touched(path, session_id, round, at)

    def budgets(self, session_id: str | None = None) -> list[tuple[str, int, int]]:
        key = self._keys.key_of(session_id) if session_id is not None else None
        found = self._database.ask(
            "SELECT session_key, round, budget FROM minutebook.shared_entries "
            "WHERE kind = 'turn' AND budget >= 0 AND (%s::bigint IS NULL OR session_key = %s)",
            *(key, key),
        )
        return [
            (id, round, budget)
            for own, round, budget in found
            if (id := self._keys.id_of(own)) is not None
        ]
