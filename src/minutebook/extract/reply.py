"""The shape of an extractor's answer; the schema a model is held to is generated from it."""

from __future__ import annotations

from typing import Annotated

import msgspec

from minutebook.model.engagement import Method, Phase


class ReplyEngagement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One engagement, as an extractor names it."""

    topic: Annotated[str, msgspec.Meta(description="What was worked on, in 5 to 15 words.")]
    project: Annotated[
        str, msgspec.Meta(description="Path of the project, or 'system', or 'meta'.")
    ]
    method: Method
    phase: Phase
    key_decisions: Annotated[
        list[str], msgspec.Meta(description="0 to 3 decisions, one sentence each.")
    ]
    outcome: Annotated[str, msgspec.Meta(description="One sentence on what was accomplished.")]
    turn_range: Annotated[
        list[int], msgspec.Meta(description="First and last round number, as in the transcript.")
    ]


class Reply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole answer for one session."""

    session_summary: Annotated[
        str, msgspec.Meta(description="The session in one or two sentences.")
    ]
    agent_name: Annotated[
        str | None, msgspec.Meta(description="The name the agent goes by in the text, or null.")
    ]
    agent_role: Annotated[
        str | None, msgspec.Meta(description="The role the agent plays in the text, or null.")
    ]
    engagements: list[ReplyEngagement]
    course: Annotated[
        list[str],
        msgspec.Meta(description="One short line per round: what is wanted; same work or new."),
    ] = []
    """What a model writes down before it cuts; asked for first, and not kept."""
