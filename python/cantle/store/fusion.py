"""Rankings of the same rows by several measures, made one by reciprocal ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cantle import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray

K = 60
"""What is added to each rank, so that the first few do not decide alone."""


class Fused(NamedTuple):
    """Rows, the best first."""

    rows: NDArray[np.int64]
    scores: NDArray[np.float64]
    ranks: NDArray[np.int64]
    """The rank of each row in each ranking, from 1; 0 where it is not in it; [rankings, rows]."""


def fuse(rankings: Sequence[NDArray[np.int64]], k: float = K) -> Fused:
    """Return the rows of several rankings by the sum of `1 / (k + rank)`, ties by row.

    A row that a ranking does not hold gets nothing from it. Source: Cormack, Clarke and Buettcher,
    "Reciprocal rank fusion outperforms Condorcet and individual rank learning methods", SIGIR 2009.

    Args:
        rankings: Rows, the best first, none of them twice.
        k: What is added to each rank; at least 0.

    Raises:
        SettingError: `k` is below 0.

    Example:
        >>> import numpy as np
        >>> from cantle.store.fusion import fuse
        >>> fused = fuse([np.array([7, 3, 5]), np.array([5, 7])])
        >>> fused.rows.tolist(), fused.ranks.tolist()
        ([7, 5, 3], [[1, 3, 2], [2, 1, 0]])
    """
    if not k >= 0:
        raise _core.SettingError(f"k ({k}) must be at least 0")
    rows = np.unique(np.concatenate([np.empty(0, np.int64), *rankings]))
    ranks = np.zeros((len(rankings), len(rows)), np.int64)
    for own, ranking in zip(ranks, rankings, strict=True):
        own[np.searchsorted(rows, ranking)] = np.arange(1, len(ranking) + 1)
    shares = np.where(ranks > 0, 1.0 / (k + np.maximum(ranks, 1)), 0.0)
    # By size, so that rows with the same ranks in another order have the same sum.
    scores = np.sort(shares, axis=0).sum(axis=0)
    best = np.argsort(-scores, kind="stable")
    return Fused(rows[best], scores[best], ranks[:, best])
