"""The Message Batches API: half the price, within a day, and a run can be picked up again.

An answer of a batch is final: asking again, or a second look at a long session, would be
another batch and another day.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from minutebook.extract import prompt
from minutebook.extract.anthropic import AnthropicExtractor
from minutebook.extract.conversation import read_answer, remarks_on
from minutebook.extract.extractor import Extraction, Failed, OverBudget
from minutebook.extract.material import Material
from minutebook.extract.validation import BadReply

if TYPE_CHECKING:
    from anthropic.types.messages import MessageBatchIndividualResponse

_FIRST_WAIT = 2.0
_LONGEST_WAIT = 60.0


class PendingBatch(msgspec.Struct, frozen=True):
    """A batch that was sent, as it is written down until its results are there."""

    id: str
    digests: dict[str, str]
    """Digest of what was sent, by session: a session that has changed since is asked again."""


def send(extractor: AnthropicExtractor, materials: Sequence[Material]) -> PendingBatch:
    """Hand sessions over, as many as the budget allows; `OverBudget` where that is none."""
    import anthropic

    requests: list[Any] = []
    reserved, digests = 0.0, {}
    try:
        for material in materials:
            request = extractor.request([{"role": "user", "content": prompt.document(material)}])
            worst = extractor.worst(request) / 2
            extractor.budget.reserve(worst)
            reserved += worst
            requests.append({"custom_id": custom_id(material.info.id), "params": request})
            digests[material.info.id] = material.digest
    except OverBudget:
        if not requests:
            raise
    try:
        batch = extractor.client.messages.batches.create(requests=requests)
    except anthropic.APIError as error:
        raise extractor.explained(error) from None
    finally:
        extractor.budget.settle(reserved, 0.0)
    return PendingBatch(batch.id, digests)


def wait_for(
    extractor: AnthropicExtractor,
    pending: PendingBatch,
    pause: Callable[[float], None] = time.sleep,
) -> bool:
    """Wait until a batch has ended; False where nobody knows it any more."""
    import anthropic

    delay = _FIRST_WAIT
    while True:
        try:
            batch = extractor.client.messages.batches.retrieve(pending.id)
        except anthropic.NotFoundError:
            return False
        except anthropic.APIError as error:
            raise extractor.explained(error) from None
        if batch.processing_status == "ended":
            return True
        pause(delay)
        delay = min(_LONGEST_WAIT, delay * 1.5)


def results(
    extractor: AnthropicExtractor, pending: PendingBatch, materials: Mapping[str, Material]
) -> Iterator[tuple[str, Extraction | Failed]]:
    """What came of each session that is still as it was when it was sent."""
    import anthropic

    sent = {custom_id(id): id for id in pending.digests}
    try:
        for entry in extractor.client.messages.batches.results(pending.id):
            session_id = sent.get(entry.custom_id, "")
            material = materials.get(session_id)
            if material is not None and material.digest == pending.digests[session_id]:
                yield session_id, _result(extractor, entry, material)
    except anthropic.APIError as error:
        raise extractor.explained(error) from None


def _result(
    extractor: AnthropicExtractor, entry: MessageBatchIndividualResponse, material: Material
) -> Extraction | Failed:
    if entry.result.type != "succeeded":
        return Failed(f"the batch says: {entry.result.type}")
    try:
        answer = extractor.answer(entry.result.message, batch=True)
    except Failed as error:
        return error
    extractor.budget.settle(0.0, answer.spent.cost_usd)
    try:
        reply = read_answer(answer, material)
        return Extraction(reply, answer.model, answer.spent, remarks_on(reply, material))
    except BadReply as error:
        return Failed(f"the reply could not be used: {error}", answer.spent)


def custom_id(session_id: str) -> str:
    """A session's id in the form the API allows."""
    if re.fullmatch(r"[A-Za-z0-9_-]{1,64}", session_id):
        return session_id
    return hashlib.sha256(session_id.encode("utf-8", "replace")).hexdigest()
