"""`Allowed`: the rows that a search may rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from cantle import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray

Allow: TypeAlias = Any
"""A mask [n], an array of rows, a `slice` or a `range`; None for all rows."""


@dataclass(frozen=True, eq=False)
class Allowed:
    """Rows in ascending order, all of a range or some of it."""

    start: int
    stop: int
    rows: NDArray[np.int64] | None = None
    """The rows; None: every one from `start` to `stop`."""

    def __len__(self) -> int:
        return self.stop - self.start if self.rows is None else len(self.rows)

    @property
    def contiguous(self) -> bool:
        """Whether the rows stand side by side."""
        return self.rows is None

    def all(self) -> NDArray[np.int64]:
        """Return the rows."""
        return np.arange(self.start, self.stop) if self.rows is None else self.rows

    def pick(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows at these places."""
        return places + self.start if self.rows is None else self.rows[places]

    def mask(self, n: int) -> NDArray[np.bool_]:
        """Return a mark for each of `n` rows."""
        marks = np.zeros(n, np.bool_)
        marks[slice(self.start, self.stop) if self.rows is None else self.rows] = True
        return marks

    def without(self, out: NDArray[np.bool_] | None) -> Allowed:
        """Return these rows less those that are marked."""
        if out is None:
            return self
        if self.rows is None:
            part = out[self.start : self.stop]
            return of_rows(np.flatnonzero(~part) + self.start) if part.any() else self
        part = out[self.rows]
        return of_rows(self.rows[~part]) if part.any() else self


def of_rows(rows: NDArray[np.int64]) -> Allowed:
    """Return ascending rows, as a range where they are one."""
    if not len(rows):
        return Allowed(0, 0)
    first, last = int(rows[0]), int(rows[-1])
    if last - first + 1 == len(rows):
        return Allowed(first, last + 1)
    return Allowed(first, last + 1, rows)


def allowed(allow: Allow, n: int) -> Allowed:
    """Return what `allow` says of `n` rows. Rows that are not there, and doubles, do no harm.

    Raises:
        TypeError: It is none of the forms.
        SettingError: A mask has another length.
    """
    if allow is None:
        return Allowed(0, n)
    if isinstance(allow, slice | range):
        return _of_steps(allow, n)
    array = np.asarray(allow)
    if array.ndim == 1 and array.dtype == np.bool_:
        if len(array) != n:
            raise _core.SettingError(f"allow has {len(array)} marks, the index {n} rows")
        return of_rows(np.flatnonzero(array))
    if array.ndim != 1 or (array.dtype.kind not in "iu" and len(array)):
        raise TypeError(
            f"allow ({array.dtype} {array.shape}) must be a mask, an array of rows, a slice or a "
            "range"
        )
    kept = array[(array >= 0) & (array < n)].astype(np.int64) if len(array) else np.empty(0, int)
    if not (np.diff(kept) > 0).all():
        kept = np.unique(kept)
    return of_rows(kept)


def _of_steps(allow: slice | range, n: int) -> Allowed:
    """A slice counts from the end where Python's do; a range names rows, there or not."""
    steps = range(*allow.indices(n)) if isinstance(allow, slice) else allow
    if steps.step < 0:
        steps = steps[::-1]
    if steps.step == 1:
        start = min(max(steps.start, 0), n)
        return Allowed(start, max(start, min(steps.stop, n)))
    return allowed(np.arange(steps.start, steps.stop, steps.step), n)
