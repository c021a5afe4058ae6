"""The prompt: instructions in ``prompt.md``, the schema from our own types, the document."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from minutebook.extract.material import Material, hidden
from minutebook.extract.reply import Reply
from minutebook.extract.work import work_lines


@cache
def instructions() -> str:
    return files("minutebook.extract").joinpath("prompt.md").read_text(encoding="utf-8")


@cache
def version() -> str:
    """Changes with every change of the prompt or the schema."""
    seen = instructions() + msgspec.json.encode(schema()).decode()
    return hashlib.sha256(seen.encode()).hexdigest()[:12]


@cache
def schema() -> dict[str, Any]:
    """The JSON schema of a reply, without references: not every server follows them."""
    raw = msgspec.json.schema(Reply)
    definitions = raw.pop("$defs", {})
    resolved = _resolved(raw, definitions)
    assert isinstance(resolved, dict)
    fields = resolved["properties"]
    course = {name: value for name, value in fields.pop("course").items() if name != "default"}
    resolved["properties"] = {"course": course, **fields}  # models answer in this order
    resolved["required"] = list(resolved["properties"])
    return resolved


def _resolved(node: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_resolved(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _resolved(definitions[node["$ref"].rsplit("/", 1)[-1]], definitions)
    return {key: _resolved(value, definitions) for key, value in node.items() if key != "title"}


def document(material: Material) -> str:
    """The user message: facts, what was done in each round, the skeleton; delimited as data."""
    info = material.info
    pulls = ", ".join(pull.url for pull in info.pull_requests[:_MOST_PULLS])
    facts = {
        "project": material.project,
        "branch": info.branch,
        "title": info.title,
        "started": info.started,
        "ended": info.ended,
        "pull requests": pulls,
        "rounds": len(material.rounds),
    }
    known = "".join(f"{name}: {_one_line(value)}\n" for name, value in facts.items() if value)
    work, text = inside(work_lines(material.rounds)), inside(material.skeleton)
    return (
        f"<facts>\n{known}</facts>\n\n<work>\n{work}</work>\n\n"
        f"<transcript>\n{text}</transcript>\n\n{_TASK}"
    )


def sent_chars(material: Material) -> int:
    """How much of a session is sent: what people are told, before and in a dry run."""
    return len(document(material))


_TASK = "Give the engagements of this session."
_MOST_PULLS = 10
_CLOSING = re.compile(r"</(?=transcript|facts|work|messages|answer)", re.IGNORECASE)


def _one_line(value: object) -> str:
    return inside(" ".join(hidden(str(value)).split())[:500])


def inside(text: str) -> str:
    """Text that can be sent, and cannot close its delimiter early."""
    return _CLOSING.sub(r"<\\/", text.encode("utf-8", "replace").decode())
