"""Extraction by any OpenAI-compatible endpoint: Ollama, llama.cpp, vLLM, gateways."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from minutebook.extract import prompt
from minutebook.extract.conversation import Answer, Messages, converse
from minutebook.extract.extractor import Extraction, Failed, Refused, Spent, Unavailable
from minutebook.extract.material import Material
from minutebook.extract.pricing import Budget
from minutebook.extract.secret import Secret, shown_address
from minutebook.model import Usage

if TYPE_CHECKING:
    import httpx2

_RETRIES = 5
_TIMEOUT = 600.0  # a local model on a laptop takes its time
_LONGEST_WAIT = 30.0
_FOR_ALL = (401, 402, 403, 404)  # key, credit and address are the same for every session


class _Choice(msgspec.Struct):
    class _Message(msgspec.Struct):
        content: str | None = None

    message: _Message


class _Used(msgspec.Struct):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Completion(msgspec.Struct):
    choices: list[_Choice]
    model: str | None = None
    usage: _Used | None = None


class OpenAIExtractor:
    name = "openai"

    def __init__(
        self,
        base_url: str,
        model: str,
        key: Secret | None = None,
        budget: Budget | None = None,
        retries: int = _RETRIES,
    ) -> None:
        self.model = model
        self.version = prompt.version()
        self.budget = budget or Budget()
        self.destination = shown_address(base_url)
        address = urlsplit(base_url)
        self._url = address._replace(path=f"{address.path.rstrip('/')}/chat/completions").geturl()
        self._key = key or Secret("")
        self._retries = retries
        self._client: httpx2.Client | None = None

    @property
    def client(self) -> httpx2.Client:
        if self._client is None:
            import httpx2

            key = self._key.reveal()
            headers = {"authorization": f"Bearer {key}"} if key else {}
            self._client = httpx2.Client(headers=headers, timeout=_TIMEOUT)
        return self._client

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None

    def forecast(self, material: Material) -> float | None:  # noqa: ARG002 - the protocol's
        return None  # nobody knows what an endpoint charges

    def extract(self, material: Material) -> Extraction:
        return converse(self._ask, material)

    def _ask(self, messages: Messages) -> Answer:
        system = {"role": "system", "content": prompt.instructions()}
        completion = self._complete([system, *messages])
        used = completion.usage or _Used()
        usage = Usage(used.prompt_tokens, used.completion_tokens)
        text = (completion.choices[0].message.content or "") if completion.choices else ""
        return Answer(text, completion.model or self.model, Spent(1, usage))

    def _complete(self, messages: Messages) -> _Completion:
        body = {
            "model": self.model,
            "messages": messages,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "minutes", "strict": True, "schema": prompt.schema()},
            },
        }
        response = self._post(body)
        try:
            return msgspec.json.decode(response.content, type=_Completion)
        except msgspec.DecodeError as error:
            raise Failed(f"{self.destination} answered something else: {error}") from None

    def _post(self, body: dict[str, Any]) -> httpx2.Response:
        """One request; what may pass by itself is tried again, with growing pauses."""
        import httpx2

        for attempt in range(self._retries + 1):
            try:
                response = self.client.post(self._url, json=body)
            except httpx2.TimeoutException:
                raise Unavailable(f"{self.destination} did not answer in time") from None
            except (httpx2.HTTPError, httpx2.InvalidURL) as error:
                said = self._key.scrub(str(error))
                raise Refused(f"{self.destination} cannot be reached: {said}") from None
            except UnicodeError:
                raise Refused("the key cannot be sent: a character of it is not ASCII") from None
            if not _passes(response.status_code):
                break
            if attempt < self._retries:
                time.sleep(min(_LONGEST_WAIT, 0.5 * 2**attempt))
        if response.is_success:
            return response
        raise self._explained(response.status_code, response.text)

    def _explained(self, status: int, text: str) -> Failed | Refused:
        """What went wrong; whether it makes sense to go on asking."""
        said = f"({status}): {self._key.scrub(text)}"
        if _passes(status):
            return Unavailable(f"{self.destination} failed {said}")
        if status in _FOR_ALL or status < 400:
            return Refused(f"{self.destination} refuses {said}")
        return Failed(f"{self.destination} refused the request {said}")


def _passes(status: int) -> bool:
    return status in (408, 429) or status >= 500
