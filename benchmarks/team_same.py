"""Whether a team's archive finds what one's own finds: the same corpus, here and through --team.

    PYTHONPATH=. python benchmarks/team_same.py [--keep FOLDER] [--every N] [--mode MODE ...]

All shared sessions are ingested offline and pushed with tools by one person into a PostgreSQL of
this benchmark's own. Then every query of ``labels/queries.jsonl`` and ``training/queries.jsonl`` is
asked of both: hit@1, @5 and @10 by kind, how often the first hit is the same; phrases, exclusions
and filters made of words of the corpus, whose results must be the same sets; and what was used, by
every dimension, to the unit. Exit status 1 where something is not as it must be.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import minutebook
from minutebook.archive import Archive, finding
from minutebook.archive.finding import search
from minutebook.archive.hit import Hit
from minutebook.archive.semantic import Meaning
from minutebook.archive.using import usage_of
from minutebook.derive.usage.tally import DIMENSIONS
from minutebook.index.engine import Mode
from minutebook.index.query import parse_query
from minutebook.team.address import Address
from minutebook.team.choice import Choice, Team, known_projects
from minutebook.team.connection import connected
from minutebook.team.database import Database
from minutebook.team.managing import join, set_role
from minutebook.team.pushing import push
from minutebook.team.reading import TeamArchive
from minutebook.team.schema import initialise
from minutebook.team.serving import LocalServer

SHARED = Path(__file__).resolve().parents[2] / "shared"
FAR, SAME = 0.02, 0.9
PERSON = "ada"


@contextmanager
def shared(folder: Path, archive: Archive) -> Iterator[TeamArchive]:
    """The archive, pushed by one person with tools, as that person reads it."""
    server = LocalServer(folder, settings="fsync = off\n")
    server.start()
    try:
        with connected(Address(server.url()), checked=False) as connection:
            for statement in (f"CREATE ROLE {PERSON} LOGIN", "CREATE DATABASE team"):
                if not _is_there(connection, statement.split()[2]):
                    connection.execute(statement)
        with connected(Address(server.url("team")), checked=False) as connection:
            initialise(connection)
        set_role(Address(server.url("team")), PERSON, "member")
        address = Address(server.url("team", PERSON))
        team = Team(address=address.kept, machine=join(address, machine="bench"))
        projects = tuple(known_projects(archive))
        start = time.perf_counter()
        choice = Choice(projects=projects, level="tools", visible="all")
        done = push(archive, address, team, choice)
        seconds = time.perf_counter() - start
        print(f"pushed {done.sessions} sessions, {done.entries} entries in {seconds:.0f} s")
        yield TeamArchive(Database(address), archive.root)
    finally:
        server.stop()


def _is_there(connection: Any, name: str) -> bool:
    roles = "SELECT 1 FROM pg_roles WHERE rolname = %s UNION SELECT 1 FROM pg_database "
    return bool(connection.execute(f"{roles} WHERE datname = %s", (name, name)).fetchone())


class Asking:
    """One archive, asked many things; how long each took."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self.meaning = Meaning(archive.layout)
        self.seconds: list[float] = []

    def hits(self, typed: str, mode: Mode, limit: int = 50, where: str = "all") -> list[Hit]:
        start = time.perf_counter()
        answer = search(
            self.archive,
            parse_query(typed),
            mode=mode,
            where=where,
            limit=limit,
            fresh=False,
            embedder=self.meaning.embedder,
        )
        self.seconds.append(time.perf_counter() - start)
        return answer.hits


def rank(hits: list[Hit], wanted: str) -> int:
    found = (_sessions([hit]) for hit in hits)
    return next((at for at, ids in enumerate(found, 1) if wanted in ids), 10_000)


def ranks(own: Asking, team: Asking, questions: list[dict[str, Any]], mode: Mode) -> bool:
    """Hits by kind, and how often the first is the same; whether they are near enough."""
    good = True
    for kind in sorted({question["kind"] for question in questions}):
        asked = [question for question in questions if question["kind"] == kind]
        here, there, same = [], [], 0
        for question in asked:
            first, second = own.hits(question["q"], mode), team.hits(question["q"], mode)
            here.append(rank(first, question["session_id"]))
            there.append(rank(second, question["session_id"]))
            same += [h.session_id for h in first[:1]] == [h.session_id for h in second[:1]]
        shares = [
            (sum(r <= k for r in here) / len(asked), sum(r <= k for r in there) / len(asked))
            for k in (1, 5, 10)
        ]
        line = "  ".join(f"{a:.3f} {b:.3f}" for a, b in shares)
        print(f"{mode:9} {kind:11} {len(asked):4}  {line}  first the same {same / len(asked):.3f}")
        good &= all(abs(a - b) <= FAR for a, b in shares)
        good &= kind != "keyword" or same / len(asked) >= SAME
    return good


# -- sets


