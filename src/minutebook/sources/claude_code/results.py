"""What the structured twin of a tool result (``toolUseResult``) says beyond the result itself.

The twin is a third of all bytes, mostly copies of files. Its few fields of interest are
decoded while the record is; everything else the decoder skips.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from minutebook.model import Hunk
from minutebook.sources.assembly.repair import verbatim

_EXIT = re.compile(r"Exit code (\d{1,9})\b")
_LONGEST = 1e10  # milliseconds; four months


_NOTHING = msgspec.Raw()


class ResultExtras(msgspec.Struct, gc=False):
    """Fields of the twin. Any tool may use these names for anything: nothing is taken as read."""

    structuredPatch: msgspec.Raw = _NOTHING
    interrupted: Any = None
    agentId: Any = None
    agent_id: Any = None
    durationMs: Any = None
    totalDurationMs: Any = None
    durationSeconds: Any = None
    wasInterrupted: Any = None
    exitCode: Any = None
    persistedOutputPath: Any = None

    @property
    def agent(self) -> str | None:
        """The subagent that did the work."""
        found = self.agentId or self.agent_id
        return found if isinstance(found, str) else None

    @property
    def spilled_to(self) -> str | None:
        path = self.persistedOutputPath
        return path if isinstance(path, str) else None


_PLAIN = (ResultExtras(interrupted=False), ResultExtras())
"""What nearly all twins come to."""


class ResultFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is kept of it, as `ToolResult` has it."""

    patch: tuple[Hunk, ...] = ()
    exit_code: int | None = None
    interrupted: bool = False
    duration_ms: int | None = None


NO_FACTS = ResultFacts()


class _HunkFields(msgspec.Struct, gc=False):
    lines: list[str]
    oldStart: int = 0
    oldLines: int = 0
    newStart: int = 0
    newLines: int = 0


_decode_patch = msgspec.json.Decoder(list[_HunkFields]).decode


def facts_of(extras: ResultExtras | None, *, failed_run: Any = None) -> ResultFacts:
    """What a record says of its result; `failed_run` is what a command that failed put out."""
    exit_code = None if failed_run is None else _told_exit(failed_run)
    if extras is None or extras in _PLAIN:
        return NO_FACTS if exit_code is None else ResultFacts(exit_code=exit_code)
    patch = () if extras.structuredPatch is _NOTHING else _patch(extras.structuredPatch)
    if extras.exitCode is not None:
        exit_code = _integer(extras.exitCode)
    interrupted = extras.interrupted is True or extras.wasInterrupted is True
    duration = extras.durationMs
    if duration is None:
        duration = extras.totalDurationMs
    if duration is not None or extras.durationSeconds is not None:
        duration = _milliseconds(duration, extras.durationSeconds)
    if not patch and exit_code is None and not interrupted and duration is None:
        return NO_FACTS
    return ResultFacts(patch, exit_code, interrupted, duration)


def _told_exit(output: Any) -> int | None:
    """``Exit code 2`` at the start of what a command put out."""
    if isinstance(output, list) and output:
        output = output[0].get("text") if isinstance(output[0], dict) else output[0]
    told = _EXIT.match(output) if isinstance(output, str) else None
    return int(told[1]) if told is not None else None


def _integer(value: Any) -> int | None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return int(value) if whole and abs(value) < 1 << 32 else None


def _milliseconds(duration: Any, seconds: Any) -> int | None:
    value = duration if duration is not None else seconds
    unit = 1 if duration is not None else 1000
    if type(value) in (int, float) and 0 <= value * unit < _LONGEST:
        return int(value * unit + 0.5)
    return None


def _patch(raw: msgspec.Raw) -> tuple[Hunk, ...]:
    try:
        found = _decode_patch(raw)
    except (msgspec.DecodeError, RecursionError):
        found = _mended(bytes(raw))
    return tuple([_hunk(hunk) for hunk in found])


def _mended(raw: bytes) -> list[_HunkFields]:
    """The hunks of a patch that can be read, where not all of them can."""
    try:
        values = verbatim(raw)
    except (ValueError, RecursionError):
        return []
    found = []
    for value in values if isinstance(values, list) else ():
        try:
            found.append(msgspec.convert(value, _HunkFields))
        except (msgspec.ValidationError, RecursionError):
            continue
    return found


def _hunk(hunk: _HunkFields) -> Hunk:
    return Hunk(hunk.oldStart, hunk.oldLines, hunk.newStart, hunk.newLines, tuple(hunk.lines))
