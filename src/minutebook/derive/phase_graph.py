"""Phase graphs: where a step of a method may go next (FUT-01). Pure; the files are record's."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence

import msgspec

from minutebook.model.engagement import PHASES
from minutebook.model.prospective import ENDS, Passed

EVERY = "every"
ANY = "*"
_PAUSES = ("blocked", "handed-off")
_LONGEST_NAME = 40


class BadGraph(ValueError):
    """A file of graphs that cannot be used; says why."""


class Graph(msgspec.Struct, frozen=True):
    """The steps of one method."""

    method: str
    edges: dict[str, tuple[str, ...]]

    @property
    def steps(self) -> tuple[str, ...]:
        """Every step there is: ING-14's phases, and the method's own."""
        named = (*self.edges, *(step for steps in self.edges.values() for step in steps))
        return tuple(dict.fromkeys((*PHASES, *(step for step in named if step != ANY))))

    def allowed(self, phase: str, passed: Sequence[Passed] = ()) -> tuple[str, ...]:
        """Where a phase may go next.

        What was blocked or handed off goes on where it was: to the step before, or wherever that
        leads. A phase the graph does not have may go to any step.
        """
        if phase in ENDS:
            return ()
        if phase not in self.steps:
            return tuple(step for step in self.steps if step != "started")
        found = self._next(phase)
        if phase in _PAUSES:
            before = next((p.phase for p in reversed(passed) if p.phase not in _PAUSES), "started")
            found += (before, *self._next(before))
        return tuple(dict.fromkeys(step for step in found if step != phase))

    def _next(self, phase: str) -> tuple[str, ...]:
        return self.edges.get(phase, ()) + self.edges.get(ANY, ())


def parse_graphs(text: str) -> dict[str, dict[str, tuple[str, ...]]]:
    """Method → step → next steps, as a file says it; `BadGraph` where it cannot be used."""
    try:
        found = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadGraph(f"it is not TOML: {error}") from None
    graphs: dict[str, dict[str, tuple[str, ...]]] = {}
    for method, edges in found.items():
        _check_name(method, "method")
        if not isinstance(edges, dict):
            raise BadGraph(f"[{method}] is not a table of steps")
        graphs[method] = {step: _steps(method, step, after) for step, after in edges.items()}
    return graphs


def joined(base: Mapping[str, Mapping[str, tuple[str, ...]]], method: str) -> Graph:
    """The graph of a method: what every method may do, then its own steps; a method that is not
    there has only the former, and is completed from wherever it is."""
    every = base.get(EVERY, {})
    own = base.get(method)
    if own is None:
        own = {"started": ("completed",), "in-progress": ("completed",)}
    keys = dict.fromkeys((*every, *own))
    edges = {key: tuple(dict.fromkeys((*own.get(key, ()), *every.get(key, ())))) for key in keys}
    return Graph(method, edges)


def _steps(method: str, step: str, after: object) -> tuple[str, ...]:
    _check_name(step, "step", any_too=True)
    if not isinstance(after, list) or not all(isinstance(name, str) for name in after):
        raise BadGraph(f"[{method}] {step} is not a list of steps")
    for name in after:
        _check_name(name, "step")
    if step in ENDS and after:
        raise BadGraph(f"[{method}] {step} is an end: no step follows it")
    return tuple(after)


def _check_name(name: str, what: str, *, any_too: bool = False) -> None:
    if not (is_name(name) or (any_too and name == ANY)):
        raise BadGraph(f"'{name[:_LONGEST_NAME]}' is not the name of a {what}: letters and hyphens")


def is_name(name: str) -> bool:
    """Whether a word can name a step or a method."""
    plain = name.replace("-", "a").replace("_", "a")
    return plain.isalnum() and len(name) <= _LONGEST_NAME
