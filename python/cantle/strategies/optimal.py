"""`Optimal`: the best of all segmentations into sentences that belong together."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from cantle.embed.door import BATCH_SIZE, Embedder, Progress
from cantle.limits import whole
from cantle.strategies.meaning import ByMeaning
from cantle.strategies.splitting import Splitting
from cantle.units import Unit


@dataclass(frozen=True)
class Optimal(ByMeaning, Splitting):
    """Of all ways to cut a text between its sentences the one whose chunks hold together best.

    Each sentence is embedded. A segmentation costs the squared distances of the sentences' vectors,
    at length 1, to the mean of their chunk, plus a penalty for each chunk; the cheapest one under
    `size` is found by dynamic programming. The penalty is that at which the mean size is nearest
    to `target`. That is the optimal partitioning of Jackson et al. (2005, arXiv math/0309285) with
    Fisher's cost (1958), with vectors in place of numbers, sizes in `unit`, and a penalty that is
    sought. Of `Blocks`, a table or a block of code counts as one sentence, a heading goes with what
    stands below it. The distances of neighbours are in `chunks.distances`.

    Args:
        size: Most units in a chunk, overlap included.
        overlap: Most units that a chunk repeats from the one before; whole sentences.
        unit: What sizes count: `"bytes"`, `"chars"`, `"words"`, a bundled vocabulary's name, the
            path of a `tokenizer.json`, a tokenizer or a callable.
        trim: Drop the blanks around each chunk.
        embedder: As for `Semantic`.
        target: The mean size that a document's chunks should have, without `overlap`; sentences
            over `size` do not count. Sentences that do not differ are not cut apart for it.
            Default: two thirds of `size`.
        buffer: How many sentences before and behind are embedded together with each.
        min_size: Of all segmentations those with the fewest chunks below this count. Default: 0.
        prefix: What stands before the text in `embed_text`, if both are to keep `size`; as for
            `Structural`.
        batch_size: Most texts in a call of the embedder.
        progress: Called after each batch with how many texts are embedded, and how many there are.
        name: The name in the chunks' ids. Default: `optimal`.

    Example:
        >>> import cantle
        >>> topics = cantle.embed.Keyword(["tea pot", "rain cloud"])
        >>> optimal = cantle.Optimal(8, unit="words", embedder=topics, target=4)
        >>> optimal.split("Tea pot. Pour the tea. Rain. The cloud.").texts
        ['Tea pot. Pour the tea.', 'Rain. The cloud.']
    """

    strategy = "optimal"

    size: int = 512
    overlap: int = 0
    unit: Unit = "cl100k_base"
    trim: bool = True
    _: KW_ONLY
    embedder: Embedder | str = "static"
    target: int | None = None
    buffer: int = 0
    min_size: int | None = None
    prefix: str | None = None
    batch_size: int = BATCH_SIZE
    progress: Progress | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        self._check_embedder()
        target, least = self._sizes(0)
        object.__setattr__(self, "buffer", whole("buffer", self.buffer, 0))
        template = self._check_prefix()
        best = (("best", 0.0), False, None, self.buffer, least, target, 1, template)
        self._build(core="meaning", meaning=best)
