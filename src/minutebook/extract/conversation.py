"""Asking a model until its reply can be used, or it is clear that it never will (ING-19)."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from minutebook.derive.wording import rounds_text
from minutebook.extract import prompt
from minutebook.extract.corrections import overlap, without
from minutebook.extract.extractor import Extraction, Failed, NoAnswer, Spent
from minutebook.extract.material import Material
from minutebook.extract.reply import Reply
from minutebook.extract.second_look import odd_topics, second_question
from minutebook.extract.validation import BadReply, parse_reply
from minutebook.model.said import Ranges

ATTEMPTS = 3


class Answer(msgspec.Struct, frozen=True):
    """What a model said to a request."""

    text: str
    model: str | None
    spent: Spent
    unusable: str | None = None
    """Why it cannot even be looked at: cut off, refused."""


Messages = list[dict[str, str]]
Ask = Callable[[Messages], Answer]


def converse(ask: Ask, material: Material, attempts: int = ATTEMPTS) -> Extraction:
    """One question; a reply that cannot be used is sent back with what is wrong with it.

    For a long session a reply that can be used is asked about once more; it stays as it was
    where nothing comes of that.
    """
    messages, spent, problem = [_said("user", prompt.document(material))], Spent(), ""
    for _ in range(attempts):
        try:
            answer = ask(messages)
        except NoAnswer as error:
            error.spent += spent
            raise
        spent += answer.spent
        try:
            reply = read_answer(answer, material)
        except BadReply as error:
            problem = str(error)
            messages = _followed(messages, answer, f"This cannot be used: {problem}. Answer again.")
            continue
        extraction = Extraction(reply, answer.model, spent, remarks_on(reply, material))
        return _looked_at_again(ask, material, messages, answer, extraction)
    raise Failed(f"the reply could not be used, {attempts} times: {problem}", spent)


def read_answer(answer: Answer, material: Material) -> Reply:
    """The reply an answer is; `BadReply` where it is none."""
    if answer.unusable is not None:
        raise BadReply(answer.unusable)
    return parse_reply(answer.text, len(material.rounds))


def remarks_on(reply: Reply, material: Material) -> tuple[str, ...]:
    """What is out of bounds in a reply that is taken all the same."""
    odd = [f"not 5 to 15 words: {topic}" for topic in odd_topics(reply)]
    left = without(_all(material), _covered(reply))
    return (*odd, *([f"in no engagement: {rounds_text(left)}"] if left else ()))


def _all(material: Material) -> Ranges:
    return ((1, len(material.rounds)),)


def _covered(reply: Reply) -> Ranges:
    return tuple((e.turn_range[0], e.turn_range[1]) for e in reply.engagements)


def _looked_at_again(
    ask: Ask, material: Material, messages: Messages, answer: Answer, first: Extraction
) -> Extraction:
    """What a second question about a reply brings; the reply where that is nothing, or less."""
    question = second_question(material, first.reply)
    if question is None:
        return first
    try:
        again = ask(_followed(messages, answer, question))
    except NoAnswer as error:  # no money, no service: there is a reply, and it is paid for
        return msgspec.structs.replace(first, spent=first.spent + error.spent)
    spent = first.spent + again.spent
    try:
        reply = read_answer(again, material)
    except BadReply:
        return msgspec.structs.replace(first, spent=spent)
    before, now = (overlap(_all(material), _covered(said)) for said in (first.reply, reply))
    if now < before:  # an answer about a part of the session
        return msgspec.structs.replace(first, spent=spent)
    return Extraction(reply, again.model, spent, remarks_on(reply, material))


def _followed(messages: Messages, answer: Answer, words: str) -> Messages:
    """The first question, the last answer, and what is to be said about it."""
    return [
        messages[0],
        _said("assistant", answer.text.strip() or "(no answer)"),
        _said("user", words),
    ]


def _said(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}
