"""What the models see of a range of rounds: how it was worked on, and how it ended."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from minutebook.derive.activity import Activity
from minutebook.extract.offline import cues, method_cues, phase_cues
from minutebook.extract.offline.features import Features, Heard
from minutebook.extract.offline.requests import opening_of

_CLOSING = 800
_ENDING = 500
_OPENING, _ANSWER, _SUBJECTS = 400, 900, 6
WORDED = ("request", "opening", "answers", "commits")
"""Texts whose words tell the method."""
ONCE = ("request", "opening")
"""Those of a range that are looked at where it opens, and nowhere else."""
_PROSE = (".md", ".mdx", ".rst", ".txt", ".adoc")
_TEST = re.compile(r"(?:^|[/_.-])tests?(?:[/_.-]|$)|\.spec\.|_test\.")
_SETTINGS = (".json", ".yml", ".yaml", ".toml", ".ini", ".cfg", ".lock", ".mod", ".sum", ".tf")
_COUNTS = (
    "edits", "reads", "lookups", "shells", "agents", "tests", "deploys", "committing", "pushes",
    "merges", "plans", "failures",
)  # fmt: skip


def of_range(rounds: Sequence[Activity], heard: Sequence[Heard]) -> Features:
    """How a range was worked on: what was asked for, said and done in it."""
    found: Features = {}
    opening = opening_of(rounds)
    first, others = heard[opening], [h for i, h in enumerate(heard) if i != opening]
    for method, _ in method_cues.REQUESTS:
        found[f"opening asks {method}"] = method in first.asks
        found[f"later asks {method}"] = _mean([method in h.asks for h in others])
    only = len(first.asks)
    for method, _ in method_cues.REQUESTS:
        found[f"opening asks mostly {method}"] = (method in first.asks) / only if only else 0.0
    command = (rounds[opening].command or rounds[0].command or "").lower()
    for method, cue in method_cues.COMMANDS:
        found[f"command {method}"] = bool(command) and cue.search(command) is not None
    subjects = [commit.subject.lower() for round in rounds for commit in round.commits[:5]]
    for method, cue in method_cues.DEEDS:
        found[f"commits {method}"] = _mean([cue.match(subject) is not None for subject in subjects])
    answers = [cues.small(round.answer[:_CLOSING]) for round in rounds]
    for method, cue in method_cues.CLOSINGS:
        hits = [cue.search(answer) is not None for answer in answers]
        found[f"answers {method}"] = _mean(hits)
        found[f"last answer {method}"] = hits[-1]
    found |= {f"opening {name}": name in first.contents for name, _ in cues.CONTENTS}
    found |= {f"opening {name}": name in first.relations for name, _ in cues.RELATIONS}
    found |= {
        "opening question": first.question,
        "questions": _mean([h.question for h in heard]),
        "opening trouble": first.trouble,
        "trouble": _mean([h.trouble for h in heard]),
        "opening findings": first.findings,
        "findings": _mean([h.findings for h in heard]),
        "opening command": bool(command),
        "opening length": math.log1p(len(rounds[opening].prompt)),
        "rounds": math.log1p(len(rounds)),
    }
    _of_tools(found, rounds)
    return {name: float(value) for name, value in found.items()}


def _of_tools(found: Features, rounds: Sequence[Activity]) -> None:
    totals = {name: sum(getattr(round, name) for round in rounds) for name in _COUNTS}
    for name, total in totals.items():
        found[name] = math.log1p(total)
        found[f"any {name}"] = total > 0
    calls = sum(totals[name] for name in ("edits", "reads", "lookups", "shells", "agents"))
    for name in ("edits", "reads", "lookups", "shells"):
        found[f"share of {name}"] = totals[name] / calls if calls else 0.0
    found["no calls"] = not calls
    found["talk"] = _mean([not (r.edits or r.shells or r.reads or r.agents) for r in rounds])
    files = [file.lower() for round in rounds for file in round.files]
    found["files"] = math.log1p(len(set(files)))
    found["share of prose files"] = _mean([file.endswith(_PROSE) for file in files])
    found["share of test files"] = _mean([_TEST.search(file) is not None for file in files])
    found["share of settings files"] = _mean([file.endswith(_SETTINGS) for file in files])
    found["only prose files"] = bool(files) and all(file.endswith(_PROSE) for file in files)
    found["edits per file"] = math.log1p(totals["edits"] / len(set(files))) if files else 0.0
    found["pull requests"] = any(round.pull_requests for round in rounds)


def of_ending(rounds: Sequence[Activity], heard: Sequence[Heard]) -> Features:
    """How a session's last range ended: its last prompt, and the last words that answer it."""
    final, last = rounds[-1], heard[-1]
    answer = final.answer.strip()
    tail, whole = cues.small(answer[-_ENDING:]), cues.small(answer[:_CLOSING])
    lines = answer.splitlines()
    found: Features = {
        "no answer": not answer,
        "short answer": len(answer) < 80,
        "answer length": math.log1p(len(answer)),
        "interrupted": final.interrupted,
        "interrupted, nothing committed": final.interrupted and not final.closes,
        "ends with a question": answer.endswith(cues.QUESTION_MARKS),
        "a question near the end": any(mark in tail for mark in ("?", "？")),
        "a question, nothing committed": answer.endswith(cues.QUESTION_MARKS) and not final.closes,
        "announces more": phase_cues.announces(tail),
        "waits for something": phase_cues.BLOCKED.search(tail) is not None,
        "offers more": phase_cues.OFFERS.search(tail) is not None,
        "reports a result": phase_cues.REPORTS.search(whole) is not None,
        "last words report a result": phase_cues.REPORTS.search(tail) is not None,
        "speaks of failure": phase_cues.FAILS.search(whole) is not None,
        "last words speak of failure": phase_cues.FAILS.search(tail) is not None,
        "a service complains": phase_cues.COMPLAINT.search(answer) is not None,
        "ends with a list": bool(lines)
        and re.match(r"\s*(?:[-*|]|\d+[.)])", lines[-1]) is not None,
        "plan handed over": final.plans > 0,
        "plan, nothing edited": final.plans > 0 and not final.edits,
        "committed": final.closes,
        "committed in the range": any(round.closes for round in rounds),
        "edited, not committed": final.edits > 0 and not final.closes,
        "edits": math.log1p(final.edits),
        "calls": math.log1p(final.edits + final.reads + final.shells + final.lookups),
        "nothing done": not (final.edits or final.shells or final.reads or final.agents),
        "failures": math.log1p(final.failures),
        "agents": final.agents > 0,
        "rounds": math.log1p(len(rounds)),
        "single round": len(rounds) == 1,
        "prompt is a question": last.question,
        "prompt is a reply": last.reply,
        "prompt with trouble": last.trouble,
        "prompt length": math.log1p(len(final.prompt)),
        "prompt takes back": phase_cues.DROPPED.search(last.text[:200]) is not None,
        "command": final.command is not None,
    }
    return {name: float(value) for name, value in found.items()}


def texts_of(round: Activity, heard: Heard) -> dict[str, str]:
    """What was said and done in a round, by kind: whose words tell the method."""
    done = [commit.subject for commit in round.commits[:_SUBJECTS]]
    return {
        "request": heard.text,
        "opening": round.opening[:_OPENING],
        "answers": round.answer[:_ANSWER],
        "commits": ". ".join([*done, *round.pull_titles[:_SUBJECTS], round.plan]),
    }


def texts_of_range(rounds: Sequence[Activity], heard: Sequence[Heard]) -> dict[str, list[str]]:
    """The same of a range: what opens it, and what came of it in each of its rounds."""
    each = [texts_of(*one) for one in zip(rounds, heard, strict=True)]
    first = each[opening_of(rounds)]
    return {
        kind: [first[kind]] if kind in ONCE else [texts[kind] for texts in each] for kind in WORDED
    }


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
