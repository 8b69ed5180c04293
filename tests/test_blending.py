"""Blended vectors and smoothed scores, beside slow ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cantle
from cantle import blending
from cantle.blending import smooth


def neighbours(i: int, distance: int, groups: list[int]) -> list[int]:
    """Return the rows at a distance that row i is not parted from."""
    found = []
    for j in (i - distance, i + distance):
        between = range(min(i, j), max(i, j) + 1)
        if (
            0 <= j < len(groups)
            and groups[i] != -1
            and all(groups[at] == groups[i] for at in between)
        ):
            found.append(j)
    return found


def slow_blend(
    vectors: list[list[float]], groups: list[int], weights: list[float]
) -> list[list[float]]:
    blended = []
    for i, own in enumerate(vectors):
        total = list(own)
        for distance, weight in enumerate(weights, 1):
            for j in neighbours(i, distance, groups):
                total = [a + weight * b for a, b in zip(total, vectors[j], strict=True)]
        if not any(own) or not any(total):
            total = own
        length = math.sqrt(sum(x * x for x in total))
        blended.append([x / length if length else 0.0 for x in total])
    return blended


def slow_smooth(scores: list[float], groups: list[int], weights: list[float]) -> list[float]:
    found = []
    for i, own in enumerate(scores):
        total, used = own, 1.0
        for distance, weight in enumerate(weights, 1):
            for j in neighbours(i, distance, groups):
                total += weight * scores[j]
                used += weight
        found.append(total / used)
    return found


NUMBERS = st.integers(-4, 4).map(float)
WEIGHTS = st.lists(st.sampled_from([0.0, 0.2, 0.25, 0.4, 1.0]), max_size=4)


@given(
    rows=st.lists(st.tuples(st.tuples(NUMBERS, NUMBERS), st.integers(-1, 2)), max_size=14),
    weights=WEIGHTS,
)
def test_blend_equals_the_slow_one(
    rows: list[tuple[tuple[float, float], int]], weights: list[float]
) -> None:
    vectors = [list(vector) for vector, _ in rows]
    groups = [group for _, group in rows]
    given = np.array(vectors, np.float32).reshape(-1, 2)
    found = cantle.blend(given, groups, weights)
    assert found.dtype == np.float32
    expected = np.array(slow_blend(vectors, groups, weights)).reshape(-1, 2)
    # Where a sum all but cancels out, its direction is that of the rounding.
    raw = np.array([any(abs(x) > 1e-6 for x in row) for row in expected], bool)
    np.testing.assert_allclose(found[raw], expected[raw], atol=1e-6)


@given(
    rows=st.lists(st.tuples(NUMBERS, st.integers(-1, 2)), max_size=14),
    weights=WEIGHTS,
)
def test_smooth_equals_the_slow_one(rows: list[tuple[float, int]], weights: list[float]) -> None:
    scores, groups = [score for score, _ in rows], [group for _, group in rows]
    found = smooth(scores, groups, weights)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, slow_smooth(scores, groups, weights), atol=1e-6)


def test_the_weights_are_those_that_were_measured() -> None:
    vectors = np.eye(5, dtype=np.float32)
    assert cantle.blend(vectors)[2] == pytest.approx(
        np.array([0.2, 0.4, 1.0, 0.4, 0.2]) / math.sqrt(1.4), abs=1e-6
    )


def test_a_zero_vector_stays_and_adds_nothing() -> None:
    blended = cantle.blend([[1, 0], [0, 0], [0, 1]], weights=[0.5])
    assert blended.tolist() == [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]


def test_a_vector_that_its_neighbours_cancel_stays_itself() -> None:
    assert cantle.blend([[2, 0], [-4, 0]], weights=[0.5]).tolist() == [[1.0, 0.0], [-1.0, 0.0]]


def test_without_groups_all_are_neighbours_and_without_weights_none() -> None:
    vectors = [[3.0, 4.0], [1.0, 0.0]]
    assert cantle.blend(vectors).tolist() == cantle.blend(vectors, [7, 7]).tolist()
    np.testing.assert_allclose(cantle.blend(vectors, weights=()), [[0.6, 0.8], [1.0, 0.0]], 1e-6)


def test_the_given_vectors_are_left_as_they_are() -> None:
    vectors = np.array([[3.0, 4.0], [1.0, 0.0]], np.float32)
    cantle.blend(vectors)
    assert vectors.tolist() == [[3.0, 4.0], [1.0, 0.0]]


def test_blocks_of_rows_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = np.random.default_rng(3).normal(size=(100, 7)).astype(np.float32)
    groups = np.repeat(np.arange(4), 25)
    whole = cantle.blend(vectors, groups)
    monkeypatch.setattr(blending, "_ROWS", 9)
    assert (cantle.blend(vectors, groups) == whole).all()


@pytest.mark.parametrize(
    ("vectors", "groups", "weights", "error", "message"),
    [
        (
            [1.0],
            None,
            [],
            cantle.SettingError,
            "vectors: an array of shape (1,); [n, d] is expected",
        ),
        ([[1.0], [float("nan")]], None, [], cantle.SettingError, "vectors[1] holds NaN"),
        ([[1e39]], None, [], cantle.SettingError, "vectors[0] holds an infinity"),
        ([["a"]], None, [], TypeError, "vectors: <U1 where numbers are expected"),
        (
            [[1.0], [1.0, 2.0]],
            None,
            [],
            cantle.SettingError,
            "vectors: rows of different lengths; [n, d] is expected",
        ),
        ([[1.0]], [0, 0], [], cantle.SettingError, "groups: an array of shape (2,) for 1 rows"),
        ([[1.0]], [-2], [], cantle.SettingError, "groups[0] (-2) must be at least -1"),
        ([[1.0]], [0.5], [], TypeError, "groups: float64 where whole numbers are expected"),
        ([[1.0]], None, 0.4, TypeError, "weights (0.4) must be a list of numbers"),
        ([[1.0]], None, ["x"], TypeError, "weights[0] ('x') must be a number"),
        (
            [[1.0]],
            None,
            [0.4, -0.1],
            cantle.SettingError,
            "weights[1] (-0.1) must be finite and at least 0",
        ),
    ],
)
def test_what_cannot_be_blended(
    vectors: Any, groups: Any, weights: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as raised:
        cantle.blend(vectors, groups, weights)
    assert str(raised.value) == message
