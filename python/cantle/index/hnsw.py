"""`Hnsw`: a graph of neighbours, searched from node to node (Malkov and Yashunin, 2016), by faiss.

A filter is not handed to the graph. The graph is searched for so many candidates that, were the
allowed rows spread evenly, as many of them would be among those as a search without a filter keeps.
Where there are not half as many, the filter goes with a region that the query is not in, and the
allowed rows are scored one by one. A search inside the graph with a filter gives rows in that case
as well, but the wrong ones.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cantle import _core
from cantle.index import file, graph
from cantle.index.exact import scanned
from cantle.index.found import Found, FoundAll, Plan, best, padded
from cantle.index.rows_of import RowsOf
from cantle.index.scan import LONGEST, SHORTEST, Scan
from cantle.index.searching import Asked, Index
from cantle.index.vectors import as_vectors, check_metric, lengths, scores
from cantle.limits import whole as whole_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

_KIND = "hnsw"
_BATCH = 16_384
"""Rows that are added at once. Links depend on it, so it is one number for all."""
_FEW = 5_000
_STEP = 15
"""Gathered rows that are scored in the time of one candidate of a graph."""
_SIDE_BY_SIDE = 3
"""How many times as fast rows are scored that need not be gathered."""
_WIDEST = 2_048
_SPARE = 6
"""Candidates beyond `k` that are scored anew, so that float32 does not decide between them."""
_HALF = float(np.finfo(np.float16).max)
_DIGITS = 2.0**-15
"""Length of the shortest vector of one number that float16 holds to three digits (2^-10)."""
_TRIES = 5
"""How often a file is opened anew that was replaced meanwhile."""


@dataclass(frozen=True)
class Hnsw:
    """Settings of an index that finds nearly all of the nearest rows, much faster than all do.

    Needs faiss: `pip install cantle[search]`. Equal vectors are one node, and zero vectors none.
    The graph is the same for any number of threads.

    Args:
        m: Links of a node, at least 2; twice as many at the bottom.
        ef_construction: Candidates that a new node chooses its links from, at least 1.
        ef: Least number of candidates that a search keeps; more is slower and finds more.
        metric: As in `Exact`.
        fp16: Whether vectors are kept as float16: half the memory, scores to three digits.

    Raises:
        TypeError: A number is no whole number, or `fp16` no bool.
        SettingError: A number is too small, or there is no such metric.

    Example:
        >>> from cantle.index import Hnsw
        >>> settings = Hnsw(m=32, ef=400)
    """

    m: int = 16
    ef_construction: int = 200
    ef: int = 200
    metric: str = "cosine"
    fp16: bool = False

    def __post_init__(self) -> None:
        whole_number("m", self.m, 2)
        whole_number("ef_construction", self.ef_construction, 1)
        whole_number("ef", self.ef, 1)
        check_metric(self.metric)
        if not isinstance(self.fp16, bool):
            raise TypeError(f"fp16 ({self.fp16!r}) must be True or False")

    def build(
        self,
        vectors: Any,
        *,
        threads: int = 0,
        progress: Callable[[int, int], None] | None = None,
    ) -> HnswIndex:
        """Return an index of vectors.

        Args:
            vectors: As in `Exact.build`; they are copied into the graph.
            threads: Threads to build with; 0: as many as there are cores.
            progress: Called with how many vectors are in the graph, and how many there are.

        Raises:
            ImportError: faiss is not installed.
            TypeError: They are no numbers.
            SettingError: They are no matrix; one has a NaN or an infinity, or, but for cosine, is
                longer than 1e15 or shorter than 1e-15, or, for float16, holds more than 65,504 or
                is shorter than `sqrt(d) / 32,768`. The message names the row.
        """
        graph.faiss()
        threads = whole_number("threads", threads, 0)
        given = as_vectors(vectors)
        found = lengths(given)
        self._check(given, found)
        rows = RowsOf.of(given, found > 0)
        first = rows.first()

        def part(start: int) -> NDArray[np.float32]:
            chosen = first[start : start + _BATCH]
            return self._as_nodes(given[chosen], found[chosen])

        nodes = graph.build(
            asdict(self), given.shape[1], len(first), _BATCH, part, threads, progress
        )
        return HnswIndex(self, nodes, len(given), given.shape[1], rows)

    @staticmethod
    def open(path: str | os.PathLike[str], stamp: bytes = b"", *, whole: bool = False) -> HnswIndex:
        """Return an index from a file that `save` wrote; the graph is mapped, not read.

        Args:
            path: The file.
            stamp: What it was saved with.
            whole: Whether every byte is checked; else some pages are.

        Raises:
            ImportError: faiss is not installed.
            OSError: It cannot be read.
            StaleIndex: It has another stamp, is of another version, or was replaced meanwhile,
                again and again.
            DamagedIndex: It is no such file, or not as it was written.
        """
        graph.faiss()
        stored, nodes = _read(path, stamp, whole)
        told, arrays = stored.settings, stored.arrays
        rows = RowsOf(told["rows"], arrays.get("place"))
        if (0 if nodes is None else nodes.ntotal) != rows.nodes:
            raise file.DamagedIndex(f"{os.fspath(path)}: its parts do not fit each other")
        index = HnswIndex(Hnsw(**told["hnsw"]), nodes, told["rows"], told["dimensions"], rows)
        return index.without(arrays["out"])

    def _check(self, vectors: NDArray[np.float32], found: NDArray[np.float64]) -> None:
        if self.metric == "cosine":
            return
        wrong = (found > 0) & ((found < SHORTEST) | (found > LONGEST))
        if wrong.any():
            row = int(np.argmax(wrong))
            raise _core.SettingError(
                f"vectors[{row}]: the length of row {row} ({found[row]:g}) must be from "
                f"{SHORTEST:g} to {LONGEST:g}"
            )
        if not self.fp16:
            return
        # Each number is off by up to 2^-25, however small it is.
        least = _DIGITS * math.sqrt(vectors.shape[1])
        short = (found > 0) & (found < least)
        if short.any():
            row = int(np.argmax(short))
            raise _core.SettingError(
                f"vectors[{row}]: the length of row {row} ({found[row]:g}) must be at least "
                f"{least:g} for fp16=True: a shorter one loses its digits"
            )
        for row in np.flatnonzero(found > _HALF).tolist():
            if np.abs(vectors[row]).max() > _HALF:
                raise _core.SettingError(
                    f"vectors[{row}]: row {row} holds more than float16 can hold"
                )

    def _as_nodes(
        self, vectors: NDArray[np.float32], found: NDArray[np.float64]
    ) -> NDArray[np.float32]:
        """Return vectors as the graph has them: of length 1 for cosines.

        Vectors that have it already are left as they are, so that scores are those of `Exact`.
        """
        if self.metric != "cosine":
            return vectors
        divisors = np.where(np.abs(found - 1) < 1e-6, 1.0, found)[:, None]
        return (vectors.astype(np.float64) / divisors).astype(np.float32)


class HnswIndex(Index):
    """An index by a graph. Made by `Hnsw`."""

    def __init__(
        self, settings: Hnsw, nodes: Any, rows: int, dimensions: int, rows_of: RowsOf
    ) -> None:
        """Made by `Hnsw.build` and `Hnsw.open`."""
        super().__init__(settings.metric, rows, dimensions, rows_of.none())
        self._settings, self._rows_of = settings, rows_of
        self._hold(nodes)

    def _hold(self, nodes: Any) -> None:
        self._nodes = nodes
        kept = np.empty((0, self.dimensions), np.float32)
        if nodes is not None:
            kept = graph.vectors(nodes, self._settings.fp16)
        self._scan = Scan(kept, self.metric, place=self._rows_of.place)

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        del state["_scan"]
        state["_nodes"] = graph.as_bytes(self._nodes)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._hold(graph.from_bytes(state["_nodes"]))

    def save(self, path: str | os.PathLike[str], stamp: bytes = b"") -> None:
        """Write the index to a file that `Hnsw.open` opens: beside its place, then moved there.

        Args:
            path: The file.
            stamp: At most 32 bytes that tell of what the index was made; `open` asks for them.

        Raises:
            OSError: It cannot be written; nothing is left behind.
            SettingError: The stamp is longer.
        """
        arrays = {"out": np.empty(0, np.int64) if self._out is None else np.flatnonzero(self._out)}
        if self._rows_of.place is not None:
            arrays["place"] = self._rows_of.place
        settings = {
            "hnsw": asdict(self._settings),
            "rows": len(self),
            "dimensions": self.dimensions,
        }
        file.write(
            path, _KIND, stamp, settings, arrays, lambda take: graph.write(self._nodes, take)
        )

    def _distinct(self) -> int:
        return self._rows_of.nodes

    def _nearest(self, queries: NDArray[np.float32], asked: Asked) -> FoundAll:
        width, why = self._way(asked)
        if width is None or self._far(queries):
            why = why if width is None else "the query is too far away for float32"
            return scanned(self._scan, queries, asked, why)
        nodes = self._walk(queries, asked, width)
        plan = asked.plan("hnsw", why, width)
        everything = len(asked.rows) == self._rows_of.ranked
        if everything and self._rows_of.place is None and nodes.min(initial=0) >= 0:
            points = scores(self.metric, self._scan.vectors, nodes, queries)
            return FoundAll(*best(nodes, points, asked.k), (plan,) * len(nodes))
        marks = None if everything else asked.rows.mask(len(self))
        allowed = np.ones(self._rows_of.nodes, np.bool_)
        least = 0
        if marks is not None:
            allowed = self._rows_of.marked(marks)
            least = self._wanted(asked) // 2
        found, short = [], []
        for i, (query, near) in enumerate(zip(queries, nodes, strict=True)):
            kept = near[near >= 0]
            kept = kept[allowed[kept]]
            found.append(self._one_scored(query, kept, marks, plan))
            if len(found[-1]) < asked.k or len(kept) < least:
                short.append(i)
        if short:
            why = f"of {width:,} candidates fewer are allowed than of all rows"
            again = scanned(self._scan, queries[short], asked, why, "hnsw, then exact")
            for i, one in zip(short, again, strict=True):
                found[i] = one
        return padded(found, asked.k)

    def _wanted(self, asked: Asked) -> int:
        """Return how many candidates that are allowed find the rows with the recall of no filter.

        At least nearly twice `k`, so that `k` nearly always are allowed.
        """
        return max(asked.ef or self._settings.ef, math.ceil(1.6 * asked.k + 4))

    def _way(self, asked: Asked) -> tuple[int | None, str]:
        """Return how many candidates to search the graph for, or None for all rows, and why.

        As many of them should be allowed as a search without a filter has.
        """
        rows, k = asked.rows, asked.k
        count, known = len(rows), self._rows_of.ranked
        if count <= k:
            return None, f"k is {k:,}, and {count:,} rows can be ranked"
        width = math.ceil(self._wanted(asked) * known / count)
        straight = rows.contiguous and self._rows_of.place is None
        few = max(_FEW if asked.filtered else 0, _STEP * width) * (_SIDE_BY_SIDE if straight else 1)
        if count <= few or width > _WIDEST:
            return None, (
                f"{count:,} rows are scored sooner than {width:,} candidates of a graph are found"
            )
        if count == known:
            return width, "all rows of the graph are allowed"
        return width, f"{count / known:.3g} of the graph's rows are allowed"

    def _far(self, queries: NDArray[np.float32]) -> bool:
        return self.metric == "l2" and float(np.abs(queries).max(initial=0)) > LONGEST / 1e3

    def _walk(self, queries: NDArray[np.float32], asked: Asked, ef: int) -> NDArray[np.int64]:
        """Return the candidates of each query, as the graph gives them: [queries, candidates]."""
        width = ef
        if len(asked.rows) == self._rows_of.ranked:
            width = min(asked.k + _SPARE, ef, self._rows_of.nodes)
        if self.metric != "l2":
            queries = _core.unit_rows(queries)
        return graph.search(self._nodes, queries, width, ef)

    def _one_scored(
        self,
        query: NDArray[np.float32],
        near: NDArray[np.int64],
        marks: NDArray[np.bool_] | None,
        plan: Plan,
    ) -> Found:
        """Return the best of the candidates that are allowed: fewer than `k` if fewer are."""
        rows, nodes = self._rows_of.rows(near, marks, plan.k + _SPARE)
        points = scores(self.metric, self._scan.vectors, nodes[None], query[None])
        found, told = best(rows[None], points, plan.k)
        return Found(found[0], told[0], plan)


def _read(path: str | os.PathLike[str], stamp: bytes, whole: bool) -> tuple[file.Stored, Any]:
    """Return what a file holds, and its graph; None where it has no node.

    faiss opens a path by itself. So that both are of one file, it must stand there still.
    """
    for _ in range(_TRIES):
        stored = file.read(path, _KIND, stamp, whole)
        if not len(stored.payload):
            return stored, None
        nodes = graph.open_mapped(os.fspath(path))
        if file.which(path) == stored.file:
            return stored, nodes
    raise file.StaleIndex(f"{os.fspath(path)}: replaced while it was opened, {_TRIES} times")
