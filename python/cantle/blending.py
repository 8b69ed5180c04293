"""Vectors and scores of chunks, each with a share of its neighbours' in the document."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cantle import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray

WEIGHTS = (0.4, 0.2)
"""Shares of the neighbours, the nearest first: two on each side."""

# Rows at a time, so that what is computed in float64 stays small beside the matrix.
_ROWS = 8192


def blend(
    vectors: Any, groups: Any = None, weights: Sequence[float] = WEIGHTS
) -> NDArray[np.float32]:
    """Return each vector with a share of its neighbours', at length 1; float32 [n, d].

    Row i becomes `v[i] + weights[0] * (v[i-1] + v[i+1]) + weights[1] * (v[i-2] + v[i+2]) + ...`,
    divided by its length. A neighbour that is missing, or belongs to another group, adds nothing. A
    zero vector adds nothing and stays zero. A sum that cancels out leaves the vector itself.

    Small chunks say little of what they are about, and the chunks beside them say it too: searched
    by such vectors, 53 tokens in the mean, they were found more often (see docs/expansion.md).
    Chunks over 100 tokens gain less, at 200 nothing was told apart. Rows that are strangers to each
    other, as those of a table or a list of questions, must not be blended: give them the group -1.

    Args:
        vectors: A row for each chunk, in the order of the document, [n, d]; of length 1, or a
            longer one weighs more.
        groups: A whole number for each row, [n]: rows are neighbours where equal numbers stand side
            by side, and a row of -1 has none. Default: all rows are one group.
        weights: The share of the neighbours at distance 1, 2 and so on; at least 0. `()` brings
            the vectors to length 1 and does no more.

    Raises:
        SettingError: The shapes do not fit, a number is NaN or infinite, a group is below -1 or a
            weight below 0; the message names it.
        TypeError: Something else than numbers was given.

    Example:
        >>> import cantle
        >>> vectors = [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]
        >>> for vector in cantle.blend(vectors, groups=[0, 0, 1], weights=[0.75]):
        ...     print(vector)
        [0.8 0.6]
        [0.6 0.8]
        [0. 1.]
    """
    given = _numbers(vectors, "vectors", 2)
    runs = _runs(groups, len(given))
    shares = _checked_weights(weights)
    out = np.empty(given.shape, np.float32)
    for start in range(0, len(given), _ROWS):
        end = min(start + _ROWS, len(given))
        own = given[start:end].astype(np.float64)
        total = own.copy()
        for share, here, there in _pairs(runs, shares, start, end):
            # A neighbour's own zeros add nothing by themselves.
            total[here - start] += share * given[there]
        total[~own.any(axis=1)] = 0.0
        cancelled = ~total.any(axis=1)
        total[cancelled] = own[cancelled]
        out[start:end] = _at_length_one(total)
    return out


def smooth(
    scores: Any, groups: Any = None, weights: Sequence[float] = WEIGHTS
) -> NDArray[np.float32]:
    """Return each score with a share of its neighbours', divided by the weights used; float32 [n].

    Args:
        scores: One for each row, [n].
        groups: As for `blend`.
        weights: As for `blend`. A neighbour that is missing is not divided by.

    Raises:
        SettingError: As for `blend`.
        TypeError: As for `blend`.

    Example:
        >>> from cantle.blending import smooth
        >>> smooth([3.0, 0.0, 0.0], weights=[0.5]).tolist()
        [2.0, 0.75, 0.0]
    """
    given = _numbers(scores, "scores", 1).astype(np.float64)
    runs = _runs(groups, len(given))
    total, used = given.copy(), np.ones(len(given))
    for share, here, there in _pairs(runs, _checked_weights(weights), 0, len(given)):
        total[here] += share * given[there]
        used[here] += share
    found: NDArray[np.float32] = (total / used).astype(np.float32)
    return found


def _pairs(
    runs: NDArray[np.int64], shares: tuple[float, ...], start: int, end: int
) -> Iterator[tuple[float, NDArray[np.int64], NDArray[np.int64]]]:
    """Yield for each share and side the rows from start to end, and their neighbours there."""
    rows = np.arange(start, end)
    for distance, share in enumerate(shares, 1):
        for there in (rows - distance, rows + distance):
            inside = np.flatnonzero((there >= 0) & (there < len(runs)))
            inside = inside[runs[rows[inside]] == runs[there[inside]]]
            yield share, rows[inside], there[inside]


def _at_length_one(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    length = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    np.divide(rows, length, out=rows, where=length > 0)
    return rows


def _numbers(values: Any, name: str, dimensions: int) -> NDArray[np.float32]:
    """Return values as float32, checked."""
    shape = "[n, d]" if dimensions == 2 else "[n]"
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        raise _core.SettingError(
            f"{name}: rows of different lengths; {shape} is expected"
        ) from None
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{name}: {array.dtype} where numbers are expected")
    if array.ndim != dimensions:
        raise _core.SettingError(f"{name}: an array of shape {array.shape}; {shape} is expected")
    with np.errstate(over="ignore"):
        array = array.astype(np.float32, copy=False)
    finite = np.isfinite(array) if dimensions == 1 else np.isfinite(array).all(axis=1)
    if not finite.all():
        row = int(np.argmin(finite))
        what = "NaN" if np.isnan(array[row]).any() else "an infinity"
        raise _core.SettingError(f"{name}[{row}] holds {what}")
    return array


def _runs(groups: Any, rows: int) -> NDArray[np.int64]:
    """Return the number of each row's run of equal groups; a row of the group -1 is its own."""
    if groups is None:
        return np.zeros(rows, np.int64)
    given = np.asarray(groups)
    if given.size and given.dtype.kind not in "iu":
        raise TypeError(f"groups: {given.dtype} where whole numbers are expected")
    if given.shape != (rows,):
        raise _core.SettingError(f"groups: an array of shape {given.shape} for {rows} rows")
    if rows and given.min() < -1:
        row = int(np.argmax(given < -1))
        raise _core.SettingError(f"groups[{row}] ({given[row]}) must be at least -1")
    parted = np.ones(rows, bool)
    parted[1:] = (given[1:] != given[:-1]) | (given[1:] == -1)
    return np.cumsum(parted)


def _checked_weights(weights: Sequence[float]) -> tuple[float, ...]:
    if isinstance(weights, str | bytes) or not hasattr(weights, "__iter__"):
        raise TypeError(f"weights ({weights!r}) must be a list of numbers")
    for i, weight in enumerate(weights):
        if isinstance(weight, bool | str | bytes) or not hasattr(weight, "__float__"):
            raise TypeError(f"weights[{i}] ({weight!r}) must be a number")
        if not 0.0 <= float(weight) < math.inf:
            raise _core.SettingError(f"weights[{i}] ({weight!r}) must be finite and at least 0")
    return tuple(float(weight) for weight in weights)
