"""Rights, attacked with plain SQL as each role (TEAM-03)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from minutebook.archive import Archive, open_archive
from minutebook.errors import Conflict, NotFound
from tests.team.conftest import House, connect, made_house

if TYPE_CHECKING:
    from minutebook.team.serving import LocalServer

psycopg = pytest.importorskip("psycopg", reason="needs PostgreSQL: psycopg is not installed")

ATTACKS = (
    "SELECT * FROM minutebook.names",
    "SELECT * FROM minutebook.visible",
    "SELECT minutebook.named('project', 'a')",
    "SELECT minutebook.filters_of('{{}}')",
    "SELECT minutebook.matching('said', 'a'::tsquery, NULL, 9)",
    "ALTER TABLE minutebook.entries DISABLE ROW LEVEL SECURITY",
    "DROP POLICY read ON minutebook.sessions",
    "CREATE POLICY all_mine ON minutebook.sessions USING (true)",
    "CREATE FUNCTION minutebook.spy() RETURNS text LANGUAGE sql AS 'SELECT ''x'''",
    "CREATE OR REPLACE FUNCTION minutebook.me() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "UPDATE minutebook.people SET login = session_user",
    "INSERT INTO minutebook.people (login, name) VALUES ('ada', 'x')",
    "INSERT INTO minutebook.project_people VALUES (1, 1)",
    "DELETE FROM minutebook.migrations",
    "UPDATE minutebook.facts SET value = 'x'",
    "UPDATE minutebook.sessions SET person_id = 2",
    "UPDATE minutebook.texts SET asked = 'x'",
    "SET ROLE {db}_keeper",
    "SET SESSION AUTHORIZATION ada",
    "SET SESSION AUTHORIZATION postgres",
    "TRUNCATE minutebook.sessions",
    "COPY minutebook.texts TO PROGRAM 'cat'",
)
TABLES = "engagements decisions rounds usage lineage files entries texts".split()


@pytest.fixture(scope="module")
def private(server: LocalServer, examples: Path, examples_archive: Path) -> Iterator[House]:
    """What ada pushed, and only she may see; the others have joined, and share nothing."""
    with made_house(server) as house:
        house.push(open_archive(examples_archive, [examples]), "ada", visible="own")
        for login in ("bob", "rea", "adm"):
            house.join(login)
        yield house


@pytest.mark.parametrize("login", ["bob", "rea", "adm"])
def test_private_rows_are_seen_by_nobody_else(private: House, login: str) -> None:
    """TEAM-03: not by a member, a reader or an admin, in any table."""
    for table in ("sessions", *TABLES):
        assert private.sql(login, f"SELECT * FROM minutebook.{table}") == [], table
    assert private.sql("ada", "SELECT count(*) FROM minutebook.sessions") == [(9,)]
    assert private.sql(login, "SELECT * FROM minutebook.machines WHERE name <> 'desk'") == []
    assert private.sql(login, "SELECT name FROM minutebook.projects") == []


@pytest.mark.parametrize("login", ["bob", "rea", "adm"])
def test_search_shows_nothing_private(private: House, login: str) -> None:
    """TEAM-03: the functions apply the same visibility; counts of words tell nothing."""
    words = "SELECT * FROM minutebook.find_words('said', '''passkey'''::tsquery, '{}', 50)"
    assert private.sql("ada", words) != []
    assert private.sql(login, words) == []
    some = (
        "SELECT * FROM minutebook.find_some('said', ARRAY['''passkey''', '''login''']::tsquery[], "
        "NULL, %s::jsonb, 50)"
    )
    one = private.sql("ada", "SELECT session_id FROM minutebook.sessions LIMIT 1")[0][0]
    for within in ("{}", '{"people": ["ada"]}', f'{{"sessions": ["{one}"]}}'):
        assert private.sql(login, some, within) == []
    assert private.sql("ada", some, "{}") != []
    count = "SELECT minutebook.count_words(ARRAY['''passkey''', '''zebra''']::tsquery[], 99)"
    ((told,),) = private.sql("ada", count)
    assert told[0] > 0
    assert private.sql(login, count) == [([0, 0],)]
    vector = private.sql(
        "ada", "SELECT vector::text FROM minutebook.entries WHERE vector IS NOT NULL LIMIT 1"
    )[0][0]
    alike = "SELECT * FROM minutebook.find_alike(minutebook.as_vector(%s), '{}', 5, %s)"
    for exact in (20_000, 0):
        assert private.sql("ada", alike, vector, exact) != []
        assert private.sql(login, alike, vector, exact) == []
    rows = [row for (row,) in private.sql("ada", "SELECT entry FROM minutebook.entries")]
    assert private.sql(login, "SELECT * FROM minutebook.names_of(%s)", rows) == []


@pytest.mark.parametrize("login", ["bob", "rea", "adm"])
def test_statistics_tell_nothing(private: House, login: str) -> None:
    """TEAM-03: neither the planner's statistics nor ts_stat speak of rows one may not see."""
    private.sql("postgres", "ANALYZE minutebook.entries")
    private.sql("postgres", "ANALYZE minutebook.texts")
    told = private.sql(
        login,
        "SELECT * FROM pg_stats WHERE schemaname = 'minutebook' AND tablename "
        "IN ('entries', 'texts', 'sessions', 'names')",
    )
    assert told == []
    words = "SELECT * FROM ts_stat('SELECT said FROM minutebook.entries')"
    assert private.sql(login, words) == []
    plans = [
        private.sql(
            login, f"EXPLAIN SELECT * FROM minutebook.entries WHERE said @@ '''{word}'''::tsquery"
        )
        for word in ("passkey", "notthere")
    ]
    assert plans[0] == [(line.replace("notthere", "passkey"),) for (line,) in plans[1]]


