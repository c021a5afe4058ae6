"""Pictures and documents: files beside the rounds, named by their hash."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Callable

FOLDER = "media"


class MediaStore:
    """Where `write_blocks` leaves binary content, and `read_blocks` finds it again."""

    def __init__(self, folder: str = "", recall: Callable[[str], bytes] | None = None) -> None:
        self.kept: dict[str, bytes] = {}
        """File name → bytes, of everything kept so far."""
        self._folder = folder
        self._recall = recall

    def keep(self, media_type: str, data: str) -> str | None:
        """The name content is kept under; None where it is not the base64 it claims to be."""
        try:
            content = base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError):
            return None
        if base64.b64encode(content).decode() != data:
            return None  # would come back different
        digest = hashlib.sha256(content).hexdigest()[:32]
        import mimetypes  # for the few sessions with pictures

        ending = mimetypes.guess_extension(media_type) if media_type.isascii() else None
        name = digest + (ending or ".bin")
        self.kept[name] = content
        return name

    def link(self, name: str) -> str:
        """The path from the document to a picture."""
        return self.path_to(f"{FOLDER}/{name}")

    def path_to(self, inside: str) -> str:
        """The path from the document to something in the session's folder."""
        return f"{self._folder}/{inside}" if self._folder else inside

    def recall(self, name: str) -> str:
        """The base64 of kept content."""
        content = self.kept.get(name)
        if content is None:
            if self._recall is None:
                raise KeyError(name)
            content = self._recall(name)
        return base64.b64encode(content).decode()
