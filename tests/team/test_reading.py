"""Reading a team's archive: the same verbs, the same answers, only what one may see (TEAM-03)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

import minutebook
from minutebook.archive import Archive, open_archive
from minutebook.archive.files import find_file
from minutebook.archive.finding import search
from minutebook.archive.lineage import lineage
from minutebook.archive.relevance import similar
from minutebook.archive.reporting import report_of
from minutebook.archive.semantic import Meaning
from minutebook.archive.threads import threads
from minutebook.archive.using import usage_of
from minutebook.derive.usage.tally import DIMENSIONS
from minutebook.errors import Conflict, MinutebookError, NotFound
from minutebook.index.engine import Mode
from minutebook.index.query import Filters, Query, parse_query
from minutebook.model.said import Hide
from minutebook.verbs.stats import stats
from tests.team.conftest import House, made_house

if TYPE_CHECKING:
    from minutebook.team.reading import TeamArchive

_open: list[TeamArchive] = []


def team_of(
    house: House, login: str, archive: Archive, patience: float | None = None
) -> TeamArchive:
    """The team as a person reads it, until the test is over."""
    from minutebook.team.database import Database
    from minutebook.team.reading import TeamArchive

    _open.append(TeamArchive(Database(house.address(login)), archive.root, patience=patience))
    return _open[-1]


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    while _open:
        _open.pop().close()


@pytest.fixture(scope="module")
def own(
    examples: Path, examples_archive: Path, tmp_path_factory: pytest.TempPathFactory
) -> Archive:
    """An archive of the examples, whose index is there."""
    import shutil

    root = tmp_path_factory.mktemp("reading") / "archive"
    shutil.copytree(examples_archive, root)
    found = open_archive(root, [examples])
    search(found, parse_query("anything"), mode="lexical")
    return found


@pytest.fixture(scope="module")
def pushed(server: Any, own: Archive) -> Iterator[House]:
    """A team that has all of it, from ada, with tools, for everybody."""
    with made_house(server) as house:
        house.push(own)
        yield house


@pytest.fixture(scope="module")
def team(pushed: House, own: Archive) -> Iterator[TeamArchive]:
    """The same, as rea reads it."""
    found = team_of(pushed, "rea", own)
    _open.remove(found)
    with found:
        yield found


def found(archive: Archive, typed: str, mode: Mode = "lexical", **how: Any) -> list[str]:
    """The sessions of an answer, in its order."""
    meaning = Meaning(archive.layout)
    answer = search(
        archive, parse_query(typed), mode=mode, limit=100, embedder=meaning.embedder, **how
    )
    return [hit.session_id for hit in answer.hits]


_WORK = ("tools", "files", "thinking", "subagents")
WORDS = (
    "passkey login",
    "password",
    "tests",
    '"password form"',
    "login -passkey",
    "passk*",
    "the orchard map",
    "散歩",
    "login project:orchard",
    "login agent:codex",
    "login budget:<50",
    "tests method:build",
    "login before:2030-01-01",
    "login after:2030-01-01",
)


@pytest.mark.parametrize("typed", WORDS)
def test_words_find_the_same(team: TeamArchive, own: Archive, typed: str) -> None:
    """TEAM-03: phrases, exclusions, prefixes and filters find the same sessions, best first."""
    here, there = found(own, typed), found(team, typed)
    assert set(there) == set(here)
    assert there[:1] == here[:1]


@pytest.mark.parametrize("where", ["turns", "engagements", *_WORK])
def test_places_find_the_same(team: TeamArchive, own: Archive, where: str) -> None:
    """TEAM-03: also what tools did, files, thinking and subagents, each by itself."""
    for typed in ("test", "login", "pytest", "heap"):
        assert set(found(team, typed, where=where)) == set(found(own, typed, where=where))


@pytest.mark.parametrize("side", ["asked", "answered"])
def test_sides_find_the_same(team: TeamArchive, own: Archive, side: Any) -> None:
    """TEAM-03: what was asked, and what was answered."""
    assert set(found(team, "login", side=side)) == set(found(own, "login", side=side))


def test_meanings_find_the_same(team: TeamArchive, own: Archive) -> None:
    """TEAM-03: vectors of the server and words together put the same session first."""
    own_meaning = Meaning(own.layout)
    from minutebook.archive.remote import engine_of

    own_meaning.ready(engine_of(own))
    for typed in ("signing in without a password", "why does the map draw slowly"):
        assert found(team, typed, "hybrid")[:1] == found(own, typed, "hybrid")[:1]
        assert found(team, typed, "semantic")[:1] == found(own, typed, "semantic")[:1]


def test_hits_are_told_the_same(team: TeamArchive, own: Archive) -> None:
    """TEAM-03: round, passage, block, side, engagement and copies of each hit; and whose it is."""
    fields = ("session_id", "round", "at", "snippet", "side", "block", "engagement", "copies")
    for typed in ("passkey login", "pytest", "orchard"):
        here = search(own, parse_query(typed), mode="lexical").hits
        there = search(team, parse_query(typed), mode="lexical").hits
        told = [
            [{name: getattr(hit, name) for name in fields} for hit in hits]
            for hits in (here, there)
        ]
        assert sorted(told[0], key=str) == sorted(told[1], key=str)
        assert {hit.person for hit in there} == {"ada"}
        assert {hit.person for hit in here} == {None}


def test_facets_count_the_same(team: TeamArchive, own: Archive) -> None:
    """TEAM-03: the counts beside an answer."""
    here = search(own, parse_query("login"), mode="lexical")
    there = search(team, parse_query("login"), mode="lexical")
    assert (there.facets, there.total) == (here.facets, here.total)


def test_lists_are_the_same(team: TeamArchive, own: Archive) -> None:
    """TEAM-03: engagements that pass filters, without words; sessions, names and addresses."""
    query = Query(filters=Filters(project="orchard"))
    here, there = search(own, query), search(team, query)
    assert [hit.engagement for hit in there.hits] == [hit.engagement for hit in here.hits]
    assert [s.id for s in team.sessions(ghosts=True).sessions] == [
        s.id for s in own.sessions(ghosts=True).sessions
    ]
    for session in own.sessions(ghosts=True).sessions:
        assert team.short(session.id) == own.short(session.id)
        assert team.summary(session.id).name == session.name


@pytest.mark.parametrize(
    "filters",
    [
        Filters(budget=(0, 500)),
        Filters(command="pytest"),
        Filters(error="failed"),
        Filters(command="pytest", project="orchard", tools=True),
    ],
)
def test_rounds_are_listed_the_same(team: TeamArchive, own: Archive, filters: Filters) -> None:
    """TEAM-03: rounds that pass filters of rounds, without words, newest first."""
    query = Query(filters=filters)
    here, there = (search(archive, query, limit=100) for archive in (own, team))
    assert [(h.session_id, h.round) for h in there.hits] == [
        (h.session_id, h.round) for h in here.hits
    ]
    assert (there.total, there.capped) == (here.total, here.capped)


def test_the_newest_come_first(team: TeamArchive, own: Archive) -> None:
    """TEAM-03: `--sort date` is the same list."""
    here, there = (found(archive, "login", sort="date") for archive in (own, team))
    assert here and there == here


def test_rounds_are_the_same(team: TeamArchive, own: Archive) -> None:
    """TEAM-03: a session that was shared with tools reads as it does at home."""
    for session in own.sessions(ghosts=True).sessions:
        assert list(team.open(session.id).rounds()) == list(own.open(session.id).rounds())


@pytest.mark.parametrize("by", DIMENSIONS)
def test_usage_is_the_same_to_the_unit(team: TeamArchive, own: Archive, by: str) -> None:
    """TEAM-03: tokens, cost, time and work by every dimension."""
    here, there = usage_of(own, by, tools=True), usage_of(team, by, tools=True)
    assert there.total == here.total
    assert {row.key: row.figures for row in there.rows} == {
        row.key: row.figures for row in here.rows
    }


def test_figures_are_the_same(team: TeamArchive, own: Archive) -> None:
    """TEAM-03: statistics, the report and threads."""
    assert stats(team, Query()) == stats(own, Query())
    assert report_of(team, Filters()).projects == report_of(own, Filters()).projects
    assert [t.id for t in threads(team).every] == [t.id for t in threads(own).every]


def test_lineage_is_the_same(team: TeamArchive, own: Archive) -> None:
    """TEAM-03: which session comes from which, with subagents and what says so."""
    assert lineage(team) == lineage(own)


def test_files_are_the_same(team: TeamArchive, own: Archive) -> None:
    """TEAM-03: who read or changed a file."""
    here, there = (find_file(a, "*.py", Filters(), limit=500) for a in (own, team))
    assert [(h.session_id, h.round, h.path, h.how) for h in there.hits] == [
        (h.session_id, h.round, h.path, h.how) for h in here.hits
    ]
    assert (there.total, there.files, there.sessions) == (here.total, here.files, here.sessions)


def test_similar_turns_are_found(team: TeamArchive, own: Archive) -> None:
    """TEAM-03: what is like a round, in other sessions only."""
    id = own.resolve("Reed")
    meaning = Meaning(own.layout)
    here = similar(own, id, 1, meaning.embedder, ready=meaning.ready)
    there = similar(team, id, 1, meaning.embedder)
    assert {h.session_id for h in there} == {h.session_id for h in here}
    assert id not in {h.session_id for h in there}


# -- only what one may see


def test_what_is_ones_own_is_nowhere_for_others(house: House, book: Archive) -> None:
    """TEAM-04: a private session is in no list, count, facet or statistic of another person."""
    house.push(book, visible="own")
    house.join("bob")
    for login in ("bob", "rea", "adm"):
        other = team_of(house, login, book)
        answer = search(other, parse_query("login"), mode="hybrid", embedder=_embedder(book))
        assert (answer.hits, answer.total, answer.whole) == ([], 0, 0)
        assert not any(answer.facets.values())
        assert other.sessions(ghosts=True, hidden=True, copies=True).total == 0
        assert usage_of(other).total.tokens.output == 0
        assert not lineage(other).edges
        assert find_file(other, "*", Filters()).total == 0
        with pytest.raises(NotFound):
            other.resolve("Reed")
    assert found(team_of(house, "ada", book), "login")


def test_functions_tell_nothing_of_others(house: House, book: Archive) -> None:
    """TEAM-04: lists of rounds, and which sessions pass, are of what one may see."""
    house.push(book, visible="own")
    house.join("bob")
    keys = [key for (key,) in house.sql("ada", "SELECT key FROM minutebook.shared_sessions")]
    newest = "SELECT count(*) FROM minutebook.find_newest('{}', 1000)"
    passing = "SELECT count(*) FROM minutebook.passing(%s, '{}')"
    assert house.sql("ada", newest)[0][0] > 30
    assert house.sql("ada", passing, keys)[0][0] > 5
    for login in ("bob", "rea", "adm"):
        assert house.sql(login, newest) == [(0,)]
        assert house.sql(login, passing, keys) == [(0,)]


def _embedder(archive: Archive) -> Any:
    return Meaning(archive.layout).embedder


def test_what_is_shared_with_a_project_is_for_its_people(house: House, book: Archive) -> None:
    """TEAM-04: rows of a project appear for those an admin put into it, and nobody else."""
    from minutebook.team.managing import set_project

    house.push(book, projects=("orchard",), visible="project")
    house.join("bob")
    assert found(team_of(house, "bob", book), "login") == []
    set_project(house.address("adm"), "orchard", "bob", belongs=True)
    assert found(team_of(house, "bob", book), "login") == found(
        team_of(house, "ada", book), "login"
    )


def test_a_withdrawn_session_is_gone(house: House, book: Archive) -> None:
    """TEAM-02: what was taken back is found by nobody any more."""
    from minutebook.team.withdrawing import withdraw

    house.push(book)
    team = team_of(house, "rea", book)
    id = found(team, "login")[0]
    withdraw(house.address("ada"), [id])
    again = team_of(house, "rea", book)
    assert id not in found(again, "login")
    with pytest.raises(MinutebookError):
        again.open(id)


def test_a_session_withdrawn_while_one_reads_is_left_out(house: House, book: Archive) -> None:
    """TEAM-03: lists and searches go on without it, also where the team is not looked at again."""
    from minutebook.team.withdrawing import withdraw

    house.push(book)
    team = team_of(house, "rea", book)
    before = {session.id for session in team_of(house, "rea", book).sessions().sessions}
    gone = min(before)
    withdraw(house.address("ada"), [gone])
    assert {session.id for session in team.sessions().sessions} == before - {gone}
    with pytest.raises(NotFound):
        team.open(gone)


@pytest.mark.parametrize("column", ["record", "info"])
@pytest.mark.parametrize("body", ["{", "{}", '{"session_id":"other","id":"other","source":"x"}'])
def test_one_session_that_cannot_be_read_hides_no_other(
    house: House, book: Archive, column: str, body: str
) -> None:
    """TEAM-03: what a newer minutebook pushed, or nonsense, has its title and its dates."""
    house.push(book)
    known = {session.id: session for session in team_of(house, "rea", book).sessions().sessions}
    odd = next(id for id, session in known.items() if session.title)
    ((key,),) = house.sql(
        "ada", "SELECT key FROM minutebook.own_sessions WHERE session_id = %s", odd
    )
    house.sql("ada", f"UPDATE minutebook.sessions SET {column} = %s WHERE key = %s", body, key)
    team = team_of(house, "rea", book)
    found = {session.id: session.title for session in team.sessions().sessions}
    assert found == {id: session.title for id, session in known.items()}
    assert search(team, parse_query("passkey"), mode="lexical").total


@pytest.mark.parametrize("table", ["usage", "lineage"])
def test_figures_that_cannot_be_read_are_left_out(house: House, book: Archive, table: str) -> None:
    """TEAM-03: usage and lineage of the others are there."""
    house.push(book)
    column = {"usage": "digest", "lineage": "body"}[table]
    house.sql("postgres", f"UPDATE minutebook.{table} SET {column} = '{{'")
    team = team_of(house, "rea", book)
    assert team.sessions().sessions
    assert (usage_of(team, "session").total.replies == 0) == (table == "usage")
    assert (lineage(team).edges == ()) == (table == "lineage")


@pytest.mark.parametrize("field", ["calls", "commits", "pulls", "branches"])
def test_figures_that_name_what_is_not_there_are_left_out(
    house: House, book: Archive, field: str
) -> None:
    """TEAM-03: what a member pushed by hand keeps nobody from counting the others."""
    from minutebook.derive.usage.digest import Call, Digest

    odd: dict[str, Any] = {
        "calls": [Call(99, 0)],
        "commits": [(99, "abcdef0")],
        "pulls": [(-99, "https://git.example/pull/1")],
        "branches": [],
    }
    house.push(book)
    known = len(usage_of(team_of(house, "rea", book), "session", tools=True).rows)
    key, told = house.sql(
        "postgres", "SELECT session_key, digest FROM minutebook.usage ORDER BY 1 LIMIT 1"
    )[0]
    digest = msgspec.json.decode(told, type=Digest)
    digest = msgspec.structs.replace(digest, rounds={1: 7}, **{field: odd[field]})
    change = "UPDATE minutebook.usage SET digest = %s WHERE session_key = %s"
    house.sql("postgres", change, msgspec.json.encode(digest).decode(), key)
    found = usage_of(team_of(house, "rea", book), "session", tools=True).rows
    assert len(found) == known - 1


def test_an_agent_name_from_nowhere_hides_nothing(house: House, book: Archive) -> None:
    """TEAM-03: who says so may be of a newer minutebook."""
    house.push(book)
    before = len(team_of(house, "rea", book).sessions().sessions)
    ((key, told),) = house.sql(
        "ada", "SELECT key, record FROM minutebook.own_sessions ORDER BY key LIMIT 1"
    )
    record = json.loads(told) | {"agent_name": "Reed", "agent_name_source": "somewhere"}
    change = "UPDATE minutebook.sessions SET record = %s WHERE key = %s"
    house.sql("ada", change, json.dumps(record), key)
    assert len(team_of(house, "rea", book).sessions().sessions) == before


def test_a_tie_between_sessions_of_others_is_left_out(house: House, book: Archive) -> None:
    """TEAM-05: what a session comes from is for its own person to say."""
    house.push(book)
    ((older,), (newer,)) = house.sql(
        "ada", "SELECT session_id FROM minutebook.own_sessions ORDER BY key LIMIT 2"
    )
    house.push(book, "bob", projects=("ledger",), visible="all")
    before = team_of(house, "rea", book).known_ties()
    ((key,),) = house.sql("bob", "SELECT max(key) FROM minutebook.own_sessions")
    told = {"older": older, "newer": newer, "kind": "forks", "recorded": True, "confidence": 1.0}
    body = json.dumps({**told, "evidence": [{"what": "shared-messages", "count": 4}]})
    house.sql(
        "bob",
        "INSERT INTO minutebook.lineage VALUES (%s, %s, %s, 'forks', %s, NULL)",
        *(key, older, newer, body),
    )
    assert team_of(house, "rea", book).known_ties() == before


def test_a_search_asks_little(house: House, book: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    """TEAM-04: one connection, and no question twice: each costs the way to the server and back."""
    import psycopg

    house.push(book)
    asked: list[str] = []
    real = psycopg.Connection.execute

    def execute(self: Any, statement: Any, *values: Any, **how: Any) -> Any:
        asked.append(str(statement))
        return real(self, statement, *values, **how)

    monkeypatch.setattr(psycopg.Connection, "execute", execute)
    team = team_of(house, "rea", book)
    assert len(asked) == 3  # settings, version, sessions
    assert search(team, parse_query("passkey login"), mode="lexical").total
    listed = [text for text in asked if "FROM minutebook.shared_sessions" in text]
    assert len(listed) <= 3  # which there are; then what is said of those that were found
    assert len(asked) < 28


def test_a_tie_without_a_reason_is_left_out(house: House, book: Archive) -> None:
    """TEAM-05: what a member pushed by hand breaks nobody's lineage."""
    house.push(book)
    keys = house.sql(
        "ada", "SELECT key, session_id FROM minutebook.shared_sessions ORDER BY key LIMIT 2"
    )
    (key, older), (_, newer) = keys
    before = team_of(house, "bob", book).lineage(older)
    told = {"older": older, "newer": newer, "kind": "forks", "recorded": True, "confidence": 1.0}
    body = json.dumps({**told, "evidence": []})
    house.sql(
        "ada",
        "INSERT INTO minutebook.lineage VALUES (%s, %s, %s, 'forks', %s, NULL)",
        *(key, older, newer, body),
    )
    assert team_of(house, "bob", book).lineage(older) == before


