"""Extraction by the Anthropic Messages API, through the official SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minutebook.extract import prompt
from minutebook.extract.extractor import Extraction, Failed, Refused
from minutebook.extract.material import Material
from minutebook.extract.pricing import TYPICAL_OUTPUT, Budget, Price, price_of, tokens_of
from minutebook.extract.reply import Reply
from minutebook.extract.secret import Secret
from minutebook.extract.validation import BadReply, parse_reply
from minutebook.model import Usage

if TYPE_CHECKING:
    from anthropic import Anthropic
    from anthropic.types import Message

DEFAULT_MODEL = "claude-sonnet-5-5"
MOST_OUTPUT = 8_000
_MOST_OUTPUT_CAPPED = 4_000  # with a limit, the worst case is reserved: keep it small
_ATTEMPTS = 3
_RETRIES = 6  # of the SDK, with its backoff: 429, 5xx, timeouts, lost connections
_TIMEOUT = 180.0
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
        self.destination = base_url or "api.anthropic.com"
        self._key = key
        self._base_url = base_url
        self._retries = retries
        self._client: Anthropic | None = None

    @property
    def price(self) -> Price | None:
        return price_of(self.model)

    @property
    def client(self) -> Anthropic:
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
        return self.price.of(Usage(input=asked, output=TYPICAL_OUTPUT))

    def request(self, material: Material) -> dict[str, Any]:
        """The body of a call; instructions come first and are the same for all: cached."""
        config: dict[str, Any] = {"format": {"type": "json_schema", "schema": prompt.schema()}}
        if self.model.startswith(_EFFORT):
            config["effort"] = "low"
        return {
            "model": self.model,
            "max_tokens": MOST_OUTPUT if self.budget.limit is None else _MOST_OUTPUT_CAPPED,
            "system": [
                {
                    "type": "text",
                    "text": prompt.instructions(),
                    "cache_control": {"type": "ephemeral"},
                }
            ],
            "messages": [{"role": "user", "content": prompt.document(material)}],
            "output_config": config,
        }

    def extract(self, material: Material) -> Extraction:
        request = self.request(material)
        usage, cost, problem = Usage(), 0.0, ""
        for _ in range(_ATTEMPTS):
            message = self._call(request)
            spent = usage_of(message)
            usage += spent
            cost += self.price.of(spent) if self.price else 0.0
            answer = text_of(message)
            try:
                reply = read_message(message, len(material.rounds))
                return Extraction(reply, message.model, usage, cost)
            except BadReply as error:
                problem = str(error)
            request["messages"] = [
                *request["messages"][:1],
                {"role": "assistant", "content": answer or "(no answer)"},
                {"role": "user", "content": f"This cannot be used: {problem}. Answer again."},
            ]
        raise Failed(f"the reply could not be used, {_ATTEMPTS} times: {problem}")

    def _call(self, request: dict[str, Any]) -> Message:
        import anthropic

        worst = self.worst(request)
        self.budget.reserve(worst)
        real = 0.0
        try:
            message: Message = self.client.messages.create(**request)
            real = self.price.of(usage_of(message)) if self.price else 0.0
            return message
        except anthropic.APIError as error:
            raise self.explained(error) from None
        finally:
            self.budget.settle(worst, real)

    def worst(self, request: dict[str, Any]) -> float:
        """What a call costs at most."""
        if self.price is None:
            return 0.0
        asked = sum(tokens_of(message["content"]) for message in request["messages"])
        system = tokens_of(prompt.instructions())
        usage = Usage(input=asked, output=request["max_tokens"], cache_write=system)
        return self.price.of(usage)

    def explained(self, error: Exception) -> Failed | Refused:
        """What went wrong, in a sentence; whether it makes sense to go on asking."""
        said = str(getattr(error, "message", None) or error)
        return _explained(error, self._key.scrub(said)[:300])


def read_message(message: Message, rounds: int) -> Reply:
    """The reply in a message; `BadReply` where there is none."""
    if message.stop_reason == "refusal":
        raise BadReply("the model refused to answer")
    if message.stop_reason == "max_tokens":
        raise BadReply("it was cut off; use fewer words")
    return parse_reply(text_of(message), rounds)


def text_of(message: Message) -> str:
    return "".join(block.text for block in message.content if block.type == "text")


def usage_of(message: Message) -> Usage:
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
        return Failed("Anthropic did not answer in time", service=True)
    if isinstance(error, anthropic.APIConnectionError):
        return Refused("Anthropic cannot be reached: check the network")
    if "credit balance" in said or "spend limit" in said:
        return Refused(f"Anthropic's limit is reached: {said}")
    if status == 429 or (status is not None and status >= 500):
        return Failed(f"Anthropic is overloaded or limits the rate ({status})", service=True)
    return Failed(f"Anthropic refused the request: {said}")
