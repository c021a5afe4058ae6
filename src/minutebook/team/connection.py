"""Open a team's database; report what goes wrong in one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, LiteralString

from minutebook.errors import Conflict, MinutebookError, MissingExtra, NotFound
from minutebook.extras import install_command
from minutebook.team.address import Address

try:
    import psycopg
except ImportError:
    raise MissingExtra("team", install_command("team")) from None

Connection = psycopg.Connection[Any]
_TIMEOUT = 10  # seconds to wait for a server
_WRONG_PASSWORD, _NO_LOGIN, _NO_DATABASE = "28P01", "28000", "3D000"
_DENIED, _NO_SCHEMA, _NO_TABLE, _NO_FUNCTION = "42501", "3F000", "42P01", "42883"
_FULL = frozenset({"53100", "53200", "53300", "53400"})


class Offline(MinutebookError):
    """The team's server cannot be reached, or went away; local answers are still there."""


@contextmanager
def connected(address: Address, *, checked: bool = True) -> Iterator[Connection]:
    """A connection; what the server refuses is said as a person can act on it.

    With `checked`, only where schema and client are of the same version.
    """
    with said_plainly(address), _opened(address) as connection:
        if checked:
            from minutebook.team.schema import check_version

            check_version(connection, address)
        yield connection


def open_connection(address: Address) -> Connection:
    """A connection that stays open, to read from; schema and client are of the same version."""
    from minutebook.team.schema import check_version

    with said_plainly(address):
        connection = _opened(address, _READING)
        try:
            check_version(connection, address)
        except BaseException:
            connection.close()
            raise
        return connection


# Names are settled: nothing depends on functions that somebody put into a schema all may write to.
_NAMES: LiteralString = "SET search_path = pg_catalog, pg_temp"
_READING: LiteralString = f"{_NAMES}; SET default_transaction_read_only = on; SET jit = off"


def _opened(address: Address, settings: LiteralString = _NAMES) -> Connection:
    options = {"application_name": "minutebook", "connect_timeout": str(_TIMEOUT)}
    parameters = options | address.parameters()
    connection = psycopg.connect(**parameters, autocommit=True)  # type: ignore[arg-type] # text for libpq
    try:
        connection.execute(settings)
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def said_plainly(address: Address) -> Iterator[None]:
    """Errors of the server as one sentence without the password."""
    try:
        yield
    except psycopg.Error as error:
        raise _told(error, address) from None


def _told(error: psycopg.Error, address: Address) -> MinutebookError:
    state = error.sqlstate or ""
    where = address.shown
    words = address.without_password(" ".join(str(error).split()))
    if state == _WRONG_PASSWORD or "password authentication failed" in words:
        return Conflict(
            f"{where} does not accept this password: put the right one into ~/.pgpass or "
            "$PGPASSWORD."
        )
    if "no password supplied" in words:
        return Conflict(f"{where} asks for a password: put it into ~/.pgpass or $PGPASSWORD.")
    if state == _NO_DATABASE or ("database" in words and "does not exist" in words):
        return NotFound(
            f"There is no such database at {where}: create it, then run `minutebook team init`."
        )
    if state in (_NO_SCHEMA, _NO_TABLE, _NO_FUNCTION):
        return NotFound(f"{where} is not a team's archive yet: an admin runs `team init` there.")
    if state == _DENIED:
        return Conflict(
            f"Your role at {where} does not allow this ({words.removesuffix('.')}): "
            "ask an admin (`team role`)."
        )
    if state in _FULL:
        return Conflict(
            f"The server at {where} has no room left ({words.removesuffix('.')}): "
            "nothing of this batch was kept; push again when it has."
        )
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return Offline(f"The team's server cannot be reached ({where}: {words.removesuffix('.')}).")
    return Conflict(f"The team's server refused this ({where}: {words.removesuffix('.')}).")
