"""Vectors and queries as an index takes them: converted and checked, the caller's never changed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from cantle import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray

METRICS = ("cosine", "ip", "l2")
"""What says how near two vectors are: cosine, inner product, Euclidean distance with a minus."""

BLOCK = 4096
"""Rows that are handled at once, so that what is made of them stays small."""


def check_metric(metric: object) -> None:
    """Raise unless `metric` is one of `METRICS`."""
    if metric not in METRICS:
        raise _core.SettingError(f"metric ({metric!r}) must be one of {', '.join(METRICS)}")


def as_vectors(given: Any) -> NDArray[np.float32]:
    """Return vectors as float32 [n, d] in C order that nobody writes to.

    They are copied, unless they are so already.

    Raises:
        TypeError: They are no numbers.
        SettingError: They are no matrix.
    """
    array = _as_array(given, "vectors")
    if array.ndim == 1 and not len(array):
        array = array.reshape(0, 0)
    if array.ndim != 2 or (len(array) and not array.shape[1]):
        raise _core.SettingError(
            f"vectors has the shape {array.shape}; [rows, dimensions] is expected"
        )
    if array.dtype == np.float32 and array.flags.c_contiguous and not array.flags.writeable:
        return array
    with np.errstate(over="ignore"):
        copied: NDArray[np.float32] = np.array(array, np.float32, order="C", copy=True)
    copied.flags.writeable = False
    return copied


def as_query(given: Any, dimensions: int | None) -> NDArray[np.float32]:
    """Return one query as float32 [1, d]; `dimensions` is None where any will do.

    Raises:
        TypeError: It is no numbers.
        SettingError: It is no vector, has another length, or a NaN or an infinity.
    """
    array = _as_array(given, "query")
    if array.ndim != 1:
        raise _core.SettingError(
            f"query has the shape {array.shape}; one vector is expected, search_all takes many"
        )
    if dimensions is not None and len(array) != dimensions:
        raise _core.SettingError(f"query has {len(array)} numbers, the index {dimensions}")
    return _checked_queries(array[None, :], lambda _: "query")


def as_queries(given: Any, dimensions: int | None) -> NDArray[np.float32]:
    """Return many queries as float32 [q, d].

    Raises:
        TypeError: They are no numbers.
        SettingError: They are no matrix, have another length, or a NaN or an infinity.
    """
    array = _as_array(given, "queries")
    if array.ndim == 1 and not len(array):
        array = array.reshape(0, dimensions or 0)
    if array.ndim != 2:
        raise _core.SettingError(
            f"queries has the shape {array.shape}; [queries, dimensions] is expected"
        )
    if dimensions is not None and array.shape[1] != dimensions:
        raise _core.SettingError(f"queries have {array.shape[1]} numbers, the index {dimensions}")
    return _checked_queries(array, lambda row: f"queries[{row}]")


def lengths(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the Euclidean length of every vector.

    Raises:
        SettingError: One has a NaN or an infinity.
    """
    found = np.empty(len(vectors), np.float64)
    for first in range(0, len(vectors), BLOCK):
        part = vectors[first : first + BLOCK].astype(np.float64)
        squares = np.einsum("ij,ij->i", part, part)
        wrong = np.flatnonzero(~np.isfinite(squares))
        if len(wrong):
            row = first + int(wrong[0])
            raise _core.SettingError(f"vectors[{row}]: row {row} holds {_what(vectors[row])}")
        np.sqrt(squares, out=found[first : first + BLOCK])
    return found


def scores(
    metric: str,
    vectors: NDArray[Any],
    places: NDArray[np.int64],
    queries: NDArray[np.float32],
) -> NDArray[np.float64]:
    """Return how near some of the vectors are to each query, in float64: [q, m].

    A score depends on its pair alone, never on what stands beside it. Cosines are rounded to
    2^-40: the last bits of a sum are no reason to part a vector from twice itself. A zero query
    has no cosine; whoever asks tells that.

    Args:
        metric: One of `METRICS`.
        vectors: float32 or float16 [n, d].
        places: Rows of `vectors` for each query: [q, m].
        queries: [q, d].
    """
    if vectors.dtype == np.float32 and vectors.flags.aligned:
        return _core.vector_scores(metric, vectors, places, queries)
    # Those of float16, and those that a mapped file holds at an odd place, are copied, in parts.
    count, width = places.shape
    found = np.empty(places.shape, np.float64)
    step = max(1, BLOCK // max(1, width))
    for first in range(0, count, step):
        for column in range(0, width, BLOCK):
            part = slice(first, first + step), slice(column, column + BLOCK)
            asked = places[part]
            copied = vectors[asked.ravel()].astype(np.float32, copy=False)
            every = np.arange(asked.size).reshape(asked.shape)
            found[part] = _core.vector_scores(metric, copied, every, queries[part[0]])
    return found


def _as_array(given: Any, name: str) -> NDArray[Any]:
    try:
        array = np.asarray(given)
    except ValueError:  # rows of different lengths
        raise _core.SettingError(f"{name} holds vectors of different lengths") from None
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{name} holds {array.dtype} where numbers are expected")
    return array


def _checked_queries(array: NDArray[Any], called: Any) -> NDArray[np.float32]:
    queries: NDArray[np.float32]
    if array.dtype == np.float32:
        queries = np.ascontiguousarray(array)
    else:
        with np.errstate(over="ignore"):
            queries = np.ascontiguousarray(array, np.float32)
    # The quickest look: what is finite squared and summed is so itself.
    if not math.isfinite(np.vdot(queries, queries)) and not np.isfinite(queries).all():
        row = int(np.argmin(np.isfinite(queries).all(axis=1)))
        raise _core.SettingError(f"{called(row)} holds {_what(queries[row])}")
    return queries


def _what(vector: NDArray[np.float32]) -> str:
    return "NaN" if np.isnan(vector).any() else "an infinity, or more than float32 can hold"
