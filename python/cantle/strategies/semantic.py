"""`Semantic`: cuts where neighbouring sentences drift apart."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from cantle.embed.door import BATCH_SIZE, Embedder, Progress
from cantle.strategies.meaning import ByThreshold
from cantle.strategies.splitting import Splitting
from cantle.units import Unit


@dataclass(frozen=True)
class Semantic(ByThreshold, Splitting):
    """Sentences that are like each other; a chunk ends where the next one is far from the last.

    Each sentence is embedded; how far two neighbours are apart is 1 less the cosine of their
    vectors. A chunk ends behind a sentence if the distance to the next is greater than a threshold
    and the chunk holds `min_size`, or if the next one does not fit. Of `Blocks`, a table or a block
    of code counts as one sentence, a heading goes with what stands below it. The distances are in
    `chunks.distances`.

    At most one of `percentile`, `distance`, `deviations` and `automatic` says what the threshold
    is. Without any it is the 85th percentile.

    Args:
        size: Most units in a chunk, overlap included.
        overlap: Most units that a chunk repeats from the one before; whole sentences.
        unit: What sizes count: `"bytes"`, `"chars"`, `"words"`, a bundled vocabulary's name, the
            path of a `tokenizer.json`, a tokenizer or a callable.
        trim: Drop the blanks around each chunk.
        embedder: A callable from a list of texts to float32 [texts, d]; or a name: `"static"`, the
            word vectors of `cantle[embed]`, `"minilm"`, `"keyword:TOPIC|TOPIC"`, the folder of a
            model, or `"openai:MODEL@URL"`.
        target: About how many units a chunk should have. Default: two thirds of `size`.
        percentile: This percentile, 0 to 100, of the distances of each document.
        distance: This distance, 0 to 2, in every document.
        deviations: So many standard deviations above the mean distance of each document.
        automatic: In each document the largest of its distances whose chunks have at most `target`
            units on average.
        mode: `"previous"` compares a sentence with the one before, `"centroid"` with the mean of
            all sentences that the open chunk holds, each at length 1. The threshold comes from the
            distances of neighbours in both.
        buffer: How many sentences before and behind are embedded together with each.
        min_size: Units that a chunk holds before it may end at a distance. Default: two fifths of
            `target`, or 0 with `distance`. A document's last chunk may hold less.
        min_sentences: Sentences that a chunk holds before it may end at a distance. A document's
            last chunk may hold fewer, and one whose next sentence does not fit.
        prefix: What stands before the text in `embed_text`, if both are to keep `size`; as for
            `Structural`.
        batch_size: Most texts in a call of the embedder.
        progress: Called after each batch with how many texts are embedded, and how many there are.
        name: The name in the chunks' ids. Default: `semantic`.

    Example:
        >>> import cantle
        >>> text = "Warm the pot. Then pour the tea. Rain fell. The rain was cold."
        >>> embedder = cantle.embed.Keyword(["tea pot", "rain"])
        >>> semantic = cantle.Semantic(20, unit="words", embedder=embedder, distance=0.5)
        >>> semantic.split(text).texts
        ['Warm the pot. Then pour the tea.', 'Rain fell. The rain was cold.']
    """

    strategy = "semantic"

    size: int = 512
    overlap: int = 0
    unit: Unit = "cl100k_base"
    trim: bool = True
    _: KW_ONLY
    embedder: Embedder | str = "static"
    target: int | None = None
    percentile: float | None = None
    distance: float | None = None
    deviations: float | None = None
    automatic: bool = False
    mode: str = "previous"
    buffer: int = 0
    min_size: int | None = None
    min_sentences: int = 1
    prefix: str | None = None
    batch_size: int = BATCH_SIZE
    progress: Progress | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        self._build(core="meaning", meaning=self._meaning(None))
