"""Queries of a reader in a team's million: latencies, plans, and what bounds leave out."""

from __future__ import annotations

import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, LiteralString
from unittest.mock import patch

from psycopg import sql

from benchmarks.made_team import COMMON, PROJECTS, project_name, words
from minutebook.index.query import Filters, parse_query
from minutebook.index.static import StaticEmbedder
from minutebook.team import words as team_words
from minutebook.team.address import Address
from minutebook.team.connection import Connection, connected
from minutebook.team.database import Database
from minutebook.team.reading import TeamArchive
from minutebook.team.serving import LocalServer

_TIMES = 40
_EVERYTHING = 5_000_000
_KINDS = {"kinds": ["turn", "title", "engagement"]}
_TELLING = [word for word in COMMON if len(word) > 3]
_SOME = "SELECT entry FROM minutebook.find_some('said', %s::tsquery[], NULL, %s::jsonb, %s)"
_COUNT = "SELECT minutebook.count_words(%s::tsquery[], 10000)"
_ALIKE = "SELECT entry FROM minutebook.find_alike(minutebook.as_vector(%s), %s::jsonb, 50)"
_FULL = "SELECT entry FROM minutebook.find_words('said', %s::tsquery, %s::jsonb, 10, 5000000)"
_EXPLAIN: dict[LiteralString, str] = {
    "session_preload_libraries": "auto_explain",
    "auto_explain.log_min_duration": "0",
    "auto_explain.log_nested_statements": "on",
    "auto_explain.log_analyze": "on",
    "auto_explain.log_level": "log",
}


def measure(server: LocalServer, reader: str) -> None:
    """Print what a reader waits for."""
    dice = random.Random(7)
    common = [dice.sample(COMMON, 3) for _ in range(_TIMES)]
    telling = [dice.sample(_TELLING, 3) for _ in range(_TIMES)]
    mixed = [[*dice.sample(_TELLING, 2), words()[dice.randrange(100, 5_000)]] for _ in telling]
    projects = [project_name(dice.randrange(PROJECTS)) for _ in telling]
    url = server.url("team", reader)
    with connected(Address(url)) as connection:
        ask = Asking(connection)
        pid = connection.info.backend_pid
        print("candidates, by the functions of the schema:")
        rare = [([words()[dice.randrange(100, 5_000)]],) for _ in telling]
        timed("how often a word occurs (kept afterwards)", pid, ask.count, rare)
        for each in (*common, *telling, *mixed):
            ask.count(each)
        timed("three common words", pid, ask.some, [(each, {}) for each in common])
        timed("two common words and a rarer one", pid, ask.some, [(each, {}) for each in mixed])
        timed(
            "three common words in one project",
            pid,
            ask.some,
            [(each, {"project": name}) for each, name in zip(telling, projects, strict=True)],
        )
        timed("meaning alone", pid, ask.alike, [(each, {}) for each in mixed])
        timed("hybrid: words and meaning", pid, ask.hybrid, [(each, {}) for each in telling])
        recall("three common words", ask, common[:10])
        recall("two common words and a rarer one", ask, mixed[:10])
    through_the_archive(url, telling, mixed, projects)
    plans(server, reader, telling[0], projects[0])


class Asking:
    """The functions, as a reader calls them."""

    def __init__(self, connection: Connection) -> None:
        self._connection, self._embedder = connection, StaticEmbedder()
        self._counts: dict[str, int] = {}
        self._embedder.embed_query("warm")

    def count(self, told: Sequence[str]) -> None:
        """How often words occur, which the engine keeps."""
        unknown = [word for word in told if word not in self._counts]
        if unknown:
            terms = [f"'{word}'" for word in unknown]
            ((counts,),) = self._connection.execute(_COUNT, (terms,)).fetchall()
            self._counts |= dict(zip(unknown, counts, strict=True))

    def some(self, told: Sequence[str], within: dict[str, str], most: int = 50) -> list[int]:
        self.count(told)
        ways = [f"'{word}'" for word in sorted(told, key=lambda word: self._counts[word])]
        return self._rows(_SOME, ways, json.dumps({**_KINDS, **within}), most)

    def alike(self, told: Sequence[str], within: dict[str, str]) -> list[int]:
        vector = self._embedder.embed_query(" ".join(told))
        written = "[" + ",".join(map("%.5g".__mod__, vector.tolist())) + "]"
        return self._rows(_ALIKE, written, json.dumps({**_KINDS, **within}))

    def hybrid(self, told: Sequence[str], within: dict[str, str]) -> list[int]:
        ranks: dict[int, float] = {}
        for rows in (self.some(told, within), self.alike(told, within)):
            for place, row in enumerate(rows):
                ranks[row] = ranks.get(row, 0.0) + 1 / (60 + place)
        return sorted(ranks, key=lambda row: -ranks[row])[:10]

    def everything(self, told: Sequence[str]) -> list[int]:
        """The first ten of all entries that have one of the words, each ranked."""
        wanted = " | ".join(f"'{word}'" for word in told)
        return self._rows(_FULL, wanted, json.dumps(_KINDS))

    def _rows(self, statement: Any, *values: object) -> list[int]:
        return [row for (row,) in self._connection.execute(statement, values).fetchall()]


