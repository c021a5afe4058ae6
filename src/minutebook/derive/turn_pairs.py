"""Turn pairs: a round as retrieval sees it, what was asked and what was answered (CORP-01…04)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from minutebook.model import Round, SessionInfo, Text, Usage


class TurnMetadata(msgspec.Struct, frozen=True, omit_defaults=True):
    """What turn pairs can be filtered by (CORP-04)."""

    session_id: str
    round: int
    timestamp: str | None = None
    cwd: str | None = None
    project: str | None = None
    branch: str | None = None
    model: str | None = None
    has_tool_use: bool = False
    usage: Usage = Usage()
    """Tokens of the round, each reply's once."""
    title: str | None = None
    """What the session is called (CORP-13)."""


class TurnPair(msgspec.Struct, frozen=True):
    id: str
    """``session_id:user_uuid``, the same however the session grows."""
    user_prompt: str
    assistant_summary: str
    """The final text block of the round: what was done, without the deliberation."""
    assistant_full: str
    metadata: TurnMetadata

    def surfaces(self) -> dict[str, str]:
        """The searchable texts, without the empty ones (CORP-16)."""
        texts = {
            "user_prompt": self.user_prompt,
            "assistant_summary": self.assistant_summary,
            "assistant_full": self.assistant_full,
        }
        return {name: text for name, text in texts.items() if text.strip()}


def turn_pairs(info: SessionInfo, rounds: Iterable[Round]) -> Iterator[TurnPair]:
    """One turn pair per round; a round without words gives none."""
    cwd, project, branch, model = info.cwd, info.project, info.branch, info.model
    for round in rounds:
        prompt = round.prompt
        answers = [
            block.text
            for reply in round.replies
            for block in reply.blocks
            if isinstance(block, Text) and block.text.strip()
        ]
        if prompt is None and not answers:
            continue
        first = prompt or next(round.replies)
        yield TurnPair(
            id=f"{info.id}:{first.id or round.number}",
            user_prompt=prompt.said if prompt else "",
            assistant_summary=answers[-1] if answers else "",
            assistant_full="\n\n".join(answers),
            metadata=TurnMetadata(
                session_id=info.id,
                round=round.number,
                timestamp=round.started,
                cwd=round.cwd or cwd,
                project=project,
                branch=round.branch or branch,
                model=round.model or model,
                has_tool_use=round.tool_count > 0,
                usage=round.usage,
                title=info.title,
            ),
        )
