"""Our hook in a settings file: added to what a person wrote, and taken out of it again."""

from __future__ import annotations

import codecs
import json
import shlex
import tomllib
from pathlib import Path
from typing import Any, Protocol

from minutebook.errors import BadArgument, Conflict
from minutebook.verbs.strict_json import strict_json


class Settings(Protocol):
    """A settings file that can name a hook."""

    path: Path
    """Where it is: behind a link, for dotfiles often are one."""
    name: str

    def added(self, before: bytes | None) -> bytes | None:
        """The file with our hook; the same bytes where it is in it already."""
        ...

    def removed(self, current: bytes) -> bytes:
        """The file without our hook; the same bytes where it is not in it."""
        ...


class JsonHooks:
    """``hooks`` of a settings.json, in the shape that several agents share."""

    def __init__(self, path: Path, event: str, script: Path, options: dict[str, Any]) -> None:
        self.path, self.name = path.resolve(), path.name
        self._event, self._script, self._options = event, script, options

    def added(self, before: bytes | None) -> bytes | None:
        settings = _parsed(before, self.path)
        hooks = settings.setdefault("hooks", {})
        events = hooks.setdefault(self._event, []) if isinstance(hooks, dict) else None
        if not isinstance(events, list):
            raise Conflict(f"{self.path} has hooks in an unknown form. It was left untouched.")
        if any(self._is_ours(hook) for entry in events for hook in _hooks(entry)):
            return before
        command = f"sh {shlex.quote(str(self._script))}"
        events.append({"hooks": [{"type": "command", "command": command, **self._options}]})
        return _written(settings, before)

    def removed(self, current: bytes) -> bytes:
        """Settings without our hook; whatever else stands in its entry stays."""
        settings = _parsed(current, self.path)
        found = settings.get("hooks")
        hooks: dict[str, Any] = found if isinstance(found, dict) else {}
        events = hooks.get(self._event)
        if not isinstance(events, list):
            return current
        kept = []
        for entry in events:
            own = [hook for hook in _hooks(entry) if self._is_ours(hook)]
            if own and len(own) == len(_hooks(entry)):
                continue
            if own:
                entry = {**entry, "hooks": [hook for hook in _hooks(entry) if hook not in own]}
            kept.append(entry)
        if kept == events:
            return current
        hooks[self._event] = kept
        if not kept:
            del hooks[self._event]
        if not hooks:
            del settings["hooks"]
        return _written(settings, current)

    def _is_ours(self, hook: Any) -> bool:
        command = hook.get("command") if isinstance(hook, dict) else None
        if not isinstance(command, str):
            return False
        try:
            return str(self._script) in shlex.split(command)
        except ValueError:
            return False  # quotes that do not match: not of our making


class TomlNotify:
    """``notify`` of Codex's config.toml: one program, called after every turn.

    Written as a line of its own at the top, where no table has begun; no other byte changes.
    """

    def __init__(self, path: Path, script: Path) -> None:
        self.path, self.name = path.resolve(), path.name
        self._command = ["sh", str(script)]
        words = ", ".join(json.dumps(word, ensure_ascii=False) for word in self._command)
        self._line = f"notify = [{words}] # minutebook"

    def added(self, before: bytes | None) -> bytes | None:
        text, known = self._read(before or b"")
        if known.get("notify") == self._command:
            return before
        if "notify" in known:
            raise Conflict(
                f"{self.path} already sets notify, and Codex calls only one. It was left "
                "untouched. Use `minutebook watch`."
            )
        after = f"{self._line}{_line_end(text)}{text}"
        self._prove(after, known, self._command)
        return after.encode()

    def removed(self, current: bytes) -> bytes:
        text, known = self._read(current)
        if known.get("notify") != self._command:
            return current
        lines = text.splitlines(keepends=True)
        after = "".join(line for line in lines if line.rstrip("\r\n") != self._line)
        del known["notify"]
        self._prove(after, known, None)
        return after.encode()

    def _read(self, content: bytes) -> tuple[str, dict[str, Any]]:
        try:
            text = content.decode()
            return text, tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            raise BadArgument(
                f"{self.path} is not valid TOML ({error}). It was left untouched; fix it, and "
                "try again."
            ) from None

    def _prove(self, after: str, rest: dict[str, Any], notify: list[str] | None) -> None:
        """What is written says what the person's file said, and differs in our line alone."""
        try:
            after.encode()
            found = tomllib.loads(after)
        except ValueError:
            found = {}
        ours = found.pop("notify", None)
        if ours != notify or repr(found) != repr(rest):  # nan is not equal to itself
            raise Conflict(
                f"The line `{self._line}` cannot be put into or taken out of {self.path} without "
                "changing more: left untouched. Edit it yourself."
            )


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _hooks(entry: Any) -> list[Any]:
    found = entry.get("hooks") if isinstance(entry, dict) else None
    return found if isinstance(found, list) else []


def _parsed(content: bytes | None, path: Path) -> dict[str, Any]:
    if content is None or not content.strip():
        return {}
    try:
        settings = strict_json(content)
    except BadArgument as error:
        raise BadArgument(
            f"{path} is not plain JSON ({error}). It was left untouched; fix it, and try again."
        ) from None
    if not isinstance(settings, dict):
        raise BadArgument(f"{path} is not a JSON object. It was left untouched.")
    return settings


def _written(settings: dict[str, Any], before: bytes | None) -> bytes:
    """Settings in the manner of the file: indentation, line ends, mark, last newline."""
    text = (before or b"").decode("utf-8-sig", "replace")
    lines = text.split("\n")
    indented = next((line for line in lines[1:] if line.strip() and line[:1] in " \t"), "  ")
    indent = indented[: len(indented) - len(indented.lstrip())] or "  "
    made = json.dumps(settings, indent=indent, ensure_ascii=not _encodable(settings))
    made += "\n" if before is None or text.endswith("\n") else ""
    if "\r\n" in text:
        made = made.replace("\n", "\r\n")
    mark = codecs.BOM_UTF8 if (before or b"").startswith(codecs.BOM_UTF8) else b""
    return mark + made.encode()


def _encodable(settings: dict[str, Any]) -> bool:
    try:
        json.dumps(settings, ensure_ascii=False).encode()
        return True
    except UnicodeEncodeError:
        return False  # half a character, written as an escape: it stays one
