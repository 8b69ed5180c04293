"""The laws of a splitter, each as a function that fails when it is broken.

`check` runs them all over one text and its chunks.
"""

from __future__ import annotations

from itertools import pairwise

from table import Cell

import cantle
import oracle
from cantle.strategies.pieces import ByPieces

_LINE_STARTS = tuple(oracle.BREAKS)


def spans(chunks: cantle.Chunks) -> list[tuple[int, int]]:
    return list(zip(chunks.char_start.tolist(), chunks.char_end.tolist(), strict=True))


def spans_lie_inside_and_in_order(text: str, chunks: cantle.Chunks) -> None:
    """Law 1, and the strict order of law 5: no chunk lies inside another."""
    for start, end in spans(chunks):
        assert 0 <= start < end <= len(text)
    for before, after in pairwise(spans(chunks)):
        assert before[0] < after[0]
        assert before[1] < after[1]
    assert chunks.ordinal.tolist() == list(range(len(chunks)))


def both_spans_select_the_same_text(text: str, chunks: cantle.Chunks) -> None:
    """Law 2, and law 1's "on character boundaries": half a character would not decode."""
    data = text.encode()
    byte_spans = zip(chunks.byte_start.tolist(), chunks.byte_end.tolist(), strict=True)
    for (a, b), (start, end), chunk, made in zip(
        byte_spans, spans(chunks), chunks, chunks.texts, strict=True
    ):
        assert data[a:b].decode() == text[start:end] == chunk.text == made


def nothing_is_lost(cell: Cell, chunks: cantle.Chunks) -> None:
    """Law 3: without overlap and trimming chunks tile; trimming loses blanks only."""
    text, reached = cell.text, 0
    for start, end in [*spans(chunks), (len(text), len(text))]:
        gap = text[reached:start]
        assert oracle.is_blank(gap)
        if not cell.trim:
            assert not gap
        if not cell.strategy.overlap:
            assert start >= reached
        reached = end


def no_chunk_is_over_the_limit(cell: Cell, chunks: cantle.Chunks) -> None:
    """Law 4, counted by the real counter; an oversize chunk is one cluster, and flagged."""
    borders = set(oracle.borders(cell.text))
    whole = cell.strategy.strategy == "whole"
    for (start, end), size, flags in zip(
        spans(chunks), chunks.size.tolist(), chunks.flags.tolist(), strict=True
    ):
        assert size == cell.counted.count(cell.text[start:end])
        over = size > cell.strategy.size
        assert flags & cantle.OVERSIZE == (cantle.OVERSIZE if over else 0)
        if over and not whole:
            assert not [at for at in borders if start < at < end], "it could be divided"


def overlap_is_at_most_what_was_asked(cell: Cell, chunks: cantle.Chunks) -> None:
    """Law 5, counted by the real counter."""
    for before, after in pairwise(spans(chunks)):
        shared = cell.text[after[0] : before[1]]
        assert cell.counted.count(shared) <= cell.strategy.overlap if shared else True


def no_cluster_is_cut(text: str, chunks: cantle.Chunks) -> None:
    assert {at for span in spans(chunks) for at in span} <= set(oracle.borders(text))


def trimmed_chunks_have_no_blanks_around_them(cell: Cell, chunks: cantle.Chunks) -> None:
    """Law 9. An indent stays where the chunk starts its line."""
    if not cell.trim:
        return
    text = cell.text
    for start, end in spans(chunks):
        assert not oracle.is_blank(text[start:end])
        parts = oracle.clusters(text, start, end)
        assert not oracle.is_blank(text[slice(*parts[-1])])
        visible = next(a for a, b in parts if not oracle.is_blank(text[a:b]))
        if visible > start:
            assert start == 0 or text[:start].endswith(_LINE_STARTS)
            assert not set(text[start:visible]) & set(oracle.BREAKS), "a blank line stayed"


def small_chunks_are_merged(cell: Cell, chunks: cantle.Chunks) -> None:
    """A chunk below `min_size` has no neighbour that it fits together with."""
    # Those that ask a model do not merge.
    asks = isinstance(cell.strategy, ByPieces)
    least = 0 if asks else getattr(cell.strategy, "min_size", 0)
    if not cell.counted.adds_up:
        return
    for (before, after), small in zip(
        pairwise(spans(chunks)), map(min, pairwise(chunks.size.tolist())), strict=True
    ):
        if small < least:
            joined = cell.text[before[0] : after[1]]
            assert cell.counted.count(joined) > cell.strategy.size


def parents_are_unions(cell: Cell, chunks: cantle.Chunks) -> None:
    """Each level above is tiled by the one below: from the first one's start to the last's end.

    Sizes are counted by the real counter, and are over the limit of a level for one chunk alone.
    """
    limits = list(getattr(cell.strategy, "limits", ()))
    assert chunks.level_number == 1 + len(limits)
    below = chunks
    while (above := below.parents) is not None:
        limit = limits.pop()
        groups: dict[int, list[tuple[int, int]]] = {}
        for row, span in zip(below.parent.tolist(), spans(below), strict=True):
            groups.setdefault(row, []).append(span)
        assert list(groups) == list(range(len(above)))
        for (start, end), size, flags, mine in zip(
            spans(above), above.size.tolist(), above.flags.tolist(), groups.values(), strict=True
        ):
            assert (start, end) == (mine[0][0], mine[-1][1])
            assert size == cell.counted.count(cell.text[start:end])
            assert bool(flags & cantle.OVERSIZE) == (size > limit)
            assert size <= limit or len(mine) == 1
        spans_lie_inside_and_in_order(cell.text, above)
        both_spans_select_the_same_text(cell.text, above)
        ids_are_unique(above)
        below = above


def ids_are_unique(chunks: cantle.Chunks) -> None:
    assert len(set(chunks.ids)) == len(chunks)


def check(cell: Cell, chunks: cantle.Chunks) -> None:
    """Assert every law about one text and its chunks."""
    spans_lie_inside_and_in_order(cell.text, chunks)
    both_spans_select_the_same_text(cell.text, chunks)
    nothing_is_lost(cell, chunks)
    no_chunk_is_over_the_limit(cell, chunks)
    overlap_is_at_most_what_was_asked(cell, chunks)
    no_cluster_is_cut(cell.text, chunks)
    trimmed_chunks_have_no_blanks_around_them(cell, chunks)
    small_chunks_are_merged(cell, chunks)
    ids_are_unique(chunks)
