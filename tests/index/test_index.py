"""The index as a whole: incremental, mending itself, meanings beside words."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from minutebook.archive.finding import search
from minutebook.archive.refreshing import refresh
from minutebook.errors import BadArgument, Locked
from minutebook.index import database as db
from minutebook.index.embedders import EndpointEmbedder
from minutebook.index.engine import Engine, Ranked
from minutebook.index.entry import prepare
from minutebook.index.lexical import Lexical
from minutebook.index.query import Filters, parse_query
from minutebook.index.snippet import snippet
from minutebook.index.static import StaticEmbedder
from minutebook.index.update import Update
from minutebook.record.layout import Layout
from minutebook.verbs.ingest import ingest
from minutebook.verbs.inscribe import inscribe
from tests.extract.conftest import WriteSession, archive_at
from tests.extract.conftest import config as config
from tests.extract.conftest import layout as layout
from tests.extract.conftest import write_session as write_session
from tests.index.conftest import Build, put, turn


def test_a_grown_session_indexes_exactly_its_new_turns(
    config: Path, layout: Layout, write_session: WriteSession, embedder: StaticEmbedder
) -> None:
    """CORP-06: counted: one new turn indexed and embedded, nothing else touched."""
    write_session("alpha", 5)
    write_session("beta", 5)
    assert refresh(archive_at(layout, config)).added == 10
    engine = Engine(layout.search_database, layout.search)
    assert engine.count_missing(embedder) == 10
    engine.embed_missing(embedder)
    write_session("alpha", 6)
    again = refresh(archive_at(layout, config))
    assert (again.sessions, again.added, again.removed) == (1, 1, 0)
    assert Engine(layout.search_database, layout.search).count_missing(embedder) == 1
    assert refresh(archive_at(layout, config)).sessions == 0


def test_a_deleted_transcript_is_found_in_its_inscription(
    config: Path, layout: Layout, write_session: WriteSession
) -> None:
    """What is inscribed outlives its source in the search too; what is in neither is gone."""
    kept, lost = write_session("alpha", 3), write_session("beta", 3)
    inscribe(archive_at(layout, kept), ended=True)
    refresh(archive_at(layout, config))
    kept.unlink()
    lost.unlink()
    done = refresh(archive_at(layout, config))
    answer = search(archive_at(layout, config), parse_query("request"), mode="lexical")
    assert {hit.session_id for hit in answer.hits} == {kept.stem}
    assert not answer.hits[0].resumable
    assert done.removed >= 3


@pytest.mark.parametrize("damage", ["garbage", "version", "half", "gone", "text"])
def test_a_broken_index_is_made_again(
    config: Path, layout: Layout, write_session: WriteSession, damage: str
) -> None:
    """Another version, half written, missing: rebuilt, and said so where it was there."""
    write_session("alpha", 3)
    refresh(archive_at(layout, config))
    if damage == "garbage":
        layout.search_database.write_bytes(b"not a database at all" * 100)
    elif damage == "version":
        sqlite3.connect(layout.search_database).execute("PRAGMA user_version = 99").close()
    elif damage == "half":
        sqlite3.connect(layout.search_database).execute("PRAGMA user_version = 0").close()
    elif damage == "gone":
        layout.search_database.unlink()
    else:
        (folder,) = layout.search.glob("*/lexical")
        for file in folder.iterdir():
            file.unlink()
    done = refresh(archive_at(layout, config))
    assert (done.anew is not None) == (damage in ("garbage", "version", "half"))
    answer = search(archive_at(layout, config), parse_query("request"), mode="lexical")
    assert len(answer.hits) == 1


def test_killed_between_the_two_commits(tmp_path: Path) -> None:
    """Rows without full text are noticed by their number, and mended."""
    put(tmp_path, [turn("about apples")])
    with db.open_search(tmp_path / "search.db") as connection:
        folder = tmp_path / db.index_id(connection) / "lexical"
        with Lexical(folder, make=True).writing() as writer:
            writer.clear()
    put(tmp_path, [turn("about apples"), turn("about pears", session="t")])
    engine = Engine(tmp_path / "search.db", tmp_path)
    hits = engine.search(parse_query("about"), mode="lexical")
    assert {hit.entry.session_id for hit in hits} == {"s", "t"}


def test_what_breaks_off_leaves_nothing(tmp_path: Path) -> None:
    """An error in mid-refresh takes back rows and full text alike."""
    put(tmp_path, [turn("about apples")])
    with pytest.raises(RuntimeError), db.open_search(tmp_path / "search.db") as connection:
        lexical = Lexical(tmp_path / db.index_id(connection) / "lexical", make=True)
        with Update(connection, lexical) as run:
            run.put("t", ("turn",), [prepare(turn("about pears", session="t"))])
            run._flow()
            raise RuntimeError
    engine = Engine(tmp_path / "search.db", tmp_path)
    assert engine.count() == 1
    assert not engine.search(parse_query("pears"), mode="lexical")


def test_anybody_with_sqlite3_can_search(
    config: Path, layout: Layout, write_session: WriteSession
) -> None:
    """DB-10: ``search.db`` has the full text of every round's words, also after a change."""
    write_session("alpha", 3, say="The unmistakable answer.")
    refresh(archive_at(layout, config))
    write_session("alpha", 4, say="The unmistakable answer.")
    refresh(archive_at(layout, config))
    connection = sqlite3.connect(layout.search_database)
    rows = connection.execute(
        "SELECT e.session_id, e.round FROM entries_fts JOIN entries e ON e.row = entries_fts.rowid "
        "WHERE entries_fts MATCH 'unmistakable' ORDER BY e.round"
    ).fetchall()
    assert [number for _, number in rows] == [1, 2, 3, 4]
    connection.execute("INSERT INTO entries_fts(entries_fts, rank) VALUES ('integrity-check', 1)")
    connection.close()


