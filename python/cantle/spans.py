"""Spans: a caller's own, checked before chunks are made of them; what spans have in common."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from cantle import _core
from cantle.documents import Text

if TYPE_CHECKING:
    from numpy.typing import NDArray


def checked_spans(
    number: int, text: Text, spans: Iterable[tuple[int, int]], offsets: str
) -> NDArray[np.int64]:
    """Return byte start, byte end and character start of each span; int64 [n, 3]."""
    place = f"spans[{number}]"
    pairs = []
    for j, span in enumerate(spans):
        try:
            start, end = (int(at.__index__()) for at in span)
        except (AttributeError, TypeError, ValueError):
            raise TypeError(f"{place}[{j}] ({span!r}) must be a (start, end) pair") from None
        if not 0 <= start < end:
            raise _core.SettingError(f"{place}[{j}] ({start}, {end}) is empty or reversed")
        if end >= 2**63:
            raise _core.SettingError(f"{place}[{j}] ({start}, {end}) lies outside the text")
        pairs.append((start, end))
    for j, (before, after) in enumerate(pairwise(pairs)):
        if after[0] <= before[0]:
            raise _core.SettingError(f"{place}[{j + 1}] {after} does not start behind {before}")
    flat = [at for pair in pairs for at in pair]
    other = _core.span_offsets(text, number, flat, offsets == "chars").reshape(-1, 2)
    given = np.asarray(flat, np.int64).reshape(-1, 2)
    byte, char = (other, given) if offsets == "chars" else (given, other)
    return np.column_stack([byte, char[:, :1]])


def repeated(doc: NDArray[Any], start: NDArray[np.int64], end: NDArray[np.int64]) -> int:
    """Return how much of some spans lies in others before them: their lengths less their union.

    Args:
        doc: The document of each; spans of different documents share nothing.
        start: Where each starts, in any order.
        end: Where each ends.
    """
    if len(doc) < 2:
        return 0
    order = np.lexsort((start, doc))
    # Side by side, so that one maximum runs through all documents.
    shift = doc[order].astype(np.int64) * (int(end.max()) + 1)
    first, last = start[order] + shift, end[order] + shift
    reached = np.maximum.accumulate(last)[:-1]
    return int(np.clip(np.minimum(last[1:], reached) - first[1:], 0, None).sum())
