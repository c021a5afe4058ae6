"""Copies of a conversation: extracted once, paid for once, counted once."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from minutebook.archive import Archive
from minutebook.archive.engagements import rounds_of_engagement
from minutebook.archive.finding import search
from minutebook.archive.threads import threads
from minutebook.cli.main import main
from minutebook.cli.remedies import worded as cli_worded
from minutebook.derive.genealogy import Copy, copied, one_id_each
from minutebook.errors import Ambiguous
from minutebook.extract.anthropic import AnthropicExtractor
from minutebook.extract.offline import OfflineExtractor
from minutebook.extract.secret import Secret
from minutebook.index.query import Query
from minutebook.mcp.remedies import worded as mcp_worded
from minutebook.mcp.tools import Tools
from minutebook.model.engagement import SessionRecord
from minutebook.model.round import QUEUED
from minutebook.model.said import Set
from minutebook.record.engagements import append_record
from minutebook.verbs.correct import correct
from minutebook.verbs.ingest import Ingestion, IngestReport, ingest
from minutebook.verbs.materialise import materialise
from minutebook.verbs.share import export
from minutebook.verbs.stats import stats
from minutebook.verbs.survey import survey
from minutebook.verbs.tag import tag
from minutebook.web.api import engagements
from minutebook.web.decisions import decisions_of
from minutebook.web.selection import Selection
from minutebook.web.state import ServerState
from tests.archive.test_operations import put
from tests.conftest import Record, assistant, user
from tests.extract.stub import Stub, good_reply, serve

FIRST, FORK, OTHER = (f"{letter * 8}-2222-4333-8444-555555555555" for letter in "abc")
Held = Callable[..., Archive]


def rounds(count: int, *, own: str = "shared", start: int = 1) -> list[Record]:
    """Rounds that begin at `start`; what has the same `own` is the same conversation."""
    found: list[Record] = []
    for number in range(start, start + count):
        at = f"2026-03-01T10:{number:02}:00.000Z"
        ids = [f"{own}-{kind}-{number:04}-4333-8444" for kind in "ua"]
        asked = user(f"Please prune the {own} tree {number}.", uuid=ids[0], timestamp=at)
        found += [asked, assistant(f"Tree {number} is pruned. " * 40, id=ids[1], uuid=ids[1])]
    return found


@pytest.fixture
def held(tmp_path: Path) -> Held:
    """An archive over sessions with these rounds."""

    def make(**sessions: list[Record]) -> Archive:
        names = {"first": FIRST, "fork": FORK, "other": OTHER}
        for name, records in sessions.items():
            put(tmp_path / "p", *records, name=names[name])
        return Archive(tmp_path / "archive", (tmp_path / "p",))

    return make


def queued(text: str, minute: int) -> Record:
    """Something typed while the model was busy, of which nothing came any more."""
    at = f"2026-03-01T10:{minute:02}:00.000Z"
    return {"type": "queue-operation", "operation": "enqueue", "timestamp": at, "content": text}


def asked(stub: Stub) -> list[str]:
    return [json.dumps(request["messages"]) for request in stub.requests]


def by_model(archive: Archive, stub: Stub, **options: Any) -> IngestReport:
    extractor = AnthropicExtractor(Secret("sk-test"), base_url=stub.url, retries=0)
    return ingest(archive, extractor, ended=True, **options)


def whole(body: dict[str, Any], _number: int) -> Any:
    """Two engagements over all the rounds of a session."""
    last = max(int(found) for found in re.findall(r"tree (\d+)", json.dumps(body["messages"])))
    return good_reply((1, 2), (3, last), topic="Prune the trees of the orchard")


def told(archive: Archive, session_id: str) -> SessionRecord:
    archive.read_again()
    return archive.minutes.records()[session_id]


def test_a_beginning_is_found_by_its_message_ids() -> None:
    """UND-08: whose beginning a session has, by ids of whole messages, rounds without one
    going with the next; what only sounds alike has no ids in common."""
    a, b, c, d = (f"{letter}{'0' * 20}" for letter in "abcd")
    found = copied([("long", ["", a, b, c]), ("copy", [a, b]), ("fork", ["", a, c, d]), ("x", [d])])
    assert found == {"copy": Copy("long", (2, 3)), "fork": Copy("long", (1, 2, 4))}
    assert copied([("one", ["1", "2"]), ("two", ["1", "2"])]) == {}


def test_a_whole_copy_is_not_sent(held: Held) -> None:
    """UND-08: of two copies only the longer is sent; the other has its engagements and says
    whose they are; the report says what was not paid for; the next run sends nothing."""
    archive = held(first=rounds(4), fork=rounds(5))
    with serve(whole) as stub:
        report = by_model(archive, stub)
        assert len(stub.requests) == 1 and "tree 5" in asked(stub)[0]
        assert (report.calls, report.copies, report.ingested, report.left) == (1, 1, 1, 0)
        copy, origin = told(archive, FIRST), told(archive, FORK)
        assert (copy.copy_of, copy.copied, copy.cost_usd, origin.copy_of) == (FORK, 4, 0.0, None)
        assert [e.turn_range for e in copy.engagements] == [(1, 2), (3, 4)]
        assert [e.turn_range for e in origin.engagements] == [(1, 2), (3, 5)]
        assert copy.extractor == "anthropic"
        assert [e.id for e in copy.engagements] == [e.id for e in origin.engagements]
        assert by_model(archive, stub).calls == 0 and len(stub.requests) == 1
    archive.read_again()
    held_by = rounds_of_engagement(archive, origin.engagements[0].id)
    assert held_by == {FORK: [1, 2]}, "a context has them once"


def test_a_fork_that_came_later_is_not_sent_for_two_rounds(held: Held) -> None:
    """UND-08: a fork with fewer than three rounds of its own is not sent: they are labelled by
    rules; with three it is sent, and the first session takes its engagements."""
    archive = held(first=rounds(4))
    with serve(whole) as stub:
        by_model(archive, stub)
        archive = held(fork=[*rounds(4), *rounds(2, own="fork", start=5)])
        assert by_model(archive, stub).copies == 1 and len(stub.requests) == 1
        fork = told(archive, FORK)
        assert (fork.copy_of, fork.copied, fork.modelled) == (FIRST, 4, 4)
        assert fork.engagements[-1].turn_range == (5, 6)
        archive = held(other=[*rounds(4), *rounds(3, own="other", start=5)])
        assert by_model(archive, stub).calls == 1 and len(stub.requests) == 2
    assert told(archive, FIRST).copy_of == OTHER
    assert told(archive, OTHER).copy_of is None
    assert told(archive, OTHER).engagements[-1].turn_range == (3, 7)


def test_a_copy_waits_for_an_answer(held: Held) -> None:
    """UND-08: where nothing came of the session that was sent, its copy is not recorded from
    anything worse, and the next run tries both again with one call."""
    archive = held(first=rounds(4), fork=rounds(5))
    with serve(lambda *_: 500) as broken:
        report = by_model(archive, broken)
        assert report.failures and report.copies == 0
    archive.read_again()
    assert FIRST not in archive.minutes.stored()
    with serve(whole) as stub:
        assert by_model(archive, stub).copies == 1 and len(stub.requests) == 1
    assert told(archive, FIRST).copy_of == FORK


def test_a_stopped_run_leaves_no_copy_that_counts_twice(held: Held) -> None:
    """UND-08, NFR-02: what a run labelled before it was stopped is compared by the next."""
    archive = held(first=rounds(4), fork=rounds(5))
    with Ingestion(archive, OfflineExtractor(), ended=True) as stopped:
        for _ in stopped.read():
            pass
    assert told(archive, FIRST).copy_of is None
    ingest(archive, OfflineExtractor(), ended=True)
    assert told(archive, FIRST).copy_of == FORK


def test_a_dry_run_says_what_is_not_paid_for(
    held: Held, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """ING-27, UND-08: a dry run counts a copy without a cost, in text and in JSON."""
    archive = held(first=rounds(4), fork=rounds(5))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
    seen = survey(archive, AnthropicExtractor(Secret("")))
    assert [(s.session_id, s.copy_of) for s in seen if s.copy_of] == [(FIRST, FORK)]
    place = ["--root", str(archive.places[0]), "--archive", str(archive.root)]
    with pytest.raises(SystemExit):
        main(["ingest", "--dry-run", "--extractor", "anthropic", *place])
    said = capsys.readouterr().out
    assert "1 call:" in said and "1 session repeats rounds of another" in said
    assert "2 sessions: 1 to send, 1 copy." in said


def test_every_session_is_in_one_number(
    held: Held, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """ING-30, UND-08: the copies of what was not asked about are left for the next run, too; of
    what was, they are counted as copies."""
    archive = held(first=rounds(4), fork=rounds(5))
    with serve(whole) as stub:
        refused = by_model(archive, stub, confirm=lambda _: False)
        assert (refused.sessions, refused.left, refused.only_copies) == (2, 2, 0)
        place = ["--root", str(archive.places[0]), "--archive", str(archive.root)]
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
        with pytest.raises(SystemExit):
            main(["ingest", "--base-url", stub.url, *place])
    assert "2 sessions: 1 ingested, 1 copy." in capsys.readouterr().out


def test_offline_only_rounds_of_its_own_are_extracted_anew(held: Held) -> None:
    """UND-08: a fork has the engagements of the longer session for what they share, and its own
    after it; a second run changes nothing; what is not a copy is left alone."""
    archive = held(
        first=rounds(6),
        fork=[*rounds(4), *rounds(1, own="fork", start=5)],
        other=rounds(4, own="x"),
    )
    report = ingest(archive, OfflineExtractor(), ended=True)
    fork, origin = told(archive, FORK), told(archive, FIRST)
    assert (report.copies, fork.copy_of, fork.copied) == (1, FIRST, 4)
    assert fork.engagements[-1].turn_range[1] == 5
    assert {e.topic for e in fork.engagements if e.turn_range[1] <= 4} <= {
        e.topic for e in origin.engagements
    }
    assert all(e.turn_range[0] == 5 or e.turn_range[1] <= 4 for e in fork.engagements)
    assert told(archive, OTHER).copy_of is None
    before = archive.layout.engagements.read_bytes()
    again = ingest(archive, OfflineExtractor(), ended=True, again=True)
    assert (again.copies, again.failures) == (1, [])
    assert archive.layout.engagements.read_bytes() == before


def test_rules_never_replace_a_models_words(held: Held) -> None:
    """UND-08, ING-30: a longer copy that only the rules have seen takes what a model said of the
    rounds they share; the model's own record stays as it is."""
    archive = held(first=rounds(4))
    with serve(whole) as stub:
        by_model(archive, stub)
    archive = held(fork=rounds(6))
    ingest(archive, OfflineExtractor(), ended=True)
    fork = told(archive, FORK)
    assert (fork.copy_of, fork.modelled, fork.extractor) == (FIRST, 4, "offline")
    assert fork.engagements[0].topic == "Prune the trees of the orchard"
    assert told(archive, FIRST).copy_of is None


