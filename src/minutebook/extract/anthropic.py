"""Extraction by the Anthropic Messages API, through the official SDK."""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, Any

from minutebook.extract import prompt
from minutebook.extract.conversation import Answer, Messages, converse
from minutebook.extract.extractor import Extraction, Failed, Refused, Spent, Unavailable
from minutebook.extract.material import Material
from minutebook.extract.pricing import (
    TYPICAL_OUTPUT,
    Budget,
    Price,
    answer_tokens,
    price_of,
    tokens_of,
)
from minutebook.extract.second_look import boundaries, is_long
from minutebook.extract.secret import Secret, shown_address
from minutebook.model import Usage

if TYPE_CHECKING:
    from anthropic import Anthropic
    from anthropic.types import Message

DEFAULT_MODEL = "claude-sonnet-5-5"
MOST_OUTPUT = 8_000
_MOST_OUTPUT_CAPPED = 5_000  # with a limit, the worst case is reserved: keep it small
_RETRIES = 6  # of the SDK, with its backoff: 429, 5xx, timeouts, lost connections
_TIMEOUT = 180.0
_CACHE = {"type": "ephemeral"}  # kept by the service for some minutes, read for a tenth
# Models that think before they answer, and can be told that this needs little of it.
_EFFORT = ("claude-sonnet-5", "claude-opus-5", "claude-haiku-5", "claude-fable", "claude-mythos")


class AnthropicExtractor:
    """One structured call a session; a bad reply is sent back with what is wrong with it."""

    name = "anthropic"

    def __init__(
        self,
        key: Secret,
        model: str | None = None,
        budget: Budget | None = None,
        base_url: str | None = None,
        retries: int = _RETRIES,
    ) -> None:
        self.model = model or DEFAULT_MODEL
        self.version = prompt.version()
        self.budget = budget or Budget()
        self.destination = shown_address(base_url) if base_url else "api.anthropic.com"
        self._key = key
        self._base_url = base_url
        self._retries = retries
        self._client: Anthropic | None = None
        self._opening = threading.Lock()

    @property
    def price(self) -> Price | None:
        """What the model costs; looked up when it is needed, for that takes time."""
        return price_of(self.model)

    @property
    def client(self) -> Anthropic:
        with self._opening:  # several sessions are asked about at once, over one connection pool
            if self._client is None:
                # The SDK takes longer to import than everything else together.
                from anthropic import Anthropic

                self._client = Anthropic(
                    api_key=self._key.reveal(),
                    base_url=self._base_url,
                    max_retries=self._retries,
                    timeout=_TIMEOUT,
                )
            return self._client

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None

    def forecast(self, material: Material) -> float | None:
        if self.price is None:
            return None
        asked = tokens_of(prompt.instructions()) + tokens_of(prompt.document(material))
        cost = self.price.of(Usage(input=asked, output=answer_tokens(len(material.rounds))))
        return cost + self._second_look(material, asked) if is_long(material) else cost

    def _second_look(self, material: Material, asked: int) -> float:
        """What looking again adds: the question is kept by the service, and read from there."""
        assert self.price is not None
        more = answer_tokens(len(material.rounds)) + tokens_of(boundaries(material, ()))
        again = Usage(input=more, output=TYPICAL_OUTPUT, cache_read=asked)
        kept = self.price.of(Usage(cache_write=asked)) - self.price.of(Usage(input=asked))
        return kept + self.price.of(again)

    def extract(self, material: Material) -> Extraction:
        return converse(partial(self._ask, keep=is_long(material)), material)

    def request(self, messages: Messages, *, keep: bool = False) -> dict[str, Any]:
        """The body of a call; instructions come first and are the same for all: cached.

        `keep` has the question cached as well, where it is going to be asked about again.
        """
        config: dict[str, Any] = {"format": {"type": "json_schema", "schema": prompt.schema()}}
        if self.model.startswith(_EFFORT):
            config["effort"] = "low"
        system = {"type": "text", "text": prompt.instructions(), "cache_control": _CACHE}
        return {
            "model": self.model,
            "max_tokens": MOST_OUTPUT if self.budget.limit is None else _MOST_OUTPUT_CAPPED,
            "system": [system],
            "messages": messages,
            "output_config": config,
            **({"cache_control": _CACHE} if keep else {}),
        }

    def worst(self, request: dict[str, Any]) -> float:
        """What a call costs at most."""
        if self.price is None:
            return 0.0
        asked = sum(tokens_of(message["content"]) for message in request["messages"])
        kept = tokens_of(prompt.instructions())
        if "cache_control" in request:
            asked, kept = 0, asked + kept
        return self.price.of(Usage(input=asked, output=request["max_tokens"], cache_write=kept))

    def answer(self, message: Message, *, batch: bool = False) -> Answer:
        """What a message says and cost; `Failed` where it is no message at all."""
        import anthropic

        # The SDK hands over whatever came with status 200, a captive portal's page included.
        known = isinstance(message, anthropic.types.Message)
        if not known or message.usage is None or not isinstance(message.content, list):
            raise Failed(f"{self.destination} answered something that is not a message")
        usage = _usage(message)
        cost = self.price.of(usage, batch=batch) if self.price else 0.0
        text = "".join(block.text for block in message.content if block.type == "text")
        unusable = _UNUSABLE.get(str(message.stop_reason))
        return Answer(text, message.model, Spent(1, usage, cost), unusable)

    def explained(self, error: Exception) -> Failed | Refused:
        """What went wrong, in a sentence; whether it makes sense to go on asking."""
        said = str(getattr(error, "message", None) or error)
        return _explained(error, self._key.scrub(said))

    def _ask(self, messages: Messages, *, keep: bool = False) -> Answer:
        import anthropic

        request = self.request(messages, keep=keep)
        worst = self.worst(request)
        self.budget.reserve(worst)
        real = 0.0
        try:
            answer = self.answer(self.client.messages.create(**request))
            real = answer.spent.cost_usd
            return answer
        except anthropic.APIError as error:
            raise self.explained(error) from None
        except (ValueError, UnicodeError) as error:
            # A URL that is none, a key that cannot stand in a header.
            raise Refused(f"the request cannot be made: {self._key.scrub(str(error))}") from None
        finally:
            self.budget.settle(worst, real)


_UNUSABLE = {
    "refusal": "the model refused to answer",
    "max_tokens": "it was cut off; use fewer words",
}


def _usage(message: Message) -> Usage:
    used = message.usage
    return Usage(
        used.input_tokens or 0,
        used.output_tokens or 0,
        used.cache_read_input_tokens or 0,
        used.cache_creation_input_tokens or 0,
    )


def _explained(error: Exception, said: str) -> Failed | Refused:
    import anthropic

    status = getattr(error, "status_code", None)
    if isinstance(error, anthropic.AuthenticationError | anthropic.PermissionDeniedError):
        return Refused("Anthropic does not accept the key: check ANTHROPIC_API_KEY or ~/.secrets")
    if isinstance(error, anthropic.NotFoundError):
        return Refused(f"Anthropic does not know the model: {said}")
    if isinstance(error, anthropic.APITimeoutError):
        return Unavailable("Anthropic did not answer in time")
    if isinstance(error, anthropic.APIConnectionError):
        return Refused("Anthropic cannot be reached: check the network and the address")
    if "credit balance" in said or "spend limit" in said:
        return Refused(f"Anthropic's limit is reached: {said}")
    if status == 429 or (status is not None and status >= 500):
        return Unavailable(f"Anthropic is overloaded or limits the rate ({status})")
    return Failed(f"Anthropic refused the request: {said}")
