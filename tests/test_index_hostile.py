"""Indexes that are asked for nothing, and files of indexes that others write meanwhile."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cantle.index import METRICS, Exact, Hnsw, hnsw

pytest.importorskip("faiss")


def scattered(rows: int, dimensions: int = 3, seed: int = 1) -> Any:
    """Return float32 vectors."""
    return np.random.default_rng(seed).standard_normal((rows, dimensions)).astype(np.float32)


@pytest.mark.parametrize("allow", [None, range(0, 900, 2), []], ids=["all", "half", "none"])
@pytest.mark.parametrize("metric", METRICS)
def test_no_query_finds_nothing(monkeypatch: pytest.MonkeyPatch, metric: str, allow: Any) -> None:
    # Of a graph the least of no candidates was asked for.
    monkeypatch.setattr(hnsw, "_FEW", 10)
    monkeypatch.setattr(hnsw, "_STEP", 1)
    rows = scattered(900)
    for kind in (Exact(metric), Hnsw(m=4, ef_construction=8, ef=20, metric=metric)):
        index = kind.build(rows)
        for queries in ([], np.empty((0, 3), np.float32)):
            found = index.search_all(queries, 5, allow=allow)
            assert (found.rows.shape, found.scores.shape, found.plans) == ((0, 5), (0, 5), ())
