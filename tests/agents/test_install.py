"""Installing for Claude Code: merged, backed up, and gone without a trace."""

from __future__ import annotations

import json
import os
import plistlib
import subprocess
import sys
import time
from pathlib import Path

import pytest

from minutebook.archive import Archive
from minutebook.errors import BadArgument, Conflict, NotFound
from minutebook.record.layout import Layout
from minutebook.verbs.install_agents import ClaudeHome, CodexHome
from minutebook.verbs.install_service import launchd_unit, remove_unit, systemd_unit, write_unit
from tests.conftest import as_line, user

COMMAND = [sys.executable, "-m", "minutebook"]
SETTINGS = [
    None,
    b"",
    b"{}",
    b'{\n    "model": "opus",\n    "hooks": {"Stop": []}\n}',
    b'{"hooks":{"SessionEnd":[{"hooks":[{"type":"command","command":"say bye"}]}]}}\n',
    '{\n\t"note": "ünïcödé \\u00e9",\n\t"permissions": {"allow": ["Bash(ls)"]}\n}\n'.encode(),
]


def tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize("before", SETTINGS, ids=range(len(SETTINGS)))
def test_installed_and_gone_without_a_trace(tmp_path: Path, before: bytes | None) -> None:
    """FUT-05: what was there is merged and kept; afterwards every byte is as it was."""
    root = tmp_path / ".claude"
    if before is not None:
        root.mkdir()
        (root / "settings.json").write_bytes(before)
    kept = tree(tmp_path)
    folders = sorted(p for p in tmp_path.rglob("*") if p.is_dir())
    home = ClaudeHome(root, COMMAND)
    home.install()
    settings = json.loads((root / "settings.json").read_bytes())
    known = json.loads(before) if before and before.strip() else {}
    for name, value in known.items():
        if name != "hooks":
            assert settings[name] == value
    for event, entries in known.get("hooks", {}).items():
        assert settings["hooks"][event][: len(entries)] == entries
    assert "session-end.sh" in json.dumps(settings["hooks"]["SessionEnd"][-1])
    assert (root / "skills" / "minutebook" / "SKILL.md").read_text().startswith("---\nname:")
    if before:
        assert (root / "settings.json.before-minutebook").read_bytes() == before
    home.uninstall()
    assert tree(tmp_path) == kept
    assert sorted(p for p in tmp_path.rglob("*") if p.is_dir()) == folders


def test_twice_is_once(tmp_path: Path) -> None:
    """FUT-05: a second install changes nothing, and the way back is still exact."""
    root = tmp_path / ".claude"
    root.mkdir()
    (root / "settings.json").write_bytes(SETTINGS[3] or b"")
    home = ClaudeHome(root, COMMAND)
    home.install()
    once = tree(tmp_path)
    assert home.install().already
    assert tree(tmp_path) == once
    home.uninstall()
    assert (root / "settings.json").read_bytes() == SETTINGS[3]


def test_settings_changed_since_lose_only_our_hook(tmp_path: Path) -> None:
    """FUT-05: what a person added meanwhile stays."""
    root = tmp_path / ".claude"
    root.mkdir()
    (root / "settings.json").write_bytes(SETTINGS[3] or b"")
    home = ClaudeHome(root, COMMAND)
    home.install()
    settings = json.loads((root / "settings.json").read_bytes())
    settings["theme"] = "dark"
    (root / "settings.json").write_text(json.dumps(settings))
    done = home.uninstall()
    assert done.remark
    assert json.loads((root / "settings.json").read_bytes()) == {
        "model": "opus",
        "hooks": {"Stop": []},
        "theme": "dark",
    }


@pytest.mark.parametrize(
    "content", [b'{"a": 1, // comment\n}', b"{broken", b"[]", b'"text"', b'{"a": 1,}']
)
def test_settings_nobody_can_read_are_left_alone(tmp_path: Path, content: bytes) -> None:
    """Comments or broken JSON: untouched, a clear message, nothing installed."""
    (tmp_path / "settings.json").write_bytes(content)
    with pytest.raises(BadArgument, match="left untouched"):
        ClaudeHome(tmp_path, COMMAND).install()
    assert tree(tmp_path) == {"settings.json": content}


