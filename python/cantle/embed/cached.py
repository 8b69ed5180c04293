"""`Cached`: an embedder that embeds nothing twice, with its vectors in one file on disk."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

import numpy as np

from cantle import _core
from cantle.digest import digest
from cantle.embed.door import BATCH_SIZE, Embedder, embed_all, identity

if TYPE_CHECKING:
    import sqlite3

    from numpy.typing import NDArray

_TABLE = (
    "CREATE TABLE IF NOT EXISTS vectors (model TEXT, text BLOB, vector BLOB NOT NULL, "
    "PRIMARY KEY (model, text)) WITHOUT ROWID"
)
_ASKED = 500
"""Texts looked up in one statement: SQLite takes 999 parameters in its oldest versions."""


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
        import sqlite3  # `import cantle` stays light.

        if not texts:
            return np.empty((0, 0), np.float32)
        keys = [_key(text) for text in texts]
        missing = dict(zip(keys, texts, strict=True))
        model, path = self.fingerprint, os.fspath(self.path)
        try:
            with closing(sqlite3.connect(path, timeout=60)) as file:
                file.execute(_TABLE)
                found = _look_up(file, model, list(missing))
                for key in found:
                    del missing[key]
                new, rest = list(missing), list(missing.values())
                for first in range(0, len(new), self.batch_size):
                    part = slice(first, first + self.batch_size)
                    vectors = embed_all(
                        self.embedder, rest[part], batch_size=self.batch_size
                    ).astype("<f4")
                    rows = [(model, key, vector.tobytes()) for key, vector in
                            zip(new[part], vectors, strict=True)]  # fmt: skip
                    with file:
                        file.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
                    found.update((key, vector) for _, key, vector in rows)
        except sqlite3.OperationalError as error:
            raise OSError(f"{path}: {error}") from None
        except sqlite3.DatabaseError as error:
            raise _core.SettingError(f"{path}: no cache of vectors ({error})") from None
        lengths = {len(vector) for vector in found.values()}
        if len(lengths) > 1:
            sizes = " and ".join(str(n // 4) for n in sorted(lengths))
            raise _core.SettingError(
                f"{path}: vectors of {sizes} numbers under the model {model!r}; give another "
                "model its own name"
            )
        data = b"".join(found[key] for key in keys)
        return np.frombuffer(data, "<f4").reshape(len(texts), -1).astype(np.float32)


def _key(text: str) -> bytes:
    return bytes.fromhex(digest(text.encode("utf-8", "surrogatepass"), 16))


def _look_up(file: sqlite3.Connection, model: str, keys: list[bytes]) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    for first in range(0, len(keys), _ASKED):
        part = keys[first : first + _ASKED]
        marks = ", ".join("?" * len(part))
        rows = file.execute(
            f"SELECT text, vector FROM vectors WHERE model = ? AND text IN ({marks})",
            (model, *part),
        )
        found.update(rows)
    return found
