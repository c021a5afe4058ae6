"""Extraction by the user's own ``claude``: people with a subscription have no key.

Run in an empty folder, without tools, hooks, MCP servers, CLAUDE.md or a session left
behind (``claude-cli-behaviour.md`` §5). The CLI retries a reply that breaks the schema
by itself; what it finally says is checked all the same.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import msgspec

from minutebook.errors import BadArgument
from minutebook.extract import prompt
from minutebook.extract.conversation import Answer, Messages, converse
from minutebook.extract.extractor import Extraction, Failed, Refused, Spent, Unavailable
from minutebook.extract.material import Material, hidden
from minutebook.extract.pricing import (
    TYPICAL_OUTPUT,
    Budget,
    answer_tokens,
    price_of,
    tokens_of,
)
from minutebook.extract.second_look import boundaries, is_long
from minutebook.model import Usage

DEFAULT_MODEL = "sonnet"
_TIMEOUT = 300.0
_ATTEMPTS = 2
_MOST_OUTPUT = 8_000
# What it says of what no session can change, and of what is wrong with one; all else passes.
_STATUS = r"\A(?:API Error:? *)?\(?"
_FOR_ALL = re.compile(
    rf"{_STATUS}40[1-4]\b|(?<!rate )(?<!context )limit reached|credit balance|selected model"
    r"|(?:hit|reached) your [\w -]{0,20}limit|organization\b.{0,40}\bdisabled",
    re.IGNORECASE,
)
_LOGIN = re.compile(r"/login\b|not logged in|api key", re.IGNORECASE)
_OWN = re.compile(
    rf"{_STATUS}4(?!08|29)\d\d\b|too (?:long|large|big)|context (?:limit|window)|error_max"
    r"|structured output|schema",
    re.IGNORECASE,
)
# The CLI's own names for models, and the dearest they may stand for.
_DEAREST = {
    "sonnet": "claude-sonnet-4-6",
    "haiku": "claude-haiku-4-5",
    "opus": "claude-opus-5",
    "other": "claude-fable-5",
}


def _cost(model: str, usage: Usage) -> float:
    """What tokens cost at most, by the API's prices."""
    name = next((name for name in _DEAREST if name in model), "other")
    price = price_of(_DEAREST[name])
    return price.of(usage) if price is not None else 0.0


def find_claude() -> str | None:
    """The person's own `claude`, where there is one."""
    return os.environ.get("CLAUDE_BIN") or shutil.which("claude")


