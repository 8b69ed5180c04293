"""`Optimal` equals a search through all segmentations."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cantle
from cantle import Optimal
from cantle.embed import Keyword

KEYWORD = Keyword(["tea pot", "rain cloud", "train rail"])


def worth(vectors, size, least, lengths, chunks):
    """Chunks that are too small, fewest first, then what all are worth."""
    n = len(vectors)
    alike = vectors @ vectors.T
    pairs = list(combinations(range(n), 2))
    mean = np.mean([alike[i, j] for i, j in pairs]) if pairs else 0
    total = 0.0
    for a, b in chunks:
        if sum(lengths[a:b]) > size and b - a > 1:
            return None
        total += sum(alike[i, j] - mean for i, j in combinations(range(a, b), 2))
    small = sum(sum(lengths[a:b]) < least for a, b in chunks)
    return -small, total


def segmentations(n):
    for k in range(n):
        for cuts in combinations(range(1, n), k):
            yield list(pairwise([0, *cuts, n]))


@given(
    rows=st.lists(
        st.tuples(st.integers(1, 5), st.lists(st.integers(-3, 3), min_size=3, max_size=3)),
        min_size=1,
        max_size=8,
    ),
    size=st.integers(5, 14),
    least=st.sampled_from([0, 0, 4]),
)
def test_no_segmentation_is_better(rows, size, least):
    lengths = [n for n, _ in rows]
    sentences = [" ".join([f"W{i}", *["w"] * (n - 1)]) + "." for i, n in enumerate(lengths)]
    given_vectors = np.array([v for _, v in rows], np.float32)
    text = " ".join(sentences)
    strategy = Optimal(size, unit="words", embedder=lambda texts: given_vectors, min_size=least)
    chunks = strategy.split(text)
    norms = np.linalg.norm(given_vectors, axis=1, keepdims=True)
    vectors = np.divide(
        given_vectors, norms, out=np.zeros_like(given_vectors), where=norms > 0
    ).astype(float)
    ends = np.cumsum([part.count(".") for part in chunks.texts])
    found = worth(vectors, size, least, lengths, list(pairwise([0, *ends.tolist()])))
    every = [worth(vectors, size, least, lengths, c) for c in segmentations(len(rows))]
    best = max(one for one in every if one is not None)
    assert found[0] == best[0]
    # One ten-thousandth a chunk decides between those that are worth the same.
    assert found[1] == pytest.approx(best[1], abs=1e-3)


def test_subjects_are_kept_together_where_a_threshold_would_not():
    text = "Tea pot. Tea. Rain cloud. Rain. Rain falls on tea. Train. Rail and train."
    chunks = Optimal(8, unit="words", embedder=KEYWORD).split(text)
    assert chunks.texts[0] == "Tea pot. Tea."
    assert chunks.texts[-1] == "Train. Rail and train."
    assert np.isnan(chunks.distances.threshold).all()


@pytest.mark.parametrize("text", ["", " ", "One.", "No topic. None.", "Tea. Tea. Tea."])
def test_few_and_equal_sentences_are_not_cut(text):
    chunks = Optimal(8, unit="words", embedder=KEYWORD).split(text)
    assert chunks.texts == ([text] if text.strip() else [])


def test_overlap_leaves_room_and_the_limit_holds():
    text = "Tea pot. Tea. Rain cloud. Rain. Rain falls on tea. Train. Rail and train. " * 9
    chunks = Optimal(12, 4, "words", embedder=KEYWORD).split(text)
    assert chunks.size.max() <= 12
    assert (chunks.char_start[1:] < chunks.char_end[:-1]).any()


class Account:
    def __init__(self):
        self.characters = 0

    def __call__(self, text):
        self.characters += len(text)
        return len(text)


def test_twice_the_text_is_twice_the_work():
    seen = []
    for n in (150, 300):
        account = Account()
        Optimal(100, unit=account, embedder=KEYWORD).split("Tea pot. Rain. The train. " * n)
        seen.append(account.characters)
    assert seen[1] <= 2.2 * seen[0]


def test_settings():
    text = "optimal:20:0:words,embedder='keyword:tea|rain',min_size=5"
    strategy = cantle.strategy_from_text(text)
    assert strategy == Optimal(20, 0, "words", embedder=Keyword(("tea", "rain")), min_size=5)
    with pytest.raises(cantle.SettingError, match="min_size \\(21\\) must not be larger than size"):
        Optimal(20, embedder=KEYWORD, min_size=21)
