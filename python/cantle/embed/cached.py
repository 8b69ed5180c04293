"""`Cached`: an embedder that embeds nothing twice, with its vectors in one file on disk."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

import numpy as np

from cantle import _core
from cantle.embed.door import (
    BATCH_SIZE,
    Embedder,
    check_batch_size,
    embed_all,
    identity,
    token_limit,
)
from cantle.kept import check_path, key_of, opened
from cantle.units import Unit

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
        model: What the vectors are kept under. Default: the embedder's own `fingerprint`, which
            those of cantle have; of another callable it has to be named.
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
        if self.model is None and not isinstance(getattr(self.embedder, "fingerprint", None), str):
            # Two models behind one function would be taken for each other.
            raise _core.SettingError(
                "model (None) must name what the embedder returns: it has no fingerprint"
            )
        check_batch_size(self.batch_size)
        check_path("path", self.path)

    @property
    def fingerprint(self) -> str:
        """What tells it from other embedders: the model, or what the one within is known by."""
        return identity(self.embedder) if self.model is None else self.model

    @property
    def token_limit(self) -> tuple[int, Unit] | None:
        """The most tokens of a text that the one within takes, and what counts them."""
        return token_limit(self.embedder)

    def __call__(self, texts: list[str]) -> NDArray[np.float32]:
        """Return the vectors of texts; float32 [texts, d]. What the embedder raises comes out.

        Raises:
            SettingError: The file is no cache, or its vectors differ in length from new ones.
            OSError: The file cannot be opened, or new vectors cannot be written.
        """
        if not texts:
            return np.empty((0, 0), np.float32)
        keys = [key_of(text) for text in texts]
        missing = dict(zip(keys, texts, strict=True))
        path, model = os.fspath(self.path), self.fingerprint
        with opened(path, "vectors", "vector") as kept:
            found = kept.find(model, list(missing))
            known = next(iter(found.values()), None) or kept.any(model)
            for key in found:
                del missing[key]
            if missing:
                kept.check_writable()
            new, rest = list(missing), list(missing.values())
            for first in range(0, len(new), self.batch_size):
                part = slice(first, first + self.batch_size)
                vectors = embed_all(self.embedder, rest[part], batch_size=self.batch_size)
                rows = dict(zip(new[part], (v.astype("<f4").tobytes() for v in vectors),
                                strict=True))  # fmt: skip
                known = known or next(iter(rows.values()))
                _check_lengths(path, model, known, rows)
                kept.keep(model, rows.items())
                found |= rows
        if known is not None:
            _check_lengths(path, model, known, found)
        data = b"".join(found[key] for key in keys)
        vectors = np.frombuffer(data, "<f4").reshape(len(texts), -1).astype(np.float32)
        if not np.isfinite(vectors).all():
            raise _core.SettingError(f"{path}: a vector under the model {model!r} is damaged")
        return vectors


def _check_lengths(path: str, model: str, known: bytes, vectors: Mapping[bytes, bytes]) -> None:
    """Raise unless all vectors are of one length, which is that of `known`."""
    lengths = {len(known), *map(len, vectors.values())}
    if damaged := [length for length in lengths if length % 4 or not length]:
        raise _core.SettingError(
            f"{path}: a vector under the model {model!r} is damaged: it has {damaged[0]} bytes"
        )
    if len(lengths) > 1:
        sizes = " and ".join(str(length // 4) for length in sorted(lengths))
        raise _core.SettingError(
            f"{path}: vectors of {sizes} numbers under the model {model!r}; give another model "
            "its own name"
        )
