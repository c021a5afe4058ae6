"""Prompts typed while the model was busy.

They go into a queue, and from there take one of several ways into the conversation:

- ``dequeue``: they come back as an ordinary user record;
- ``remove``: they were injected into the running turn; from 2.1.100 an
  ``attachment.queued_command`` carries them, before that *only the queue does*;
- ``popAll``: the person took them back into the editor, so they were never said.

`PromptQueue` follows the operations and gives back the prompts nobody else carries.
"""

from __future__ import annotations

import hashlib

import msgspec

from minutebook.model.round import QUEUED
from minutebook.sources.claude_code.messages import spoken

_MOST_HEARD = 1_000  # texts whose line in the queue may still be to come
_MOST_TIMES = 50  # of one text, which may be "continue"


class QueuedPrompt(msgspec.Struct, frozen=True):
    text: str
    at: str | None

    @property
    def id(self) -> str:
        """The queue gives no id; this one is the same at every reading."""
        digest = hashlib.sha256(f"{self.at}\n{self.text}".encode()).hexdigest()
        return f"{QUEUED}{digest[:24]}"

    @property
    def key(self) -> str:
        return spoken(self.text).strip()


class PromptQueue(msgspec.Struct):
    """A value, so that a reading can be interrupted and taken up again."""

    withdrawn: int = 0
    _waiting: list[QueuedPrompt] = []
    _injected: list[QueuedPrompt] = []
    """Removed, and not yet seen elsewhere."""
    _sent: list[QueuedPrompt] = []
    """Dequeued, and not yet seen elsewhere."""
    _early: int = 0
    """Carried by an attachment whose `remove` is still to come."""
    _heard: dict[str, list[str]] = {}
    """Digest of a text → times of the records that carry it."""

    def operation(self, name: str | None, text: str | None, at: str | None) -> None:
        if name == "enqueue":
            if text is not None and not self._already(prompt := QueuedPrompt(text, at)):
                self._waiting.append(prompt)
        elif name == "dequeue":
            if self._waiting:
                self._sent.append(self._waiting.pop(0))
        elif name == "remove":
            self._remove(text)
        elif name == "popAll":
            self.withdrawn += len(self._waiting)
            self._waiting.clear()

    def _remove(self, text: str | None) -> None:
        if text is not None:
            key = spoken(text).strip()
            found = next((p for p in self._waiting if p.key == key), None)
        elif self._early:
            self._early -= 1
            found = None
        else:
            found = self._waiting[0] if self._waiting else None
        if found is not None:
            self._waiting.remove(found)
            self._injected.append(found)

    def _already(self, prompt: QueuedPrompt) -> bool:
        """Whether the record that carries a prompt was flushed before the queue's own line."""
        times = self._heard.get(_digest(prompt.key), [])
        later = next((time for time in times if prompt.at and time >= prompt.at), None)
        if later is not None:
            times.remove(later)
        return later is not None

    def seen(self, text: str, at: str | None, *, injected: bool = False) -> None:
        """A user record (or, `injected`, an attachment) carries this text: it is not lost."""
        key = spoken(text).strip()
        for queue in (self._injected, self._sent, self._waiting):
            for prompt in queue:
                if prompt.key == key:
                    queue.remove(prompt)
                    self._early += injected and queue is self._waiting
                    return
        if self._joined(key):
            return
        if at:
            times = self._heard.setdefault(_digest(key), [])
            times.append(at)
            del times[:-_MOST_TIMES]
            if len(self._heard) > _MOST_HEARD:
                del self._heard[next(iter(self._heard))]

    def _joined(self, key: str) -> bool:
        """Several prompts sent together come back as one record, a line each."""
        together = self._sent + self._waiting
        for count in range(2, len(together) + 1):
            if "\n".join(prompt.key for prompt in together[:count]) == key:
                self._waiting = self._waiting[max(0, count - len(self._sent)) :]
                self._sent = self._sent[count:]
                return True
        return False

    def lost(self) -> list[QueuedPrompt]:
        """Injected prompts that no other record carried; asked for when a reply follows."""
        found, self._injected = self._injected, []
        return found

    def leftover(self) -> list[QueuedPrompt]:
        """At the end of the file: everything typed that never came back."""
        rest = self._injected + self._sent + self._waiting
        self._injected, self._sent, self._waiting = [], [], []
        return rest

    def __bool__(self) -> bool:
        return bool(self._injected)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()
