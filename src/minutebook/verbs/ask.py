"""Asking a model about many sessions: several at a time, within a budget, stoppable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from minutebook.extract.extractor import Extraction, Extractor, Failed, Refused
from minutebook.extract.material import Material
from minutebook.extract.pricing import OverBudget
from minutebook.model import Usage

_TROUBLES_IN_A_ROW = 3
"""A service that fails so often in a row is down: asking on would only take time."""

Take = Callable[[Material, Extraction | Failed], None]


@dataclass
class Asked:
    """How far the asking has got."""

    total: int = 0
    done: int = 0
    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    cost_usd: float = 0.0
    stopped: str | None = None
    interrupted: bool = False
    troubles: int = 0

    def count(self, result: Extraction | Failed) -> None:
        self.done += 1
        self.calls += 1
        if isinstance(result, Extraction):
            self.troubles = 0
            self.usage += result.usage
            self.cost_usd += result.cost_usd
            return
        self.troubles = self.troubles + 1 if result.service else 0
        if self.troubles >= _TROUBLES_IN_A_ROW:
            self.stopped = str(result)


def ask_all(
    extractor: Extractor,
    pending: Sequence[Material],
    take: Take,
    asked: Asked,
    concurrency: int,
    progress: Callable[[Asked], None] | None,
) -> None:
    """One call a session. Ctrl-C lets what is under way finish, and writes it down."""
    waiting = list(reversed(pending))
    flying: dict[Future[Extraction], Material] = {}
    with ThreadPoolExecutor(max(1, concurrency)) as pool:
        while waiting or flying:
            try:
                while waiting and not asked.stopped and len(flying) < max(1, concurrency):
                    material = waiting.pop()
                    flying[pool.submit(extractor.extract, material)] = material
                if not flying:
                    return
                ready, _ = wait(flying, return_when=FIRST_COMPLETED)
                for future in ready:
                    _land(future, flying.pop(future), take, asked)
                    if progress is not None:
                        progress(asked)
            except KeyboardInterrupt:
                if asked.interrupted:
                    raise  # asked twice: now at once
                asked.interrupted = True
                asked.stopped = "interrupted"


def _land(future: Future[Extraction], material: Material, take: Take, asked: Asked) -> None:
    try:
        result: Extraction | Failed = future.result()
    except Failed as error:
        result = error
    except Refused as error:
        asked.stopped = asked.stopped or str(error)
        return
    except OverBudget:
        asked.stopped = asked.stopped or "the limit of --max-cost is reached"
        return
    take(material, result)
    asked.count(result)
