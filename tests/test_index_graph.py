"""A graph finds nearly all that exact search finds, whatever is filtered or taken out."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from cantle.index import METRICS, Exact, Hnsw, hnsw
from index_vectors import clustered

pytest.importorskip("faiss")


def filters(cluster: Any, share: float) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    random = rng.random(len(cluster)) < share
    order = np.argsort(cluster, kind="stable")
    region = np.zeros(len(cluster), np.bool_)
    region[order[: max(1, int(share * len(cluster)))]] = True
    return {"random": random, "region": region, "range": range(int(share * len(cluster)))}


@pytest.fixture(scope="module")
def graph() -> tuple[Any, Any, Any, Any]:
    """Vectors, some of them equal and some zero, their clusters, and both indexes."""
    rows, cluster = clustered(6_000)
    rows[100:140] = rows[50]
    rows[200:230] = 0
    return rows, cluster, Hnsw(ef_construction=60).build(rows), Exact().build(rows)


@pytest.mark.parametrize("few", [5_000, 0], ids=["as it is", "by the graph where it can be"])
@pytest.mark.parametrize("share", [0.5, 0.1, 0.01, 0.001])
def test_k_rows_come_back_whatever_is_filtered(
    graph: Any, share: float, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, cluster, index, exact = graph
    monkeypatch.setattr(hnsw, "_FEW", few)
    if not few:
        monkeypatch.setattr(hnsw, "_STEP", 0)
    ways = set()
    for allow in filters(cluster, share).values():
        allowed = np.zeros(len(rows), np.bool_)
        allowed[allow] = True
        found = index.search_all(rows[:40] + np.float32(0.1), 10, allow=allow)
        true = exact.search_all(rows[:40] + np.float32(0.1), 10, allow=allow)
        shares = []
        for one, wanted in zip(found, true, strict=True):
            ways.add(one.plan.kind)
            assert allowed[one.rows].all()
            assert len(one) == min(10, np.count_nonzero(rows[allowed].any(axis=1)))
            shares.append(np.isin(one.rows, wanted.rows).mean())
        assert np.mean(shares) >= 0.95
    if not few and share == 0.1:
        # A region that the query is not in: no candidate of the graph is allowed.
        assert ways >= {"hnsw", "hnsw, then exact"}


def test_without_a_filter_nearly_all_are_found(graph: Any) -> None:
    rows, _, index, exact = graph
    queries = rows[300:400] + np.float32(0.1)
    found, true = index.search_all(queries, 10), exact.search_all(queries, 10)
    shares = [np.isin(a.rows, b.rows).mean() for a, b in zip(found, true, strict=True)]
    assert np.mean(shares) >= 0.98
    assert found.plans[0].kind == "hnsw"
    assert np.abs(found.scores - true.scores)[found.rows == true.rows].max() < 1e-6


def test_equal_vectors_are_one_node_and_come_back_by_row(graph: Any) -> None:
    rows, _, index, _ = graph
    assert index.search(rows[50], 41).rows.tolist() == [50, *range(100, 140)]
    assert index.search(rows[50], 3, allow=[120, 139, 101]).rows.tolist() == [101, 120, 139]
    assert index.search(rows[50]).plan.distinct == 6_000 - 40 - 30
    assert index.unranked == 30
    assert "5,930 vectors" in str(index.search(rows[50]).plan)


def test_rows_taken_out_never_come_back(graph: Any) -> None:
    rows, _, index, exact = graph
    out = np.arange(40, 120)
    for less in (index.without(out), index.without(out[:40]).without(out[40:])):
        assert less.unranked == 30 + 80
        assert less.search(rows[50], 5).rows.tolist() == list(range(120, 125))
        found = less.search_all(rows[:100], 10)
        assert not np.isin(found.rows, out).any()
        true = exact.without(out).search_all(rows[:100], 10)
        assert np.mean(found.rows == true.rows) > 0.95
    assert index.search(rows[50], 1).rows.tolist() == [50]


def test_when_all_is_taken_out_nothing_comes_back(graph: Any) -> None:
    rows, _, index, exact = graph
    for one in (index, exact):
        empty = one.without(slice(None))
        assert empty.unranked == len(empty) == 6_000
        found = empty.search(rows[0])
        assert len(found) == 0
        assert found.plan.reason == "the index has no row"
        assert empty.search_all(rows[:3], 4).rows.tolist() == [[-1] * 4] * 3


def test_the_graph_is_the_same_for_any_number_of_threads() -> None:
    rows, _ = clustered(1_500)
    graphs = [
        Hnsw(ef_construction=40).build(rows, threads=n).__getstate__()["_nodes"] for n in (1, 2, 4)
    ]
    assert (graphs[0] == graphs[1]).all()
    assert (graphs[0] == graphs[2]).all()


def test_threads_may_search_one_index(graph: Any) -> None:
    rows, _, index, exact = graph
    for one in (index, exact):
        expected = one.search_all(rows[:64], 7)
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda query, one=one: one.search(query, 7), rows[:64]))
        assert [f.rows.tolist() for f in found] == expected.rows.tolist()
        assert [f.scores.tolist() for f in found] == expected.scores.tolist()


def test_progress_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hnsw, "_BATCH", 100)
    told: list[tuple[int, int]] = []
    Hnsw(m=4, ef_construction=8).build(
        clustered(250)[0], progress=lambda done, all_: told.append((done, all_))
    )
    assert told == [(100, 250), (200, 250), (250, 250)]


@pytest.mark.parametrize("metric", METRICS)
def test_half_the_bytes(metric: str) -> None:
    rows, _ = clustered(2_000)
    half = Hnsw(fp16=True, metric=metric, ef_construction=60).build(rows)
    true = Exact(metric).build(rows).search_all(rows[:50], 10)
    found = half.search_all(rows[:50], 10)
    assert np.mean([np.isin(a.rows, b.rows).mean() for a, b in zip(found, true, strict=True)]) > 0.9
    assert np.abs(found.scores - true.scores).max() < 0.02
    assert half._scan.vectors.nbytes * 2 == rows.nbytes
