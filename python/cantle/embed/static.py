"""`Static`: the mean of word vectors that a package carries. Nothing is downloaded."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from cantle import _core
from cantle.embed.tables import read_table
from cantle.embed.words import Words
from cantle.tokenizer import Tokenizer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_PACKAGE = "wordllama"
_TABLE = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"

_loading = threading.Lock()
_loaded: dict[Path, tuple[NDArray[np.float32], Words]] = {}


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
        table, encode = _read(_folder())
        return _core.mean_vectors(table, *encode(texts))


def _folder() -> Path:
    spec = find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise ImportError(
            f"embedder 'static' needs the word vectors of the package {_PACKAGE}: install "
            "cantle[embed]. Without a network: `pip download --no-deps wordllama` elsewhere, then "
            "`pip install --no-deps` the file; its other dependencies are not needed"
        )
    return Path(spec.origin).parent


def _read(folder: Path) -> tuple[NDArray[np.float32], Words]:
    with _loading:
        if folder not in _loaded:
            table = read_table(folder / _TABLE, "embedding.weight")
            file = (folder / _TOKENIZER).read_text("utf-8")
            _loaded[folder] = (table, Words(Tokenizer.from_json(file), file))
        return _loaded[folder]
