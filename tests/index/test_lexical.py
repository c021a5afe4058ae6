"""What can be found by its words."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from minutebook.errors import BadArgument
from minutebook.index.analysis import has_cjk, parts_of, variants
from minutebook.index.engine import Engine, Mode, Scope
from minutebook.index.query import Filters, parse_query
from minutebook.index.static import StaticEmbedder
from tests.index.conftest import Build, turn


def found(engine: Engine, query: str, **options: object) -> list[str]:
    hits = engine.search(parse_query(query), mode="lexical", **options)  # type: ignore[arg-type]
    return [hit.entry.session_id for hit in hits]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("call parse_jsonl here", "parse_jsonl"),
        ("call parse_jsonl here", "jsonl"),
        ("call parse_jsonl here", "parseJsonl"),
        ("call parseJsonl here", "parseJsonl"),
        ("call parseJsonl here", "parse_jsonl"),
        ("call parseJsonl here", "jsonl"),
        ("an HTTPServer starts", "server"),
        ("edit src/foo-bar.py now", "foo-bar.py"),
        ("edit src/foo-bar.py now", "bar"),
        ("edit src/foo-bar.py now", "src/foo-bar.py"),
        ("read CLAUDE.md first", "CLAUDE.md"),
        ("read CLAUDE.md first", "claude.md"),
        ("修复登录重定向的问题", "登录"),
        ("修复登录重定向的问题", "重定向"),
        ("修复登录重定向的问题", "题"),
        ("朝の散歩のブログ", "散歩"),
        ("a café in Zürich", "cafe zurich"),
        ("a cafe in Zurich", "Café"),
        ("the redirects were fixed", "redirect"),
        ("fix the redirect", "redirects"),
        ("two queries", "query"),
        ("we were running it", "run running"),
        ("migrate the store", "migrating"),
        ("throughput of the pack", "throu*"),
        ("all tests pass now", '"tests pass"'),
        ("error: E0432 in main.rs:17", "E0432"),
        ("emoji 🎉 party", "party 🎉"),
    ],
)
def test_found_by_its_parts(build: Build, text: str, query: str) -> None:
    """Identifiers, paths, CJK substrings, accents, other forms of a word."""
    assert found(build(text, "something else entirely"), query) == ["s0"]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("tests do not pass", '"tests pass"'),
        ("call parse then jsonl", "parse_jsonl"),
        ("修复登录", "登陆"),
        ("about apples", "pears"),
        ("about apples", "apples -about"),
        ("round 3 of 5", '"3 5"'),
    ],
)
def test_not_found(build: Build, text: str, query: str) -> None:
    """Phrases are phrases, and what is excluded is out."""
    assert found(build(text), query) == []


def test_exact_words_come_before_other_forms(build: Build) -> None:
    """Other forms count less than the word itself."""
    engine = build("the cache caches", "cached once", "a cache")
    assert found(engine, "cached")[0] == "s1"
    assert found(engine, "cache")[0] in ("s0", "s2")


def test_all_words_come_before_some(build: Build) -> None:
    """An entry with every word first, then those with some of them."""
    engine = build("login login login", "redirect", "the login redirect of a long long text here")
    assert found(engine, "login redirect")[0] == "s2"
    assert set(found(engine, "login redirect")) == {"s0", "s1", "s2"}


def test_sides(build: Build) -> None:
    """CORP-08: what was asked and what was answered can be looked at apart."""
    engine = build(turn("about apples", "pears", session="a"), turn("pears", "apples", session="b"))
    assert found(engine, "apples", side="asked") == ["a"]
    assert found(engine, "apples", side="answered") == ["b"]
    assert set(found(engine, "apples")) == {"a", "b"}


def test_filters(build: Build) -> None:
    """SRCH-08: project, branch, model, tools and dates, all at once, before ranking."""
    engine = build(
        turn("apples", session="a", project="/home/x/orchard", branch="main", at=100, tools=True),
        turn("apples", session="b", project="/home/x/atlas", branch="dev", at=200, model="opus"),
    )

    def within(**fields: object) -> list[str]:
        query = parse_query("apples", Filters(**fields))  # type: ignore[arg-type]
        return [hit.entry.session_id for hit in engine.search(query, mode="lexical")]

    assert within(project="ORCH") == ["a"]
    assert within(branch="dev") == within(model="opu") == within(after=150) == ["b"]
    assert within(before=200) == within(tools=True) == ["a"]
    assert within(project="orchard", branch="dev") == []
    assert within(project="nowhere") == []


def test_queries_are_parsed() -> None:
    """Words, phrases, exclusions, prefixes, fields; all else is a word."""
    query = parse_query('login "exact phrase" -merge pre* project:orchard agent:Reed foo:bar')
    assert query.words == ("login", "foo:bar")
    assert (query.phrases, query.excluded, query.prefixes) == (
        ("exact phrase",),
        ("merge",),
        ("pre",),
    )
    assert (query.filters.project, query.filters.agent) == ("orchard", "Reed")
    assert parse_query("method:debug").filters.method == "debug"
    assert parse_query("before:2026-03-01 after:2026-02-01").filters.before is not None
    with pytest.raises(BadArgument, match="one of review, write"):
        parse_query("method:magic")
    with pytest.raises(BadArgument, match="is not a date"):
        parse_query("before:2026-02-31")
    assert parse_query("").is_empty and parse_query(' "" - * ( ) AND').words == ("AND",)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    typed=st.text(max_size=200) | st.text('"*-:()[]{}^~\\/ANDORNT 検索\0', max_size=60),
    mode=st.sampled_from(["lexical", "semantic", "hybrid"]),
)
def test_anything_typed_is_a_query(
    build: Build, embedder: StaticEmbedder, typed: str, mode: Mode
) -> None:
    """Operators, unbalanced quotes, NUL, emoji, control characters: never an error but ours, in
    every mode and order."""
    engine = build("some text to look at", "検索の結果")
    engine.embed_missing(embedder)
    try:
        query = parse_query(typed)
    except BadArgument:
        assert ":" in typed
        return
    engine.search(query, mode=mode, embedder=lambda: embedder)
    engine.newest(query, "both", Scope())
    engine.listed(query, Scope())


def test_long_queries_are_cut(build: Build) -> None:
    """Ten thousand characters are a query as well."""
    assert found(build("word"), "word " * 5_000) == ["s0"]
    assert found(build("word"), "x" * 10_000) == []


def test_only_stop_words_is_still_a_query(build: Build) -> None:
    assert found(build("to be or not to be", "apples"), "to be") == ["s0"]


def test_compounds_and_forms() -> None:
    assert parts_of("plain words only") == ""
    assert parts_of("a parseJsonl call of HTTPServer") == "parse Jsonl . HTTP Server"
    assert "redirect" in variants("redirects") and "added" in variants("add" + "s")
    assert variants("go") == [] and variants("e0432") == []


@pytest.mark.parametrize("mode", ["lexical", "semantic", "hybrid"])
def test_a_phrase_holds_in_every_mode(build: Build, embedder: StaticEmbedder, mode: Mode) -> None:
    """SRCH-18: `search '"exact phrase"'` returns nothing without the phrase, -word nothing with."""
    engine = build(
        "the exact phrase we looked for in the morning",
        "an exact answer, and then a phrase of its own",
        "the exact phrase again, with apples",
        turn("what was said", "an exact phrase in the answer", session="s3"),
        "検索の結果を確認する",
        "確認する前の検索",
    )
    engine.embed_missing(embedder)

    def ids(typed: str) -> set[str]:
        hits = engine.search(parse_query(typed), mode=mode, embedder=lambda: embedder)
        return {hit.entry.session_id for hit in hits}

    assert ids('"exact phrase" answer') <= {"s0", "s2", "s3"}
    assert ids('"exact phrase" -apples') == {"s0", "s3"}
    assert ids('"phrase"') == {"s0", "s1", "s2", "s3"}
    assert ids('"phrases"') == set()
    assert ids('"検索の結果"') == {"s4"}


_WORDS = st.sampled_from(
    ["parseJsonl", "read_file", "one", "two", "Three", "file", "jsonl", "é", "検索", "結果を"]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    texts=st.lists(st.lists(_WORDS, min_size=1).map(" ".join), min_size=3, max_size=3),
    data=st.data(),
)
def test_a_phrase_hit_has_the_phrase(
    build: Build, embedder: StaticEmbedder, texts: list[str], data: st.DataObject
) -> None:
    """SRCH-18: in every mode and order; also where the index has parts of compound words after a
    text."""
    phrase = " ".join(data.draw(st.lists(_WORDS, min_size=1, max_size=3)))
    assume(not has_cjk(phrase) or all(map(has_cjk, phrase.split())))
    engine = build(*texts)
    engine.embed_missing(embedder)
    wanted = {f"s{at}" for at, text in enumerate(texts) if _said(phrase, text)}
    for mode in ("lexical", "semantic", "hybrid"):
        hits = engine.search(parse_query(f'"{phrase}"'), mode=mode, embedder=lambda: embedder)
        ids = {hit.entry.session_id for hit in hits}
        assert ids == wanted if mode == "lexical" else ids <= wanted
    newest = engine.newest(parse_query(f'"{phrase}"'), "both", Scope()).ranked
    assert {hit.entry.session_id for hit in newest} == wanted


def _said(phrase: str, text: str) -> bool:
    plain = [
        " ".join(p.lower().replace("é", "e").replace("_", " ").split()) for p in (phrase, text)
    ]
    if has_cjk(phrase):  # no words: any substring, whatever space is between
        return "".join(plain[0].split()) in "".join(plain[1].split())
    return f" {plain[0]} " in f" {plain[1]} "
