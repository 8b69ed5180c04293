"""`Scan`: every allowed row is scored, and the best are found exactly.

Products in float32, as the processor does them fastest, depend in their last bits on how many are
done at once. So they only choose candidates: of a dot product over `d` numbers float32 loses at
most about `d` roundings of the product of both lengths, and what lies within this margin of the
k-th best is scored anew in float64, each pair by itself. The answer is therefore that of scoring
every row in float64, whatever the number of threads and queries.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from cantle.index.allowed import Allowed
from cantle.index.vectors import scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLOCK_OF_MAXIMA = 256
_DENSE = 4
"""A range of which a quarter or more is allowed is read as a whole: gathering costs more."""
_GATHERED = 16_384
"""Rows that are gathered at once."""
_HELD = 1 << 24
"""Most float32 scores that are held at once for many queries: 64 MiB."""
SHORTEST, LONGEST = 1e-15, 1e15
"""Lengths whose products and squares float32 holds."""


class Scan:
    """Vectors that can be scored: all, or some of them."""

    __slots__ = ("_lengths", "_wide", "metric", "place", "vectors")

    def __init__(
        self,
        vectors: NDArray[Any],
        metric: str,
        lengths: NDArray[np.float64] | None = None,
        place: NDArray[np.int64] | None = None,
    ) -> None:
        """Hold vectors.

        Args:
            vectors: float32 or float16 [n, d].
            metric: One of `METRICS`.
            lengths: Their lengths; None: taken anew for those that are scored. A vector of length
                0 is never among the rows that are asked for.
            place: For each row, which of the vectors it has; None: as they stand.
        """
        self.vectors, self.metric, self.place = vectors, metric, place
        known = np.empty(0) if lengths is None else lengths[lengths > 0]
        self._wide = bool(len(known)) and not (known.min() >= SHORTEST and known.max() <= LONGEST)
        self._lengths: NDArray[np.float32] | None = None
        if lengths is not None and not self._wide:
            self._lengths = np.where(lengths > 0, lengths, 1).astype(np.float32)

    def nearest(
        self, queries: NDArray[np.float32], k: int, rows: Allowed
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """Yield for each query rows and their float64 scores: the best `k`, and maybe some more."""
        held = max(1, _HELD // max(1, rows.stop - rows.start))
        for first in range(0, len(queries), held):
            part = queries[first : first + held]
            if len(rows) <= k or self._wide or self._far(part):
                every = rows.all()
                yield from ((every, self.scored(query, every)) for query in part)
                continue
            coarse, margin = self._coarse(part.astype(np.float64), rows)
            for i, query in enumerate(part):
                kept = rows.pick(_candidates(coarse[i], margin[min(i, len(margin) - 1)], k))
                yield kept, self.scored(query, kept)

    def scored(self, query: NDArray[np.float32], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the scores of some rows for one query, in float64."""
        places = rows if self.place is None else self.place[rows]
        found: NDArray[np.float64] = scores(self.metric, self.vectors, places[None], query[None])[0]
        return found

    def _far(self, queries: NDArray[np.float32]) -> bool:
        """Whether distances to a query are out of float32's reach; for others its length is 1."""
        return self.metric == "l2" and bool(np.abs(queries).max(initial=0.0) > LONGEST / 1e3)

    def _coarse(
        self, queries: NDArray[np.float64], rows: Allowed
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return scores [queries, rows] in the order of the true ones, and how wrong they may be.

        Of l2, what is scored is the inner product less half of the row's square: half the square of
        the query, less half of the distance's. The margins are [queries, rows] or [1, 1].
        """
        sizes = np.linalg.norm(queries, axis=1, keepdims=True)
        if self.metric != "l2":
            queries = np.divide(queries, sizes, out=np.zeros_like(queries), where=sizes > 0)
            sizes = np.ones_like(sizes)
        small = queries.astype(np.float32)
        whole = self._read_whole(rows)
        read = Allowed(rows.start, rows.stop) if whole else rows
        coarse = np.empty((len(small), len(read)), np.float32)
        lengths = np.empty(len(read), np.float32)
        step = len(read) if whole else _GATHERED
        for first in range(0, len(read), step):
            part = slice(first, min(first + step, len(read)))
            lengths[part] = self._score_part(small, read, part, whole, coarse[:, part])
        if whole and rows.rows is not None:
            columns = rows.rows - rows.start
            coarse, lengths = coarse[:, columns], lengths[columns]
        return coarse, self._margin(lengths, sizes)

    def _read_whole(self, rows: Allowed) -> bool:
        """Whether the range of the rows is read as it stands in memory."""
        straight = self.place is None and self.vectors.dtype == np.float32
        return straight and len(rows) * _DENSE >= rows.stop - rows.start

    def _score_part(
        self,
        queries: NDArray[np.float32],
        rows: Allowed,
        part: slice,
        whole: bool,
        into: NDArray[np.float32],
    ) -> NDArray[np.float32]:
        """Score a part of the rows into a part of the matrix; return the lengths of its vectors."""
        places: Any
        if whole:
            places = slice(rows.start + part.start, rows.start + part.stop)
        else:
            places = rows.pick(np.arange(part.start, part.stop))
            places = places if self.place is None else self.place[places]
        vectors = self.vectors[places].astype(np.float32, copy=False)
        if len(queries) == 1:
            into[0] = _products(vectors, queries[0])
        else:
            into[:] = queries @ vectors.T
        lengths: NDArray[np.float32]
        if self._lengths is None:
            lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
        else:
            lengths = self._lengths[places]
        if self.metric == "cosine":
            into /= lengths
        elif self.metric == "l2":
            into -= lengths * lengths / 2
        return lengths

    def _margin(
        self, lengths: NDArray[np.float32], sizes: NDArray[np.float64]
    ) -> NDArray[np.float32]:
        unit = (self.vectors.shape[1] + 16) * 2.0**-23
        if self.metric == "cosine":
            return np.full((1, 1), unit, np.float32)
        wrong = sizes * lengths if self.metric == "ip" else (sizes + lengths) * lengths
        # The last term stands for products that are too small for float32.
        margin = unit * wrong + self.vectors.shape[1] * 2.0**-125
        return np.asarray(margin, np.float32)


def _products(vectors: NDArray[np.float32], query: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the inner products of vectors with one query.

    Row by row on one thread (NumPy 2) is bound by memory, and does not wait for a second thread
    that the machine has no time for, as a matrix product does.
    """
    found: NDArray[np.float32]
    found = np.vecdot(vectors, query) if hasattr(np, "vecdot") else vectors @ query
    return found


def _candidates(
    coarse: NDArray[np.float32], margin: NDArray[np.float32], k: int
) -> NDArray[np.int64]:
    """Return the places of all that may be among the `k` best; `k` is less than there are."""
    if len(margin) == 1:
        kept = np.flatnonzero(coarse >= _kth_at_least(coarse, k) - 2 * margin[0])
        if len(kept) > 4 * k:
            part = coarse[kept]
            kept = kept[part >= np.partition(part, len(part) - k)[-k] - 2 * margin[0]]
        return kept
    worst, most = coarse - margin, coarse + margin
    kept = np.flatnonzero(most >= _kth_at_least(worst, k))
    if len(kept) > 4 * k:
        part = worst[kept]
        kept = kept[most[kept] >= np.partition(part, len(part) - k)[-k]]
    return kept


def _kth_at_least(found: NDArray[np.float32], k: int) -> np.float32:
    """Return a number that at least `k` scores reach: the k-th largest of the maxima of blocks."""
    blocks = len(found) // _BLOCK_OF_MAXIMA
    if blocks >= 2 * k:
        found = found[: blocks * _BLOCK_OF_MAXIMA].reshape(blocks, -1).max(axis=1)
    bound: np.float32 = np.partition(found, len(found) - k)[-k]
    return bound
