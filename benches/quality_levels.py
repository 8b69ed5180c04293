"""Recipes of levels and models: groups of like chunks, late vectors, borders that are known.

Late vectors are left out where the embedder gives no vectors of tokens.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

import cantle
from cantle.measure.places import Place
from quality_ground import UNIT, Ground
from quality_recipes import Cut, Ranked, Recipe, spans_of
from quality_store import PARENT, PREFIX, SEARCHED, Stored, plain

SIZE = 100


def levels() -> list[Recipe]:
    """Return groups of like chunks: the finest level is found, and the one above it read."""
    found: list[Recipe] = []
    for key, make in (("hierarchical", cantle.Hierarchical), ("nested", cantle.Nested)):
        strategy = make(SIZE, unit=UNIT, parent_sizes=(4 * PARENT, PARENT))
        for searched in ("plain", "hybrid"):
            against = f"{PREFIX}{searched} parents of {PARENT} {SIZE}"
            own: dict[str, Any] = {"against": against, **SEARCHED[searched]}
            name = f"{PREFIX}{searched} {key} level 3"
            found.append(Stored(name, SIZE, plain(strategy), **own))
            name = f"{PREFIX}{searched} {key} level 3 to 2"
            found.append(Stored(name, SIZE, plain(strategy), how=cantle.parent(2), **own))
    return found


@dataclass
class LateRanked(Ranked):
    """Chunks by vectors that were pooled from their documents' token vectors."""

    vectors: Any = None

    @cached_property
    def order(self) -> Any:
        scores = self.ground.vectors(self.ground.questions) @ self.vectors.T
        return np.argsort(-scores, axis=1, kind="stable")


@dataclass(frozen=True)
class LateCut:
    """A recipe of chunks with late vectors, beside the same chunks with vectors of their own."""

    size: int
    model: Any
    """An embedder with token vectors."""
    name: str = "cantle recursive late"

    @property
    def against(self) -> str:
        return f"cantle recursive {self.size}"

    def open(self, ground: Ground) -> LateRanked:
        strategy = cantle.Recursive(self.size, unit=UNIT)
        chunks = strategy.split_all(ground.texts, ids=ground.ids)
        vectors = cantle.embed.Late(self.model).embed_chunks(chunks)
        columns = (chunks.doc, chunks.char_start, chunks.char_end)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        places = [Place(ground.ids[doc], start, end) for doc, start, end in rows]
        return LateRanked(ground, places, vectors)


def late(size: int, model: Any) -> list[Recipe]:
    """Return late vectors at a size, where the model gives token vectors."""
    within = getattr(model, "embedder", model)  # that of a cache
    return [LateCut(size, within)] if hasattr(within, "token_vectors") else []


@dataclass
class Known:
    """A stand-in of a language model that knows where what answers a question begins and ends.

    It names those ends of sentences. No model can know them: what it gains is an upper bound of
    what borders can.
    """

    ground: Ground
    squeezed: list[str] = field(init=False)
    """The texts without white space."""
    edges: list[tuple[set[int], set[int]]] = field(init=False)
    """Where references start in them, and where they end."""

    def __post_init__(self) -> None:
        self.squeezed = [_squeezed(text) for text in self.ground.texts]
        self.edges = []
        for name, text in zip(self.ground.ids, self.ground.texts, strict=True):
            seen = np.concatenate([[0], np.cumsum([not letter.isspace() for letter in text])])
            places = {p for own in self.ground.references for p in own if p.document == name}
            starts = {int(seen[place.char_start]) for place in places}
            self.edges.append((starts, {int(seen[place.char_end]) for place in places}))

    def __call__(self, prompt: str) -> str:
        """Return the ends of the sentences that a prompt shows, as `cantle.Llm` asks for them."""
        lines = [_squeezed(line) for line in re.findall(r"^\[\d+\] \(\d+\) (.*)$", prompt, re.M)]
        # A long sentence is shown by its beginning and its end.
        shown = re.compile(
            "".join(f"({'.*?'.join(map(re.escape, line.split('[...]')))})" for line in lines)
        )
        for text, (starts, ends) in zip(self.squeezed, self.edges, strict=True):
            if match := shown.search(text):
                sentences = [match.start(i) for i in range(1, len(lines) + 1)]
                # How many sentences stand before the one that a reference starts in, and how many
                # up to the one that it ends in.
                found = {bisect_right(sentences, start) - 1 for start in starts}
                found |= {bisect_left(sentences, end) for end in ends}
                return json.dumps({"ends": sorted(n for n in found if 0 < n < len(lines))})
        raise ValueError(f"no text holds the sentences that begin with {lines[0]!r}")


def _squeezed(text: str) -> str:
    return "".join(text.split())


@dataclass
class KnownCut:
    """A recipe of `cantle.Llm` with `Known` as its model."""

    size: int
    name: str = "cantle llm (upper bound of omega)"

    def open(self, ground: Ground) -> Ranked:
        llm = cantle.Llm(self.size, unit=UNIT, model=Known(ground), retries=0)
        return Cut(self.name, self.size, spans_of(llm)).open(ground)


def modelled(size: int, model: Any) -> list[Recipe]:
    """Return the recipes of models at a size."""
    return [KnownCut(size), *late(size, model)]
