"""`Words`: BM25 over the texts of chunks, and one such for each strategy, kept while it holds."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from cantle import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray

K1 = 1.2
B = 0.75


class Words:
    """Scores of texts by the words that they share with a question.

    Words are compared in lower case, in Latin letters and without English endings; of scripts that
    have no blanks between words, every pair of characters counts as one, and every ideograph. A
    word of the question that comes twice counts twice. Source: Robertson and Zaragoza, "The
    probabilistic relevance framework: BM25 and beyond", 2009, with the inverse document frequency
    of Lucene, which is above zero for every word; k1 is 1.2 and b .75.

    Example:
        >>> from cantle.store.words import Words
        >>> words = Words(["Rotate the keys weekly.", "Logs are kept.", "A key is a secret."])
        >>> (words.scores("Which key?") > 0).tolist()
        [True, False, True]
    """

    def __init__(self, texts: Sequence[str]) -> None:
        """Count the words of texts.

        Raises:
            TypeError: One is no string.
        """
        self._texts = len(texts)
        ids, ends, vocabulary = _core.terms(texts)
        self._known = {term: number for number, term in enumerate(vocabulary)}
        self._weights, self._rows, self._start = _columns(ids, ends, len(vocabulary))

    def __len__(self) -> int:
        return self._texts

    def scores(self, question: str) -> NDArray[np.float32]:
        """Return how well each text answers a question; float32 [texts], 0 without a shared word.

        Raises:
            TypeError: The question is no string.
        """
        if not isinstance(question, str):
            raise TypeError(f"question ({question!r}) must be a string")
        ids, _, vocabulary = _core.terms([question])
        asked = [self._known.get(vocabulary[number], -1) for number in ids.tolist()]
        found = np.zeros(self._texts, np.float32)
        # In one order, so that the sums do not depend on the order of the words.
        for number in sorted(number for number in asked if number >= 0):
            own = slice(self._start[number], self._start[number + 1])
            np.add.at(found, self._rows[own], self._weights[own])
        return found


def _columns(
    ids: NDArray[np.int32], ends: NDArray[np.int64], terms: int
) -> tuple[NDArray[np.float32], NDArray[np.int32], list[int]]:
    """Return what each term adds to the score of each text, term by term.

    That a text's part of the score does not depend on the question lets all of it be computed
    beforehand: Lù, "BM25S: orders of magnitude faster lexical search via eager sparse scoring",
    2024 (arXiv 2407.03618).

    Returns:
        The weights and their texts, by term and text, and where those of each term start.
    """
    lengths = np.diff(ends, prepend=0)
    # Term and text in one number, so that one sort brings the same ones together.
    pairs = ids.astype(np.int64) * len(ends) + np.repeat(np.arange(len(ends)), lengths)
    pairs.sort()
    first = np.flatnonzero(np.diff(pairs, prepend=-1))
    times = np.diff(first, append=len(pairs))
    term, text = np.divmod(pairs[first], max(1, len(ends)))
    texts_with = np.bincount(term, minlength=terms)
    rarity = np.log1p((len(ends) - texts_with + 0.5) / (texts_with + 0.5))
    longer = lengths / float(lengths.mean() or 1.0) if len(ends) else lengths
    weights = rarity[term] * times / (times + K1 * (1 - B + B * longer[text]))
    start = np.concatenate([np.zeros(1, np.int64), np.cumsum(texts_with)])
    return weights.astype(np.float32), text.astype(np.int32), start.tolist()


class WordsByStrategy:
    """The words of each strategy of a store, counted when they are first asked for."""

    def __init__(self) -> None:
        """Start with none."""
        self._lock = threading.Lock()
        self._kept: dict[str, tuple[Hashable, Words]] = {}

    def of(self, strategy: str, version: Hashable, texts: Callable[[], Sequence[str]]) -> Words:
        """Return the words of a strategy; counted anew only if the version is another.

        Args:
            strategy: Its name.
            version: What changes with the texts, such as the stamps of the strategy's parts.
            texts: Gives the texts of its rows, in their order.
        """
        with self._lock:
            kept = self._kept.get(strategy)
        if kept is None or kept[0] != version:
            # Without the lock: the texts wait for the store, and who holds that may wait for this.
            kept = version, Words(texts())
            with self._lock:
                self._kept[strategy] = kept
        return kept[1]
