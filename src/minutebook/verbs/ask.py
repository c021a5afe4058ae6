"""Asking a model about many sessions: several at a time, within a budget, stoppable."""

from __future__ import annotations

import queue
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

from minutebook.extract.extractor import (
    Extraction,
    Extractor,
    Failed,
    OverBudget,
    Refused,
    Spent,
)
from minutebook.extract.material import Material

_TROUBLES_IN_A_ROW = 3
"""A service that fails so often in a row is down: asking on would only take time."""
_LOOK_UP = 0.1  # seconds between looks at whether somebody pressed Ctrl-C

Answer = tuple[Material, Extraction | Failed]
INTERRUPTED = "interrupted"


@dataclass
class Asked:
    """How far the asking has got."""

    total: int = 0
    done: int = 0
    spent: Spent = field(default_factory=Spent)
    stopped: str | None = None
    interrupts: int = 0
    _troubles: int = 0

    def count(self, result: Extraction | Failed) -> None:
        """A session is done, one way or the other."""
        self.done += 1
        self.spent += result.spent
        if isinstance(result, Extraction):
            self._troubles = 0
            return
        self._troubles = self._troubles + 1 if result.service else 0
        if self._troubles >= _TROUBLES_IN_A_ROW:
            self.stop(str(result))

    def stop(self, why: str) -> None:
        self.stopped = self.stopped or why


@contextmanager
def interruptible(asked: Asked) -> Iterator[None]:
    """Ctrl-C is noted instead of raised: an exception between an answer and its record would
    lose what was paid for."""

    def note(_signal: int, _frame: FrameType | None) -> None:
        asked.interrupts += 1
        asked.stop(INTERRUPTED)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def ask_all(
    extractor: Extractor, pending: Sequence[Material], asked: Asked, concurrency: int
) -> Iterator[Answer]:
    """One call a session; answers as they come. A first Ctrl-C lets what is under way finish;
    a second one does not wait for it."""
    waiting = list(reversed(pending))
    landed: queue.SimpleQueue[tuple[Material, Extraction | Exception]] = queue.SimpleQueue()
    flying = 0
    with interruptible(asked):
        while True:
            while waiting and not asked.stopped and flying < max(1, concurrency):
                _launch(extractor, waiting.pop(), landed)
                flying += 1
            if not flying or asked.interrupts > 1:
                return
            try:
                material, result = landed.get(timeout=_LOOK_UP)
            except queue.Empty:
                continue
            flying -= 1
            answer = _landed(result, asked)
            if answer is not None:
                yield material, answer
                asked.count(answer)


def _launch(
    extractor: Extractor,
    material: Material,
    landed: queue.SimpleQueue[tuple[Material, Extraction | Exception]],
) -> None:
    """Ask in a thread that nobody has to wait for when the program ends."""

    def fly() -> None:
        try:
            landed.put((material, extractor.extract(material)))
        except Exception as error:  # it is looked at where it lands
            landed.put((material, error))

    threading.Thread(target=fly, daemon=True).start()


def _landed(result: Extraction | Exception, asked: Asked) -> Extraction | Failed | None:
    if isinstance(result, Refused | OverBudget):
        asked.spent += result.spent
        asked.stop(str(result))
        return None
    if isinstance(result, Exception) and not isinstance(result, Failed):
        # One session's surprise must not cost the others their answers. Its words stay out
        # of the record: nobody has looked through them for a key.
        return Failed(f"something unexpected: {type(result).__name__}")
    return result
