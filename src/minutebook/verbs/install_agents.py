"""What is installed for each agent that can call us: what it reads, and what it calls."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

import msgspec

from minutebook.sources.registry import SOURCES
from minutebook.verbs.hook_settings import JsonHooks, TomlNotify
from minutebook.verbs.installing import Installation

_ASSETS = Path(__file__).parent / "skill"
_SECONDS = 10  # Claude Code cancels hooks without a limit of their own after three


class ClaudeHome(Installation):
    """Claude Code: a skill, and a hook for the end of a session."""

    def __init__(self, root: Path, command: list[str]) -> None:
        folder = root / "skills" / "minutebook"
        script = folder / "session-end.sh"
        skill = _asset("SKILL.md", PROGRAM=shlex.join(command))
        files = {folder / "SKILL.md": skill, script: _script("claude-code", command)}
        hook = JsonHooks(root / "settings.json", "SessionEnd", script, {"timeout": _SECONDS})
        super().__init__(root, files, folder / ".installed.json", hook)


class CodexHome(Installation):
    """Codex CLI: ``notify``, which it calls after every turn."""

    def __init__(self, root: Path, command: list[str]) -> None:
        folder = root / "minutebook"
        script = folder / "turn-ended.sh"
        notify = TomlNotify(root / "config.toml", script)
        files = {script: _script("codex", command)}
        super().__init__(root, files, folder / ".installed.json", notify)


class GeminiHome(Installation):
    """Gemini CLI: a hook for the end of a session, in Claude Code's shape but for its clock."""

    def __init__(self, root: Path, command: list[str]) -> None:
        folder = root / "minutebook"
        script = folder / "session-end.sh"
        options = {"name": "minutebook", "timeout": _SECONDS * 1000}
        hook = JsonHooks(root / "settings.json", "SessionEnd", script, options)
        files = {script: _script("gemini", command)}
        super().__init__(root, files, folder / ".installed.json", hook)


class OpenCodeHome(Installation):
    """OpenCode: a plugin, which it finds by its place."""

    def __init__(self, root: Path, command: list[str]) -> None:
        folder = root / "plugin"
        files = {folder / "minutebook.js": _asset("opencode.js", COMMAND=json.dumps(command))}
        super().__init__(root, files, folder / ".minutebook.json", None)


class Hooked(msgspec.Struct, frozen=True):
    """An agent that can call us."""

    home: type[ClaudeHome | CodexHome | GeminiHome | OpenCodeHome]
    when: str
    """When the minutes are taken, for people."""
    root: Path | None = None
    """Its configuration folder, where that is not where its transcripts are."""


def hooked() -> dict[str, Hooked]:
    """Agents that can call us, by their name."""
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "opencode"
    return {
        "claude-code": Hooked(ClaudeHome, "a SessionEnd hook"),
        "codex": Hooked(CodexHome, "notify, called after every turn"),
        "gemini": Hooked(GeminiHome, "a SessionEnd hook"),
        "opencode": Hooked(OpenCodeHome, "a plugin, called after every answer", config),
    }


def agent_home(name: str, root: Path | None, command: list[str]) -> Installation:
    """The configuration folder of an agent: the one that is named, else its own."""
    known = hooked()[name]
    source = SOURCES.get(name) or SOURCES.by_program(name)
    assert source is not None
    return known.home((root or known.root or source.default_root()).absolute(), command)


def _script(agent: str, command: list[str]) -> bytes:
    return _asset("hook.sh", AGENT=agent, COMMAND=shlex.join(command))


def _asset(name: str, **values: str) -> bytes:
    text = (_ASSETS / name).read_text(encoding="utf-8")
    for placeholder, value in values.items():
        text = text.replace(placeholder, value)
    return text.encode()
