"""What recipes are worth on a ground: figures for each question, and intervals of differences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cantle.bench.table import markdown
from cantle.measure import retrieval
from cantle.measure.bootstrap import Interval, intervals
from quality_ground import Ground
from quality_recipes import K, Recipe, Retriever

BUDGETS = (500, 1000, 2000)
"""Tokens that may be retrieved for a question."""
Score = Callable[[Retriever, Ground, int], float]


def _of_first(measure: Callable[..., float]) -> Score:
    def score(retriever: Retriever, ground: Ground, question: int) -> float:
        return float(measure(ground.references[question], retriever.first(question, K)))

    return score


def _within(budget: int) -> Score:
    def score(retriever: Retriever, ground: Ground, question: int) -> float:
        passages = retriever.within(question, budget)
        return retrieval.recall(ground.references[question], passages)

    return score


def _visible(retriever: Retriever, ground: Ground, question: int) -> float:
    return retrieval.whole(ground.visible(question), retriever.first(question, K))


def _omega(retriever: Retriever, ground: Ground, question: int) -> float:
    return retrieval.omega(ground.references[question], retriever.chunks)


COLUMNS: dict[str, Score] = {
    "recall": _of_first(retrieval.recall),
    "precision": _of_first(retrieval.precision),
    "IoU": _of_first(retrieval.iou),
    "omega": _omega,
    "full": _of_first(retrieval.whole),
    "visible": _visible,
    **{f"R@{budget}t": _within(budget) for budget in BUDGETS},
}
"""What is told of a recipe: a number from 0 to 1 for each question."""
UNRANKED = ("omega",)
"""The columns that no vector is needed for."""


@dataclass(frozen=True)
class Row:
    """What a recipe is worth."""

    name: str
    size: int
    chunks: int
    tokens: float
    """The mean size of a chunk."""
    scores: dict[str, np.ndarray]
    """By column, a number for each question."""
    embedded: int = 0
    """Texts that were embedded to find borders."""
    embedded_share: float = 0.0
    """Their characters, for each character of the texts."""
    seconds: float | None = None
    """What the cutting took."""
    against: str = ""
    """Name and size of the row that it is compared with, where its recipe names one."""

    @property
    def title(self) -> str:
        return f"{self.name} {self.size}"


def row(recipe: Recipe, ground: Ground, columns: Iterable[str] = COLUMNS) -> Row:
    """Return what a recipe is worth on a ground, in some of the columns."""
    retriever = recipe.open(ground)
    questions = range(len(ground.questions))
    scores = {
        name: np.array([COLUMNS[name](retriever, ground, i) for i in questions], np.float64)
        for name in columns
    }
    counted = getattr(recipe, "embeds", None)
    return Row(
        recipe.name,
        recipe.size,
        len(retriever.chunks),
        float(np.mean(retriever.tokens)),
        scores,
        counted.texts if counted else 0,
        counted.characters / sum(map(len, ground.texts)) if counted else 0.0,
        getattr(recipe, "seconds", None),
        getattr(recipe, "against", ""),
    )


def differences(pairs: Sequence[tuple[Row, Row]]) -> list[dict[str, Interval]]:
    """Return how much higher the first row of each pair is, question by question.

    For every column that both rows have.
    """
    less = [
        {name: one.scores[name] - other.scores[name] for name in one.scores if name in other.scores}
        for one, other in pairs
    ]
    every = [values for columns in less for values in columns.values()]
    found = iter(intervals(np.column_stack(every)) if every else [])
    return [{name: next(found) for name in columns} for columns in less]


def figures_of(pairs: Sequence[tuple[Row, Row | None]]) -> list[dict[str, Any]]:
    """Return rows as values that JSON has, in percent as the tables.

    Args:
        pairs: Each row with the one that it is compared with, if any.
    """
    told = [_figures(row) for row, _ in pairs]
    known = [i for i, (row, other) in enumerate(pairs) if other is not None and other is not row]
    both = [(row, other) for row, other in pairs if other is not None and other is not row]
    for i, (_, other), found in zip(known, both, differences(both), strict=True):
        told[i]["against"] = other.title
        told[i]["differences"] = {name: list(map(_percent, one)) for name, one in found.items()}
    return told


def _figures(row: Row) -> dict[str, Any]:
    return {
        "name": row.name,
        "size": row.size,
        "chunks": row.chunks,
        "tokens": round(row.tokens, 1),
        "embedded": row.embedded,
        "embedded_share": round(row.embedded_share, 2),
        "seconds": None if row.seconds is None else round(row.seconds, 3),
        "scores": {name: _percent(values.mean()) for name, values in row.scores.items()},
    }


def _percent(value: float) -> float:
    return round(100 * float(value), 2)


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Return the table of figures, in percent."""
    heads = ["recipe", "size", "chunks", "tokens", *COLUMNS, "embedded"]
    cells = [
        [
            row["name"],
            f"{row['size']}",
            f"{row['chunks']:,}",
            f"{row['tokens']:.0f}",
            *(f"{row['scores'][name]:.1f}" for name in COLUMNS),
            f"{row['embedded_share']:.2f}" if row["embedded"] else "-",
        ]
        for row in rows
    ]
    return markdown(heads, cells)


def table_of_differences(rows: Sequence[dict[str, Any]]) -> str:
    """Return the table of differences with their intervals; a star where zero lies outside."""
    less = [row for row in rows if "differences" in row]
    columns = [name for name in COLUMNS if any(name in row["differences"] for row in less)]
    cells = [
        [
            row["name"],
            f"{row['size']}",
            f"{row['tokens']:.0f}",
            row["against"],
            *(_told(row["differences"][name]) for name in columns),
        ]
        for row in less
    ]
    return markdown(["recipe", "size", "tokens", "less", *columns], cells)


def _told(found: Sequence[float]) -> str:
    mean, low, high = found
    star = "*" if low > 0 or high < 0 else ""
    return f"{mean:+.1f} [{low:+.1f}, {high:+.1f}]{star}"
