"""The skill and the hook for Claude Code: put there, and taken away without a trace.

Settings belong to the person. They are merged, with a copy of what was there; a file that
cannot be understood is left alone, and so is a skill somebody else has put there. Taking
the hook away gives the very bytes back, unless the file was changed since: then only our
hook is taken out of it.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import shlex
from pathlib import Path
from typing import Any

import msgspec

from minutebook.errors import BadArgument, Conflict, NotFound
from minutebook.record.store import make_folder, write_atomically
from minutebook.verbs.strict_json import strict_json

_ASSETS = Path(__file__).parent / "skill"
_EVENT = "SessionEnd"
_SECONDS = 10  # the CLI cancels hooks without a limit of their own after three


class Installed(msgspec.Struct, frozen=True):
    """What was done, or would be."""

    files: list[Path]
    settings: Path
    backup: Path | None
    already: bool = False
    removed: bool = False
    remark: str | None = None


class _State(msgspec.Struct):
    """What taking it away needs to know."""

    existed: bool
    """Whether there was a settings file."""
    written: str
    """Digest of the settings as we left them."""
    backup: str = ""
    """Name of the copy of what was there."""
    before: str = ""
    """Digest of what was there."""
    made: list[str] = []
    """Folders that were not there before."""


class ClaudeHome:
    """A configuration folder of Claude Code."""

    def __init__(self, root: Path, command: list[str]) -> None:
        self.root = root
        # Dotfiles are often links: the file behind is changed, the link stays.
        self.settings = (root / "settings.json").resolve()
        self.skill = root / "skills" / "minutebook"
        self._script = self.skill / "session-end.sh"
        self._state = self.skill / ".installed.json"
        self._files = {
            self.skill / "SKILL.md": _asset("SKILL.md", "PROGRAM", command),
            self._script: _asset("session-end.sh", "COMMAND", command),
        }

    # -- putting it there

    def install(self, *, dry_run: bool = False) -> Installed:
        state = self._known_state()
        self._refuse_what_is_not_ours(state)
        before = self._read()
        settings = _parsed(before, self.settings)
        hooks = settings.setdefault("hooks", {})
        events = hooks.setdefault(_EVENT, []) if isinstance(hooks, dict) else None
        if not isinstance(events, list):
            raise Conflict(f"{self.settings} has hooks of a shape nobody knows: left untouched.")
        already = any(self._is_ours(hook) for entry in events for hook in _hooks(entry))
        backup = self._free_name() if before is not None and not already else None
        done = Installed(list(self._files), self.settings, backup, already)
        if not already:
            events.append(self._entry())
        after = _written(settings, before)  # before anything is written: it may fail
        if dry_run:
            return done
        made = [str(p) for p in (self.root, self.root / "skills") if not p.exists()]
        make_folder(self.skill)
        for path, content in self._files.items():
            write_atomically(path, content)
        self._script.chmod(0o700)
        if not already:
            if before is not None and backup is not None:
                write_atomically(backup, before)
            self._write(after)
            kept = backup.name if backup is not None else ""
            was = _digest(before) if before is not None else ""
            state = _State(before is not None, _digest(after), kept, was, made)
            write_atomically(self._state, msgspec.json.encode(state))
        return done

    def _refuse_what_is_not_ours(self, state: _State | None) -> None:
        for path, content in self._files.items():
            if state is None and path.exists() and path.read_bytes() != content:
                raise Conflict(f"{path} is somebody else's: left untouched.")

    def _free_name(self) -> Path:
        name, number = "settings.json.before-minutebook", 1
        while (self.root / name).exists():
            number += 1
            name = f"settings.json.before-minutebook-{number}"
        return self.root / name

    def _entry(self) -> dict[str, Any]:
        command = f"sh {shlex.quote(str(self._script))}"
        return {"hooks": [{"type": "command", "command": command, "timeout": _SECONDS}]}

    def _is_ours(self, hook: Any) -> bool:
        command = hook.get("command") if isinstance(hook, dict) else None
        if not isinstance(command, str):
            return False
        try:
            return str(self._script) in shlex.split(command)
        except ValueError:
            return False  # quotes that do not match: not of our making

    # -- taking it away

    def uninstall(self, *, dry_run: bool = False) -> Installed:
        state = self._known_state()
        current = self._read()
        after, remark = self._without_hook(state, current)
        files = [
            p
            for p, content in self._files.items()
            if p.exists() and (state is not None or p.read_bytes() == content)
        ]
        files += [self._state] if state is not None else []
        if not files and after == current:
            raise NotFound(f"Nothing of ours is installed in {self.root}.")
        done = Installed(files, self.settings, None, removed=True, remark=remark)
        if dry_run:
            return done
        if after is None:
            self.settings.unlink(missing_ok=True)
        elif after != current:
            self._write(after)
        if state is not None and state.backup and remark is None:
            (self.root / state.backup).unlink(missing_ok=True)
        for path in files:
            path.unlink(missing_ok=True)
        for folder in (self.skill, *(Path(p) for p in reversed(state.made if state else []))):
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()
        return done

    def _without_hook(
        self, state: _State | None, current: bytes | None
    ) -> tuple[bytes | None, str | None]:
        """The settings as they are to be (None: no file), and what to say of it."""
        if current is None:
            return None, None
        if state is not None and _digest(current) == state.written:
            if not state.existed:
                return None, None
            kept = self.root / state.backup
            if state.backup and kept.is_file() and _digest(kept.read_bytes()) == state.before:
                return kept.read_bytes(), None
            return self._filtered(current), "the copy of your settings is gone: only our hook went"
        after = self._filtered(current)
        changed = after != current
        return (
            after,
            "the settings were changed since: only our hook was taken out" if changed else None,
        )

    def _filtered(self, current: bytes) -> bytes:
        """Settings without our hook; whatever else stands in its entry stays."""
        settings = _parsed(current, self.settings)
        found = settings.get("hooks")
        hooks: dict[str, Any] = found if isinstance(found, dict) else {}
        events = hooks.get(_EVENT)
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
        hooks[_EVENT] = kept
        if not kept:
            del hooks[_EVENT]
        if not hooks:
            del settings["hooks"]
        return _written(settings, current)

    def _known_state(self) -> _State | None:
        try:
            return msgspec.json.decode(self._state.read_bytes(), type=_State)
        except (OSError, msgspec.DecodeError):
            return None

    def _write(self, content: bytes) -> None:
        """Replace the settings; who may read them stays as it was."""
        mode = self.settings.stat().st_mode & 0o777 if self.settings.exists() else 0o600
        write_atomically(self.settings, content)
        self.settings.chmod(mode)

    def _read(self) -> bytes | None:
        try:
            return self.settings.read_bytes()
        except FileNotFoundError:
            return None


def _asset(name: str, placeholder: str, command: list[str]) -> bytes:
    text = (_ASSETS / name).read_text(encoding="utf-8")
    return text.replace(placeholder, shlex.join(command)).encode()


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
            f"{path} is no plain JSON ({error}). It was left untouched; mend it, and try again."
        ) from None
    if not isinstance(settings, dict):
        raise BadArgument(f"{path} is no JSON object. It was left untouched.")
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


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
