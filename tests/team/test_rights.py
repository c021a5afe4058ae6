"""Rights, attacked with plain SQL as each role (TEAM-03)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from minutebook.archive import Archive, open_archive
from minutebook.errors import BadArgument, Conflict, NotFound
from tests.team.conftest import PASSWORD, House, connect, made_house

if TYPE_CHECKING:
    from minutebook.team.serving import LocalServer

psycopg = pytest.importorskip("psycopg", reason="needs PostgreSQL: psycopg is not installed")

ATTACKS = (
    "SELECT * FROM minutebook.project_namers",
    "SELECT * FROM minutebook.namers",
    "SELECT * FROM minutebook.withdrawn",
    "SELECT minutebook.any_number()",
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
    "GRANT {db}_reader TO stranger",
    "SELECT person_id FROM minutebook.sessions",
    "SELECT audience FROM minutebook.sessions",
    "SELECT id FROM minutebook.projects",
    "SELECT person_id FROM minutebook.machines",
    "INSERT INTO minutebook.sessions (key) OVERRIDING SYSTEM VALUE VALUES (99999)",
    "INSERT INTO minutebook.entries (entry) OVERRIDING SYSTEM VALUE VALUES (99999)",
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
    """TEAM-03: not by a member, a reader or an admin, in any table, or in what is read of it."""
    for table in ("sessions", *TABLES):
        assert private.sql(login, f"SELECT * FROM minutebook.shared_{table}") == [], table
    assert private.sql("ada", "SELECT count(*) FROM minutebook.shared_sessions") == [(9,)]
    assert private.sql(login, "SELECT * FROM minutebook.shared_machines WHERE name <> 'desk'") == []
    assert private.sql(login, "SELECT name FROM minutebook.shared_projects") == []


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
    one = private.sql("ada", "SELECT session_id FROM minutebook.shared_sessions LIMIT 1")[0][0]
    for within in ("{}", '{"people": ["ada"]}', f'{{"sessions": ["{one}"]}}'):
        assert private.sql(login, some, within) == []
    assert private.sql("ada", some, "{}") != []
    count = "SELECT minutebook.count_words(ARRAY['''passkey''', '''zebra''']::tsquery[], 99)"
    ((told,),) = private.sql("ada", count)
    assert told[0] > 0
    assert private.sql(login, count) == [([0, 0],)]
    vector = private.sql(
        "ada", "SELECT vector::text FROM minutebook.shared_entries WHERE vector IS NOT NULL LIMIT 1"
    )[0][0]
    alike = "SELECT * FROM minutebook.find_alike(minutebook.as_vector(%s), '{}', 5, %s)"
    for exact in (20_000, 0):
        assert private.sql("ada", alike, vector, exact) != []
        assert private.sql(login, alike, vector, exact) == []
    rows = [row for (row,) in private.sql("ada", "SELECT entry FROM minutebook.shared_entries")]
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
    words = "SELECT * FROM ts_stat('SELECT said FROM minutebook.shared_entries')"
    assert private.sql(login, words) == []
    plans = [
        private.sql(
            login,
            f"EXPLAIN SELECT * FROM minutebook.shared_entries WHERE said @@ '''{word}'''::tsquery",
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


@pytest.mark.parametrize("role", ["reader", "member", "admin"])
@pytest.mark.parametrize("login", ["bob", "rea", "adm"])
def test_rights_stay(private: House, login: str, role: str) -> None:
    """TEAM-03: DROP OWNED BY a role takes it out of every policy, and drops those for it alone,
    whoever made them: ours are for no role. What was granted stays, too."""
    every = (
        "SELECT polname || polroles::text || polqual::text FROM pg_policy "
        "UNION ALL SELECT relname || relacl::text FROM pg_class "
        "UNION ALL SELECT attrelid || attname || attacl::text FROM pg_attribute "
        "UNION ALL SELECT proname || proacl::text FROM pg_proc "
        "UNION ALL SELECT roleid || ' ' || member FROM pg_auth_members ORDER BY 1"
    )
    before = private.sql("postgres", every)
    with suppress(psycopg.errors.InsufficientPrivilege):
        private.sql(login, f"DROP OWNED BY {private.name}_{role}")
    assert private.sql("postgres", every) == before
    assert private.sql("ada", "SELECT count(*) FROM minutebook.shared_sessions") == [(9,)]
    assert private.sql(login, "SELECT count(*) FROM minutebook.shared_sessions") == [(0,)]


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
        assert connection.execute("SELECT * FROM minutebook.shared_sessions").fetchall() == []
        # A function that tells what it is asked to compare: the policy comes first.
        connection.execute(
            "CREATE FUNCTION pg_temp.tell(t text) RETURNS boolean LANGUAGE plpgsql COST 0.0001 "
            "AS $$ BEGIN RAISE EXCEPTION 'saw %', t; END $$"
        )
        found = connection.execute(
            "SELECT * FROM minutebook.shared_texts WHERE pg_temp.tell(asked)"
        )
        assert found.fetchall() == []


@pytest.mark.parametrize("login", ["rea", "bob", "adm"])
def test_others_rows_are_not_changed(private: House, login: str) -> None:
    """TEAM-03: a delete of everything deletes one's own; rows under another's name are refused."""
    for table in ("sessions", *TABLES):
        try:
            private.sql(login, f"DELETE FROM minutebook.{table}")
        except psycopg.errors.InsufficientPrivilege:
            assert login == "rea"
    assert private.sql("ada", "SELECT count(*) FROM minutebook.shared_rounds") == [(30,)]
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
    key = private.sql("ada", "SELECT min(key) FROM minutebook.shared_sessions")[0][0]
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        private.sql(login, "INSERT INTO minutebook.rounds VALUES (%s, 99, 'x', 'x')", key)


def test_who_sees_what(house: House, book: Archive) -> None:
    """TEAM-03: own, project and all, in the tables as in the functions; and taken away again."""
    from minutebook.team.managing import set_project

    for login in ("bob", "rea", "adm"):
        house.join(login)
    house.push(book, "ada", visible="project")

    def seen(login: str) -> tuple[int, int]:
        rows = house.sql(login, "SELECT count(*) FROM minutebook.shared_sessions")[0][0]
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
        "SELECT count(*) FROM minutebook.shared_sessions s JOIN minutebook.shared_projects p "
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


OF_TEXTS = {
    "sessions": ("title", "record", "info", "session_id"),
    "engagements": ("id", "topic", "body"),
    "decisions": ("engagement", "decision"),
    "rounds": ("body",),
    "usage": ("digest",),
    "lineage": ("older", "body"),
    "files": ("path",),
    "entries": ("key", "said"),
    "texts": ("asked", "answered"),
    "projects": ("name",),
    "machines": ("name",),
}


@pytest.mark.parametrize("login", ["bob", "rea", "adm"])
def test_no_text_is_read_from_a_table(private: House, login: str) -> None:
    """TEAM-03: of the tables themselves nobody reads a text, also not to compare it."""
    for table, columns in OF_TEXTS.items():
        for column in columns:
            for way in ("SELECT {c} FROM {t}", "EXPLAIN SELECT 1 FROM {t} WHERE {c} IS NULL"):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    private.sql(login, way.format(c=column, t=f"minutebook.{table}"))


@pytest.mark.parametrize("login", ["bob", "rea", "adm"])
def test_plans_do_not_tell_what_fitted(private: House, login: str) -> None:
    """TEAM-03: PostgreSQL may compare texts before it asks who may see them, and EXPLAIN would
    tell whether any fitted, and how many it expected: a plan is the same for what is there and for
    what is not."""
    private.join("ada", machine="zebra")
    private.sql("postgres", "ANALYZE")
    for table, columns in OF_TEXTS.items():
        for column in set(columns) - {"said"}:
            ((there,),) = private.sql("postgres", f"SELECT max({column}) FROM minutebook.{table}")
            assert there, (table, column)
            for ask in (
                f"{column} = ANY (ARRAY[%s])",
                f"{column} ^@ %s",
                f"{column} >= %s AND {column} < %s || '~'",
            ):
                plans = []
                for wanted in (there, "~nothing like this"):
                    values = [wanted] * ask.count("%s")
                    statement = f"SELECT 1 FROM minutebook.shared_{table} WHERE {ask}"
                    plans.append(_plan(private, login, statement, values))
                assert plans[0] == plans[1], (table, column, ask)


def _plan(house: House, login: str, statement: str, values: list[str]) -> str:
    """How it was done, with how often and how many, without what was asked for."""
    with connect(house.url(login)) as connection:
        connection.execute("SET enable_seqscan = off")
        how = "EXPLAIN (ANALYZE, TIMING off, SUMMARY off, BUFFERS off) "
        lines = connection.execute(how + statement, values).fetchall()
    told = "\n".join(line for (line,) in lines)
    return re.sub(r"'(?:[^']|'')*'", "'…'", told)


def test_numbers_of_others_are_nobodys(house: House, book: Archive) -> None:
    """TEAM-03: a member who writes the numbers of others' projects, folders, branches or models
    into rows of their own is refused: their names would be told."""
    house.push(book, "ada", visible="own")
    house.push(book, "bob", visible="own", projects=("orchard",))
    own = house.sql("bob", "SELECT name FROM minutebook.shared_projects")
    assert own == [("orchard",)]
    refused = 0
    for id, name in house.sql("postgres", "SELECT id, name FROM minutebook.projects"):
        change = f"UPDATE minutebook.sessions SET project_id = {id}"
        if name == "orchard":
            house.sql("bob", change)
            continue
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            house.sql("bob", change)
        refused += 1
    assert refused == 3
    assert house.sql("bob", "SELECT name FROM minutebook.shared_projects") == own
    key = house.sql("bob", "SELECT min(key) FROM minutebook.shared_sessions")[0][0]
    known = {name for (name,) in house.sql("bob", _NAMES)}
    for column in ("project_id", "branch_id", "model_id"):
        for id, name in house.sql("postgres", "SELECT id, value FROM minutebook.names"):
            entry = (
                "INSERT INTO minutebook.entries (session_key, kind, key, round, at, tools, quoted, "
                f"budget, blocks, signal, lengths, said, {column}) VALUES ({key}, 'turn', "
                f"'{column}{id}', 1, 0, false, false, 0, '', '', '{{}}', '', {id})"
            )
            if name in known:
                house.sql("bob", entry)
                continue
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                house.sql("bob", entry)
    assert {name for (name,) in house.sql("bob", _NAMES)} == known
    # Nor does the number one gets for a name tell that others have it: it is no count.
    ids = [id for (id,) in house.sql("postgres", "SELECT id FROM minutebook.projects")]
    ids += [id for (id,) in house.sql("postgres", "SELECT id FROM minutebook.names")]
    assert min(ids) > 1_000_000
    assert sorted(ids) != list(range(min(ids), min(ids) + len(ids)))


_NAMES = (
    "SELECT unnest(ARRAY[n.project, n.branch, n.model]) FROM minutebook.names_of("
    "ARRAY(SELECT entry FROM minutebook.shared_entries)) n"
)


@pytest.mark.parametrize("name", ["debug_print_plan", "debug_print_parse", "debug_print_rewritten"])
def test_functions_show_nobody_their_plans(private: House, name: str) -> None:
    """TEAM-03: settings that send plans to the client do not send those of our functions, where
    the numbers of names stand that fitted a filter."""
    seen: list[str] = []
    with connect(private.url("rea")) as connection:
        connection.add_notice_handler(lambda n: seen.append(n.message_detail or ""))
        connection.execute(f"SET {name} = on")
        connection.execute("SET client_min_messages = debug5")
        for ask in (
            "SELECT minutebook.me()",
            "SELECT * FROM minutebook.find_words('said', 'a'::tsquery, '{\"project\": \"a\"}', 9)",
            'SELECT * FROM minutebook.find_newest(\'{"branch": "a"}\', 9)',
            "SELECT minutebook.count_words(ARRAY['a']::tsquery[], 9)",
        ):
            seen.clear()
            connection.execute(ask)
            assert len([told for told in seen if told.startswith(("   {", "   ("))]) <= 1


def test_the_nearest_tell_nothing_of_those_between(house: House, book: Archive) -> None:
    """TEAM-03: entries of others that are nearer to a vector than one's own, however many, do not
    change how many one gets."""
    house.push(book, "ada", visible="all")
    ((vector,),) = house.sql(
        "ada", "SELECT vector::text FROM minutebook.shared_entries WHERE vector IS NOT NULL LIMIT 1"
    )
    ask = "SELECT entry FROM minutebook.find_alike(minutebook.as_vector(%s), '{}', %s, 0)"
    assert [len(house.sql("rea", ask, vector, most)) for most in (1, 3)] == [1, 3]
    house.push(book, "bob", visible="own")
    house.sql(
        "postgres",
        "INSERT INTO minutebook.entries (session_key, kind, key, round, at, tools, quoted, budget, "
        "blocks, signal, lengths, said, vector) "
        "SELECT (SELECT max(s.key) FROM minutebook.sessions s JOIN minutebook.people p "
        "ON p.id = s.person_id WHERE p.login = 'bob'), 'turn', 'x' || n, 1, 0, false, false, 0, "
        "'', '', '{}', '', minutebook.as_vector(%s) FROM generate_series(1, 300) n",
        vector,
    )
    assert [len(house.sql("rea", ask, vector, most)) for most in (1, 3)] == [1, 3]


def test_the_view_and_the_policy_agree(house: House, book: Archive) -> None:
    """TEAM-03: functions and tables use one condition: nobody finds what they may not read."""
    house.push(book, "ada", visible="own")
    house.push(book, "bob", visible="all")
    every = "SELECT DISTINCT session_key FROM minutebook.find_words('said', "
    every += "'''~a'':* | ''a'':* | ''p'':* | ''t'':*'::tsquery, '{}', 9999, 9999) ORDER BY 1"
    for login in ("ada", "bob", "rea", "adm"):
        found = house.sql(login, every)
        readable = house.sql(login, "SELECT key FROM minutebook.shared_sessions ORDER BY 1")
        assert set(found) <= set(readable)
        assert len(found) >= 8


def test_functions_that_all_may_write_fool_no_client(house: House, book: Archive) -> None:
    """TEAM-03: where a server lets everybody write to `public`, a function there with the name of
    one of PostgreSQL's is not called: it would run with the rights of whoever asks."""
    from minutebook.team.connection import connected
    from minutebook.team.schema import initialise

    house.sql("postgres", "GRANT CREATE ON SCHEMA public TO PUBLIC")
    house.sql(
        "bob",
        "CREATE FUNCTION public.pg_relation_size(text) RETURNS bigint LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'caught by %', current_user; END $$",
    )
    house.sql("postgres", "DROP INDEX minutebook.entries_said")
    with connected(house.address("postgres"), checked=False) as connection:
        assert "entries_said" in initialise(connection).indexes
    assert house.push(book).sessions == 9


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
    for login in ("nobody_at_all", f"{private.name}_reader"):
        with pytest.raises(NotFound, match=f"no login '{login}'"):
            set_role(private.address("adm"), login, "reader")


