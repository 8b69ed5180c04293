"""`Model2Vec`: static word vectors of a folder that the library model2vec wrote."""

from __future__ import annotations

import json
import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cantle import _core
from cantle.digest import digest
from cantle.embed.tables import encoded, read_array, read_table, table_names
from cantle.tokenizer import Tokenizer

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TABLES = ("embeddings", "embedding.weight")
"""What model2vec, and what sentence-transformers calls the vectors."""
_PARTS = ("", "0_StaticEmbedding")
"""Where in the folder the files stand."""
_HASHED = 1 << 20

_loading = threading.Lock()
_loaded: dict[tuple[Path, float, bool], _Model] = {}


class _Model(NamedTuple):
    table: NDArray[np.float32]
    tokenizer: Tokenizer
    unknown: int | None
    weights: NDArray[np.float32] | None
    mapping: NDArray[np.int64] | None
    normalize: bool


@dataclass(frozen=True)
class Model2Vec:
    """The mean of the vectors of a text's tokens, by the files of a model2vec folder.

    `model.safetensors` holds the vectors, and where there are some a weight for each token and the
    row that each token has; `tokenizer.json` makes the tokens, of which the unknown one counts
    for nothing; `config.json` says whether a vector gets length 1. So does model2vec 0.10, but a
    long text is not cut off: all of its tokens count, and `max_length` is not followed. A text
    without a token has the zero vector. The files are read at the first call, and kept.

    Args:
        folder: The folder.

    Example:
        >>> from cantle.embed import Model2Vec
        >>> embedder = Model2Vec("potion-base-8M")  # doctest: +SKIP
    """

    folder: str | os.PathLike[str]

    def __post_init__(self) -> None:
        if not isinstance(self.folder, str | os.PathLike):
            raise TypeError(f"folder ({self.folder!r}) must be a path")
        if not is_model2vec(self.folder):
            raise _core.SettingError(
                f"folder ({os.fspath(self.folder)!r}) has no model.safetensors with a table "
                "'embeddings' or 'embedding.weight'"
            )
        if not (self._files / "tokenizer.json").is_file():
            raise _core.SettingError(f"folder ({os.fspath(self.folder)!r}) has no tokenizer.json")

    @property
    def _files(self) -> Path:
        folder = _files(self.folder)
        assert folder is not None
        return folder

    @property
    def fingerprint(self) -> str:
        """What tells it from other embedders: the size and the end of its files, and its config."""
        told = [f"{self._normalizes()}".encode()]
        for name in ("model.safetensors", "tokenizer.json"):
            with (self._files / name).open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - _HASHED))
                told += [str(size).encode(), file.read()]
        return f"model2vec:{digest(b' '.join(told), 8)}"

    def _normalizes(self) -> bool:
        folder = Path(self.folder)
        if (folder / "modules.json").is_file() and not (folder / "config.json").is_file():
            return "Normalize" in (folder / "modules.json").read_text("utf-8")
        return bool(_said(folder / "config.json").get("normalize", False))

    def __call__(self, texts: list[str]) -> NDArray[np.float32]:
        """Return the vectors of texts; float32 [texts, d].

        Raises:
            SettingError: The files do not fit together.
        """
        model = self._load()
        ids, ends = encoded(model.tokenizer, texts, model.unknown)
        if len(ids) and ids.max() >= self._tokens(model):
            raise _core.SettingError(
                f"folder ({os.fspath(self.folder)!r}): token {ids.max()} of its tokenizer has no "
                "vector"
            )
        rows = ids if model.mapping is None else model.mapping[ids]
        if model.normalize and model.weights is None:
            return _core.mean_vectors(model.table, rows.astype(np.uint32), ends)
        sums = np.zeros((len(texts), model.table.shape[1]), np.float32)
        start = 0
        for i, end in enumerate(ends.tolist()):
            if end > start:
                vectors = model.table[rows[start:end]]
                if model.weights is not None:
                    vectors *= model.weights[ids[start:end], None]
                sums[i] = vectors.mean(axis=0)
            start = end
        if model.normalize:
            lengths = np.linalg.norm(sums, axis=1, keepdims=True)
            np.divide(sums, lengths, out=sums, where=lengths > 0)
        return sums

    def _tokens(self, model: _Model) -> int:
        """Return how many tokens have a vector, and a weight."""
        first = model.table if model.mapping is None else model.mapping
        return len(first) if model.weights is None else min(len(first), len(model.weights))

    def _load(self) -> _Model:
        files = self._files
        path = files / "model.safetensors"
        key = (path.resolve(), path.stat().st_mtime, self._normalizes())
        with _loading:
            if key not in _loaded:
                _loaded[key] = _read(files, path, self._normalizes())
            return _loaded[key]


def is_model2vec(folder: str | os.PathLike[str]) -> bool:
    """Return whether a folder holds static word vectors, and not a model that has to be run."""
    return _files(folder) is not None


def _files(folder: str | os.PathLike[str]) -> Path | None:
    for part in _PARTS:
        found = Path(folder) / part
        if table_names(found / "model.safetensors") & set(_TABLES):
            return found
    return None


def _read(files: Path, path: Path, normalize: bool) -> _Model:
    names = table_names(path)
    table = read_table(path, next(name for name in _TABLES if name in names))
    weights = mapping = None
    if "weights" in names:
        weights = read_array(path, "weights").astype(np.float32).reshape(-1)
    if "mapping" in names:
        mapping = read_array(path, "mapping").astype(np.int64).reshape(-1)
        if len(mapping) and not 0 <= mapping.min() <= mapping.max() < len(table):
            raise _core.SettingError(f"{path}: 'mapping' names rows that are not there")
    text = (files / "tokenizer.json").read_text("utf-8")
    return _Model(table, Tokenizer.from_json(text), _unknown(text), weights, mapping, normalize)


def _unknown(tokenizer: str) -> int | None:
    """Return the id of the token that a tokenizer gives what it does not know."""
    said = json.loads(tokenizer)
    model: dict[str, Any] = said["model"]
    if "unk_id" in model:  # Unigram
        found = model["unk_id"]
    else:
        token = model.get("unk_token")
        added = {one["content"]: one["id"] for one in said.get("added_tokens") or []}
        found = None if token is None else model["vocab"].get(token, added.get(token))
    return None if found is None else int(found)


def _said(path: Path) -> dict[str, Any]:
    """Return what a file of settings says; nothing where there is none."""
    try:
        said = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    except ValueError as error:
        raise _core.SettingError(f"{path} is no JSON ({error})") from None
    return said if isinstance(said, dict) else {}
