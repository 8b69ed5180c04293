"""`Window`: a window of fixed size that slides by `size - overlap`."""

from dataclasses import KW_ONLY, dataclass

from cantle.strategies.splitting import Splitting
from cantle.units import Unit


@dataclass(frozen=True)
class Window(Splitting):
    """Windows of `size` units, each starting `size - overlap` units behind the one before.

    A text of n units has `1 + ceil((n - size) / (size - overlap))` windows, or one. Windows of
    words are always so. In other units a border that would cut a grapheme cluster moves: the end
    back to the last border that keeps `size` when the window is counted anew, the start on to the
    first border that leaves at most `overlap`.

    Args:
        size: Most units in a window, overlap included.
        overlap: Units that a window repeats from the one before.
        unit: What sizes count: `"bytes"`, `"chars"`, `"words"`, a bundled vocabulary's name, the
            path of a `tokenizer.json`, a tokenizer or a callable.
        trim: Drop the blanks around each window; a blank window goes.
        name: The name in the chunks' ids. Default: `window`.
    """

    strategy = "window"

    size: int = 512
    overlap: int = 0
    unit: Unit = "cl100k_base"
    trim: bool = True
    _: KW_ONLY
    name: str | None = None

    def __post_init__(self) -> None:
        self._build()
