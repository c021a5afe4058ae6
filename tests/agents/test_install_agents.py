"""Hooks for agents other than Claude Code: put into what a person wrote, and gone again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from minutebook.archive import Archive
from minutebook.errors import BadArgument, Conflict, NotFound
from minutebook.record.layout import Layout
from minutebook.verbs.install_agents import CodexHome, GeminiHome, OpenCodeHome
from minutebook.verbs.installing import Installation
from tests.agents.test_install import COMMAND, awaited, tree
from tests.programs.test_allowed import session as pi_session

HOMES = (CodexHome, GeminiHome, OpenCodeHome)
TOML = [
    b"",
    b'# mine\nmodel = "gpt-5.5" # best\n\n[projects."/w/orchard"]\ntrust_level = "trusted"\n',
    b'model = """\nnotify = 1\n"""\r\n[tui]\r\nnotifications = true\r\nx = nan\r\n',
    '[profiles."ümlaut"]\nmodel = "o3"'.encode(),
]


@pytest.mark.parametrize("before", TOML, ids=range(len(TOML)))
def test_codex_calls_us_and_every_other_byte_stays(tmp_path: Path, before: bytes) -> None:
    """FUT-05: one line at the top; afterwards the very bytes are back."""
    config = tmp_path / "config.toml"
    config.write_bytes(before)
    kept = tree(tmp_path)
    home = CodexHome(tmp_path, COMMAND)
    home.install()
    after = config.read_bytes()
    assert after.endswith(before)
    script = tmp_path / "minutebook" / "turn-ended.sh"
    assert tomllib.loads(after.decode())["notify"] == ["sh", str(script)]
    assert home.install().already
    assert config.read_bytes() == after
    home.uninstall()
    assert tree(tmp_path) == kept
    assert not script.parent.exists()


def test_what_codex_or_a_person_wrote_since_stays(tmp_path: Path) -> None:
    """FUT-05: only our line is taken out, wherever it stands by then."""
    config = tmp_path / "config.toml"
    config.write_bytes(TOML[1])
    home = CodexHome(tmp_path, COMMAND)
    home.install()
    config.write_bytes(b"# a new heading\n" + config.read_bytes() + b'\n[new]\nkey = "x"\n')
    assert home.uninstall().remark
    assert config.read_bytes() == b"# a new heading\n" + TOML[1] + b'\n[new]\nkey = "x"\n'


def test_a_notify_written_another_way_is_not_guessed_at(tmp_path: Path) -> None:
    """FUT-05: where our line cannot be found again, everything stays and the person is told."""
    config = tmp_path / "config.toml"
    home = CodexHome(tmp_path, COMMAND)
    home.install()
    config.write_text(config.read_text().replace(" # minutebook", ""))
    kept = tree(tmp_path)
    with pytest.raises(Conflict, match="Edit it yourself"):
        home.uninstall()
    assert tree(tmp_path) == kept


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b'notify = ["say", "done"]\n', Conflict),
        (b"model = \n", BadArgument),
        (b"\xff\xfe", BadArgument),
    ],
)
def test_a_config_we_may_not_change_is_left_alone(
    tmp_path: Path, content: bytes, error: type[Exception]
) -> None:
    """FUT-05: Codex calls one program only: a person's own comes first; mistakes are named."""
    (tmp_path / "config.toml").write_bytes(content)
    with pytest.raises(error, match="left untouched"):
        CodexHome(tmp_path, COMMAND).install()
    assert tree(tmp_path) == {"config.toml": content}


def test_gemini_gets_a_hook_of_its_own_shape(tmp_path: Path) -> None:
    """FUT-05: merged into settings.json, its clock in milliseconds; the bytes come back."""
    before = b'{\n   "theme": "Default",\n   "hooks": {"AfterTool": []}\n}'
    (tmp_path / "settings.json").write_bytes(before)
    home = GeminiHome(tmp_path, COMMAND)
    home.install()
    settings = json.loads((tmp_path / "settings.json").read_bytes())
    assert list(settings) == ["theme", "hooks"]
    (hook,) = settings["hooks"]["SessionEnd"][0]["hooks"]
    assert (hook["type"], hook["timeout"]) == ("command", 10_000)
    assert str(tmp_path / "minutebook" / "session-end.sh") in hook["command"]
    home.uninstall()
    assert tree(tmp_path) == {"settings.json": before}


