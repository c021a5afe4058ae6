"""The lineage pages: families of sessions, and one drawn, with its evidence (FUT-02, VIEW-21)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from minutebook.archive.programs import within
from minutebook.derive.evidence import grade, reasons
from minutebook.derive.times import instant
from minutebook.index.entry import seconds
from minutebook.model.lineage import Edge, Lineage, Node
from minutebook.verbs.lineage import UP, named, of_agent
from minutebook.web.graph import HEIGHT, WIDTH, graph_of
from minutebook.web.pages import line, render, session_url
from minutebook.web.selection import whole
from minutebook.web.signs import ago, exact
from minutebook.web.state import ServerState

_PAGE = 30
_NAME = 48


class Family(msgspec.Struct, frozen=True):
    """A family in one line."""

    href: str
    name: str
    sessions: int
    kinds: dict[str, int]
    projects: list[str]
    started: str | None
    ended: str | None


class Tied(msgspec.Struct, frozen=True):
    """An edge, and what says so."""

    edge: Edge
    older: Node
    newer: Node
    relation: str
    grade: str
    reasons: list[str]
    older_href: str
    newer_href: str


def lineage_page(state: ServerState, request: Request) -> Response:
    """All families of more than one session, the newest first."""
    params = request.query_params
    families = state.archive.lineage().families()
    total = len(families)
    project, agent = params.get("project", "")[:200], params.get("agent", "")[:200]
    if agent:
        families = of_agent(state.archive, families, agent)
    if project:
        families = [f for f in families if within(project, *(n.project for n in f.nodes))]
    start = whole(params.get("start"))
    return render(
        "lineage.html",
        families=newest_first(families)[start : start + _PAGE],
        count=len(families),
        total=total,
        project=project,
        agent=agent,
        start=start,
        next=start + _PAGE if start + _PAGE < len(families) else None,
        page="lineage",
        title="Lineage",
    )


def family_page(state: ServerState, _request: Request, session_id: str) -> Response:
    """One session with all it is tied to, drawn."""
    family = state.archive.lineage(session_id)
    nodes = {node.id: node for node in family.nodes}
    called = {id: _short(node) for id, node in nodes.items()}
    ties = [
        Tied(
            edge,
            nodes[edge.older],
            nodes[edge.newer],
            UP[edge.kind],
            grade(edge),
            reasons(edge, lambda name: f"“{called.get(name, 'a session')}” "),
            _href(nodes[edge.older], edge.evidence[0].older),
            _href(nodes[edge.newer], edge.evidence[0].newer),
        )
        for edge in family.edges
        if nodes[edge.newer].type != "subagent"
    ]
    told = _family(family)
    return render(
        "family.html",
        graph=graph_of(family),
        ties=ties,
        family=told,
        here=session_id,
        named=named,
        began=began_of(family),
        short=_fit,
        href=_href,
        box=(WIDTH, HEIGHT),
        page="lineage",
        title=f"Lineage of {told.name}",
    )


def newest_first(families: Iterable[Lineage]) -> list[Family]:
    """Families by the time that their rows show."""
    return sorted(map(_family, families), key=lambda told: seconds(told.ended), reverse=True)


def _family(family: Lineage) -> Family:
    sessions = [node for node in family.nodes if node.type != "subagent"]
    agents = {node.id for node in family.nodes if node.type == "subagent"}
    known = [node for node in sessions if node.type == "session"] or sessions
    first = known[0]
    return Family(
        f"/lineage{session_url(first.id).removeprefix('/session')}",
        named(first),
        len(sessions),
        dict(Counter(edge.kind for edge in family.edges if edge.newer not in agents)),
        list(dict.fromkeys(node.project for node in known if node.project)),
        min((node.started for node in known if node.started), default=None),
        max((node.ended or node.started or "" for node in known), default="") or None,
    )


def began_of(family: Lineage) -> dict[str, str]:
    """When each session began; to the second where another of its name began in that minute."""
    now = datetime.now().astimezone()
    minutes = {node.id: (named(node), exact(node.started)) for node in family.nodes}
    alike = Counter(minutes[node.id] for node in family.nodes if node.type != "subagent")
    found: dict[str, str] = {}
    for node in family.nodes:
        moment = instant(node.started)
        found[node.id] = ago(node.started, now)
        if moment is not None and alike[minutes[node.id]] > 1:
            found[node.id] = f"{moment.day} {moment:%b %Y, %H:%M:%S}"
    return found


def _href(node: Node, round: int | None = None) -> str:
    """Where a session opens; nowhere if it is not here."""
    return session_url(node.id, round) if node.type == "session" else ""


def _short(node: Node) -> str:
    return _fit(line(named(node)), _NAME) if node.type != "missing" else "a session not here"


def _fit(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
