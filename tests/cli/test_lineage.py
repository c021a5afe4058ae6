"""``minutebook lineage``: which session comes from which, as a tree, JSON, Mermaid and DOT."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

from minutebook.archive import Archive
from minutebook.cli.terminal import width
from minutebook.mcp.tools import Tools
from minutebook.model.lineage import EDGE_KINDS, Edge, EdgeKind, Evidence, Lineage, Node
from minutebook.verbs.lineage import dot, lineage_lines, mermaid, tree
from tests.cli.conftest import Run

HOSTILE = (
    'say "hi"]; n0 --> n1',
    "one\ntwo\r\nthree",
    "\x1b[31mred\x1b[0m\x07",
    "a --> b -- c -.-> d ==> e",
    "back\\slash\\",
    '"];} digraph evil {',
    "`code` <b>bold</b> <script>alert(1)</script>",
    "%% comment #quot; end #35;",
    "}{()[]|;:,&$'~^",
    "日本語 Ünïcödé \u202eright to left",
    "",
)
# What Graphviz's grammar allows of what is written here: one statement a line, quoted strings.
_STRING = r'"(?:[^"\\]|\\.)*"'
DOT_LINE = re.compile(
    rf"digraph lineage {{|  node \[shape=box\];|  n\d+ \[label={_STRING}\];|}}"
    rf"|  n\d+ -> n\d+ \[label={_STRING}(?:, style=dashed)?\];"
)
# The same for Mermaid, whose quoted strings may not hold a quote in any form.
MERMAID_LINE = re.compile(
    r'flowchart TD|  n\d+\["[^"<>`\[\]{}|%]*"\]'
    r'|  n\d+ (?:-- "[\w .]+" -->|-\. "[\w .]+" \.->) n\d+'
)


def hostile() -> Lineage:
    nodes = tuple(
        Node(id=f"{at:08}-0000", name=name, started="2026-03-01T10:00:00Z", project=name)
        for at, name in enumerate(HOSTILE)
    )
    kinds: list[EdgeKind] = [*EDGE_KINDS] * 3
    edges = tuple(
        Edge(
            older=nodes[at].id,
            newer=nodes[at + 1].id,
            kind=kinds[at],
            recorded=at % 2 == 0,
            confidence=0.8,
            evidence=(Evidence(what="branch", text=HOSTILE[at]),),
        )
        for at in range(len(nodes) - 1)
    )
    return Lineage(nodes=nodes, edges=edges)


def short(id: str) -> str:
    return id[:8]


@pytest.mark.parametrize(("graph", "line"), [(dot, DOT_LINE), (mermaid, MERMAID_LINE)])
def test_graphs_are_valid_whatever_titles_say(graph: object, line: re.Pattern[str]) -> None:
    """FUT-02, FMT-04: every line is one statement of the language, with no control character."""
    text = dot(hostile(), short) if graph is dot else mermaid(hostile(), short)
    lines = text.splitlines()
    assert all(line.fullmatch(own) for own in lines), [o for o in lines if not line.fullmatch(o)]
    assert len(lines) == (3 if graph is dot else 1) + 2 * len(HOSTILE) - 1
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", text)


def test_a_tree_has_each_session_once() -> None:
    """FUT-02: a session that comes from two is told of where it was met first; a chain of any
    length is one."""
    ids = [f"{at:08}" for at in range(3_000)]
    nodes = tuple(Node(id=id, name=id) for id in ids)
    pairs = [*pairwise(ids), (ids[0], ids[2])]
    edges = tuple(
        Edge(older=a, newer=b, kind="resumes", recorded=True, confidence=1.0, evidence=())
        for a, b in pairs
    )
    lines = list(tree(Lineage(nodes=nodes, edges=edges)))
    assert len(lines) == 3_001 and sum(line.again for line in lines) == 1
    assert [line.node.id for line in lines if not line.again] == ids
    assert all("\x1b" not in line for line in lineage_lines(hostile(), short))


def test_a_child_knows_whether_it_is_the_last() -> None:
    """FUT-02: a tree draws ├ before a sibling, and └ at the end."""
    nodes = tuple(Node(id=id, name=id) for id in "abcd")
    edges = tuple(
        Edge(older=a, newer=b, kind="forks", recorded=True, confidence=1.0, evidence=())
        for a, b in ("ab", "ac", "bd")
    )
    lines = list(tree(Lineage(nodes=nodes, edges=edges)))
    assert [(line.node.id, line.last) for line in lines] == [
        ("a", True),
        ("b", False),
        ("d", True),
        ("c", True),
    ]


@pytest.fixture
def places(examples: Path, tmp_path: Path) -> list[str]:
    Archive(tmp_path / "archive").root.mkdir()
    return ["--root", str(examples), "--archive", str(tmp_path / "archive")]


@pytest.mark.parametrize("columns", [80, 200])
def test_families_as_a_tree(run: Run, places: list[str], columns: int) -> None:
    """FUT-02: the older above the newer, how it is tied and why, within the terminal's width."""
    ran = run("lineage", *places, columns=columns)
    assert ran.status == 0 and ran.err == "1 family.\n"
    lines = ran.out.splitlines()
    assert all(width(line) <= columns for line in lines)
    assert lines[0] == "orchard: 2 sessions"
    assert "3a4d64e0" in lines[1] and "resumed by" in lines[2] and "7c8fc3ae" in lines[2]
    assert lines[3].strip().startswith("recorded: shares 4 prompts")


