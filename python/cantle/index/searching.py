"""`Index`: the face that all indexes share. How rows are found stands in each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from cantle.index.allowed import Allow, Allowed, allowed
from cantle.index.found import Found, FoundAll, Plan, padded
from cantle.index.vectors import as_queries, as_query
from cantle.limits import whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

_Self = TypeVar("_Self", bound="Index")


class Index:
    """Vectors that are searched for the rows nearest to a query. Rows are numbered from 0.

    An index never changes: several threads may search it. It pickles.
    """

    metric: str
    """`cosine`, `ip` (inner product) or `l2` (Euclidean distance, told with a minus)."""
    dimensions: int
    """Numbers in a vector."""

    def __init__(self, metric: str, rows: int, dimensions: int, zero: NDArray[np.int64]) -> None:
        """Made by `build` or `open`; `zero` are the rows that are never ranked."""
        self.metric, self.dimensions, self._rows = metric, dimensions, rows
        self._out = _marked(rows, zero) if len(zero) else None
        self._rankable = Allowed(0, rows).without(self._out)

    def __len__(self) -> int:
        return self._rows

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({len(self):,} rows, {self.dimensions} dimensions, "
            f"{self.metric}, {self.unranked:,} unranked)"
        )

    @property
    def unranked(self) -> int:
        """How many rows no search ranks: zero vectors, and those taken out by `without`."""
        return self._rows - len(self._rankable)

    def search(
        self, query: Any, k: int = 5, *, ef: int | None = None, allow: Allow = None
    ) -> Found:
        """Return the `k` rows that are nearest to one query, the nearest first.

        Of rows with the same score the one with the lower number comes first. If `k` allowed rows
        can be ranked, `k` come back. A query that is zero has no direction: under cosine nothing
        is near it, and nothing comes back.

        Args:
            query: A vector of `dimensions` numbers; it is converted to float32.
            k: Rows wanted, at least 1.
            ef: Candidates that a graph is searched for, at least 1; exact indexes need none.
            allow: Rows that may come back: a mask [n], an array of rows, a `slice` or a `range`.
                None: all. Rows that are not there, and doubles, do no harm.

        Raises:
            TypeError: The query is no numbers, `k` or `ef` no whole number, `allow` no rows.
            SettingError: The query has another length, a NaN or an infinity; `k` or `ef` is
                smaller than 1; the mask has another length.
        """
        given = as_query(query, self.dimensions if self._rows or self.dimensions else None)
        return self._search(given, k, ef, allow)[0]

    def search_all(
        self, queries: Any, k: int = 5, *, ef: int | None = None, allow: Allow = None
    ) -> FoundAll:
        """Return what `search` does for each of many queries, as matrices.

        Args:
            queries: [queries, dimensions].
            k: Rows wanted for each, at least 1.
            ef: As in `search`.
            allow: As in `search`, for all of the queries.

        Raises:
            TypeError: As in `search`.
            SettingError: As in `search`; the message names the query.
        """
        given = as_queries(queries, self.dimensions if self._rows or self.dimensions else None)
        return self._search(given, k, ef, allow)

    def without(self: _Self, rows: Any) -> _Self:
        """Return the same index without some rows: they keep their numbers and never come back.

        The vectors are shared, not copied. Once many rows are out, building anew makes the index
        smaller, and one by a graph faster.

        Args:
            rows: In the forms of `allow`.

        Raises:
            TypeError: As in `search`.
            SettingError: As in `search`.
        """
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        out = allowed(rows, self._rows).mask(self._rows)
        other._out = out if self._out is None else out | self._out
        other._rankable = Allowed(0, self._rows).without(other._out)
        return other

    def _search(
        self, queries: NDArray[np.float32], k: int, ef: int | None, allow: Allow
    ) -> FoundAll:
        k = whole("k", k, 1)
        ef = None if ef is None else whole("ef", ef, 1)
        rows = self._rankable
        if allow is not None:
            rows = allowed(allow, self._rows).without(self._out)
        asked = Asked(self, rows, k, ef, allow is not None)
        if not len(rows):
            why = "no allowed row can be ranked" if asked.filtered else "the index has no row"
            return self._nothing(len(queries), asked.plan("exact", why))
        if self.metric == "cosine" and not (real := _real(queries)).all():
            why = "the query is zero: it has no cosine with any vector"
            found = list(self._nothing(len(queries), asked.plan("exact", why)))
            if real.any():
                for i, one in zip(
                    np.flatnonzero(real), self._nearest(queries[real], asked), strict=True
                ):
                    found[i] = one
            return padded(found, min(k, self._rows))
        return self._nearest(queries, asked)

    def _nothing(self, queries: int, plan: Plan) -> FoundAll:
        none = Found(np.empty(0, np.int64), np.empty(0, np.float32), plan)
        return padded([none] * queries, min(plan.k, self._rows))

    def _distinct(self) -> int:
        return len(self._rankable)

    def _nearest(self, queries: NDArray[np.float32], asked: Asked) -> FoundAll:
        raise NotImplementedError


class Asked(NamedTuple):
    """What is asked of an index, checked; there is a row to rank."""

    of: Index
    rows: Allowed
    k: int
    ef: int | None
    filtered: bool

    def plan(self, kind: str, reason: str, ef: int | None = None) -> Plan:
        """Return the plan of answering it in some way."""
        index = self.of
        return Plan(
            kind,
            reason,
            index.metric,
            index.dimensions,
            len(index),
            index.unranked,
            len(self.rows),
            index._distinct(),
            self.k,
            ef,
        )


def _real(queries: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Return which queries have a number other than zero."""
    if len(queries) == 1:  # The quickest way.
        return np.array([np.count_nonzero(queries) > 0])
    return np.asarray(queries.any(axis=1))


def _marked(rows: int, marked: NDArray[np.int64]) -> NDArray[np.bool_]:
    marks = np.zeros(rows, np.bool_)
    marks[marked] = True
    return marks