def test_every_front_end_counts_a_copy_once(held: Held, capsys: pytest.CaptureFixture[str]) -> None:
    """UND-08: list, statistics, index page, viewer and MCP have each engagement of two copies
    once, also when a person renamed one of them, whose word is shown."""
    archive = held(first=rounds(4), fork=rounds(4))
    with serve(whole) as stub:
        by_model(archive, stub)
    first = told(archive, FIRST).engagements[0]
    correct(archive, FIRST, first.id, "topic=Prune only the apple trees")
    archive.read_again()
    assert len(list(archive.engagements())) == 2
    assert len(list(archive.engagements(copies=True))) == 4
    listed = search(archive, Query())
    assert (listed.total, listed.copies_hidden) == (2, 2)
    assert "Prune only the apple trees" in {h.engagement.topic for h in listed.hits if h.engagement}
    assert stats(archive, Query()).engagements == 2
    state = ServerState(archive.root, archive.places)
    assert len(decisions_of(state, Selection())) == 2
    request: Any = type("Request", (), {"query_params": {}})()
    assert json.loads(bytes(engagements(state, request).body))["total"] == 2
    assert "Left out: 2 engagements of copied conversations" in Tools(archive).engagements()
    assert "2 of 2 decisions" in Tools(archive).decisions()
    place = ["--root", str(archive.places[0]), "--archive", str(archive.root)]
    with pytest.raises(SystemExit):
        main(["stats", *place])
    assert "counted once" in "".join(capsys.readouterr())


