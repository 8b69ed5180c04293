"""`Optimal` over texts too long to try every segmentation: against a slow dynamic programme."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib.stride_tricks import sliding_window_view

from cantle import Optimal
from test_optimal import LEAST, penalties, unit_rows

SMALL = 1_000.0
"""What a chunk that is too small costs here: more than all the variance there can be."""

CLOSE = 1e-4
"""How far a variance may be off: products of vectors are sums of float32."""


def random(rng, n):
    return rng.standard_normal((n, 8))


def drifting(rng, n):
    return rng.standard_normal((n, 8)).cumsum(axis=0)


def clustered(rng, n):
    subjects = np.repeat(rng.standard_normal((n, 8)), rng.integers(1, 15, n), axis=0)[:n]
    return subjects + 0.2 * rng.standard_normal((n, 8))


def repeated(rng, n):
    return rng.standard_normal((3, 8))[np.sort(rng.integers(0, 3, n))]


def alternating(rng, n):
    return rng.standard_normal((4, 8))[rng.integers(0, 4, n)]


def costs(vectors, words, most, least):
    """What every chunk costs, by its first and last sentence: infinity where it does not fit."""
    n = len(vectors)
    cost = np.full((n, n), np.inf)
    for many in range(1, n + 1):
        held = sliding_window_view(vectors, many, axis=0)
        spread = ((held - held.mean(axis=2, keepdims=True)) ** 2).sum(axis=(1, 2))
        sizes = sliding_window_view(words, many).sum(axis=1)
        if (sizes > most).all():
            break
        first = np.arange(len(sizes))
        cost[first, first + many - 1] = np.where(
            sizes > most, np.inf, spread + SMALL * (sizes < least)
        )
    return cost


def cheapest(cost):
    """Return the least variance for every number of chunks that has the fewest small ones."""
    n = len(cost)
    found = np.full((n + 1, n + 1), np.inf)  # Of so many sentences in so many chunks.
    found[0, 0] = 0
    for end in range(1, n + 1):
        found[end, 1:] = (found[:end, :-1] + cost[:end, end - 1, None]).min(axis=0)
    fewest = found[n].min() // SMALL
    there = np.flatnonzero(found[n] < (fewest + 1) * SMALL).tolist()
    return fewest, {k: float(found[n, k] - fewest * SMALL) for k in there}


def on_the_curve(variance, k):
    """Return what so many chunks cost at most if they are the cheapest at some penalty."""
    paid = {j: other + LEAST * j for j, other in variance.items()}
    lines = [
        (paid[i] * (j - k) + paid[j] * (k - i)) / (j - i) for i in paid for j in paid if i <= k < j
    ]
    return min([*lines, *(paid[i] for i in paid if i <= k)]) - LEAST * k


@pytest.mark.parametrize(
    "made",
    [random, drifting, clustered, repeated, alternating],
    ids=lambda made: made.__name__,
)
@given(
    n=st.integers(20, 120),
    zeros=st.sampled_from([0, 0, 0.1, 0.9]),
    seed=st.integers(0, 2**32 - 1),
    room=st.integers(6, 130),
    overlap=st.sampled_from([0, 0, 3, 10]),
    title=st.sampled_from([None, None, "two words", "five words as a title"]),
    least=st.sampled_from([0, 0, 0.3, 0.9]),
    share=st.floats(0.05, 1),
)
def test_of_the_cheapest_segmentations_it_is_the_nearest_to_the_target(
    made, n, zeros, seed, room, overlap, title, least, share
):
    rng = np.random.default_rng(seed)
    words = rng.integers(1, 7, n)
    vectors = made(rng, n).astype(np.float32)
    vectors[rng.random(n) < zeros] = 0
    before = 0 if title is None else len(title.split())
    size = room + overlap + before
    least, target = round(least * room), max(1, round(share * size))

    sentences = [" ".join([f"W{i}", *["w"] * (many - 1)]) + "." for i, many in enumerate(words)]
    strategy = Optimal(
        size, overlap, "words", embedder=lambda texts: vectors, batch_size=n, min_size=least,
        target=target, prefix=None if title is None else "{title}",
    )  # fmt: skip
    chunks = strategy.split(" ".join(sentences), metadata={"title": title or ""})
    assert all(len(chunk.embed_text.split()) <= size for chunk in chunks)

    cost = costs(unit_rows(vectors), words, room, least)
    fewest, variance = cheapest(cost)
    # What a chunk repeats stands before its own sentences: the ends say which those are.
    ends = np.cumsum([len(sentence) + 1 for sentence in sentences]) - 1
    cuts = [0, *(np.searchsorted(ends, chunks.char_end) + 1).tolist()]
    paid = sum(cost[a, b - 1] for a, b in pairwise(cuts))
    many = len(chunks)
    assert cuts[-1] == n
    assert paid // SMALL == fewest
    assert paid - fewest * SMALL <= on_the_curve(variance, many) + CLOSE

    def off(k):
        return abs(words.sum() / k - min(target, size - overlap))

    for k in variance:
        low, high = penalties(variance, k)
        if high - low > 10 * CLOSE:  # Of those that only just are the cheapest, rounding decides.
            assert off(many) <= off(k) + 1e-9