@pytest.mark.parametrize("existing", [True, False])
def test_opencode_finds_a_plugin(tmp_path: Path, existing: bool) -> None:
    """FUT-05: a file in its folder of plugins, beside those of a person."""
    root = tmp_path / "opencode"
    other = root / "plugin" / "mine.js"
    if existing:
        other.parent.mkdir(parents=True)
        other.write_text("export const Mine = async () => ({})\n")
    kept, folders = tree(tmp_path), sorted(tmp_path.rglob("*/"))
    home = OpenCodeHome(root, ["/opt/my tools/minutebook", 'a "b"'])
    home.install()
    plugin = (root / "plugin" / "minutebook.js").read_text()
    assert 'const command = ["/opt/my tools/minutebook", "a \\"b\\""]' in plugin
    assert home.install().already
    home.uninstall()
    assert tree(tmp_path) == kept
    assert sorted(tmp_path.rglob("*/")) == folders
    with pytest.raises(NotFound):
        home.uninstall()


@pytest.mark.parametrize("make", HOMES)
@pytest.mark.parametrize("name", ["o'brien", "two words", 'a "b"', "日記"])
def test_odd_names_of_folders_of_any_agent(
    tmp_path: Path, make: type[CodexHome | GeminiHome | OpenCodeHome], name: str
) -> None:
    """FUT-05: installed once, recognised again, gone without a trace, whatever the path is."""
    home: Installation = make(tmp_path / name, COMMAND)
    home.install()
    assert home.install().already
    home.uninstall()
    assert list(tmp_path.iterdir()) == []


# -- the hook itself


def run(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **env}
    return subprocess.run([*COMMAND, *words], capture_output=True, text=True, env=environment)


@pytest.mark.parametrize("said", ["whole", "cut"])
def test_a_session_is_found_by_its_id(tmp_path: Path, said: str) -> None:
    """FUT-05: an agent that names no file is looked up in its home; a long event may be cut."""
    pi_session(tmp_path / "agent", "pi-one")
    pi_session(tmp_path / "agent", "pi-two")
    event = '{"type":"agent-turn-complete","thread-id":"pi-one","input-messages":["thread-id"]}'
    layout = Layout(tmp_path / "archive")
    done = run(
        *("hook", "--agent", "pi", "--archive", str(layout.root)),
        PI_CODING_AGENT_DIR=str(tmp_path / "agent"),
        MINUTEBOOK_EVENT=event if said == "whole" else event[:-6],
    )
    assert done.returncode == 0, done.stderr
    assert "pi-one: 1 engagement (turn ended)" in awaited(layout)
    assert set(Archive(layout.root, ()).minutes.stored()) == {"pi-one"}


def test_the_script_hands_on_what_codex_says(tmp_path: Path) -> None:
    """FUT-05: Codex gives its event as an argument, not as input; it does not wait."""
    home = tmp_path / ".codex"
    command = ["env", f"MINUTEBOOK_ARCHIVE={tmp_path / 'archive'}", *COMMAND]
    CodexHome(home, command).install()
    event = '{"type":"agent-turn-complete","thread-id":"nobody"}'
    script = home / "minutebook" / "turn-ended.sh"
    environment = {**os.environ, "CODEX_HOME": str(home)}
    subprocess.run(["sh", str(script), event], check=True, timeout=20, env=environment)
    assert "nobody: there is no transcript (turn ended)" in awaited(Layout(tmp_path / "archive"))


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node to run a plugin")
def test_the_plugin_starts_us_when_a_session_is_idle(tmp_path: Path) -> None:
    """FUT-05: called the way OpenCode calls a plugin; other events start nothing."""
    command = ["env", f"MINUTEBOOK_ARCHIVE={tmp_path / 'archive'}", *COMMAND]
    OpenCodeHome(tmp_path, command).install()
    plugin = tmp_path / "minutebook.mjs"
    shutil.copy(tmp_path / "plugin" / "minutebook.js", plugin)
    idle = {"type": "session.idle", "properties": {"sessionID": "ses_none"}}
    other = {"type": "session.updated", "properties": {"sessionID": "ses_other"}}
    calls = "".join(f"await hooks.event({{event: {json.dumps(e)}}});" for e in (other, idle))
    loaded = f"const {{ Minutebook }} = await import({json.dumps(str(plugin))});"
    code = f"{loaded} const hooks = await Minutebook({{}}); {calls}"
    environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path / "data")}
    words = ["node", "--input-type=module", "-e", code]
    subprocess.run(words, check=True, timeout=20, env=environment)
    log = awaited(Layout(tmp_path / "archive"))
    assert "ses_none: there is no transcript (idle)" in log
    assert "ses_other" not in log


@pytest.mark.parametrize(
    ("what", "advice"),
    [("copilot", "minutebook watch"), ("cursor", "minutebook watch"), ("emacs", "choose one of")],
)
def test_an_agent_without_hooks_is_watched(what: str, advice: str) -> None:
    """FUT-05: what cannot call us is watched, and the message says how."""
    done = run("install", what)
    assert done.returncode == 2
    assert advice in done.stderr
    assert sys.executable not in done.stderr
