"""Reports and announcements as imperatives: "I've added a flag" is headed "Add a flag"."""

from __future__ import annotations

import re

_PAST = dict(
    pair.split(":")
    for pair in """
    added:Add fixed:Fix updated:Update removed:Remove created:Create implemented:Implement
    refactored:Refactor renamed:Rename moved:Move changed:Change replaced:Replace wrote:Write
    written:Write built:Build cleaned:Clean extracted:Extract merged:Merge migrated:Migrate
    improved:Improve reviewed:Review investigated:Investigate analyzed:Analyze analysed:Analyse
    configured:Configure deployed:Deploy documented:Document enabled:Enable disabled:Disable
    simplified:Simplify split:Split switched:Switch tested:Test verified:Verify wired:Wire
    addressed:Address applied:Apply bumped:Bump converted:Convert corrected:Correct deleted:Delete
    designed:Design dropped:Drop ensured:Ensure exposed:Expose extended:Extend handled:Handle
    installed:Install integrated:Integrate introduced:Introduce made:Make optimized:Optimize
    planned:Plan ported:Port prepared:Prepare published:Publish rebased:Rebase redesigned:Redesign
    reduced:Reduce reordered:Reorder reorganized:Reorganize resolved:Resolve restored:Restore
    restructured:Restructure reverted:Revert rewrote:Rewrite rewritten:Rewrite set:Set
    standardized:Standardize stripped:Strip supported:Support tightened:Tighten traced:Trace
    tracked:Track translated:Translate trimmed:Trim unified:Unify upgraded:Upgrade
    validated:Validate compared:Compare diagnosed:Diagnose drafted:Draft explained:Explain
    explored:Explore generated:Generate researched:Research summarized:Summarize triaged:Triage
    """.split()
)
_BASE = frozenset(verb.lower() for verb in _PAST.values()) | frozenset(
    """check find look run use help investigate debug start continue implement answer keep go store
    put return call show print pass do get let name treat prefer rely stay display render read send
    load import export copy avoid allow accept skip ignore stop give take leave base rather target
    reuse define hide open close list mark discuss""".split()
)
_REPORT = re.compile(
    r"^(?:(?:i(?:['’]ve| have)?|we(?:['’]ve| have)?) )?(?:now |also |just |successfully |already )?"
    r"(?P<verb>[a-z]+)(?= \S)",
    re.IGNORECASE,
)
_ANNOUNCED = re.compile(
    r"^(?:i(?:['’]ll| will|['’]m going to| am going to)|let me|we(?:['’]ll| will))"
    r"(?: now| first| also| help you(?: with)?| go ahead and| start by"
    r"| proceed to)* (?P<rest>\S.*)$",
    re.IGNORECASE,
)
_UNDER_WAY = re.compile(
    r"^(?:i['’]m|i am|we['’]re|we are) (?:now |currently |still )*(?P<verb>[a-z]{3,})ing (?=\S)",
    re.IGNORECASE,
)
_CHANGES = re.compile(  # what an agent says of what it made
    r"^(?:the|these|this|my) (?:changes?|fix(?:es)?|commit|update|patch|edits?|implementation"
    r"|refactor(?:ing)?|solution) (?:now |also )?"
    r"(?P<verb>[a-z]{3,}?)s?(?= \S)",
    re.IGNORECASE,
)
_LACKS = re.compile(
    r"^(?:the |our |my )?(?P<where>\S.{2,80}?) (?:also |still )*(?:lacks?|(?:has|have) no|misse?s"
    r"|(?:is|are) missing) (?:any )?(?P<what>(?:\w+ )?(?:tests?|test coverage|coverage"
    r"|documentation|docs))\b",
    re.IGNORECASE,
)
_FAILING = re.compile(
    r"^(?:the |our |my )?(?P<what>\S.{2,80}?) (?:is|are|was|were|keeps?|seems? to be|still) "
    r"(?:still |now |also )?(?P<how>failing|broken|crashing|flaky|timing out|hanging|leaking)\b",
    re.IGNORECASE,
)
_PARTICIPLES = {"timing out": "time-outs of", "hanging": "hanging", "leaking": "leaking"}


def as_imperative(text: str) -> str:
    """A report in the past, an announcement, or a complaint, as what it comes to."""
    if match := _ANNOUNCED.match(text):
        text = match["rest"]
    if (match := _UNDER_WAY.match(text)) and (verb := _base_of(match["verb"].lower())):
        text = f"{verb.capitalize()} {text[match.end() :]}"
    failing = _FAILING.match(text)
    if failing and not is_imperative(failing["what"]):
        how = failing["how"].lower()
        return f"Fix {_PARTICIPLES.get(how, how)} {failing['what']}{text[failing.end() :]}"
    if (match := _CHANGES.match(text)) and (verb := _base_of(match["verb"].lower())):
        return f"{verb.capitalize()}{text[match.end() :]}"
    if match := _LACKS.match(text):
        return f"Add {match['what']} for {match['where']}"
    report = _REPORT.match(text)
    if report is None:
        return text
    verb = report["verb"].lower()
    if verb in _PAST and not text[report.end() :].startswith(" by "):
        return _PAST[verb] + text[report.end() :]
    return text


def _base_of(stem: str) -> str:
    """The verb of "reviewing", "writing", "running"; empty where it is not one of work."""
    shapes = (stem, f"{stem}e", stem[:-1] if stem[-1:] == stem[-2:-1] else stem)
    return next((shape for shape in shapes if shape in _BASE), "")


def is_imperative(heading: str) -> bool:
    """Whether a heading begins with a verb of work."""
    return bool(words := heading.split(maxsplit=1)) and words[0].lower() in _BASE


def tells_change(sentence: str) -> bool:
    """Whether a sentence says what a change does: "The changes add …"."""
    return (match := _CHANGES.match(sentence)) is not None and bool(_base_of(match["verb"].lower()))


def is_report(sentence: str) -> bool:
    """Whether a sentence begins by saying what was done: "Added …", "I've fixed …"."""
    report = _REPORT.match(sentence)
    return report is not None and report["verb"].lower() in _PAST
