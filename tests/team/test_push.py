"""Pushing: what was chosen, masked, once, and taken back for good."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from minutebook.api import ingest
from minutebook.archive import Archive, open_archive
from minutebook.archive.digests import digests
from minutebook.archive.settings import allow
from minutebook.derive.usage.digest import Digest
from minutebook.errors import BadArgument, Conflict, NotFound
from minutebook.index.entry import Entry
from minutebook.model.engagement import SessionRecord
from minutebook.record.rounds import read_round
from minutebook.verbs.correct import correct
from tests.agents import planted
from tests.programs.test_allowed import session
from tests.team.conftest import House, connect, counts


def test_a_push_sends_everything_once(house: House, book: Archive) -> None:
    """TEAM-02: sessions, engagements, rounds, words, vectors and usage; a second push nothing."""
    first = house.push(book)
    assert (first.sessions, first.rounds) == (9, 30)
    there = counts(house)
    assert there["rounds"] == 30
    assert there["entries"] == there["texts"] == first.entries
    assert there["decisions"] > 0
    without = house.sql(
        "ada",
        "SELECT t.asked, t.answered, t.rest FROM minutebook.shared_entries e "
        "JOIN minutebook.shared_texts t USING (entry) "
        "WHERE e.vector IS NULL AND e.kind <> 'session'",
    )
    # Only what is too short to be about anything, as at home.
    assert len(without) < 3
    assert not [text for texts in without for text in texts if len(text.split()) > 2]
    again = house.push(book)
    assert (again.sessions, again.entries, again.plan.unchanged) == (0, 0, 9)
    assert counts(house) == there


def test_what_is_there_is_what_was_here(house: House, book: Archive) -> None:
    """TEAM-02: minutes, rounds and usage come back as the archive hands them out."""
    house.push(book)
    for id, key, record in house.sql(
        "ada", "SELECT session_id, key, record FROM minutebook.shared_sessions"
    ):
        own = book.record(id)
        told = msgspec.json.decode(record, type=SessionRecord)
        assert (told.title, told.engagements) == (own.title, own.engagements)
        rounds = house.sql(
            "ada",
            "SELECT body FROM minutebook.shared_rounds WHERE session_key = %s ORDER BY number",
            key,
        )
        assert [read_round(body.encode()) for (body,) in rounds] == list(book.open(id).rounds())
        ((digest,),) = house.sql(
            "ada", "SELECT digest FROM minutebook.shared_usage WHERE session_key = %s", key
        )
        known = msgspec.structs.replace(digests(book, [id])[id], info=None)
        assert msgspec.json.decode(digest, type=Digest) == known


def test_a_session_is_of_a_person_and_a_machine(house: House, book: Archive) -> None:
    """TEAM-02: with who and which machine."""
    house.push(book, "ada")
    found = house.sql(
        "rea",
        "SELECT DISTINCT p.login::text, m.name FROM minutebook.shared_sessions s "
        "JOIN minutebook.people p ON p.id = s.person_id "
        "JOIN minutebook.shared_machines m ON m.id = s.machine_id",
    )
    assert found == [("ada", "desk")]


@pytest.mark.parametrize(("level", "has"), [("engagements", 0), ("rounds", 1), ("tools", 1)])
def test_only_as_much_as_was_chosen(house: House, book: Archive, level: str, has: int) -> None:
    """TEAM-02: engagements only, with rounds, or with tools."""
    house.push(book, level=level)
    there = counts(house)
    assert there["engagements"] > 0
    assert bool(there["rounds"]) == bool(has)
    kinds = {
        kind for (kind,) in house.sql("ada", "SELECT DISTINCT kind FROM minutebook.shared_entries")
    }
    assert ("turn" in kinds) == bool(has)
    done = house.sql("ada", "SELECT count(*) FROM minutebook.shared_entries WHERE done IS NOT NULL")
    assert bool(done[0][0]) == (level == "tools")
    text = house.dump()
    # A prompt, an answer and a tool's output of the examples.
    prompt = next(iter(book.open(book.resolve("Reed")).rounds())).prompt
    assert prompt is not None
    assert (prompt.said[:40] in text) == bool(has)


def test_a_level_that_is_lowered_takes_rounds_away(house: House, book: Archive) -> None:
    """TEAM-02: who chooses engagements only has no rounds there any more."""
    house.push(book, level="tools")
    house.push(book, level="engagements")
    there = counts(house)
    assert (there["rounds"], there["files"]) == (0, 0)
    kinds = {
        kind for (kind,) in house.sql("ada", "SELECT DISTINCT kind FROM minutebook.shared_entries")
    }
    assert kinds <= {"engagement", "title"}


def test_more_people_see_only_what_replaces_it(
    house: House, book: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TEAM-02: a push that dies before it sends shows nobody what was pushed for oneself."""
    from minutebook.team import pushing

    class Died(Exception):
        pass

    def dies(*_: object) -> None:
        raise Died

    house.push(book, level="tools", visible="own")
    with monkeypatch.context() as patched:
        patched.setattr(pushing, "_send", dies)
        with pytest.raises(Died):
            house.push(book, level="engagements", visible="all")
    assert house.sql("bob", "SELECT count(*) FROM minutebook.shared_sessions") == [(0,)]
    house.push(book, level="engagements", visible="all")
    assert house.sql("bob", "SELECT count(*) FROM minutebook.shared_sessions") == [(9,)]
    assert house.sql("bob", "SELECT count(*) FROM minutebook.shared_rounds") == [(0,)]


