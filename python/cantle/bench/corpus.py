"""A corpus that is handed to other processes: its texts one behind the other in a file.

Every process makes its own strings from it, so that nobody meets one that was seen before.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

_TEXTS, _SIZES = "texts", "sizes.npy"


@dataclass(frozen=True)
class Corpus:
    """Documents in a folder."""

    folder: str
    documents: int
    bytes: int
    longest: int
    """Bytes of the longest document."""

    @classmethod
    def write(cls, folder: str, texts: Iterable[str]) -> Corpus:
        """Return the corpus of `texts`, which no text with a lone surrogate is among.

        Raises:
            OSError: It cannot be written.
        """
        sizes = []
        with open(os.path.join(folder, _TEXTS), "wb") as file:
            for text in texts:
                sizes.append(file.write(text.encode()))
        np.save(os.path.join(folder, _SIZES), np.array(sizes, np.int64))
        return cls(folder, len(sizes), sum(sizes), max(sizes, default=0))

    def texts(self) -> list[str]:
        """Return the documents as new strings.

        One is read at a time: what an allocator kept of the whole would hide what a call needs.
        """
        sizes = np.load(os.path.join(self.folder, _SIZES)).tolist()
        with open(os.path.join(self.folder, _TEXTS), "rb") as file:
            return [file.read(size).decode() for size in sizes]
