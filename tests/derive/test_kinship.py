"""Copies are found among many sessions that only begin alike."""

from __future__ import annotations

import pytest

from minutebook.derive import kinship as module
from minutebook.derive.kinship import kinship
from minutebook.derive.traces import RoundTrace, Trace

MANY = 120


def begun_alike(number: int) -> Trace:
    """A session that begins like all others, and goes on by itself."""
    begun, words = 1e9 + number * 100, f"w{number}"
    own = (
        RoundTrace(f"{number:030}{at:02}", begun + at, f"q{number}.{at}", "", words, 300)
        for at in range(1, 5)
    )
    first = RoundTrace(f"{number:032}", begun, "hello", "", "the same answer", 300)
    return Trace(rounds=(first, *own), first="hello")


def test_sessions_that_begin_alike_are_compared_with_a_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """FUT-02: a copy among many that have one round in common is found, and without comparing
    each with each."""
    traces = {f"s{number:05}": begun_alike(number) for number in range(MANY)}
    copied = traces["s00050"].rounds
    again = (RoundTrace(f"z{r.id}", r.at, r.asked, r.opening, r.whole, r.size) for r in copied)
    traces["z-copy"] = Trace(rounds=tuple(again), first="hello")
    compared: list[tuple[str, str]] = []
    own = module._Kin.edge

    def noting(kin: module._Kin, one: str, other: str) -> object:
        compared.append((one, other))
        return own(kin, one, other)

    monkeypatch.setattr(module._Kin, "edge", noting)
    edges = kinship(traces, list(traces))
    assert ("s00050", "z-copy") in {(edge.older, edge.newer) for edge in edges}
    assert len(compared) <= MANY * (module._COMPARED + 2 * module._NEAR)
