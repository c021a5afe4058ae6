"""The first release's offline rules, as they were: from git, into a scratch folder.

The benchmark compares with them; nothing else uses them, so they are not kept in the tree.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

REVISION = "16f5363"
_FOLDER = "src/minutebook/extract/offline"
_MODULES = ("boundaries", "closing", "extractor", "methods", "requests", "topics", "words")


def extract_by_rules(scratch: Path) -> Callable[..., tuple[Any, Any]]:
    """`extract_offline` of the first release."""
    package = scratch / "frozen_rules_16f5363"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    for name in _MODULES:
        command = ["git", "show", f"{REVISION}:{_FOLDER}/{name}.py"]
        done = subprocess.run(
            command, cwd=Path(__file__).parent, check=True, capture_output=True, text=True
        )
        text = done.stdout.replace("minutebook.extract.offline.", f"{package.name}.")
        (package / f"{name}.py").write_text(text, encoding="utf-8")
    sys.path.insert(0, str(scratch))
    extract: Callable[..., tuple[Any, Any]] = importlib.import_module(
        f"{package.name}.extractor"
    ).extract_offline
    return extract
