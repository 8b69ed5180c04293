"""Recipes: from texts to passages for a question. Those of cantle; peers have a file of their own.

A recipe is opened on a ground and gives a `Retriever`, which answers questions by passages. Most
recipes cut the texts into spans and rank them by cosine (`Cut`); one that blends, expands, or joins
passages is another class with the same `open`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np

import cantle
from cantle.measure.places import Place
from cantle.strategies import Splitting
from quality_ground import UNIT, Counted, Ground, Spans, embedder

K = 5
"""Passages that a question gets, where they are counted."""


class Retriever(Protocol):
    """What answers the questions of a ground."""

    chunks: list[Place]
    """What was indexed."""
    tokens: list[int]
    """The size of each."""

    def first(self, question: int, k: int) -> list[Place]:
        """Return the best k passages."""

    def within(self, question: int, budget: int) -> list[Place]:
        """Return the passages that fill a budget of tokens."""


class Recipe(Protocol):
    """A way to answer questions about texts."""

    name: str
    """What it is called, without its size."""
    size: int
    """The limit that it was asked for, in tokens."""

    def open(self, ground: Ground) -> Retriever:
        """Return what answers the questions of a ground."""


@dataclass
class Ranked:
    """Chunks by the cosine of their vectors with a question's: exact, in one index of all texts."""

    ground: Ground
    chunks: list[Place]

    @cached_property
    def tokens(self) -> list[int]:
        return self.ground.tokens([self.ground.text(place) for place in self.chunks])

    @cached_property
    def order(self) -> Any:
        """The rows of the chunks for each question, the best first; of equal ones the earlier."""
        vectors = self.ground.vectors([self.ground.text(place) for place in self.chunks])
        scores = self.ground.vectors(self.ground.questions) @ vectors.T
        return np.argsort(-scores, axis=1, kind="stable")

    def first(self, question: int, k: int) -> list[Place]:
        return [self.chunks[row] for row in self.order[question, :k]]

    def within(self, question: int, budget: int) -> list[Place]:
        """Return chunks by rank until the budget is full; the last is cut off where it is full.

        So every recipe spends the whole budget, whatever the size of its chunks.
        """
        found, left = [], budget
        for row in self.order[question].tolist():
            place = self.chunks[row]
            if self.tokens[row] > left:
                end = self.ground.tokenizer.truncate(self.ground.text(place), left).char
                if end:
                    found.append(place._replace(char_end=place.char_start + end))
                return found
            found.append(place)
            left -= self.tokens[row]
        return found


@dataclass
class Cut:
    """A recipe that cuts texts into spans, which are ranked by cosine."""

    name: str
    size: int
    cut: Callable[[list[str]], list[Spans]]
    """From texts to the spans of each, in characters."""
    embeds: Counted | None = None
    """What embeds in order to find borders."""
    seconds: float = field(default=0.0, init=False)
    """What the cutting took, by the clock."""

    def open(self, ground: Ground) -> Ranked:
        started = time.perf_counter()
        spans = self.cut(ground.texts)
        self.seconds = time.perf_counter() - started
        return Ranked(ground, ground.places(spans))


def spans_of(strategy: Splitting) -> Callable[[list[str]], list[Spans]]:
    """Return the function from texts to spans that a strategy is."""

    def cut(texts: list[str]) -> list[Spans]:
        chunks = strategy.split_all(texts)
        found: list[Spans] = [[] for _ in texts]
        columns = (chunks.doc, chunks.char_start, chunks.char_end)
        for doc, start, end in zip(*(column.tolist() for column in columns), strict=True):
            found[doc].append((start, end))
        return found

    return cut


_PLAIN: dict[str, Callable[[int], Splitting]] = {
    "recursive": lambda size: cantle.Recursive(size, unit=UNIT),
    "untrimmed": lambda size: cantle.Recursive(size, unit=UNIT, trim=False),
    "sentence": lambda size: cantle.Sentence(size, unit=UNIT),
    "window": lambda size: cantle.Window(size, unit=UNIT),
    "structural": lambda size: cantle.Structural(size, unit=UNIT),
}
_EMBEDDING: dict[str, Callable[[int, Any], Splitting]] = {
    "semantic": lambda size, by: cantle.Semantic(size, unit=UNIT, embedder=by),
    "semantic deviations": lambda size, by: cantle.Semantic(
        size, unit=UNIT, embedder=by, deviations=1.0
    ),
    "semantic automatic": lambda size, by: cantle.Semantic(
        size, unit=UNIT, embedder=by, automatic=True
    ),
    "semantic centroid": lambda size, by: cantle.Semantic(
        size, unit=UNIT, embedder=by, mode="centroid"
    ),
    "optimal": lambda size, by: cantle.Optimal(size, unit=UNIT, embedder=by),
    "documentbased": lambda size, by: cantle.DocumentBased(size, unit=UNIT, embedder=by),
}


_BY_MODEL = ("semantic", "optimal")
"""Those whose borders are also found by the ground's model, not by static vectors alone."""


def ours(size: int, model: Any, name: str) -> list[Cut]:
    """Return the recipes of cantle at a size.

    Args:
        size: The limit in tokens.
        model: The embedder of the ground.
        name: Its name.
    """
    found = [Cut(f"cantle {key}", size, spans_of(make(size))) for key, make in _PLAIN.items()]
    for key, make in _EMBEDDING.items():
        models = {"static": embedder("static", None)}
        for label, by in (models | ({name: model} if key in _BY_MODEL else {})).items():
            counted = Counted(by)
            title = f"cantle {key}" if label == "static" else f"cantle {key} ({label})"
            found.append(Cut(title, size, spans_of(make(size, counted)), counted))
    return found


def matched(ground: Ground, wanted: float, sizes: Sequence[int] = range(16, 513)) -> Cut:
    """Return the recursive recipe whose chunks have a mean size, in tokens, as near as may be.

    Of the sizes those are tried that bisection asks for: the mean grows with the limit.
    """

    def mean(size: int) -> float:
        return float(cantle.Recursive(size, unit=UNIT).split_all(ground.texts).size.mean())

    low, high = 0, len(sizes) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if mean(sizes[middle]) < wanted else (low, middle)
    size = min(sizes[low], sizes[high], key=lambda size: abs(mean(size) - wanted))
    return Cut("cantle recursive", size, spans_of(cantle.Recursive(size, unit=UNIT)))