def test_one_session(run: Run, places: list[str]) -> None:
    """FUT-02: named as anywhere; one that nothing ties says so; one that is not there is an
    error."""
    ran = run("lineage", "7c8fc3ae", *places)
    assert ran.status == 0 and "→ resumed by" in ran.out
    other = run("lineage", "Reed", *places)
    assert other.status == 0 and "No links to other sessions found" in other.err
    missing = run("lineage", "no such session", *places)
    assert (missing.status, missing.out) == (2, "")
    two = run("lineage", "--dot", "--mermaid", *places)
    assert two.status == 2 and "Choose one of" in two.err


def test_json_and_the_library_say_the_same(run: Run, places: list[str]) -> None:
    """FUT-02: edges with kind, direction, grade, confidence and evidence; MCP tells the same."""
    said = json.loads(run("lineage", "7c8fc3ae", "--json", *places).out)
    archive = Archive(Path(places[3]), (Path(places[1]),))
    lineage = archive.lineage("7c8fc3ae")
    assert said["version"] == 1 and said["session_id"].startswith("7c8fc3ae")
    assert [n["id"] for n in said["lineage"]["nodes"]] == [n.id for n in lineage.nodes]
    (edge,) = said["lineage"]["edges"]
    assert (edge["kind"], edge["recorded"], edge["confidence"]) == ("resumes", True, 1.0)
    assert edge["evidence"] == [{"what": "shared-messages", "count": 4, "older": 4, "newer": 4}]
    every = json.loads(run("lineage", "--json", *places).out)
    assert every["total"] == 1 and every["families"] == [said["lineage"]]
    told = Tools(archive).lineage()
    assert "resumed by: 2026-03-02 7c8fc3ae" in told and "shares 4 prompts" in told
    assert "resumed by: 2026-03-02 7c8fc3ae" in Tools(archive).lineage("7c8fc3ae")


def test_only_what_is_recorded(run: Run, places: list[str], tmp_path: Path) -> None:
    """FUT-02: `--recorded` leaves out what was inferred, in every form."""
    lines = [
        {
            "type": kind,
            "uuid": f"{name}-{kind}-000000000000",
            "sessionId": name * 4,
            "cwd": "/home/dev/garden",
            "gitBranch": "feat/beds",
            "timestamp": f"2026-03-01T1{at}:0{at}:00.000Z",
            "message": {"role": kind, "content": [{"type": "text", "text": f"{name} words"}]},
        }
        for at, name in enumerate(("aaaa", "bbbb"))
        for kind in ("user", "assistant")
    ]
    place = tmp_path / "place"
    place.mkdir()
    for name in ("aaaa", "bbbb"):
        own = [json.dumps(line) for line in lines if line["sessionId"] == name * 4]
        (place / f"{name * 4}.jsonl").write_text("\n".join(own) + "\n")
    both = ["--root", str(place), "--archive", places[3]]
    assert "continued by" in run("lineage", *both).out
    assert "No links between sessions found" in run("lineage", "--recorded", *both).err
    graph = run("lineage", "--recorded", "--dot", *both).out
    assert "->" not in graph and graph.startswith("digraph")
    assert json.loads(run("lineage", "--recorded", "--json", *both).out)["families"] == []
