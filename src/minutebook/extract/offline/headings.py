"""Turn a sentence into a heading: plain, whole, 5 to 15 words, or none."""

from __future__ import annotations

import re
from functools import lru_cache

from minutebook.derive.markup import without_marks
from minutebook.derive.patterns import WIDE_RUN, WIDE_SIGN
from minutebook.extract.offline.courtesies import is_chatter, without_courtesies
from minutebook.extract.offline.heading_words import (
    ASKING,
    CLAUSES,
    CONTRASTS,
    DANGLING,
    GENERIC,
    INFINITIVE,
    JOINS,
    LETTERED,
    PREPOSITIONS,
    RELATIVE,
    ROUTINE,
    SAYING,
)
from minutebook.extract.offline.requests import without_command
from minutebook.extract.offline.verbs import as_imperative, is_imperative

MOST_WORDS = 15
FEWEST_WORDS = 5
_FEWEST_WIDE, _MOST_WIDE = 4, 20  # 8 to 40 characters of a script without blanks
_LONGEST = 400  # characters of a sentence that is looked at

_SPELT = re.compile(r"[^\sA-Za-z0-9]*[A-Za-z0-9]\S*")

_LABEL = re.compile(
    r"^(?:implement(?:ation)? (?:the following )?plan|(?:quick |short |rough )?plan|context"
    r"|task|goal|objective|problem|bug|issue|feature(?: request)?|title|summary|pr summary"
    r"|overview|(?:\w+ )?question|q|note|todo"
    r"|subject|(?:phase|fix|option|task|step|part|item|bug|issue|finding|problem|comment) \d+"
    r"|any ideas|p\d(?: #\d+)?"
    r"|[a-z]{2,10}\([\w./-]{1,40}\)!?)\s*[:–—]\s*",
    re.IGNORECASE,
)
_EMPTY = re.compile(
    r"^(?:implement (?:the |this |following )*plan|(?:the )?(?:plan|context|summary|overview"
    r"|what (?:was|i) (?:did|done|changed|built)|what changed|next steps?"
    r"|changes(?: made)?(?: (?:to|in) .*)?"
    r"|root cause|verification|results?|done|files? (?:changed|modified)|key changes)"
    r"|(?:pick|continue|resume|carry on|start)\b.* (?:where|what) (?:we|you|i) left off.*"
    r"|this session is being continued.*|caveat:.*|no response requested)$",
    re.IGNORECASE,
)
_HASH = re.compile(r"^[0-9a-f]{7,40}\b[\s:–—-]*")
_LINE = re.compile(r"(?<=\.[a-z])([a-z]{0,5}):\d+(?:[-–,:]\d+)*")
_AFTERTHOUGHT = re.compile(
    r",\s+(?:(?:and|but|so) )?(?:i|i['’]\w+|we|you|it|it['’]s|they|this|that|which|because|since)\b"
    r".*$",
    re.IGNORECASE,
)
_TRAILS = re.compile(r"(?<=\w)(?:\.{3}|…)\W.*$")  # what follows is something else
_COLON = re.compile(
    r"^(Fix|Add|Review|Refactor|Update|Remove|Implement|Improve|Debug|Test): +(\S+)"
)
_POINTER = re.compile(r"^((?:PR|issue|MR) #\d+)[\s:,-]+(?=\S+ \S+ \S)", re.IGNORECASE)
_PLANNED = re.compile(
    r"(?<=\w)\s*[-–—:]?\s+(?:implementation plan|design doc(?:ument)?|plan)$", re.IGNORECASE
)
_PLANS = ("plan", "Plan", "doc", "document", "Document", "PLAN")
_RAN_ON = re.compile(r"((?:PR|issue|MR) #\d+) [A-Z].*$")
_DASHED = re.compile(r"^\w+ [–—-] ")  # "Fixed — it reads …"
_FAILED = re.compile(r"^(?:-+ )?FAIL: +(\w+).*$")  # as Go's tests say it
_NEXT = re.compile(
    r"(?<=\w\w)(?<! env)(?<! vs)(?<! etc)[.!?] +(?=[a-z][\w'’]+ )"
)  # a sentence that begins small
_HOW = re.compile(r"^(how) (?:can|could|do|should|would) (?:i|we|you|one) ", re.IGNORECASE)
_CHANGED_TO = re.compile(  # "change this to use the shelf": what counts is the shelf
    r"^(?:change|update|modify|adapt|adjust|rewrite|make|switch) (?:it|this|that|these|those|them)"
    r"(?: all)? to (?=[a-z]+ )",
    re.IGNORECASE,
)
_TROUBLE_WITH = re.compile(
    r"^(?:check|verify|see|look|find out) (?:if|whether) there(?:['’]s| is| are"
    r"| (?:would|will|could|might|may) be) (?:any |some )?(?:issues?|problems?|trouble)"
    r" (?:(?:with|when|in|by) (?:doing |using |running )?|(?:doing|using|running) )(?=\S)",
    re.IGNORECASE,
)
_ITEM = re.compile(r"\w\s+\(?\d{1,2}[.)]\s")  # a list's number, not its beginning
_BRACKETS_LAST = re.compile(r"\s*\([^()]*\)$")
_COMMAND_LINE = re.compile(r"[a-z][\w.-]* (?:[a-z][\w.-]* ){0,2}--[a-z]")
_OBJECTLESS = re.compile(  # torn from a question: "which segments can we replace with …"
    r"(?:replace|add|remove|use|set|rename|put|create|make|delete) (?:with|by|to|into|in|on|for"
    r"|instead|from|as|via)\b",
    re.IGNORECASE,
)
_ERRAND = re.compile(  # what comes after every piece of work
    r",? (?:and then|and|then) (?:commit|push)(?: (?:it|them|this|that|everything|and push"
    r"|the changes?|all))*$",
    re.IGNORECASE,
)
_HOLLOW = re.compile(
    r"\s*\((?:\s*|(?i:fixed|done|resolved|new|wip|optional))\)|\s*[+&]\s*#?\d+$"
)  # what a link, or a number, leaves behind
_CODE = re.compile(r"[{}<>=\\|^$]|::|->|\w\(\)?;|\S{46,}|\x1b|\.{4,}|[═─│┌└→⇒]")
_STATEMENT = re.compile(
    r"^(?:i|i['’]\w+|you|you['’]\w+|he|she|they|it|its|it['’]s|this|that|that['’]s|these|those"
    r"|there|there['’]?s|here|want me|shall i|(?:do|are|have|did|were|can) you|we|we['’]\w+"
    r"|what['’]s|both|all|everything|nothing|none|some|my|your|as|if|when|will"
    r"|remember|say|assume|keep in mind"
    r"|based|enough|like|consider|either|without|during|about|per|via|for|since|be(?:cause|cuase|casue)|while"
    r"|once|after|before|not|no|yes|until|recently|currently|previously|originally|yesterday|today"
    r"|rather than|instead of|causing|leading to|resulting in|meaning|allowing"
    r"|e\.g|i\.e|bis vor|bisher|jusqu|hasta ahora"
    r"|which|who|where|of|or|with|than|to|from|in|through|throughout|across|under|over"
    r"|on|at|by|into|ich|du|es|wir|das|sie|wenn|je|tu|il|elle|on|ça|cela|c['’]est|nous|vous|si|yo"
    r"|eso|esto|ella|cuando)\b",
    re.IGNORECASE,
)
_STATUS = re.compile(
    r"^(?:(?:changes |all |successfully )?(?:committed|pushed|merged|amended|rebased|done"
    r"|ready|clean|green)\b"
    r"|ran (?:\w+ )?(?:tests?|checks?|lint|build)"
    r"|(?:\w+ )?(?:complete[d]?|done|finished) and (?:committed|pushed|merged)\b"
    r"|(?:code )?review (?:is )?(?:done|complete[d]?|finished)\b"
    r"|commit(?: \w+)? (?:amended|created|successful)"
    r"|(?:all )?(?:\d+ )?(?:tests?|checks?|lint|build|ci)\b.{0,30}\b(?:pass(?:es|ed|ing)?"
    r"|clean|green)\b"
    r"|(?:npm|pnpm|yarn|bun|go|cargo|make|git|mise|uv|docker|python3?|node|gh"
    r"|conda|pip|brew|apt) (?:run|install|test|build|start|add|commit|push|pull|checkout|compose"
    r"|switch|activate|status|log|diff|fetch|stash)\b"
    r"|(?:fetch|read|look at|check out|see|start|continue|proceed|explore)(?:ing)? (?:the "
    r"|with )?(?:pr|diff|code|branch"
    r"|files?|current state|repo)\b"
    r"|(?:create|open|make|push|commit|merge|review|check)\w* (?:a |the |this |that |it |and "
    r"|new |to |pr |branch |push |commit )*"
    r"(?:pr|branch|changes|push|commit|it|this|that|main)?$"
    r"|(?:fixed|done) and (?:committed|pushed)|know what you think|\d+\s?[:.)] ?(?:yes|no|ok)\b)",
    re.IGNORECASE,
)
_DEICTIC = re.compile(  # "notes that were edited" points at nothing
    r"\b(?:it|this|that(?! (?:is|are|was|were|has|have|can|will|do|does|did)\b)|these|those|here"
    r"|there|above|below|them|one|something|you|your|i|i['’]\w+)\b",
    re.IGNORECASE,
)

