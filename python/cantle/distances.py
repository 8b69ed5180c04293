"""`Distances`: how far the sentences of documents are apart, for a person to look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Distances:
    """What was embedded to find borders, a row for each sentence or block, in order.

    A distance is 1 less the cosine of two vectors, from 0 to 2; a zero vector has the cosine 0.
    """

    doc: NDArray[np.int32]
    """The number of each row's document."""
    byte_start: NDArray[np.int64]
    """Where the sentence starts, in UTF-8 bytes; behind the headings above it."""
    byte_end: NDArray[np.int64]
    """Where it ends, in UTF-8 bytes."""
    distance: NDArray[np.float64]
    """The distance to the next sentence; NaN for the last of a document, or of a section."""
    threshold: NDArray[np.float64]
    """The distance above which the document, or the section, was cut; NaN where none was used."""

    def __len__(self) -> int:
        return len(self.doc)

    def __repr__(self) -> str:
        return f"Distances({len(self)})"