def processor(pid: int) -> float:
    """Seconds a process and its children that ended have worked; 0 where there is no /proc."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, told[11:15])) / os.sysconf("SC_CLK_TCK")


def timed(
    name: str, backend: int, work: Callable[..., object], cases: Sequence[tuple[Any, ...]]
) -> None:
    """How long each of some cases takes, and how much of it the server's process works."""
    for case in cases[:3]:
        work(*case)
    times = []
    before = processor(backend)
    for case in cases:
        start = time.perf_counter()
        work(*case)
        times.append((time.perf_counter() - start) * 1000)
    works = (processor(backend) - before) * 1000 / len(times)
    times.sort()
    high = times[int(0.95 * len(times)) - 1]
    told = f"p50 {statistics.median(times):6.1f} ms   p95 {high:6.1f} ms   server {works:5.1f} ms"
    print(f"  {name:44} {told}", flush=True)


def recall(name: str, ask: Asking, cases: Sequence[Sequence[str]]) -> None:
    """How much of the first ten of everything the bounded candidates find."""
    found = [len({*ask.some(case, {}, 10)} & {*ask.everything(case)}) / 10 for case in cases]
    print(f"  recall at 10 against ranking everything, {name}: {statistics.mean(found):.2f}")


def through_the_archive(
    url: str, telling: Sequence[Sequence[str]], mixed: Sequence[Sequence[str]], names: Sequence[str]
) -> None:
    """The same through `search --team`: several questions to the server for one of a person."""
    embedder = StaticEmbedder()
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        archive = TeamArchive(Database(Address(url)), Path(folder))
        engine = archive.remote.engine()
        ((pid,),) = archive.database.ask("SELECT pg_backend_pid()")
        print(f"opening the team's archive: {time.perf_counter() - start:.2f} s")

        def words_only(told: Sequence[str]) -> object:
            return engine.search(parse_query(" ".join(told)), mode="lexical")

        def both(told: Sequence[str]) -> object:
            return engine.search(parse_query(" ".join(told)), embedder=lambda: embedder)

        def in_project(told: Sequence[str], name: str) -> object:
            return engine.search(parse_query(" ".join(told), Filters(project=name)), mode="lexical")

        print("whole searches, by the engine of `--team`:")
        timed("three common words", pid, words_only, [(each,) for each in telling])
        timed("two common words and a rarer one", pid, words_only, [(each,) for each in mixed])
        timed(
            "three common words in one project",
            pid,
            in_project,
            list(zip(telling, names, strict=True)),
        )
        timed("hybrid", pid, both, [(each,) for each in telling])

        def first_ten(told: Sequence[str]) -> list[int]:
            found = engine.search(parse_query(" ".join(told)), mode="lexical")
            return [ranked.row for ranked in found[:10]]

        for name, cases in (
            ("three common words", telling[:5]),
            ("two common words and a rarer one", mixed[:5]),
        ):
            bounded = [first_ten(told) for told in cases]
            with unbounded():
                whole = [first_ten(told) for told in cases]
            shares = [
                len({*some} & {*best}) / max(1, len(best))
                for some, best in zip(bounded, whole, strict=True)
            ]
            print(
                "  recall at 10 against the same measure over everything, "
                f"{name}: {statistics.mean(shares):.2f}",
                flush=True,
            )


@contextmanager
def unbounded() -> Iterator[None]:
    """All that has one of the words is weighed: exact, and seconds at a million."""
    with ExitStack() as stack:
        for name in ("_SOME", "_ENOUGH", "_WEIGHED", "_BOUND"):
            stack.enter_context(patch.object(team_words, name, _EVERYTHING))
        yield


def plans(server: LocalServer, reader: str, told: Sequence[str], project: str) -> None:
    """What the functions did inside, as the server's log has it: they tell no client."""
    log = server.folder / "log"
    with explaining(server, reader), connected(Address(server.url("team", reader))) as connection:
        ask = Asking(connection)
        for name, work, within in (
            ("words", ask.some, {}),
            ("words in one project", ask.some, {"project": project}),
            ("meaning", ask.alike, {}),
        ):
            work(told, within)
            known = log.stat().st_size
            work(told, within)
            print(f"\nplans of {name}:")
            written = log.read_bytes()[known:].decode("utf-8", "replace")
            for plan in written.split("plan:\n")[1:]:
                if "entries" in plan:
                    print("\n".join(_told(plan)))


def _told(steps: str) -> Iterator[str]:
    """The lines of a plan, without the text of its query or its numbers."""
    for line in steps.split("\n"):
        if "(cost=" in line or "(actual" in line or line.strip().startswith(("Recheck", "Order")):
            yield f"    {line[:150]}"


@contextmanager
def explaining(server: LocalServer, reader: str) -> Iterator[None]:
    """The reader's connections say what the server does; only in this benchmark."""
    with connected(Address(server.url("team")), checked=False) as connection:
        for name, value in _EXPLAIN.items():
            change = sql.SQL("ALTER ROLE {} SET {} = {}")
            connection.execute(
                change.format(sql.Identifier(reader), sql.SQL(name), sql.Literal(value))
            )
        try:
            yield
        finally:
            connection.execute(sql.SQL("ALTER ROLE {} RESET ALL").format(sql.Identifier(reader)))
