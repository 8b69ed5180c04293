"""Recipes over `cantle.Store`, in memory: what it finds by default, and each part of that alone.

Chunks go through `Store.load` as anybody's do, so those that it leaves out as too short are left
out here. Of what is read around hits, a budget gets as much as `Hits.expand` puts into it; of hits
alone, what `Store.retrieve` does. Neither cuts a chunk off: a budget is not filled to the last
token, as it is for recipes that are ranked by cosine alone (`quality_recipes.Ranked`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil
from typing import Any

import cantle
from cantle.chunks import Chunks
from cantle.measure.places import Place
from cantle.store.expand import Expansion
from cantle.store.searching import Blend
from cantle.strategies import Splitting
from quality_ground import UNIT, Ground
from quality_recipes import Recipe

PREFIX = "store "
"""How the names of these recipes begin."""
SIZES = (75, 100, 200, 400)
PARENT = 400
"""Tokens of a parent, at most."""
ENOUGH = 2
"""Times as many hits are expanded as the budget would hold without what is around them."""
Chunked = Callable[[Ground], Chunks]


@dataclass
class Searching:
    """A store that answers the questions of a ground."""

    ground: Ground
    store: cantle.Store
    mode: str
    how: Expansion | None = None
    _first: dict[tuple[int, int], list[Place]] = field(default_factory=dict)

    @cached_property
    def chunks(self) -> list[Place]:
        """What is searched; of chunks that were cut within others not these."""
        rows = self.store.snapshot()
        searched = [at for at, row in enumerate(rows.strategies) if row.searched]
        return [
            Place(rows.sources[source].id, start, end)
            for source, strategy, start, end in zip(
                rows.source.tolist(),
                rows.strategy.tolist(),
                rows.char_start.tolist(),
                rows.char_end.tolist(),
                strict=True,
            )
            if strategy in searched
        ]

    @cached_property
    def tokens(self) -> list[int]:
        return self.ground.tokens([self.ground.text(place) for place in self.chunks])

    @cached_property
    def _vectors(self) -> Any:
        return self.ground.vectors(self.ground.questions)

    def hits(self, question: int, k: int) -> cantle.Hits:
        """Return the best k chunks for a question."""
        asked = self.ground.questions[question]
        return self.store.search(asked, k, vector=self._vectors[question], mode=self.mode)

    def first(self, question: int, k: int) -> list[Place]:
        if (question, k) not in self._first:
            hits = self.hits(question, k)
            self._first[question, k] = (
                [Place(hit.source, hit.char_start, hit.char_end) for hit in hits]
                if self.how is None
                else _places(hits.expand(self.how))
            )
        return self._first[question, k]

    def within(self, question: int, budget: int) -> list[Place]:
        if self.how is None:
            asked, vector = self.ground.questions[question], self._vectors[question]
            return _places(self.store.retrieve(asked, budget, vector=vector, mode=self.mode))
        k = ceil(budget * len(self.tokens) / sum(self.tokens))
        # `auto_merge` counts hits: more of them than can be read would merge everything.
        many = 1 if isinstance(self.how, cantle.auto_merge) else ENOUGH
        return _places(self.hits(question, many * k).expand(self.how, budget=budget))


def _places(passages: Iterable[cantle.Passage]) -> list[Place]:
    return [Place(one.source, start, end) for one in passages for start, end in one.spans]


@dataclass(frozen=True)
class Stored:
    """A recipe: how texts are cut, what is searched, and what is read around a hit."""

    name: str
    size: int
    cut: Chunked
    against: str
    """The name and size of the recipe that it is compared with."""
    blend: Blend = None
    mode: str = "dense"
    how: Expansion | None = None
    min_chars: int = 20
    """Characters of a chunk that a store takes, at least: its default."""

    def open(self, ground: Ground) -> Searching:
        store = cantle.Store.open(embedder=ground.embedder, blend=self.blend)
        store.load(self.cut(ground), embed=True, min_chars=self.min_chars)
        return Searching(ground, store, self.mode, self.how)


def plain(strategy: Splitting) -> Chunked:
    """Return the function from a ground to the chunks of a strategy."""
    return lambda ground: strategy.split_all(ground.texts, ids=ground.ids)


def within_parents(size: int) -> Chunked:
    """Return the function from a ground to chunks that are cut within those of 400 tokens."""

    def cut(ground: Ground) -> Chunks:
        parents = cantle.Recursive(PARENT, unit=UNIT).split_all(ground.texts, ids=ground.ids)
        return cantle.Recursive(size, unit=UNIT).split_within(parents)

    return cut


SEARCHED: dict[str, dict[str, Any]] = {
    "plain": {},
    "blend": {"blend": "auto"},
    "words": {"mode": "text"},
    "words smoothed": {"mode": "text", "blend": "auto"},
    "hybrid plain": {"mode": "hybrid"},
    "hybrid": {"mode": "hybrid", "blend": "auto"},
}
"""Blend and mode by the name in a recipe's. `hybrid` is what a store does by default: blended
vectors, smoothed words."""


def stored() -> list[Recipe]:
    """Return every recipe over a store."""
    return [*_units(), *_splitters(), *_expanded()]


def _units() -> list[Stored]:
    """Return units of every size, searched in every way that blends at that size."""
    return [
        Stored(
            f"{PREFIX}{name}",
            size,
            plain(cantle.Recursive(size, unit=UNIT)),
            f"{PREFIX}plain {size}",
            **how,
        )
        for size in SIZES
        for name, how in SEARCHED.items()
    ]


def _splitters(size: int = SIZES[0]) -> list[Stored]:
    """Return units of other strategies, to be compared with those of the recursive one."""
    strategies = {
        "sentence": cantle.Sentence(size, unit=UNIT),
        "structural": cantle.Structural(size, unit=UNIT),
    }
    return [
        Stored(f"{PREFIX}{key} {name}", size, plain(strategy), f"{PREFIX}{name} {size}", **how)
        for key, strategy in strategies.items()
        for name, how in SEARCHED.items()
        if name in ("plain", "blend", "hybrid")
    ]


def _expanded() -> list[Stored]:
    """Return what is read around hits, of plain chunks and of the store's defaults."""
    found = []
    for searched, size in (("plain", 100), ("hybrid", 100), ("hybrid", 75)):
        units, children = plain(cantle.Recursive(size, unit=UNIT)), within_parents(size)
        ways: dict[str, tuple[Chunked, Expansion]] = {
            "neighbours": (units, cantle.neighbours(1)),
            "adaptive .6": (units, cantle.adaptive(0.6)),
            f"auto_merge .5 of {PARENT}": (children, cantle.auto_merge(0.5)),
            f"parents of {PARENT}": (children, cantle.parent(1)),
        }
        found += [
            Stored(
                f"{PREFIX}{searched} {name}",
                size,
                cut,
                f"{PREFIX}{searched} {size}",
                how=how,
                **SEARCHED[searched],
            )
            for name, (cut, how) in ways.items()
        ]
    return found
