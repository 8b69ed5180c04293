"""Cases of expansion: children that were found, with scores, and the parents read for them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

import cantle
from cantle.index import Exact
from cases import adapter

adapter.OPS.add("expand")
adapter.PARAMETERS.update({"parents", "hits"})


class Expansion:
    """The case's parents and children as a store has them, found with the scores that it gives.

    A child's vector is its score, so that a query of 1 finds it with that.
    """

    def __init__(self, case: dict[str, Any]) -> None:
        self.case, self.call = case, case["call"]

    @cached_property
    def answer(self) -> Any:
        """The parents' names and scores, the best first."""
        parents: dict[str, list[str]] = self.call["parents"]
        scores = {_text(name): score for name, score in self.call["hits"]}
        lines = [" ".join(map(_text, children)) for children in parents.values()]
        text = _BETWEEN.join(lines)
        starts = np.cumsum([0, *(len(line) + len(_BETWEEN) for line in lines)]).tolist()
        spans = [(start, start + len(line)) for start, line in zip(starts, lines, strict=False)]
        whole = cantle.Chunks.from_spans([text], [spans], name="parents")
        small = cantle.Window(1, unit="words", name="children").split_within(whole)

        def embed(texts: list[str]) -> Any:
            return np.array([[scores.get(one, -1.0)] for one in texts], np.float32)

        with cantle.Store.open(embedder=embed, index=Exact("ip"), blend=None) as store:
            store.load(whole, embed=False)
            store.load(small, embed=True)
            hits = store.search(
                vector=[1.0], k=len(scores), mode="dense", where={"strategy": small.name}
            )
            assert [hit.text for hit in hits] == list(scores)
            found = hits.expand(cantle.parent("parents"), order="score")
        names = dict(zip(lines, parents, strict=True))
        return [(names[one.passage], one.score) for one in found]


_BETWEEN = "\n\nNothing of these.\n\n"


def _text(name: str) -> str:
    """Return a child's text: a word, and long enough for a store to take it."""
    return name.ljust(24, "_")


CHECKS: dict[str, Callable[[Expansion, dict[str, Any]], None]] = {}


def check(run: Callable[[Expansion, dict[str, Any]], None]) -> None:
    CHECKS[run.__name__] = run


@check
def parents(outcome: Expansion, given: dict[str, Any]) -> None:
    assert [name for name, _ in outcome.answer] == given["ids"]


@check
def parent_scores(outcome: Expansion, given: dict[str, Any]) -> None:
    assert np.allclose([score for _, score in outcome.answer], given["scores"])
