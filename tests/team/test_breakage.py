"""What goes wrong between here and a server: kills, restarts, full disks, passwords, versions."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from minutebook.archive import Archive, open_archive
from minutebook.errors import Conflict, MinutebookError, NotFound
from tests.team.conftest import PASSWORD, House, connect, counts

if TYPE_CHECKING:
    from minutebook.team.serving import LocalServer

pytest.importorskip("psycopg", reason="needs PostgreSQL: psycopg is not installed")

_KILLED = """
import os, sys
from minutebook.archive import open_archive
from minutebook.team import pushing
from minutebook.team.address import Address
from minutebook.team.choice import Choice, Team

url, archive, root, fatal = sys.argv[1:]
pushing._TOGETHER = 1
calls = 0
real = pushing.Batch._entries

def entries(self, sessions):
    global calls
    calls += 1
    done = real(self, sessions)
    if calls == int(fatal):
        os.kill(os.getpid(), 9)
    return done

pushing.Batch._entries = entries
book = open_archive(archive, [root])
choice = Choice(projects=("orchard", "atlas", "ledger", "日記"), level="tools", visible="all")
pushing.push(book, Address(url), Team(address=url, machine="desk"), choice)
"""


@pytest.mark.parametrize("fatal", [1, 4, 9])
def test_killed_in_the_middle(house: House, book: Archive, examples: Path, fatal: int) -> None:
    """TEAM-02: kill -9 between two batches or within one leaves whole sessions; the next push
    sends the rest, and nothing twice."""
    house.join("ada")
    command = [sys.executable, "-c", _KILLED, house.url("ada"), str(book.root), str(examples)]
    done = subprocess.run([*command, str(fatal)], capture_output=True, check=False, timeout=120)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    there = house.sql("ada", "SELECT count(*) FROM minutebook.shared_sessions")[0][0]
    assert there == fatal - 1
    torn = house.sql(
        "ada",
        "SELECT s.session_id FROM minutebook.shared_sessions s WHERE s.rounds <> "
        "(SELECT count(*) FROM minutebook.shared_rounds r WHERE r.session_key = s.key)",
    )
    assert torn == []
    again = house.push(book)
    assert again.sessions == 9 - there
    assert (counts(house)["sessions"], counts(house)["rounds"]) == (9, 30)


def test_a_server_that_restarts(
    house: House, book: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TEAM-02: restarted in mid-push the push goes on; in mid-query it is one sentence."""
    from minutebook.team import pushing
    from minutebook.team.connection import Offline, connected

    monkeypatch.setattr(pushing, "_TOGETHER", 2)
    real, seen = pushing.Batch._entries, []

    def entries(self: Any, sessions: Any) -> Any:
        seen.append(1)
        if len(seen) == 2:
            house.server.restart()
        return real(self, sessions)

    monkeypatch.setattr(pushing.Batch, "_entries", entries)
    done = house.push(book)
    assert len(seen) > 2
    assert done.sessions == 9
    assert counts(house)["rounds"] == 30

    def later() -> None:
        time.sleep(0.5)
        house.server.restart()

    thread = threading.Thread(target=later)
    with (
        pytest.raises(Offline, match="cannot be reached"),
        connected(house.address("ada")) as connection,
    ):
        thread.start()
        connection.execute("SELECT pg_sleep(30)")
    thread.join()


def test_no_room_on_the_server(house: House, book: Archive) -> None:
    """TEAM-02: what the server has no room for is refused as a whole, in one sentence.

    A limit on temporary files is of the same class of error as a full disk."""
    house.sql("postgres", f"ALTER DATABASE {house.name} SET temp_file_limit = '8kB'")
    house.sql("postgres", f"ALTER DATABASE {house.name} SET work_mem = '64kB'")
    from minutebook.team.connection import connected

    with (
        pytest.raises(Conflict, match="has no room left"),
        connected(house.address("ada")) as connection,
    ):
        connection.execute(
            "SELECT count(*) FROM (SELECT g, repeat('x', 100) "
            "FROM generate_series(1, 100000) g "
            "ORDER BY 2, 1 DESC) x"
        )
    house.sql("postgres", f"ALTER DATABASE {house.name} RESET temp_file_limit")
    assert house.push(book).sessions == 9


@pytest.fixture
def small_disk(server: LocalServer) -> Iterator[Path]:
    """A file system of sixteen megabytes, which the server may write to."""
    place = server.folder / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(place)]
    try:
        done = subprocess.run(mount, capture_output=True, check=False).returncode
    except FileNotFoundError:
        done = 1
    if done:
        place.rmdir()
        pytest.skip("needs to mount a small file system")
    owner = (server.folder / "data").stat()
    os.chown(place, owner.st_uid, owner.st_gid)
    place.chmod(0o700)
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)
        place.rmdir()


