"""Requests: telling one from a mere answer, and saying what it asks for in a few words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from minutebook.derive.activity import Activity
from minutebook.derive.markup import without_links
from minutebook.derive.patterns import WIDE, pattern
from minutebook.extract.offline.verbs import is_imperative

_REPLY = re.compile(
    r"^(?:y|yes|yeah|yep|ok|okay|sure|no|nah|nope|right|correct|continue|go on|go ahead|go for it"
    r"|keep going|proceed|please do|do it|try again|thanks?|thank you|resume|perfect|great"
    r"|ja|nein|weiter|mach weiter|genau|gern|mach das|danke|passt"
    r"|oui|non|vas-y|d['’]accord|continuez?|merci|parfait"
    r"|s[ií]|vale|sigue|contin[uú]a|adelante|gracias|perfecto|de acuerdo"
    r"|はい|いいえ|続けて(?:ください)?|お願いします|了解(?:です)?|進めて(?:ください)?|ありがとう(?:ございます)?"
    r"|好的?|继续|是的?|可以|不用|对|行|嗯|谢谢"
    r"|\W*|[a-d1-9](?:[ ,.:)].{0,60})?)[.!。！]?$",
    re.IGNORECASE,
)
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_HEADLINES_IN = 2_000  # characters: what comes later is a detail
_WRAPPED = re.compile(r"\n(?<=[^\n.!?:;]{40}\n)(?=[a-z(])")  # a line that goes on in the next
_LINKED = re.compile(r"(?<=[\w:])[ \t]*\n\s*(?=(?:PR|MR|issue) #\d{1,9}[ \t]*(?:\n|$))")
"""Between what is said and the link to what it is about, on a line of its own."""
_KINDS = ("PR #", "MR #", "issue #")
_SAYS = re.compile(r"\S \S.{4}")
_WIDELY = pattern(rf"[{WIDE}]{{4}}")
_PASTED = re.compile(
    r"^\s*(?:[❯➜$>|#]\s|\d{4}-\d\d-\d\d[T ]|\d\d:\d\d:\d\d|\[?(?:ERROR|INFO|WARN|DEBUG)|time="
    r"|at \S+\()"
)
_CONSOLE = re.compile(
    r"^\s*(?:Operation stopped by|[❯➜»]\s|\$ \S|\S+@\S+[:~ ].{0,60}[$#%] |\[[a-z]+:[\w:.-]+\] )"
)
_PROMPT_CHARS = 200  # of a line in which a console's prompt ends
_FAILS = re.compile(r"^\s*(?:--- )?FAIL(?:ED)?\b")
_OUTPUT = re.compile(
    r"^\s*[✓✔✗✘✖⚠ℹ●○◯⎿└├│╰╭☑☐]|^(?: {4,}|\t)(?![-*•\d])\S|^[A-Z][\w ]{1,24}:\s+\S*\d\S*$"
)
_TAGGED = re.compile(r"^\s*(?:\[[\w:.-]{2,40}\]|ERROR|WARN(?:ING)?|FATAL)[:\s]")
_BRACKETED = re.compile(r"\s*\([^()]*\)")
_EXAMPLES = re.compile(
    r"\b(?:e\.g\.|for example|for instance|such as|z\. ?B\.|zum Beispiel|p\. ?ex\.|par exemple"
    r"|por ejemplo)(?!\w)|例えば|たとえば|比如|例如",
    re.IGNORECASE,
)
_SCENARIO = re.compile(  # what follows is told, not asked for
    r"\n[^\w\n]*(?:(?:an |for )?example|steps to reproduce|to reproduce|expected|actual|beispiel"
    r"|par exemple|ejemplo)\b[^\n:]{0,30}:\W*\n|\bwhen:[ \t]*\n",
    re.IGNORECASE,
)
# Patterns that begin with one certain sign are found fast: all begin with the blank between pieces.
_SENTENCE = re.compile(r"\s(?:(?:(?<=[.!?]\s)|(?<=[.!?]\*\*\s))\s*(?=[^a-z])|(?<=\n)\n*)")
_WIDE_SENTENCE = re.compile(rf"{_SENTENCE.pattern}|(?<=[。！？])")
_CLAUSE = re.compile(
    r"\s(?:(?<=[.!?:;,]\s)(?<! env\.\s)(?<! vs\.\s)(?<! etc\.\s)(?<! approx\.\s)(?<! \.\.\.\s)\s*"
    r"|(?<=\n)\n*|\s*[-–—]+\s+|\s*(?=(?:can|could|would) (?:you|we) )"
    r"|\s*(?=(?:and|but|so) (?:then |also )?"
    r"(?:can|could|please|let|fix|add|make|update|remove|check|write|create|use) ))"
)
_WIDE_CLAUSE = re.compile(rf"{_CLAUSE.pattern}|(?<=[、，；])")
_HEADLINE = re.compile(r"^#{1,4}[ \t]+(\S.{2,200})$", re.MULTILINE)
_LEADS_UP = re.compile(  # a clause before what is meant: "when it is empty, the page fails"
    r"(?:when(?:ever)?|if|once|as soon as|while|after|wenn|sobald|falls|quand|si|lorsqu\w+"
    r"|cuando)\b",
    re.IGNORECASE,
)
_LEVEL = re.compile(r"^(?:low|medium|high|xhigh|max|ultra)\s+(?=\S)")  # of effort
_TYPED_COMMAND = re.compile(r"^/(?:[\w.-]{1,40}:)?([\w.:-]{1,40})[ \t]*")


def is_reply(request: str) -> bool:
    """Whether a prompt only answers what the model asked."""
    return _REPLY.match(request.strip()) is not None


def opening_of(rounds: Sequence[Activity]) -> int:
    """Position of the round whose request says what a range is about."""
    for index, round in enumerate(rounds):
        if round.prompt.strip() and not is_reply(round.prompt):
            return index
    return 0


def without_code(text: str) -> str:
    """A text without its fenced blocks."""
    return _FENCED.sub("\n", text)


def without_command(prompt: str) -> str:
    """What was typed after a slash command, which stays where it is a verb (``/review the cache``);
    other prompts as they are."""
    typed = prompt.lstrip()
    command = _TYPED_COMMAND.match(typed)
    if command is None:
        return typed
    rest = _LEVEL.sub("", typed[command.end() :])
    return f"{command[1]} {rest}" if rest and takes(command[1], rest) else rest


def takes(command: str, rest: str) -> bool:
    """Whether a command is a verb, and what was typed after it can be what it is done to."""
    return is_imperative(command) and _LEADS_UP.match(rest) is None


def headlines(text: str) -> list[str]:
    """The headings of a text in Markdown."""
    return _HEADLINE.findall(without_code(text[:_HEADLINES_IN]))


def clauses(text: str) -> list[str]:
    """What a person typed, in pieces that can stand as a heading, without what they pasted,
    put in brackets or gave as an example."""
    if "(" in text:
        text = _BRACKETED.sub("", text)
    if examples := _EXAMPLES.search(text):
        text = text[: examples.start()].rstrip(" ,;(、，")
    wide = not text.isascii() and any(mark in text for mark in "、，；")
    return _pieces(text, _WIDE_CLAUSE if wide else _CLAUSE)


def without_output(prompt: str) -> str:
    """A prompt without what a console printed: a command line and what stands right under it,
    lines a program ticked off, lines indented like a log's."""
    if "\n" not in prompt:
        return prompt
    if (scenario := _SCENARIO.search(prompt)) and scenario.start() > 0:
        prompt = prompt[: scenario.start()]
    kept: list[str] = []
    lines = prompt.split("\n")
    begun, ended = _shown(lines)
    printing = False
    for place, line in enumerate(lines):
        fails = bool(_FAILS.match(line))  # it names the test
        printing = _is_console(line) or (printing and bool(line.strip()))
        printing = printing or begun <= place < ended
        if fails or not (printing or _OUTPUT.match(line)):
            kept.append(line)
        printing = printing or fails
    return "\n".join(kept)