def test_a_server_sees_what_was_pushed_meanwhile(house: House, book: Archive) -> None:
    """TEAM-03: an archive that stays open looks again."""
    house.push(book, projects=("orchard",))
    team = team_of(house, "rea", book, patience=0.0)
    before = team.sessions(ghosts=True).total
    house.push(book)
    assert team.sessions(ghosts=True).total > before


def test_one_session_of_two_people_is_one(house: House, book: Archive) -> None:
    """TEAM-03: what two people pushed is read from who shares more of it."""
    house.push(book, "ada", level="engagements")
    house.push(book, "bob", level="tools")
    team = team_of(house, "rea", book)
    assert {hit.person for hit in search(team, parse_query("login"), mode="lexical").hits} == {
        "bob"
    }
    assert found(team, "login") == found(book, "login")


# -- as much as was shared


def test_minutes_alone_say_so(house: House, book: Archive) -> None:
    """TEAM-03: of a session whose minutes only are shared, a round is not there, with a reason."""
    house.push(book, level="engagements")
    team = team_of(house, "rea", book)
    reading = team.session("Reed")
    assert "Only its minutes are shared" in reading.withheld
    with pytest.raises(NotFound, match="Only its minutes are shared"):
        reading.round(1)
    assert team.record(reading.session_id).engagements
    hits = search(team, parse_query("passkey"), mode="lexical").hits
    assert hits and all(hit.is_label for hit in hits)


