"""Withdraw what was pushed: rows, words and vectors go, and later pushes leave them out."""

from __future__ import annotations

from collections.abc import Sequence

from minutebook.errors import Ambiguous, NotFound
from minutebook.team.address import Address
from minutebook.team.connection import Connection, connected


def withdraw(address: Address, sessions: Sequence[str] | None) -> int:
    """Take back sessions by the start of their ids, or all; how many there were.

    A batch that is under way is waited for. Where all is taken back, a running push ends.
    """
    with connected(address) as connection, connection.transaction():
        if sessions is None:
            connection.execute("SELECT minutebook.stop_pushes()")
        else:
            connection.execute("SELECT minutebook.take_turn()")
        ids = None if sessions is None else [_own(connection, start) for start in sessions]
        connection.execute(
            "INSERT INTO minutebook.withdrawn (person_id, session_id) "
            "SELECT person_id, session_id FROM minutebook.own_sessions "
            "WHERE %s::text[] IS NULL OR session_id = ANY (%s) "
            "ON CONFLICT DO NOTHING",
            (ids, ids),
        )
        done = connection.execute(
            "DELETE FROM minutebook.sessions WHERE key IN (SELECT s.key "
            "FROM minutebook.own_sessions s WHERE %s::text[] IS NULL OR s.session_id = ANY (%s))",
            (ids, ids),
        )
        connection.execute("SELECT minutebook.forget_names()")
        return done.rowcount


def allow_again(address: Address, sessions: Sequence[str]) -> int:
    """Let sessions that were taken back be pushed again."""
    with connected(address) as connection:
        row = connection.execute("SELECT minutebook.allow_again(%s)", (list(sessions),)).fetchone()
        return int(row[0]) if row is not None else 0


def leave(address: Address) -> None:
    """Take back everything, and oneself."""
    with connected(address) as connection:
        connection.execute("SELECT minutebook.leave_team()")


def _own(connection: Connection, start: str) -> str:
    found = connection.execute(
        "SELECT session_id FROM minutebook.own_sessions WHERE starts_with(session_id, %s) LIMIT 2",
        (start,),
    ).fetchall()
    if not found:
        raise NotFound(f"You have not pushed a session '{start}'.", remedy="pushed-sessions")
    if len(found) > 1:
        raise Ambiguous(f"'{start}' fits several sessions that you pushed: give more of the id.")
    return str(found[0][0])
