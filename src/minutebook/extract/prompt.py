"""The prompt: instructions in ``prompt.md``, the schema from our own types, the document."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from minutebook.extract.material import Material
from minutebook.extract.reply import Reply


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
    """The user message: a few facts, then the skeleton, delimited as data."""
    info = material.info
    facts = {
        "project": material.project,
        "branch": info.branch,
        "title": info.title,
        "started": info.started,
        "ended": info.ended,
        "rounds": len(material.rounds),
    }
    known = "".join(f"{name}: {_one_line(value)}\n" for name, value in facts.items() if value)
    text = _inside(material.skeleton)
    return f"<facts>\n{known}</facts>\n\n<transcript>\n{text}</transcript>\n\n{_TASK}"


_TASK = "Give the engagements of this session."


def _one_line(value: object) -> str:
    return _inside(" ".join(str(value).split())[:500])


def _inside(text: str) -> str:
    """Text that can be sent, and cannot close its delimiter early."""
    plain = text.encode("utf-8", "replace").decode()
    return plain.replace("</transcript", "<\\/transcript").replace("</facts", "<\\/facts")
