"""Asking by one batch: half the price, and a run that is killed is picked up by the next."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import msgspec

from minutebook.errors import BadArgument
from minutebook.extract.anthropic import AnthropicExtractor
from minutebook.extract.batches import PendingBatch, results, send, wait_for
from minutebook.extract.extractor import Extractor, NoAnswer
from minutebook.extract.material import Material
from minutebook.record.layout import Layout
from minutebook.record.store import write_atomically
from minutebook.verbs.ask import Answer, Asked, interruptible


class _Interrupted(Exception):
    """Somebody pressed Ctrl-C while nothing was to be lost."""


def ask_batch(
    layout: Layout, extractor: Extractor, pending: Sequence[Material], asked: Asked
) -> Iterator[Answer]:
    """All sessions in one batch; a batch that was sent by an earlier run is picked up first."""
    if not isinstance(extractor, AnthropicExtractor):
        raise BadArgument("Only the anthropic extractor has batches.", remedy="no-batch")
    waiting = {material.info.id: material for material in pending}

    def pause(seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if asked.interrupts:
                raise _Interrupted
            time.sleep(min(left, 0.1))

    try:
        with interruptible(asked):
            while waiting and not asked.stopped:
                batch = sent_before(layout)
                if batch is not None and not wait_for(extractor, batch, pause):
                    batch = None  # too long ago: its results are gone
                if batch is None:
                    batch = send(extractor, list(waiting.values()))
                    write_atomically(layout.batch, msgspec.json.encode(batch))
                    wait_for(extractor, batch, pause)
                for session_id, result in results(extractor, batch, waiting):
                    yield waiting.pop(session_id), result
                    asked.count(result)
                layout.batch.unlink(missing_ok=True)
                unanswered = [id for id in batch.digests if id in waiting]
                if any(waiting[id].digest == batch.digests[id] for id in unanswered):
                    asked.stop("the batch has no answer for some sessions")
    except NoAnswer as error:
        asked.spent += error.spent
        asked.stop(str(error))
    except _Interrupted:
        pass  # the batch is written down, and noted as interrupted already


def sent_before(layout: Layout) -> PendingBatch | None:
    """A batch an earlier run sent and did not see the end of."""
    try:
        return msgspec.json.decode(layout.batch.read_bytes(), type=PendingBatch)
    except (OSError, msgspec.DecodeError):
        return None