@pytest.mark.parametrize("login", ["bob", "rea", "adm"])
def test_attacks_are_refused(private: House, login: str) -> None:
    """TEAM-03: nobody changes policies, people or others' rows, or becomes somebody else."""
    for attack in ATTACKS:
        with pytest.raises(psycopg.Error):
            private.sql(login, attack.format(db=private.name))


def test_temporary_names_fool_no_function(private: House) -> None:
    """TEAM-03: what a person puts before our names (search_path, temporary tables, operators) is
    not looked at by the functions."""
    from tests.team.conftest import connect

    with connect(private.url("bob")) as connection:
        connection.execute("CREATE TEMP TABLE people (id int, login name)")
        connection.execute("INSERT INTO people VALUES (1, 'bob')")
        connection.execute("CREATE FUNCTION pg_temp.me() RETURNS int LANGUAGE sql AS 'SELECT 1'")
        connection.execute("SET search_path = pg_temp, minutebook, public")
        connection.execute("SET row_security = on")
        words = "SELECT * FROM minutebook.find_words('said', '''passkey'''::tsquery, '{}', 50)"
        assert connection.execute(words).fetchall() == []
        assert connection.execute("SELECT * FROM minutebook.sessions").fetchall() == []
        # A function that tells what it is asked to compare: the policy comes first.
        connection.execute(
            "CREATE FUNCTION pg_temp.tell(t text) RETURNS boolean LANGUAGE plpgsql COST 0.0001 "
            "AS $$ BEGIN RAISE EXCEPTION 'saw %', t; END $$"
        )
        found = connection.execute("SELECT * FROM minutebook.texts WHERE pg_temp.tell(asked)")
        assert found.fetchall() == []


@pytest.mark.parametrize("login", ["rea", "bob", "adm"])
def test_others_rows_are_not_changed(private: House, login: str) -> None:
    """TEAM-03: a delete of everything deletes one's own; rows under another's name are refused."""
    for table in ("sessions", *TABLES):
        try:
            private.sql(login, f"DELETE FROM minutebook.{table}")
        except psycopg.errors.InsufficientPrivilege:
            assert login == "rea"
    assert private.sql("ada", "SELECT count(*) FROM minutebook.rounds") == [(30,)]
    ((ada, desk),) = private.sql(
        "postgres",
        "SELECT p.id, m.id FROM minutebook.people p JOIN minutebook.machines m "
        "ON m.person_id = p.id WHERE p.login = 'ada'",
    )
    columns = "person_id, machine_id, session_id, visibility, level, stamp, source, started, "
    columns += "ended, rounds, ghost, record, info"
    values = "'x', 'all', 'rounds', '', '', 0, 0, 1, false, '{}', '{}'"
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        private.sql(
            login,
            f"INSERT INTO minutebook.sessions ({columns}) VALUES ({ada}, {desk}, {values})",
        )
    key = private.sql("ada", "SELECT min(key) FROM minutebook.sessions")[0][0]
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        private.sql(login, "INSERT INTO minutebook.rounds VALUES (%s, 99, 'x', 'x')", key)


def test_who_sees_what(house: House, book: Archive) -> None:
    """TEAM-03: own, project and all, in the tables as in the functions; and taken away again."""
    from minutebook.team.managing import set_project

    for login in ("bob", "rea", "adm"):
        house.join(login)
    house.push(book, "ada", visible="project")

    def seen(login: str) -> tuple[int, int]:
        rows = house.sql(login, "SELECT count(*) FROM minutebook.sessions")[0][0]
        found = house.sql(
            login,
            "SELECT count(DISTINCT session_key) FROM "
            "minutebook.find_words('said', '''~orchard'' | ''orchard'''::tsquery, '{}', 999)",
        )
        return rows, found[0][0]

    assert [seen(login) for login in ("bob", "rea", "adm")] == [(0, 0)] * 3
    set_project(house.address("adm"), "orchard", "bob", belongs=True)
    own = house.sql(
        "ada",
        "SELECT count(*) FROM minutebook.sessions s JOIN minutebook.projects p "
        "ON p.id = s.project_id WHERE p.name = 'orchard'",
    )[0][0]
    assert seen("bob")[0] == own == 4
    assert seen("bob")[1] > 0
    assert seen("rea") == seen("adm") == (0, 0)
    set_project(house.address("adm"), "orchard", "bob", belongs=False)
    assert seen("bob") == (0, 0)
    house.push(book, "ada", visible="all")
    assert seen("rea") == seen("bob") == seen("adm") == seen("ada")
    house.push(book, "ada", visible="own")
    assert seen("rea") == (0, 0)