def test_meaning_finds_what_words_do_not(build: Build, embedder: StaticEmbedder) -> None:
    """Hybrid finds a paraphrase; exact words keep the first place; filters come before."""
    engine = build(
        turn("Make the login page remember where people came from", session="a", project="/x/one"),
        turn("Draw green bars for the weekly harvest chart", session="b", project="/x/two"),
        turn("Bake bread with sourdough and rye flour today", session="c", project="/x/two"),
    )
    assert engine.embed_missing(embedder) == 0

    def best(query: str, **filters: object) -> str:
        parsed = parse_query(query, Filters(**filters))  # type: ignore[arg-type]
        return engine.search(parsed, embedder=lambda: embedder)[0].entry.session_id

    assert best("a diagram of what the harvest brought in") == "b"
    assert best("sourdough") == "c"
    within = parse_query("login people bread", Filters(project="two"))
    found = engine.search(within, embedder=lambda: embedder)
    assert {hit.entry.session_id for hit in found} <= {"b", "c"} and found


def test_nonsense_finds_nothing(build: Build, embedder: StaticEmbedder) -> None:
    """No neighbours for words nobody knows, in any mode."""
    engine = build("Make the login page remember where people came from", "Draw green bars please")
    engine.embed_missing(embedder)
    for mode in ("lexical", "semantic", "hybrid"):
        query = parse_query("florble snozzwanger")
        assert engine.search(query, mode=mode, embedder=lambda: embedder) == []


def test_vectors_of_two_models_are_never_mixed(build: Build, embedder: StaticEmbedder) -> None:
    """Another fingerprint, another matrix: everything is missing again."""

    class Other(StaticEmbedder):
        def __init__(self) -> None:
            super().__init__()
            self.fingerprint = "another"

    engine = build("Make the login page remember people")
    engine.embed_missing(embedder)
    assert engine.count_missing(embedder) == 0
    assert engine.count_missing(Other()) == 1