def test_a_role_goes_whoever_gave_it(house: House) -> None:
    """TEAM-03: an admin takes away what another admin or the administrator gave: PostgreSQL alone
    takes a role from nobody who has it from somebody else, and only warns."""
    from minutebook.team.managing import set_role, standing

    set_role(house.address("adm"), "rea", None)  # given by postgres
    with pytest.raises(Conflict, match="may not read"):
        standing(house.address("rea"))
    set_role(house.address("adm"), "rea", "admin")
    set_role(house.address("rea"), "stranger", "admin")
    set_role(house.address("rea"), "adm", "member")
    assert standing(house.address("adm")).role == "member"
    set_role(house.address("postgres"), "rea", None)  # what rea gave stays
    assert standing(house.address("stranger")).role == "admin"
    set_role(house.address("postgres"), "stranger", None)


def test_a_role_given_by_hand_is_not_forgotten(house: House) -> None:
    """TEAM-03: who cannot take away what somebody gave by `GRANT` is told, and changes nothing."""
    from minutebook.team.managing import set_role, standing

    house.sql("postgres", f"GRANT {house.name}_admin TO bob")
    with pytest.raises(Conflict, match=r"from 'postgres', who alone can take it away"):
        set_role(house.address("adm"), "bob", "reader")
    assert standing(house.address("bob")).role == "admin"
    set_role(house.address("postgres"), "bob", "reader")
    assert standing(house.address("bob")).role == "reader"


