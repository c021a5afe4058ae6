"""Send what a person chose: only what changed, in batches, each whole or not at all.

A batch is one transaction: rows come by COPY into tables of the connection's own and are moved
from there as the person, under row level security (which COPY itself does not know). Killed in
the middle, the next push finds by the stamps what is missing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, LiteralString

import msgspec

from minutebook.archive.archive import Archive
from minutebook.errors import Conflict
from minutebook.index.database import storable
from minutebook.index.entry import Prepared, seconds
from minutebook.team import lexemes
from minutebook.team.address import Address
from minutebook.team.choice import Choice, Team
from minutebook.team.connection import Connection, Offline, connected
from minutebook.team.gathering import SessionRows, encoded, engagement_row, gathered
from minutebook.team.meaning import check_embedder, vectors_of, written
from minutebook.team.planning import Member, Plan, Planned, member, plan, ties_of, when

if TYPE_CHECKING:
    from minutebook.index.static import StaticEmbedder

_BATCH = 4_000_000  # characters of a transaction, about
_TOGETHER = 200  # sessions of a transaction, at most
_ATTEMPTS, _WAIT = 6, 0.5  # times to reach a server that went away; seconds, doubled each time

_STAGES: tuple[LiteralString, ...] = (
    "CREATE TEMP TABLE pushed_rounds (session_key bigint, number int, signal text, body text) "
    "ON COMMIT DELETE ROWS",
    "CREATE TEMP TABLE pushed_entries (place int, session_key bigint, kind text, key text, "
    "round int, at bigint, project_id int, branch_id int, model_id int, tools boolean, "
    "quoted boolean, budget int, blocks text, signal text, lengths int[], said tsvector, "
    "done tsvector, vector text, asked text, answered text, rest text, work text) "
    "ON COMMIT DELETE ROWS",
)
_ENTRY_COLUMNS = (
    "session_key, kind, key, round, at, project_id, branch_id, model_id, tools, quoted, budget, "
    "blocks, signal, lengths, said, done"
)


class Sent(msgspec.Struct, frozen=True, kw_only=True):
    """What a batch came to."""

    sessions: int = 0
    rounds: int = 0
    entries: int = 0
    removed: int = 0


class Pushed(msgspec.Struct, frozen=True, kw_only=True):
    """What a push did."""

    plan: Plan
    sessions: int = 0
    rounds: int = 0
    entries: int = 0
    removed: int = 0
    shown_anew: int = 0
    """Sessions whose visibility changed."""


def planned(archive: Archive, address: Address, team: Team | None, choice: Choice) -> Plan:
    """What a push would send."""
    with connected(address) as connection:
        return plan(archive, connection, choice, member(connection, team))


def push(
    archive: Archive,
    address: Address,
    team: Team | None,
    choice: Choice,
    *,
    before: Callable[[Plan], None] = lambda _: None,
    progress: Callable[[Sent], None] = lambda _: None,
) -> Pushed:
    """Send what is missing; a server that goes away is waited for a while, then the push goes on
    where it was. `before` is told what will be sent."""
    first: Plan | None = None
    total = Sent()
    shown = 0
    failed = 0
    who: Member | None = None
    while True:
        try:
            with connected(address) as connection:
                # As it was when the push began, so that a withdrawal since then ends it.
                who = who or member(connection, team)
                todo = plan(archive, connection, choice, who)
                if first is None:
                    first = todo
                    before(first)
                shown += _show(connection, choice, todo.seen_by_others)
                for sent in _send(archive, connection, choice, who, todo.send):
                    total = _added(total, sent)
                    progress(sent)
                    failed = 0
            return Pushed(plan=first, shown_anew=shown, **msgspec.structs.asdict(total))
        except Offline:
            failed += 1
            if failed == _ATTEMPTS or first is None:
                raise
            time.sleep(_WAIT * 2 ** (failed - 1))


def _added(total: Sent, sent: Sent) -> Sent:
    return Sent(
        sessions=total.sessions + sent.sessions,
        rounds=total.rounds + sent.rounds,
        entries=total.entries + sent.entries,
        removed=total.removed + sent.removed,
    )


def _show(connection: Connection, choice: Choice, ids: Sequence[str]) -> int:
    done = connection.execute(
        "UPDATE minutebook.sessions SET visibility = %s WHERE key IN (SELECT s.key "
        "FROM minutebook.own_sessions s WHERE s.session_id = ANY (%s) AND s.visibility <> %s)",
        (choice.visible, list(ids), choice.visible),
    )
    return done.rowcount


def _send(
    archive: Archive,
    connection: Connection,
    choice: Choice,
    who: Member,
    todo: Sequence[Planned],
) -> Iterator[Sent]:
    if not todo:
        return
    embedder = embedder_of(connection)
    staged(connection)
    ties = ties_of(archive)
    batch: list[tuple[Planned, SessionRows]] = []
    size = 0
    for item in todo:
        own = ties.edges.get(item.session_id, ())
        rows = gathered(archive, item.session_id, choice.level, own, ties.purposes)
        batch.append((item, rows))
        size += rows.size
        if size >= _BATCH or len(batch) >= _TOGETHER:
            yield Batch(connection, choice, who, embedder).send(batch)
            batch, size = [], 0
    if batch:
        yield Batch(connection, choice, who, embedder).send(batch)


def staged(connection: Connection) -> None:
    """Tables of the connection's own that `Batch` copies into."""
    for stage in _STAGES:
        connection.execute(stage)