def test_embedding_is_resumed_newest_first(build: Build, embedder: StaticEmbedder) -> None:
    """A part at a time, the newest first; search works meanwhile."""
    engine = build(*(turn(f"about apple number {n}", session=f"s{n}", at=n) for n in range(6)))
    assert engine.embed_missing(embedder, 2) == 4
    with db.open_search(engine._database, readonly=True) as connection:
        rows = db.rows(connection, newest_first=True)[::-1]
    assert engine.vectors(embedder).missing(rows) == rows[:4]
    assert len(engine.search(parse_query("apple"), embedder=lambda: embedder)) == 6
    assert engine.embed_missing(embedder) == 0


def test_recency_never_beats_relevance(build: Build) -> None:
    """Of equals the newer comes first; a better match stays first however old it is."""
    now = int(time.time())
    engine = build(
        turn("apples and pears", session="old", at=now - 900 * 86_400),
        turn("apples and pears", session="new", at=now),
        turn("apples and many other things of no interest at all", session="newest", at=now),
    )
    hits = engine.search(parse_query("apples pears"), mode="lexical")
    assert [hit.entry.session_id for hit in hits] == ["new", "old", "newest"]


def test_our_own_output_counts_less(build: Build) -> None:
    """An answer that quotes a search is found after what it quotes."""
    quoted = turn("find", "apples apples\n" + "minutebook show a#1\n" * 4, session="q", quoted=True)
    engine = build(quoted, turn("what about apples in the orchard today", session="real"))
    hits = engine.search(parse_query("apples"), mode="lexical")
    assert hits[0].entry.session_id == "real"


def test_snippets_are_centred_and_marked() -> None:
    """The stretch with most words of the query, cut at words, its marks where the words are."""
    entry = turn("x " * 200 + "the login redirect is broken " + "y " * 200)
    told = snippet(entry, parse_query("redirects login"))
    shown, side = told.snippet, told.side
    assert side == "asked" and len(shown.text) < 200
    assert [shown.text[a:b] for a, b in shown.marks] == ["login", "redirect"]
    assert shown.text.startswith("… ") and shown.text.endswith(" …")


def test_the_lexical_path_loads_no_vectors(examples: Path, tmp_path: Path) -> None:
    """CORP-17, SRCH-13: neither the embedder nor numpy, the web stack or any SDK is imported."""
    code = (
        "import sys\n"
        "from minutebook.cli.main import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit as end: assert not end.code\n"
        "heavy = {'numpy', 'numkong', 'onnxruntime', 'minutebook.index.static',\n"
        "         'anthropic', 'httpx2', 'starlette', 'uvicorn', 'jinja2', 'pydantic'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    arguments = [
        "search",
        "passkey",
        "--mode",
        "lexical",
        "--root",
        examples,
        "--archive",
        tmp_path,
    ]
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ},
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"
    assert "passkey" in done.stdout.lower()


def test_engagements_are_found_too(
    config: Path, layout: Layout, write_session: WriteSession
) -> None:
    """SRCH-01: topic, outcome, decisions, agent; a re-ingest is seen without being told."""
    write_session("alpha", 4)
    archive = archive_at(layout, config)
    assert search(archive, parse_query("alpha"), mode="lexical").hits[0].engagement is None
    from minutebook.extract.offline import OfflineExtractor

    ingest(archive, OfflineExtractor())
    hit = search(archive, parse_query("alpha"), mode="lexical", where="engagements").hits[0]
    assert hit.kind == "engagement" and hit.engagement is not None
    everything = search(archive, parse_query("alpha"), mode="lexical").hits
    assert [hit.session_id for hit in everything] == [everything[0].session_id], "once a session"


