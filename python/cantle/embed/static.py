"""`Static`: the mean of word vectors that a package carries. Nothing is downloaded."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cantle import _core
from cantle.tokenizer import Tokenizer

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PACKAGE = "wordllama"
_TABLE = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_TYPES = {"F16": np.float16, "F32": np.float32, "F64": np.float64}

_loading = threading.Lock()
_loaded: dict[Path, tuple[NDArray[np.float32], Tokenizer]] = {}


@dataclass(frozen=True)
class Static:
    """The mean of the vectors of a text's tokens, at length 1; no model runs.

    The vectors are those of the package `wordllama` (256 numbers for each of 32,000 tokens), whose
    code is not imported: `pip install cantle[embed]`. They derive from the weights of language
    models that have licences of their own, Llama 2 among them; the package itself is under MIT. A
    text without a token has the zero vector. The table is read at the first call, and kept.

    Example:
        >>> from cantle.embed import Static
        >>> embedder = Static()
    """

    fingerprint = "static:wordllama:l2_supercat_256"

    def __call__(self, texts: list[str]) -> NDArray[np.float32]:
        """Return the vectors of texts; float32 [texts, 256].

        Raises:
            ImportError: The package that carries the vectors is not installed.
        """
        table, tokenizer = _read(_folder())
        found = [tokenizer._core.encode(text)[0] for text in texts]
        ends = np.cumsum([len(ids) for ids in found], dtype=np.int64)
        rows = np.concatenate([np.empty(0, np.uint32), *found])
        return _core.mean_vectors(table, rows, ends)


def _folder() -> Path:
    spec = find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise ImportError(
            f"embedder 'static' needs the word vectors of the package {_PACKAGE}: install "
            "cantle[embed]. Without a network: `pip download --no-deps wordllama` elsewhere, then "
            "`pip install --no-deps` the file; its other dependencies are not needed"
        )
    return Path(spec.origin).parent


def _read(folder: Path) -> tuple[NDArray[np.float32], Tokenizer]:
    with _loading:
        if folder not in _loaded:
            table = read_table(folder / _TABLE, "embedding.weight")
            _loaded[folder] = (table, Tokenizer.from_file(folder / _TOKENIZER))
        return _loaded[folder]


def read_table(path: Path, name: str) -> NDArray[np.float32]:
    """Return one matrix of a safetensors file.

    Raises:
        OSError: The file cannot be read.
        SettingError: It is no such file, or holds no such matrix.
    """
    data = path.read_bytes()
    try:
        length = int.from_bytes(data[:8], "little")
        entry = json.loads(data[8 : 8 + length])[name]
        kind, shape = _TYPES[entry["dtype"]], entry["shape"]
        start, end = entry["data_offsets"]
        matrix = np.frombuffer(data[8 + length :][start:end], np.dtype(kind).newbyteorder("<"))
        rows, width = shape
        return matrix.reshape(rows, width).astype(np.float32)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _core.SettingError(f"{path}: no table {name!r} can be read ({error})") from None
