"""`Nested`: chunks within larger chunks within still larger ones, by size alone."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from cantle.strategies.levelled import Levelled
from cantle.strategies.splitting import Splitting
from cantle.units import Unit


@dataclass(frozen=True)
class Nested(Levelled, Splitting):
    """Three levels, top down: `Recursive` by the largest size, within its chunks by the next.

    The chunks that come back are level 3, the finest; `chunks.parents` is level 2,
    `chunks.parents.parents` level 1, and `chunks.level(n)` any of them. In one call it does what
    `split_within` does level by level, over `Blocks` as well. A chunk of level 1 or 2 is exactly
    the union of what it holds.

    Args:
        size: Most units in a chunk of level 3, overlap included. Default: 128.
        overlap: Most units that a chunk of level 3 repeats from the one before, within the same
            parent.
        unit: What sizes count: `"bytes"`, `"chars"`, `"words"`, a bundled vocabulary's name, the
            path of a `tokenizer.json`, a tokenizer or a callable.
        trim: Drop the blanks around each chunk.
        parent_sizes: Most units in a chunk of level 1, and of level 2. Default: 16 and 4 times
            `size`.
        name: The name in the chunks' ids; the larger ones have `_level1` and `_level2` behind it.
            Default: `nested`.

    Example:
        >>> import cantle
        >>> nested = cantle.Nested(2, unit="words", parent_sizes=(8, 4))
        >>> chunks = nested.split("One two. Three four.\\n\\nFive six. Seven.\\n\\nEight. Nine.")
        >>> chunks.texts
        ['One two.', 'Three four.', 'Five six.', 'Seven.', 'Eight. Nine.']
        >>> chunks.level(2).texts
        ['One two. Three four.', 'Five six. Seven.', 'Eight. Nine.']
        >>> chunks.level(1).texts
        ['One two. Three four.\\n\\nFive six. Seven.', 'Eight. Nine.']
    """

    strategy = "nested"

    size: int = 128
    overlap: int = 0
    unit: Unit = "cl100k_base"
    trim: bool = True
    _: KW_ONLY
    parent_sizes: tuple[int, int] | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        first, second = self._check_parent_sizes()
        self._build(core="hierarchical", hierarchy=[(second, None), (first, None)])