def test_words_alone_say_so(house: House, book: Archive) -> None:
    """TEAM-03: of a session shared with rounds, what tools did is said to be missing."""
    house.push(book, level="rounds")
    team = team_of(house, "rea", book)
    reading = team.session("Reed")
    assert "tools" in reading.withheld and reading.round(1).prompt is not None
    assert not [call for round in reading.rounds() for call in round.calls]


# -- what goes wrong


def test_another_schema_is_refused(house: House, book: Archive) -> None:
    """TEAM-05: an older or a newer schema is refused with a sentence."""
    house.sql("postgres", "UPDATE minutebook.migrations SET version = 99 WHERE version = 3")
    with pytest.raises(Conflict, match="upgrade minutebook"):
        team_of(house, "rea", book)
    house.sql("postgres", "DELETE FROM minutebook.migrations WHERE version = 99")
    with pytest.raises(MinutebookError, match="team init"):
        team_of(house, "rea", book)


def test_a_connection_that_was_lost_is_made_again(house: House, book: Archive) -> None:
    """TEAM-03: a server that ended the connection between two questions is asked again."""
    house.push(book)
    team = team_of(house, "rea", book)
    before = found(team, "login")
    house.sql(
        "postgres", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'rea'"
    )
    assert found(team, "login") == before


