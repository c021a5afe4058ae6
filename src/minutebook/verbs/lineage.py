"""A lineage in words, and as a graph for Mermaid and Graphviz (FUT-02)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.sessions import NAMELESS
from minutebook.derive.evidence import Short, why
from minutebook.derive.plain import one_line
from minutebook.derive.wording import plural
from minutebook.model.lineage import Edge, EdgeKind, Lineage, Node

UP: dict[EdgeKind, str] = {
    "resumes": "resumes",
    "forks": "forked from",
    "copies": "copy of",
    "continues": "continues",
    "delegated": "started by",
}
DOWN: dict[EdgeKind, str] = {
    "resumes": "resumed by",
    "forks": "forked as",
    "copies": "copied as",
    "continues": "continued by",
    "delegated": "started",
}
_LABEL = 60


class Relative(msgspec.Struct, frozen=True):
    """A session that another one is tied to, from that one's point of view."""

    relation: str
    """``resumes``, ``forked from``, ``continued by`` …"""
    node: Node
    edge: Edge
    why: str

    @property
    def place(self) -> int | None:
        """The round of it that the evidence names."""
        first = self.edge.evidence[0]
        return first.older if self.node.id == self.edge.older else first.newer


def relatives(lineage: Lineage, session_id: str, short: Short) -> list[Relative]:
    """What a session comes from, then what came from it; its subagents are left out."""
    nodes = {node.id: node for node in lineage.nodes}
    found = [
        Relative(UP[edge.kind], nodes[edge.older], edge, why(edge, short))
        for edge in lineage.above(session_id)
    ]
    found += [
        Relative(DOWN[edge.kind], nodes[edge.newer], edge, why(edge, short))
        for edge in lineage.below(session_id)
        if nodes[edge.newer].type != "subagent"
    ]
    return found


def named(node: Node) -> str:
    """What a person calls a node."""
    if node.type == "missing":
        return "not here: neither archived nor among the transcripts"
    return one_line(node.name) or ("subagent" if node.type == "subagent" else NAMELESS)


# -- graphs


def mermaid(lineage: Lineage, short: Short) -> str:
    """A flow chart; what is inferred is dotted."""
    names = {node.id: f"n{at}" for at, node in enumerate(lineage.nodes)}
    lines = ["flowchart TD"]
    lines += [f'  {names[n.id]}["{_for_mermaid(label(n, short))}"]' for n in lineage.nodes]
    for edge in lineage.edges:
        words = _for_mermaid(_edge_label(edge))
        arrow = f'-- "{words}" -->' if edge.recorded else f'-. "{words}" .->'
        lines.append(f"  {names[edge.older]} {arrow} {names[edge.newer]}")
    return "\n".join(lines) + "\n"


def dot(lineage: Lineage, short: Short) -> str:
    """A graph in Graphviz's language; what is inferred is dashed."""
    names = {node.id: f"n{at}" for at, node in enumerate(lineage.nodes)}
    lines = ["digraph lineage {", "  node [shape=box];"]
    lines += [f"  {names[n.id]} [label={_for_dot(label(n, short))}];" for n in lineage.nodes]
    for edge in lineage.edges:
        style = "" if edge.recorded else ", style=dashed"
        told = _for_dot(_edge_label(edge))
        lines.append(f"  {names[edge.older]} -> {names[edge.newer]} [label={told}{style}];")
    return "\n".join([*lines, "}"]) + "\n"


def label(node: Node, short: Short) -> str:
    """A node in few words: day, short id, name."""
    day = (node.started or "")[:10]
    id = node.id.rsplit("/", 1)[1] if node.type == "subagent" else short(node.id)
    name = named(node)
    name = name if len(name) <= _LABEL else name[: _LABEL - 1].rstrip() + "…"
    return " ".join(one_line(part) for part in (day, id, name) if part)


def _edge_label(edge: Edge) -> str:
    return edge.kind if edge.recorded else f"{edge.kind} {edge.confidence:.2f}"


def _for_mermaid(text: str) -> str:
    """Whatever may mean something to Mermaid, by its number: ``#34;``."""
    return "".join(_characters(text))


def _characters(text: str) -> Iterable[str]:
    for char in text:
        yield char if char.isalnum() or char in " .,:/_-…" else f"#{ord(char)};"


def _for_dot(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


# -- a tree


def lineage_lines(family: Lineage, short: Short) -> Iterator[str]:
    """A family for agents, a line for each session."""
    for line in tree(family):
        node, edge = line.node, line.edge
        facts = [
            "  " * line.depth + "-",
            f"{DOWN[edge.kind]}:" if edge is not None else "",
            (node.started or "")[:10],
            short(node.id),
            named(node),
            f"({one_line(node.project)})" if node.project else "",
            plural(line.subagents, "subagent") if line.subagents else "",
            "(above)" if line.again else "",
            f"| {why(edge, short)}" if edge is not None else "",
        ]
        yield " ".join(fact for fact in facts if fact)


class Line(msgspec.Struct, frozen=True):
    """A node of a tree, as deep as it stands."""

    depth: int
    node: Node
    edge: Edge | None = None
    """How it hangs on the one above; None for a root."""
    again: bool = False
    """Whether it stands above already: it comes from several."""
    subagents: int = 0
    last: bool = True
    """Whether no other one hangs on the same session after it."""


def tree(lineage: Lineage) -> Iterator[Line]:
    """A family from its oldest sessions down, each session once; subagents are counted."""
    nodes = {node.id: node for node in lineage.nodes}
    below: dict[str, list[Edge]] = {}
    agents: dict[str, int] = {}
    newer: set[str] = set()
    for edge in lineage.edges:
        if nodes[edge.newer].type == "subagent":
            agents[edge.older] = agents.get(edge.older, 0) + 1
        else:
            below.setdefault(edge.older, []).append(edge)
            newer.add(edge.newer)
    seen: set[str] = set()
    roots = [n for n in lineage.nodes if n.type != "subagent" and n.id not in newer]
    waiting = [Line(0, node) for node in reversed(roots)]
    while waiting:  # not by recursion: a chain of resumes may be as long as it likes
        line = waiting.pop()
        id = line.node.id
        if id in seen:
            yield msgspec.structs.replace(line, again=True)
            continue
        seen.add(id)
        yield msgspec.structs.replace(line, subagents=agents.get(id, 0))
        waiting += [
            Line(line.depth + 1, nodes[edge.newer], edge, last=at == 0)
            for at, edge in enumerate(reversed(below.get(id, [])))
        ]


def of_agent(archive: Archive, families: Iterable[Lineage], agent: str) -> list[Lineage]:
    """Families with a session of an agent, as ``--agent`` names it."""
    listed = archive.sessions(agent=agent, ghosts=True, hidden=True, copies=True).sessions
    wanted = {session.id for session in listed}
    return [family for family in families if wanted & {node.id for node in family.nodes}]