def test_fewer_people_see_it_at_once(
    house: House, book: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TEAM-02: what is to be one's own again is so before anything is sent."""
    from minutebook.team import pushing

    house.push(book, level="engagements", visible="all")
    monkeypatch.setattr(pushing, "_send", lambda *_: ())
    done = house.push(book, level="tools", visible="own")
    assert done.shown_anew == 9
    assert house.sql("bob", "SELECT count(*) FROM minutebook.shared_sessions") == [(0,)]


def test_another_machine_shows_no_more_than_it_shares(house: House, book: Archive) -> None:
    """TEAM-02: what one machine pushed with tools, another that shares less replaces by less
    before anybody else sees it; the first does not bring the rest back."""
    from minutebook.team.pushing import push

    house.push(book, level="tools", visible="own")
    team = house.join("ada", machine="laptop")
    choice = house.choice(book, level="engagements", visible="all")
    done = push(book, house.address("ada"), team, choice)
    assert (done.plan.elsewhere, done.sessions) == (0, 9)
    assert house.sql("bob", "SELECT count(*) FROM minutebook.shared_sessions") == [(9,)]
    assert counts(house)["rounds"] == 0
    again = house.push(book, level="tools", visible="own")
    assert (again.plan.elsewhere, again.sessions) == (9, 0)
    assert counts(house)["rounds"] == 0


def test_another_machine_leaves_what_is_no_more(house: House, book: Archive) -> None:
    """TEAM-02: a session that is there from another machine, with no more than was chosen here,
    is not sent again."""
    from minutebook.team.pushing import push

    house.push(book, level="rounds")
    team = house.join("ada", machine="laptop")
    done = push(book, house.address("ada"), team, house.choice(book, level="tools"))
    assert (done.plan.elsewhere, done.sessions) == (9, 0)


def test_better_masks_reach_what_was_pushed(
    house: House, book: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ARC-06, TEAM-02: with other rules of masking, all is looked at and sent again; rows that
    came out the same stay."""
    from minutebook.team import planning

    house.push(book)
    monkeypatch.setattr(planning, "mask_rules", lambda: "other rules")
    again = house.push(book)
    assert (again.sessions, again.plan.unchanged) == (9, 0)
    assert (again.rounds, again.entries) == (0, 0)


def test_a_project_that_was_not_chosen_stays_here(house: House, book: Archive) -> None:
    """TEAM-02: projects are chosen by name; another one, also a new one, is not sent."""
    house.push(book, projects=("orchard",))
    found = house.sql(
        "ada",
        "SELECT DISTINCT p.name FROM minutebook.shared_projects p JOIN "
        "minutebook.shared_sessions s ON s.project_id = p.id",
    )
    assert found == [("orchard",)]
    assert "atlas" not in house.dump()


def test_a_session_of_two_projects_needs_both(house: House, book: Archive) -> None:
    """TEAM-02: work in a project that was not chosen does not leave with a session."""
    id = book.resolve("Reed")
    engagement = book.record(id).engagements[0]
    correct(book, id, engagement.id, "project=/srv/hush-hush")
    done = house.push(book, projects=("orchard",))
    assert done.plan.mixed == 1
    assert "hush-hush" not in house.dump()


def test_another_agent_stays_here_until_it_is_allowed(house: House, tmp_path: Path) -> None:
    """AGT-01, TEAM-02: whatever project was chosen; and how many sessions wait is said."""
    session(tmp_path / "agent", "pi-one")
    ingest(tmp_path / "agent", archive=tmp_path / "own", extractor="offline")
    book = open_archive(tmp_path / "own", [tmp_path / "agent"])
    done = house.push(book)
    assert (done.sessions, done.plan.held) == (0, {"pi": 1})
    assert counts(house)["sessions"] == 0
    allow(book.layout, "pi")
    done = house.push(open_archive(tmp_path / "own", [tmp_path / "agent"]))
    assert (done.sessions, done.plan.held) == (1, {})
    allow(book.layout, "pi", send=False)
    done = house.push(open_archive(tmp_path / "own", [tmp_path / "agent"]))
    assert (done.plan.outside, done.plan.held) == (1, {"pi": 1})


def test_choices_of_one_moment_are_all_kept(book: Archive) -> None:
    """TEAM-02: who joins and chooses in several processes at once loses nothing they said."""
    from minutebook.team.address import Address
    from minutebook.team.choice import Choice, choose, joined, read_teams

    def say(number: int) -> None:
        address = Address(f"postgresql://ada@db{number}.example/team")
        joined(book.layout, address, "desk")
        choose(book.layout, address, Choice(projects=("orchard",)))

    threads = [threading.Thread(target=say, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    known = read_teams(book.layout).teams.values()
    assert len(known) == 8
    assert all(team.machine == "desk" and team.choice is not None for team in known)


def test_nothing_without_a_choice(book: Archive) -> None:
    """TEAM-02: no choice, nothing to send; a project nobody has is refused."""
    from minutebook.team.choice import chosen

    assert chosen(book, None) is None
    with pytest.raises(BadArgument, match="There is no project 'orchid'"):
        chosen(book, None, projects=("orchid",))
    made = chosen(book, None, projects=("orchard",))
    assert made is not None
    assert (made.level, made.visible) == ("engagements", "own")


def test_a_session_that_grew_sends_what_is_new(
    house: House, examples: Path, tmp_path: Path
) -> None:
    """TEAM-02: incremental: rounds and entries that are the same are left alone."""
    source = next(examples.rglob("eb82c016*.jsonl"))
    folder = tmp_path / "claude" / "projects" / source.parent.name
    folder.mkdir(parents=True)
    lines = source.read_bytes().splitlines(keepends=True)
    copy = folder / source.name
    copy.write_bytes(b"".join(lines[: len(lines) * 4 // 5]))
    for _ in range(2):
        ingest(tmp_path / "claude", archive=tmp_path / "own", extractor="offline")
        book = open_archive(tmp_path / "own", [tmp_path / "claude"])
        done = house.push(book)
        assert done.sessions == 1
        before = counts(house)["rounds"]
        if copy.stat().st_size < source.stat().st_size:
            kept = house.sql(
                "ada",
                "SELECT entry FROM minutebook.shared_entries WHERE kind = 'turn' ORDER BY round",
            )
            copy.write_bytes(b"".join(lines))
    assert done.rounds <= before
    now = house.sql("ada", "SELECT entry FROM minutebook.shared_entries WHERE kind = 'turn'")
    assert kept[0] in now  # the first round is the row it was


def test_two_people_push_at_once(house: House, book: Archive) -> None:
    """TEAM-02: each gets their own rows; nobody waits for ever."""
    for login in ("ada", "bob"):
        house.join(login)
    failed: list[BaseException] = []

    def run(login: str) -> None:
        try:
            house.push(open_archive(book.root, book.places), login)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(login,)) for login in ("ada", "bob") * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failed == []
    found = house.sql("postgres", "SELECT person_id, count(*) FROM minutebook.sessions GROUP BY 1")
    assert sorted(count for _, count in found) == [9, 9]
    assert counts(house)["rounds"] == 60


def test_withdrawn_is_gone_for_good(house: House, book: Archive) -> None:
    """TEAM-02: rows, vectors and full text go; later pushes do not bring it back."""
    from minutebook.team.withdrawing import allow_again, withdraw

    house.push(book)
    id = book.resolve("Reed")
    ((key,),) = house.sql(
        "ada", "SELECT key FROM minutebook.own_sessions WHERE session_id = %s", id
    )
    ((vector, word),) = house.sql(
        "ada",
        "SELECT e.vector::text, w FROM minutebook.shared_entries e, tsvector_to_array(e.said) t, "
        "unnest(t) w WHERE e.session_key = %s AND e.kind = 'turn' AND w ~ '^[a-z]{6,}$' LIMIT 1",
        key,
    )
    there = "SELECT count(*) FROM minutebook.{} WHERE session_key = %s"
    words = (there.format("find_words('said', %s::tsquery, '{}', 999)"), f"'{word}'", key)
    alike = there.format("find_alike((SELECT minutebook.as_vector(%s)), '{}', 99, %s)")
    found = [(alike, vector, exact, key) for exact in (0, 20_000)]
    assert house.sql("rea", *words)[0][0] > 0
    assert all(house.sql("rea", *ask)[0][0] > 0 for ask in found)
    assert withdraw(house.address("ada"), [id[:8]]) == 1
    tables = "engagements decisions rounds usage lineage files entries texts".split()
    for table in tables:
        rest = house.sql(
            "postgres", f"SELECT count(*) FROM minutebook.{table} WHERE session_key = %s", key
        )
        assert rest == [(0,)], table
    again = house.push(book)
    assert (again.sessions, again.plan.withdrawn) == (0, 1)
    assert (
        house.sql("ada", "SELECT 1 FROM minutebook.shared_sessions WHERE session_id = %s", id) == []
    )
    assert house.sql("rea", *words) == [(0,)]
    assert [house.sql("rea", *ask) for ask in found] == [[(0,)]] * 2
    assert allow_again(house.address("ada"), [id]) == 1
    assert house.push(book).sessions == 1


def test_withdrawing_everything(house: House, book: Archive) -> None:
    """TEAM-02: nothing is left, and nothing comes back; others keep theirs."""
    from minutebook.team.withdrawing import withdraw

    house.push(book, "ada")
    house.push(book, "bob")
    assert withdraw(house.address("ada"), None) == 9
    assert house.push(book, "ada").sessions == 0
    assert counts(house)["sessions"] == 9
    with pytest.raises(NotFound, match="You have not pushed a session"):
        withdraw(house.address("ada"), ["eb82c016"])


def test_withdrawing_everything_stops_a_push(
    house: House, book: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TEAM-02: a push that is running sends nothing more, and says why."""
    from minutebook.team import pushing
    from minutebook.team.withdrawing import withdraw

    monkeypatch.setattr(pushing, "_TOGETHER", 1)
    team, sent = house.join("ada"), 0

    def progress(_: object) -> None:
        nonlocal sent
        sent += 1
        if sent == 2:
            assert withdraw(house.address("ada"), None) == 2

    with pytest.raises(Conflict, match="was withdrawn while this push ran"):
        pushing.push(book, house.address("ada"), team, house.choice(book), progress=progress)
    assert sent == 2
    assert counts(house)["sessions"] == 0


def test_a_withdrawal_waits_for_a_batch(
    house: House, book: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TEAM-02: both at one moment take turns: no error, and what the batch brought is gone."""
    from minutebook.team import pushing
    from minutebook.team.withdrawing import withdraw

    house.push(book)
    id = book.resolve("Reed")
    correct(book, id, book.record(id).engagements[0].id, "topic=Something else")
    real, taken = pushing.Batch._minutes, []

    def minutes(self: Any, sessions: Any) -> None:
        thread = threading.Thread(target=lambda: taken.append(withdraw(house.address("ada"), [id])))
        thread.start()
        thread.join(0.5)
        assert taken == []  # it waits
        real(self, sessions)

    monkeypatch.setattr(pushing.Batch, "_minutes", minutes)
    assert house.push(open_archive(book.root, book.places)).sessions == 1
    for _ in range(100):
        if taken:
            break
        time.sleep(0.1)
    assert taken == [1]
    assert (
        house.sql("ada", "SELECT 1 FROM minutebook.shared_sessions WHERE session_id = %s", id) == []
    )


def test_leaving(house: House, book: Archive) -> None:
    """TEAM-01: who leaves takes everything along, and is not known there any more."""
    from minutebook.team.withdrawing import leave

    house.push(book, "ada")
    leave(house.address("ada"))
    assert set(counts(house).values()) == {0}
    assert house.sql("postgres", "SELECT count(*) FROM minutebook.people") == [(0,)]


def test_names_go_with_what_had_them(house: House, book: Archive) -> None:
    """TEAM-02: folders, branches and projects of what was taken back are in no table, unless
    somebody else has them; who leaves leaves nothing."""
    from minutebook.team.withdrawing import leave, withdraw

    house.push(book, "ada")
    house.push(book, "bob", projects=("orchard",))
    assert "/home/mara/atlas" in house.dump()
    every = [
        id for id, _ in house.sql("ada", "SELECT session_id, key FROM minutebook.own_sessions")
    ]
    named = "SELECT count(*) FROM minutebook.names"
    ((before,),) = house.sql("postgres", named)
    atlas = [card.session_id for card in book.cards().values() if card.project == "atlas"]
    withdraw(house.address("ada"), atlas)
    text = house.dump()
    assert "/home/mara/atlas" not in text and "/home/mara/ledger" in text
    assert house.sql("postgres", "SELECT name FROM minutebook.projects WHERE name = 'atlas'") == []
    withdraw(house.address("ada"), None)
    assert "/home/mara/ledger" not in house.dump()
    assert 0 < house.sql("postgres", named)[0][0] < before
    assert "/home/mara/orchard" in house.dump()
    leave(house.address("ada"))
    leave(house.address("bob"))
    text = house.dump()
    assert not [word for word in ("mara", "orchard", "ada", "bob", every[0]) if word in text]


def test_no_secret_leaves(house: House, tmp_path: Path) -> None:
    """ARC-06, TEAM-02: a secret in every place it can be in is in no column of no row."""
    secrets = planted.planted(tmp_path / "claude")
    ingest(tmp_path / "claude", archive=tmp_path / "own", extractor="offline")
    book = open_archive(tmp_path / "own", [tmp_path / "claude"])
    planted.corrected(book, secrets)
    assert house.push(book).sessions == 1
    text = house.dump()
    assert "garden" in text
    assert secrets.found_in(text) == {}
    dumped = house.pg_dump()
    assert "garden" in dumped
    assert secrets.found_in(dumped) == {}


def test_neighbours_are_found_wherever_they_are(house: House) -> None:
    """TEAM-03: a tsvector counts to 16,383 and keeps 255 places of a word; phrases are found beyond
    that, and words that are no neighbours are not."""
    from minutebook.index.entry import Entry, prepare
    from minutebook.team import lexemes

    many = " ".join(f"w{number % 9_000}" for number in range(17_000))
    often = "often and " * 300
    texts = [f"first pair {many} far away then", f"{often} zebra often crossing street"]
    entry = Entry(kind="turn", session_id="x", key="k", round=1, at=0, asked=f"{many} said late")
    done = lexemes.indexed(prepare(entry, {"output": texts}))

    def has(*words: str, vector: str | None = done.done, sign: str = "o:", side: str = "") -> bool:
        query = lexemes.following([sign + word for word in words], side)
        return bool(house.sql("rea", "SELECT %s::tsvector @@ %s::tsquery", vector, query)[0][0])

    assert all(has(*words.split()) for words in ("first pair", "far away", "far away then"))
    assert has("zebra", "often", "crossing")
    assert has("often", "crossing", "street")
    assert has("w5", "w6", "w7")
    assert not has("far", "then")
    assert not has("pair", "first")
    assert not has("zebra", "crossing")
    assert has("said", "late", vector=done.said, sign="", side="A")
    assert not has("said", "late", vector=done.said, sign="", side="B")


def test_some_words_are_widened_by_the_rarest(house: House, book: Archive) -> None:
    """TEAM-04: what has all words comes first; then, until there is enough, what has the first of
    them, the second; the bound holds."""
    house.push(book)
    ask = (
        "SELECT entry FROM minutebook.find_some('said', ARRAY[$$'passkey'$$, $$'login'$$, "
        "$$'the'$$]::tsquery[], NULL, '{}', %s, %s, %s)"
    )
    words = "SELECT entry FROM minutebook.find_words('said', %s::tsquery, '{}', 500)"

    def found(statement: str, *values: object) -> set[int]:
        return {row for (row,) in house.sql("rea", statement, *values)}

    whole = found(words, "'passkey' & 'login' & 'the'")
    rarest, every = found(words, "'passkey'"), found(words, "'passkey' | 'login' | 'the'")
    assert whole < rarest < every
    assert found(ask, 500, 500, len(whole)) == whole
    assert found(ask, 500, 500, len(whole) + 1) == rarest
    assert found(ask, 500, 500, 500) == every
    assert found(ask, 500, len(whole) + 1, 500) > whole
    assert len(found(ask, 500, len(whole) + 1, 500)) == len(whole) + 1


def test_meaning_is_found(house: House, book: Archive) -> None:
    """TEAM-03: by vectors, with filters; the nearest is the entry itself."""
    from minutebook.index.static import StaticEmbedder
    from minutebook.team.meaning import vectors_of, written

    house.push(book)
    row = house.sql(
        "rea",
        "SELECT t.entry, t.asked, t.answered, t.rest FROM minutebook.shared_texts t "
        "JOIN minutebook.shared_entries e "
        "USING (entry) WHERE e.kind = 'turn' AND length(t.asked) > 30 LIMIT 1",
    )[0]
    told = {"asked": row[1], "answered": row[2], "rest": row[3]}
    own = Entry(kind="turn", session_id="", key="", round=1, **told)
    (found_in,) = vectors_of([own], StaticEmbedder())
    assert found_in is not None
    vector = written(found_in)
    ask = "SELECT entry, cosine FROM minutebook.find_alike(minutebook.as_vector(%s), %s, 5, %s)"
    for exact in (20_000, 1):  # compared exactly, and by the index
        found = house.sql("rea", ask, vector, '{"kinds": ["turn"]}', exact)
        assert found[0][0] == row[0]
        assert found[0][1] > 0.99
    assert house.sql("rea", ask, vector, '{"project": "no such folder"}', 20_000) == []


def test_meaning_is_found_behind_what_is_not_for_one(house: House, book: Archive) -> None:
    """TEAM-03: two thousand nearer entries of somebody else hide nothing that one may see."""
    house.push(book, "ada", visible="all")
    house.push(book, "bob", visible="own")
    ((vector,),) = house.sql(
        "ada", "SELECT vector::text FROM minutebook.shared_entries WHERE vector IS NOT NULL LIMIT 1"
    )
    house.sql(
        "postgres",
        "INSERT INTO minutebook.entries (session_key, kind, key, round, at, tools, quoted, budget, "
        "blocks, signal, lengths, said, vector) "
        "SELECT (SELECT max(s.key) FROM minutebook.sessions s JOIN minutebook.people p "
        "ON p.id = s.person_id WHERE p.login = 'bob'), 'turn', 'x' || n, 1, 0, false, false, 0, "
        "'', '', '{}', '', minutebook.as_vector((SELECT '[' || string_agg((v.x + 0.03 * "
        "sin(n * n * v.i + v.i * v.i))::text, ',' ORDER BY v.i) || ']' FROM unnest(%s::float[]) "
        "WITH ORDINALITY v(x, i))) FROM generate_series(1, 2000) n",
        [float(number) for number in vector.strip("[]").split(",")],
    )
    ask = "SELECT entry FROM minutebook.find_alike(minutebook.as_vector(%s), '{}', 200, %s)"
    exactly = house.sql("rea", ask, vector, 20_000)
    assert 20 < len(exactly) < 200
    with connect(house.url("rea")) as connection:
        connection.execute("SET enable_seqscan = off")  # of so few rows no index would be asked
        found = connection.execute(ask, (vector, 1)).fetchall()
    assert len(found) == len(exactly)
