"""Threads: engagements of several sessions that are one piece of work. All pure."""

from __future__ import annotations

import random
from typing import Any

import pytest

from minutebook.derive.references import pulled, references
from minutebook.derive.threads import Key, Origin, Part, Thread, threads_of

DAY = 86_400.0


def part(session: str, topic: str, day: float = 0, id: str = "e", **fields: Any) -> Part:
    return Part(
        key=(session, id), topic=topic, project="orchard", started=1e9 + day * DAY, **fields
    )


def found(*parts: Part, said: dict[Key, str | None] | None = None, **recorded: str) -> list[Thread]:
    links = {session: (Origin(parent),) for session, parent in recorded.items()}
    return threads_of(parts, links, said or {})


def together(threads: list[Thread]) -> list[list[str]]:
    return [[session for session, _ in thread.members] for thread in threads]


@pytest.mark.parametrize(
    ("text", "about", "needed"),
    [
        ("Address the review of PR #41, please.", ["#41"], []),
        ("fixes #7 and closes #123", ["#7", "#123"], []),
        ("Look at https://git.example/mara/orchard/pull/41/files", ["mara/orchard#41"], []),
        ("Start on this once #41 has landed.", [], ["#41"]),
        ("It is based on branch `feat/passkeys`.", [], ["feat/passkeys"]),
        ("Make the text #333 on #fff, the border #000.", [], []),
        ("Our #1 goal, and item #3 of the list.", [], []),
        ("Start with issue 3, then sub-issue 4; fix 12 tests.", [], []),
        ("Is issue 14 done, and PR 41, and PR #7?", ["#14", "#41", "#7"], []),
        ("Upgrade to 3.12, see section #2.1 and a#15", [], []),
    ],
)
def test_what_a_text_names(text: str, about: list[str], needed: list[str]) -> None:
    """FUT-06: issues, pull requests and branches; no colours, no places in a list."""
    assert references(text) == (tuple(about), tuple(needed))


def test_a_request_that_was_opened_has_two_names() -> None:
    """FUT-06: its number in the repository, and in full."""
    assert pulled(["https://git.example/mara/orchard/pull/41"]) == ("#41", "mara/orchard#41")


def test_one_branch_is_one_piece_of_work() -> None:
    """FUT-06: with the branch as evidence; the trunk ties nothing, another project neither."""
    (thread,) = found(
        part("a", "Add passkeys", 0, branches=("feat/passkeys",)),
        part("b", "Write its docs", 1, branches=("feat/passkeys",)),
        part("c", "Bump the linter", 2, branches=("main",)),
        part("d", "Bump the parser", 3, branches=("main",)),
    )
    assert (thread.id, together([thread])) == ("e-a", [["a", "b"]])
    (tie,) = thread.ties
    assert (tie.kind, tie.evidence, tie.earlier, tie.later) == (
        *("branch", "feat/passkeys"),
        *(("a", "e"), ("b", "e")),
    )
    assert thread.continues(("b", "e")) == ("a", "e") and thread.continues(("a", "e")) is None
    moved = part("m", "Begin elsewhere", 2, branches=("feat/passkeys", "feat/other", "main"))
    assert len(found(part("a", "x", branches=("feat/passkeys",)), moved)) == 0, "it moved on"
    other = Part(key=("x", "e"), topic="x", project="press", started=1e9, branches=("feat/p",))
    assert found(part("a", "x", branches=("feat/p",)), other) == []


def test_one_number_is_one_piece_of_work_unless_everybody_names_it() -> None:
    """FUT-06: an issue both name; not after months, and not one of a whole project."""
    assert together(
        found(part("a", "x", 0, numbers=("#41",)), part("b", "y", 9, numbers=("#41",)))
    ) == [["a", "b"]]
    assert not found(part("a", "x", 0, numbers=("#41",)), part("b", "y", 90, numbers=("#41",)))
    many = [part(f"s{n:02}", f"topic {n}", n, numbers=("#41",)) for n in range(30)]
    assert found(*many) == []


def test_a_recorded_link_continues_the_last_engagement() -> None:
    """FUT-06, FMT-16: what a session resumes is evidence of its own."""
    (thread,) = found(
        part("a", "Plan the move", 0, id="e1"),
        part("a", "Move the tables", 0.1, id="e2"),
        part("b", "Something else", 1),
        b="a",
    )
    assert thread.members == (("a", "e2"), ("b", "e"))
    assert (thread.ties[0].kind, thread.ties[0].evidence) == ("recorded", "continues a")


