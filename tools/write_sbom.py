"""Writes what is installed beside this interpreter as a CycloneDX 1.6 document.

python tools/write_sbom.py FILE
"""

from __future__ import annotations

import json
import re
import sys
import uuid
from importlib.metadata import Distribution, distributions
from pathlib import Path

LEFT_OUT = {"pip", "setuptools", "wheel"}  # what a virtual environment brings, not we


def name_of(distribution: Distribution) -> str:
    return re.sub(r"[-_.]+", "-", distribution.metadata["Name"]).lower()


def address(distribution: Distribution) -> str:
    return f"pkg:pypi/{name_of(distribution)}@{distribution.version}"


def needs(distribution: Distribution, known: dict[str, Distribution]) -> list[str]:
    """What it requires of what is installed; what only its extras require, others require."""
    required = (line for line in distribution.requires or () if "extra ==" not in line)
    names = (re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in required)
    found = (known.get(re.sub(r"[-_.]+", "-", name).lower()) for name in names)
    return sorted({address(one) for one in found if one is not None})


def component(distribution: Distribution) -> dict[str, object]:
    known = distribution.metadata
    licence = known.get("License-Expression") or known.get("License") or ""
    found: dict[str, object] = {
        "type": "library",
        "bom-ref": address(distribution),
        "name": name_of(distribution),
        "version": distribution.version,
        "purl": address(distribution),
    }
    if 0 < len(licence) < 80 and "\n" not in licence:
        found["licenses"] = [{"license": {"name": licence}}]
    return found


def main() -> None:
    known = {name_of(found): found for found in distributions()}
    own = known.pop("minutebook")
    known = {name: known[name] for name in sorted(known) if name not in LEFT_OUT}
    components = [component(found) for found in known.values()]
    # The same packages are the same document: neither its number nor its bytes know the clock.
    number = uuid.uuid5(uuid.NAMESPACE_URL, "\n".join(map(address, [own, *known.values()])))
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{number}",
        "version": 1,
        "metadata": {"component": {**component(own), "type": "application"}},
        "components": components,
        "dependencies": [
            {"ref": address(found), "dependsOn": needs(found, known)}
            for found in (own, *known.values())
        ],
    }
    path = Path(sys.argv[1])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(f"{len(known)} packages: {path}")


if __name__ == "__main__":
    main()
