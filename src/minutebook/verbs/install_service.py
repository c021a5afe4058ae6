"""Units that keep `minutebook watch` running: systemd on Linux, launchd on a Mac."""

from __future__ import annotations

import os
import plistlib
import re
import shlex
from pathlib import Path

import msgspec

from minutebook.errors import BadArgument, Conflict, NotFound
from minutebook.record.store import make_folder, write_atomically

_NAME = "minutebook-watch"
_LABEL = "io.minutebook.watch"


class Unit(msgspec.Struct, frozen=True):
    """A file for the system's supervisor, and how to start and stop what it describes."""

    path: Path
    content: str
    start: str
    stop: str


def systemd_unit(command: list[str], log: Path) -> Unit:  # noqa: ARG001 - the journal keeps it
    _refuse_controls(command)
    base = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    line = " ".join(_escaped(part) for part in command)
    content = (
        "[Unit]\n"
        "Description=minutebook: keeps the minutes of coding agents\n\n"
        "[Service]\n"
        f"ExecStart={line}\n"
        "Restart=on-failure\n"
        "RestartSec=30\n"
        "Nice=10\n\n"
        "[Install]\n"
        "WantedBy=default.target\n"
    )
    unit = f"{_NAME}.service"
    return Unit(
        base / "systemd" / "user" / unit,
        content,
        f"systemctl --user daemon-reload && systemctl --user enable --now {unit}",
        f"systemctl --user stop {unit}; systemctl --user daemon-reload",
    )


def _escaped(part: str) -> str:
    """A word of a command line as systemd reads it."""
    safe = part.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return safe if re.fullmatch(r"[\w@+=:,./%-]+", safe) else f'"{safe}"'


def _refuse_controls(command: list[str]) -> None:
    """A newline in a path would be a new line of the unit."""
    if not all(part.isprintable() for part in command):
        raise BadArgument("A path with control characters cannot stand in a unit.")


def launchd_unit(command: list[str], log: Path) -> Unit:
    _refuse_controls(command)
    path = Path.home() / "Library" / "LaunchAgents" / f"{_LABEL}.plist"
    content = plistlib.dumps(
        {
            "Label": _LABEL,
            "ProgramArguments": command,
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
            "ThrottleInterval": 30,
            "ProcessType": "Background",
            "StandardErrorPath": str(log),
        }
    ).decode()
    return Unit(
        path,
        content,
        f"launchctl load -w {shlex.quote(str(path))}",
        f"launchctl remove {_LABEL}",
    )


def write_unit(unit: Unit) -> bool:
    """Write a unit; whether it was another before. What somebody else wrote is left alone."""
    _refuse_foreign(unit)
    make_folder(unit.path.parent)
    return write_atomically(unit.path, unit.content.encode())


def remove_unit(unit: Unit) -> None:
    """Take a unit of ours away, and the link that starts it."""
    if not unit.path.exists():
        raise NotFound(f"There is no {unit.path}.")
    _refuse_foreign(unit)
    unit.path.unlink()
    wanted = unit.path.parent / "default.target.wants" / unit.path.name
    if wanted.is_symlink():
        wanted.unlink()


def _refuse_foreign(unit: Unit) -> None:
    if unit.path.exists():
        present = unit.path.read_text(encoding="utf-8", errors="replace")
        if "minutebook" not in present:
            raise Conflict(f"{unit.path} was not written by minutebook. It was left untouched.")
