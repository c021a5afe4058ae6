"""Embedders: text → vectors. The one in the box (`static`) needs no network and no set-up.

Vectors of different embedders are never compared: each is known by a fingerprint.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from minutebook.errors import BadArgument, MissingExtra
from minutebook.extras import install_command
from minutebook.index.static import CHARS, Likeness, unit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]


class Embedder(Protocol):
    """Something that knows what a text is about."""

    @property
    def fingerprint(self) -> str:
        """Another one, another space."""
        ...

    @property
    def weight(self) -> float:
        """What likeness counts beside words."""
        ...

    @property
    def alike(self) -> float:
        """The cosine under which two texts have nothing in common."""
        ...

    @property
    def related(self) -> float:
        """What is asked of a neighbour that has none of the words, where others have all."""
        ...

    @property
    def certain(self) -> float:
        """The same, of a query none of whose words is known: nonsense is like anything a little."""
        ...

    @property
    def batch(self) -> int:
        """Entries to embed at a time."""
        ...

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Unit vectors, one a text; zeros for a text without words."""
        ...

    def embed_query(self, text: str) -> Matrix:
        """The unit vector of a question."""
        ...


_TOGETHER = 16  # texts a transformer is given at a time


class OnnxEmbedder(Likeness):
    """A sentence transformer as ONNX, with its ``tokenizer.json`` beside it."""

    batch = 32

    def __init__(self, folder: Path) -> None:
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError:
            raise MissingExtra("semantic", install_command("semantic")) from None

        models = sorted([*folder.glob("*.onnx"), *folder.glob("onnx/*.onnx")])
        tokenizer = folder / "tokenizer.json"
        if not models or not tokenizer.is_file():
            raise BadArgument(f"{folder} needs an .onnx file and a tokenizer.json.")
        self._session: Any = onnxruntime.InferenceSession(
            str(models[0]), providers=["CPUExecutionProvider"]
        )
        self._inputs = {item.name for item in self._session.get_inputs()}
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.enable_truncation(256)
        self._tokenizer.enable_padding()
        self.fingerprint = f"onnx-{_digest(models[0])}-{_digest(tokenizer)}"
        self.dimensions = int(self.embed(["one"]).shape[1])

    def embed(self, texts: Sequence[str]) -> Matrix:
        import numpy as np

        # Of a length together, a few at a time: what is padded is computed, and held in memory.
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        result: Matrix | None = None
        for start in range(0, len(order), _TOGETHER):
            part = order[start : start + _TOGETHER]
            vectors = self._run([_sendable(texts[at]) for at in part])
            if result is None:
                result = np.zeros((len(texts), vectors.shape[1]), dtype=np.float32)
            result[part] = vectors
        return result if result is not None else np.zeros((0, 0), dtype=np.float32)

    def _run(self, texts: list[str]) -> Matrix:
        import numpy as np

        encoded = self._tokenizer.encode_batch(texts)
        ids = np.array([item.ids for item in encoded], dtype=np.int64)
        mask = np.array([item.attention_mask for item in encoded], dtype=np.int64)
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        (output, *_) = self._session.run(
            None, {name: value for name, value in given.items() if name in self._inputs}
        )
        if output.ndim == 3:
            weights = mask[:, :, None].astype(np.float32)
            output = (output * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1e-9)
        return unit(np.asarray(output, dtype=np.float32))


class Paired(Likeness):
    """A transformer beside the embedder in the box: each finds what the other misses."""

    alike, related, certain = 0.22, 0.37, 0.47
    weight = 3.0

    def __init__(self, transformer: Embedder, static: Embedder) -> None:
        self._both = (transformer, static)
        self.batch = transformer.batch
        self.fingerprint = f"{transformer.fingerprint}+{static.fingerprint}"
        self.dimensions = transformer.dimensions + static.dimensions

    def embed(self, texts: Sequence[str]) -> Matrix:
        import numpy as np

        return unit(np.concatenate([one.embed(texts) for one in self._both], axis=1))


class EndpointEmbedder(Likeness):
    """An OpenAI-compatible ``/embeddings`` endpoint."""

    batch = 64

    def __init__(self, url: str, model: str) -> None:
        self._url, self._model = url.rstrip("/") + "/embeddings", model
        self.fingerprint = f"endpoint-{hashlib.sha256(f'{url} {model}'.encode()).hexdigest()[:12]}"
        self.dimensions = int(self.embed(["one"]).shape[1])

    def embed(self, texts: Sequence[str]) -> Matrix:
        import httpx2
        import numpy as np

        body = {"model": self._model, "input": [_sendable(text) or " " for text in texts]}
        try:
            response = httpx2.post(self._url, json=body, timeout=120)
            response.raise_for_status()
            found = msgspec.json.decode(response.content, type=_Embeddings).data
        except (httpx2.HTTPError, httpx2.InvalidURL, msgspec.DecodeError) as error:
            raise BadArgument(f"{self._url} gives no embeddings: {error}") from None
        ordered = sorted(found, key=lambda item: item.index)
        lengths = {len(item.embedding) for item in ordered}
        if len(ordered) != len(texts) or len(lengths) > 1 or 0 in lengths:
            raise BadArgument(
                f"{self._url} gives {len(ordered)} embeddings of {sorted(lengths)} numbers for "
                f"{len(texts)} texts."
            )
        return unit(np.array([item.embedding for item in ordered], dtype=np.float32))


class _Embedding(msgspec.Struct):
    index: int
    embedding: list[float]


class _Embeddings(msgspec.Struct):
    data: list[_Embedding]


def _sendable(text: str) -> str:
    return text[:CHARS].encode("utf-8", "replace").decode()


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()[:12]
