"""`RowsOf`: which rows have which vector, where equal vectors are kept once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_HASH = 16


class RowsOf:
    """The rows of each node of a graph; zero vectors have no node."""

    __slots__ = ("_members", "_starts", "nodes", "place", "rowcount")

    def __init__(self, rowcount: int, place: NDArray[np.int64] | None) -> None:
        """Hold which node each row has, -1 for none; `place` is None where row i has node i."""
        self.rowcount, self.place = rowcount, place
        self.nodes = rowcount
        if place is not None:
            self.nodes = int(place.max(initial=-1)) + 1
            ranked = np.flatnonzero(place >= 0)
            self._members = ranked[np.argsort(place[ranked], kind="stable")]
            counts = np.bincount(place[ranked], minlength=self.nodes)
            self._starts = np.concatenate([[0], np.cumsum(counts)])

    @classmethod
    def of(cls, vectors: NDArray[np.float32], ranked: NDArray[np.bool_]) -> RowsOf:
        """Return the nodes of vectors: equal ones share one, by a hash that nothing else has."""
        from hashlib import blake2b

        seen: dict[bytes, int] = {}
        place = np.full(len(vectors), -1, np.int64)
        for row in np.flatnonzero(ranked).tolist():
            # A negative zero is equal to the other one.
            told = blake2b((vectors[row] + 0.0).tobytes(), digest_size=_HASH).digest()
            place[row] = seen.setdefault(told, len(seen))
        return cls(len(vectors), None if len(seen) == len(vectors) else place)

    @property
    def ranked(self) -> int:
        """How many rows have a node."""
        return self.rowcount if self.place is None else len(self._members)

    def first(self) -> NDArray[np.int64]:
        """Return the first row of each node."""
        if self.place is None:
            return np.arange(self.rowcount)
        found: NDArray[np.int64] = self._members[self._starts[:-1]]
        return found

    def none(self) -> NDArray[np.int64]:
        """Return the rows that have no node."""
        if self.place is None:
            return np.empty(0, np.int64)
        return np.flatnonzero(self.place < 0)

    def marked(self, marks: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which nodes have a row that is marked."""
        if self.place is None:
            return marks
        found = np.zeros(self.nodes, np.bool_)
        found[self.place[marks & (self.place >= 0)]] = True
        return found

    def rows(
        self, nodes: NDArray[np.int64], marks: NDArray[np.bool_] | None, wanted: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the marked rows of the first `wanted` nodes that have any, and their nodes."""
        if self.place is None:
            nodes = (nodes if marks is None else nodes[marks[nodes]])[:wanted]
            return nodes, nodes
        counts = self._starts[nodes + 1] - self._starts[nodes]
        of = np.repeat(nodes, counts)
        within = np.arange(len(of)) - np.repeat(np.cumsum(counts) - counts, counts)
        rows = self._members[np.repeat(self._starts[nodes], counts) + within]
        if marks is not None:
            of, rows = of[marks[rows]], rows[marks[rows]]
        starts = np.concatenate([[True], of[1:] != of[:-1]])[: len(of)]
        kept = np.cumsum(starts) <= wanted
        return rows[kept], of[kept]