def test_a_full_disk(house: House, book: Archive, small_disk: Path) -> None:
    """TEAM-02: the server's disk runs full in mid-push: one sentence, and no half of a session;
    with room again, the next push sends everything."""
    tables = house.sql(
        "postgres", "SELECT tablename FROM pg_tables WHERE schemaname = 'minutebook'"
    )
    house.sql("postgres", f"CREATE TABLESPACE {house.name} LOCATION '{small_disk}'")
    try:
        for (table,) in tables:
            house.sql("postgres", f"ALTER TABLE minutebook.{table} SET TABLESPACE {house.name}")
        house.join("ada")
        free = os.statvfs(small_disk)
        taken = small_disk / "taken"
        taken.write_bytes(bytes(free.f_bavail * free.f_frsize - 32 * 1024))
        with pytest.raises(Conflict, match="has no room left"):
            house.push(book)
        assert set(counts(house).values()) == {0}
        taken.unlink()
        assert house.push(book).sessions == 9
        assert counts(house)["rounds"] == 30
    finally:
        for (table,) in tables:
            house.sql("postgres", f"ALTER TABLE minutebook.{table} SET TABLESPACE pg_default")
        house.sql("postgres", f"DROP TABLESPACE {house.name}")


def test_no_server(book: Archive, tmp_path: Path) -> None:
    """TEAM-03: one sentence that names the place."""
    from minutebook.team.address import Address
    from minutebook.team.managing import standing

    with pytest.raises(MinutebookError, match="cannot be reached"):
        standing(Address(f"postgresql://ada@/team?host={tmp_path}"))
    assert book.exists


def test_a_wrong_password_is_nowhere(house: House, book: Archive) -> None:
    """TEAM-01: it is refused in one sentence; it is in no message, traceback, file or log."""
    port = house.server.url().rsplit("port=", 1)[1]
    wrong = "Wrong-7f3a9c"
    url = f"postgresql://ada:{wrong}@127.0.0.1:{port}/{house.name}"
    right = f"postgresql://ada:{PASSWORD}@127.0.0.1:{port}/{house.name}"
    texts = []

    def run(*arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "minutebook", *arguments, "--archive", str(book.root)]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env=os.environ | (env or {})
        )
        texts.append(done.stdout + done.stderr)
        return done

    refused = run("team", "status", "--url", url)
    assert refused.returncode == 2
    assert "does not accept this password" in refused.stderr
    assert run("--debug", "team", "status", "--url", url).returncode == 2
    assert run("team", "join", "--url", right).returncode == 0
    assert run("team", "status", env={"PGPASSWORD": PASSWORD}).returncode == 0
    assert run("team", "status", env={"MINUTEBOOK_TEAM_URL": right}).returncode == 0
    for bad in (
        f"{right}?sslmode=nonsense",
        f"{right}?nonsense=1",
        f"postgresql://x:{PASSWORD}@:y/",
        f"postgresql://ada:at@{PASSWORD}@127.0.0.1:{port}/{house.name}",
        f"postgresql://ada:slash/{PASSWORD}@127.0.0.1:{port}/{house.name}",
        f"postgresql://ada:mark?{PASSWORD}@127.0.0.1:{port}/{house.name}",
    ):
        assert run("--debug", "team", "status", "--url", bad).returncode == 2
    assert run("team", "status", url).returncode == 2  # typed in the wrong place
    texts += [p.read_text("utf-8", "replace") for p in book.root.rglob("*") if p.is_file()]
    texts.append((house.server.folder / "log").read_text("utf-8", "replace"))
    assert not [text for text in texts if PASSWORD in text or wrong in text]
    assert "postgresql://" in "".join(texts)


