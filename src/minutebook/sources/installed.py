"""Adapters of other packages: whatever is wrong with one costs only its own sessions (AGT-02)."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

from minutebook.errors import MinutebookError
from minutebook.model import FormatReport, Loose, Round, SessionInfo, Subagent
from minutebook.sources.base import Depth, Reading, ServerAware, Source, Transcript, Trouble

T = TypeVar("T")
_EXPECTED = (OSError, MinutebookError)
"""What an adapter may raise; a bug is anything else."""
_INSTEAD: dict[str, Callable[[], Any]] = {
    "claims": bool,
    "current": lambda: None,
    "beside": str,
    "orphans": list,
    "retention_days": lambda: None,
    "tool_kind": lambda: "other",
    "home_instructions": list,
    "instructions": tuple,
    "context_windows": tuple,
    "folders": list,
    "matters": bool,
    "sessions_of": set,
    "resume_command": str,
}
"""Answers of an adapter that gives none."""


class Installed:
    """A stand-in for an adapter that answers, and says what went wrong, where that one raises."""

    def __init__(self, source: Source, problem: Callable[[str], None]) -> None:
        self._source, self._problem = source, problem

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._source, name)
        instead = _INSTEAD.get(name)
        return found if instead is None else self._answering(found, instead)

    def _answering(self, method: Callable[..., Any], instead: Callable[[], Any]) -> Any:
        @wraps(method)
        def answer(*given: Any) -> Any:
            try:
                return method(*given)
            except _EXPECTED:
                raise
            except Exception as error:
                self._failed(error)
                return instead()

        return answer

    def _failed(self, error: Exception) -> str:
        told = f"{type(error).__name__}: {error}"
        self._problem(told)
        return f"its adapter failed: {told}"

    def failure(self, error: Exception, path: Path) -> OSError:
        """An error of reading, which everybody expects."""
        return OSError(errno.EIO, self._failed(error), str(path))

    def default_root(self) -> Path:
        try:
            return self._source.default_root()
        except Exception as error:
            self._failed(error)
            return Path("/nowhere")

    def discover(self, places: Iterable[Path]) -> tuple[list[Transcript], list[Trouble]]:
        chosen = tuple(places)
        try:
            return self._source.discover(chosen)
        except _EXPECTED:
            raise
        except Exception as error:
            reason = self._failed(error)
            return [], [Trouble(place, reason) for place in chosen]

    def head(self, transcript: Transcript, size: int) -> str:
        try:
            return self._source.head(transcript, size)
        except _EXPECTED:
            raise
        except Exception as error:
            raise self.failure(error, transcript.path) from error

    def read(self, transcript: Transcript, depth: Depth) -> Reading:
        try:
            reading = self._source.read(transcript, depth)
        except _EXPECTED:
            raise
        except Exception as error:
            return _Unread(self.failure(error, transcript.path))
        return cast(Reading, _Read(reading, transcript.path, self.failure))

    def resume(self, transcript: Transcript, checkpoint: bytes) -> Reading | None:
        try:
            reading = self._source.resume(transcript, checkpoint)
        except Exception as error:
            self._failed(error)
            return None  # it is read from its beginning
        if reading is None:
            return None
        return cast(Reading, _Read(reading, transcript.path, self.failure))


class InstalledAware(Installed):
    """The same, of an adapter that knows of MCP servers: whether one does is asked of its class."""

    def mcp_servers(self, root: Path) -> frozenset[str]:
        try:
            return cast(ServerAware, self._source).mcp_servers(root)
        except _EXPECTED:
            raise
        except Exception as error:
            self._failed(error)
            return frozenset()


def guarded(source: Source, problem: Callable[[str], None]) -> Source:
    """An adapter whose mistakes are told to `problem`, and raised to nobody."""
    kind = InstalledAware if isinstance(source, ServerAware) else Installed
    return cast(Source, kind(source, problem))


class _Read:
    """A reading whose mistakes are errors of reading."""

    def __init__(
        self, reading: Reading, path: Path, failure: Callable[[Exception, Path], OSError]
    ) -> None:
        self._reading, self._path, self._failure = reading, path, failure

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reading, name)

    def rounds(self) -> Iterator[Round]:
        return self._each(self._reading.rounds)

    def subagents(self) -> Iterator[Subagent]:
        return self._each(self._reading.subagents)

    def _each(self, told: Callable[[], Iterator[T]]) -> Iterator[T]:
        try:
            yield from told()
        except _EXPECTED:
            raise
        except Exception as error:
            raise self._failure(error, self._path) from error


class _Unread:
    """The reading of a session whose adapter failed before it began."""

    closed = 0
    at_end = False
    checkpoint = None

    def __init__(self, error: OSError) -> None:
        self.report, self.loose = FormatReport(files=1), Loose()
        self._error = error

    def rounds(self) -> Iterator[Round]:
        raise self._error

    def info(self) -> SessionInfo:
        raise self._error

    def subagents(self) -> Iterator[Subagent]:
        return iter(())
