"""Embedders: text → vectors. The one in the box needs no network and no set-up.

Vectors of different embedders are never compared: each is known by a fingerprint.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from minutebook.errors import BadArgument

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

_CHARS = 2_000  # of a text; its first words say what it is about
_FEW_TOKENS = 200
STATIC = "static"


class Embedder(Protocol):
    """Something that knows what a text is about."""

    @property
    def fingerprint(self) -> str:
        """Another one, another space."""
        ...

    @property
    def weight(self) -> float:
        """How much its ranking counts beside the words' own."""
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


class _Thresholds:
    """What cosines mean, by and large."""

    alike, related, certain = 0.2, 0.35, 0.45

    def embed(self, texts: Sequence[str]) -> Matrix:
        raise NotImplementedError

    def embed_query(self, text: str) -> Matrix:
        vector: Matrix = self.embed([text])[0]
        return vector


class StaticEmbedder(_Thresholds):
    """The embedder in the box: wordllama's token vectors, averaged (256 dimensions, MIT).

    Its weights are inside the wheel; only they are used, because importing the package
    itself takes longer than a search.
    """

    weight = 1.0
    batch = 2_000

    def __init__(self) -> None:
        from importlib.util import find_spec

        from safetensors import safe_open
        from tokenizers import Tokenizer

        found = find_spec("wordllama")
        if found is None or found.origin is None:
            raise BadArgument("The package wordllama is missing: `pip install wordllama`.")
        folder = Path(found.origin).parent
        weights = folder / "weights" / "l2_supercat_256.safetensors"
        config = folder / "tokenizers" / "l2_supercat_tokenizer_config.json"
        file: Any = safe_open(weights, framework="numpy")
        self._rows: Any = file.get_slice(next(iter(file.keys())))
        self._matrix: Matrix | None = None
        self._tokenizer = Tokenizer.from_buffer(config.read_bytes())
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self.fingerprint = f"{STATIC}-{weights.stat().st_size}"
        self.dimensions = int(self._rows.get_shape()[1])

    def embed(self, texts: Sequence[str]) -> Matrix:
        import numpy as np

        result = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        encoded = self._tokenizer.encode_batch(
            [_sendable(text) for text in texts], add_special_tokens=False
        )
        all_rows = sum(len(tokens.ids) for tokens in encoded) > _FEW_TOKENS
        for place, tokens in enumerate(encoded):
            if tokens.ids:
                result[place] = self._vectors(tokens.ids, all_rows).mean(axis=0)
        return _unit(result)

    def _vectors(self, ids: list[int], all_rows: bool) -> Matrix:
        """The vectors of tokens. A query needs a few of the 32,000: reading all of them would
        take longer than the search."""
        import numpy as np

        if all_rows and self._matrix is None:
            self._matrix = self._rows[:].astype(np.float32)
        if self._matrix is not None:
            return self._matrix[ids]
        return np.stack([self._rows[id] for id in ids]).astype(np.float32)


class OnnxEmbedder(_Thresholds):
    """A sentence transformer as ONNX, with its ``tokenizer.json`` beside it."""

    weight = 1.5
    batch = 32

    def __init__(self, folder: Path) -> None:
        try:
            import onnxruntime
        except ImportError:
            raise BadArgument(
                "An ONNX model needs onnxruntime: `pip install onnxruntime`."
            ) from None
        from tokenizers import Tokenizer

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

        encoded = self._tokenizer.encode_batch([_sendable(text) for text in texts])
        ids = np.array([item.ids for item in encoded], dtype=np.int64)
        mask = np.array([item.attention_mask for item in encoded], dtype=np.int64)
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        (output, *_) = self._session.run(
            None, {name: value for name, value in given.items() if name in self._inputs}
        )
        if output.ndim == 3:
            weights = mask[:, :, None].astype(np.float32)
            output = (output * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1e-9)
        return _unit(np.asarray(output, dtype=np.float32))


class EndpointEmbedder(_Thresholds):
    """An OpenAI-compatible ``/embeddings`` endpoint."""

    weight = 1.5
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
        return _unit(np.array([item.embedding for item in ordered], dtype=np.float32))


class _Embedding(msgspec.Struct):
    index: int
    embedding: list[float]


class _Embeddings(msgspec.Struct):
    data: list[_Embedding]


def _sendable(text: str) -> str:
    return text[:_CHARS].encode("utf-8", "replace").decode()


def _unit(vectors: Matrix) -> Matrix:
    import numpy as np

    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Matrix = (vectors / np.maximum(norms, 1e-9)).astype(np.float32)
    return unit


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()[:12]
