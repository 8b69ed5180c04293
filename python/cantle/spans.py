"""Spans: a caller's own, checked before chunks are made of them; what spans have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from cantle import _core, units
from cantle.documents import Arrow, Documents, Text, arrow_strings, is_arrow
from cantle.structure import Blocks

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


def columns_at(
    texts: Sequence[Text | Blocks] | Arrow,
    spans: Sequence[Iterable[tuple[int, int]]],
    offsets: str,
    ids: Iterable[str] | None,
    metadata: Iterable[Mapping[str, Any]] | None,
    unit: units.Unit,
) -> tuple[Documents, dict[str, Any]]:
    """Return the documents and the columns of chunks at a caller's positions.

    See `Chunks.from_spans`.
    """
    if offsets not in ("chars", "bytes"):
        raise _core.SettingError(f"offsets ({offsets!r}) must be 'chars' or 'bytes'")
    if isinstance(texts, str | bytes):
        raise TypeError("texts must be a sequence of texts, not one text")
    given = arrow_strings(texts, "texts") if is_arrow(texts) else texts
    documents = Documents(given, ids, metadata)  # type: ignore[arg-type]
    if len(spans) != len(documents):
        raise _core.SettingError(f"spans has {len(spans)} entries for {len(documents)} texts")
    rows = [checked_spans(i, text, spans[i], offsets) for i, text in enumerate(documents.texts)]
    doc = np.repeat(np.arange(len(documents)), [len(row) for row in rows])
    # Columns: byte start, byte end, char start.
    table = np.concatenate([*rows, np.empty((0, 3), np.int64)])
    resolved = units.resolve(unit)
    spans_of = (table[:, 0], table[:, 1], table[:, 2])
    columns = units.whole(resolved).split_within(documents.texts, doc, *spans_of, 1)
    columns.pop("parent", None)
    if (forms := documents.forms()) is not None:
        columns |= _core.carried(
            documents.texts, forms, columns["doc"], columns["byte_start"], columns["byte_end"]
        )
        columns["flags"] = columns.pop("part")
    return documents, columns