def renewed(records: list[Record]) -> list[Record]:
    """A copy that an agent gave ids of its own."""
    found = []
    for record in records:
        changed = {**record, "uuid": f"new-{record['uuid']}"}
        if "id" in record.get("message", {}):
            changed["message"] = {**record["message"], "id": changed["uuid"]}
        found.append(changed)
    return found


def test_a_mere_copy_counts_nowhere_however_it_was_cut(held: Held) -> None:
    """UND-08: a session that is nothing but a copy of another one, under other ids, is not in the
    list of sessions, and its engagements, cut otherwise, are counted by none of the others; a
    person's word of it alone stays."""
    whole = rounds(8)
    archive = held(first=whole, fork=renewed(whole[:10]))
    ingest(archive, OfflineExtractor(), ended=True)
    archive.read_again()
    archive.lineage()
    kept = told(archive, FORK).engagements[0]
    moved = msgspec.structs.replace(
        archive.minutes.stored()[FORK],
        engagements=(
            msgspec.structs.replace(
                kept, id="another-cut", topic="Another cut", started="2026-03-01T10:02:00.000Z"
            ),
        ),
    )
    append_record(archive.layout, moved)
    archive.read_again()
    assert told(archive, FORK).copy_of is None
    assert [session.id for session in archive.sessions()] == [FIRST]
    assert {record.session_id for record, _ in archive.engagements()} == {FIRST}
    assert len(list(archive.engagements(copies=True))) > len(list(archive.engagements()))
    counted = stats(archive, Query())
    assert (counted.sessions, archive.report(since="2026-01-01").sessions) == (1, 1)
    assert counted.engagements == len(list(archive.engagements())) == len(_listed(archive))
    assert Tools(archive).stats().startswith("1 session, ")
    archive.say(FORK, Set("another-cut", values={"topic": "What I call it"}))
    assert "What I call it" in [engagement.topic for _, engagement in archive.engagements()]


