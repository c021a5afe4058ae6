"""Where the sessions of a family stand when they are drawn: oldest at the top, a lane a branch."""

from __future__ import annotations

from collections import deque

import msgspec

from minutebook.model.lineage import Edge, Lineage, Node
from minutebook.verbs.lineage import tree

WIDTH, HEIGHT = 320, 48
_ACROSS, _DOWN = 40, 34
_MOST = 200
"""Sessions that are drawn; a larger family is listed."""


class Box(msgspec.Struct, frozen=True):
    node: Node
    x: int
    y: int
    subagents: int = 0


class Arrow(msgspec.Struct, frozen=True):
    edge: Edge
    path: str
    """As SVG writes it."""
    x: int
    y: int
    """Where its label stands."""


class Graph(msgspec.Struct, frozen=True):
    boxes: list[Box]
    arrows: list[Arrow]
    width: int
    height: int
    left_out: int = 0


def graph_of(family: Lineage) -> Graph:
    """A family, laid out; what comes from something stands below it."""
    depths = _depths(family)
    lines = [line for line in tree(family) if not line.again]
    drawn = lines[:_MOST]
    lanes: dict[str, int] = {}
    taken: dict[int, int] = {}  # lane → the deepest place that is taken in it
    for line in drawn:
        id = line.node.id
        wanted = lanes.get(line.edge.older, 0) if line.edge is not None else 0
        depth = depths[id]
        lane = wanted
        while taken.get(lane, -1) >= depth:
            lane += 1
        lanes[id], taken[lane] = lane, depth
    boxes = {
        line.node.id: Box(
            line.node,
            lanes[line.node.id] * (WIDTH + _ACROSS) + 1,
            depths[line.node.id] * (HEIGHT + _DOWN) + 1,
            line.subagents,
        )
        for line in drawn
    }
    arrows = [
        _arrow(edge, boxes[edge.older], boxes[edge.newer])
        for edge in family.edges
        if edge.older in boxes and edge.newer in boxes
    ]
    return Graph(
        list(boxes.values()),
        arrows,
        max((box.x for box in boxes.values()), default=0) + WIDTH + 1,
        max((box.y for box in boxes.values()), default=0) + HEIGHT + 1,
        len(lines) - len(drawn),
    )


def _depths(family: Lineage) -> dict[str, int]:
    """How many sessions come before each, by the longest way."""
    below: dict[str, list[str]] = {}
    waiting = {node.id: 0 for node in family.nodes}
    for edge in family.edges:
        below.setdefault(edge.older, []).append(edge.newer)
        waiting[edge.newer] += 1
    depths = dict.fromkeys(waiting, 0)
    free = deque(id for id, count in waiting.items() if not count)
    while free:
        id = free.popleft()
        for newer in below.get(id, ()):
            depths[newer] = max(depths[newer], depths[id] + 1)
            waiting[newer] -= 1
            if not waiting[newer]:
                free.append(newer)
    return depths


def _arrow(edge: Edge, older: Box, newer: Box) -> Arrow:
    start_x, start_y = older.x + WIDTH // 2, older.y + HEIGHT
    end_x, end_y = newer.x + WIDTH // 2, newer.y
    bend = end_y - _DOWN // 2
    path = f"M{start_x} {start_y}V{bend}H{end_x}V{end_y - 5}"
    return Arrow(edge, path, end_x + 9, end_y - 11)