def test_reading_writes_nothing(house: House, book: Archive, tmp_path: Path) -> None:
    """TEAM-03: a connection that reads cannot write, and nothing is put on the disk."""
    house.push(book)
    before = sorted(book.root.rglob("*"))
    team = team_of(house, "ada", book)
    found(team, "login")
    usage_of(team)
    lineage(team)
    with pytest.raises(MinutebookError, match="read-only"):
        team.database.ask("DELETE FROM minutebook.sessions RETURNING key")
    assert sorted(book.root.rglob("*")) == before
    assert not list(tmp_path.rglob("*.team"))
    assert json.dumps(sorted(team.ids())) == json.dumps(sorted(book.ids()))


# -- the library


def test_the_library_opens_a_team(
    house: House, book: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TEAM-03: the noun of the library, with the team behind it."""
    house.push(book)
    monkeypatch.setenv("MINUTEBOOK_TEAM_URL", house.url("rea"))
    with minutebook.open_team(book.root) as team:
        hits = team.search("passkey login", limit=3)
        assert {hit.person for hit in hits} == {"ada"}
        assert [e.topic for _, e in team.engagements()]
        assert team.usage("model").total == book.usage("model").total
        assert next(iter(team.session("Reed").rounds())).prompt is not None
    with pytest.raises(MinutebookError):
        team.search("passkey login")


def test_what_a_person_hid_is_not_shared(house: House, book: Archive) -> None:
    """TEAM-02: an engagement that was hidden stays at home."""
    id = book.resolve("Reed")
    hidden = book.record(id).engagements[0]
    book.say(id, Hide(engagement=hidden.id))
    house.push(book)
    with team_of(house, "ada", book) as team:
        assert hidden.id not in {e.id for e in team.record(id).engagements}
        query = Query(filters=Filters(hidden=True))
        assert hidden not in [hit.engagement for hit in search(team, query, limit=100).hits]
