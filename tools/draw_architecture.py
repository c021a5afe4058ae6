"""Draw docs/architecture.md from the code: floors from imports, words from docstrings.

    python tools/draw_architecture.py [--check]

What stands between ``<!-- drawn -->`` and ``<!-- /drawn -->`` is replaced; the rest is written
by people. With --check nothing is written, and the exit status says whether it is current.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "minutebook"
PAGE = ROOT / "docs" / "architecture.md"
OPEN, CLOSE = "<!-- drawn -->", "<!-- /drawn -->"


def modules() -> dict[str, Path]:
    """Dotted name → file, of every module."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(("minutebook", *parts)).removesuffix(".__init__")] = path
    return found


def room_of(module: str) -> str:
    """``minutebook.cli.show`` → ``cli``; the package itself is the façade."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ""


def imports(path: Path) -> list[str]:
    """Modules of ours that a file imports, at any depth of its code."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            # `from minutebook.cli import terminal` imports minutebook.cli.terminal
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return [name for name in found if name.split(".")[0] == "minutebook"]


def arrows() -> dict[str, Counter[str]]:
    """Which room imports which, and how often."""
    found: dict[str, Counter[str]] = {}
    for module, path in modules().items():
        room = room_of(module)
        if room in ("", "__main__"):
            continue
        own = found.setdefault(room, Counter())
        own.update(other for name in imports(path) if (other := room_of(name)) != room and other)
    return found


def floors(found: dict[str, Counter[str]]) -> list[list[str]]:
    """Layers by height: each is above everything it imports."""
    height: dict[str, int] = {}

    def measure(room: str, above: tuple[str, ...] = ()) -> int:
        if room in above:
            raise SystemExit(f"imports go round in circles: {' → '.join((*above, room))}")
        if room not in height:
            below = [measure(other, (*above, room)) for other in found.get(room, ())]
            height[room] = 1 + max(below, default=0)
        return height[room]

    for room in found:
        measure(room)
    levels = sorted(set(height.values()), reverse=True)
    return [sorted(room for room, level in height.items() if level == wanted) for wanted in levels]


def said(path: Path) -> str:
    """The first line of a module's docstring."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return text.split("\n")[0].replace("|", "\\|")


def drawn() -> str:
    found = arrows()
    lines = ["## Layers", "", "Imports only point down.", "", "```"]
    lines += ["   ".join(rooms) for rooms in floors(found)]
    lines += ["```", "", "| room | what it is | imports |", "|---|---|---|"]
    every = modules()
    for rooms in floors(found):
        for room in rooms:
            below = ", ".join(f"`{other}`" for other in sorted(found[room]))
            words = said(every[f"minutebook.{room}"])
            lines.append(f"| `{room}` | {words} | {below} |")
    lines += ["", "## Modules", ""]
    for rooms in floors(found):
        for room in rooms:
            inside = [name for name in every if name.startswith(f"minutebook.{room}.")]
            if not inside:
                continue
            lines += [f"### {room}", "", "| module | what it is |", "|---|---|"]
            for name in inside:
                short = name.removeprefix(f"minutebook.{room}.")
                lines.append(f"| `{short}` | {said(every[name])} |")
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def page(text: str) -> str:
    """The page with the drawing of today."""
    before, rest = text.split(OPEN, 1)
    _, after = rest.split(CLOSE, 1)
    return f"{before}{OPEN}\n\n{drawn()}\n{CLOSE}{after}"


def main() -> int:
    text = PAGE.read_text(encoding="utf-8")
    now = page(text)
    if "--check" in sys.argv:
        return int(now != text)
    PAGE.write_text(now, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
