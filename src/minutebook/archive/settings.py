"""Settings of an archive, in ``config.json``, so that every verb decides alike (ING-05)."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from minutebook.errors import BadArgument, Conflict
from minutebook.model import SessionInfo
from minutebook.record.layout import Layout
from minutebook.record.store import PATIENCE, patiently, sweep_beside, write_atomically
from minutebook.sources.registry import SOURCES

VERSION = 1


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Below the first three, a session never reached substantive work: a ghost."""

    version: int = VERSION
    ghost_prompts: int = 3
    ghost_calls: int = 10
    ghost_chars: int = 1_500
    search_tools: int = 1
    """Whether what tools did can be found (1), or only what was said (0)."""
    allowed: tuple[str, ...] = ()
    """Programs whose sessions may be sent to a model or a team, beside the first that is
    registered."""

    def may_send(self, program: str) -> bool:
        """Whether a model may be asked about sessions of a program, and a team be sent them."""
        return program in self.allowed or program == next(iter(SOURCES.values())).program

    def is_ghost(self, info: SessionInfo) -> bool:
        return not info.rounds or (
            info.prompts < self.ghost_prompts
            and info.calls < self.ghost_calls
            and info.answer_chars < self.ghost_chars
        )


NAMES = tuple(n for n in Settings.__struct_fields__ if n not in ("version", "allowed"))


def read_settings(layout: Layout) -> tuple[Settings, str | None]:
    """The settings, and what is wrong with their file where it cannot be used."""
    try:
        found = msgspec.json.decode(layout.settings.read_bytes(), type=Settings)
    except FileNotFoundError:
        return Settings(), None
    except (OSError, msgspec.DecodeError) as error:
        return Settings(), f"{getattr(error, 'strerror', None) or error}; the defaults are used"
    if found.version > VERSION:
        return Settings(), "it was written by a newer minutebook; the defaults are used"
    return found, None


def set_setting(layout: Layout, name: str, value: str) -> Settings:
    """Set one of them; the new settings."""
    if name not in NAMES:
        raise BadArgument(f"'{name}' is not a setting; choose one of {', '.join(NAMES)}.")
    if not (value.isascii() and value.isdigit() and len(value) < 10):
        raise BadArgument(f"{name} is a whole number, like {getattr(Settings(), name)}.")
    if name == "search_tools" and int(value) > 1:
        raise BadArgument("search_tools is 1 (index what tools did) or 0 (only what was said).")
    given = {name: int(value)}
    return _changed(layout, lambda before: msgspec.structs.replace(before, **given))


def allow(layout: Layout, program: str, *, send: bool = True) -> Settings:
    """Let models be asked about sessions of a program, and teams be sent them, or no longer."""
    source = SOURCES.by_program(program)
    if source is None:
        known = ", ".join(source.program for source in SOURCES.values())
        raise BadArgument(f"'{program}' is not a program; choose one of {known}.")
    first = next(iter(SOURCES.values()))
    if source is first and not send:
        raise BadArgument(
            f"Sessions of {first.title} are sent only where you choose a model for `ingest`: "
            "there is nothing to take back."
        )

    def change(before: Settings) -> Settings:
        others = [name for name in before.allowed if name != source.program]
        added = [source.program] if send and source is not first else []
        return msgspec.structs.replace(before, allowed=tuple(sorted([*others, *added])))

    return _changed(layout, change)


def _changed(layout: Layout, change: Callable[[Settings], Settings]) -> Settings:
    """Read, change and write them as one step: another process may be at it."""
    with patiently(layout.said_lock, "config", PATIENCE):
        before, problem = read_settings(layout)
        if problem is not None:
            raise Conflict(f"{layout.settings} cannot be used: {problem}. Move it away first.")
        after = change(before)
        sweep_beside(layout.settings)
        write_atomically(layout.settings, msgspec.json.format(msgspec.json.encode(after)) + b"\n")
        return after