def embedder_of(connection: Connection) -> StaticEmbedder:
    """The embedder in the box, if it is the one whose vectors the team has."""
    from minutebook.index.static import StaticEmbedder

    own = StaticEmbedder()
    row = connection.execute(
        "SELECT value FROM minutebook.facts WHERE name = 'embedder'"
    ).fetchone()
    check_embedder(row[0] if row is not None else None, own)
    return own


class Batch:
    """Some sessions, in one transaction."""

    def __init__(
        self, connection: Connection, choice: Choice, who: Member, embedder: StaticEmbedder
    ) -> None:
        self._connection, self._choice, self._who = connection, choice, who
        self._embedder = embedder

    def send(self, batch: Sequence[tuple[Planned, SessionRows]]) -> Sent:
        with self._connection.transaction():
            self._take_turn()
            keys = self._sessions(batch)
            sessions = [
                (keys[item.session_id], rows) for item, rows in batch if item.session_id in keys
            ]
            self._minutes(sessions)
            rounds = self._rounds(sessions)
            entries, removed = self._entries(sessions)
        return Sent(sessions=len(sessions), rounds=rounds, entries=entries, removed=removed)

    def _take_turn(self) -> None:
        """Wait for a withdrawal of the same person, and end the push if it took everything."""
        row = self._connection.execute(
            "SELECT person, stops FROM minutebook.take_turn()"
        ).fetchone()
        if row is None or tuple(row) != (self._who.person_id, self._who.stops):
            raise Conflict(
                "Everything you shared was withdrawn while this push ran: it sends no more."
            )

    def _sessions(self, batch: Sequence[tuple[Planned, SessionRows]]) -> dict[str, int]:
        """The sessions themselves, and their keys; one withdrawn meanwhile is left out."""
        projects = self._projects({rows.project for _, rows in batch})
        marks = self._connection.execute("SELECT session_id FROM minutebook.own_withdrawn")
        withdrawn = {id for (id,) in marks}
        there = self._connection.execute("SELECT session_id, key FROM minutebook.own_sessions")
        keys: dict[str, int] = dict(there.fetchall())
        wanted = [both for both in batch if both[0].session_id not in withdrawn]
        rows = {item.session_id: self._session_row(item, rows, projects) for item, rows in wanted}
        cursor = self._connection.cursor()
        cursor.executemany(
            "UPDATE minutebook.sessions SET machine_id = %s, project_id = %s, visibility = %s, "
            "level = %s, stamp = %s, source = %s, title = %s, started = %s, ended = %s, "
            "rounds = %s, ghost = %s, record = %s, info = %s, pushed = now() WHERE key = %s",
            [(*row, keys[id]) for id, row in rows.items() if id in keys],
        )
        new = [id for id in rows if id not in keys]
        cursor.executemany(
            "INSERT INTO minutebook.sessions (machine_id, project_id, visibility, level, stamp, "
            "source, title, started, ended, rounds, ghost, record, info, person_id, session_id) "
            "VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s) RETURNING key",
            [(*rows[id], self._who.person_id, id) for id in new],
            returning=True,
        )
        for id in new:
            keys[id] = one[0] if (one := cursor.fetchone()) is not None else 0
            cursor.nextset()
        return {id: keys[id] for id in rows}

    def _session_row(
        self, item: Planned, rows: SessionRows, projects: Mapping[str, int]
    ) -> tuple[Any, ...]:
        """What is written of a session, also where it is there already."""
        record = rows.record
        return (
            *(self._who.machine_id, projects[rows.project], self._choice.visible),
            *(self._choice.level, item.stamp, record.source),
            *(storable(record.title or "") or None, *when(record)),
            *(record.rounds, record.ghost, encoded(record), encoded(rows.info)),
        )

    def _projects(self, names: set[str]) -> dict[str, int]:
        wanted = {name: storable(name) for name in names}
        found = dict(
            self._connection.execute(
                "SELECT name, id FROM minutebook.project_ids(%s)", (sorted(wanted.values()),)
            ).fetchall()
        )
        return {name: found[kept] for name, kept in wanted.items()}

    def _minutes(self, sessions: Sequence[tuple[int, SessionRows]]) -> None:
        """Engagements, decisions, usage, lineage, files: few, so they are written anew."""
        keys = [key for key, _ in sessions]
        cursor = self._connection.cursor()
        cursor.execute("DELETE FROM minutebook.engagements WHERE session_key = ANY (%s)", (keys,))
        cursor.execute("DELETE FROM minutebook.usage WHERE session_key = ANY (%s)", (keys,))
        cursor.execute("DELETE FROM minutebook.lineage WHERE session_key = ANY (%s)", (keys,))
        cursor.execute("DELETE FROM minutebook.files WHERE session_key = ANY (%s)", (keys,))
        engagements: list[tuple[Any, ...]] = []
        decisions: list[tuple[Any, ...]] = []
        for key, rows in sessions:
            unique = {e.id: e for e in reversed(rows.record.engagements)}
            for position, engagement in enumerate(reversed(unique.values())):
                at = seconds(engagement.started or rows.record.started)
                engagements.append((key, *engagement_row(position, engagement, at)))
                decisions += [
                    (key, storable(engagement.id), place, storable(text))
                    for place, text in enumerate(engagement.key_decisions)
                ]
        cursor.executemany(
            "INSERT INTO minutebook.engagements VALUES "
            "(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
            engagements,
        )
        cursor.executemany("INSERT INTO minutebook.decisions VALUES (%s, %s, %s, %s)", decisions)
        cursor.executemany(
            "INSERT INTO minutebook.usage VALUES (%s, %s)",
            [(key, rows.digest) for key, rows in sessions if rows.digest],
        )
        cursor.executemany(
            "INSERT INTO minutebook.lineage VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
            [
                (key, edge.older, edge.newer, edge.kind, encoded(edge), rows.agents.get(edge.newer))
                for key, rows in sessions
                for edge in rows.edges
            ],
        )
        cursor.executemany(
            "INSERT INTO minutebook.files VALUES (%s, %s, %s, %s, %s, %s)",
            [
                (key, t.round, t.at, t.how, storable(t.path), t.times)
                for key, rows in sessions
                for t in rows.files
            ],
        )

    def _rounds(self, sessions: Sequence[tuple[int, SessionRows]]) -> int:
        keys = [key for key, _ in sessions]
        found = self._connection.execute(
            "SELECT session_key, number, signal FROM minutebook.shared_rounds "
            "WHERE session_key = ANY (%s)",
            (keys,),
        )
        known = {(key, number): signal for key, number, signal in found}
        same = {
            (key, row.number)
            for key, rows in sessions
            for row in rows.rounds
            if known.get((key, row.number)) == row.signal
        }
        new = [
            (key, row.number, row.signal, row.body)
            for key, rows in sessions
            for row in rows.rounds
            if (key, row.number) not in same
        ]
        self._remove_rounds([place for place in known if place not in same])
        self._copy("COPY pushed_rounds FROM STDIN", new)
        self._connection.execute(
            "INSERT INTO minutebook.rounds (session_key, number, signal, body) "
            "SELECT session_key, number, signal, body FROM pg_temp.pushed_rounds"
        )
        return len(new)

    def _remove_rounds(self, stale: Sequence[tuple[int, int]]) -> None:
        """By the key of each: under a policy, joined with a list, all rounds would be read."""
        self._connection.cursor().executemany(
            "DELETE FROM minutebook.rounds WHERE session_key = %s AND number = %s", stale
        )

    def _entries(self, sessions: Sequence[tuple[int, SessionRows]]) -> tuple[int, int]:
        keys = [key for key, _ in sessions]
        found = self._connection.execute(
            "SELECT session_key, key, entry, signal FROM minutebook.shared_entries "
            "WHERE session_key = ANY (%s)",
            (keys,),
        )
        known = {(owner, key): (entry, signal) for owner, key, entry, signal in found}
        stale: list[int] = []
        new: list[tuple[int, Prepared]] = []
        for owner, rows in sessions:
            for item in rows.entries:
                entry, signal = known.pop((owner, storable(item.entry.key)), (None, ""))
                if signal == _signal(item):
                    continue
                new.append((owner, item))
                if entry is not None:
                    stale.append(entry)
        stale += [entry for entry, _ in known.values()]
        self._connection.execute("DELETE FROM minutebook.entries WHERE entry = ANY (%s)", (stale,))
        names = self._names([item for _, item in new])  # nothing can be asked while rows are copied
        self._copy("COPY pushed_entries FROM STDIN", self._entry_rows(new, names))
        self._connection.execute(_MOVE)
        return len(new), len(stale)

    def _entry_rows(
        self, new: Sequence[tuple[int, Prepared]], names: dict[tuple[str, str], int | None]
    ) -> Iterator[tuple[Any, ...]]:
        vectors = vectors_of([item.entry for _, item in new], self._embedder)
        for place, ((owner, item), vector) in enumerate(zip(new, vectors, strict=True), 1):
            entry, found = item.entry, lexemes.indexed(item)
            yield (
                *(place, owner, entry.kind, storable(entry.key), entry.round, entry.at),
                *(names["project", entry.project], names["branch", entry.branch]),
                *(names["model", entry.model], entry.tools, entry.quoted, entry.budget),
                *(storable(entry.blocks), _signal(item), found.lengths),
                *(found.said, found.done, written(vector) if vector is not None else None),
                *(storable(entry.asked), storable(entry.answered), storable(entry.rest)),
                encoded(item.work) if item.work else None,
            )

    def _names(self, items: Iterable[Prepared]) -> dict[tuple[str, str], int | None]:
        """Numbers of folders, branches and models; none for what has no name."""
        fields = ("project", "branch", "model")
        wanted = {(name, str(getattr(i.entry, name))) for i in items for name in fields}
        named = [(field, value) for field, value in sorted(wanted) if value]
        found = self._connection.execute(
            "SELECT field, value, id FROM minutebook.name_ids(%s, %s)",
            ([field for field, _ in named], [storable(value) for _, value in named]),
        )
        ids = {(field, value): id for field, value, id in found}
        return {(field, value): ids.get((field, storable(value))) for field, value in wanted}

    def _copy(self, statement: LiteralString, rows: Iterable[tuple[Any, ...]]) -> None:
        with self._connection.cursor().copy(statement) as copy:
            for row in rows:
                copy.write_row(row)


def _signal(item: Prepared) -> str:
    """What says whether an entry there is as it would be written now."""
    return f"{item.signal}.{lexemes.VERSION}"


# `vector` travels as text: its type is in a schema that only the server knows. Numbers are given in
# the order of the rows, so that texts find their entries without reading what those have.
_MOVE: LiteralString = (
    f"WITH moved AS (INSERT INTO minutebook.entries ({_ENTRY_COLUMNS}, vector) "
    f"SELECT {_ENTRY_COLUMNS}, minutebook.as_vector(vector) FROM pg_temp.pushed_entries "
    "ORDER BY place RETURNING entry) "
    "INSERT INTO minutebook.texts (entry, session_key, asked, answered, rest, work) "
    "SELECT m.entry, p.session_key, p.asked, p.answered, p.rest, p.work "
    "FROM (SELECT entry, row_number() OVER (ORDER BY entry) AS place FROM moved) m "
    "JOIN pg_temp.pushed_entries p ON p.place = m.place"
)