def test_what_waited_in_a_queue_is_one_prompt_with_what_was_sent() -> None:
    """UND-08, FMT-16: it is the next one in the copy, if it says the same; whatever comes after
    it, and other words, are prompts of their own."""
    a, b, c, d = (f"{letter}{'0' * 20}" for letter in "abcd")
    x, y = f"{QUEUED}{'1' * 20}", f"{QUEUED}{'2' * 20}"
    words = {("old", 3): "go on", ("old", 4): "and then", ("new", 3): "go on", ("new", 5): "stop"}

    def ids(**sessions: Sequence[str]) -> Mapping[str, Sequence[str]]:
        return one_id_each(sessions, lambda *place: words.get(place, ""))

    new = [a, b, c, "", d]
    assert ids(old=[a, b, x], new=new) == {"old": (a, b, c), "new": new}
    assert ids(old=[a, b, x, y], new=new)["old"] == (a, b, c, y)
    for alone in ([a, d, x], [b, x, a], [x, a, b], [x], [a, b]):
        assert ids(old=alone, new=new)["old"] == alone, "something else came before, or nothing"
    assert ids(old=[a, b, x], new=[a, b, y])["old"] == [a, b, x], "it waits in both"


SENT = "Please prune the shared tree 5."
"""What `rounds` asks in the fifth round."""
CLAIMS: dict[str, Callable[[Archive], object]] = {
    "sessions": lambda a: [session.id for session in a.sessions()],
    "engagements": lambda a: {record.session_id for record, _ in a.engagements()},
    "index page": lambda a: FIRST[:8] in a.layout.engagements_index.read_text(),
    "report": lambda a: a.report(since="2026-01-01").projects,
    "threads": lambda a: {key for t in threads(a).every for key in t.members},
    "search": lambda a: [(h.session_id, h.round) for h in a.search(SENT, mode="lexical")],
}
"""What front ends say that knows a copy from what is work of its own."""


@pytest.mark.parametrize("front", CLAIMS)
def test_what_a_copy_was_asked_last_is_not_work_of_its_own(held: Held, front: str) -> None:
    """UND-08, SRCH-20: a prompt that waited in the queue when its session ended, and was sent in
    the one that went on, counts once: nothing of it is listed, still open or in a thread twice."""

    def of(archive: Archive) -> object:
        ingest(archive, OfflineExtractor(), ended=True)
        return CLAIMS[front](Archive(archive.root, archive.places))

    branch = {"gitBranch": "feat/prune"}
    first, fork = ([{**record, **branch} for record in rounds(count)] for count in (4, 8))
    other = [{**record, **branch} for record in rounds(4, own="other", start=20)]
    plain = of(held(first=first, fork=fork, other=other))
    archive = held(first=[*first, queued(SENT, 5)], fork=fork, other=other)
    assert of(Archive(archive.root.parent / "again", archive.places)) == plain


def test_what_waited_belongs_to_the_engagement_of_what_was_sent(held: Held) -> None:
    """UND-08: the session has the engagements of the one that went on for all its rounds."""
    archive = held(first=[*rounds(4), queued(SENT, 5)], fork=rounds(8))
    ingest(archive, OfflineExtractor(), ended=True)
    record = told(archive, FIRST)
    assert (record.rounds, record.copy_of, record.copied) == (5, FORK, 5)
    assert {e.id for e in record.engagements} <= {e.id for e in told(archive, FORK).engagements}