def test_only_a_broken_index_is_thrown_away(tmp_path: Path) -> None:
    """Busy is busy: a lock of somebody else costs nobody their index."""
    put(tmp_path, [turn("about apples")])
    path = tmp_path / "search.db"
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        with pytest.raises(Locked), db.open_search(path) as connection:
            connection.execute("PRAGMA busy_timeout = 10")
            connection.execute("BEGIN IMMEDIATE")
    finally:
        other.close()
    assert Engine(path, tmp_path).count() == 1


def found(engine: Engine, typed: str) -> list[Ranked]:
    return list(engine.filled(engine.search(parse_query(typed), mode="lexical")).values())


def test_two_entries_of_one_name_are_one(tmp_path: Path) -> None:
    """A file edited by hand may name two engagements alike; the first counts."""
    put(tmp_path, [turn("about apples"), turn("about pears")])
    engine = Engine(tmp_path / "search.db", tmp_path)
    assert [h.entry.asked for h in found(engine, "about")] == ["about apples"]


def test_a_kill_with_equal_counts_is_noticed(tmp_path: Path) -> None:
    """One row changed for another: the count is the same, the mark of the change is not."""
    put(tmp_path, [turn("about apples")])
    with db.open_search(tmp_path / "search.db") as connection:
        folder = tmp_path / db.index_id(connection) / "lexical"
        lexical = Lexical(folder, make=True)
        lexical.begin()
        with lexical.writing() as writer:
            writer.clear()
            writer.add(77, prepare(turn("about nothing")))
    put(tmp_path, [turn("about apples")])
    engine = Engine(tmp_path / "search.db", tmp_path)
    assert [h.entry.asked for h in found(engine, "about")] == ["about apples"]


def test_excluded_words_are_out_in_every_mode(build: Build, embedder: StaticEmbedder) -> None:
    """`-word` holds for neighbours in meaning as well."""
    engine = build(
        turn("which garden tools do I need for wombats", "shovels and rakes", session="a"),
        turn("which garden tools do I need for the orchard", "rakes and a cart", session="b"),
    )
    engine.embed_missing(embedder)
    for mode in ("lexical", "semantic", "hybrid"):
        hits = engine.search(
            parse_query("garden tools question -shovels"), mode=mode, embedder=lambda: embedder
        )
        assert [hit.entry.session_id for hit in hits] == ["b"], mode


