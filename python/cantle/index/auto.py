"""`Auto`: exact for few rows, a graph for many."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

from cantle.index.exact import ExactIndex
from cantle.index.hnsw import Hnsw, HnswIndex
from cantle.index.vectors import as_vectors, lengths
from cantle.limits import whole


@dataclass(frozen=True)
class Auto:
    """An index by the number of rows: `Exact` for few, `Hnsw` for more.

    Building a graph costs thousands of exact searches; benches/bench_search.py measures how many.
    Where faiss is not installed, the index is exact however many rows there are; the plan of a
    search says so.

    Args:
        exact_up_to: Most rows that are searched exactly.
        hnsw: What is built for more of them; the metric is this one's.

    Raises:
        TypeError: `exact_up_to` is no whole number.
        SettingError: It is below 0.

    Example:
        >>> from cantle.index import Auto
        >>> index = Auto().build([[1, 0], [0, 1]])
        >>> index.search([1, 0], k=1).plan.reason
        '2 rows are no more than exact_up_to (150,000)'
    """

    exact_up_to: int = 150_000
    hnsw: Hnsw = field(default_factory=Hnsw)

    def __post_init__(self) -> None:
        whole("exact_up_to", self.exact_up_to, 0)
        if not isinstance(self.hnsw, Hnsw):
            raise TypeError(f"hnsw ({self.hnsw!r}) must be Hnsw")

    def build(
        self,
        vectors: Any,
        *,
        threads: int = 0,
        progress: Callable[[int, int], None] | None = None,
    ) -> ExactIndex | HnswIndex:
        """Return an index of vectors; arguments and errors are those of `Hnsw.build`."""
        given = as_vectors(vectors)
        if len(given) <= self.exact_up_to:
            why = f"{len(given):,} rows are no more than exact_up_to ({self.exact_up_to:,})"
        elif find_spec("faiss") is None:
            why = "there is no graph: faiss is not installed, see cantle[search]"
        else:
            return self.hnsw.build(given, threads=threads, progress=progress)
        return ExactIndex(self.hnsw.metric, given, lengths(given), why)
