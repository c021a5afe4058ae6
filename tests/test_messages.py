"""Messages fit the front end they are shown in: options are words of the command line only."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from mcp import Client
from starlette.routing import Route

from minutebook.cli.remedies import REMEDIES
from minutebook.mcp.remedies import REMEDIES as FOR_AGENTS
from minutebook.record.layout import Layout
from minutebook.web.app import Viewer
from tests.agents.conftest import taken
from tests.agents.test_mcp import asked
from tests.conftest import PROJECT
from tests.web.conftest import Served, start

SOURCE = PROJECT / "src" / "minutebook"
_OPTION = re.compile(r"(?:^|[\s`'\"(\[])--[a-z]")
_QUOTED = re.compile(r"<(untrusted-\w+)>.*?</\1>", re.DOTALL)
pytestmark = pytest.mark.xdist_group("messages")

ALLOWED = {
    "archive/repositories.py": "arguments of git",
    "archive/upgrade.py": "a command for the person who upgraded, shown by verbs that write",
    "derive/activity.py": "a pattern for commands of gh",
    "examples/rollouts.py": "words of example sessions",
    "examples/scenes.py": "words of an example session",
    "examples/weeks.py": "words of example sessions",
    "extract/claude_cli.py": "arguments of claude",
    "extras.py": "commands that install an extra, and the verb that needs it",
    "record/engagements_index.py": "a command for the person who reads the Markdown page",
    "sources/claude_code/__init__.py": "the command that resumes a session",
    "sources/copilot/__init__.py": "the command that resumes a session",
    "sources/cursor/__init__.py": "the command that resumes a session",
    "sources/gemini/__init__.py": "the command that resumes a session",
    "sources/pi/__init__.py": "the command that resumes a session",
    "sources/qwen/__init__.py": "the command that resumes a session",
    "team/managing.py": "a command of PostgreSQL",
    "team/serving.py": "arguments of initdb and postgres",
    "verbs/export.py": "the command that archives the rounds an export lacks",
    "verbs/install_service.py": "arguments of systemctl, shown to be run",
    "verbs/round_text.py": "a context names the command that shows more rounds",
    "verbs/surgery.py": "the command that archives the rounds an export lacks",
}
"""Modules below the front ends that may hold an option, and why."""


def _strings(tree: ast.Module) -> Iterator[str]:
    """Texts of a module that are not docstrings."""
    told = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield node.value


def _modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(SOURCE.rglob("*.py")):
        yield str(path.relative_to(SOURCE)), ast.parse(path.read_text(encoding="utf-8"))


def test_no_module_below_the_command_line_speaks_of_options() -> None:
    """OPS: lower floors state facts; what may hold an option is listed, with its reason."""
    found = {
        name
        for name, tree in _modules()
        if not name.startswith("cli/") and any(map(_OPTION.search, _strings(tree)))
    }
    assert found == set(ALLOWED)


def test_no_page_of_the_viewer_speaks_of_options() -> None:
    """OPS: who reads a page clicks; a page names a verb at most."""
    pages = list((SOURCE / "web" / "templates").glob("*.html"))
    assert pages
    for page in pages:
        ours = re.sub(r"<code>|<[^>]*>", " ", page.read_text(encoding="utf-8"))
        assert not _OPTION.search(ours), page.name


def _remedies() -> Iterator[tuple[str, set[str]]]:
    """Each remedy that an error names, with what it tells."""
    for _, tree in _modules():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            named = {word.arg: word.value for word in node.keywords if word.arg}
            remedy = named.pop("remedy", None)
            if isinstance(remedy, ast.Constant) and isinstance(remedy.value, str):
                yield remedy.value, set(named)


def test_the_command_line_words_every_remedy() -> None:
    """OPS: each has its sentence, whose fields the error fills; none is left over."""
    named = dict(_remedies())
    assert set(named) == set(REMEDIES)
    for remedy, told in named.items():
        fields = {field for _, field, _, _ in string.Formatter().parse(REMEDIES[remedy]) if field}
        assert fields == told, remedy


def test_agents_get_remedies_they_can_apply() -> None:
    """AGT: parameters of tools, never options."""
    assert set(FOR_AGENTS) <= set(REMEDIES)
    assert not any(map(_OPTION.search, FOR_AGENTS.values()))


BAD = ("", " ", "nonsense-zzz", "\x00", "../../etc", "Reed#99", "Reed#x", "#", '"', "-5", "9" * 40)
_NUMBERS = (-1, 0, 10**9)


def _values(schema: dict[str, Any]) -> list[Any]:
    kinds = {schema.get("type"), *(part.get("type") for part in schema.get("anyOf", ()))}
    if "integer" in kinds:
        return list(_NUMBERS)
    if "boolean" in kinds:
        return [True]
    if "array" in kinds:
        return [["nonsense-zzz"]]
    return list(BAD)


def _good(name: str, folder: Path) -> Any:
    """What makes a call get as far as the value that is bad."""
    return {
        "folder": str(folder),
        "topic": "Passkeys",
        "method": "build",
        "step": "implement",
        "address": "Reed#1",
        "session": "Reed",
        "query": "passkey",
        "by": "day",
    }.get(name, "passkey")


def test_no_answer_to_an_agent_speaks_of_options(
    examples: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """AGT: every tool, every parameter, values of every bad kind: our words hold no option."""
    folder = tmp_path_factory.mktemp("project")
    archive = taken(examples, tmp_path_factory.mktemp("agents")).root
    answers: list[tuple[str, dict[str, Any], str]] = []

    async def ask(client: Client) -> None:
        for tool in (await client.list_tools()).tools:
            properties = tool.input_schema.get("properties", {})
            needed = {name: _good(name, folder) for name in tool.input_schema.get("required", ())}
            tries = [
                {**needed, name: bad} for name in properties for bad in _values(properties[name])
            ]
            for arguments in (needed, *tries):
                done = await client.call_tool(tool.name, arguments)
                text = "\n".join(getattr(part, "text", "") for part in done.content)
                answers.append((tool.name, arguments, text))
            answers.append((tool.name, {}, str(tool.model_dump())))

    asked(examples, archive, ask)
    assert len(answers) > 300
    for tool, arguments, text in answers:
        ours = _QUOTED.sub("", text)
        assert not _OPTION.search(ours), (tool, arguments, ours)


_PARAMETERS = (
    *("q", "in", "side", "mode", "sort", "page", "method", "phase", "since", "until", "date"),
    *("project", "agent", "model", "branch", "tools", "command", "error", "budget", "group"),
    *("view", "start", "rounds", "session", "by", "file", "path", "thread", "instructions", "diff"),
)


def _paths(archive: Path) -> list[str]:
    """Every address of the viewer, of a session that is there and of none."""
    found: list[str] = []
    routes = [route for route in Viewer(Layout(archive), ()).routes() if isinstance(route, Route)]
    for name in ("eb82c016", "nonsense-zzz"):
        fill = {"id": name, "round": "99", "block": "99", "part": "99"}
        filled = partial(_filled, fill)
        found += [re.sub(r"{(\w+)(:\w+)?}", filled, route.path) for route in routes]
    found.remove("/events")  # does not end
    found.remove("/events")
    return list(dict.fromkeys(found))


def _filled(fill: dict[str, str], match: re.Match[str]) -> str:
    return fill.get(match[1], "none")


def _ours(body: str) -> str:
    """A page without its tags."""
    return re.sub(r"<(style|script).*?</\1>|<[^>]*>", " ", body, flags=re.DOTALL)


def test_no_refusal_of_the_viewer_speaks_of_options(served: Served) -> None:
    """VIEW: every address, with every parameter bad, read and written to."""
    refused = 0
    for path in _paths(served.archive):
        asked_for = [path, *(f"{path}?{urlencode({name: bad})}" for name, bad in _every_bad())]
        for address in asked_for:
            for method in ("GET", "POST") if address == path else ("GET",):
                status, _, body = served.get(address, method=method)
                assert status != 500, address
                if status >= 400:
                    refused += 1
                    assert not _OPTION.search(_ours(body)), (method, address, _ours(body))
    assert refused > 200


def _every_bad() -> Iterator[tuple[str, str]]:
    for number, name in enumerate(_PARAMETERS):
        yield name, BAD[number % len(BAD)]


@pytest.fixture(scope="module")
def served(examples: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A viewer that changes nothing."""
    folder = tmp_path_factory.mktemp("messages")
    first = start(examples, folder / "archive")
    first.settle()
    first.stop()
    only = start(examples, folder / "archive", "--read-only")
    yield only
    only.stop()
