"""Joining, roles, projects, and what a team has: what people and admins ask the server for."""

from __future__ import annotations

import platform
from typing import LiteralString

import msgspec
import psycopg
from psycopg import sql

from minutebook.errors import BadArgument, Conflict, NotFound
from minutebook.team.address import Address
from minutebook.team.connection import Connection, connected
from minutebook.team.schema import ROLES, current_version, role_name


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """What a team has of a person, and what they may do there."""

    login: str
    role: str | None
    joined: bool
    schema: int
    own_sessions: int
    own_rounds: int
    withdrawn: int
    shared_sessions: int
    """Sessions of others that they may see."""
    people: int
    projects: tuple[str, ...]
    """Projects whose shared sessions they see."""


def join(address: Address, name: str | None = None, machine: str | None = None) -> str:
    """Become known to a team, from this machine; the machine's name there."""
    called = machine or platform.node() or "a machine"
    with connected(address) as connection:
        login = connection.info.user
        try:
            connection.execute("SELECT minutebook.join_team(%s, %s)", (name or login, called))
        except psycopg.errors.UniqueViolation:
            raise Conflict(
                f"Somebody else is called '{name or login}' there: choose another --name."
            ) from None
        except psycopg.errors.CheckViolation:
            raise BadArgument(
                "A name has 1 to 200 letters, all of which can be seen: choose another --name."
            ) from None
    return called


def standing(address: Address) -> Standing:
    with connected(address) as connection:
        row = connection.execute(
            "SELECT session_user::text, minutebook.me() IS NOT NULL, "
            "(SELECT count(*) FROM minutebook.own_sessions), "
            "(SELECT coalesce(sum(rounds), 0) FROM minutebook.own_sessions "
            " WHERE level <> 'engagements'), "
            "(SELECT count(*) FROM minutebook.shared_sessions "
            " WHERE person_id IS DISTINCT FROM minutebook.me()), "
            "(SELECT count(*) FROM minutebook.people)"
        ).fetchone()
        assert row is not None
        login, joined, own, rounds, shared, people = row
        role = _role(connection)
        taken = 0
        if role in ("member", "admin"):
            marks = connection.execute("SELECT count(*) FROM minutebook.own_withdrawn").fetchone()
            taken = marks[0] if marks else 0
        projects = connection.execute(
            "SELECT p.name FROM minutebook.shared_projects p JOIN minutebook.project_people m "
            "ON m.project_id = p.id WHERE m.person_id = minutebook.me() ORDER BY 1"
        ).fetchall()
    return Standing(
        login=login,
        role=role,
        joined=joined,
        schema=current_version(),
        own_sessions=own,
        own_rounds=int(rounds),
        withdrawn=taken,
        shared_sessions=shared,
        people=people,
        projects=tuple(name for (name,) in projects),
    )


def _role(connection: Connection) -> str | None:
    """The highest role a login has."""
    for role in reversed(ROLES):
        name = role_name(connection.info.dbname, role)
        row = connection.execute(
            "SELECT pg_has_role(session_user, oid, 'USAGE') FROM pg_roles WHERE rolname = %s",
            (name,),
        ).fetchone()
        if row is not None and row[0]:
            return role
    return None


def pushed_sessions(address: Address) -> list[tuple[str, str, str, str]]:
    """Id, title, level and visibility of what a person pushed."""
    with connected(address) as connection:
        return connection.execute(
            "SELECT session_id, coalesce(title, ''), level, visibility "
            "FROM minutebook.own_sessions ORDER BY ended DESC, session_id"
        ).fetchall()


def set_role(address: Address, login: str, role: str | None) -> None:
    """Give a login a role, or none; those it had before go."""
    if role is not None and role not in ROLES:
        raise BadArgument(f"'{role}' is not a role; choose one of {', '.join(ROLES)}, none.")
    with connected(address) as connection, connection.transaction():
        row = connection.execute("SELECT minutebook.set_role(%s, %s)", (login, role)).fetchone()
        if row is None or not row[0]:
            raise NotFound(
                f"The server has no login '{login}': `createuser --pwprompt {login}` makes one."
            )
        _take_higher(connection, login, role)


def _take_higher(connection: Connection, login: str, role: str | None) -> None:
    """Take away what somebody gave by hand (`GRANT`) beyond a role: PostgreSQL keeps who gave a
    role, and takes it from nobody else."""
    database = connection.info.dbname
    higher = ROLES[ROLES.index(role) + 1 if role is not None else 0 :]
    found = connection.execute(
        "SELECT r.rolname, g.rolname FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.roleid "
        "JOIN pg_roles p ON p.oid = m.member JOIN pg_roles g ON g.oid = m.grantor "
        "WHERE p.rolname = %s AND r.rolname = ANY (%s) AND g.rolname <> %s "
        "AND (m.inherit_option OR m.set_option)",
        (login, [role_name(database, name) for name in higher], role_name(database, "keeper")),
    ).fetchall()
    for group, giver in found:
        text: LiteralString = "REVOKE {} FROM {} GRANTED BY {} CASCADE"
        names = [sql.Identifier(name) for name in (group, login, giver)]
        try:
            connection.execute(sql.SQL(text).format(*names))
        except psycopg.errors.InsufficientPrivilege:
            raise Conflict(
                f"'{login}' has {group} from '{giver}', who alone can take it away: nothing was "
                f"changed. As '{giver}', run `minutebook team role` again."
            ) from None


def set_project(address: Address, project: str, login: str, *, belongs: bool) -> None:
    """Let a person see what is shared with a project, or not any more."""
    with connected(address) as connection:
        row = connection.execute(
            "SELECT minutebook.set_project(%s, %s, %s)", (project, login, belongs)
        ).fetchone()
    if row is None or not row[0]:
        raise NotFound(f"'{login}' has not joined the team: they run `minutebook team join` first.")
