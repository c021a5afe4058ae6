"""The sentence transformer that fastembed downloads: which, how large, where to."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import msgspec
import platformdirs

from minutebook.errors import BadArgument
from minutebook.extras import needed

MODEL = "sentence-transformers/all-MiniLM-L6-v2"
"""One model, since `OnnxEmbedder` takes the mean of all tokens and adds no prefix: not every model
that fastembed lists wants that."""


class Download(msgspec.Struct, frozen=True):
    """A model that can be had."""

    model: str
    licence: str
    megabytes: int
    folder: str
    is_there: bool
    """Whether it was downloaded before."""


def fetchable() -> Download:
    """What `fetch` would download. Uses no network."""
    needed("semantic")
    from fastembed import TextEmbedding

    listed = TextEmbedding.list_supported_models()
    about = next(item for item in listed if item["model"] == MODEL)
    folder = _cache()
    return Download(
        MODEL,
        about["license"],
        round(about["size_in_GB"] * 1000),
        str(folder),
        _load(MODEL, folder, only_there=True) is not None,
    )


def fetch(download: Download) -> Path:
    """The folder of the model, downloaded unless it is there."""
    found = _load(download.model, Path(download.folder), only_there=download.is_there)
    if found is None:
        raise BadArgument(
            f"{download.model} could not be downloaded: try again with a connection to "
            "huggingface.co, or name a folder with an .onnx file and tokenizer.json."
        )
    return found


def _cache() -> Path:
    """fastembed's own default is a temporary folder, which a restart may empty."""
    given = os.environ.get("FASTEMBED_CACHE_PATH")
    return Path(given) if given else platformdirs.user_cache_path("minutebook") / "fastembed"


def _load(model: str, folder: Path, *, only_there: bool) -> Path | None:
    from fastembed import TextEmbedding
    from loguru import logger

    if only_there and not folder.is_dir():
        return None
    logger.disable("fastembed")  # what went wrong is said by us, in a sentence
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = TextEmbedding(
                model, cache_dir=str(folder), lazy_load=True, local_files_only=only_there
            )
    except (ValueError, OSError):
        return None
    return Path(found.model._model_dir)
