"""What an agent found to be wrong, in its own words: where a person only says "it fails", the cause
is what the work is found by."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from minutebook.derive.activity import Activity
from minutebook.extract.offline.requests import without_code

_CHARS = 6_000  # of an answer
_MOST = 4
_CAUSE = re.compile(
    r"(?:^|(?<=[\s(*_>#]))(?:"
    r"(?:the |your )?(?:actual |real |underlying |main |core |likely )?"
    r"(?:root cause|cause|bug|problem|culprit|issue)"
    r"|(?:die |das )?(?:eigentliche )?(?:ursache|problem|fehler)"
    r"|(?:la |le )?(?:vraie? )?(?:cause(?: racine)?|problème|bug)"
    r"|(?:la |el )?(?:causa(?: raíz)?|problema|error)"
    r")[*_]{0,3}(?:\s*[:：][*_]{0,3}\s*"
    r"|\s(?:here |hier |ici |aquí )?(?:is|was|ist|war|est|était|es|era)"
    r"(?: that|,? dass| que)?[:,]?\s)"
    r"(?P<what>[^\n]{16,300})"
    r"|原因(?:は|是|：|:)\s*(?P<wide>[^\n。]{8,80}?)(?:でした|です|にあり\w*)?(?=[。\n]|$)",
    re.IGNORECASE | re.MULTILINE,
)
_ARTICLE = re.compile(r"^(?:the|an?) (?=\S)", re.IGNORECASE)
_POINTS = re.compile(
    r"(?:it|this|that|these|those|in|on|at|with|not|likely|probably|here|there|fixed|resolved"
    r"|now)\b"
    r"|[#\[]|.{0,60}\bwe (?:just|already)\b",
    re.IGNORECASE,
)


def causes(part: Sequence[Activity]) -> Iterator[str]:
    """What was wrong, as the answers of a range say, the first first."""
    found: dict[str, None] = {}
    for round in part:
        for match in _CAUSE.finditer(without_code(round.answer[:_CHARS])):
            said = _ARTICLE.sub("", (match["what"] or match["wide"]).strip(" *_"))
            if not _POINTS.match(said.lstrip("`*_")):
                found[said] = None
        if len(found) >= _MOST:
            break
    yield from list(found)[:_MOST]