_VAGUE = re.compile(
    r"^(?:is|are|was|were|does|do|did|can|should|will|would|could|has|have)"
    r" (?:this|that|it|these|those|they|there (?:some|any)thing)\b"
    r"|^(?:ist|sind|war) (?:das|dies|es)\b|^(?:est-ce (?:que )?(?:ce|ça|cela|c['’])|c['’]est\b.*\?)"
    r"|^(?:es|está) (?:esto|eso|este|ese)\b"
    r"|^(?:get|getting|see|seeing|have|hit|hitting|receive) (?:this|these|the following|an?)"
    r" (?:\w+ )?(?:errors?|messages?|warnings?|issues?|failures?|output)\b"
    r"|^[^\W\d]+ (?:something|anything|some stuff|etwas|irgendwas|quelque chose|algo)\b"
    r"|\b(?:or something|or whatever|oder so(?:was)?|ou quelque chose|o algo)\b(?! else)"
    r"|^(?:i['’]ve|i have) (?:noticed|seen|found) (?:that )?you\b"
    r"|^mir ist aufgefallen,? dass (?:du|sie)\b|^j['’]ai remarqué que (?:tu|vous)\b"
    r"|^he notado que (?:tú|usted|est[áa]s|eres)\b",
    re.IGNORECASE,
)
_LETTER = re.compile(r"[b-hj-z]")
_MADE_UP = re.compile(r"(?<!\S)(?=\S*(?:[a-z][A-Z]|\w[_./:]\w|\w-\w+-\w))\S{6,}")


