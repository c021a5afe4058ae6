"""pi: sessions under ``~/.pi/agent/sessions`` (see README.md beside this file)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from minutebook.derive.instructions import Given
from minutebook.model import Block
from minutebook.sources.files import LinesSource, named_in
from minutebook.sources.pi import locate, tools

if TYPE_CHECKING:
    from minutebook.sources.pi.read import PiReading


_LOADED = re.compile(r'<project_instructions path="([^"\n]{1,4096})">\n')


class Pi(LinesSource):
    """The adapter, as the registry knows it."""

    name = locate.SOURCE
    program = "pi"
    title = "pi"
    home = "$PI_CODING_AGENT_DIR, else ~/.pi/agent"
    going_on = "pi --session {}"
    places, kinds = locate, tools

    # -- reading; its modules are loaded when there is something to read

    def reading(self) -> type[PiReading]:
        from minutebook.sources.pi.read import PiReading

        return PiReading

    def instructions(self, block: Block) -> tuple[Given, ...]:
        """Files whose text is in what the model was told before the prompts."""
        return named_in(
            block, "system", _LOADED, "\n</project_instructions>"
        ) or super().instructions(block)

    # -- watching

    def folders(self, places: Iterable[Path]) -> list[Path]:
        """Where its sessions were moved to, too."""
        chosen = list(places)
        found, elsewhere = super().folders(chosen), locate.moved()
        if not chosen and elsewhere is not None and elsewhere.is_dir():
            found.append(elsewhere)
        return list(dict.fromkeys(found))

    def sessions_of(self, paths: Iterable[Path]) -> set[str]:
        return {locate.session_id(path) for path in paths}