class ClaudeCliExtractor:
    name = "claude-cli"

    def __init__(
        self,
        model: str | None = None,
        budget: Budget | None = None,
        program: str | None = None,
        timeout: float = _TIMEOUT,
    ) -> None:
        found = program or find_claude()
        if found is None:
            raise BadArgument(
                "There is no `claude` on this machine: install Claude Code, or set CLAUDE_BIN."
            )
        self.model = model or DEFAULT_MODEL
        self.version = prompt.version()
        self.budget = budget or Budget()
        self.destination = f"Anthropic, by your own `{Path(found).name}`"
        self._program = found
        self._timeout = timeout

    def close(self) -> None:
        """Every call is a process of its own: there is nothing to let go of."""

    def forecast(self, material: Material) -> float | None:
        """What it would cost by the API's prices; a subscription counts it against its limits."""
        asked = tokens_of(prompt.instructions()) + tokens_of(prompt.document(material))
        answered = answer_tokens(len(material.rounds))
        cost = _cost(self.model, Usage(cache_write=asked, output=answered))
        if is_long(material):
            asked += answered + tokens_of(boundaries(material, ()))
            cost += _cost(self.model, Usage(cache_write=asked, output=TYPICAL_OUTPUT))
        return cost

    def extract(self, material: Material) -> Extraction:
        return converse(self._ask, material, _ATTEMPTS)

    def _ask(self, messages: Messages) -> Answer:
        text = _told(messages)
        worst = self._worst(text)
        self.budget.reserve(worst)
        spent = Spent()
        try:
            status, said = self._call(text)
            spent = Spent(1, _usage(said), _number(said.get("total_cost_usd")))
        except subprocess.TimeoutExpired:
            spent = Spent(1, cost_usd=worst)  # how much of it, only the service knows
            raise Unavailable(f"claude did not answer in {self._timeout:.0f} s", spent) from None
        finally:
            self.budget.settle(worst, spent.cost_usd)
        # ``subtype: success`` is said even of errors.
        if status or said.get("is_error"):
            raise _explained(said, spent)
        answer = said.get("structured_output")
        if not isinstance(answer, dict):
            return Answer("", self.model, spent, "there is no structured output")
        return Answer(msgspec.json.encode(answer).decode(), _model(said) or self.model, spent)

    def _worst(self, text: str) -> float:
        """What a call costs at most, as far as anybody can say from outside."""
        asked = tokens_of(prompt.instructions()) + tokens_of(text)
        return _cost(self.model, Usage(cache_write=asked, output=_MOST_OUTPUT))

    def _call(self, text: str) -> tuple[int, dict[str, Any]]:
        """The status the CLI ended with, and what it printed."""
        with tempfile.TemporaryDirectory(prefix="minutebook-") as folder:
            instructions = Path(folder, "instructions.md")
            instructions.write_text(prompt.instructions(), encoding="utf-8")
            empty = Path(folder, "empty")
            empty.mkdir()
            command = [
                *(self._program, "-p", "--safe-mode", "--strict-mcp-config"),
                *("--disable-slash-commands", "--no-session-persistence", "--tools", ""),
                *("--model", str(self.model), "--effort", "low"),
                *("--system-prompt-file", str(instructions), "--output-format", "json"),
                *("--json-schema", msgspec.json.encode(prompt.schema()).decode()),
            ]
            status, output, errors = _run(command, text.encode(), empty, self._timeout)
        try:
            said = msgspec.json.decode(output)
        except msgspec.DecodeError:
            said = None
        if not isinstance(said, dict):
            words = hidden((errors or output).decode("utf-8", "replace")).strip()[-300:]
            raise Refused(f"claude failed (status {status}): {words or 'it said nothing'}")
        return status, said


def _told(messages: Messages) -> str:
    """A conversation as one text: every call is a session of its own, that knows no other."""
    question, *rest = (message["content"] for message in messages)
    if not rest:
        return question
    answer, *more = rest
    return "\n\n".join((question, f"You answered:\n\n<answer>\n{answer}\n</answer>", *more))


def _run(command: list[str], text: bytes, cwd: Path, timeout: float) -> tuple[int, bytes, bytes]:
    """Run a program in a group of its own, so that its children end with it."""
    try:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            # Without this the CLI sends the text a second time, to find a title for it.
            env={**os.environ, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"},
        )
    except OSError as error:
        raise Refused(f"{command[0]} cannot be run: {error.strerror}") from None
    with process:
        try:
            output, errors = process.communicate(text, timeout)
        finally:
            if process.poll() is None and hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)  # with whatever it started
            elif process.poll() is None:  # Windows
                process.kill()
    return process.returncode, output, errors


def _explained(said: dict[str, Any], spent: Spent) -> Failed | Refused:
    """What went wrong, in words of the CLI; whether it makes sense to go on asking."""
    found = said.get("result") or said.get("errors") or said.get("subtype")
    words = "; ".join(map(str, found)) if isinstance(found, list) else str(found)
    if _LOGIN.search(words):
        return Refused(f"claude is not logged in: {words}", spent)
    if _FOR_ALL.search(words):
        return Refused(f"claude failed: {words}", spent)
    trouble = Failed if _OWN.search(words) else Unavailable
    return trouble(f"claude failed: {words}", spent)


def _usage(said: dict[str, Any]) -> Usage:
    used = said.get("usage")
    if not isinstance(used, dict):
        return Usage()
    names = ("input_tokens", "output_tokens", "cache_read_input_tokens")
    counts = [int(_number(used.get(name))) for name in (*names, "cache_creation_input_tokens")]
    return Usage(*counts)


def _model(said: dict[str, Any]) -> str | None:
    models = said.get("modelUsage")
    return next(iter(models), None) if isinstance(models, dict) else None


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
