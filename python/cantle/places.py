"""On which line and page a chunk stands: counted when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cantle.chunks import Chunks


def places(chunks: Chunks, what: str, offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each chunk the line or the page on which one of its bytes stands; int64 [chunks].

    Args:
        chunks: The chunks.
        what: `"line"` or `"page"`.
        offsets: For each chunk the byte, counted from its document's start.
    """
    found = np.zeros(len(chunks), np.int64)
    given = chunks.documents.blocks
    blocks = chunks._columns.get("block_start")
    for doc in np.unique(chunks.doc).tolist():
        rows = chunks.doc == doc
        own = None if given is None else given[doc]
        if what == "page" and own is not None and own.page is not None and blocks is not None:
            pages: NDArray[Any] = np.append(own.page, np.int32(-1))
            found[rows] = pages[np.minimum(blocks[rows], len(own))]
            continue
        text = chunks.documents.texts[doc]
        data = np.frombuffer(text.encode() if isinstance(text, str) else text, np.uint8)
        if what == "page":
            breaks = np.flatnonzero(data == 12)
        else:
            lf, cr = data == 10, data == 13
            cr[:-1] &= ~lf[1:]
            breaks = np.flatnonzero(lf | cr)
        found[rows] = 1 + np.searchsorted(breaks, offsets[rows])
    return found
