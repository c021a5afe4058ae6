"""A session's own metadata, as a record without engagements (ING-03)."""

from __future__ import annotations

from minutebook.derive.identity import Identity
from minutebook.derive.titles import session_title
from minutebook.model import SessionInfo
from minutebook.model.engagement import RECORD_FORMAT, SessionRecord


def bare_record(info: SessionInfo, identity: Identity) -> SessionRecord:
    """The record before anybody has taken minutes."""
    return SessionRecord(
        format=RECORD_FORMAT,
        session_id=info.id,
        source=info.source,
        slug=info.slug,
        title=session_title(info),
        cwd=info.cwd,
        project=info.project,
        git_branch=info.branch,
        model=info.model,
        version=info.versions[0] if info.versions else None,
        started=info.started,
        ended=info.ended,
        rounds=info.rounds,
        user_messages=info.prompts,
        subagents=info.subagents,
        agent_name=identity.name,
        agent_name_source=identity.source,
        agent_role=identity.role,
    )
