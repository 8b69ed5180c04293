"""From chunks up to those that they lie in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cantle import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cantle.chunks import Chunks


def up(chunks: Chunks, number: int) -> tuple[Chunks, NDArray[np.int64]]:
    """Return the chunks of a level, and for each of `chunks` the row that it lies in.

    Args:
        chunks: The finest level.
        number: The level; 1 is the outermost.

    Raises:
        SettingError: There is no such level.
    """
    own = chunks.level_number
    if isinstance(number, bool) or not isinstance(number, int | np.integer):
        raise TypeError(f"level ({number!r}) must be a whole number")
    if not 1 <= number <= own:
        raise _core.SettingError(f"level ({number}) must be from 1 to {own}, the finest")
    found, rows = chunks, np.arange(len(chunks), dtype=np.int64)
    while found.parents is not None and number < own:
        rows = found.parent[rows]
        found, own = found.parents, own - 1
    return found, rows