def printed(prompt: str) -> str:
    """The first line that a program printed under a command line; empty where there is none."""
    lines = prompt.split("\n")
    begun, _ = _shown(lines)
    return next((line.strip() for line in lines[begun + 1 :] if not _is_console(line)), "")


def _is_console(line: str) -> bool:
    """Whether a line is a command at a prompt."""
    return _CONSOLE.match(line, 0, _PROMPT_CHARS) is not None


def _shown(lines: Sequence[str]) -> tuple[int, int]:
    """From where to where a console is shown: from a command line to the last line only a program
    prints."""
    begun = next((place for place, line in enumerate(lines) if _is_console(line)), len(lines))
    marked = [
        p
        for p in range(begun + 1, len(lines))
        if _OUTPUT.match(lines[p]) or _TAGGED.match(lines[p])
    ]
    return begun, (marked[-1] + 1 if marked else begun)


def sentences(text: str) -> list[str]:
    """A text in whole sentences, without code and pasted lines."""
    wide = not text.isascii() and any(mark in text for mark in "。！？")
    return _pieces(text, _WIDE_SENTENCE if wide else _SENTENCE)


def _pieces(text: str, split: re.Pattern[str]) -> list[str]:
    typed = _WRAPPED.sub(" ", without_links(without_code(text)))
    typed = _LINKED.sub(" ", typed) if any(kind in typed for kind in _KINDS) else typed
    kept = [line for line in typed.split("\n") if not _PASTED.match(line)]
    found = (" ".join(piece.split()) for piece in split.split("\n".join(kept)))
    return [piece for piece in found if _says(piece)]


def _says(piece: str) -> bool:
    return _SAYS.search(piece) is not None or (
        not piece.isascii() and _WIDELY.search(piece) is not None
    )