def typed_sets(archive: Archive, count: int) -> list[tuple[str, str]]:
    """Phrases, exclusions and filters of words that the corpus has, and where to look."""
    chance = random.Random(7)
    words: list[str] = []
    places: list[tuple[str, str]] = []
    ids = sorted(archive.records())
    for id in chance.sample(ids, min(len(ids), 3 * count)):
        record = archive.records()[id]
        for round in archive.open(id).rounds():
            text = round.prompt.said if round.prompt is not None else ""
            found = re.findall(r"[A-Za-z]{4,12}", text[:2_000])
            if len(found) > 3:
                at = chance.randrange(len(found) - 2)
                words.append(" ".join(found[at : at + 2]))
                project = (record.cwd or "").rsplit("/", 1)[-1]
                places.append((project, (record.started or "")[:10]))
                break
        if len(words) >= count:
            break
    made: list[tuple[str, str]] = []
    for pair, (project, day) in zip(words, places, strict=True):
        first, second = pair.split()
        made += [(f'"{pair}"', "all"), (f"{first} -{second}", "turns"), (f"{first[:4]}*", "turns")]
        made += [
            (f'{first} "{second}"', "all"),
            (f'"{first}"', "tools"),
            (f'"{second}"', "thinking"),
        ]
        if project and '"' not in project:
            made.append((f'{first} project:"{project}"', "turns"))
        if day:
            made += [(f"{first} date:{day}", "turns"), (f"{first} before:{day}", "turns")]
        made += [(f"{first} method:build", "turns"), (f"{first} budget:>50", "turns")]
        made += [(f"{first} phase:completed agent:claude", "turns"), (f"{second} model:o", "turns")]
    return made


def _plain(_archive: Archive, hit: Hit, *_rest: object) -> Hit:
    """Which session it is, and not why it was found: there are hundreds."""
    return hit


def _sessions(hits: list[Hit]) -> set[str]:
    """Those that were found, also by rounds that another one has, too."""
    return {id for hit in hits for id in (hit.session_id, *hit.copies)}


@patch.object(finding, "told", _plain)
def same_sets(own: Asking, team: Asking, count: int) -> bool:
    wrong, full = [], 0
    made = typed_sets(own.archive, count)
    for typed, where in made:
        first = _sessions(own.hits(typed, "lexical", 5_000, where))
        second = _sessions(team.hits(typed, "lexical", 5_000, where))
        full += bool(first)
        if first != second:
            wrong.append((typed, where, len(first), len(first - second), len(second - first)))
    print(
        f"{len(made)} phrases, exclusions and filters ({full} find something): {len(wrong)} differ"
    )
    for line in wrong[:12]:
        print("  ", *line)
    return not wrong


def same_usage(own: Archive, team: Archive) -> bool:
    wrong = []
    for by in DIMENSIONS:
        first, second = usage_of(own, by, tools=True), usage_of(team, by, tools=True)
        rows = [{row.key: row.figures for row in told.rows} for told in (first, second)]
        if first.total != second.total or rows[0] != rows[1]:
            wrong.append(by)
    total = usage_of(own, tools=True).total.tokens
    print(
        f"usage by {len(DIMENSIONS)} dimensions, {total.output:,} output tokens: differs in {wrong}"
    )
    return not wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--keep", type=Path, help="keep archive and server there")
    parser.add_argument("--every", type=int, default=1, help="ask only every so-manieth query")
    parser.add_argument("--mode", action="append", choices=["lexical", "semantic", "hybrid"])
    parser.add_argument("--sets", type=int, default=40)
    options = parser.parse_args()
    corpus = Path(os.environ.get("MINUTEBOOK_CORPUS") or SHARED / "corpus")
    places = [corpus / "claude", SHARED / "training" / "claude"]
    files = [SHARED / "labels" / "queries.jsonl", SHARED / "training" / "queries.jsonl"]
    lines = [line for file in files for line in file.read_text().splitlines()]
    questions = [json.loads(line) for line in lines][:: options.every]
    scratch = options.keep or Path(tempfile.mkdtemp(prefix="minutebook-bench-"))
    try:
        root = scratch / "archive"
        minutebook.ingest(*places, archive=root, extractor="offline")
        archive = Archive(root, tuple(places))
        search(archive, parse_query("anything"), mode="lexical")
        own = Asking(archive)
        own.meaning.ready(_engine(archive))
        # Beside the archive: root's PostgreSQL runs as nobody, who may not enter root's folders.
        with shared(scratch.with_name(f"{scratch.name}-server"), archive) as team_archive:
            team = Asking(team_archive)
            print(f"{'':27}" + "".join(f"{f'hit@{k} own team':>14}" for k in (1, 5, 10)))
            good = [
                ranks(own, team, questions, mode)
                for mode in options.mode or ("lexical", "semantic", "hybrid")
            ]
            for name, asking in (("own", own), ("team", team)):
                if asking.seconds:
                    middle = statistics.median(asking.seconds) * 1000
                    print(f"{name}: a query takes {middle:.0f} ms (median)")
            good += [same_sets(own, team, options.sets), same_usage(archive, team_archive)]
        sys.exit(0 if all(good) else 1)
    finally:
        if options.keep is None:
            shutil.rmtree(scratch)
            shutil.rmtree(scratch.with_name(f"{scratch.name}-server"))


def _engine(archive: Archive) -> Any:
    from minutebook.archive.remote import engine_of

    return engine_of(archive)


if __name__ == "__main__":
    main()
