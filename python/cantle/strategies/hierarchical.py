"""`Hierarchical`: small chunks to find, in groups of like neighbours to read."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np

from cantle.embed.door import BATCH_SIZE, Embedder, Progress
from cantle.limits import number, whole
from cantle.strategies.levelled import Levelled, pair
from cantle.strategies.meaning import ByMeaning
from cantle.strategies.splitting import Splitting
from cantle.units import Unit


@dataclass(frozen=True)
class Hierarchical(ByMeaning, Levelled, Splitting):
    """Three levels: small chunks, groups of like neighbours among them, and groups of those.

    The chunks that come back are level 3, the finest: paragraphs and sentences packed as by
    `Recursive`. `chunks.parents` is level 2, `chunks.parents.parents` level 1, and
    `chunks.level(n)` any of them. A group is exactly the union of what it holds, from the first
    one's start to the last one's end, and lies within its level's size.

    Each chunk of level 3 is embedded. Neighbours are joined bottom up, by Ward's linkage under the
    constraint that only neighbours are: CONISS (Grimm 1987, Computers & Geosciences 13). Of the
    pairs that fit together the one goes first whose union adds least to the sum of squares within
    groups; of two chunks that is 1 less the cosine of their vectors. Of equal pairs it is the
    leftmost. Without `distances` and `groups` all is joined that fits. Level 1 goes on where level
    2 ends. Over `Blocks` the parts of a table or a block of code are joined before all else, then a
    heading and what stands below it.

    Args:
        size: Most units in a chunk of level 3, overlap included. Default: 128.
        overlap: Most units that a chunk of level 3 repeats from the one before; groups then overlap
            as their first and last chunks do.
        unit: What sizes count: `"bytes"`, `"chars"`, `"words"`, a bundled vocabulary's name, the
            path of a `tokenizer.json`, a tokenizer or a callable.
        trim: Drop the blanks around each chunk.
        embedder: As for `Semantic`.
        parent_sizes: Most units in a group of level 1, and of level 2. Default: 16 and 4 times
            `size`.
        distances: For levels 1 and 2 the most that joining two groups may add to the sum of squares
            within; 0 or more. Default: any.
        groups: For levels 1 and 2 how many groups of a document are enough: no more are joined
            then. Default: 1.
        batch_size: Most texts in a call of the embedder.
        progress: Called after each batch with how many texts are embedded, and how many there are.
        name: The name in the chunks' ids; groups have `_level1` and `_level2` behind it. Default:
            `hierarchical`.

    Example:
        >>> import cantle
        >>> text = "Warm the pot. Then pour the tea. Rain fell. The rain was cold."
        >>> embedder = cantle.embed.Keyword(["tea pot", "rain"])
        >>> hierarchical = cantle.Hierarchical(
        ...     4, unit="words", embedder=embedder, parent_sizes=(20, 10), distances=(9, 0.5)
        ... )
        >>> chunks = hierarchical.split(text)
        >>> chunks.texts
        ['Warm the pot.', 'Then pour the tea.', 'Rain fell.', 'The rain was cold.']
        >>> chunks.level(2).texts
        ['Warm the pot. Then pour the tea.', 'Rain fell. The rain was cold.']
        >>> chunks[3].parent.parent.text == text
        True
    """

    strategy = "hierarchical"

    size: int = 128
    overlap: int = 0
    unit: Unit = "cl100k_base"
    trim: bool = True
    _: KW_ONLY
    embedder: Embedder | str = "static"
    parent_sizes: tuple[int, int] | None = None
    distances: tuple[float, float] | None = None
    groups: tuple[int, int] | None = None
    batch_size: int = BATCH_SIZE
    progress: Progress | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        self._check_embedder()
        sizes = self._check_parent_sizes()
        far, enough = (np.inf, np.inf), (1, 1)
        if self.distances is not None:
            one, other = pair("distances", self.distances)
            far = (number("distances", one, 0), number("distances", other, 0))
            object.__setattr__(self, "distances", far)
        if self.groups is not None:
            one, other = pair("groups", self.groups)
            enough = (whole("groups", one, 1), whole("groups", other, 1))
            object.__setattr__(self, "groups", enough)
        # The core makes level 2 first.
        levels = [(sizes[i], (far[i], enough[i])) for i in (1, 0)]
        self._build(core="hierarchical", hierarchy=levels)
