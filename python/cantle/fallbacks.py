"""`Fallback`: where a strategy could not do what it is for, and another one cut in its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

FALLBACK = 1 << 16
"""The flag of such chunks. The lower half of the bits is the core's."""


class Fallback(NamedTuple):
    """A run of sentences that `Recursive` divided, as no answer of the model could be used."""

    doc: int
    """The number of their document."""
    id: str
    """Its id."""
    first: int
    """The first sentence, counted from 1 in what was cut: the document, or the parent."""
    last: int
    """The last sentence."""
    byte_start: int
    """Where the first one starts in the document, in UTF-8 bytes."""
    byte_end: int
    """Where the last one ends."""
    source: int
    """The row of the parent, or again the document's number."""
    reason: str
    """What was wrong with the model's last answer."""


def flagged(columns: dict[str, Any], fallbacks: Sequence[Fallback]) -> NDArray[np.uint32]:
    """Return the flags of chunks with `FALLBACK` where one touches such a run."""
    flags = np.array(columns["flags"], np.uint32)
    source = columns.get("parent", columns["doc"])
    for one in fallbacks:
        rows = (source == one.source) & (columns["doc"] == one.doc)
        rows &= (columns["byte_start"] < one.byte_end) & (columns["byte_end"] > one.byte_start)
        flags[rows] |= np.uint32(FALLBACK)
    flags.setflags(write=False)
    return flags