def test_the_view_and_the_policy_agree(house: House, book: Archive) -> None:
    """TEAM-03: functions and tables use one condition: nobody finds what they may not read."""
    house.push(book, "ada", visible="own")
    house.push(book, "bob", visible="all")
    every = "SELECT DISTINCT session_key FROM minutebook.find_words('said', "
    every += "'''~a'':* | ''a'':* | ''p'':* | ''t'':*'::tsquery, '{}', 9999, 9999) ORDER BY 1"
    for login in ("ada", "bob", "rea", "adm"):
        found = house.sql(login, every)
        readable = house.sql(login, "SELECT key FROM minutebook.sessions ORDER BY 1")
        assert set(found) <= set(readable)
        assert len(found) >= 8


def test_only_admins_give_roles(private: House) -> None:
    """TEAM-03: an admin appoints; members and readers cannot, and a role can be taken away."""
    from minutebook.team.managing import set_role, standing

    for login in ("bob", "rea"):
        with pytest.raises(Conflict):
            set_role(private.address(login), "stranger", "reader")
    with pytest.raises(Conflict, match="may not read"):
        standing(private.address("stranger"))
    set_role(private.address("adm"), "stranger", "reader")
    assert standing(private.address("stranger")).role == "reader"
    set_role(private.address("adm"), "stranger", None)
    with pytest.raises(Conflict):
        standing(private.address("stranger"))
    with pytest.raises(NotFound, match="no login 'nobody_at_all'"):
        set_role(private.address("adm"), "nobody_at_all", "reader")


def test_a_reader_does_not_push(house: House, book: Archive) -> None:
    """TEAM-03: the server refuses, in one sentence."""
    with pytest.raises(Conflict, match="Your role at"):
        house.push(book, "rea")


@pytest.mark.parametrize(
    "extreme",
    [
        "UPDATE minutebook.sessions SET started = 253402300800",
        "UPDATE minutebook.sessions SET ended = -9223372036854775808",
        "UPDATE minutebook.sessions SET rounds = 1000001",
        "INSERT INTO minutebook.rounds SELECT key, 2000000000, '', '' FROM minutebook.sessions",
        "INSERT INTO minutebook.files SELECT key, 1, 9223372036854775807, '', '', 1 "
        "FROM minutebook.sessions",
    ],
)
def test_extreme_numbers_are_refused(private: House, extreme: str) -> None:
    """TEAM-03: a member pushes no moment that is not a date and no round nobody counts to."""
    with pytest.raises(psycopg.errors.CheckViolation):
        private.sql("ada", extreme)


def test_nobody_takes_anothers_name(house: House) -> None:
    """TEAM-03: not the name somebody joined with, however it is written, and nobody's login."""
    from minutebook.team.managing import join

    join(house.address("ada"), name="Ada Lovelace")
    join(house.address("ada"), name="Ada Lovelace")  # one's own, again
    for taken in ("Ada Lovelace", "ada  lovelace ", "ada", "ADM"):
        with pytest.raises(Conflict, match="Somebody else is called"):
            join(house.address("bob"), name=taken)
    join(house.address("bob"))
    found = house.sql("rea", "SELECT login::text, name FROM minutebook.people ORDER BY 1")
    assert found == [("ada", "Ada Lovelace"), ("bob", "bob")]


@pytest.mark.parametrize("how", ["LOGIN", "NOLOGIN"])
def test_roles_of_others_are_not_taken_over(server: LocalServer, how: str) -> None:
    """TEAM-03: a role with our name that we did not make is refused in one sentence, and nothing
    is set up."""
    from minutebook.team.connection import connected
    from minutebook.team.schema import initialise, stored_version

    house = House(server, f"foreign_{how.lower()}")
    with connect(server.url()) as connection:
        connection.execute(f"CREATE DATABASE {house.name}")
        connection.execute(f"CREATE ROLE {house.name}_keeper {how}")
    try:
        with connected(house.address("postgres"), checked=False) as connection:
            with pytest.raises(Conflict, match=f"a role '{house.name}_keeper' that minutebook"):
                initialise(connection)
            assert stored_version(connection) == 0
    finally:
        with connect(server.url()) as connection:
            connection.execute(f"DROP DATABASE {house.name} WITH (FORCE)")
            connection.execute(f"DROP ROLE {house.name}_keeper")
