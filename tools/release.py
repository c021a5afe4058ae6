"""Makes a release: `make release VERSION=1.2.3`.

Everything that can be wrong is looked for before anything is changed, and what was changed is taken
back where a test fails. Nothing is published.
"""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]


def run(*command: str) -> str:
    return subprocess.run(
        command, cwd=PROJECT, check=True, text=True, stdout=subprocess.PIPE
    ).stdout.strip()


def prepared(changelog: str, version: str, date: str) -> str:
    """The changelog with what is unreleased under the new version."""
    heading = re.search(r"^## Unreleased.*$", changelog, re.MULTILINE)
    if heading is None:
        sys.exit("CHANGELOG.md has no section 'Unreleased': there is nothing to release.")
    return changelog[: heading.start()] + f"## {version} ({date})" + changelog[heading.end() :]


def numbered(project: str, version: str) -> str:
    return re.sub(
        r'^version = ".*"$', f'version = "{version}"', project, count=1, flags=re.MULTILINE
    )


def main() -> None:
    version = sys.argv[1] if len(sys.argv) > 1 else ""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        sys.exit("Which version? make release VERSION=1.2.3")
    if run("git", "status", "--porcelain"):
        sys.exit("The working tree has changes: commit them first.")
    if run("git", "tag", "--list", f"v{version}"):
        sys.exit(f"There is a v{version} already.")
    changelog, project = PROJECT / "CHANGELOG.md", PROJECT / "pyproject.toml"
    today = datetime.now(UTC).date().isoformat()
    notes = prepared(changelog.read_text("utf-8"), version, today)
    changelog.write_text(notes, "utf-8")
    project.write_text(numbered(project.read_text("utf-8"), version), "utf-8")
    try:
        for target in ("test", "wheel", "docs", "install-check", "sbom"):
            subprocess.run(["make", target], cwd=PROJECT, check=True)
    except (subprocess.CalledProcessError, KeyboardInterrupt):
        run("git", "checkout", "--", changelog.name, project.name)
        sys.exit("Nothing is released: what was changed for it is taken back.")
    run("git", "commit", "-qam", f"Release {version}")
    run("git", "tag", "-a", f"v{version}", "-m", f"minutebook {version}")
    print(f"Publish it:  twine upload dist/*  &&  git push --follow-tags   (v{version})")


if __name__ == "__main__":
    main()
