"""The cluster method of Smith and Troynikov (Chroma, 2024), as published, to compare with.

The text is cut into pieces of about 50 tokens by langchain's recursive splitter, with marks of
sentences among its separators. Pieces are embedded; a run of them is worth the sum of the cosines
of its pairs less the mean cosine of all pairs of the text, and dynamic programming finds the runs
of at most `size // 50` pieces whose worth is largest. Of runs of equal worth it takes the one that
is met first, from the shortest on. Sizes are a count of pieces there: a chunk may be over `size`.

`cantle.Optimal` has another cost, true sentences, and a limit in tokens that holds.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

import numpy as np

from cantle.bench.faults import placed
from cantle.bench.peers import Spans, reference
from cantle.embed import Embedder
from quality_ground import UNIT

PIECE = 50
"""Tokens that a piece stays below."""
SEPARATORS = ["\n\n", "\n", ".", "?", "!", " ", ""]


def cluster(size: int, embedder: Embedder) -> Callable[[list[str]], list[Spans]]:
    """Return the function from texts to spans that the method is."""
    encode = reference(UNIT).encode_ordinary
    splitter = import_module("langchain_text_splitters").RecursiveCharacterTextSplitter(
        separators=SEPARATORS,
        chunk_size=PIECE,
        chunk_overlap=0,
        length_function=lambda text: len(encode(text)),
    )

    def cut(texts: list[str]) -> list[Spans]:
        found = []
        for text in texts:
            pieces, _ = placed(text, splitter.split_text(text))
            vectors = np.asarray(embedder([text[start:end] for start, end in pieces]), np.float64)
            runs = best_runs(vectors @ vectors.T, max(1, size // PIECE))
            found.append([(pieces[first][0], pieces[last - 1][1]) for first, last in runs])
        return found

    return cut


def best_runs(similarity: np.ndarray, longest: int) -> list[tuple[int, int]]:
    """Return the runs of at most `longest` pieces that are worth most together.

    Args:
        similarity: How like each other pieces are; [pieces, pieces].
        longest: Most pieces in a run.
    """
    pieces = len(similarity)
    if pieces < 2:
        return [(0, 1)] * pieces
    gain = similarity - similarity[np.triu_indices(pieces, k=1)].mean()
    np.fill_diagonal(gain, 0)
    best = np.zeros(pieces + 1)
    start = np.zeros(pieces + 1, int)
    for end in range(1, pieces + 1):
        worth = 0.0
        best[end] = -np.inf
        for first in range(end - 1, max(-1, end - 1 - longest), -1):
            # A run grows by its first piece, and so by that one's pairs with the others.
            worth += 2 * gain[first, first + 1 : end].sum()
            if best[first] + worth > best[end]:
                best[end], start[end] = best[first] + worth, first
    runs, end = [], pieces
    while end:
        runs.append((int(start[end]), end))
        end = int(start[end])
    return runs[::-1]
