"""The second coding agent of the examples: rollouts, as Codex CLI writes them since 0.34."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

from minutebook.examples.script import Record, example_id

LEDGER, ATLAS, ORCHARD = "/home/mara/ledger", "/home/mara/atlas", "/home/mara/orchard"


class Rollout:
    """Builds one rollout's lines; every id and time follows from the arguments."""

    def __init__(
        self, name: str, *, cwd: str, start: str, title: str, branch: str = "main"
    ) -> None:
        self.session_id = example_id(f"codex/{name}")
        self.title = title
        self._cwd = cwd
        self._started = self._clock = datetime.fromisoformat(start).replace(tzinfo=UTC)
        self._calls = 0
        self._sent: Counter[str] = Counter()
        self.lines: list[Record] = []
        self._line(
            "session_meta",
            id=self.session_id,
            timestamp=self._now(),
            cwd=cwd,
            originator="codex_cli_rs",
            cli_version="0.144.1",
            source="cli",
            git={"branch": branch},
        )

    def user(self, text: str, after: float = 60) -> None:
        self._wait(after)
        self._line(
            "turn_context",
            cwd=self._cwd,
            model="gpt-5.2-codex",
            effort="medium",
            approval_policy="on-request",
            sandbox_policy={"type": "workspace-write"},
        )
        self._item("message", role="user", content=[{"type": "input_text", "text": text}])
        self._line("event_msg", type_="user_message", message=text, images=[])

    def reply(self, text: str) -> None:
        self._wait(9)
        self._item("message", role="assistant", content=[{"type": "output_text", "text": text}])
        self._count(len(text))

    def run(self, command: str, output: str, code: int = 0) -> None:
        """A command and what it printed."""
        self._calls += 1
        call = f"call_{self._calls:04}"
        arguments = json.dumps({"command": command})
        self._item("function_call", name="shell_command", arguments=arguments, call_id=call)
        self._count(len(arguments))
        self._wait(6)
        told = f"Exit code: {code}\nWall time: 6 seconds\nOutput:\n{output}\n"
        self._item("function_call_output", call_id=call, output=told)

    def patch(self, path: str, old: str, new: str) -> None:
        """An edit of one line."""
        self._calls += 1
        call = f"call_{self._calls:04}"
        patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch\n"
        self._item(
            "custom_tool_call", status="completed", call_id=call, name="apply_patch", input=patch
        )
        self._count(len(patch))
        told = {
            "output": f"Success. Updated the following files:\nM {path}\n",
            "metadata": {"exit_code": 0, "duration_seconds": 0.0},
        }
        self._item("custom_tool_call_output", call_id=call, output=json.dumps(told))

    def file(self) -> tuple[str, bytes]:
        """Path under the agent's folder, and bytes."""
        at = self._started
        name = f"rollout-{at:%Y-%m-%dT%H-%M-%S}-{self.session_id}.jsonl"
        lines = (json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in self.lines)
        return f"sessions/{at:%Y/%m/%d}/{name}", "".join(f"{line}\n" for line in lines).encode()

    # -- lines

    def _item(self, kind: str, **fields: Any) -> None:
        self._line("response_item", type_=kind, **fields)

    def _line(self, type: str, *, type_: str | None = None, **payload: Any) -> None:
        kind = {"type": type_} if type_ else {}
        line = {"timestamp": self._now(), "type": type, "payload": {**kind, **payload}}
        self.lines.append(line)

    def _count(self, written: int) -> None:
        read = 22_000 + 1_500 * len(self.lines)
        last = {
            "input_tokens": read,
            "cached_input_tokens": read - 2_400,
            "output_tokens": 90 + written,
            "reasoning_output_tokens": 60,
            "total_tokens": read + 90 + written,
        }
        self._sent.update(last)
        info = {
            "total_token_usage": dict(self._sent),
            "last_token_usage": last,
            "model_context_window": 258_400,
        }
        self._line("event_msg", type_="token_count", info=info, rate_limits=None)

    def _wait(self, seconds: float) -> None:
        self._clock += timedelta(seconds=seconds)

    def _now(self) -> str:
        return self._clock.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def flaky() -> Rollout:
    """Debugging a test that fails now and then."""
    s = Rollout("flaky", cwd=ATLAS, start="2026-02-18T16:10:00", title="Find why test_pan is flaky")
    s.user("tests/map/test_pan.py fails about once in twenty runs. Find out why.")
    s.run("pytest -q tests/map/test_pan.py --count 40", "2 failed, 38 passed in 61.20s", 1)
    s.reply("Two of forty fail. The tests share a cache, so their order decides what is in it.")
    s.user("Fix it in the fixture, not in the tests.")
    s.patch("tests/map/conftest.py", "    yield Map()", "    tile.cache_clear(); yield Map()")
    s.run("pytest -q tests/map/test_pan.py --count 200", "200 passed in 298.11s")
    s.reply("The fixture clears the tile cache; 200 runs pass.")
    s.user("Commit.")
    s.run("git commit -qam 'Clear the tile cache between tests'", "")
    s.reply("Committed.")
    return s


def memory() -> Rollout:
    """Research after the outage, which the fix two days later builds on."""
    title = "Measure where the ledger's memory goes"
    s = Rollout("memory", cwd=LEDGER, start="2026-03-14T10:20:00", branch="issue-212", title=title)
    s.user(
        "Measure where the memory of the ledger goes since the rollout; the outage is issue #212."
    )
    s.run("python -m memray run -o out.bin bench/memory.py", "peak 1,904 MB")
    s.run("python -m memray summary out.bin | head -4", "statements/cache.py load 1,811 MB 95.1%")
    s.reply("95 % of the peak is statements/cache.py: `load` keeps every statement it has read.")
    s.user("Would a smaller cache be enough, or does it have to go?")
    s.run("python bench/memory.py --limit 50", "peak 702 MB, hit rate 0.4 %")
    s.reply(
        "A limit of 50 still needs 702 MB, and only 0.4 % of the reads are found in it: the cache "
        "has no use. I recommend to stream instead."
    )
    s.user("Write that into the issue.")
    s.run("issue comment 212 --file finding.md", "commented on #212")
    s.reply("The finding is in #212, with both measurements.")
    return s


def upgrade() -> Rollout:
    """Maintenance, on the last day."""
    s = Rollout(
        "upgrade", cwd=ORCHARD, start="2026-03-20T08:15:00", title="Upgrade the dependencies"
    )
    s.user("Upgrade orchard's dependencies, one at a time, and stop where tests fail.")
    s.run("uv lock --upgrade-package django && pytest -q", "214 passed in 18.02s")
    s.run(
        "uv lock --upgrade-package cryptography && pytest -q", "3 failed, 211 passed in 18.40s", 1
    )
    s.reply(
        "django is upgraded. With the new cryptography three tests fail, all on an old key format."
    )
    s.user("Convert the key, then go on.")
    s.patch("auth/keys.py", "KEY = load_legacy(PATH)", "KEY = load_pkcs8(PATH)")
    s.run("pytest -q", "214 passed in 17.91s")
    s.reply("The key is PKCS #8 now; all 214 tests pass with both upgrades.")
    s.user("Commit each upgrade by itself.")
    s.run("git log --oneline -2", "c41f9aa Upgrade cryptography\n0b77d10 Upgrade django")
    s.reply("Two commits, one for each upgrade.")
    return s


ROLLOUTS = (flaky, memory, upgrade)
