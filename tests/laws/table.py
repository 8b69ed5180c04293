"""What the laws run over: every strategy with its settings, every kind of unit with its counter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

import cantle
import oracle
import samples
from cantle import Separator
from conftest import SLOW

in_each_cell = settings(max_examples=2_000 if SLOW else 12)
"""Few examples for each strategy times each unit: over all cells a law meets 1,700."""

_min_size = st.sampled_from([0, 0, 0.3, 1])
_separators = st.sampled_from(
    [
        None,
        None,
        ["\n## ", "\n\n", "\n", ". ", " "],
        [Separator(r"\s+", regex=True), ""],
        [Separator("a", side="start"), "\r"],
    ]
)

SETTINGS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "whole": {},
    "window": {},
    "recursive": {"min_size": _min_size, "separators": _separators},
    "sentence": {"min_size": _min_size},
    "structural": {
        "min_size": _min_size,
        "depth": st.sampled_from(["auto", "all", 1, 3]),
        "target": st.sampled_from([None, 1, 20, 400]),
    },
    "rows": {
        "keys": st.sampled_from([0, 1, 2]),
        "header": st.booleans(),
        "format": st.sampled_from(["auto", "csv", "text"]),
    },
    "clauses": {"items": st.booleans(), "format": st.sampled_from(["auto", "markdown"])},
    "routed": {},
    "semantic": {
        "percentile": st.sampled_from([None, None, 0, 50, 100]),
        "mode": st.sampled_from(["previous", "centroid"]),
        "buffer": st.sampled_from([0, 0, 1]),
    },
    "optimal": {
        "min_size": st.sampled_from([None, 0.3]),
        "target": st.sampled_from([None, 0.3, 1.0]),
    },
    "llm": {
        "window": st.sampled_from([60, 5]),
        "shared": st.sampled_from([1, 4]),
        "retries": st.just(0),
        "min_size": st.sampled_from([None, 0.3]),
    },
    "hierarchical": {
        "parent_sizes": st.sampled_from([None, (900, 200), (120, 100)]),
        "distances": st.sampled_from([None, (1, 0.3)]),
        "groups": st.sampled_from([None, (2, 5)]),
    },
    "nested": {"parent_sizes": st.sampled_from([None, (900, 200), (120, 100)])},
    "documentbased": {
        "percentile": st.sampled_from([None, 0]),
        "depth": st.sampled_from(["auto", "all", 1]),
    },
}
"""Every strategy of the registry with what it takes beside size, overlap, unit and trim.

`min_size` is drawn as a share of `size`, and so is a `target` with a point. A strategy that is not
listed fails a test.
"""


@dataclass(frozen=True)
class Counted:
    """A unit with another way to count it: the real tokenizer's own library, or plain Python."""

    unit: Any
    count: Callable[[str], int]
    adds_up: bool = True
    """Whether more text never has fewer units, nor two parts more than the whole."""


@cache
def _foreign(name: str, special: bool) -> Counted:
    tokenizer = cantle.Tokenizer.from_object(samples.foreign(name), count_special=special)
    count = partial(samples.foreign_count, name, special=special)
    return Counted(tokenizer, lambda text: count(text) if text else 0, adds_up=False)


UNITS: dict[str, Callable[[], Counted]] = {
    "bytes": lambda: Counted("bytes", lambda text: len(text.encode())),
    "chars": lambda: Counted("chars", len),
    "words": lambda: Counted("words", lambda text: oracle.size(text, "words")),
    "cl100k_base": lambda: Counted(
        "cl100k_base", partial(samples.tiktoken_count, "cl100k_base"), adds_up=False
    ),
    "o200k_base": lambda: Counted(
        "o200k_base", partial(samples.tiktoken_count, "o200k_base"), adds_up=False
    ),
    "wordpiece": lambda: _foreign("wordpiece_mini", special=False),
    "wordpiece with specials": lambda: _foreign("wordpiece_mini", special=True),
    "bytes after NFKC": lambda: _foreign("nfkc_bytes", special=False),
    "callable": lambda: Counted(samples.weighed, samples.weighed),
    "callable that does not add up": lambda: Counted(
        samples.Padded(), lambda text: samples.Padded()(text) if text else 0, adds_up=False
    ),
}


@dataclass(frozen=True)
class Cell:
    """One strategy with all its settings, and a text."""

    strategy: Any
    text: str
    counted: Counted

    @property
    def trim(self) -> bool:
        return self.strategy.trim


@st.composite
def cells(draw: st.DrawFn, name: str, unit: str) -> Cell:
    counted = UNITS[unit]()
    least = 3 if unit == "wordpiece with specials" else 1
    size = draw(st.one_of(st.integers(least, least + 9), st.integers(least, 90)))
    extra = {key: draw(values) for key, values in SETTINGS[name].items()}
    if extra.get("min_size") is not None:
        extra["min_size"] = int(extra["min_size"] * size)
    if isinstance(extra.get("target"), float):
        extra["target"] = max(1, int(extra["target"] * size))
    strategy = samples.built(
        name,
        size,
        draw(st.one_of(st.just(0), st.integers(0, size - 1))),
        counted.unit,
        draw(st.booleans()),
        **extra,
    )
    return Cell(strategy, draw(samples.texts), counted)
