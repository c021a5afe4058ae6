"""Completion for a shell: one file, where that shell looks for it, and away again."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from minutebook.errors import BadArgument, Conflict
from minutebook.record.store import write_atomically

SHELLS = ("bash", "zsh", "fish")
_OURS = b"_MINUTEBOOK_COMPLETE"


class ShellFile(msgspec.Struct, frozen=True):
    """What a shell is given."""

    shell: str
    path: Path
    content: str
    hint: str
    """What else has to be done before it works."""


def shell_of(environment: dict[str, str]) -> str:
    """The shell a person uses, by its name."""
    name = Path(environment.get("SHELL", "")).name
    if name not in SHELLS:
        raise BadArgument(
            f"There is no completion for '{name or 'your shell'}', only for {', '.join(SHELLS)}.",
            remedy="shell",
        )
    return name


def shell_file(shell: str, content: str, home: Path, environment: dict[str, str]) -> ShellFile:
    """Where the file of a shell goes, and what to do then."""
    data = Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share")
    config = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
    new = "Open a new terminal"
    match shell:
        case "bash":
            path = data / "bash-completion" / "completions" / "minutebook"
            hint = f"{new}; bash-completion has to be installed."
        case "zsh":
            path = home / ".zfunc" / "_minutebook"
            hint = f"Put `fpath+=~/.zfunc; autoload -Uz compinit; compinit` into ~/.zshrc. {new}."
        case _:
            path = config / "fish" / "completions" / "minutebook.fish"
            hint = f"{new}."
    return ShellFile(shell, path, content, hint)


def write_shell_file(file: ShellFile) -> None:
    """Put it there; a file that is somebody else's stays."""
    _keep_others(file.path)
    file.path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file.path, file.content.encode())


def remove_shell_file(file: ShellFile) -> None:
    """Take it away, if it is ours."""
    _keep_others(file.path)
    file.path.unlink(missing_ok=True)


def _keep_others(path: Path) -> None:
    if path.exists() and _OURS not in path.read_bytes():
        raise Conflict(f"{os.fspath(path)} is not ours: it stays as it is.")
