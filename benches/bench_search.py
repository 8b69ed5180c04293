"""Speed and recall of the indexes, beside plain faiss on the same vectors, and under filters.

    python benches/bench_search.py [--rows 100000] [--dimensions 384] [--json FILE]
    pytest benches/bench_search.py            # the answers checked on few vectors, untimed

Vectors stand in 1,000 clusters of which few are large (Zipf), and are of length 1; queries are of
the same clusters. *Exact* is beside `IndexFlatIP`, *Hnsw* beside `IndexHNSWFlat`: faiss searches
the very graph that was built, so what differs is what stands around it. Both take turns, and the
best round of each counts, since other work on the machine only makes slower. Recall is the share of
the true nearest rows, by exact search, whose own answer is compared with float64.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import figures
from cantle.bench.table import figure, markdown
from cantle.index import Exact, ExactIndex, Hnsw, HnswIndex

try:
    import faiss
except ImportError:  # The tables are written without it.
    faiss = None

K = 10
CLUSTERS = 1_000
SHARES = (0.5, 0.1, 0.01, 0.001)
WIDTHS = (16, 32, 64, 128, 200, 400)
Vectors = np.ndarray[Any, np.dtype[np.float32]]
Told = dict[str, Any]


def vectors(rows: int, dimensions: int, queries: int) -> tuple[Vectors, Vectors, Any]:
    """Return rows, queries, and the cluster of each row: the same in every run."""
    rng = np.random.default_rng(10)
    centres = rng.standard_normal((CLUSTERS, dimensions)).astype(np.float32)
    weights = 1 / np.arange(1, CLUSTERS + 1)
    cluster = rng.choice(CLUSTERS, rows + queries, p=weights / weights.sum())
    found = np.empty((rows + queries, dimensions), np.float32)
    for first in range(0, len(found), 10_000):
        part = slice(first, first + 10_000)
        noise = rng.standard_normal((len(cluster[part]), dimensions), dtype=np.float32)
        found[part] = centres[cluster[part]] + 0.8 * noise
        found[part] /= np.linalg.norm(found[part], axis=1, keepdims=True)
    found.flags.writeable = False
    return found[:rows], found[rows:], cluster[:rows]


def filters(cluster: Any, share: float) -> dict[str, Any]:
    """Return masks that allow a share of the rows: any rows, and those of whole clusters."""
    rng = np.random.default_rng(int(share * 1e4))
    random = rng.random(len(cluster)) < share
    clustered = np.zeros(len(cluster), np.bool_)
    for one in rng.permutation(CLUSTERS):
        if clustered.mean() >= share:
            break
        clustered |= cluster == one
    # The last cluster may be a large one.
    over = np.flatnonzero(clustered)[max(K, int(share * len(cluster))) :]
    clustered[over] = False
    return {"random": random, "clustered": clustered}


def recall(found: Any, true: Any) -> float:
    pairs = list(zip(found, true, strict=True))
    return float(np.mean([len(np.intersect1d(a.rows, b.rows)) / len(b.rows) for a, b in pairs]))


def best(runs: Sequence[Callable[[], Any]], rounds: int) -> list[float]:
    """Return the seconds of the best round of each, in turns."""
    found = [float("inf")] * len(runs)
    for _ in range(rounds):
        for i, run in enumerate(runs):
            start = time.perf_counter()
            run()
            found[i] = min(found[i], time.perf_counter() - start)
    return found


def one_by_one(
    searches: Sequence[Callable[[Any], Any]], queries: Vectors, rounds: int
) -> list[float]:
    """Return the seconds that each search takes for a query: the best of the rounds, the mean.

    Each search goes through all queries before the next one does: of two that read the same rows
    for one query, the second finds them in the processor's cache.
    """
    found = np.full((len(searches), len(queries)), np.inf)
    for _ in range(rounds):
        for j, search in enumerate(searches):
            for i, query in enumerate(queries):
                start = time.perf_counter()
                search(query)
                found[j, i] = min(found[j, i], time.perf_counter() - start)
    return [float(mean) for mean in found.mean(axis=1)]


def check_exact(rows: Vectors, queries: Vectors, index: ExactIndex) -> None:
    """Fail unless exact search is what float64 gives."""
    for query, found in zip(queries, index.search_all(queries, K), strict=True):
        scores = rows.astype(np.float64) @ query.astype(np.float64)
        scores /= np.linalg.norm(rows.astype(np.float64), axis=1)
        order = np.argsort(-scores, kind="stable")[:K]
        assert found.rows.tolist() == order.tolist()


def copied(rows: Vectors, rounds: int) -> float:
    """Return at how many GB/s this machine copies memory: what is read, and not what is written."""
    into = np.empty_like(rows)
    return rows.nbytes / best([lambda: np.copyto(into, rows)], rounds)[0] / 1e9


def exact(rows: Vectors, queries: Vectors, index: ExactIndex, rounds: int) -> Iterator[Told]:
    """Yield exact search beside faiss Flat, a query at a time and many at once."""
    flat = faiss.IndexFlatIP(rows.shape[1])
    flat.add(rows)
    ours, theirs = one_by_one(
        [lambda query: index.search(query, K), lambda query: flat.search(query[None, :], K)],
        queries[:20],
        rounds,
    )
    many = best([lambda: index.search_all(queries, K), lambda: flat.search(queries, K)], rounds)
    for form, mine, other in (
        ("one query", ours, theirs),
        (f"{len(queries)} queries", *(seconds / len(queries) for seconds in many)),
    ):
        yield {
            "form": form,
            "ms": mine * 1e3,
            "faiss_ms": other * 1e3,
            "times_faiss": mine / other,
            "gb_per_second": rows.nbytes / mine / 1e9 if form == "one query" else None,
        }


def hnsw(queries: Vectors, true: Any, index: HnswIndex, rounds: int) -> Iterator[Told]:
    """Yield graph search beside plain faiss over the same graph, by `ef`."""
    nodes = index._nodes
    for ef in WIDTHS:
        asked = faiss.SearchParametersHNSW(efSearch=ef)

        def plain(given: Vectors, asked: Any = asked) -> Any:
            return nodes.search(given, K, params=asked)

        many, theirs = index.search_all(queries, K, ef=ef), plain(queries)[1]
        shared = [len(np.intersect1d(a, b.rows)) for a, b in zip(theirs, true, strict=True)]
        one, faiss_one = one_by_one(
            [
                lambda query, ef=ef: index.search(query, K, ef=ef),
                lambda query, plain=plain: plain(query[None, :]),
            ],
            queries,
            rounds,
        )
        all_, faiss_all = best(
            [
                lambda ef=ef: index.search_all(queries, K, ef=ef),
                lambda plain=plain: plain(queries),
            ],
            rounds,
        )
        yield {
            "ef": ef,
            "searched_ef": many.plans[0].ef,
            "recall": recall(many, true),
            "faiss_recall": float(np.mean(shared)) / K,
            "ms": one * 1e3,
            "faiss_ms": faiss_one * 1e3,
            "batch_ms": all_ / len(queries) * 1e3,
            "faiss_batch_ms": faiss_all / len(queries) * 1e3,
        }


def filtered(
    queries: Vectors, cluster: Any, exactly: ExactIndex, index: HnswIndex, rounds: int
) -> Iterator[Told]:
    """Yield recall and time under filters of every share, and which way the searches took."""
    for share in SHARES:
        for kind, mask in filters(cluster, share).items():
            true = exactly.search_all(queries, K, allow=mask)
            found = index.search_all(queries, K, allow=mask)
            for one in found:
                assert len(one) == min(K, int(mask.sum()))
                assert mask[one.rows].all()
            one, scan = one_by_one(
                [
                    lambda query, mask=mask: index.search(query, K, allow=mask),
                    lambda query, mask=mask: exactly.search(query, K, allow=mask),
                ],
                queries[:50],
                rounds,
            )
            yield {
                "share": share,
                "kind": kind,
                "allowed": int(mask.sum()),
                "recall": recall(found, true),
                "ms": one * 1e3,
                "exact_ms": scan * 1e3,
                "ways": dict(Counter(plan.kind for plan in found.plans)),
                "ef": max((plan.ef or 0 for plan in found.plans), default=0),
            }


def crossover(rows: Vectors, queries: Vectors, sizes: Sequence[int], rounds: int) -> Iterator[Told]:
    """Yield after how many queries one by one a graph has paid for its building, by rows."""
    for size in sizes:
        start = time.perf_counter()
        index = Hnsw().build(rows[:size])
        built = time.perf_counter() - start
        yield paid(size, built, Exact().build(rows[:size]), index, queries, rounds)


def paid(
    size: int,
    built: float,
    exactly: ExactIndex,
    index: HnswIndex,
    queries: Vectors,
    rounds: int,
) -> Told:
    """Return after how many queries a graph has paid for its building."""
    one, walked = one_by_one(
        [lambda query: exactly.search(query, K), lambda query: index.search(query, K)],
        queries[:50],
        rounds,
    )
    return {
        "rows": size,
        "build_seconds": built,
        "exact_ms": one * 1e3,
        "hnsw_ms": walked * 1e3,
        "paid_after": built / (one - walked) if one > walked else None,
    }


def measured(rows: int, dimensions: int, queries: int, rounds: int) -> Told:
    """Return all figures; fails where an answer is wrong."""
    data, asked, cluster = vectors(rows, dimensions, queries)
    exactly = Exact().build(data)
    check_exact(data, asked[:5], exactly)
    start = time.perf_counter()
    index = Hnsw().build(data)
    built = time.perf_counter() - start
    true = exactly.search_all(asked, K)
    return {
        "rows": rows,
        "dimensions": dimensions,
        "queries": queries,
        "k": K,
        "build_seconds": built,
        "memcpy_gb_per_second": copied(data, rounds),
        "exact": list(exact(data, asked, exactly, rounds)),
        "hnsw": list(hnsw(asked, true, index, rounds)),
        "filtered": list(filtered(asked, cluster, exactly, index, rounds)),
        "crossover": [paid(rows, built, exactly, index, asked, rounds)],
    }


def test_the_answers_on_few_vectors() -> None:
    pytest.importorskip("faiss")
    told = measured(3_000, 16, 20, 1)
    assert [one["form"] for one in told["exact"]] == ["one query", "20 queries"]
    assert [one["ef"] for one in told["hnsw"]] == list(WIDTHS)
    assert all(one["recall"] >= one["faiss_recall"] - 0.01 for one in told["hnsw"])
    assert all(one["recall"] >= 0.95 for one in told["filtered"])
    data, asked, _ = vectors(3_000, 16, 20)
    (one,) = crossover(data, asked, [2_000], 1)
    assert one["rows"] == 2_000
    assert tables(told | {"crossover": [one]}).count("paid after") == 1


def tables(told: Told) -> str:
    """Return the figures as Markdown tables."""
    faster = [
        ["search", "ms a query", "faiss Flat", "times faiss", "GB/s"],
        [
            [
                one["form"],
                figure(one["ms"]),
                figure(one["faiss_ms"]),
                figure(one["times_faiss"]),
                figure(one["gb_per_second"]),
            ]
            for one in told["exact"]
        ],
    ]
    by_ef = [
        ["`ef`", "recall", "faiss", "ms", "faiss", "times", "ms of many", "faiss", "times"],
        [
            [
                f"{one['ef']}",
                f"{one['recall']:.3f}",
                f"{one['faiss_recall']:.3f}",
                figure(one["ms"]),
                figure(one["faiss_ms"]),
                figure(one["ms"] / one["faiss_ms"]),
                figure(one["batch_ms"]),
                figure(one["faiss_batch_ms"]),
                figure(one["batch_ms"] / one["faiss_batch_ms"]),
            ]
            for one in told["hnsw"]
        ],
    ]
    by_share = [
        ["allowed", "filter", "rows", "recall", "ms", "`Exact` ms", "ways"],
        [
            [
                f"{one['share']:.1%}",
                one["kind"],
                f"{one['allowed']:,}",
                f"{one['recall']:.3f}",
                figure(one["ms"]),
                figure(one["exact_ms"]),
                ", ".join(f"{way} ({n})" for way, n in one["ways"].items()),
            ]
            for one in told["filtered"]
        ],
    ]
    by_rows = [
        ["rows", "build s", "`Exact` ms", "`Hnsw` ms", "paid after queries"],
        [
            [
                f"{one['rows']:,}",
                figure(one["build_seconds"]),
                figure(one["exact_ms"]),
                figure(one["hnsw_ms"]),
                "never" if one["paid_after"] is None else f"{one['paid_after']:,.0f}",
            ]
            for one in told["crossover"]
        ],
    ]
    head = (
        f"{told['rows']:,} rows of {told['dimensions']} numbers, {told['queries']} queries, "
        f"k {told['k']}; memcpy {figure(told['memcpy_gb_per_second'])} GB/s; "
        f"the graph is built in {figure(told['build_seconds'])} s.\n"
    )
    parts = [faster, by_ef, by_share, by_rows]
    return "\n".join([head, *(markdown(*part) for part in parts)])


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed and recall of the indexes.")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--dimensions", type=int, default=384)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--crossover", default="", help="numbers of rows, separated by commas")
    parser.add_argument("--json", type=Path, metavar="FILE")
    given = parser.parse_args()
    told = measured(given.rows, given.dimensions, given.queries, given.rounds)
    sizes = [int(size) for size in given.crossover.split(",") if size]
    if sizes:
        data, asked, _ = vectors(max(sizes), given.dimensions, given.queries)
        told["crossover"] += crossover(data, asked, sizes, given.rounds)
    print(tables(told))
    if given.json:
        figures.write(given.json, figures.figures("search", [], rounds=given.rounds, results=told))


if __name__ == "__main__":
    main()
