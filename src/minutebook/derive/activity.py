"""What was done in a round: files, commands, commits, pull requests.

Everything here comes from calls and their results, so it says what happened rather than
what somebody said would happen.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

import msgspec

from minutebook.derive.calls import Choice, command_of, paths_of, plan_heading, planned, settled
from minutebook.derive.messages import COMPACTION, INTERRUPTION
from minutebook.derive.references import references
from minutebook.model import Message, Notice, Round, Text, ToolCall

PROMPT_CHARS = 4_000
ANSWER_CHARS = 6_000
OPENING_CHARS = 600
MOST_TASKS = 12
MOST_LOOKED_AT = 60

_COMMAND_CHARS = 600  # what follows is a script or a text, not the command
_RESULT_CHARS = 50_000

_KINDS: dict[str, str] = {
    "edit": "edits",
    "write": "edits",
    "run": "shells",
    "read": "reads",
    "search": "reads",
    "fetch": "lookups",
    "delegate": "agents",
}
_PLANS = frozenset({"ExitPlanMode", "exit_plan_mode"})  # a plan handed over for approval
_COMMANDS = (  # with words of which one is in whatever the pattern finds: looking is cheaper
    (
        "tests",
        ("test", "tox", "nox", "jest", "mocha", "rspec", "phpunit"),
        re.compile(
            r"\b(?:pytest|tox|nox|jest|vitest|mocha|rspec|phpunit|ctest|gotestsum|playwright test"
            r"|(?:go|cargo|npm|pnpm|yarn|bun|make|mise run|mix|swift|dotnet|gradlew?|mvn|just"
            r"|rake|bazel|xcodebuild|tuist)"
            r"(?: run)? [\w:.-]{0,40}test)"
        ),
    ),
    (
        "deploys",
        (
            *("kubectl", "helm", "terraform", "pulumi", "ansible-playbook", "fly", "vercel"),
            *("netlify", "docker", "twine", "publish", "gh release", "wrangler", "serverless"),
            "systemctl",
        ),
        re.compile(
            r"\b(?:kubectl|helm|terraform|pulumi|ansible-playbook|fly(?:ctl)? deploy|vercel|netlify"
            r"|docker(?: compose)? (?:push|up)|twine upload|npm publish|cargo publish|gh release"
            r"|wrangler deploy|serverless deploy|systemctl (?:re)?start)\b"
        ),
    ),
    ("committing", ("commit",), re.compile(r"\bgit (?:-\S+ \S+ )?commit\b")),
    ("pushes", ("push",), re.compile(r"\bgit (?:-\S+ )?push\b")),
    (
        "merges",
        ("merge", "rebase"),
        re.compile(r"\bgh pr merge\b|\bgit (?:-\S+ )?(?:merge|rebase)\b"),
    ),
)
_COMMIT = re.compile(
    r"^\[(?P<branch>[^\]\n]{1,200}) (?P<hash>[0-9a-f]{7,40})\] (?P<subject>.*)$", re.MULTILINE
)
_NO_BRANCH = "detached HEAD"
_HERE_STRING = "@ "
"""How a message begins that was written as PowerShell does (``@'``), for a shell that is not."""
_REPLAYS = re.compile(
    r"(?:^|[;&|\n(]\s*|=\S*\s)git(?:\s+-\S+(?:\s+[^-\s]\S*)?)*?\s+(?:rebase|cherry-pick)\b"
)
_AMENDS = re.compile(r"\bcommit\b[^\n;&|]{0,400} --amend\b")
_OPENS = re.compile(r"\b(?:gh pr create|glab mr create|hub pull-request)\b")
_TITLED = re.compile(r"--title[ =](?P<quote>[\"'])(?P<title>(?:\\[^\n]|[^\n\\]){3,300}?)(?P=quote)")
_ESCAPED = re.compile(r"\\([\"`$\\])")
_PULL = re.compile(
    r"https://[\w.-]{1,100}(?:/[\w.-]{1,100}){2,4}(?:/-)?/(?:pull|merge_requests)/\d{1,9}"
)


class Commit(msgspec.Struct, frozen=True):
    hash: str
    subject: str
    amends: bool = False
    """Whether it took the place of the commit before it."""
    replayed: bool = False
    """Whether a rebase made it anew: what it says was done before."""


class Activity(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A round, reduced to what an extractor and a record need to know of it."""

    number: int
    id: str = ""
    """Id of the prompt: copies of a conversation share it."""
    started: str | None = None
    ended: str | None = None
    cwd: str | None = None
    branch: str | None = None
    prompt: str = ""
    command: str | None = None
    """The slash command that opened the round."""
    answer: str = ""
    """The last words of the round."""
    queued: bool = False
    compacted: bool = False
    interrupted: bool = False
    opening: str = ""
    """The first words of the model in the round."""
    plans: int = 0
    """Plans handed over for approval."""
    plan: str = ""
    """The heading of the last of them."""
    tasks: tuple[str, ...] = ()
    """What the model put on its list of things to do, and what it gave to others to do."""
    choices: tuple[Choice, ...] = ()
    """What the person chose when the model asked."""
    files: tuple[str, ...] = ()
    """Files that were changed, each once."""
    looked_at: tuple[str, ...] = ()
    """Files and folders that were read or searched, each once."""
    edits: int = 0
    reads: int = 0
    lookups: int = 0
    shells: int = 0
    agents: int = 0
    tests: int = 0
    deploys: int = 0
    committing: int = 0
    """Commands that commit, whether or not git said what came of it."""
    pushes: int = 0
    merges: int = 0
    failures: int = 0
    commits: tuple[Commit, ...] = ()
    pull_requests: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    """Issues and pull requests the prompt is about."""
    needs: tuple[str, ...] = ()
    """Those, and branches, that it says are needed first."""
    pull_titles: tuple[str, ...] = ()
    """What the requests that were opened are called."""

    @property
    def closes(self) -> bool:
        """Whether something was brought to an end here: committed, pushed, opened, merged."""
        return bool(self.committing or self.pull_requests or self.pushes or self.merges)


def activity(round: Round, hide: Callable[[str], str] = str) -> Activity:
    """What was asked, said and done in a round.

    `hide` is what takes secrets out of the words: before they are cut, since half a key is not
    recognised as one.
    """
    counts: Counter[str] = Counter()
    files: dict[str, None] = {}
    looked_at: dict[str, None] = {}
    commits: list[Commit] = []
    pulls: dict[str, None] = {}
    pull_titles: list[str] = []
    tasks: dict[str, None] = {}
    plan = ""
    choices: list[Choice] = []
    for call in round.calls:
        for kind in _kinds(call):
            counts[kind] += 1
        plan = plan_heading(call) or plan
        tasks.update(dict.fromkeys(planned(call, hide)))
        choices += settled(call, hide)
        if call.kind in ("edit", "write"):
            files.update(dict.fromkeys(paths_of(call)))
        elif call.kind in ("read", "search"):
            looked_at.update(dict.fromkeys(paths_of(call)))
        if call.kind == "run":
            commits += commits_of(call)
            pulls.update(dict.fromkeys(pull_requests_of(call)))
            pull_titles += _pull_titles(call)
    notices = {b.kind for m in round.messages for b in m.blocks if isinstance(b, Notice)}
    answers = [b.text for m in round.replies for b in m.blocks if isinstance(b, Text)]
    answers = [text for text in answers if text.strip()]
    opening = hide(answers[0]) if answers else ""
    answer = hide(answers[-1]) if len(answers) > 1 else opening
    prompt = round.prompt
    typed = prompt.said if prompt is not None else ""
    about, needed = references(typed)
    return Activity(
        number=round.number,
        id=(prompt.id or "") if prompt is not None else "",
        started=round.started,
        ended=round.ended,
        cwd=round.cwd,
        branch=round.branch,
        prompt=_shortened(hide(typed), PROMPT_CHARS),
        command=_command(prompt) if prompt is not None else None,
        answer=_shortened(answer, ANSWER_CHARS),
        opening=_shortened(opening, OPENING_CHARS),
        plan=hide(plan),
        tasks=tuple(tasks)[:MOST_TASKS],
        choices=tuple(choices),
        queued=prompt is not None and prompt.queued,
        compacted=COMPACTION in notices,
        interrupted=INTERRUPTION in notices,
        files=tuple(files),
        looked_at=tuple(looked_at)[:MOST_LOOKED_AT],
        commits=tuple(commits),
        pull_requests=tuple(pulls),
        references=about,
        needs=needed,
        pull_titles=tuple(map(hide, pull_titles)),
        **counts,
    )


def _command(prompt: Message) -> str | None:
    """The slash command a prompt is, where the agent wrapped one."""
    said = next((b.said for b in prompt.blocks if isinstance(b, Text) and b.said), None)
    return said.split(maxsplit=1)[0] if said and said.startswith("/") else None


def _kinds(call: ToolCall) -> list[str]:
    """The counters of an Activity that a call adds one to."""
    kinds = [_KINDS[call.kind]] if call.kind in _KINDS else []
    if call.name in _PLANS:
        kinds.append("plans")
    if call.result is not None and call.result.error:
        kinds.append("failures")
    if call.kind == "run":
        command = command_of(call)[:_COMMAND_CHARS]
        for kind, words, pattern in _COMMANDS:
            for word in words:
                if word in command:
                    if pattern.search(command):
                        kinds.append(kind)
                    break
    return kinds


def commits_of(call: ToolCall) -> list[Commit]:
    """Commits as git reports them: ``[branch 1a2b3c4] subject``."""
    if call.result is None:
        return []
    text = _lines_of(call.result.text)
    if "\n[" not in text and not text.startswith("["):
        return []
    command = command_of(call)
    if "git" not in command:
        return []
    command = command[:_COMMAND_CHARS]
    replays = _REPLAYS.search(command) is not None and "commit" not in command
    found = [
        Commit(
            match["hash"],
            match["subject"].removeprefix(_HERE_STRING).strip(),
            replayed=replays and match["branch"].startswith(_NO_BRANCH),
        )
        for match in _COMMIT.finditer(text)
    ]
    if found and _AMENDS.search(command_of(call)):
        found[-1] = msgspec.structs.replace(found[-1], amends=True)
    return found


def pull_requests_of(call: ToolCall) -> list[str]:
    """Requests a call opened; those it only looked at are not its work."""
    if not _opens(command_of(call)[:_COMMAND_CHARS]) or call.result is None:
        return []
    return _PULL.findall(call.result.text[:_RESULT_CHARS])


def _opens(command: str) -> bool:
    """Whether a command opens a pull request."""
    if "pull-request" not in command and " create" not in command:
        return False  # most commands: looked at in no time
    return _OPENS.search(command) is not None


def _pull_titles(call: ToolCall) -> list[str]:
    """What a call named the request it opened."""
    command = command_of(call)[:_COMMAND_CHARS]
    if not _opens(command) or call.result is None or call.result.error:
        return []
    return [_ESCAPED.sub(r"\1", match["title"]) for match in _TITLED.finditer(command)]


def called_pull_requests(call: ToolCall) -> dict[str, str]:
    """Requests a call opened, and what it named them; none where it is not clear which is which."""
    urls, titles = list(dict.fromkeys(pull_requests_of(call))), _pull_titles(call)
    return dict(zip(urls, titles, strict=True)) if len(urls) == len(titles) else {}


def _lines_of(output: str) -> str:
    """The beginning of an output that is looked at, in whole lines."""
    return output if len(output) <= _RESULT_CHARS else output[:_RESULT_CHARS].rpartition("\n")[0]


def _shortened(text: str, limit: int) -> str:
    """The beginning and the end of a long text: that is where people say what they want."""
    if len(text) <= limit:
        return text
    return f"{text[: limit * 2 // 3]}\n…\n{text[-limit // 3 :]}"
