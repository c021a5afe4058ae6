"""A session with a secret in every place a secret can be in."""

from __future__ import annotations

import hashlib
from pathlib import Path

from minutebook.archive import Archive
from minutebook.verbs.correct import correct
from tests.agents.conftest import written
from tests.conftest import Record, assistant, tool_result, tool_use, user

ID = "5ec2e75e-2222-4333-8444-555555555555"
FIELDS = ("topic", "outcome", "key_decisions", "project")


class Secrets:
    """Makes secrets, a different one for each place, and knows them all."""

    def __init__(self) -> None:
        self.made: dict[str, list[str]] = {}

    def _made(self, place: str, what: str, length: int) -> str:
        digest = hashlib.sha256(f"{place}/{what}".encode()).hexdigest()
        secret = f"Zq7{digest.upper()}{digest}"[:length]
        self.made.setdefault(place, []).append(secret)
        return secret

    def key(self, place: str) -> str:
        """A token of a well-known format."""
        return "gh" + "p_" + self._made(place, "key", 36)

    def told(self, place: str) -> str:
        """A key, an assignment and a password in prose."""
        assigned = self._made(place, "assigned", 18)
        said = self._made(place, "said", 14)
        return (
            f"Use {self.key(place)} here. Run PGPASSWORD={assigned} psql -h db. "
            f"And the admin password is {said} for now."
        )

    def found_in(self, text: str) -> dict[str, list[str]]:
        """Which secrets of which places a text shows, even in part or in small letters."""
        low = text.lower()
        found = {
            place: [secret for secret in secrets if secret[:8].lower() in low]
            for place, secrets in self.made.items()
        }
        return {place: secrets for place, secrets in found.items() if secrets}


def title(secrets: Secrets) -> str:
    return f"Deploy, {secrets.told('title')}"


def planted(root: Path) -> Secrets:
    """Write the session; a secret in every kind of block, in title, branch and folder."""
    secrets = Secrets()
    told = secrets.told
    own = {
        "cwd": f"/srv/{secrets.key('cwd')}/garden",
        "gitBranch": f"fix/{secrets.key('branch')}",
    }
    edited = {
        "filePath": "/srv/x.py",
        "structuredPatch": [
            {
                "oldStart": 1,
                "oldLines": 1,
                "newStart": 1,
                "newLines": 1,
                "lines": [f"-{told('patch')}", "+os.environ"],
            }
        ],
    }
    picture = {
        "type": "image",
        "source": {"type": "url", "url": f"https://x/?k={secrets.key('url')}"},
    }
    document = {
        "type": "document",
        "title": told("document"),
        "source": {"type": "url", "url": f"https://x/?k={secrets.key('link')}"},
    }
    parts = [
        {"type": "text", "text": told("result part")},
        {"type": "gadget", "words": told("unknown result part")},
    ]
    records: list[Record] = [
        {"type": "ai-title", "aiTitle": title(secrets)},
        user([{"type": "text", "text": told("prompt")}, picture, document]),
        {"type": "attachment", "attachment": {"type": "file", "content": told("attachment")}},
        {"type": "system", "subtype": "informational", "content": told("notice")},
        assistant(
            {"type": "thinking", "thinking": told("thinking"), "signature": "c2ln"},
            told("answer"),
            {"type": "gadget", "words": told("unknown block")},
            tool_use("t1", command=told("command"), password=secrets.key("named input")),
            tool_use("t2", name="Edit", file_path="/srv/x.py", old_string=told("old string")),
            tool_use("t3", name="mcp__x__y", about=[{"deep": told("deep input")}]),
        ),
        tool_result("t1", told("result")),
        tool_result("t2", "ok", toolUseResult=edited),
        tool_result("t3", parts),
        tool_result("nobody", told("stray result")),
        user("[Request interrupted by user] " + told("interruption")),
        user(f"<task-notification><summary>{told('task')}</summary></task-notification>"),
        user("Deploy the garden. " + told("second prompt")),
        assistant(f"Decision: we keep it. {told('second answer')}", id="msg_2"),
        user("Write down what we decided about the deployment of the garden.", isMeta=False),
        assistant(f"Done: deployed. {told('outcome')}", id="msg_3"),
        user(f"This session is being continued from a previous conversation. {told('summary')}"),
    ]
    stamped = [
        {"uuid": f"u{n}", "timestamp": f"2026-03-01T10:{n:02}:00.000Z", **own, **record}
        for n, record in enumerate(records)
    ]
    written(root, ID, *stamped)
    return secrets


def corrected(archive: Archive, secrets: Secrets) -> None:
    """Secrets in every field of the minutes a person, or a model, may write."""
    (engagement,) = archive.record(ID).engagements
    for field in FIELDS:
        correct(archive, ID, engagement.id, f"{field}={secrets.told(field)} In the garden.")
