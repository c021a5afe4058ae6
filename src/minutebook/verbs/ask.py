"""Asking a model about many sessions: several at a time, within a budget, stoppable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

import msgspec

from minutebook.archive.layout import Layout
from minutebook.archive.store import write_atomically
from minutebook.errors import BadArgument
from minutebook.extract.anthropic import AnthropicExtractor
from minutebook.extract.batches import PendingBatch, results, send, wait_for
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
    layout: Layout,  # noqa: ARG001 - as ask_batch
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


def ask_batch(
    layout: Layout,
    extractor: Extractor,
    pending: Sequence[Material],
    take: Take,
    asked: Asked,
    concurrency: int,  # noqa: ARG001 - as ask_all
    progress: Callable[[Asked], None] | None,
) -> None:
    """All sessions in one batch; a batch that was sent by an earlier run is picked up first."""
    if not isinstance(extractor, AnthropicExtractor):
        raise BadArgument("Only the anthropic extractor has batches: leave --batch out.")
    waiting = {material.info.id: material for material in pending}

    def on_the_way(done: int, total: int) -> None:
        asked.done, asked.total = done, max(total, asked.total)
        if progress is not None:
            progress(asked)

    try:
        while waiting:
            batch = _sent_before(layout)
            if batch is None:
                batch = send(extractor, list(waiting.values()))
                write_atomically(layout.batch, msgspec.json.encode(batch))
            wait_for(extractor, batch, on_the_way)
            asked.done = len(pending) - len(waiting)
            for session_id, result in results(extractor, batch, waiting):
                take(waiting.pop(session_id), result)
                asked.count(result)
            layout.batch.unlink(missing_ok=True)
            unanswered = [id for id in batch.digests if id in waiting]
            if unanswered and all(waiting[id].digest == batch.digests[id] for id in unanswered):
                asked.stopped = "the batch has no answer for some sessions"
                return
    except Refused as error:
        asked.stopped = str(error)
    except Failed as error:
        asked.stopped = str(error)
    except OverBudget:
        asked.stopped = "the limit of --max-cost is reached"
    except KeyboardInterrupt:
        asked.interrupted, asked.stopped = True, "interrupted"


def _sent_before(layout: Layout) -> PendingBatch | None:
    """A batch an earlier run sent and did not see the end of."""
    try:
        return msgspec.json.decode(layout.batch.read_bytes(), type=PendingBatch)
    except (OSError, msgspec.DecodeError):
        return None