@pytest.mark.parametrize("content", [b'{"hooks": []}', b'{"hooks": {"SessionEnd": {}}}'])
def test_hooks_of_another_shape_are_left_alone(tmp_path: Path, content: bytes) -> None:
    """What we do not understand we do not change."""
    (tmp_path / "settings.json").write_bytes(content)
    with pytest.raises(Conflict):
        ClaudeHome(tmp_path, COMMAND).install()
    assert tree(tmp_path) == {"settings.json": content}


def test_a_link_stays_a_link_and_rights_stay(tmp_path: Path) -> None:
    """Dotfiles behind a link are changed where they are."""
    real = tmp_path / "dotfiles.json"
    real.write_bytes(b"{}\n")
    real.chmod(0o644)
    root = tmp_path / ".claude"
    root.mkdir()
    (root / "settings.json").symlink_to(real)
    home = ClaudeHome(root, COMMAND)
    home.install()
    assert (root / "settings.json").is_symlink()
    assert b"SessionEnd" in real.read_bytes()
    assert real.stat().st_mode & 0o777 == 0o644
    home.uninstall()
    assert (root / "settings.json").is_symlink()
    assert real.read_bytes() == b"{}\n"


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    """FUT-05: `--dry-run` only says what it would do."""
    done = subprocess.run(
        [*COMMAND, "install", "claude-code", "--root", str(tmp_path / "c"), "--dry-run"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "SKILL.md" in done.stdout
    assert tree(tmp_path) == {}


def test_without_its_copy_the_settings_stay(tmp_path: Path) -> None:
    """FUT-05: a copy somebody deleted is no reason to delete the settings."""
    (tmp_path / "settings.json").write_bytes(b'{"model": "x"}')
    home = ClaudeHome(tmp_path, COMMAND)
    home.install()
    (tmp_path / "settings.json.before-minutebook").unlink()
    assert home.uninstall().remark
    assert json.loads((tmp_path / "settings.json").read_bytes()) == {"model": "x"}


def test_a_hook_beside_ours_stays(tmp_path: Path) -> None:
    """FUT-05: a person may have added one to our entry."""
    home = ClaudeHome(tmp_path, COMMAND)
    home.install()
    settings = json.loads((tmp_path / "settings.json").read_bytes())
    mine = {"type": "command", "command": "echo mine"}
    settings["hooks"]["SessionEnd"][0]["hooks"].append(mine)
    (tmp_path / "settings.json").write_text(json.dumps(settings))
    home.uninstall()
    left = json.loads((tmp_path / "settings.json").read_bytes())
    assert left == {"hooks": {"SessionEnd": [{"hooks": [mine]}]}}


@pytest.mark.parametrize("name", ["o'brien", "two words", 'a "b"', "$HOME", "日記"])
def test_odd_names_of_folders(tmp_path: Path, name: str) -> None:
    """FUT-05: installed once, recognised again, gone without a trace, whatever the path is."""
    root = tmp_path / name
    root.mkdir()
    (root / "settings.json").write_bytes(b'{"model": "x"}')
    home = ClaudeHome(root, COMMAND)
    home.install()
    assert home.install().already
    assert (root / "settings.json").read_bytes().count(b"session-end.sh") == 1
    (root / "settings.json").write_bytes((root / "settings.json").read_bytes() + b"\n")
    home.uninstall()
    assert json.loads((root / "settings.json").read_bytes()) == {"model": "x"}
    assert not (root / "skills").exists()


def test_what_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    """FUT-05: somebody's own skill of this name, and somebody's own copy of the settings."""
    own = tmp_path / "skills" / "minutebook" / "SKILL.md"
    own.parent.mkdir(parents=True)
    own.write_text("my own")
    home = ClaudeHome(tmp_path, COMMAND)
    with pytest.raises(Conflict):
        home.install()
    with pytest.raises(NotFound):
        home.uninstall()
    assert own.read_text() == "my own"
    own.unlink()
    copy = tmp_path / "settings.json.before-minutebook"
    copy.write_text("mine too")
    (tmp_path / "settings.json").write_bytes(b"{}")
    home.install()
    home.uninstall()
    assert copy.read_text() == "mine too"


@pytest.mark.parametrize("content", [b'{"a": 1, "a": 2}', b'{"a": NaN}', b"[" * 100_000])
def test_settings_that_would_lose_something_are_left_alone(tmp_path: Path, content: bytes) -> None:
    """FUT-05: doubled names and numbers that are none would not survive being written again."""
    (tmp_path / "settings.json").write_bytes(content)
    with pytest.raises(BadArgument):
        ClaudeHome(tmp_path, COMMAND).install()
    assert tree(tmp_path) == {"settings.json": content}


@pytest.mark.parametrize(
    "content", [b'{\r\n  "a": 1\r\n}\r\n', b'\xef\xbb\xbf{"a": 1}\n', b'{"a": "\\ud800"}']
)
def test_the_manner_of_a_file_is_kept(tmp_path: Path, content: bytes) -> None:
    """FUT-05: line ends, byte order mark and escapes; also where only our hook is taken out."""
    (tmp_path / "settings.json").write_bytes(content)
    home = ClaudeHome(tmp_path, COMMAND)
    home.install()
    after = (tmp_path / "settings.json").read_bytes()
    assert (b"\r\n" in after) is (b"\r\n" in content)
    assert after.startswith(b"\xef\xbb\xbf") is content.startswith(b"\xef\xbb\xbf")
    home.uninstall()
    assert (tmp_path / "settings.json").read_bytes() == content


def test_the_archive_of_the_environment_is_written_out(tmp_path: Path) -> None:
    """FUT-05: a service, a hook and an MCP server use the archive the person uses."""
    environment = {**os.environ, "MINUTEBOOK_ARCHIVE": "kept/here"}
    for verb in (("install", "systemd", "--dry-run"), ("mcp", "--config")):
        done = subprocess.run(
            [*COMMAND, *verb],
            capture_output=True,
            text=True,
            env=environment,
            cwd=tmp_path,
            check=True,
        )
        assert str(tmp_path / "kept" / "here") in done.stdout
    root = tmp_path / "c"
    subprocess.run(
        [*COMMAND, "install", "claude-code", "--root", str(root)],
        env=environment,
        cwd=tmp_path,
        check=True,
    )
    script = (root / "skills" / "minutebook" / "session-end.sh").read_text()
    assert f"MINUTEBOOK_ARCHIVE={tmp_path / 'kept' / 'here'}" in script


# -- the hook itself


def installed(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A home with the hook, a transcript, and the archive the hook writes to."""
    root = tmp_path / ".claude"
    id = "11111111-2222-4333-8444-555555555555"
    folder = root / "projects" / "-x"
    folder.mkdir(parents=True)
    lines = [
        as_line(user(f"Prune tree {n}, please.", sessionId=id, uuid=f"u{n}")) for n in range(4)
    ]
    transcript = folder / f"{id}.jsonl"
    transcript.write_bytes(b"\n".join(lines) + b"\n")
    ClaudeHome(root, COMMAND).install()
    return root / "skills" / "minutebook" / "session-end.sh", transcript, tmp_path / "archive"


def fire(script: Path, event: object, archive: Path, **env: str) -> float:
    """Run the hook as Claude Code does; how long it kept Claude waiting."""
    began = time.monotonic()
    done = subprocess.run(
        ["sh", str(script)],
        input=json.dumps(event).encode() if not isinstance(event, bytes) else event,
        env={**os.environ, "MINUTEBOOK_ARCHIVE": str(archive), **env},
        capture_output=True,
        timeout=20,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    return time.monotonic() - began


def awaited(layout: Layout) -> str:
    for _ in range(300):
        if layout.hook_log.exists() and (told := layout.hook_log.read_text()):
            return told
        time.sleep(0.1)
    raise AssertionError("the hook did nothing")


def test_the_hook_takes_the_minutes_behind_claudes_back(tmp_path: Path) -> None:
    """FUT-05: it returns before the work is done; the record is there soon after."""
    script, transcript, archive = installed(tmp_path)
    layout = Layout(archive)
    event = {"session_id": transcript.stem, "transcript_path": str(transcript), "reason": "other"}
    fire(script, event, archive)
    assert not layout.hook_log.exists(), "it did not wait for the work"
    assert "1 engagement (" in awaited(layout)
    assert transcript.stem in Archive(archive, (transcript,)).minutes.stored()
    assert layout.present(), "the session is over: its last round is inscribed too"


def test_the_hook_does_not_fire_inside_itself(tmp_path: Path) -> None:
    """FUT-05: a `claude` that minutebook starts does not start minutebook."""
    script, transcript, archive = installed(tmp_path)
    event = {"session_id": transcript.stem, "transcript_path": str(transcript)}
    fire(script, event, archive, MINUTEBOOK_HOOK="1")
    time.sleep(1.0)
    assert not archive.exists()


@pytest.mark.parametrize(
    "event", [b"", b"garbage", {}, {"transcript_path": "/etc/passwd"}, {"transcript_path": 7}]
)
def test_the_hook_survives_anything(tmp_path: Path, event: object) -> None:
    """FUT-05: whatever it is told, it returns at once and says so in its log."""
    script, _, archive = installed(tmp_path)
    fire(script, event, archive)
    assert "Traceback" not in awaited(Layout(archive))


# -- services


def test_units_say_what_to_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """FUT-05: systemd and launchd units run `minutebook watch`, with odd names intact."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    command = ["/opt/my tools/minutebook", "watch", "--root", "/home/x/100% $HOME"]
    unit = systemd_unit(command, tmp_path / "log")
    assert (
        'ExecStart="/opt/my tools/minutebook" watch --root "/home/x/100%% $$HOME"' in unit.content
    )
    assert write_unit(unit)
    assert not write_unit(unit), "the same again changes nothing"
    agent = launchd_unit(command, tmp_path / "log")
    assert plistlib.loads(agent.content.encode())["ProgramArguments"] == command


def test_a_unit_of_somebody_else_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FUT-05: never clobbered."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    unit = systemd_unit(["x"], tmp_path)
    unit.path.parent.mkdir(parents=True)
    unit.path.write_text("[Service]\nExecStart=/bin/true\n")
    with pytest.raises(Conflict):
        write_unit(unit)
    with pytest.raises(Conflict):
        remove_unit(unit)
    assert unit.path.exists()


def test_control_characters_start_no_new_line_of_a_unit(tmp_path: Path) -> None:
    """FUT-05: a path is a word, whatever is in it."""
    with pytest.raises(BadArgument):
        systemd_unit(["x", "a\nExecStartPre=/bin/evil"], tmp_path)


@pytest.mark.parametrize("what", ["systemd", "launchd"])
def test_units_come_and_go(tmp_path: Path, what: str) -> None:
    """FUT-05: `--dry-run` shows the unit, `--uninstall` removes it."""
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config")}

    def run(*options: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*COMMAND, "install", what, *options], capture_output=True, text=True, env=environment
        )

    assert "watch" in run("--dry-run").stdout
    assert tree(tmp_path) == {}
    assert run().returncode == 0
    assert len(tree(tmp_path)) == 1
    assert run("--uninstall").returncode == 0
    assert tree(tmp_path) == {}
    assert run("--uninstall").returncode == 2


def test_a_dry_run_shows_the_text_that_would_be_written(tmp_path: Path) -> None:
    """FUT-05: what a hook and a skill say is seen before they are there, as systemd's unit is."""
    done = subprocess.run(
        [*COMMAND, "install", "claude-code", "--root", str(tmp_path / "c"), "--dry-run"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for name in ("SKILL.md", "session-end.sh"):
        path = tmp_path / "c" / "skills" / "minutebook" / name
        assert f"# {path}\n" in done
    assert "name: minutebook" in done and "#!/bin/sh" in done
    assert '  +     "SessionEnd": [' in done


def test_a_dry_run_shows_what_settings_would_have_more(tmp_path: Path) -> None:
    """FUT-05: the lines that would be added, and none of the person's own."""
    before = '{\n  "env": {\n    "NAME": "ann"\n  },\n  "model": "x"\n}\n'
    for home, name, text in ((ClaudeHome, "settings.json", before), (CodexHome, "config.toml", "")):
        root = tmp_path / name
        root.mkdir()
        (root / name).write_text(text or 'model = "x"\n')
        added = "\n".join(home(root, COMMAND).install(dry_run=True).added)
        assert ".sh" in added and "ann" not in added and "model" not in added
        home(root, COMMAND).install()
        assert all(line in (root / name).read_text() for line in added.splitlines())


def test_a_deleted_settings_file_is_called_removed(tmp_path: Path) -> None:
    """FUT-05: a file that held nothing but our hook is gone, not "without our hook"."""
    place = ("claude-code", "--root", str(tmp_path / "c"))
    subprocess.run([*COMMAND, "install", *place], check=True, capture_output=True)
    done = subprocess.run(
        [*COMMAND, "install", *place, "--uninstall"], capture_output=True, text=True, check=True
    ).stdout
    settings = tmp_path / "c" / "settings.json"
    assert f"removed: {settings}\n" in done and not settings.exists()
