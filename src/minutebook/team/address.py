"""Where a team's database is. The password is used, and never kept, shown or written."""

from __future__ import annotations

import os
import re

from minutebook.errors import BadArgument, NotFound

VARIABLE = "MINUTEBOOK_TEAM_URL"
_SECRET = frozenset({"password", "sslpassword", "oauth_client_secret", "scram_client_key"})
_KNOWN_BY = ("service", "host", "hostaddr", "port", "dbname", "user")
_PASSWORD = re.compile(r"(?<=:)[^:/@\s]*(?=@)")


class Address:
    """A database as libpq understands it."""

    def __init__(self, text: str) -> None:
        from psycopg import ProgrammingError
        from psycopg.conninfo import conninfo_to_dict

        if _is_cut(text):
            raise BadArgument(
                "The team's address cannot be understood: write @, / and : of a password as %40, "
                "%2F and %3A, or put it into ~/.pgpass or $PGPASSWORD."
            )
        try:
            parts = conninfo_to_dict(text)
        except ProgrammingError:
            # libpq quotes what it could not read, and that may be the password.
            raise BadArgument(
                "The team's address cannot be understood: write "
                "postgresql://user@host/database, or service=name."
            ) from None
        known = {name: str(value) for name, value in parts.items() if value is not None}
        self._secrets = {name: known.pop(name) for name in _SECRET & known.keys()}
        self._parts = known

    @property
    def has_password(self) -> bool:
        return bool(self._secrets)

    @property
    def kept(self) -> str:
        """The address to keep: without the password."""
        from psycopg.conninfo import make_conninfo

        return make_conninfo(**self._parts)

    @property
    def shown(self) -> str:
        """The address as a person may see it."""
        parts = self._parts
        if "service" in parts:
            return f"service={parts['service']}"
        user = f"{parts['user']}@" if "user" in parts else ""
        port = f":{parts['port']}" if "port" in parts else ""
        where = parts.get("host", parts.get("hostaddr", ""))
        return f"postgresql://{user}{where}{port}/{parts.get('dbname', '')}"

    @property
    def key(self) -> str:
        """What it is known by: another password or timeout is the same database."""
        return " ".join(f"{name}={self._parts[name]}" for name in _KNOWN_BY if name in self._parts)

    def parameters(self) -> dict[str, str]:
        """All of it, for libpq alone."""
        return self._parts | self._secrets

    def without_password(self, text: str) -> str:
        """A message, in case it quotes the password."""
        for secret in self._secrets.values():
            if secret:
                text = text.replace(secret, "••••")
        return _PASSWORD.sub("••••", text)

    def __repr__(self) -> str:
        return f"Address({self.shown})"


def _is_cut(text: str) -> bool:
    """Whether libpq would take a part of a password for a host or a database, and say it aloud."""
    _, scheme, rest = text.partition("://")
    authority, _, path = rest.partition("?")[0].partition("/")
    return bool(scheme) and (authority.count("@") > 1 or "@" in path)


def named_address(url: str | None, remembered: str | None = None) -> Address:
    """The address a person named: by option, by environment, or when they joined."""
    text = url or os.environ.get(VARIABLE) or remembered
    if not text:
        raise NotFound(
            f"No team is named: set ${VARIABLE} to the address of its database.", remedy="url"
        )
    return Address(text)
