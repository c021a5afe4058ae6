"""A round shortened for a query: what was asked, what matches, and the answer.

Tools' output is left out and calls are single lines. Whatever was left out is said, with the
command that gives the round as a whole (CTX-03).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from minutebook.derive.calls import describe
from minutebook.derive.messages import INTERRUPTION
from minutebook.derive.plain import one_line
from minutebook.derive.tokens import tokens
from minutebook.derive.wording import plural
from minutebook.index.passages import passages
from minutebook.index.query import Query
from minutebook.index.snippet import Shown, words_in
from minutebook.model import Notice, Round, Text, ToolCall
from minutebook.verbs.context_text import Telling
from minutebook.verbs.round_text import (
    COMMANDS,
    Fidelity,
    Pointers,
    cut,
    failure_mark,
    heading,
    round_text,
)

_PROMPT = 600  # characters of a prompt
_ANSWER = 1_500  # characters of a last text that is too long as a whole
_SHORT = 240  # characters of either side of a neighbour
_FEW_CALLS = 3  # as lines of their own; more in a row are counted
_CALL = 120
_LOOKED_AT = 60_000


def tellings(
    address: str,
    round: Round,
    query: Query,
    passage: int | None = None,
    done: Shown | None = None,
    words: Pointers = COMMANDS,
) -> Iterator[Telling]:
    """A round told for a query, from more to less; `done` is what tools did of it."""
    matching = _Matching(round, query, passage, done)
    body = _body(address, round, matching)
    if body == round_text(address, round, Fidelity()):
        yield Telling("full", body)
    else:
        yield Telling("answer", body + _whole(address, round, words))
    yield Telling(
        "passages", _body(address, round, matching, _ANSWER) + _whole(address, round, words)
    )
    yield short(address, round)


def short(address: str, round: Round) -> Telling:
    """A round that stands beside one that matters: a line of each side."""
    asked = round.prompt.said if round.prompt is not None else ""
    said = answer_of(round)
    lines = [heading(address, round), ""]
    if asked.strip():
        lines += [f"**User** {cut(asked, _SHORT)}", ""]
    if said:
        lines += [f"**Assistant** {cut(said, _SHORT)}", ""]
    return Telling("short", "\n".join(lines).rstrip() + "\n\n")


def answer_of(round: Round) -> str:
    """The last text of a round: what it came to."""
    texts = [text for _, text in _answers(round)]
    return texts[-1].strip() if texts else ""


def _answers(round: Round) -> list[tuple[int, str]]:
    """What the model said: the places of its blocks, and their texts."""
    asked = len(round.asked)
    return [
        (at, block.text)
        for at, block in enumerate(round.blocks)
        if at >= asked and isinstance(block, Text) and block.text.strip()
    ]


class _Matching:
    """Which part of a round it is that a query means."""

    def __init__(self, round: Round, query: Query, passage: int | None, done: Shown | None) -> None:
        self.query, self.done = query, done
        self.answers = _answers(round)
        self.last = self.answers[-1][0] if self.answers else -1
        self.place, self.passage = self._best() if self.answers else (-1, "")
        if not self.passage and passage is not None and passage < 0:
            self.place, self.passage = self._alike(-passage)

    def _best(self) -> tuple[int, str]:
        """The passage with most words of the query; what it came to before how it got there."""
        best, most = (-1, ""), 0
        for at, text in reversed(self.answers):
            for part in passages(text):
                if (count := len(words_in(part, self.query))) > most:
                    best, most = (at, part), count
        return best

    def _alike(self, number: int) -> tuple[int, str]:
        """The passage that the index found alike; it counts them over all texts together."""
        parts = list(passages("\n\n".join(text for _, text in self.answers)))
        if number > len(parts):
            return -1, ""
        part = parts[number - 1]
        start = part[:40]
        return next(((at, part) for at, text in self.answers if start in text), (-1, ""))


def _body(address: str, round: Round, matching: _Matching, most: int | None = None) -> str:
    """The prompt, calls, the passage that matches and the last text, in their order."""
    lines = [heading(address, round), ""]
    asked = round.prompt.said.strip() if round.prompt is not None else ""
    if asked:
        lines += ["**User**", "", _around(asked, matching.query, _PROMPT), ""]
    answer: list[str] = []
    run: list[ToolCall] = []
    for at, block in enumerate(round.blocks):
        if isinstance(block, ToolCall):
            run.append(block)
        elif isinstance(block, Notice) and block.kind == INTERRUPTION:
            answer += [*_calls(run), f"[{block.kind}]", ""]
            run = []
        elif isinstance(block, Text) and at in (matching.place, matching.last):
            answer += [*_calls(run), _said(block.text, at, matching, most), ""]
            run = []
    answer += _calls(run)
    if answer:
        lines += ["**Assistant**", "", *answer]
    if (done := matching.done) is not None:
        where = f"{address}.{done.block}" if done.block is not None else address
        lines += [f"**{done.side.capitalize()}** ({where}): {one_line(done.snippet.text)}", ""]
    return "\n".join(lines).rstrip() + "\n\n"


def _said(text: str, at: int, matching: _Matching, most: int | None) -> str:
    """The last text as a whole, or cut; of another one only what matches."""
    text = text.strip()
    if at != matching.last:
        passage = matching.passage.strip()
        return text if len(passage) >= len(text) else _closed(f"… {passage} …")
    if most is None or len(text) <= most:
        return text
    beginning = _closed(f"{text[:most].rsplit(None, 1)[0]} …")
    if matching.place != at or one_line(matching.passage) in one_line(beginning):
        return beginning
    return f"{beginning}\n\n{_closed(f'… {matching.passage.strip()} …')}"


def _around(text: str, query: Query, most: int) -> str:
    """The beginning of a long text, and the part of it that has most words of a query."""
    if len(text) <= most:
        return text
    third = most // 3
    starts = range(0, min(len(text), _LOOKED_AT), third)
    start = max(starts, key=lambda at: len(words_in(text[at : at + 2 * third], query)))
    if start < third:
        return _closed(f"{text[:most].rsplit(None, 1)[0]} …")
    part = text[start : start + 2 * third].strip()
    tail = " …" if start + 2 * third < len(text) else ""
    return _closed(f"{text[:third].rsplit(None, 1)[0]} … {part}{tail}")


def _closed(text: str) -> str:
    """A part of a text, with the code block closed that was cut in two."""
    return f"{text}\n```" if text.count("```") % 2 else text


def _calls(run: Sequence[ToolCall]) -> list[str]:
    """Calls as lines; many in a row as one that counts them."""
    if not run:
        return []
    if len(run) <= _FEW_CALLS:
        return [*map(_call, run), ""]
    names = Counter(one_line(call.name) for call in run)
    counted = ", ".join(f"{count} {name}" for name, count in names.most_common(6))
    more = ", …" if len(names) > 6 else ""
    failed = sum(1 for call in run if call.result is not None and call.result.error)
    ended = f" ({failed} failed)" if failed else ""
    return [f"- {plural(len(run), 'call')}: {counted}{more}{ended}", ""]


def _call(call: ToolCall) -> str:
    line = f"- {one_line(call.name)}{failure_mark(call.result)} {cut(describe(call), _CALL)}"
    return line.rstrip()


def _whole(address: str, round: Round, words: Pointers) -> str:
    size = tokens(round_text(address, round, Fidelity()))
    return f"(shortened; `{words.show(address)}` gives the round, ~{size:,} tokens)\n\n"
