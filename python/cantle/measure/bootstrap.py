"""Intervals of means by the bootstrap: questions are drawn again, with those drawn twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cantle import _core

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

SAMPLES = 10_000
_CELLS = 1 << 22
"""Counts that are held at a time."""


class Interval(NamedTuple):
    """A mean, and where it lies with the confidence asked for."""

    mean: float
    low: float
    high: float

    @property
    def tells(self) -> bool:
        """Whether zero lies outside."""
        return self.low > 0 or self.high < 0


def interval(
    values: ArrayLike, *, samples: int = SAMPLES, seed: int = 0, confidence: float = 0.95
) -> Interval:
    """Return the mean of values, and its interval by the percentile bootstrap.

    The values are drawn `samples` times, as many as there are, with replacement; the interval holds
    the middle `confidence` of the means (Efron and Tibshirani, An Introduction to the Bootstrap,
    1993, chapter 13). The same values and seed give the same interval.

    Args:
        values: A number for each question, [n].
        samples: How often they are drawn.
        seed: Where drawing starts.
        confidence: From 0 to 1, both excluded.

    Raises:
        SettingError: There are no values, one is no finite number, or a setting is out of range.

    Example:
        >>> interval([1.0, 1.0, 1.0])
        Interval(mean=1.0, low=1.0, high=1.0)
    """
    given = _numbers("values", values, 1)
    return intervals(given[:, None], samples=samples, seed=seed, confidence=confidence)[0]


def intervals(
    values: ArrayLike, *, samples: int = SAMPLES, seed: int = 0, confidence: float = 0.95
) -> list[Interval]:
    """Return the interval of each column: the same questions are drawn for all.

    Args:
        values: Numbers of each question, [n, columns].
        samples: As for `interval`.
        seed: As for `interval`.
        confidence: As for `interval`.

    Raises:
        SettingError: As for `interval`.

    Example:
        >>> [found.mean for found in intervals([[1.0, 0.0], [3.0, 0.0]])]
        [2.0, 0.0]
    """
    given = _numbers("values", values, 2)
    if samples < 1:
        raise _core.SettingError(f"samples ({samples}) must be at least 1")
    if not 0 < confidence < 1:
        raise _core.SettingError(f"confidence ({confidence}) must lie between 0 and 1")
    tail = (1 - confidence) / 2
    low, high = np.quantile(_means(given, samples, seed), [tail, 1 - tail], axis=0)
    columns = zip(given.mean(axis=0).tolist(), low.tolist(), high.tolist(), strict=True)
    return [Interval(*column) for column in columns]


def paired(
    values: ArrayLike,
    others: ArrayLike,
    *,
    samples: int = SAMPLES,
    seed: int = 0,
    confidence: float = 0.95,
) -> Interval:
    """Return how much larger values are than others on average, question by question.

    What makes a question hard is hard for both, so that differences of the same questions tell
    more than two intervals side by side. Where the interval holds zero, the two cannot be told
    apart with these questions.

    Args:
        values: A number for each question, [n].
        others: The numbers of the same questions in another run, [n].
        samples: As for `interval`.
        seed: As for `interval`.
        confidence: As for `interval`.

    Raises:
        SettingError: They are not of the same questions, or as for `interval`.

    Example:
        >>> paired([0.5, 1.0], [0.25, 0.75]).mean
        0.25
    """
    ours, theirs = _numbers("values", values, 1), _numbers("others", others, 1)
    if len(ours) != len(theirs):
        raise _core.SettingError(f"others has {len(theirs)} numbers for {len(ours)} values")
    return interval(ours - theirs, samples=samples, seed=seed, confidence=confidence)


def _numbers(name: str, values: ArrayLike, dimensions: int) -> NDArray[np.float64]:
    found = np.asarray(values, np.float64)
    if found.ndim != dimensions or not len(found):
        shape = "[n]" if dimensions == 1 else "[n, columns]"
        raise _core.SettingError(f"{name} of shape {found.shape} must be {shape}, n at least 1")
    if not np.isfinite(found).all():
        raise _core.SettingError(f"{name} must be finite numbers")
    return found


def _means(values: NDArray[np.float64], samples: int, seed: int) -> NDArray[np.float64]:
    """Return the means of samples [samples, columns].

    How often each question is drawn is what is drawn here.
    """
    draw = np.random.default_rng(seed)
    each = np.full(len(values), 1 / len(values))
    rows = max(1, _CELLS // len(values))
    found = []
    for first in range(0, samples, rows):
        counts = draw.multinomial(len(values), each, size=min(rows, samples - first))
        found.append(counts @ values / len(values))
    return np.concatenate(found)
