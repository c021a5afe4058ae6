"""The evidence for a link between sessions, in words."""

from __future__ import annotations

from collections.abc import Callable

from minutebook.derive.plain import one_line
from minutebook.derive.wording import plural
from minutebook.model.lineage import Edge, Evidence

Short = Callable[[str], str]
"""The start of a session's id that names no other."""


def grade(edge: Edge) -> str:
    """How sure an edge is."""
    return "recorded" if edge.recorded else f"inferred {edge.confidence:.2f}"


def reasons(edge: Edge, short: Short) -> list[str]:
    """The evidence of an edge, a line each."""
    return [one_line(_told(evidence, edge, short)) for evidence in edge.evidence]


def why(edge: Edge, short: Short) -> str:
    """The same in one line."""
    return f"{grade(edge)}: {'; '.join(reasons(edge, short))}"


def _told(evidence: Evidence, edge: Edge, short: Short) -> str:
    older = _place(edge.older, evidence.older, short)
    newer = _place(edge.newer, evidence.newer, short)
    text = evidence.text
    match evidence.what:
        case "shared-messages":
            return f"shares {plural(evidence.count, 'prompt')}, up to {older} and {newer}"
        case "same-words":
            rounds = plural(evidence.count, "round")
            return f"the same words in {rounds} {text}, up to {older} and {newer}"
        case "plan":
            return f"{newer} begins with {plural(evidence.count, 'line')} written in {older}"
        case "slug":
            return f"same slug {text}"
        case "named":
            return f"{newer} names it"
        case "branch":
            return f"same branch {text}"
        case "number":
            return f"both about {text} ({older}, {newer})"
        case "files":
            return f"{plural(evidence.count, 'file')} changed before: {text}"
        case "words":
            return f"rare words of both: {text}"
        case "says":
            return f"{newer} says “{text}”"
        case "time":
            return text
        case "call":
            return f"started by a call in {older}"
        case field:
            return f"recorded in {field}"


def _place(id: str, round: int | None, short: Short) -> str:
    name = short(id) if "/" not in id else id.rsplit("/", 1)[1]
    return f"{name}#{round}" if round is not None else name
