"""Lineage: which session comes from which, and what says so (FUT-02).

Edges go from the older session to the newer one, and never in a circle.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Literal, get_args

import msgspec

EdgeKind = Literal["resumes", "forks", "copies", "continues", "delegated"]
EDGE_KINDS: tuple[EdgeKind, ...] = get_args(EdgeKind)
COPYING: frozenset[EdgeKind] = frozenset({"resumes", "forks", "copies"})
"""Kinds in which the newer session holds messages of the older one."""


class Evidence(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One thing that says so, and where to look it up."""

    what: str
    """A field (``forkedFrom``), or what both have: ``shared-messages``, ``same-words``, ``branch``,
    ``number``, ``files``, ``plan``, ``slug``, ``named``, ``words``, ``time``, ``call``."""
    text: str = ""
    """The value, or the words, quoted."""
    count: int = 0
    """How many messages, lines or files it is about."""
    older: int | None = None
    """A round of the older session."""
    newer: int | None = None
    """A round of the newer session."""


class Edge(msgspec.Struct, frozen=True, kw_only=True):
    """A tie between two sessions."""

    older: str
    newer: str
    """A session's id; of a delegated edge it may be a subagent's."""
    kind: EdgeKind
    recorded: bool
    """Whether ids or fields in the transcripts say so; else it is inferred."""
    confidence: float
    evidence: tuple[Evidence, ...]
    shared: tuple[int, ...] = ()
    """Of copied history: for each round of the newer session's beginning, its number in the
    older one."""


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """A session, or a subagent, as a lineage names it."""

    id: str
    type: Literal["session", "subagent", "missing"] = "session"
    """``missing``: named by a transcript, and neither archived nor among the transcripts."""
    name: str = ""
    program: str | None = None
    """The coding agent that held it: ``codex``."""
    project: str | None = None
    started: str | None = None
    ended: str | None = None
    rounds: int = 0


class Lineage(msgspec.Struct, frozen=True, kw_only=True):
    """Sessions and their ties, oldest first."""

    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()

    def node(self, id: str) -> Node | None:
        return next((node for node in self.nodes if node.id == id), None)

    def above(self, id: str) -> tuple[Edge, ...]:
        """What a session comes from."""
        return tuple(edge for edge in self.edges if edge.newer == id)

    def below(self, id: str) -> tuple[Edge, ...]:
        """What came from a session."""
        return tuple(edge for edge in self.edges if edge.older == id)

    def families(self) -> list[Lineage]:
        """Sessions that are tied to each other, the family with the newest session first;
        those of one session alone are left out."""
        found = []
        for ids in components((edge.older, edge.newer) for edge in self.edges):
            family = self.among(ids)
            if sum(node.type != "subagent" for node in family.nodes) > 1:
                found.append(family)
        found.sort(key=lambda family: max(n.started or "" for n in family.nodes), reverse=True)
        return found

    def family(self, id: str) -> Lineage:
        """A session with all it is tied to, by whatever way."""
        for ids in components((edge.older, edge.newer) for edge in self.edges):
            if id in ids:
                return self.among(ids)
        return self.among({id})

    def among(self, ids: set[str]) -> Lineage:
        return Lineage(
            nodes=tuple(node for node in self.nodes if node.id in ids),
            edges=tuple(edge for edge in self.edges if {edge.older, edge.newer} <= ids),
        )

    def only_recorded(self) -> Lineage:
        """The same without what was inferred."""
        edges = tuple(edge for edge in self.edges if edge.recorded)
        tied = {id for edge in edges for id in (edge.older, edge.newer)}
        return Lineage(
            nodes=tuple(n for n in self.nodes if n.type == "session" or n.id in tied), edges=edges
        )


def components(pairs: Iterable[tuple[str, str]]) -> list[set[str]]:
    """What is connected, in the order it is first met."""
    near: dict[str, list[str]] = defaultdict(list)
    for one, other in pairs:
        near[one].append(other)
        near[other].append(one)
    found, seen = [], set[str]()
    for start in near:
        if start in seen:
            continue
        group, waiting = {start}, [start]
        while waiting:
            for other in near[waiting.pop()]:
                if other not in group:
                    group.add(other)
                    waiting.append(other)
        seen |= group
        found.append(group)
    return found
