"""Sessions that name each other as their parents: what no agent writes, and a file may say."""

from __future__ import annotations

from collections.abc import Mapping


def first_of_rings(parents: Mapping[str, str]) -> set[str]:
    """Of sessions and their parents, one of each ring: else its sessions were all subagents, of
    none that is listed, and nobody would see them."""
    found: set[str] = set()
    seen: set[str] = set()
    for start in parents:
        way: dict[str, None] = {}
        at = start
        while at in parents and at not in seen and at not in way:
            way[at] = None
            at = parents[at]
        if at in way:
            ids = list(way)
            found.add(min(ids[ids.index(at) :]))
        seen.update(way)
    return found
