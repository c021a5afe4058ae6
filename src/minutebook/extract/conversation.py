"""Asking a model until its reply can be used, or it is clear that it never will (ING-19)."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from minutebook.extract import prompt
from minutebook.extract.extractor import Extraction, Failed, NoAnswer, Spent
from minutebook.extract.material import Material
from minutebook.extract.validation import BadReply, parse_reply

ATTEMPTS = 3


class Answer(msgspec.Struct, frozen=True):
    """What a model said to a request."""

    text: str
    model: str | None
    spent: Spent
    unusable: str | None = None
    """Why it cannot even be looked at: cut off, refused."""


Messages = list[dict[str, str]]


def converse(ask: Callable[[Messages], Answer], material: Material) -> Extraction:
    """One question; a reply that cannot be used is sent back with what is wrong with it."""
    question = {"role": "user", "content": prompt.document(material)}
    messages, spent, problem = [question], Spent(), ""
    for _ in range(ATTEMPTS):
        try:
            answer = ask(messages)
        except NoAnswer as error:
            error.spent += spent
            raise
        spent += answer.spent
        try:
            if answer.unusable is not None:
                raise BadReply(answer.unusable)
            reply = parse_reply(answer.text, len(material.rounds))
            return Extraction(reply, answer.model, spent)
        except BadReply as error:
            problem = str(error)
        messages = [
            question,
            {"role": "assistant", "content": answer.text.strip() or "(no answer)"},
            {"role": "user", "content": f"This cannot be used: {problem}. Answer again."},
        ]
    raise Failed(f"the reply could not be used, {ATTEMPTS} times: {problem}", spent)