def test_an_unreadable_transcript_is_tried_again(
    config: Path, layout: Layout, write_session: WriteSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What could not be read is not taken for read."""
    write_session("alpha", 3)

    def forbidden(*_: object) -> None:
        raise PermissionError

    with monkeypatch.context() as patch:
        patch.setattr("minutebook.archive.refreshing.open_transcript", forbidden)
        assert refresh(archive_at(layout, config)).added == 0
    assert refresh(archive_at(layout, config)).added == 3


def test_removed_entries_crowd_nobody_out(tmp_path: Path, embedder: StaticEmbedder) -> None:
    """Vectors of what is gone are like nothing any more."""
    bread = [turn(f"bake rye bread number {n}", session=f"s{n}") for n in range(300)]
    keep = turn("bake rye bread with my grandmother", session="keep")
    put(tmp_path, [*bread, keep])
    Engine(tmp_path / "search.db", tmp_path).embed_missing(embedder)
    with (
        db.open_search(tmp_path / "search.db") as connection,
        Update(connection, Lexical(tmp_path / db.index_id(connection) / "lexical")) as run,
    ):
        for entry in bread:
            run.put(entry.session_id, ("turn",), [])
        run.finish()
    engine = Engine(tmp_path / "search.db", tmp_path)
    hits = engine.search(parse_query("bake rye bread"), mode="semantic", embedder=lambda: embedder)
    assert [hit.entry.session_id for hit in hits] == ["keep"]


@pytest.mark.parametrize("name", ["codes.i8", "scales.f4", "passages.i2", "rows.i4"])
@pytest.mark.parametrize("damage", ["empty", "short", "gone"])
def test_damaged_vectors_are_made_again(
    build: Build, embedder: StaticEmbedder, tmp_path: Path, name: str, damage: str
) -> None:
    """A file cut short or missing: everything is embedded anew, nothing is guessed."""
    build("Make the login page remember people").embed_missing(embedder)
    (path,) = tmp_path.glob(f"*/vectors/*/{name}")
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(b"" if damage == "empty" else path.read_bytes()[:-1])
    engine = Engine(tmp_path / "search.db", tmp_path)
    assert engine.count_missing(embedder) == 1
    engine.embed_missing(embedder)
    assert engine.search(parse_query("login page"), mode="semantic", embedder=lambda: embedder)


@pytest.mark.parametrize(
    ("text", "query", "marked"),
    [
        ("start the art show", "art", ["art"]),
        ("a crème brûlée was served", "creme brulee", ["crème", "brûlée"]),
        ("it ran in loops", "loop", ["loops"]),
        ("call parseJsonl now", "parse_jsonl", ["parseJsonl"]),
        ("修复登录重定向", "登录", ["登录"]),
        ("throughput counts", "throu*", ["throughput"]),
        ("🎉 party time", "party", ["party"]),
    ],
)
def test_marks_are_where_the_words_are(text: str, query: str, marked: list[str]) -> None:
    """Whole words, in any form, with or without accents."""
    shown = snippet(turn(text), parse_query(query)).snippet
    assert [shown.text[a:b] for a, b in shown.marks] == marked


def test_many_entries_are_committed_in_chunks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CORP-14: a corpus of any size flows through in pieces; benchmarks/search.py has the
    million, this has several chunks of it."""
    monkeypatch.setattr("minutebook.index.update._FLOW", 50)
    monkeypatch.setattr("minutebook.index.update._CHUNK", 120)
    done = put(tmp_path, [turn(f"about apple {n}", session=f"s{n}") for n in range(1_000)])
    assert done.added == 1_000
    engine = Engine(tmp_path / "search.db", tmp_path)
    assert engine.count() == 1_000
    (hit,) = engine.search(parse_query('"apple 777"'), mode="lexical")
    assert hit.entry.session_id == "s777"


class _Embeddings(BaseHTTPRequestHandler):
    """An endpoint whose vectors tell fruit from trees."""

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        data = [
            {"index": n, "embedding": [1.0, 0.0] if "fruit" in text else [0.0, 1.0]}
            for n, text in enumerate(body["input"])
        ]
        answer = json.dumps({"data": data[::-1], "model": body["model"]}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


def test_an_endpoint_can_embed(build: Build) -> None:
    """Any OpenAI-compatible /embeddings; a dead one is one clear sentence."""
    server = HTTPServer(("127.0.0.1", 0), _Embeddings)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        endpoint = EndpointEmbedder(url, "m")
        engine = build("a text about fruit here", "a text about trees here")
        assert endpoint.dimensions == 2 and engine.embed_missing(endpoint) == 0
        hits = engine.search(parse_query("fruit text"), mode="semantic", embedder=lambda: endpoint)
        assert hits[0].entry.session_id == "s0"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    with pytest.raises(BadArgument, match="gives no embeddings"):
        EndpointEmbedder("http://127.0.0.1:9", "m")


def test_what_is_replaced_leaves_the_full_text_too(
    config: Path, layout: Layout, write_session: WriteSession
) -> None:
    """SRCH-01: a changed entry is in the full text once; the index need not be made again."""
    write_session("alpha", 4)
    for words in ("the red door", "the green door", "the blue door"):
        write_session("alpha", 4, words=words)
        refresh(archive_at(layout, config))
        with db.open_search(layout.search_database) as connection:
            folder = layout.search / db.index_id(connection) / "lexical"
            (rows,) = connection.execute("SELECT count(*) FROM entries").fetchone()
        assert Lexical(folder).count == rows
