"""Usage and time counted from a reading are those of the reference count (USE-01, USE-03)."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from minutebook.derive.clock import read_clock
from minutebook.model import Billing, Message, Round
from minutebook.sources.base import Reading
from minutebook.sources.claude_code.read import ClaudeReading
from minutebook.sources.library import Library
from tests.conftest import CORPUS, needs_corpus

ROOT = CORPUS / "claude" / "projects"


@cache
def reference() -> ModuleType:
    """``shared/tools/usage_reference.py``, which shares nothing with the reader."""
    path = CORPUS.parent / "tools" / "usage_reference.py"
    spec = importlib.util.spec_from_file_location("usage_reference", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


class Kept(NamedTuple):
    """One session, as far as accounting goes."""

    id: str
    sightings: list[Any]
    moments: Sequence[tuple[float, str]]


def sighting(session: str, where: str, id: str, at: str | None, **told: Any) -> Any:
    """A reply as the reference has it."""
    usage, billing = told["usage"], told["billing"] or Billing()
    reply = reference().Reply()
    reply.session, reply.where, reply.id, reply.at = session, where, id, at
    reply.model = told["model"] or "unknown"
    five_minutes = usage.cache_write - usage.cache_write_1h
    reply.tokens = (usage.input, usage.output, usage.cache_read, five_minutes, usage.cache_write_1h)
    reply.searches = billing.server_tools.get("web_search_requests", 0)
    reply.speed, reply.tier = billing.speed, billing.tier
    return reply


def replies_of(session: str, where: str, rounds: tuple[Round, ...] | list[Round]) -> Iterator[Any]:
    for round in rounds:
        for message in round.replies:
            if message.usage is not None:
                yield of_message(session, where, message)
        for reply in round.progress:
            told = {"usage": reply.usage, "billing": reply.billing, "model": reply.model}
            yield sighting(session, "progress", reply.id, reply.at, **told)


def of_message(session: str, where: str, message: Message) -> Any:
    billing = message.billing or Billing()
    told = {
        "usage": billing.usage or message.usage,
        "billing": message.billing,
        "model": message.model,
    }
    id = message.reply_id or f"line:{message.id}"
    return sighting(session, where, id, billing.at or message.at, **told)


def kept(reading: Reading, session: str) -> Kept:
    rounds = list(reading.rounds())
    found = list(replies_of(session, "main", rounds))
    for reply in reading.loose.replies:
        told = {"usage": reply.usage, "billing": reply.billing, "model": reply.model}
        found.append(sighting(session, "progress", reply.id, reply.at, **told))
    for agent in reading.subagents():
        assert not any(round.clock for round in agent.rounds)
        found += replies_of(session, "sidechain", agent.rounds)
    clocks = [*(round.clock for round in rounds), reading.loose.clock]
    moments = [(m.at / 1000, m.made_by) for clock in clocks for m in read_clock(clock)]
    return Kept(session, found, moments)


@pytest.fixture(scope="module")
def sessions() -> list[Kept]:
    return [kept(ClaudeReading(t.path), t.session_id) for t in Library([ROOT]).transcripts]


@needs_corpus
def test_replies_and_tokens_are_those_of_the_reference(sessions: list[Kept]) -> None:
    """USE-01: each reply once, over forks, subagents and progress, model by model."""
    tool = reference()
    ours = [reply for session in sessions for reply in session.sightings]
    theirs = list(tool.replies(str(ROOT)))
    everywhere = ("main", "sidechain", "progress")
    rules = {
        "once a reply": (everywhere, lambda r: r.id),
        "without progress": (everywhere[:2], lambda r: r.id),
        "once a session": (everywhere, lambda r: (r.session, r.id)),
    }
    for name, (where, key) in rules.items():
        mine, expected = (
            tool.table(tool.count((r for r in found if r.where in where), key))
            for found in (ours, theirs)
        )
        for model in expected:
            assert mine[model][:-1] == expected[model][:-1], (name, model)
            assert mine[model][-1] == pytest.approx(expected[model][-1], abs=1e-6), (name, model)
        assert set(mine) == set(expected)
    total = tool.table(tool.count(ours, lambda r: r.id))["TOTAL"]
    assert total[:6] == [7126, 224386, 2874872, 1167735479, 9152577, 18015382]


@needs_corpus
def test_what_a_price_depends_on_is_kept(sessions: list[Kept]) -> None:
    """USE-02: speed, tier and the day of every reply, as the reference has them."""
    tool = reference()
    ours = tool.count((r for s in sessions for r in s.sightings), lambda r: r.id)
    theirs = tool.count(tool.replies(str(ROOT)), lambda r: r.id)
    known = {r.id: (r.model, r.at, r.speed, r.tier, r.tokens) for r in ours}
    assert known == {r.id: (r.model, r.at, r.speed, r.tier, r.tokens) for r in theirs}


@needs_corpus
def test_active_time_is_that_of_the_reference(
    sessions: list[Kept], monkeypatch: pytest.MonkeyPatch
) -> None:
    """USE-03: wall, agent and human time, summed and by the clock, to the second."""
    tool = reference()
    expected = tool.time(str(ROOT))
    by_id = {session.id: sorted(session.moments, key=lambda m: m[0]) for session in sessions}
    monkeypatch.setattr(tool, "moments", lambda path: by_id[Path(path).stem])
    assert tool.time(str(ROOT)) == expected
    assert expected["agent_s"] == 156940


@needs_corpus
def test_every_moment_is_kept_in_its_order(sessions: list[Kept]) -> None:
    """USE-03: of each session the same records, with the same makers."""
    tool = reference()
    by_id = {session.id: session.moments for session in sessions}
    for _, id, path in tool.files(str(ROOT)):
        if Path(path).stem == id:
            expected = [(round(at * 1000), by) for at, by in tool.moments(path)]
            found = [(round(at * 1000), by) for at, by in by_id[id]]
            assert sorted(found) == sorted(expected), path


@needs_corpus
def test_no_file_of_the_corpus_is_without_a_session() -> None:
    """FMT-15: every file the reference counts is a session's, or belongs to one."""
    library = Library([ROOT])
    ids = {transcript.session_id for transcript in library.transcripts}
    assert library.orphans == []
    assert {id for _, id, _ in reference().files(str(ROOT))} == ids