def test_an_owner_without_a_superusers_rights_sets_up(server: LocalServer) -> None:
    """TEAM-01: a login that may create roles, and has the database; only pgvector needs more."""
    from minutebook.team.connection import connected
    from minutebook.team.managing import set_role, standing
    from minutebook.team.schema import initialise

    house = House(server, "owned")
    with connect(server.url()) as connection:
        connection.execute(f"CREATE ROLE owner LOGIN CREATEROLE PASSWORD '{PASSWORD}'")
        connection.execute(f"CREATE DATABASE {house.name} OWNER owner")
    try:
        with (
            pytest.raises(Conflict, match="run `CREATE EXTENSION vector`"),
            connected(house.address("owner"), checked=False) as connection,
        ):
            initialise(connection)
        house.sql("postgres", "CREATE EXTENSION vector")
        for _ in range(2):
            with connected(house.address("owner"), checked=False) as connection:
                initialise(connection)
        set_role(house.address("owner"), "ada", "admin")
        set_role(house.address("ada"), "rea", "reader")
        set_role(house.address("owner"), "rea", "member")
        assert standing(house.address("rea")).role == "member"
    finally:
        with connect(server.url()) as connection:
            connection.execute(f"DROP DATABASE {house.name} WITH (FORCE)")
            for role in ("reader", "member", "admin", "keeper"):
                connection.execute(f"DROP ROLE IF EXISTS {house.name}_{role}")
            connection.execute("DROP ROLE owner")


