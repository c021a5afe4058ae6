"""Plain frozen values: sessions, rounds, messages, blocks. They import nothing of ours."""

from minutebook.model.blocks import (
    Attachment,
    Block,
    Document,
    Image,
    Notice,
    ResultPart,
    StrayResult,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from minutebook.model.report import BadLine, FormatReport
from minutebook.model.roster import Roster, RosterEntry
from minutebook.model.round import Message, Role, Round, Usage
from minutebook.model.session import (
    GHOST_THRESHOLD,
    Link,
    NameEvidence,
    PullRequest,
    Session,
    SessionInfo,
    Subagent,
)

__all__ = [
    "GHOST_THRESHOLD",
    "Attachment",
    "BadLine",
    "Block",
    "Document",
    "FormatReport",
    "Image",
    "Link",
    "Message",
    "NameEvidence",
    "Notice",
    "PullRequest",
    "ResultPart",
    "Role",
    "Roster",
    "RosterEntry",
    "Round",
    "Session",
    "SessionInfo",
    "StrayResult",
    "Subagent",
    "Text",
    "Thinking",
    "ToolCall",
    "ToolResult",
    "Unknown",
    "Usage",
]
