"""What a person picked of the options an agent listed: "Option 2", "A", "1" (UND-03).

The pick alone says nothing to others, so it is told as the option's own text. Where the
answer lists no such option, or the reply says more than a pick, nothing is told.
"""

from __future__ import annotations

import re

from minutebook.derive.markup import without_marks
from minutebook.extract.offline.headings import is_wide, length_of, names
from minutebook.extract.offline.requests import without_code

_LISTED_IN = 6_000  # characters of an answer
_REPLY = 160  # characters of a prompt that only picks
_FEW_NAMES = 2
_MOST = 16  # words of an option that can be told
_NAMES = (
    r"(?:option|variante?|version|approach|alternative|choice|proposal|path|plan|opción|opcion"
    r"|vorschlag|solution|solución|オプション|案|方案|选项|選択肢)"
)
_LABEL = r"(?P<label>[1-9]|[A-H])"
_NAMED = re.compile(  # "### Option 1: Keep the file", "**Option B** — Drop it"
    rf"^[\s#>*-]*{_NAMES}\s?{_LABEL}\b[*\s]*[:.)—–：-]+[*\s]*(?P<text>\S.*)$",
    re.IGNORECASE | re.MULTILINE,
)
_BARE = re.compile(  # "1. Keep the file", "B) Drop it", "- (a) Drop it"
    rf"^\s*(?:[-*•]\s+)?[*(]*{_LABEL}[*]*[.):：][*\s]+(?P<text>\S.*)$",
    re.IGNORECASE | re.MULTILINE,
)
_ASKS = re.compile(
    r"\b(?:which|prefer|choose|pick|option|approach|your call|want|like|welche|bevorzugst"
    r"|quelle?|préfère\w*|cuál|prefieres)\b|どちら|どれ|哪|[?？]",
    re.IGNORECASE,
)
_POLITE = (
    r"(?:ok(?:ay)?|yes|yeah|please|pls|let['’]?s|do|go|try|take|use|pick|choose|i|we|would|like"
    r"|prefer|think|want|go(?:ing)? (?:with|for)|with|for|the|now|just|is|looks?|sounds?|good|best"
    r"|fine|great|better|makes sense|thanks|ja|bitte|nimm|nehmen|wir|oui|prends|la|el|sí|vale|usa"
    r"|por favor|d['’]accord|implement|also|then)"
)
_PICK = re.compile(
    rf"^(?:{_POLITE}[\s,.!:]+)*(?:(?P<named>{_NAMES})\s?#?)?{_LABEL}"
    rf"(?:[\s,.!:]+{_POLITE})*\s*(?:[.!。！]|でお願いします|で|にします|吧)?$",
    re.IGNORECASE,
)
_STEP = re.compile(r"→|^(?:then|next|finally|first)\b", re.IGNORECASE)
_FIRST = re.compile(r"[,.;:\n]|\s[-–—]\s|\s(?:but|and|because|as|with|aber|mais|pero)\s")
_DETAIL = re.compile(r"\s+[—–-]+\s+|(?<=[^\d\s])[:：]\s+|(?<=\w[a-z)])\.\s+|\s+\((?=[^)]*$)")
_BRACKETS = re.compile(
    r"\s*\((?:recommended|simplest|preferred|default|empfohlen|recommandée?|recomendad[oa]|推奨"
    r"|推荐|my pick|easiest|best)[^)]*\)",
    re.IGNORECASE,
)
_PROCEDURE = re.compile(
    r"^(?:yes|no|ok|continue|proceed|skip|stop|done|commit|push|merge|open a pr|create a pr|start"
    r"|nothing|leave|wait|test|run|move on|i (?:can|could|will)|do you|should|would|what|which"
    r"|how|is|are|does|why|who|can|where|when)\b|[?？]\s*$|\b(?:this|parallel|new) session\b"
    r"|\b(?:now|later|for now)$",
    re.IGNORECASE,
)


def picked(answer: str, prompt: str) -> str | None:
    """What a prompt picked of the options the answer before it lists, and over which others."""
    reply = prompt.strip()
    pick = _PICK.match(reply) if len(reply) <= _REPLY else None
    if pick is None:  # "I like option 1, as it …"
        first = _PICK.match(_FIRST.split(reply[:_REPLY], maxsplit=1)[0].strip())
        pick = first if first and first["named"] else None
    if pick is None or not _ASKS.search(answer[-_LISTED_IN:]):
        return None
    label = pick["label"].upper()
    text = without_code(answer[-_LISTED_IN:])
    for pattern in (_NAMED,) if pick["named"] else (_NAMED, _BARE):
        options = _options(pattern, text)
        if len(options) > 1 and label in options:
            return _told(label, options)
    if pick["named"] and len(options := _options(_BARE, text)) > 1 and label in options:
        return _told(label, options)
    return None


def _options(pattern: re.Pattern[str], text: str) -> dict[str, str]:
    """The last list of options of an answer, by their labels; none where it has two such lists."""
    found: dict[str, str] = {}
    for match in pattern.finditer(text):
        label = match["label"].upper()
        if label in found and pattern is _BARE:
            return {}  # which list is meant is not known
        found.setdefault(label, _short(match["text"]))
    if pattern is _BARE and any(_STEP.search(option) for option in found.values()):
        return {}  # a list of what happens
    labels = "".join(sorted(found))
    return found if (labels and labels in "123456789") or labels in "ABCDEFGH" else {}


def _short(text: str) -> str:
    """What an option is called, without the details that follow."""
    plain = _BRACKETS.sub("", without_marks(text))
    return _DETAIL.split(plain, maxsplit=1)[0].strip(" .:,;")


def _told(label: str, options: dict[str, str]) -> str | None:
    chosen = options[label]
    others = [text for other, text in options.items() if other != label and text][:2]
    if _PROCEDURE.search(chosen) or not 2 <= length_of(chosen) <= _MOST:
        return None
    if not is_wide(chosen) and names(chosen) < _FEW_NAMES:
        return None  # "the quick fix" of what
    over = [text for text in others if length_of(text) <= _MOST and not _PROCEDURE.search(text)]
    return f"Chose: {chosen}{', not ' + ' or '.join(over) if over else ''}"
