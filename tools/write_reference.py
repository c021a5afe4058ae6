"""Writes docs/reference/verbs.md, docs/reference/api.md, docs/glossary.md and the man page from the
code.

    python tools/write_reference.py [--check]

`--check` writes nothing, and fails where a page is stale.
"""

from __future__ import annotations

import ast
import inspect
import os
import re
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

os.environ["COLUMNS"] = "80"
os.environ.pop("NO_COLOR", None)

import click

import minutebook
from minutebook.cli.filters import explained
from minutebook.cli.glossary import OVERLAPS, WORDS
from minutebook.cli.main import GROUPS, cli

DOCS = Path(__file__).resolve().parents[1] / "docs"


def _commands(
    command: click.Command, name: str, parent: click.Context
) -> Iterator[tuple[str, click.Command, click.Context]]:
    """A verb, and its own verbs."""
    ctx = click.Context(command, info_name=name, parent=parent, terminal_width=80)
    yield ctx.command_path, command, ctx
    if isinstance(command, click.Group):
        for inner in command.list_commands(ctx):
            found = command.get_command(ctx, inner)
            if found is not None and not found.hidden:
                yield from _commands(found, inner, ctx)


def _all() -> Iterator[tuple[str, list[tuple[str, click.Command, click.Context]]]]:
    top = click.Context(cli, info_name="minutebook", terminal_width=80)
    for want, verbs in GROUPS.items():
        found = []
        for verb in verbs:
            command = cli.get_command(top, verb)
            assert command is not None, verb
            found += list(_commands(command, verb, top))
        yield want, found


def verbs_page() -> str:
    head = "What `minutebook VERB --help` prints (`make reference` writes this page)."
    lines = ["# Verbs", "", head, ""]
    lines += [f"- {line}" for line in OVERLAPS.values()]
    shared = explained(click.Context(cli, terminal_width=80)).splitlines()[1:]
    lines += ["", "## Filters", "", "`search`, `stats`, `usage` and `budget` share these:", ""]
    lines += ["```text", *(line.rstrip() for line in shared), "```"]
    for want, commands in _all():
        lines += ["", f"## {want}"]
        for path, command, ctx in commands:
            lines += ["", f"### {path.removeprefix('minutebook ')}", "", "```text"]
            lines += [line.rstrip() for line in command.get_help(ctx).splitlines()]
            lines += ["```"]
    return "\n".join(lines) + "\n"


def glossary_page() -> str:
    rows = [f"| {word} | {meaning} |" for word, meaning in WORDS.items()]
    head = "The words that help texts, pages and files use. `minutebook help WORD` prints the same."
    return "\n".join(["# Glossary", "", head, "", "| word | meaning |", "|---|---|", *rows]) + "\n"


def api_page() -> str:
    """What `import minutebook` offers, with signatures and docstrings."""
    lines = ["# Python", "", "What `import minutebook` offers (`make reference` writes this page)."]
    for name in sorted(minutebook.__all__, key=str.lower):
        value = getattr(minutebook, name)
        if inspect.ismodule(value) or not (inspect.isclass(value) or callable(value)):
            continue
        lines += ["", f"## {name}", ""]
        if not inspect.isclass(value):
            lines += ["```python", f"{name}{_signature(value)}", "```", ""]
        lines += [_told(value)]
        if inspect.isclass(value):
            lines += ["", *(f"- `{field}`: {told}" for field, told in _fields(value))]
            for inner, member in _members(value):
                lines += ["", f"- `{inner}`: {_told(member).splitlines()[0]}"]
    return "\n".join(lines) + "\n"


def _fields(value: type) -> Iterator[tuple[str, str]]:
    """The fields of a struct, each with the text that stands below it."""
    known = getattr(value, "__struct_fields__", ())
    if not known:
        return
    told: dict[str, str] = {}
    (made,) = ast.parse(inspect.getsource(value)).body
    assert isinstance(made, ast.ClassDef)
    for field, below in pairwise([*made.body, made]):
        if not (isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)):
            continue
        text = f"`{ast.unparse(field.annotation)}`"
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            text += f". {' '.join(str(below.value.value).split())}"
        told[field.target.id] = text
    yield from ((name, told[name]) for name in known if name in told)


def _members(value: type) -> Iterator[tuple[str, object]]:
    for name, member in vars(value).items():
        if name.startswith("_") or not (inspect.isfunction(member) or isinstance(member, property)):
            continue
        if member.__doc__:
            yield (f"{name}{_signature(member)}" if inspect.isfunction(member) else name), member


def _signature(value: object) -> str:
    found = str(inspect.signature(value)) if callable(value) else ""
    # Annotations are texts here, and where a module is found is nobody's business.
    found = re.sub(r"\bminutebook(\.\w+)+\.(\w+)", r"\2", found)
    return re.sub(r"(: |-> )'([^']*)'", r"\1\2", found)


def _told(value: object) -> str:
    return (inspect.getdoc(value) or "").strip()


def man_page() -> str:
    """minutebook.1, in the macros every man knows."""

    def safe(text: str) -> str:
        text = text.replace("\\", "\\e").replace("-", "\\-")
        return f"\\&{text}" if text.startswith((".", "'")) else text

    lines = ['.TH MINUTEBOOK 1 "" "minutebook" "User Commands"', ".SH NAME"]
    lines += ["minutebook \\- the minutes of your coding agents", ".SH SYNOPSIS"]
    lines += [".B minutebook", "[\\fIVERB\\fR] [\\fIOPTIONS\\fR]", ".SH DESCRIPTION"]
    lines += [safe(line) for line in (cli.help or "").splitlines()[0:1]]
    for want, commands in _all():
        lines += [f".SH {want.upper()}"]
        for path, command, ctx in commands:
            lines += [f".SS {safe(path)}", ".nf"]
            lines += [safe(line.rstrip()) for line in command.get_help(ctx).splitlines()]
            lines += [".fi"]
    return "\n".join(lines) + "\n"


PAGES = {
    "reference/verbs.md": verbs_page,
    "reference/api.md": api_page,
    "reference/minutebook.1": man_page,
    "glossary.md": glossary_page,
}


def main() -> None:
    stale = []
    for name, make in PAGES.items():
        path, text = DOCS / name, make()
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if "--check" not in sys.argv:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    if stale and "--check" in sys.argv:
        sys.exit(f"stale: {', '.join(stale)} (run `make reference`)")


if __name__ == "__main__":
    main()
