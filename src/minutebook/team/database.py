"""A team's database, open for reading: one connection, which several threads share.

What a person may see is settled by the server, by their login: nothing here adds to it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any, LiteralString

import psycopg

from minutebook.team.address import Address
from minutebook.team.connection import Offline, open_connection, said_plainly

_ATTEMPTS, _WAIT = 4, 0.25  # times to reach a server that went away; seconds, doubled each time


class Database:
    """Questions and answers; a server that was started anew in between is asked again."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._lock = threading.RLock()
        self._connection = open_connection(address)

    def ask(self, statement: LiteralString, *values: object) -> list[tuple[Any, ...]]:
        """The rows of an answer."""
        with self._lock, said_plainly(self.address):
            try:
                return self._asked(statement, values)
            except psycopg.OperationalError:
                if not self._connection.broken:
                    raise
            self._open_again()
            return self._asked(statement, values)

    def _asked(self, statement: LiteralString, values: Sequence[object]) -> list[tuple[Any, ...]]:
        named = values[0] if len(values) == 1 and isinstance(values[0], dict) else values
        return self._connection.execute(statement, named or None).fetchall()

    def _open_again(self) -> None:
        self.close()
        for attempt in range(_ATTEMPTS):
            try:
                self._connection = open_connection(self.address)
                return
            except Offline:
                if attempt == _ATTEMPTS - 1:
                    raise
                time.sleep(_WAIT * 2**attempt)

    def close(self) -> None:
        self._connection.close()
