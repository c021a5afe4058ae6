"""The skill and the hook for Claude Code: put there, and taken away without a trace.

Settings belong to the person. They are merged, with a copy of what was there; a file that
cannot be understood is left alone. Taking the hook away gives the very bytes back, unless
somebody has changed the file since: then only our entry is removed.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from pathlib import Path
from typing import Any

import msgspec

from minutebook.archive.store import make_folder, write_atomically
from minutebook.errors import BadArgument, Conflict

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
    made: list[str] = []
    """Folders that were not there before."""


class ClaudeHome:
    """A configuration folder of Claude Code."""

    def __init__(self, root: Path, command: list[str]) -> None:
        self.root = root
        # Dotfiles are often links: the file behind is changed, the link stays.
        self.settings = (root / "settings.json").resolve()
        self.skill = root / "skills" / "minutebook"
        self._command = command
        self._script = self.skill / "session-end.sh"
        self._state = self.skill / ".installed.json"
        self._backup = root / "settings.json.before-minutebook"

    # -- putting it there

    def install(self, *, dry_run: bool = False) -> Installed:
        before = self._read()
        settings = _parsed(before, self.settings)
        hooks = settings.setdefault("hooks", {})
        events = hooks.setdefault(_EVENT, []) if isinstance(hooks, dict) else None
        if not isinstance(events, list):
            raise Conflict(f"{self.settings} has hooks of a shape nobody knows: left untouched.")
        files = {
            self.skill / "SKILL.md": self._asset("SKILL.md", "PROGRAM"),
            self._script: self._asset("session-end.sh", "COMMAND"),
        }
        already = any(self._is_ours(entry) for entry in events)
        backup = self._backup if before is not None and not already else None
        done = Installed(list(files), self.settings, backup, already)
        if dry_run:
            return done
        made = [str(p) for p in (self.root, self.root / "skills") if not p.exists()]
        make_folder(self.skill)
        for path, content in files.items():
            write_atomically(path, content)
        self._script.chmod(0o700)
        if not already:
            if before is not None:
                write_atomically(self._backup, before)
            events.append(self._entry())
            after = _written(settings, before)
            self._write(after)
            state = _State(before is not None, _digest(after), made)
            write_atomically(self._state, msgspec.json.encode(state))
        return done

    def _entry(self) -> dict[str, Any]:
        command = f"sh {shlex.quote(str(self._script))}"
        return {"hooks": [{"type": "command", "command": command, "timeout": _SECONDS}]}

    def _is_ours(self, entry: Any) -> bool:
        hooks = entry.get("hooks") if isinstance(entry, dict) else None
        return isinstance(hooks, list) and any(
            isinstance(hook, dict) and str(self._script) in str(hook.get("command"))
            for hook in hooks
        )

    def _asset(self, name: str, placeholder: str) -> bytes:
        text = (_ASSETS / name).read_text(encoding="utf-8")
        return text.replace(placeholder, shlex.join(self._command)).encode()

    # -- taking it away

    def uninstall(self, *, dry_run: bool = False) -> Installed:
        state = self._known_state()
        own = (self.skill / "SKILL.md", self._script, self._state)
        files = [path for path in own if path.exists()]
        current = self._read()
        untouched = state is not None and current is not None and _digest(current) == state.written
        remark = None
        after: bytes | None = current
        if untouched:
            assert state is not None
            after = self._backup.read_bytes() if state.existed and self._backup.exists() else None
        elif current is not None:
            after = self._without_ours(current)
            if after != current:
                remark = "the settings were changed since: only our hook was taken out"
        done = Installed(files, self.settings, None, removed=True, remark=remark)
        if dry_run:
            return done
        if after is None:
            self.settings.unlink(missing_ok=True)
        elif after != current:
            self._write(after)
        self._backup.unlink(missing_ok=True)
        for path in files:
            path.unlink(missing_ok=True)
        for folder in (self.skill, *(Path(p) for p in reversed(state.made if state else []))):
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()
        return done

    def _without_ours(self, current: bytes) -> bytes:
        settings = _parsed(current, self.settings)
        found = settings.get("hooks")
        hooks: dict[str, Any] = found if isinstance(found, dict) else {}
        events = hooks.get(_EVENT)
        if not isinstance(events, list) or not any(map(self._is_ours, events)):
            return current
        kept = [entry for entry in events if not self._is_ours(entry)]
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


def _parsed(content: bytes | None, path: Path) -> dict[str, Any]:
    if content is None or not content.strip():
        return {}
    try:
        settings = json.loads(content)
    except ValueError as error:
        raise BadArgument(
            f"{path} is no plain JSON (comments, or a mistake: {error}). It was left untouched; "
            "mend it, and try again."
        ) from None
    if not isinstance(settings, dict):
        raise BadArgument(f"{path} is no JSON object. It was left untouched.")
    return settings


def _written(settings: dict[str, Any], before: bytes | None) -> bytes:
    """Settings in the manner of the file: its indentation, its last newline."""
    lines = (before or b"").decode("utf-8", "replace").split("\n")
    indented = next((line for line in lines[1:] if line.strip() and line[:1] in " \t"), "  ")
    indent = indented[: len(indented) - len(indented.lstrip())] or "  "
    end = "\n" if before is None or before.endswith(b"\n") else ""
    return (json.dumps(settings, indent=indent, ensure_ascii=False) + end).encode()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
