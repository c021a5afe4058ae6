"""Checks the base installation: `make install-check` builds wheel and sdist, and runs this.

    python tools/check_install.py WHEEL SDIST

Each is installed into an empty environment, which must stay small, show the examples, and name
the extra where one is needed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

MOST_MEGABYTES, MOST_PACKAGES = 180, 35
NEEDS = (
    (["mcp"], "mcp"),
    (["semantic", "use", "fastembed"], "semantic"),
    (["team", "status"], "team"),
    (["ingest", "--extractor", "anthropic"], "anthropic"),
)
CONSTRAINTS = Path(__file__).resolve().parents[1] / "constraints.txt"


def measured(environment: Path) -> tuple[int, int]:
    """Megabytes of all installed packages, and how many there are."""
    (packages,) = environment.glob("lib/python*/site-packages")
    size = sum(path.stat().st_size for path in packages.rglob("*") if path.is_file())
    return size >> 20, len(list(packages.glob("*.dist-info")))


def check(package: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        environment, home = Path(folder) / "env", Path(folder) / "home"
        home.mkdir()
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        pip: list[str | Path] = [environment / "bin" / "pip", "--disable-pip-version-check", "-q"]
        subprocess.run([*pip, "install", "-c", CONSTRAINTS, package], check=True)
        size, count = measured(environment)
        assert size <= MOST_MEGABYTES and count <= MOST_PACKAGES, (size, count)
        known = {"PATH": os.environ["PATH"], "HOME": str(home)}
        program = environment / "bin" / "minutebook"

        def run(*args: str) -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                [program, *args], env=known, capture_output=True, text=True, check=False
            )

        demo = run("demo")
        assert demo.returncode == 0 and "Found " in demo.stdout, demo.stderr
        assert (environment / "share" / "man" / "man1" / "minutebook.1").is_file()
        known["ANTHROPIC_API_KEY"] = "sk-ant-made-up"
        for verb, extra in NEEDS:
            ran = run(*verb)
            assert ran.returncode == 2 and f"minutebook[{extra}]" in ran.stderr, ran.stderr
        print(f"{package.name}: {size} MB, {count} packages")


if __name__ == "__main__":
    for given in sys.argv[1:]:
        check(Path(given))
