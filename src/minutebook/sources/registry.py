"""The agents whose transcripts can be read: those that come with us, and installed adapters.

Adding one is adding a folder and a line here; a package of its own says
``[project.entry-points."minutebook.sources"]`` instead, and nothing here has to know it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING

from minutebook.sources.base import Source

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "minutebook.sources"
_OWN = (
    "minutebook.sources.claude_code:ClaudeCode",
    "minutebook.sources.codex:Codex",
    "minutebook.sources.opencode:OpenCode",
    "minutebook.sources.gemini:Gemini",
    "minutebook.sources.copilot:Copilot",
    "minutebook.sources.pi:Pi",
    "minutebook.sources.qwen:Qwen",
    "minutebook.sources.cursor:Cursor",
)


class Registry(Mapping[str, Source]):
    """Adapters by their name, ours first; found when they are first needed."""

    def __init__(self) -> None:
        self.problems: dict[str, str] = {}
        """Installed adapters that could not be used → why; known once any was asked for."""

    @cached_property
    def _found(self) -> dict[str, Source]:
        found = [_made(place) for place in _OWN]
        self.problems.clear()
        for entry in _entry_points() if _has_plugins() else ():
            try:
                source: Source = entry.load()()
                if any(known.name == source.name for known in found):
                    raise ValueError(f"there is an adapter called {source.name} already")
            except Exception as error:  # a stranger's code: it must not take ours down
                self.problems[entry.name] = f"{type(error).__name__}: {error}"
            else:
                found.append(self._guarded(source, entry.name))
        return {source.name: source for source in found}

    def _guarded(self, source: Source, entry: str) -> Source:
        from minutebook.sources.installed import guarded  # only where there is one

        return guarded(source, lambda told: self.problems.update({entry: told}))

    def __getitem__(self, name: str) -> Source:
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def by_program(self, program: str) -> Source | None:
        """The adapter of a program, by its command (``codex``), its source's name or its title."""
        wanted = program.lower()
        known = self.values()
        return next((s for s in known if wanted in (s.program, s.name, s.title.lower())), None)

    def program_of(self, name: str) -> str:
        """What the command of a source's agent is called; the name itself, once its adapter is
        gone."""
        source = self._found.get(name)
        return source.program if source is not None else name

    def title_of(self, name: str) -> str:
        """What people call a source's agent; the name itself, once its adapter is gone."""
        source = self._found.get(name)
        return source.title if source is not None else name

    def title_of_program(self, program: str) -> str:
        """The same of a program's command: ``Codex CLI`` for ``codex``."""
        source = self.by_program(program)
        return source.title if source is not None else program

    def forget(self) -> None:
        """Look for installed adapters again."""
        self.__dict__.pop("_found", None)


def _has_plugins() -> bool:
    """Whether any installed package brings an adapter: asking costs a tenth of what loading
    `importlib.metadata` does, which every start would pay."""
    group = f"[{GROUP}]".encode()
    for folder in sys.path:
        try:
            with os.scandir(folder or ".") as entries:
                infos = [e.path for e in entries if e.name.endswith((".dist-info", ".egg-info"))]
        except OSError:
            continue
        for info in infos:
            try:
                with open(os.path.join(info, "entry_points.txt"), "rb") as file:  # noqa: PTH118, PTH123 - hundreds, at every start
                    if group in file.read():
                        return True
            except OSError:
                continue
    return False


def _entry_points() -> list[EntryPoint]:
    from importlib.metadata import entry_points

    return sorted(entry_points(group=GROUP), key=lambda entry: entry.name)


def _made(place: str) -> Source:
    module, _, name = place.partition(":")
    source: Source = getattr(import_module(module), name)()
    return source


SOURCES = Registry()
