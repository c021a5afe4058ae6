"""The schema of a team's archive: versioned, forward only, recorded in the transaction it runs in.

Everything belongs to the keeper, a role nobody can log in as. Role names carry the database's
name, since roles belong to a whole server.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import LiteralString, NamedTuple

import psycopg
from psycopg import sql

from minutebook.errors import BadArgument, Conflict, NotFound
from minutebook.team.address import Address
from minutebook.team.connection import Connection

ROLES = ("reader", "member", "admin")
_LONGEST_NAME = 48  # of a database: what is added must fit into 63 bytes
_LOCK = 0x6D626B  # "mbk": two who set it up at once take turns
_MIGRATIONS = Path(__file__).with_name("migrations")
_INDEXES: tuple[tuple[str, LiteralString], ...] = (
    (
        "entries_said",
        "CREATE INDEX IF NOT EXISTS entries_said ON minutebook.entries USING gin (said)",
    ),
    (
        "entries_done",
        "CREATE INDEX IF NOT EXISTS entries_done ON minutebook.entries USING gin (done)",
    ),
    (
        "entries_vector",
        "CREATE INDEX IF NOT EXISTS entries_vector ON minutebook.entries "
        # Two thirds of what is usual to put an entry in; a search looks at far more than that.
        "USING hnsw (vector {vectors}.halfvec_cosine_ops) WITH (ef_construction = 40)",
    ),
)

# An index of vectors that does not fit into memory while it is built takes many times as long.
_ROOM: LiteralString = (
    "SELECT set_config('maintenance_work_mem', (greatest("
    "pg_size_bytes(current_setting('maintenance_work_mem')), least(4294967296, "
    "pg_relation_size('minutebook.entries') * 5 / 4)) / 1024)::text || 'kB', true)"
)


class Migration(NamedTuple):
    """One step forward."""

    version: int
    name: str
    path: Path


def migrations() -> list[Migration]:
    """All there are, in order: ``0001_archive.sql``."""
    found = []
    for path in sorted(_MIGRATIONS.glob("*.sql")):
        number, name = path.stem.split("_", 1)
        found.append(Migration(int(number), name, path))
    return found


def current_version() -> int:
    """The schema this client speaks."""
    return migrations()[-1].version


class Initialised(NamedTuple):
    """What setting up did."""

    applied: list[str]
    indexes: dict[str, float]
    """Those it built, and how many seconds each took."""
    database: str


def initialise(connection: Connection, *, indexes: bool = True) -> Initialised:
    """Create or upgrade schema, roles and row level security; run again, it does what is missing.

    Without `indexes` a first push goes faster; run it again afterwards.
    """
    database = _database(connection)
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        _create_roles(connection, database)
        # Where the server puts what has no place of its own; the connection has no such schema.
        connection.execute("SET LOCAL search_path TO DEFAULT")
        _add_vectors(connection)
        connection.execute("SET LOCAL search_path = pg_catalog, pg_temp")
        _create_schema(connection, database)
        names = _names(connection, database)
        connection.execute(_composed("SET LOCAL ROLE {keeper}", names))
        found = stored_version(connection)
        if found > current_version():
            raise Conflict(_newer(found))
        applied = []
        for step in migrations():
            if step.version > found:
                connection.execute(_composed(step.path.read_text(encoding="utf-8"), names))
                connection.execute(
                    "INSERT INTO minutebook.migrations (version, name) VALUES (%s, %s)",
                    (step.version, step.name),
                )
                applied.append(step.name)
        _note_embedder(connection)
        connection.execute("RESET ROLE")
        connection.execute(_composed("REVOKE {keeper} FROM CURRENT_USER", names))
    return Initialised(applied, _build(connection, names) if indexes else {}, database)


def _create_roles(connection: Connection, database: str) -> None:
    for role in ("keeper", *ROLES):
        name, mark = role_name(database, role), f"minutebook: {role} of {database}"
        known = connection.execute(
            "SELECT rolcanlogin, shobj_description(oid, 'pg_authid') FROM pg_roles "
            "WHERE rolname = %s",
            (name,),
        ).fetchone()
        if known is None:
            identifier = sql.Identifier(name)
            connection.execute(sql.SQL("CREATE ROLE {} NOLOGIN").format(identifier))
            connection.execute(
                sql.SQL("COMMENT ON ROLE {} IS {}").format(identifier, sql.Literal(mark))
            )
        elif tuple(known) != (False, mark):
            raise Conflict(
                f"The server has a role '{name}' that minutebook did not make: rename it, or give "
                "the database another name."
            )
    named = {role: sql.Identifier(role_name(database, role)) for role in ("keeper", *ROLES)}
    for text in (
        "GRANT {reader} TO {member}",
        "GRANT {member} TO {admin}",
        # The keeper gives all roles, for admins (`set_role`).
        "GRANT {reader}, {member}, {admin} TO {keeper} WITH ADMIN OPTION",
        "GRANT {admin} TO CURRENT_USER",
        "GRANT {keeper} TO CURRENT_USER WITH SET TRUE, INHERIT TRUE",
    ):
        connection.execute(_composed(text, named))


def _add_vectors(connection: Connection) -> None:
    try:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except psycopg.errors.InsufficientPrivilege:
        raise Conflict(
            "Only a superuser of this server may add pgvector: as one, run "
            "`CREATE EXTENSION vector` in the database, then `minutebook team init` again."
        ) from None
    except psycopg.errors.FeatureNotSupported:
        raise Conflict(
            "The server has no pgvector: its administrator installs it (pgvector 0.7 or newer)."
        ) from None


def _create_schema(connection: Connection, database: str) -> None:
    names: dict[str, sql.Composable] = {"keeper": sql.Identifier(role_name(database, "keeper"))}
    connection.execute(
        _composed("CREATE SCHEMA IF NOT EXISTS minutebook AUTHORIZATION {keeper}", names)
    )
    connection.execute(_composed("SET LOCAL ROLE {keeper}", names))
    connection.execute(
        "CREATE TABLE IF NOT EXISTS minutebook.migrations (version int PRIMARY KEY, "
        "name text NOT NULL, at timestamptz NOT NULL DEFAULT now())"
    )
    connection.execute("RESET ROLE")


def _build(connection: Connection, names: dict[str, sql.Composable]) -> dict[str, float]:
    """The indexes that are missing, each in a transaction of its own."""
    built: dict[str, float] = {}
    for name, text in _INDEXES:
        known = connection.execute(
            "SELECT 1 FROM pg_indexes WHERE schemaname = 'minutebook' AND indexname = %s", (name,)
        ).fetchone()
        if known is None:
            start = time.monotonic()
            with connection.transaction():
                connection.execute(_ROOM)
                connection.execute(
                    _composed("GRANT {keeper} TO CURRENT_USER WITH SET TRUE, INHERIT TRUE", names)
                )
                connection.execute(_composed("SET LOCAL ROLE {keeper}", names))
                connection.execute(_composed(text, names))
                connection.execute("RESET ROLE")
                connection.execute(_composed("REVOKE {keeper} FROM CURRENT_USER", names))
            built[name] = time.monotonic() - start
    return built


def _note_embedder(connection: Connection) -> None:
    """Vectors of different embedders are never compared: all push those of the one in the box."""
    from minutebook.index.static import StaticEmbedder

    connection.execute(
        "INSERT INTO minutebook.facts VALUES ('embedder', %s) ON CONFLICT DO NOTHING",
        (StaticEmbedder().fingerprint,),
    )


def check_version(connection: Connection, address: Address) -> None:
    """Refuse a schema that this client does not speak."""
    try:
        found = _recorded_version(connection)
    except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName):
        found = 0
    except psycopg.errors.InsufficientPrivilege:
        raise Conflict(
            f"Your login may not read {address.shown} yet: ask an admin for a role (`team role`)."
        ) from None
    if found == 0:
        raise NotFound(f"{address.shown} is not a team's archive yet: run `team init` there.")
    if found < current_version():
        raise Conflict(
            f"The team's archive has schema {found}, and this minutebook needs "
            f"{current_version()}: an admin runs `minutebook team init` to upgrade it."
        )
    if found > current_version():
        raise Conflict(_newer(found))


def stored_version(connection: Connection) -> int:
    """The version of the schema there; 0 where there is none."""
    known = connection.execute("SELECT to_regclass('minutebook.migrations')").fetchone()
    return 0 if known is None or known[0] is None else _recorded_version(connection)


def _recorded_version(connection: Connection) -> int:
    row = connection.execute("SELECT max(version) FROM minutebook.migrations").fetchone()
    return int(row[0] or 0) if row else 0


def role_name(database: str, role: str) -> str:
    """``team_reader``: the roles of a database."""
    return f"{database}_{role}"


def _database(connection: Connection) -> str:
    name = connection.info.dbname
    if len(name.encode()) > _LONGEST_NAME:
        raise BadArgument(f"The database's name is too long: at most {_LONGEST_NAME} bytes.")
    return name


def _names(connection: Connection, database: str) -> dict[str, sql.Composable]:
    found = connection.execute(
        "SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace "
        "WHERE e.extname = 'vector'"
    ).fetchone()
    assert found is not None
    names: dict[str, sql.Composable] = {"vectors": sql.Identifier(found[0])}
    for role in ("keeper", *ROLES):
        names[role] = sql.Identifier(role_name(database, role))
        names[f"{role}_text"] = sql.Literal(role_name(database, role))
    return names


def _composed(text: str, names: Mapping[str, sql.Composable]) -> sql.Composed:
    """Our own SQL with names filled in, each quoted as what it is."""
    return sql.SQL(text).format(**names)


def _newer(found: int) -> str:
    return (
        f"The team's archive has schema {found}, and this minutebook only knows "
        f"{current_version()}: upgrade minutebook."
    )