def test_a_reader_does_not_push(house: House, book: Archive) -> None:
    """TEAM-03: the server refuses, in one sentence."""
    with pytest.raises(Conflict, match="Your role at"):
        house.push(book, "rea")


_ENTRY = (
    "INSERT INTO minutebook.entries (session_key, kind, key, round, at, tools, quoted, budget, "
    "blocks, signal, lengths, said) SELECT key, 'turn', 'odd', 1, 0, false, false, 0, '{blocks}', "
    "'', '{lengths}', '' FROM minutebook.sessions"
)


@pytest.mark.parametrize(
    "extreme",
    [
        "UPDATE minutebook.sessions SET started = 253402300800",
        "UPDATE minutebook.sessions SET ended = -9223372036854775808",
        "UPDATE minutebook.sessions SET rounds = 1000001",
        "INSERT INTO minutebook.rounds SELECT key, 2000000000, '', '' FROM minutebook.sessions",
        "INSERT INTO minutebook.files SELECT key, 1, 9223372036854775807, '', '', 1 "
        "FROM minutebook.sessions",
        _ENTRY.format(blocks="x", lengths="{}"),
        _ENTRY.format(blocks="1:2 3", lengths="{}"),
        _ENTRY.format(blocks="1:99999999999", lengths="{}"),
        _ENTRY.format(blocks="", lengths="{NULL}"),
        _ENTRY.format(blocks="", lengths="{-1}"),
        _ENTRY.format(blocks="", lengths="{{1},{2}}"),
        _ENTRY.format(blocks="", lengths="[-3:-2]={1,2}"),
    ],
)
def test_extreme_numbers_are_refused(private: House, extreme: str) -> None:
    """TEAM-03: a member pushes no moment that is not a date, no round nobody counts to, and nothing
    that a search of others could not count with."""
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
    for odd in ("Ada\u200bLovelace", "\u202eadA", "Ada\u00adLovelace", "", "x" * 201):
        with pytest.raises(BadArgument, match="1 to 200 letters"):
            join(house.address("bob"), name=odd or "\u3000")
    with pytest.raises(Conflict, match="Somebody else is called"):
        join(house.address("bob"), name="Ada\u00a0Lovelace")
    with connect(house.url("bob")) as connection:  # however a person reads backslashes
        connection.execute("SET standard_conforming_strings = off")
        with pytest.raises(psycopg.errors.UniqueViolation):
            connection.execute("SELECT minutebook.join_team('ada  lovelace', 'desk')")
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
