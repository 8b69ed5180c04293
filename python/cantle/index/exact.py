"""`Exact`: every row is scored. The plain install has it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cantle.index import file
from cantle.index.found import Found, FoundAll, best, padded
from cantle.index.scan import Scan
from cantle.index.searching import Asked, Index
from cantle.index.vectors import as_vectors, check_metric, lengths

if TYPE_CHECKING:
    from numpy.typing import NDArray

_KIND = "exact"


@dataclass(frozen=True)
class Exact:
    """Settings of an index that scores every allowed row.

    The answer is that of scoring each row in float64, for any number of threads and queries.

    Args:
        metric: `cosine`, `ip` (inner product) or `l2` (Euclidean distance). Scores are higher for
            what is nearer: distances have a minus.

    Raises:
        SettingError: There is no such metric.

    Example:
        >>> from cantle.index import Exact
        >>> index = Exact().build([[1, 0], [0, 1], [1, 1]])
        >>> index.search([2, 0], k=2).rows.tolist()
        [0, 2]
    """

    metric: str = "cosine"

    def __post_init__(self) -> None:
        check_metric(self.metric)

    def build(self, vectors: Any) -> ExactIndex:
        """Return an index of vectors.

        Args:
            vectors: [n, d]; other numbers than float32 are converted. They are copied, unless
                they are float32 in C order and read-only: then they must not change.

        Raises:
            TypeError: They are no numbers.
            SettingError: They are no matrix, or one has a NaN or an infinity; the message names
                the row.
        """
        given = as_vectors(vectors)
        return ExactIndex(self.metric, given, lengths(given))

    @staticmethod
    def open(
        path: str | os.PathLike[str], stamp: bytes = b"", *, whole: bool = False
    ) -> ExactIndex:
        """Return an index from a file that `save` wrote; its vectors are mapped, not read.

        Args:
            path: The file.
            stamp: What it was saved with.
            whole: Whether every byte is checked; else some pages are.

        Raises:
            OSError: It cannot be read.
            StaleIndex: It has another stamp, or is of another version.
            DamagedIndex: It is no such file, or not as it was written.
        """
        stored = file.read(path, _KIND, stamp, whole)
        vectors = stored.payload.view(np.float32).reshape(stored.settings["shape"])
        arrays = stored.arrays
        index = ExactIndex(stored.settings["metric"], vectors, arrays["lengths"])
        return index.without(arrays["out"])


class ExactIndex(Index):
    """An index that scores every allowed row. Made by `Exact`."""

    def __init__(
        self,
        metric: str,
        vectors: NDArray[np.float32],
        found: NDArray[np.float64],
        why: str = "the index is exact",
    ) -> None:
        """Made by `Exact.build`, with the vectors' lengths; `why` is told in plans."""
        rows, dimensions = vectors.shape
        super().__init__(metric, rows, dimensions, np.flatnonzero(found == 0))
        self._scan, self._lengths, self._why = Scan(vectors, metric, found), found, why

    def save(self, path: str | os.PathLike[str], stamp: bytes = b"") -> None:
        """Write the index to a file that `Exact.open` opens: beside its place, then moved there.

        Args:
            path: The file.
            stamp: At most 32 bytes that tell of what the index was made; `open` asks for them.

        Raises:
            OSError: It cannot be written; nothing is left behind.
            SettingError: The stamp is longer.
        """
        out = np.empty(0, np.int64) if self._out is None else np.flatnonzero(self._out)
        vectors = self._scan.vectors
        settings = {"metric": self.metric, "shape": vectors.shape}
        arrays = {"out": out, "lengths": self._lengths}
        data = vectors.reshape(-1).view(np.uint8).data
        file.write(path, _KIND, stamp, settings, arrays, lambda take: take(data))

    def _nearest(self, queries: NDArray[np.float32], asked: Asked) -> FoundAll:
        return scanned(self._scan, queries, asked, self._why)


def scanned(
    scan: Scan, queries: NDArray[np.float32], asked: Asked, why: str, kind: str | None = None
) -> FoundAll:
    """Return what scoring every allowed row finds; `kind` is what the plan calls it."""
    kind = kind or ("exact over allowed rows" if asked.filtered else "exact")
    plan = asked.plan(kind, why)
    found = []
    for rows, points in scan.nearest(queries, asked.k, asked.rows):
        near, told = best(rows[None], points[None], asked.k)
        found.append(Found(near[0], told[0], plan))
    return padded(found, min(asked.k, len(asked.of)))
