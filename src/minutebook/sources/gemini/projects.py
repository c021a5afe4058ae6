"""What Gemini CLI's settings say: which folder a session is of, and when it is deleted."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from minutebook.sources.assembly.lines import DECODE_ERRORS

DEFAULT_RETENTION_DAYS = 30
_UNITS = {"h": 1 / 24, "d": 1, "w": 7, "m": 30}
_AGE = re.compile(r"(\d{1,6})([hdwm])")
_LONGEST = 4096
T = TypeVar("T")


class _Projects(msgspec.Struct, frozen=True):
    projects: dict[str, str] = {}


class _Retention(msgspec.Struct, frozen=True):
    enabled: bool = True
    maxAge: str | None = None


class _General(msgspec.Struct, frozen=True):
    sessionRetention: _Retention = _Retention()


class _Settings(msgspec.Struct, frozen=True):
    general: _General = _General()


def cwd_of(project: Path) -> str | None:
    """The folder that sessions of ``tmp/<project>`` worked on, from the files that tell: neither
    version writes it into the session itself."""
    try:
        told = (project / ".project_root").read_bytes()[:_LONGEST].decode().strip()
    except (OSError, UnicodeDecodeError):
        told = ""
    if told:
        return told
    home = project.parent.parent
    known = _read(home / "projects.json", _Projects()).projects
    named = next((path for path, name in known.items() if name == project.name), None)
    return named or _hashed(project.name, [*known, *_trusted(home)])


def _trusted(home: Path) -> list[str]:
    try:
        found: Any = msgspec.json.decode((home / "trustedFolders.json").read_bytes())
    except (OSError, *DECODE_ERRORS):
        return []
    return list(found) if isinstance(found, dict) else []


def _hashed(name: str, folders: list[str]) -> str | None:
    """Older versions name a project by the SHA-256 of its folder: one we know may have it."""
    if len(name) != 64:
        return None
    digests = ((hashlib.sha256(path.encode("utf-8", "replace")), path) for path in folders)
    return next((path for digest, path in digests if digest.hexdigest() == name), None)


def retention_days(root: Path) -> int | None:
    """``general.sessionRetention``; 30 days unless somebody said otherwise."""
    kept = _read(root / "settings.json", _Settings()).general.sessionRetention
    if not kept.enabled:
        return None
    found = _AGE.fullmatch(kept.maxAge or "")
    return round(int(found[1]) * _UNITS[found[2]]) if found else DEFAULT_RETENTION_DAYS


def _read(path: Path, empty: T) -> T:
    try:
        return msgspec.json.decode(path.read_bytes(), type=type(empty))
    except (OSError, *DECODE_ERRORS):
        return empty
