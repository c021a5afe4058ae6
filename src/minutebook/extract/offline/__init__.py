"""The offline extractor: no model, no network, every choice explained (ING-32)."""

from __future__ import annotations

from minutebook.extract.extractor import Extraction
from minutebook.extract.material import Material
from minutebook.extract.offline.extractor import VERSION, extract_offline


class OfflineExtractor:
    name = "offline"
    model = None
    version = VERSION
    destination = None

    def close(self) -> None:
        """There is nothing to let go of."""

    def forecast(self, material: Material) -> float | None:  # noqa: ARG002 - the protocol's
        return 0.0

    def extract(self, material: Material) -> Extraction:
        reply, _ = extract_offline(material.rounds, material.info.title, material.project)
        return Extraction(reply)
