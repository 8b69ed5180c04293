"""Cases of search: what they call, and one function per check. Hits are (id, score) per query."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from cantle.index import Exact, Hnsw
from cases import adapter, builders
from cases.error_checks import raises
from cases.work_checks import seconds
from processes import in_fresh_process
from search_oracle import nearest

OPS = {
    *("search", "build_twice", "save_load", "delete_then_search", "fork_search"),
    "input_unchanged",
}
PARAMETERS = {
    *("index", "metric", "k", "queries", "queries_gen", "queries_flat", "queries_lists", "ids"),
    *("ids_gen", "allow", "allow_gen", "ef", "k_list", "dim", "deterministic", "delete"),
}
adapter.OPS.update(OPS)
adapter.PARAMETERS.update(PARAMETERS)

Hits = list[list[tuple[int, float]]]


class Search:
    """What a case's call came to, made when a check asks."""

    def __init__(self, case: dict[str, Any]) -> None:
        self.case, self.call = case, case["call"]
        self.input = builders.make_input(case["input"])
        if isinstance(self.input, list):
            numbers = {"nan": float("nan"), "inf": float("inf")}
            self.input = [[numbers.get(x, x) for x in row] for row in self.input]
            if not self.input:
                self.input = np.empty((0, self.call.get("dim", 0)), np.float32)
        self.vectors = np.asarray(self.input, np.float64)

    def given(self, name: str) -> Any:
        """Return a parameter, which may be an expression."""
        if f"{name}_gen" in self.call:
            return builders.make_input({"gen": self.call[f"{name}_gen"]})
        return self.call.get(name)

    @property
    def queries(self) -> Any:
        for name in ("queries", "queries_lists"):
            if (found := self.given(name)) is not None:
                return found
        if (flat := self.given("queries_flat")) is not None:
            return [flat]
        return self.input[:10]

    @property
    def ids(self) -> list[int]:
        found = self.given("ids")
        return list(range(len(self.vectors))) if found is None else [int(i) for i in found]

    @property
    def metric(self) -> str:
        return self.call["metric"]

    def rows(self, ids: Any) -> list[int] | None:
        """Return the rows of ids; one that is unknown is no row."""
        if ids is None:
            return None
        places = {one: row for row, one in enumerate(self.ids)}
        return [places.get(int(one), len(places) + int(one)) for one in ids]

    def build(self, vectors: Any = None) -> Any:
        settings = {"exact": Exact, "hnsw": Hnsw}[self.call["index"]](metric=self.metric)
        return settings.build(self.input if vectors is None else vectors)

    def hits(self, index: Any, k: int, queries: Any = None) -> Hits:
        queries = self.queries if queries is None else queries
        allow, ef = self.rows(self.given("allow")), self.call.get("ef")
        found = index.search_all(queries, k, ef=ef, allow=allow)
        for query, one in zip(queries, found, strict=True):
            alone = index.search(query, k, ef=ef, allow=allow)
            assert alone.rows.tolist() == one.rows.tolist()
            assert alone.scores.tolist() == one.scores.tolist()
        ids = self.ids
        return [
            [(ids[row], score) for row, score in zip(one.rows, one.scores.tolist(), strict=True)]
            for one in found
        ]

    @cached_property
    def answer(self) -> Any:
        try:
            return self.run()
        except Exception as error:
            return error

    def run(self) -> Hits:
        index = self.build()
        if "delete" in self.call:
            index = index.without(self.rows(self.call["delete"]))
        return self.hits(index, self.call.get("k", 5))

    @property
    def found(self) -> Hits:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    @cached_property
    def plain(self) -> list[list[float]]:
        """The vectors as the oracle takes them."""
        return self.vectors.astype(np.float32).tolist()

    def true(self, query: int, k: int) -> list[int]:
        """Return the ids of the true nearest."""
        rows = set(range(len(self.vectors)))
        if (allow := self.rows(self.given("allow"))) is not None:
            rows &= set(allow)
        rows -= set(self.rows(self.call.get("delete", [])) or [])
        asked = np.asarray(self.queries, np.float32)[query].tolist()
        return [self.ids[row] for row in nearest(self.metric, self.plain, asked, k, rows)]


CHECKS: dict[str, Callable[[Search, dict[str, Any]], None]] = {
    "raises": raises,  # type: ignore[dict-item]
    "seconds": seconds,  # type: ignore[dict-item]
}


def check(run: Callable[[Search, dict[str, Any]], None]) -> None:
    CHECKS[run.__name__.removesuffix("_")] = run


def ids_of(hits: Hits) -> list[list[int]]:
    return [[one for one, _ in found] for found in hits]


@check
def hits_(outcome: Search, given: dict[str, Any]) -> None:
    assert ids_of(outcome.found) == given["ids"]


@check
def hits_prefix(outcome: Search, given: dict[str, Any]) -> None:
    for found, wanted in zip(ids_of(outcome.found), given["ids"], strict=True):
        assert found[: len(wanted)] == wanted


