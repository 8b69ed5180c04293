"""What a search gives: `Found` for one query, `FoundAll` for many, each with its `Plan`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cantle import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Plan:
    """Which way a search took, and why; as a text, what a database's `explain` prints."""

    kind: str
    """`exact`, `exact over allowed rows`, `hnsw`, or `hnsw, then exact`."""
    reason: str
    """Why this way was taken."""
    metric: str
    """`cosine`, `ip` or `l2`."""
    dimensions: int
    """Numbers in a vector."""
    rows: int
    """Rows of the index."""
    unranked: int
    """Rows that no search ranks: zero vectors, and those left out."""
    allowed: int
    """Rows that this search may rank."""
    distinct: int
    """Distinct vectors; of an exact index, all that are ranked."""
    k: int
    """Rows asked for."""
    ef: int | None = None
    """How many candidates the graph was searched for; None where it was not."""

    def __str__(self) -> str:
        ef = "" if self.ef is None else f", ef {self.ef:,}"
        share = self.allowed / self.rows if self.rows else 0.0
        return (
            f"{self.kind} ({self.metric}, {self.dimensions} dimensions, k {self.k:,}{ef})\n"
            f"  rows      {self.rows:,}: {self.unranked:,} unranked, {self.distinct:,} vectors\n"
            f"  allowed   {self.allowed:,} ({share:.3g} of all rows)\n"
            f"  because   {self.reason}"
        )


@dataclass(frozen=True, eq=False)
class Found:
    """The rows that are nearest to a query, the nearest first; equal scores by row.

    Fewer than `k` come back only where fewer can be ranked.
    """

    rows: NDArray[np.int64]
    """Row numbers."""
    scores: NDArray[np.float32]
    """Their scores; higher is nearer, whatever the metric."""
    plan: Plan
    """Which way was taken, and why."""

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, eq=False)
class FoundAll:
    """The rows that are nearest to each of many queries; iterating yields a `Found` for each."""

    rows: NDArray[np.int64]
    """Row numbers [queries, k], padded with -1; no more columns than the index has rows."""
    scores: NDArray[np.float32]
    """Scores of the same shape, padded with -inf."""
    plans: tuple[Plan, ...]
    """A plan for each query."""

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, query: int) -> Found:
        """Return what was found for one query, without padding."""
        real = int(np.count_nonzero(self.rows[query] >= 0))
        return Found(self.rows[query, :real], self.scores[query, :real], self.plans[query])

    def __iter__(self) -> Iterator[Found]:
        return (self[query] for query in range(len(self)))


def padded(found: list[Found], width: int) -> FoundAll:
    """Return what was found for many queries as matrices with `width` columns."""
    rows = np.full((len(found), width), -1, np.int64)
    scores = np.full((len(found), width), -np.inf, np.float32)
    for i, one in enumerate(found):
        rows[i, : len(one)] = one.rows
        scores[i, : len(one)] = one.scores
    return FoundAll(rows, scores, tuple(one.plan for one in found))


def best(
    rows: NDArray[np.int64], found: NDArray[np.float64], k: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the `k` best rows of each query and their scores: by score, then by row.

    Args:
        rows: [q, m].
        found: Their scores [q, m]; what float32 cannot hold becomes its largest number.
        k: Rows wanted.
    """
    return _core.best_rows(rows, found, k)
