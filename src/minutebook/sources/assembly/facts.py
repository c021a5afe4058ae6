"""What a session says about itself, gathered while its records go by."""

from __future__ import annotations

import msgspec

from minutebook.derive.titles import is_opening
from minutebook.model import Link, NameEvidence, PullRequest, RecordedCost, SessionInfo
from minutebook.sources.assembly.assemble import RoundAssembler

_LOOKED_AT = 4_000  # characters of a prompt that may become a title
_LONGEST = 120


class Facts(msgspec.Struct, omit_defaults=True):
    """Folds records into a `SessionInfo`. A value, so that a reading can be taken up again."""

    session_id: str
    source: str
    started: str | None = None
    ended: str | None = None
    title: str | None = None
    """Given by a person or by the agent; without one, the first prompt's beginning serves."""
    title_is_persons: bool = False
    """Whether a person gave it: it then names the agent, too (ID-04)."""
    slug: str | None = None
    origin: str | None = None
    """Of an export: the transcript the session was first read from."""
    entrypoint: str | None = None
    compactions: int = 0
    duration_ms: int = 0
    first_prompt: str = ""
    cost: RecordedCost | None = None
    cwds: dict[str, None] = {}
    branches: dict[str, None] = {}
    models: dict[str, None] = {}
    versions: dict[str, None] = {}
    links: dict[str, Link] = {}
    pull_requests: dict[str, PullRequest] = {}

    def saw(
        self,
        at: str | None = None,
        *,
        cwd: str | None = None,
        branch: str | None = None,
        model: str | None = None,
        version: str | None = None,
    ) -> None:
        """What a record says of when and where it was written."""
        if at:
            if self.started is None or at < self.started:
                self.started = at
            if self.ended is None or at > self.ended:
                self.ended = at
        if cwd:
            self.cwds.setdefault(cwd)
        if branch:
            self.branches.setdefault(branch)
        if model:
            self.models.setdefault(model)
        if version:
            self.versions.setdefault(version)

    def link(self, link: Link) -> None:
        """A recorded tie to another session."""
        if link.session_id != self.session_id:
            self.links.setdefault(link.session_id, link)

    def info(self, rounds: int, assembler: RoundAssembler, subagents: int = 0) -> SessionInfo:
        title = self.title or headline(self.first_prompt) or None
        return SessionInfo(
            id=self.session_id,
            source=self.source,
            started=self.started,
            ended=self.ended,
            rounds=rounds,
            prompts=assembler.prompts,
            calls=assembler.calls,
            subagents=subagents,
            compactions=self.compactions,
            title=title,
            title_is_prompt=is_opening(title, self.first_prompt),
            slug=self.slug,
            origin=self.origin,
            cwds=tuple(self.cwds),
            branches=tuple(self.branches),
            models=tuple(self.models),
            versions=tuple(self.versions),
            entrypoint=self.entrypoint,
            names=NameEvidence((), (self.title,) if self.title and self.title_is_persons else ()),
            links=tuple(self.links.values()),
            pull_requests=tuple(self.pull_requests.values()),
            usage=assembler.usage,
            duration_ms=self.duration_ms,
            answer_chars=assembler.answer_chars,
            prompt_ids=tuple(assembler.prompt_ids),
            cost=self.cost,
        )


def headline(text: str) -> str:
    """The first line of a prompt, short enough for a title."""
    from minutebook.derive.secrets import mask  # its patterns take a while to compile

    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    line = mask(line[:_LOOKED_AT])  # before it is cut: half a secret would be taken for a word
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1].rstrip() + "…"
