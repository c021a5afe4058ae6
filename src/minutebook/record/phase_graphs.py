"""``phases.toml``: the graphs in the box, and a person's own over them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec

from minutebook.derive.phase_graph import EVERY, BadGraph, Graph, joined, parse_graphs

NAME = "phases.toml"
_SHIPPED = Path(__file__).with_name(NAME)
_MOST_BYTES = 100_000

Edges = dict[str, dict[str, tuple[str, ...]]]


class PhaseGraphs(msgspec.Struct, frozen=True):
    """The graphs that hold in a project."""

    tables: Edges
    problems: dict[str, str] = {}
    """File → why it was left out."""

    @property
    def methods(self) -> tuple[str, ...]:
        return tuple(name for name in self.tables if name != EVERY)

    def of(self, method: str) -> Graph:
        return joined(self.tables, method)


@cache
def _shipped() -> Edges:
    return parse_graphs(_SHIPPED.read_text(encoding="utf-8"))


def read_graphs(archive: Path | None, project: Path | None) -> PhaseGraphs:
    """The graphs in the box, those of an archive over them, then those of a project."""
    tables = dict(_shipped())
    problems: dict[str, str] = {}
    places = (
        archive / NAME if archive else None,
        project / "engagements" / NAME if project else None,
    )
    for path in places:
        if path is None:
            continue
        try:
            tables |= _read(path)
        except (BadGraph, OSError, UnicodeError) as error:
            problems[str(path)] = str(getattr(error, "strerror", None) or error)
    return PhaseGraphs(tables, problems)


def _read(path: Path) -> Edges:
    if not path.exists():
        return {}
    if not path.is_file():
        raise BadGraph("it is not a file")
    if path.stat().st_size > _MOST_BYTES:
        raise BadGraph(f"it is larger than {_MOST_BYTES // 1000} KB")
    return parse_graphs(path.read_text(encoding="utf-8"))
