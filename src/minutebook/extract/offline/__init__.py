"""The offline extractor: no model, no network, every choice explained (ING-32)."""

from __future__ import annotations

from minutebook.extract.extractor import Extraction
from minutebook.extract.material import Material

VERSION = "offline-10"
"""Changes with every change of rules or models, so that records tell which ones made them."""


def warm_up() -> None:
    """Load what labelling needs: rules, models, the patterns of secrets."""
    import minutebook.extract.offline.extractor  # noqa: F401 - compiles the patterns of all rules
    from minutebook.derive.secrets import mask
    from minutebook.extract.offline.model import models
    from minutebook.extract.offline.topic_model import model

    models(), model(), mask("")


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
        # Where nothing is labelled, a tenth of a second of patterns is not compiled.
        from minutebook.extract.offline.extractor import reply_offline

        return Extraction(reply_offline(material.rounds, material.info.title, material.project))
