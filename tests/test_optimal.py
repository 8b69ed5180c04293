"""`Optimal` equals a search through all segmentations and all penalties."""

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


LEAST = 1e-4
"""The penalty below which nothing more is cut."""


def unit_rows(rows):
    rows = np.asarray(rows, np.float32).astype(float)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)


def cost(vectors, lengths, size, least, chunks):
    """Chunks that are too small, and the squared distances to the means; None: one is too large."""
    if any(sum(lengths[a:b]) > size and b - a > 1 for a, b in chunks):
        return None
    spread = sum(((vectors[a:b] - vectors[a:b].mean(axis=0)) ** 2).sum() for a, b in chunks)
    return sum(sum(lengths[a:b]) < least for a, b in chunks), spread


def segmentations(n):
    for k in range(n):
        for cuts in combinations(range(1, n), k):
            yield list(pairwise([0, *cuts, n]))


def penalties(variance, k):
    """Between which penalties so many chunks are the cheapest, if the first is not the larger."""
    low = [(variance[k] - other) / (j - k) for j, other in variance.items() if j > k]
    high = [(other - variance[k]) / (k - j) for j, other in variance.items() if j < k]
    return max([LEAST, *low]), min([np.inf, *high])


@given(
    rows=st.lists(
        st.tuples(st.integers(1, 5), st.lists(st.integers(-3, 3), min_size=3, max_size=3)),
        min_size=1,
        max_size=8,
    ),
    size=st.integers(5, 14),
    least=st.sampled_from([0, 0, 4]),
    data=st.data(),
)
def test_no_segmentation_is_cheaper_and_none_that_is_the_cheapest_is_nearer(
    rows, size, least, data
):
    target = data.draw(st.integers(1, size))
    lengths = [n for n, _ in rows]
    sentences = [" ".join([f"W{i}", *["w"] * (n - 1)]) + "." for i, n in enumerate(lengths)]
    given_vectors = np.array([v for _, v in rows], np.float32)
    strategy = Optimal(
        size, unit="words", embedder=lambda texts: given_vectors, min_size=least, target=target
    )
    chunks = strategy.split(" ".join(sentences))
    assert chunks.size.max() <= size

    vectors = unit_rows(given_vectors)
    every = [(c, cost(vectors, lengths, size, least, c)) for c in segmentations(len(rows))]
    fewest_small = min(found[0] for _, found in every if found)
    variance = {}
    for cut, found in every:
        if found and found[0] == fewest_small:
            variance[len(cut)] = min(found[1], variance.get(len(cut), np.inf))

    ends = np.cumsum([part.count(".") for part in chunks.texts])
    small, spread = cost(vectors, lengths, size, least, list(pairwise([0, *ends.tolist()])))
    assert small == fewest_small
    assert spread == pytest.approx(variance[len(chunks)], abs=1e-4)
    low, high = penalties(variance, len(chunks))
    assert low <= high + 1e-4, "the cheapest at some penalty"

    def off(k):
        return abs(sum(lengths) / k - target)

    for k in variance:
        low, high = penalties(variance, k)
        if low < high - 1e-4:
            assert off(len(chunks)) <= off(k) + 1e-9


@pytest.mark.parametrize("target", [12, 30, 55])
def test_the_mean_size_meets_the_target(target):
    rng = np.random.default_rng(target)
    lengths = rng.integers(2, 12, 400)
    text = " ".join("W" + " w" * (n - 1) + "." for n in lengths)
    vectors = rng.standard_normal((400, 16)).cumsum(axis=0).astype(np.float32)
    chunks = Optimal(
        60, unit="words", embedder=lambda texts: vectors, target=target, batch_size=400
    ).split(text)
    assert chunks.size.max() <= 60
    assert chunks.size.mean() == pytest.approx(target, rel=0.03)


def test_overlap_does_not_count_towards_the_target():
    rng = np.random.default_rng(5)
    text = " ".join(f"W{i} w w w." for i in range(200))
    vectors = rng.standard_normal((200, 16)).astype(np.float32)

    def split(overlap):
        strategy = Optimal(40, overlap, "words", embedder=lambda texts: vectors, target=20)
        return strategy.split(text)

    # At most 28 units are new, and so are 20 on average.
    chunks = split(12)
    assert len(chunks) == pytest.approx(len(split(0)), abs=2)
    assert chunks.size.max() <= 40
    assert chunks.size.mean() > 25


@pytest.mark.parametrize("row", [[3.0, 4.0], [0.0, 0.0]])
def test_sentences_without_a_difference_make_the_fewest_chunks(row):
    def same(texts):
        return np.array([row] * len(texts), np.float32)

    chunks = Optimal(8, unit="words", embedder=same, target=2).split("Tea pot. " * 10)
    assert chunks.size.max() <= 8
    assert len(chunks) == 3


def test_sentences_over_the_size_are_left_out_of_the_mean():
    rng = np.random.default_rng(1)
    vectors = rng.standard_normal((61, 8)).astype(np.float32)
    plain = [f"W{i} w." for i in range(60)]
    long = "L" + " w" * 34 + "."

    def made(sentences, rows):
        strategy = Optimal(10, unit="words", embedder=lambda texts: rows, target=6)
        return strategy.split(" ".join(sentences))

    chunks = made([*plain[:30], long, *plain[30:]], vectors)
    # The long one makes four chunks of its own, of at most ten words.
    assert chunks.size.max() <= 10
    others = chunks[np.array(["W" in text for text in chunks.texts])]
    assert len(chunks) == len(others) + 4
    assert others.size.mean() == pytest.approx(6, abs=0.4)


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
    text = "optimal:20:0:words,embedder='keyword:tea|rain',target=9,min_size=5"
    strategy = cantle.strategy_from_text(text)
    embedder = Keyword(("tea", "rain"))
    assert strategy == Optimal(20, 0, "words", embedder=embedder, target=9, min_size=5)
    with pytest.raises(cantle.SettingError, match=r"target \(21\) must not be larger than size"):
        Optimal(20, embedder=KEYWORD, target=21)
    with pytest.raises(cantle.SettingError, match="min_size \\(21\\) must not be larger than size"):
        Optimal(20, embedder=KEYWORD, min_size=21)