def test_what_was_asked_last_and_never_sent_stays(held: Held) -> None:
    """UND-08: other words in the queue are a prompt that only this session has; nor does a copy
    that was sent something else take it over."""
    archive = held(first=[*rounds(4), queued("Now sell the apples.", 5)], fork=rounds(8))
    ingest(archive, OfflineExtractor(), ended=True)
    record = told(archive, FIRST)
    assert (record.copied, record.engagements[-1].turn_range) == (4, (5, 5))
    assert {session.id for session in archive.sessions()} == {FIRST, FORK}


def test_work_that_begins_with_what_waited_began_when_it_was_sent(held: Held) -> None:
    """UND-08: such work has the moment and the branch of the copy that did it, so that it counts
    once; and a person's word on it holds in both."""
    archive = held(first=[*rounds(4), queued(SENT, 5)], fork=rounds(8))
    with serve(lambda *_: good_reply((1, 4), (5, 8))) as stub:
        by_model(archive, stub)
    (_, here), (_, there) = told(archive, FIRST).engagements, told(archive, FORK).engagements
    assert (here.turn_range, here.started, here.branches) == (
        *((5, 5), there.started, there.branches),
    )
    archive.say(FORK, Set("5", values={"topic": "What I call it"}))
    assert told(archive, FIRST).engagements[1].topic == "What I call it"


def _listed(archive: Archive) -> list[str]:
    return re.findall(r" engagement=(\S+)", Tools(archive).engagements(limit=100))


def test_strangers_with_one_id_are_not_joined(held: Held, tmp_path: Path) -> None:
    """SHARE-01, CTX-02: an id that two sessions have by chance is refused by every front end, with
    the sessions; a session beside it says which; a person's tag joins them."""
    archive = held(first=rounds(4), other=rounds(5, own="other"))
    ingest(archive, OfflineExtractor(), ended=True)
    for id in (FIRST, OTHER):
        record = archive.minutes.stored()[id]
        same = (msgspec.structs.replace(record.engagements[0], id="prune-trees"),)
        append_record(archive.layout, msgspec.structs.replace(record, engagements=same))
    archive.read_again()
    short = [archive.short(id) for id in (FIRST, OTHER)]
    tools = Tools(archive)
    asked_for: list[Callable[[], object]] = [
        lambda: export(archive, "prune-trees"),
        lambda: export(archive, "prune-t"),
        lambda: materialise(archive, [], engagement="prune-trees"),
        lambda: tools.context(engagement="prune-trees"),
        lambda: tools.engagement("prune-trees"),
    ]
    for ask in asked_for:
        with pytest.raises(Ambiguous, match=", ".join(short)) as refused:
            ask()
        assert "export SESSION ENGAGEMENT" in cli_worded(refused.value)
        assert "--" not in mcp_worded(refused.value) and "sessions" in mcp_worded(refused.value)
    line = next(one for one in tools.engagements().split("\n- ") if short[1] in one)
    (session,) = re.findall(r"session=(\S+) engagement=prune-trees", line)
    answer = tools.context(sessions=[session], engagement="prune-trees")
    assert "the other tree 1" in answer and "the shared tree 1" not in answer
    assert export(archive, short[0], "prune-trees").sessions == 1
    assert export(archive, short[0], "prune-t").rounds == 4
    tag(archive, OTHER, "1-2", "grafting")
    tag(archive, FIRST, "3", "grafting")
    made = export(archive, "graf", format="md")
    assert (made.sessions, made.rounds) == (2, 3)
    place = ["--root", str(archive.places[0]), "--archive", str(archive.root)]
    for words, status in ((["prune-trees"], 2), (["grafting"], 0)):
        with pytest.raises(SystemExit) as ended:
            main(["export", *words, "--out", str(tmp_path / "w.md"), *place])
        assert ended.value.code == status


def test_export_says_how_many_sessions_are_in_a_file(
    held: Held, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """SHARE-01: who gives a file away reads that it is of several sessions."""
    archive = held(first=rounds(4), other=rounds(5, own="other"))
    ingest(archive, OfflineExtractor(), ended=True)
    for id in (FIRST, OTHER):
        tag(archive, id, "1", "grafting")
    place = ["--root", str(archive.places[0]), "--archive", str(archive.root)]
    with pytest.raises(SystemExit):
        main(["export", "grafting", "--out", str(tmp_path / "w.md"), *place])
    assert "2 rounds of 2 sessions written" in capsys.readouterr().err