def test_rare_files_and_a_topic_alike() -> None:
    """FUT-06: both together, within days; files everybody changes tie nothing, nor does a rare
    file alone, nor a topic alone."""
    rare, common = (
        ("src/passkey.py", "src/challenge.py"),
        ("README.md", "AGENTS.md", "web/package.json"),
    )
    topic = "Add passkey login to the web app"
    again = "Let passkey login of the web app expire"
    noise = [part(f"n{n}", f"Other work {n}", n, files=(f"x{n}.py",)) for n in range(20)]
    assert together(
        found(part("a", topic, 0, files=rare), part("b", again, 2, files=rare), *noise)
    ) == [["a", "b"]]
    assert not found(part("a", topic, 0, files=rare), part("b", again, 60, files=rare), *noise)
    assert not found(part("a", topic, 0, files=common), part("b", again, 1, files=common), *noise)
    assert not found(
        part("a", topic, 0, files=rare), part("b", "Count apples", 1, files=rare), *noise
    )
    assert not found(part("a", topic, 0), part("b", topic, 1), *noise)


def test_the_id_stays_when_the_thread_grows() -> None:
    """FUT-06: it is the earliest engagement's, with its session's short id."""
    parts = [part(f"{n}" * 12, "x", n, id=f"e{n}", branches=("feat/x",)) for n in range(1, 5)]
    ids = {found(*parts[:count])[0].id for count in (2, 3, 4)}
    assert ids == {"e1-11111111"}


def test_threads_of_one_minute_have_ids_of_their_own() -> None:
    """FUT-06: ids of sessions that begin with their time do not make two threads one."""
    sessions = [f"ses_4f2a1b00{n}ffeAbCdEfGh{n * 4}" for n in "1234"]
    parts = [
        part(session, "x", n % 2, branches=(f"feat/{n // 2}",))
        for n, session in enumerate(sessions)
    ]
    assert len({thread.id for thread in found(*parts)}) == 2


def test_a_person_has_the_last_word() -> None:
    """FUT-06: a name puts together, also by the id of a thread; None takes out; two names are
    never one thread, whatever ties them."""
    a, b, c = (part(s, f"topic {s}", n, branches=("feat/x",)) for n, s in enumerate("abc"))
    apart = found(a, b, c, said={b.key: None})
    assert together(apart) == [["a", "c"]]
    other = part("d", "Elsewhere", 9)
    assert together(found(a, b, other, said={other.key: "e-a"})) == [["a", "b", "d"]]
    named = found(a, b, c, said={a.key: "one", c.key: "two"})
    assert {thread.id for thread in named} == {"one", "two"} and all(t.named for t in named)
    assert sorted(map(len, together(named))) == [1, 2]
    alone = found(other, said={other.key: "mine"})
    assert [(thread.id, thread.named) for thread in alone] == [("mine", True)]


def test_a_thread_names_what_it_needs() -> None:
    """FUT-06: another thread's branch, issue or request that a prompt says comes first."""
    threads = found(
        part("a", "Add passkeys", 0, branches=("feat/p",), numbers=("#41",)),
        part("b", "Go on with passkeys", 1, branches=("feat/p",)),
        part("c", "Drop passwords", 2, branches=("feat/q",), needs=("#41", "#99")),
        part("d", "Go on dropping", 3, branches=("feat/q",), needs=("feat/q",)),
    )
    needs = {thread.id: [(d.thread, d.evidence) for d in thread.depends_on] for thread in threads}
    assert needs == {"e-c": [("e-a", "#41")], "e-a": []}


def test_the_work_grows_with_what_there_is() -> None:
    """FUT-06, NFR-03: 20,000 engagements take a few comparisons each, also where all are on one
    branch, name one number and change one file."""
    chance = random.Random(14)
    for same in (False, True):
        compared = 0

        def note(count: int) -> None:
            nonlocal compared
            compared += count

        parts = [
            Part(
                key=(f"{n // 2:08}", f"e{n % 2}"),
                topic=f"topic {chance.randrange(3000)} word {chance.randrange(3000)}",
                project=f"p{chance.randrange(1 if same else 40)}",
                started=1e9 + n * 900,
                branches=("feat/x" if same else f"feat/{chance.randrange(4000)}",),
                numbers=("#41" if same else f"#{chance.randrange(10, 4000)}",),
                files=tuple(f"f{chance.randrange(1 if same else 4000)}" for _ in range(10)),
            )
            for n in range(20_000)
        ]
        threads = threads_of(parts, {}, {}, note)
        assert compared < 40 * len(parts)
        assert (threads == []) == same


def test_an_inferred_continuation_ties() -> None:
    """FUT-06: with its evidence and its confidence."""
    origin = Origin("a", "lineage", "begins with 8 lines written in a#2", 0.95)
    parts = [part("a", "Plan the irrigation"), part("b", "Lay the pipes", 1)]
    (thread,) = threads_of(parts, {"b": [origin]}, {})
    (tie,) = thread.ties
    assert (tie.kind, tie.evidence, tie.confidence) == ("lineage", origin.evidence, 0.95)
