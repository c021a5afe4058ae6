"""``engagement.md`` as text: what it says, and single edits that leave every other byte alone.

A person's keys, comments, order and body survive: an edit replaces one value or adds one item,
and is checked by reading the result again.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import Any

import msgspec
import yaml

from minutebook.derive.plain import clean
from minutebook.derive.times import instant
from minutebook.derive.wording import size
from minutebook.errors import Conflict
from minutebook.model.prospective import (
    EngagementFile,
    Obligation,
    Passed,
    Place,
    Violation,
)
from minutebook.record.frontmatter import unfit

MOST_BYTES = 1_000_000
"""A larger file is read no further, and never written."""
_MOST_ITEMS = 500
_MOST_BODY = 20_000
_LINE = 300

_FRONT = re.compile(
    r"(\ufeff?---[ \t]*\r?\n)(.*?)(^---[ \t]*(?:\r?\n|\Z))", re.DOTALL | re.MULTILINE
)
_HEADING = re.compile(r"^#[ \t]+([^ \t\n].*)", re.MULTILINE)
_CONFLICT = re.compile(r"^(<<<<<<< |>>>>>>> )", re.MULTILINE)
_PLAIN = re.compile(r"[A-Za-z0-9][\w./+@:-]*(?: [\w./+@:-]+)*")
_WORD = re.compile(r"(?i)true|false|yes|no|on|off|null|[\d.+-]+(e\d+)?|y|n")
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_NOTHING = ("", "~", "null")


class Unwritable(Conflict):
    """A file that cannot be changed without losing something."""


def digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


# -- reading


def read_engagement(
    content: bytes, *, project: str, path: str, name: str, place: Place, total: int | None = None
) -> EngagementFile:
    """What a file says; whatever is wrong with it is named, and the rest is read.

    `content` may be only the beginning of a file of `total` bytes.
    """
    problems: list[str] = []
    if total is not None and total > len(content):
        problems.append(f"it is {size(total)} long; only its beginning was read")
    text = content.decode("utf-8", "replace")
    if "\ufffd" in text and not problems:
        problems.append("it is not UTF-8 throughout")
    front, body, wrong = _fields(text)
    problems += [wrong] if wrong else []
    if _CONFLICT.search(body):
        problems.append("its text has merge conflict markers")
    reader = _Reader(front, problems)
    id = reader.word("engagement_id")
    if not id and front:
        problems.append("it has no engagement_id: its file's name is used")
    id = id or name
    heading = _HEADING.search(body)
    # Without the closing hashes; a pattern would look for their end once for each of them.
    topic = clean(heading[1].rstrip("\r\t #")).strip()[:_LINE] if heading else ""
    obligations = tuple(reader.items("obligations", _obligation))
    for number, item in enumerate(obligations, 1):
        if item.due and instant(item.due) is None:
            problems.append(
                f"obligation {number} has a due date that does not exist: '{item.due[:40]}'"
            )
    return EngagementFile(
        id=id,
        topic=topic or " ".join(id.replace("-", " ").replace("_", " ").split()),
        method=reader.word("method"),
        phase=reader.word("phase"),
        started=reader.moment("started"),
        updated=reader.moment("updated"),
        phases_completed=tuple(reader.items("phases_completed", _passed)),
        obligations=tuple(
            msgspec.structs.replace(item, due=_time(item.due)) for item in obligations
        ),
        actors=tuple(reader.items("actors", _text)),
        domains=tuple(reader.items("domains", _text)),
        parent_engagement=reader.word("parent_engagement") or None,
        sessions=tuple(reader.items("sessions", _session)),
        violations=tuple(reader.items("violations", _violation)),
        project=project,
        path=path,
        place=place,
        problems=tuple(problems),
        digest=digest_of(content),
        body=body[:_MOST_BODY],
    )


def _fields(text: str) -> tuple[dict[str, Any], str, str | None]:
    """The frontmatter's fields, all scalars as words; the body; and what is wrong."""
    match = _FRONT.match(text)
    if match is None:
        begun = text.lstrip("\ufeff").startswith("---")
        wrong = "its frontmatter has no end" if begun else "it has no frontmatter"
        return {}, "" if begun else text, wrong
    body = text[match.end() :]
    if _CONFLICT.search(match[2]):
        return {}, body, "its frontmatter has merge conflict markers"
    if (why := unfit(match[2])) is not None:
        return {}, body, f"its frontmatter {why}"
    try:
        found = yaml.load(match[2], Loader=yaml.CBaseLoader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        where = getattr(error, "problem_mark", None)
        line = f" (line {where.line + 2})" if where is not None else ""
        return {}, body, f"its frontmatter is not YAML{line}"
    if not isinstance(found, dict):
        return {}, body, "its frontmatter has no fields"
    return {str(key): value for key, value in found.items()}, body, None


class _Reader:
    """Takes fields, each by itself; one of the wrong type costs only itself."""

    def __init__(self, fields: dict[str, Any], problems: list[str]) -> None:
        self._fields, self._problems = fields, problems

    def word(self, name: str) -> str:
        value = self._fields.get(name)
        if value is None or value in _NOTHING:
            return ""
        if not isinstance(value, str):
            self._problems.append(f"{name} is not a word")
            return ""
        return " ".join(clean(value).split())[:_LINE]

    def moment(self, name: str) -> str | None:
        text = self.word(name)
        if text and instant(text) is None:
            self._problems.append(f"{name} is not a time: '{text[:40]}'")
            return None
        return text or None

    def items(self, name: str, read: Callable[[Any], Any]) -> list[Any]:
        value = self._fields.get(name)
        if value is None or (isinstance(value, str) and value in _NOTHING):
            return []
        if isinstance(value, str):
            value = [value]  # one, where a list was meant
        if not isinstance(value, list):
            self._problems.append(f"{name} is not a list")
            return []
        found = [read(item) for item in value[:_MOST_ITEMS]]
        odd = sum(item is None for item in found) + max(0, len(value) - _MOST_ITEMS)
        if odd:
            self._problems.append(f"{odd} of the {name} cannot be understood")
        return [item for item in found if item is not None]


def _text(value: Any) -> str | None:
    return " ".join(clean(value).split())[:_LINE] if isinstance(value, str) and value else None


def _session(value: Any) -> str | None:
    return _text(value.get("id") or value.get("session_id") if isinstance(value, dict) else value)


def _field(item: dict[str, Any], *names: str) -> str | None:
    return next((text for name in names if (text := _text(item.get(name)))), None)


def _time(text: str | None) -> str | None:
    return text if instant(text) is not None else None


def _passed(item: Any) -> Passed | None:
    if isinstance(item, dict):
        phase = _field(item, "phase")
        return Passed(phase, _time(_field(item, "at"))) if phase else None
    phase = _text(item)
    return Passed(phase) if phase else None


def _violation(item: Any) -> Violation | None:
    if not isinstance(item, dict):
        return None
    before, after = _field(item, "from"), _field(item, "to")
    return Violation(before or "", after, _time(_field(item, "at"))) if after else None


def _obligation(item: Any) -> Obligation | None:
    if isinstance(item, dict):
        what = _field(item, "what", "obligation", "text")
        if not what:
            return None
        done = _field(item, "done")
        done = None if done in (None, "false", "no", *_NOTHING) else done
        return Obligation(what, _field(item, "due"), done)
    what = _text(item)
    return Obligation(what) if what and not _WORD.fullmatch(what) else None  # a number owes nothing


# -- writing


def new_text(fields: dict[str, Any], topic: str, note: str) -> str:
    """A new file."""
    lines: list[str] = []
    for name, value in fields.items():
        if isinstance(value, list) and value:
            lines += [f"{name}:", *(f"  - {_flow(item)}" for item in value)]
        else:
            lines.append(f"{name}: {_flow(value)}")
    body = f"\n{note.strip()}\n" if note.strip() else ""
    return "---\n" + "\n".join(lines) + f"\n---\n\n# {topic}\n{body}"


class Draft:
    """A file on its way to other bytes; edits add up, and `content` is checked."""

    def __init__(self, content: bytes, path: str) -> None:
        self._path = path
        try:
            self._text = content.decode("utf-8")
        except UnicodeDecodeError:
            raise Unwritable(f"{path} is not UTF-8: fix it first.") from None
        self._begun = self._text
        self._expected: dict[str, Any] = self._read()
        self._note = ""

    def _read(self) -> dict[str, Any]:
        fields, _, wrong = _fields(self._text)
        if wrong:
            raise Unwritable(f"{self._path} was left alone: {wrong}. Fix it first.")
        return fields

    @property
    def content(self) -> bytes:
        """The new bytes; never without everything that stood there."""
        found, body, wrong = _fields(self._text)
        old_body = _fields(self._begun)[1]
        if wrong or found != self._expected or body != old_body + self._note:
            raise self._unsafe()
        return self._text.encode()

    def _unsafe(self) -> Unwritable:
        return Unwritable(
            f"{self._path} was left alone: it is written in a way that cannot be changed safely. "
            "Edit it by hand."
        )

    def set(self, key: str, value: str) -> None:
        """Give a key one word or sentence."""
        self._expected[key] = value
        node = self._node(key)
        if node is None:
            self._add_key(f"{key}: {_flow(value)}")
        elif isinstance(node, yaml.ScalarNode):
            start, end = self._span(node)
            lead = " " if start == end else ""
            self._put(start, end, f"{lead}{_flow(value)}")
        else:
            raise Unwritable(f"{self._path} was left alone: {key} is not a word. Fix it first.")

    def append(self, key: str, item: dict[str, str] | str) -> None:
        """One more item of a list."""
        known = self._expected.get(key)
        if known is None or (isinstance(known, str) and known in _NOTHING):
            known = []
        if not isinstance(known, list):
            raise Unwritable(f"{self._path} was left alone: {key} is not a list. Fix it first.")
        self._expected[key] = [*known, item]
        node = self._node(key)
        line = f"- {_flow(item)}"
        if node is None:
            self._add_key(f"{key}:{self._newline}  {line}")
        elif not known:
            start, end = self._span(node)
            self._put(start, end, f"{self._newline}  {line}")
            self._trim(start)
        elif node.flow_style:
            end = self._span(node)[1] - 1
            self._put(end, end, f", {_flow(item)}")
        else:
            first, last = node.value[0], self._last(node)
            indent = " " * (first.start_mark.column - 2)
            end = self._line_end(last)
            self._put(end, end, f"{self._newline}{indent}{line}")

    def set_in(self, key: str, at: int, name: str, value: str, *, of: int) -> None:
        """Give an item of a list a field; a bare word becomes the item's ``what``. All `of` the
        items must be understood, else the place of one is not known."""
        known = self._expected.get(key)
        items = list(known) if isinstance(known, list) else []
        if len(items) != of:
            raise Unwritable(f"{self._path} was left alone: {key} is not a list. Fix it first.")
        old = items[at]
        items[at] = {**(old if isinstance(old, dict) else {"what": old}), name: value}
        self._expected[key] = items
        sequence = self._node(key)
        node = sequence.value[at] if isinstance(sequence, yaml.SequenceNode) else sequence
        if not isinstance(node, yaml.MappingNode):
            start, end = self._span(node)
            self._put(start, end, _flow(items[at]))
        elif (known := next((v for k, v in node.value if k.value == name), None)) is not None:
            start, end = self._span(known)
            self._put(start, end, f"{' ' if start == end else ''}{_flow(value)}")
        elif node.flow_style:
            end = self._span(node)[1] - 1
            self._put(end, end, f", {name}: {_flow(value)}")
        else:
            indent = " " * node.start_mark.column
            end = self._line_end(self._last(node))
            self._put(end, end, f"{self._newline}{indent}{name}: {_flow(value)}")

    def note(self, line: str) -> None:
        """A line at the end of the text."""
        newline = self._newline
        before = "" if self._text.endswith("\n") else newline
        lines = self._text.rstrip().rsplit("\n", 1)[-1]
        gap = "" if lines.startswith(("- ", "  ")) else newline
        added = before + gap + line.replace("\n", f"{newline}  ") + newline
        self._note += added
        self._text += added

    # -- places

    @property
    def _newline(self) -> str:
        return "\r\n" if "---\r\n" in self._text[:8] else "\n"

    def _front(self) -> tuple[int, str]:
        match = _FRONT.match(self._text)
        assert match is not None
        return match.end(1), match[2]

    def _node(self, key: str) -> Any:
        _, front = self._front()
        try:
            root = yaml.compose(front, Loader=yaml.SafeLoader)
        except (yaml.YAMLError, ValueError, RecursionError):
            raise self._unsafe() from None
        if not isinstance(root, yaml.MappingNode):
            return None
        return next((value for name, value in root.value if name.value == key), None)

    def _span(self, node: Any) -> tuple[int, int]:
        begin, _ = self._front()
        return begin + node.start_mark.index, begin + node.end_mark.index

    def _last(self, node: Any) -> int:
        """Where the last word of a block ends; its own end may lie after comments."""
        begin, _ = self._front()
        while isinstance(node, yaml.CollectionNode) and node.value and not node.flow_style:
            child = node.value[-1]
            node = child[1] if isinstance(child, tuple) else child
        return begin + int(node.end_mark.index)

    def _line_end(self, at: int) -> int:
        """The end of a line, without its line break."""
        if at and self._text[at - 1] == "\n":
            at -= 1  # a block scalar ends with its line
        end = self._text.find("\n", at)
        end = len(self._text) if end < 0 else end
        return end - 1 if self._text[end - 1] == "\r" else end

    def _add_key(self, text: str) -> None:
        begin, front = self._front()
        self._put(begin + len(front), begin + len(front), text + self._newline)

    def _put(self, start: int, end: int, text: str) -> None:
        self._text = self._text[:start] + text + self._text[end:]

    def _trim(self, start: int) -> None:
        """No blank before a line break of ours."""
        kept = self._text[:start].rstrip(" ")
        self._text = kept + self._text[start:]


def _flow(value: Any) -> str:
    """A value on one line of YAML, as plain as it can be."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {_flow(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if value is None:
        return "null"
    text = str(value)
    if (
        _PLAIN.fullmatch(text)
        and not _WORD.fullmatch(text)
        and not text.endswith(":")
        and ": " not in text
    ):
        return text
    quoted = msgspec.json.encode(text).decode()
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)
