"""Places, what of them was retrieved, and intervals of means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cantle
from cantle.measure import bootstrap, places, retrieval
from cantle.measure.places import Place

# The oracle: a place as the characters it has.


def characters(found: Sequence[Place]) -> list[tuple[str, int]]:
    return [(p.document, at) for p in found for at in range(p.char_start, p.char_end)]


_PLACE = st.builds(
    lambda name, start, length: Place(name, start, start + length),
    st.sampled_from("ab"),
    st.integers(0, 20),
    st.integers(1, 9),
)
_PLACES = st.lists(_PLACE, max_size=6)
_REFERENCES = st.lists(_PLACE, min_size=1, max_size=4)


@given(_PLACES, _PLACES)
def test_places_hold_what_their_characters_say(one: list[Place], other: list[Place]) -> None:
    ours, theirs = set(characters(one)), set(characters(other))
    joined, shared = places.joined(one), places.shared(one, other)
    for found, expected in ((joined, ours), (shared, ours & theirs)):
        held = characters(found)
        assert set(held) == expected
        assert len(held) == len(expected) == places.characters(found)
        assert found == sorted(found)
    # Those of `joined` do not touch: the character behind each is in none of them.
    assert not {(p.document, p.char_end) for p in joined} & ours
    assert places.touching(one, other) == [p for p in one if theirs & set(characters([p]))]


@given(_REFERENCES, _PLACES)
def test_measures_are_those_of_sets_of_characters(
    references: list[Place], retrieved: list[Place]
) -> None:
    wanted, got = set(characters(references)), characters(retrieved)
    found = len(wanted & set(got))
    assert retrieval.recall(references, retrieved) == found / len(wanted)
    assert retrieval.precision(references, retrieved) == (found / len(got) if got else 0)
    assert retrieval.iou(references, retrieved) == found / (len(wanted) + len(got) - found)
    assert retrieval.whole(references, retrieved) == (wanted <= set(got))
    touched = {c for p in retrieved if wanted & set(characters([p])) for c in characters([p])}
    assert retrieval.omega(references, retrieved) == len(wanted & touched) / len(wanted | touched)


def test_a_chunk_that_only_touches_costs_its_whole_length() -> None:
    reference = [Place("a", 8, 12)]
    assert retrieval.omega(reference, [Place("a", 0, 10), Place("a", 10, 20)]) == 4 / 20
    assert retrieval.omega(reference, [Place("a", 0, 8), Place("a", 8, 12)]) == 1
    # Half of the reference lies in no chunk: it is missed, and belongs to the union.
    assert retrieval.omega(reference, [Place("a", 10, 12)]) == 2 / 4


@pytest.mark.parametrize(
    "measure", [retrieval.recall, retrieval.precision, retrieval.iou, retrieval.omega]
)
def test_nothing_to_find_is_refused(measure: Callable[..., float]) -> None:
    with pytest.raises(cantle.SettingError) as caught:
        measure([], [Place("a", 0, 1)])
    assert str(caught.value) == "references hold no character: nothing can be found of them"


@pytest.mark.parametrize("span", [(3, 3), (4, 3), (-1, 3)])
def test_a_place_that_is_none_is_refused(span: tuple[int, int]) -> None:
    with pytest.raises(cantle.SettingError) as caught:
        places.checked("a", *span)
    assert str(caught.value) == f"place {span} of document 'a' is empty or reversed"


# Intervals


def test_an_interval_is_that_of_the_mean() -> None:
    values = np.random.default_rng(7).normal(3, 2, size=400)
    mean, low, high = bootstrap.interval(values)
    assert mean == values.mean()
    # The normal interval of a mean, which many values come near to.
    half = 1.96 * values.std() / 20
    assert low == pytest.approx(mean - half, abs=0.15 * half)
    assert high == pytest.approx(mean + half, abs=0.15 * half)
    narrow = bootstrap.interval(values, confidence=0.5)
    assert low < narrow.low < mean < narrow.high < high


def test_the_same_questions_tell_more_than_two_intervals() -> None:
    hard = np.random.default_rng(7).uniform(0, 1, size=60)
    better = hard + 0.01 * np.random.default_rng(8).uniform(0.5, 1.5, size=60)
    found = bootstrap.paired(better, hard)
    assert found.tells
    assert found.high - found.low < 0.01
    assert bootstrap.interval(better).low < bootstrap.interval(hard).high
    turned = (-found.mean, -found.high, -found.low)
    assert bootstrap.paired(hard, better) == pytest.approx(turned)


def test_what_differs_by_chance_is_not_told_apart() -> None:
    noise = np.random.default_rng(9).normal(0, 1, size=50)
    assert not bootstrap.interval(noise - noise.mean()).tells


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=30), st.integers(0, 3))
def test_an_interval_is_the_same_in_every_run(values: list[float], seed: int) -> None:
    found = bootstrap.interval(values, samples=200, seed=seed)
    assert found == bootstrap.interval(values, samples=200, seed=seed)
    assert min(values) - 1e-9 <= found.low <= found.high <= max(values) + 1e-9


def test_columns_are_drawn_together() -> None:
    values = np.random.default_rng(5).normal(0, 1, size=(40, 2))
    one, other = bootstrap.intervals(values, samples=500)
    assert one == pytest.approx(bootstrap.interval(values[:, 0], samples=500))
    assert other == pytest.approx(bootstrap.interval(values[:, 1], samples=500))


def test_samples_drawn_in_parts_are_as_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "_CELLS", 7)
    assert len(bootstrap._means(np.arange(3.0)[:, None], 11, 0)) == 11


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bootstrap.interval([]), "values of shape (0,) must be [n], n at least 1"),
        (lambda: bootstrap.interval([[1.0]]), "values of shape (1, 1) must be [n], n at least 1"),
        (
            lambda: bootstrap.intervals([1.0]),
            "values of shape (1,) must be [n, columns], n at least 1",
        ),
        (lambda: bootstrap.interval([float("nan")]), "values must be finite numbers"),
        (lambda: bootstrap.interval([1.0], samples=0), "samples (0) must be at least 1"),
        (
            lambda: bootstrap.interval([1.0], confidence=1),
            "confidence (1) must lie between 0 and 1",
        ),
        (lambda: bootstrap.paired([1.0], [1.0, 2.0]), "others has 2 numbers for 1 values"),
    ],
)
def test_wrong_settings_are_named(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(cantle.SettingError) as caught:
        call()
    assert str(caught.value) == message
