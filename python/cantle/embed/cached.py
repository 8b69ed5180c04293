"""`Cached`: an embedder that embeds nothing twice, with its vectors in one file on disk."""

from __future__ import annotations

import os
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

import numpy as np

from cantle import _core
from cantle.embed.door import BATCH_SIZE, Embedder, embed_all, identity
from cantle.kept import key_of, opened

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Cached:
    """Vectors of another embedder, kept in a SQLite file under the model and the text's hash.

    A text is embedded once, also if it stands in a call twice; what a batch gave is kept before the
    next is asked for. Several processes and threads may use one file.

    Args:
        embedder: What embeds texts that are not in the file.
        path: The file; it is made where there is none.
        model: What the vectors are kept under. Default: the embedder's identity, as in fingerprints
            of strategies; name the model where that tells it not, as of a function that calls one.
        batch_size: Most texts in a call of the embedder.

    Example:
        >>> from cantle.embed import Cached, Keyword
        >>> embedder = Cached(Keyword(["tea pot"]), "/tmp/vectors.sqlite")  # doctest: +SKIP
    """

    embedder: Embedder
    path: str | os.PathLike[str]
    _: KW_ONLY
    model: str | None = None
    batch_size: int = BATCH_SIZE

    def __post_init__(self) -> None:
        if not callable(self.embedder):
            raise TypeError(f"embedder ({self.embedder!r}) must be callable")
        if self.model is not None and (not isinstance(self.model, str) or not self.model):
            raise TypeError(f"model ({self.model!r}) must be a string that is not empty")
        os.fspath(self.path)

    @property
    def fingerprint(self) -> str:
        """What tells it from other embedders: the model, or what the one within is known by."""
        return identity(self.embedder) if self.model is None else self.model

    def __call__(self, texts: list[str]) -> NDArray[np.float32]:
        """Return the vectors of texts; float32 [texts, d].

        Raises:
            SettingError: The file is no cache, or its vectors differ in length from new ones.
            OSError: The file cannot be opened.
        """
        if not texts:
            return np.empty((0, 0), np.float32)
        keys = [key_of(text) for text in texts]
        missing = dict(zip(keys, texts, strict=True))
        model, path = self.fingerprint, os.fspath(self.path)
        with opened(path, "vectors", "vector") as kept:
            found = kept.find(model, list(missing))
            for key in found:
                del missing[key]
            new, rest = list(missing), list(missing.values())
            for first in range(0, len(new), self.batch_size):
                part = slice(first, first + self.batch_size)
                vectors = embed_all(self.embedder, rest[part], batch_size=self.batch_size).astype(
                    "<f4"
                )
                pairs = [(key, vector.tobytes()) for key, vector in
                         zip(new[part], vectors, strict=True)]  # fmt: skip
                kept.keep(model, pairs)
                found.update(pairs)
        lengths = {len(vector) for vector in found.values()}
        if len(lengths) > 1:
            sizes = " and ".join(str(n // 4) for n in sorted(lengths))
            raise _core.SettingError(
                f"{path}: vectors of {sizes} numbers under the model {model!r}; give another "
                "model its own name"
            )
        data = b"".join(found[key] for key in keys)
        return np.frombuffer(data, "<f4").reshape(len(texts), -1).astype(np.float32)