def test_versions_that_do_not_fit(
    house: House, book: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TEAM-04: an old client and a new schema, and the reverse, are refused in one sentence."""
    from minutebook.team import schema
    from minutebook.team.connection import connected

    house.push(book)
    house.sql("postgres", "INSERT INTO minutebook.migrations VALUES (99, 'later')")
    with pytest.raises(Conflict, match=r"has schema 99.*upgrade minutebook"):
        house.push(book)
    with (
        pytest.raises(Conflict, match="upgrade minutebook"),
        connected(house.address("postgres"), checked=False) as connection,
    ):
        schema.initialise(connection)
    house.sql("postgres", "DELETE FROM minutebook.migrations WHERE version = 99")
    monkeypatch.setattr(schema, "current_version", lambda: 100)
    with pytest.raises(Conflict, match="needs 100: an admin runs `minutebook team init`"):
        house.push(book)


def test_what_was_pushed_is_there_after_an_upgrade(
    server: LocalServer, book: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TEAM-04: a database of the first schema is refused, then brought forward with what is in it:
    numbers of projects change, and everybody may go on with the names they gave."""
    from minutebook.team import schema
    from minutebook.team.connection import connected

    house, known = House(server, "upgraded"), schema.migrations()
    with connect(server.url()) as connection:
        connection.execute(f"CREATE DATABASE {house.name}")
    try:
        with monkeypatch.context() as first:
            first.setattr(schema, "migrations", lambda: known[:1])
            with connected(house.address("postgres"), checked=False) as connection:
                assert schema.initialise(connection).applied == ["archive"]
            house.sql("postgres", "GRANT upgraded_member TO ada")
            house.sql("postgres", "GRANT upgraded_reader TO rea")
            house.join("ada")
        house.sql("ada", "SELECT minutebook.project_ids(ARRAY['orchard'])")
        house.sql("ada", "SELECT minutebook.name_ids(ARRAY['branch'], ARRAY['main'])")
        house.sql(
            "ada",
            "WITH own AS (INSERT INTO minutebook.sessions (person_id, machine_id, session_id, "
            "project_id, visibility, level, stamp, source, started, ended, rounds, ghost, record, "
            "info) SELECT 1, 1, 'x', 1, 'all', 'rounds', '', '', 0, 0, 1, false, '{}', '{}' "
            "RETURNING key) SELECT * FROM own",
        )
        house.sql(
            "ada",
            "INSERT INTO minutebook.entries (session_key, kind, key, round, at, branch_id, tools, "
            "quoted, budget, blocks, signal, lengths, said) SELECT 1, 'turn', 'k', 1, 0, 1, false, "
            "false, 0, '', '', '{}', ''",
        )
        with pytest.raises(Conflict, match=r"has schema 1, and this .* needs 3: an admin runs"):
            house.join("ada")
        with connected(house.address("postgres"), checked=False) as connection:
            assert schema.initialise(connection).applied == ["hardened", "closed"]
        shared = (
            "SELECT s.session_id, p.name FROM minutebook.shared_sessions s "
            "JOIN minutebook.shared_projects p ON p.id = s.project_id"
        )
        assert house.sql("rea", shared) == [("x", "orchard")]
        named = "SELECT branch FROM minutebook.names_of(ARRAY[1])"
        assert house.sql("rea", named) == [("main",)]
        change = (
            "UPDATE minutebook.sessions SET stamp = 'new', project_id = "
            "(SELECT id FROM minutebook.shared_projects LIMIT 1)"
        )
        house.sql("ada", change)  # a project of one's own
        assert house.push(book).sessions == 9
        with monkeypatch.context() as old:
            old.setattr(schema, "current_version", lambda: 1)
            with pytest.raises(Conflict, match=r"has schema 3, and this .* only knows 1: upgrade"):
                house.push(book)
    finally:
        with connect(server.url()) as connection:
            connection.execute(f"DROP DATABASE {house.name} WITH (FORCE)")


def test_a_migration_that_fails_leaves_nothing(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TEAM-04: recorded in the transaction it runs in; what is there stays."""
    from minutebook.team import schema
    from minutebook.team.connection import connected

    step = tmp_path / "0099_broken.sql"
    step.write_text("CREATE TABLE minutebook.half (x int); SELECT 1/0;")
    known = schema.migrations()
    broken = [*known, schema.Migration(99, "broken", step)]
    monkeypatch.setattr(schema, "migrations", lambda: broken)
    for _ in range(2):
        with (
            pytest.raises(MinutebookError, match="division by zero"),
            connected(house.address("postgres"), checked=False) as connection,
        ):
            schema.initialise(connection)
    assert house.sql("postgres", "SELECT to_regclass('minutebook.half')") == [(None,)]
    step.write_text("CREATE TABLE minutebook.half (x int);")
    with connected(house.address("postgres"), checked=False) as connection:
        assert schema.initialise(connection).applied == ["broken"]
        assert schema.initialise(connection).applied == []


def test_what_is_not_a_team(house: House) -> None:
    """TEAM-01: a database without the schema is named as such."""
    from minutebook.team.address import Address
    from minutebook.team.managing import standing

    with pytest.raises(NotFound, match="is not a team's archive yet"):
        standing(Address(house.server.url()))
    with pytest.raises(NotFound, match="no such database"):
        standing(Address(house.server.url("nothere")))


def test_pull_has_what_others_share(house: House, book: Archive, tmp_path: Path) -> None:
    """TEAM-01: into a cache that can only be read, never an archive; withdrawn ones vanish."""
    from minutebook.team.pulling import pull
    from minutebook.team.withdrawing import withdraw

    house.push(book, "ada")
    house.join("bob")
    cache, own = tmp_path / "cache", tmp_path / "bobs"
    first = pull(house.address("bob"), cache, own)
    assert (first.fetched, first.removed) == (9, 0)
    files = [path for path in cache.rglob("*") if path.is_file()]
    assert len([path for path in files if path.parent.name == "rounds"]) == 30
    assert {path.stat().st_mode & 0o777 for path in files} == {0o400}
    assert {p.stat().st_mode & 0o777 for p in cache.rglob("*") if p.is_dir()} == {0o500}
    assert pull(house.address("bob"), cache, own).unchanged == 9
    assert pull(house.address("ada"), tmp_path / "hers", own).fetched == 0  # one's own is at home
    withdraw(house.address("ada"), ["eb82c016"])
    assert pull(house.address("bob"), cache, own).removed == 1
    assert not list(cache.rglob("eb82c016*"))
    for folder in (book.root, book.root / "team"):
        with pytest.raises(Conflict, match="your own archive"):
            pull(house.address("bob"), folder, book.root)
    assert open_archive(book.root).exists
