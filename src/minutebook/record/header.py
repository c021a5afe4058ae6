"""The head of an inscription: frontmatter, title line, one-line summary (INS-07 … INS-10)."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import msgspec

from minutebook.derive.identity import Identity
from minutebook.derive.titles import plain_title
from minutebook.model.engagement import SessionRecord
from minutebook.model.session import called
from minutebook.record.facts import SessionFacts
from minutebook.record.frontmatter import unfit
from minutebook.record.notation import encode
from minutebook.record.patches import Malformed

NOTHING_SAID = "(nothing said)"

_FRONTMATTER = re.compile(
    r"---\n(.*?)\n---\n\n# ([^\n]*)\n\n([^\n]*)\n(?:<!-- placeholder ([0-9a-f]+) -->\n)?", re.DOTALL
)

_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """What the frontmatter says. Fields with a default may be missing in a document."""

    session_id: str
    agent_id: str
    role: str | None = None
    name: str | None = None
    name_source: str | None = None
    title: str | None = None
    title_source: str | None = None
    """``said`` where a person gave the title."""
    model: str | None = None
    started: str | None = None
    ended: str | None = None
    messages: int = 0
    source: str | None = None
    program: str | None = None
    """The agent that held the conversation."""
    cwd: str | None = None
    branch: str | None = None
    version: str | None = None
    engagements: list[Any] = []
    summary: str = ""
    """The line under the title; not in the frontmatter."""
    extra: dict[str, Any] = {}
    """Fields a person added to the frontmatter: kept."""
    edited: bool = False
    """Whether a person wrote the summary: then it survives every later append (INS-10)."""
    replaced: dict[str, str | None] = {}
    """What the transcript says of title, name and role, where the header has something else."""

    @property
    def recorded(self) -> Header:
        """The header without what a person, or an extractor, said."""
        return msgspec.structs.replace(self, **self.replaced, title_source=None, replaced={})


def headed(header: Header, record: SessionRecord) -> Header:
    """A header with what the session is called (UND-06): a person's title, name and role, or the
    best topic as the title. What the transcript says is kept beside it, for an export."""
    own, told = header.recorded, dict[str, str | None]()
    if record.title and record.title != plain_title(own.title or ""):
        told["title"] = record.title
    given = record.given_title is not None
    if "agent_name" in record.corrected or (given and own.name_source == "custom-title"):
        told |= {"name": record.agent_name, "name_source": record.agent_name_source}
    if "agent_role" in record.corrected:
        told["role"] = record.agent_role
    told = {name: text for name, text in told.items() if getattr(own, name) != text}
    replaced = {name: getattr(own, name) for name in told}
    source = "said" if given else None
    return msgspec.structs.replace(own, **told, title_source=source, replaced=replaced)


def header_of(
    facts: SessionFacts, identity: Identity, agent_id: str, summary: str | None, *, edited: bool
) -> Header:
    """The header of a document; without a `summary` it is the first prompt."""
    info, written = facts.info, facts.written
    return Header(
        session_id=info.id,
        agent_id=agent_id,
        role=identity.role,
        name=identity.name,
        name_source=identity.source,
        title=info.title,
        model=written.model,
        started=written.started,
        ended=written.ended,
        messages=written.messages,
        source=info.origin or facts.source,
        program=info.source,
        cwd=info.cwd,
        branch=info.branch,
        version=info.versions[0] if info.versions else None,
        summary=summary_line(summary or written.opening) or NOTHING_SAID,
        engagements=facts.engagements,
        extra=facts.extra,
        edited=edited,
    )


_FIELDS = tuple(
    name for name in Header.__struct_fields__ if name not in ("summary", "edited", "extra")
)


def write_header(header: Header) -> str:
    """The document down to the first message's separator."""
    fields = {name: getattr(header, name) for name in _FIELDS}
    for name in ("title_source", "replaced"):
        if not fields[name]:
            del fields[name]
    fields |= header.extra
    frontmatter = "".join(f"{_name(name)}: {_scalar(value)}\n" for name, value in fields.items())
    date = (header.started or "undated")[:10]
    given = header.title if header.title_source is not None else None
    name = _harmless(called(header.name, given) or display_name(header.agent_id))
    title = _one_line(f"# {name} · {date}")
    mark = "" if header.edited else f"<!-- placeholder {_digest(header.summary)} -->\n"
    return f"---\n{frontmatter}---\n\n{title}\n\n{header.summary}\n{mark}"


def read_header(text: str) -> tuple[Header, int]:
    """The header of a document, and where its body begins."""
    match = _FRONTMATTER.match(text)
    if match is None and text.startswith("---\r\n"):
        raise Malformed("it was saved with Windows line ends: save it with plain ones (LF)")
    if match is None:
        raise Malformed("there is no frontmatter with a title and a summary below it")
    fields = _fields(match[1])
    summary = match[3]
    edited = match[4] is None or match[4] != _digest(summary)
    try:
        known = {name: fields[name] for name in _FIELDS if name in fields}
        extra = {name: value for name, value in fields.items() if name not in known}
        given = {**known, "summary": summary, "edited": edited, "extra": extra}
        header = msgspec.convert(given, Header)
    except (msgspec.ValidationError, TypeError) as error:
        raise Malformed(f"the frontmatter lacks something: {error}") from None
    return header, match.end()


def _name(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_][\w-]*", name) else _scalar(name)


def _scalar(value: Any) -> str:
    """A value as JSON, which is YAML as well once unprintable characters are escapes."""
    text = msgspec.json.encode(value).decode()
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _fields(frontmatter: str) -> dict[str, Any]:
    """The frontmatter's fields; what a person wrote into it may be any YAML."""
    fields: dict[str, Any] = {}
    try:
        for line in frontmatter.split("\n"):
            name, _, value = line.partition(": ")
            fields[name] = msgspec.json.decode(value)
        return fields
    except msgspec.DecodeError:
        import yaml  # only now: importing it costs more than all else an append does

        if (why := unfit(frontmatter)) is not None:
            raise Malformed(f"the frontmatter {why}") from None
        try:
            found = yaml.load(frontmatter, Loader=yaml.CSafeLoader)
            words = yaml.load(frontmatter, Loader=yaml.CBaseLoader)
        except (yaml.YAMLError, ValueError, RecursionError):
            raise Malformed("the frontmatter is not YAML") from None
        if not isinstance(found, dict) or not isinstance(words, dict):
            raise Malformed("the frontmatter has no fields") from None
        # YAML makes a time of what looks like one, a number of a title 2026: ours are words.
        ours = {
            name: words[name]
            for name, value in found.items()
            if name in _FIELDS and name != "messages" and not isinstance(value, list | str | None)
        }
        return {str(name): value for name, value in {**found, **ours}.items()}


def display_name(agent_id: str) -> str:
    return agent_id.replace("-", " ").capitalize()


def summary_line(text: str) -> str:
    """A text as the one-line summary."""
    line = _one_line(_harmless(text))
    return line if len(line) <= 200 else line[:199].rstrip() + "…"


def _harmless(text: str) -> str:
    """Text that no viewer takes for HTML; the header is not parsed back for its words."""
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _one_line(text: str) -> str:
    return " ".join(encode(text).split())


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