@lru_cache(maxsize=8_192)  # headings are measured again and again
def length_of(heading: str) -> int:
    """Words of a heading; two characters count as a word in scripts without blanks."""
    if heading.isascii():
        return len(_SPELT.findall(heading))
    spaced = WIDE_RUN.sub(" ", heading).split()
    wide = sum((len(run) + 1) // 2 for run in WIDE_RUN.findall(heading))
    return wide + sum(1 for word in spaced if any(c.isalnum() for c in word))


def is_wide(text: str) -> bool:
    """Whether a text is in a script without blanks between words."""
    return not text.isascii() and WIDE_SIGN.search(text) is not None


def is_long_enough(heading: str) -> bool:
    """Whether a heading is as long as headings are: 5 to 15 words (ING-11)."""
    fewest, most = (_FEWEST_WIDE, _MOST_WIDE) if is_wide(heading) else (FEWEST_WORDS, MOST_WORDS)
    return fewest <= length_of(heading) <= most


def title_heading(title: str) -> str | None:
    """A title somebody gave, as a heading: it is one already, unless it is a command."""
    text = without_marks(without_command(title)[:_LONGEST]).strip(" ,;:.…-–—*\"'")
    if not text or _CODE.search(text) or _EMPTY.match(text) or length_of(text) > MOST_WORDS:
        return heading_of(title)
    return capital(text)


@lru_cache(maxsize=4_096)  # the same sentences are looked at for several ranges
def heading_of(sentence: str) -> str | None:
    """What a sentence asks for or reports, as a heading; None where it makes none."""
    text = without_marks(sentence[:_LONGEST])
    text = first_of(unlabelled(text))
    text = _HASH.sub("", text)
    pointer = None
    if "#" in text:
        text = _RAN_ON.sub(r"\1", text)
        pointer = _POINTER.match(text)
    text = without_courtesies(text[pointer.end() :] if pointer else text)
    if not text or is_chatter(text) or _STATUS.match(text):
        return None
    if (". " in text or ") " in text) and _ITEM.search(text):
        return None
    text = _COLON.sub(_uncoloned, text) if ": " in text else text
    if pointer:
        text = f"{text.rstrip(' .?!')} ({pointer[1]})"
    asked = text.endswith(("?", "？"))
    text = _HOW.sub(r"\1 to ", text)
    text = _TROUBLE_WITH.sub("Check for issues with ", text)
    changed = _CHANGED_TO.match(text)
    if changed and is_imperative(text[changed.end() :]):
        text = text[changed.end() :]
    if _DASHED.match(text):
        return None
    text = as_imperative(_HOLLOW.sub("", text).strip(" ,;:.!?…-–—*\"'。！？、，"))
    text = _LINE.sub(r"\1", text) if ":" in text else text
    if _CODE.search(text) or text.startswith(("/", "@", "~", "[")):
        return None
    whole = _ERRAND.sub("", text) if "commit" in text or "push" in text else text
    shorter = _AFTERTHOUGHT.sub("", whole) if ", " in whole else whole
    shorter = _TRAILS.sub("", shorter) if "..." in shorter or "…" in shorter else shorter
    text = shorter if length_of(shorter) >= FEWEST_WORDS else text
    kept = _whole(text)
    if kept is None or _EMPTY.match(kept) or _STATEMENT.match(kept) or not _says(kept):
        return None
    if _OBJECTLESS.match(kept) or _is_hollowed(kept) or ("--" in kept and _is_command_line(kept)):
        return None
    if sum(map(str.isalpha, kept)) < 0.6 * len(kept.replace(" ", "")):
        return None  # numbers, log lines, tables
    question = _ASKS.match(kept)
    if question and len(kept) < len(text) - 2 and not kept.lower().startswith("how to "):
        return None  # half a question is none
    return capital(kept) + ("?" if asked and question else "")


def unlabelled(text: str) -> str:
    """A text without the "Plan:", "Task 3:" or "FAIL:" it begins with, or the "plan" at its end."""
    whole = text
    for _ in range(3 if any(mark in text for mark in ":–—") else 0):
        label = _LABEL.match(text)
        if label is None:
            break
        text = text[label.end() :]
    if text.startswith(("FAIL", "-")):
        return _FAILED.sub(r"Fix failing \1", text)
    return _PLANNED.sub("", text) if text == whole and text.endswith(_PLANS) else text


def first_of(text: str) -> str:
    """The first of several sentences that were typed without capitals."""
    return _NEXT.split(text, maxsplit=1)[0]


def loose_heading(sentence: str, where: str = "") -> str | None:
    """A sentence as it is, courtesies aside, where it is plain and of a heading's length.

    One that is too short is said to be of `where`.
    """
    text = without_courtesies(without_marks(sentence[:_LONGEST]))
    asked = "?" if text.endswith("?") else ""
    text = first_of(unlabelled(text)).strip(" ,;:.!?…-–—*\"'。！？、，")
    kept = _whole(text)
    if kept is None or _CODE.search(kept) or " " not in kept:
        return None
    if asked and len(kept) < len(text) - 2:
        return None  # half a question is none
    if is_chatter(kept) or _EMPTY.match(kept) or _STATUS.match(kept):
        return None
    if where and length_of(kept) < FEWEST_WORDS and not is_wide(kept):
        kept, asked = f"{kept} in {where}", ""
    return capital(kept) + asked if is_long_enough(kept) else None


def uncapital(text: str) -> str:
    """A heading to go after another word: small, unless it begins with a name."""
    first = text.split(maxsplit=1)[0] if text else ""
    return text[:1].lower() + text[1:] if first[1:].islower() or len(first) == 1 else text


def _uncoloned(match: re.Match[str]) -> str:
    """ "Fix: the cache" is "Fix the cache", "Fix: Add a lock" is "Add a lock"."""
    return match[2] if is_imperative(match[2]) else f"{match[1]} {uncapital(match[2])}"


def _says(heading: str) -> bool:
    """Whether a heading names anything: "fix this and open a PR" does not."""
    return is_wide(heading) or (" " in heading and names(heading) >= 1)


def _is_hollowed(text: str) -> bool:
    """Whether code fell out between a verb and a bracket: "Remove (not in the docs)"."""
    return text.partition(" ")[2].startswith("(") and is_imperative(text)


def _is_command_line(text: str) -> bool:
    """Whether a text is typed at a console: "tool run --json", not "add --json"."""
    named = is_imperative(text) or text.split(maxsplit=1)[0] in GENERIC
    return not named and _COMMAND_LINE.match(text) is not None


@lru_cache(maxsize=4_096)
def names(heading: str) -> int:
    """Words of a heading by which one could find it: not those of every piece of work."""
    words = [word.strip("\"'()[],;:.!?…-–—") for word in heading.lower().split()]
    words = words[1:] if is_imperative(heading) else words
    words = [word for word in words if not word.startswith("/")]
    numbered = 2 * len(re.findall(r"#\d", heading))  # an issue: there is only one
    return numbered + sum(any(map(str.isalpha, w)) and w not in GENERIC for w in words)


@lru_cache(maxsize=4_096)
def telling(heading: str) -> int:
    """Those of them that are not in every request about a branch or a build either; a name made
    of several words, as of a file, counts as two."""
    first = 1 if is_imperative(heading) else 0
    words = {word.strip("\"'()[],;:.!?…-–—") for word in heading.lower().split()[first:]}
    made_up = sum(word.lower() not in ROUTINE for word in _MADE_UP.findall(heading))
    found = names(heading) - len(words & ROUTINE) + made_up
    return min(found, 1) if is_vague(heading) else found


def is_vague(heading: str) -> bool:
    """Whether a heading asks for "something", or whether "this" is so: of what, it leaves open."""
    return _VAGUE.search(heading) is not None


def capital(text: str) -> str:
    """A heading with a capital, unless it begins with a name that is spelt otherwise."""
    first = text.split(maxsplit=1)[0] if text.strip() else ""
    name = re.search(r"[-_./:\d]|[a-z][A-Z]", first)
    return text if name else text[:1].upper() + text[1:]


_ASKS = re.compile(
    r"(?:what|why|how|who|where|when|which|is|are|does|do|did|has|have|was|were|should|can|could"
    r"|wie|was|warum|wieso|wo|welche\w*|ist|sind|hat|pourquoi|comment|quel\w*|où|qui|est|qué|cómo"
    r"|por qué|cuál\w*|dónde|es|está)\b",
    re.IGNORECASE,
)


def is_question(heading: str) -> bool:
    return heading.endswith("?") or _ASKS.match(heading) is not None


def deictics(heading: str) -> int:
    """Words that point at something a reader of the heading does not see."""
    return len(_DEICTIC.findall(heading))


def _whole(text: str) -> str | None:
    """At most fifteen words that end where a thought ends."""
    if is_wide(text):
        return _whole_wide(text)
    words = text.split()
    if len(words) > MOST_WORDS:
        words = re.sub(r"\s*\([^()]{0,200}\)", "", text).split()
    if len(words) > MOST_WORDS:
        end = _end(words)
        if end is None:
            return None
        said = words[end].lower() == "that" and words[end - 1].lower() in SAYING
        words = words[: end - 1 if said else end]
        if words[-1].strip(",;:.").isdigit():
            words.pop()  # the first of several numbers
    while words and words[-1].lower().strip(",;:") in DANGLING:
        words.pop()
    if len(words) > 2 and _LETTER.fullmatch(words[-1]) and _is_torn(words[-2].lower()):
        words.pop()  # a word that was never finished
    if len(words) > 2 and words[-2].lower() in RELATIVE:
        del words[-2:]  # "a case that verifies"
    kept = " ".join(words).strip(" ,;:.!?…-–—*\"'")
    for opening, closing in (('"', '"'), ("(", ")"), ("[", "]"), ("“", "”")):
        kept = _balanced(kept, opening, closing)
    return " ".join(kept.split()) or None


def _is_torn(before: str) -> bool:
    """Whether a letter after this word is a torn word, and not a name: "option b", "in c"."""
    return before[-1] not in ",;:" and before not in LETTERED | DANGLING | JOINS | PREPOSITIONS


def _whole_wide(text: str) -> str | None:
    pieces = re.split(r"(?<=[、，,;；:：])|\s+", text)
    kept = ""
    for piece in pieces:
        if length_of(kept + piece) > _MOST_WIDE:
            break
        kept += piece if not kept or WIDE_SIGN.search(piece[:1]) else " " + piece
    return kept.strip(" 、，,;；:：。") or None


def shortened(heading: str, most: int, fewest: int = 4) -> str | None:
    """A heading in at most so many words, cut where a thought ends; None where none does."""
    text = _BRACKETS_LAST.sub("", heading)
    if length_of(text) <= most:
        return text
    words = text.split()
    end = _end(words, most, fewest)
    if end is None or is_wide(text):
        return None
    return " ".join(words[:end]).strip(" ,;:.!?…-–—*\"'")


def _end(words: list[str], most: int = MOST_WORDS, fewest: int = FEWEST_WORDS) -> int | None:
    """Where a long sentence can stop and still be whole."""
    spans = range(most, fewest - 1, -1)
    for end in spans:
        if words[end - 1].endswith((",", ";", ":", ".", ")", "?")) and end < len(words):
            return end
    for stops in (CONTRASTS, CLAUSES, JOINS, PREPOSITIONS):
        for end in spans:
            if end == len(words) or words[end].lower() not in stops:
                continue
            if words[end - 1].lower() not in _bound(words[end].lower()):
                return end
    return None


def _bound(word: str) -> frozenset[str]:
    """Words after which a sentence cannot stop before this one: "able | to", "check | whether"."""
    if word == "to":
        return DANGLING | INFINITIVE
    return DANGLING | ASKING if word in CLAUSES or word in ("if", "whether") else DANGLING


def _balanced(text: str, opening: str, closing: str) -> str:
    """A text without brackets or quotes whose partner was cut off."""
    first, last = text.count(opening), text.count(closing)
    odd = first % 2 if opening == closing else first - last
    return text.replace(opening, "").replace(closing, "") if odd else text
