"""What only some people need is installed by name: ``minutebook[mcp]`` and its like.

Nothing here is imported; `missing` looks whether it could be. `needed` is what the code that is
about to import it calls first, so that a person reads one sentence with the command that mends it.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

from minutebook.errors import MissingExtra

EXTRAS = {
    "anthropic": ("anthropic", "asks a model of Anthropic (`ingest --extractor anthropic`)"),
    "cluster": ("distributed", "reads sessions on several machines (`ingest --scheduler`)"),
    "mcp": ("mcp", "lets agents ask by MCP (`minutebook mcp`)"),
    "scale": ("numkong", "compares meanings three times faster, from a million passages on"),
    "semantic": ("fastembed", "embeds with a sentence transformer (`semantic use fastembed`)"),
    "team": ("psycopg", "shares an archive with a team (`minutebook team`)"),
}
"""By name: the module it brings, and what it is for."""


def missing(extra: str) -> bool:
    """Whether an extra is not installed."""
    return find_spec(EXTRAS[extra][0]) is None


def needed(extra: str) -> None:
    """Raise `MissingExtra` unless an extra is installed."""
    if missing(extra):
        raise MissingExtra(extra, install_command(extra))


def install_command(extra: str) -> str:
    """The one command that adds an extra to this installation, however it was made."""
    mark = '"' if sys.platform == "win32" else "'"  # cmd.exe does not know the other one
    wanted = f"{mark}minutebook[{extra}]{mark}"
    parts = Path(sys.prefix).parts
    if "pipx" in parts:
        return f"pipx install --force {wanted}"
    if "uv" in parts:
        return f"uv tool install --force {wanted}"
    if find_spec("pip") is None:  # as in an environment that `uv venv` made
        return f"uv pip install --python {sys.executable} {wanted}"
    return f"{sys.executable} -m pip install {wanted}"
