"""Rounds for other people as Markdown and JSON (SHARE-01)."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from minutebook.archive.sharing import BLOCKS, SharedSession, asked_of
from minutebook.derive.plain import one_line
from minutebook.derive.wording import rounds_text
from minutebook.model import Message, Round
from minutebook.record.indexes import harmless
from minutebook.record.markdown import write_round
from minutebook.record.notation import parse_carrier
from minutebook.verbs.json_document import json_document

_OF_ENGAGEMENT = (
    *("id", "topic", "project", "method", "phase", "key_decisions", "outcome", "turn_range"),
    *("parts", "started", "ended", "files", "commits", "pull_requests"),
)
_OF_SESSION = (
    *("session_id", "source", "title", "agent_name", "agent_role", "project", "git_branch"),
    *("model", "started", "ended", "session_summary"),
)


def rounds_markdown(rounds: Iterable[Round], session_id: str) -> str:
    """Rounds as Markdown for reading, without the lines that only a way back needs."""
    body = "".join(write_round(_by_side(round), session_id) for round in rounds)
    kept = (line for line in body.split("\n") if not parse_carrier(line))
    return "\n".join(kept).strip().removeprefix("---").lstrip()


def _by_side(round: Round) -> Round:
    """A round as one message a side: the single replies do not matter to a reader."""
    messages = []
    rest = round.blocks[len(round.asked) :]
    if round.asked:
        messages.append(Message("user", round.asked, at=round.asked_at))
    if rest:
        messages.append(Message("assistant", rest, at=round.ended, model=round.model))
    return Round(round.number, tuple(messages))


def sessions_markdown(
    title: str, sessions: Sequence[SharedSession], only: Collection[str], masked: str
) -> bytes:
    """A document with contents; pictures are named, not included."""
    lines = [f"# {harmless(one_line(title))}", ""]
    told = f"Masked: {masked}." if masked else "No secret was found in it."
    left_out = [name for name in BLOCKS if name not in only]
    lines += [told + (f" Left out: {', '.join(left_out)}." if left_out else ""), ""]
    for session in sessions:
        lines += _contents(session, several=len(sessions) > 1)
    for at, session in enumerate(sessions):
        begins = f"s{at + 1}-" if at else ""
        if len(sessions) > 1:
            lines += [f"## {harmless(one_line(session.record.called or session.short))}", ""]
        lines += _rounds(session, begins)
    return ("\n".join(lines).rstrip("\n") + "\n").encode("utf-8", "replace")


def _contents(session: SharedSession, *, several: bool) -> list[str]:
    record = session.record
    named = harmless(one_line(record.called or session.short))
    facts = (named if several else "", record.project, record.git_branch, record.model)
    lines = [" · ".join(harmless(one_line(fact)) for fact in facts if fact), ""]
    if record.told_summary:
        lines += [harmless(one_line(record.told_summary)), ""]
    for engagement in session.engagements:
        label = f"{engagement.method}, {engagement.phase}, {rounds_text(engagement.ranges)}"
        lines.append(f"- **{harmless(one_line(engagement.topic))}** ({harmless(label)})")
        if engagement.outcome:
            lines.append(f"  {harmless(one_line(engagement.outcome))}")
        lines += [f"  - decided: {harmless(one_line(d))}" for d in engagement.key_decisions]
    return [*lines, ""]


def _rounds(session: SharedSession, begins: str) -> list[str]:
    lines = []
    for round in session.rounds:
        anchor = f"{begins}round-{round.number}"
        lines.append(f"{round.number}. [{harmless(asked_of(round))}](#{anchor})")
    lines.append("")
    id = session.record.session_id
    for round in session.rounds:
        anchor = f'<a id="{begins}round-{round.number}"></a>'
        lines += [
            "---",
            "",
            anchor,
            f"## Round {round.number}",
            "",
            rounds_markdown([round], id),
            "",
        ]
    for agent in session.subagents:
        name = harmless(one_line(agent.description or agent.kind or agent.id))
        lines += ["---", "", f"## Subagent: {name}", "", rounds_markdown(agent.rounds, id), ""]
    return lines


def sessions_json(
    title: str, sessions: Sequence[SharedSession], only: Collection[str], masked: Mapping[str, int]
) -> bytes:
    """One object (docs/json.md); pictures are inside."""
    return json_document(
        title=title,
        only=list(only),
        masked=dict(sorted(masked.items())),
        sessions=[_plain_session(session) for session in sessions],
    )


def _plain_session(session: SharedSession) -> dict[str, Any]:
    record = msgspec.to_builtins(session.record)
    return {
        **{name: record[name] for name in _OF_SESSION},
        "count": session.record.rounds,
        "whole": session.whole,
        "engagements": [
            {name: value for name in _OF_ENGAGEMENT if (value := getattr(e, name)) not in ("", ())}
            for e in session.engagements
        ],
        "rounds": [
            with_pictures(msgspec.to_builtins(round), session.picture) for round in session.rounds
        ],
        "subagents": [
            with_pictures(msgspec.to_builtins(agent), session.picture)
            for agent in session.subagents
        ],
    }


def with_pictures(value: Any, picture: Callable[[str], bytes | None]) -> Any:
    """JSON of a round with its pictures inside: `file` names nothing outside the archive."""
    if isinstance(value, list | tuple):
        return [with_pictures(item, picture) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("type") in ("image", "document") and isinstance(value.get("file"), str):
        content = picture(value["file"])
        if content is not None:
            return {**value, "data": b64encode(content).decode()}
    return {key: with_pictures(item, picture) for key, item in value.items()}
