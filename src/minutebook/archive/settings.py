"""Settings of an archive, in ``config.json``, so that every verb decides alike (ING-05)."""

from __future__ import annotations

from typing import Any

import msgspec

from minutebook.errors import BadArgument, Conflict
from minutebook.model import SessionInfo
from minutebook.record.layout import Layout
from minutebook.record.store import make_folder, write_atomically

VERSION = 1


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Below the first three, a session never reached substantive work: a ghost."""

    version: int = VERSION
    ghost_prompts: int = 3
    ghost_calls: int = 10
    ghost_chars: int = 1_500
    search_tools: int = 1
    """Whether what tools did can be found (1), or only what was said (0)."""

    def is_ghost(self, info: SessionInfo) -> bool:
        return (
            info.prompts < self.ghost_prompts
            and info.calls < self.ghost_calls
            and info.answer_chars < self.ghost_chars
        )


NAMES = tuple(name for name in Settings.__struct_fields__ if name != "version")


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
    before, problem = read_settings(layout)
    if problem is not None:
        raise Conflict(f"{layout.settings} cannot be used: {problem}. Move it away first.")
    change: dict[str, Any] = {name: int(value)}
    after = msgspec.structs.replace(before, **change)
    make_folder(layout.root)
    write_atomically(layout.settings, msgspec.json.format(msgspec.json.encode(after)) + b"\n")
    return after
