"""Architecture: imports only point down (docs/architecture.md)."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import minutebook
from minutebook.sources.registry import SOURCES

SOURCE = Path(minutebook.__file__).parent

# Each room may import the rooms below it, and itself; rooms on one line never each other.
FLOORS = (
    ("cli",),
    ("web", "mcp"),
    ("api", "corpus"),
    ("verbs", "team"),
    ("html",),
    ("archive",),
    ("examples",),
    ("sources", "record", "extract", "index"),
    ("config",),
    ("derive",),
    ("model", "extras"),
    ("errors",),
)
HEIGHT = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
CONNECTS = frozenset(
    {
        "minutebook.record.database",
        "minutebook.index.database",
        "minutebook.sources.databases",  # other agents' own, only to read them
    }
)  # modules that may open a database


def room_of(module: str) -> str:
    """``minutebook.cli.show`` → ``cli``; the package itself is the façade, above all rooms."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ""


def imports(tree: ast.AST) -> list[str]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            module = node.module or ""
            # `from minutebook.cli import terminal` imports minutebook.cli.terminal
            found += [f"{module}.{alias.name}" for alias in node.names]
    return [name for name in found if name.split(".")[0] == "minutebook"]


def violations(module: str, code: str) -> list[str]:
    """What a module does that its room does not allow."""
    tree = ast.parse(code)
    room = room_of(module)
    wrong = []
    for imported in imports(tree):
        other = room_of(imported)
        if room in ("", "__main__", "__init__") or other == room:
            continue
        if other not in HEIGHT or HEIGHT[other] <= HEIGHT[room]:
            wrong.append(f"{module} imports {imported}")
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        if called == "print" and room != "cli":
            wrong.append(f"{module} prints")
        if called == "sqlite3.connect" and module not in CONNECTS:
            wrong.append(f"{module} opens a database")
    return wrong


def modules() -> list[tuple[str, Path]]:
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found.append((".".join(("minutebook", *parts)).removesuffix(".__init__"), path))
    return found


@pytest.mark.parametrize(("module", "path"), modules(), ids=lambda value: str(value)[-40:])
def test_imports_point_down(module: str, path: Path) -> None:
    """No arrow points up or sideways, nothing below cli prints, one place opens databases."""
    assert violations(module, path.read_text(encoding="utf-8")) == []


def test_the_drawing_is_current() -> None:
    """docs/architecture.md is drawn from the imports (`make architecture`), and is true."""
    drawing = Path(__file__).parent.parent / "tools" / "draw_architecture.py"
    done = subprocess.run([sys.executable, str(drawing), "--check"], check=False)
    assert done.returncode == 0, "run `make architecture`"


# Modules outside sources/claude_code that may name the agent, and why.
MAY_NAME = {
    "minutebook": "the façade's docstring has an example",
    "minutebook.api": "find_transcripts is called with ~/.claude in its example",
    "minutebook.corpus": "from_claude_sessions is the name seed 002 gives it",
    "minutebook.corpus.source": "likewise",
    "minutebook.cli.main": "the verb export-claude is seed 003's",
    "minutebook.cli.export_claude": "likewise",
    "minutebook.derive.prices": "a maker's models are called so",
    "minutebook.cli.export_codex": "the same verb for another agent",
    "minutebook.archive.hit": "names that verb as the way on from a deleted transcript",
    "minutebook.cli.install": "the installer of its skill and hook, reached by name",
    "minutebook.verbs.install_agents": "the installer itself",
    "minutebook.extract.choose": "the claude-cli extractor is chosen by name",
    "minutebook.extract.claude_cli": "the extractor that asks the person's own claude",
    "minutebook.extract.anthropic": "the provider's models are called so",
    "minutebook.sources.registry": "adding an agent is adding a folder and a line here",
    "minutebook.examples.script": "writes transcripts the way that agent writes them",
    "minutebook.examples.scenes": "likewise",
    "minutebook.examples.weeks": "likewise",
    "minutebook.examples.rollouts": "likewise, of the second agent",
    "minutebook.record.recover": "the only source the first release had",
    "minutebook.model.engagement": "likewise: its records do not name one",
    "minutebook.model.session": "a worktree's folder is called so",
    "minutebook.sources.base": "its docstrings have examples",
    "minutebook.cli.mcp": "prints how that agent is told of the server",
    "minutebook.cli.remedies": "offers the claude-cli extractor by its name",
    "minutebook.cli.glossary": "tells the verbs that export apart, by their names",
    "minutebook.examples": "the example sessions are of that agent",
}


def named_agents(code: str) -> set[str]:
    """Coding agents that code names: in a string of its own, whole; the first one anywhere."""
    known = {name.lower() for s in SOURCES.values() for name in (s.name, s.program, s.title)}
    nodes = ast.walk(ast.parse(code))
    texts = {n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    return {text for text in texts if text.lower() in known} | set(
        re.findall("claude", code.lower())
    )


def test_nothing_above_the_sources_names_the_agent() -> None:
    """AGT-02: what is one agent's own lives in its folder, behind the protocol."""
    own = {source.__class__.__module__ for source in SOURCES.values()}
    named = {
        module
        for module, path in modules()
        if named_agents(path.read_text(encoding="utf-8"))
        and not any(module == folder or module.startswith(f"{folder}.") for folder in own)
    }
    assert named <= set(MAY_NAME), sorted(named - set(MAY_NAME))


def test_an_agent_that_is_named_is_found() -> None:
    """The check can fail: a branch on a program's name is seen, a word of a comment is not."""
    assert named_agents('if record.source == "codex":\n    pass') == {"codex"}
    assert named_agents('"""By its command: codex."""\ncursor = 1  # like codex') == set()


@pytest.mark.parametrize(
    ("module", "code"),
    [
        ("minutebook.model.round", "from minutebook.derive import messages"),
        ("minutebook.sources.base", "from minutebook.record import roster"),
        ("minutebook.verbs.show", "import minutebook.cli.show"),
        ("minutebook.verbs.show", "print('hello')"),
        ("minutebook.verbs.show", "import sqlite3\nsqlite3.connect('x')"),
    ],
)
def test_an_arrow_turned_round_is_found(module: str, code: str) -> None:
    """The check can fail: each of these is a violation."""
    assert violations(module, code)


def test_every_room_is_on_the_plan() -> None:
    """A new folder or top-level module has to be given its floor here and in the docs."""
    rooms = {room_of(module) for module, _ in modules()} - {"", "__main__"}
    assert rooms == set(HEIGHT)


def test_modules_stay_small() -> None:
    """A file past 500 lines is asking to be two concepts (design/style.md)."""
    sizes = {module: path.read_text().count("\n") for module, path in modules()}
    assert {name: size for name, size in sizes.items() if size > 500} == {}