@check
def hits_at(outcome: Search, given: dict[str, Any]) -> None:
    assert ids_of(outcome.found)[given["query"]][0] == given["first"]


@check
def hits_self(outcome: Search, given: dict[str, Any]) -> None:
    assert [found[0] for found in ids_of(outcome.found)] == outcome.ids[: len(outcome.found)]


@check
def hit_counts(outcome: Search, given: dict[str, Any]) -> None:
    assert [len(found) for found in outcome.found] == given["counts"]


@check
def no_negative_ids(outcome: Search, given: dict[str, Any]) -> None:
    assert all(one >= 0 for found in ids_of(outcome.found) for one in found)


@check
def sorted_desc(outcome: Search, given: dict[str, Any]) -> None:
    assert all(a[1] >= b[1] for found in outcome.found for a, b in pairwise(found))


@check
def scores_finite(outcome: Search, given: dict[str, Any]) -> None:
    assert outcome.found
    assert all(np.isfinite(score) for found in outcome.found for _, score in found)


@check
def scores_within(outcome: Search, given: dict[str, Any]) -> None:
    scores = [score for found in outcome.found for _, score in found]
    assert scores
    assert given["lo"] <= min(scores)
    assert max(scores) <= given["hi"]


@check
def no_negative_distance(outcome: Search, given: dict[str, Any]) -> None:
    """A distance is told with a minus."""
    assert all(-score >= 0 for found in outcome.found for _, score in found)


@check
def only_allowed(outcome: Search, given: dict[str, Any]) -> None:
    assert {one for found in ids_of(outcome.found) for one in found} <= set(outcome.given("allow"))


@check
def never_ids(outcome: Search, given: dict[str, Any]) -> None:
    assert not {one for found in ids_of(outcome.found) for one in found} & set(given["ids"])


@check
def ids_from(outcome: Search, given: dict[str, Any]) -> None:
    found = [one for hits in ids_of(outcome.found) for one in hits]
    assert found
    assert all(given["lo"] <= one <= given["hi"] for one in found)


@check
def matches_brute_force(outcome: Search, given: dict[str, Any]) -> None:
    for query, found in enumerate(ids_of(outcome.found)):
        assert found == outcome.true(query, outcome.call["k"])


CHECKS["matches_brute_force_without_deleted"] = CHECKS["matches_brute_force"]


@check
def recall_at_least(outcome: Search, given: dict[str, Any]) -> None:
    shares = []
    for query, found in enumerate(ids_of(outcome.found)):
        true = outcome.true(query, given["k"])
        shares.append(len(set(found[: given["k"]]) & set(true)) / len(true))
    assert np.mean(shares) >= given["value"]


@check
def k_prefix_consistent(outcome: Search, given: dict[str, Any]) -> None:
    index = outcome.build()
    found = [outcome.hits(index, k) for k in sorted(outcome.call["k_list"])]
    for fewer, more in pairwise(found):
        assert all(b[: len(a)] == a for a, b in zip(fewer, more, strict=True))


@check
def all_queries_equal(outcome: Search, given: dict[str, Any]) -> None:
    assert all(found == outcome.found[0] for found in outcome.found)


@check
def same_as_float32(outcome: Search, given: dict[str, Any]) -> None:
    index = outcome.build(outcome.vectors.astype(np.float32))
    asked = np.asarray(outcome.queries, np.float32)
    assert outcome.found == outcome.hits(index, outcome.call["k"], asked)


@check
def same_after_reload(outcome: Search, given: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index"
        index = outcome.build()
        index.save(path)
        again = {"exact": Exact, "hnsw": Hnsw}[outcome.call["index"]].open(path)
        assert outcome.hits(again, outcome.call["k"]) == outcome.found
        del again


@check
def array_unchanged(outcome: Search, given: dict[str, Any]) -> None:
    vectors = np.array(outcome.input, np.float32)
    before = vectors.copy()
    outcome.hits(outcome.build(vectors), outcome.call.get("k", 5))
    assert (vectors == before).all()


@check
def either(outcome: Search, given: dict[str, Any]) -> None:
    """An error, which the documentation of `search` says."""
    assert given["b"] == ["raises ValueError"]
    assert str(outcome.answer) == "k (0) must be at least 1"
    assert isinstance(outcome.answer, ValueError)


_SAME = """
import sys
from cases.searching import CASES, Search
print(Search(CASES[sys.argv[1]]).run())
"""
_FORK = """
import os, sys
from cases.searching import CASES, Search
outcome = Search(CASES[sys.argv[1]])
before = outcome.run()
child = os.fork()
if child == 0:
    os._exit(0 if outcome.run() == before else 3)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
CASES = adapter.CASES


@check
def same_each_run(outcome: Search, given: dict[str, Any]) -> None:
    assert in_fresh_process(_SAME, outcome.case["id"]) == f"{outcome.found}\n"


@check
def fork_child_finishes(outcome: Search, given: dict[str, Any]) -> None:
    assert in_fresh_process(_FORK, outcome.case["id"], timeout=given["within_s"]) == "0\n"
