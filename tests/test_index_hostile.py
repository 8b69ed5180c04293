"""Indexes that are asked for nothing, or given what they cannot hold: words, or no row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cantle
from cantle.index import METRICS, Auto, Exact, Hnsw, hnsw
from index_vectors import VECTORS, scattered

pytest.importorskip("faiss")


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


@pytest.mark.parametrize("metric", METRICS)
def test_vectors_that_are_too_short_for_half_the_bytes_are_refused(metric: str) -> None:
    # They became zeros, and any of them was the nearest.
    shape, dimensions = Hnsw(m=8, ef_construction=40, metric=metric, fp16=True), 24
    rows = scattered(600, dimensions)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    least = np.sqrt(dimensions) / 32_768
    for length in (1e-3, 1.01 * least, 0.99 * least, 1e-10):
        scaled = (rows * length).astype(np.float32)
        scaled[:2] = 0  # These have no direction to lose.
        if metric != "cosine" and length < least:
            with pytest.raises(cantle.SettingError, match=r"^vectors\[2\]: the length of row 2 \("):
                shape.build(scaled)
            continue
        true = Exact(metric).build(scaled).search_all(rows[:50] * length, 1)
        found = shape.build(scaled).search_all(rows[:50] * length, 1)
        scale = {"cosine": 1, "ip": length**2, "l2": length}[metric]
        assert np.abs(found.scores - true.scores).max() < 1e-3 * scale


NAN, INF = float("nan"), float("inf")
REFUSED: list[tuple[Any, type[Exception], str]] = [
    (lambda: Exact("manhattan"), ValueError, "metric ('manhattan') must be one of cosine, ip, l2"),
    (lambda: Hnsw(m=1), ValueError, "m (1) must be at least 2"),
    (lambda: Hnsw(ef=0), ValueError, "ef (0) must be at least 1"),
    (lambda: Hnsw(ef_construction=1.5), TypeError, "ef_construction (1.5) must be a whole number"),
    (lambda: Hnsw(fp16=1), TypeError, "fp16 (1) must be True or False"),
    (lambda: Auto(-1), ValueError, "exact_up_to (-1) must be at least 0"),
    (lambda: Auto(hnsw=Exact()), TypeError, "hnsw (Exact(metric='cosine')) must be Hnsw"),
    (
        lambda: Exact().build([[1, 0], [NAN, 0]]),
        cantle.SettingError,
        "vectors[1]: row 1 holds NaN",
    ),
    (
        lambda: Hnsw().build([[1, 0], [0, 1], [0, -INF]]),
        cantle.SettingError,
        "vectors[2]: row 2 holds an infinity, or more than float32 can hold",
    ),
    (
        lambda: Exact().build([[1e300, 0]]),
        cantle.SettingError,
        "vectors[0]: row 0 holds an infinity, or more than float32 can hold",
    ),
    (
        lambda: Exact().build([[1, 0], [1]]),
        cantle.SettingError,
        "vectors holds vectors of different lengths",
    ),
    (
        lambda: Exact().build([1, 0]),
        cantle.SettingError,
        "vectors has the shape (2,); [rows, dimensions] is expected",
    ),
    (
        lambda: Exact().build(np.empty((2, 0))),
        cantle.SettingError,
        "vectors has the shape (2, 0); [rows, dimensions] is expected",
    ),
    (
        lambda: Exact().build([["a", "b"]]),
        TypeError,
        "vectors holds <U1 where numbers are expected",
    ),
    (
        lambda: Hnsw(metric="l2").build([[1, 1], [1e17, 0]]),
        cantle.SettingError,
        "vectors[1]: the length of row 1 (1e+17) must be from 1e-15 to 1e+15",
    ),
    (
        lambda: Hnsw(metric="l2", fp16=True).build([[1, 1], [1e5, 0]]),
        cantle.SettingError,
        "vectors[1]: row 1 holds more than float16 can hold",
    ),
    (
        lambda: Exact().build(VECTORS).search([1, 0]),
        cantle.SettingError,
        "query has 2 numbers, the index 3",
    ),
    (
        lambda: Exact().build(VECTORS).search([[1, 0, 0]]),
        cantle.SettingError,
        "query has the shape (1, 3); one vector is expected, search_all takes many",
    ),
    (
        lambda: Exact().build(VECTORS).search([1, NAN, 0]),
        cantle.SettingError,
        "query holds NaN",
    ),
    (
        lambda: Exact().build(VECTORS).search_all([[1, 0, 0], [INF, 0, 0]]),
        cantle.SettingError,
        "queries[1] holds an infinity, or more than float32 can hold",
    ),
    (
        lambda: Exact().build(VECTORS).search_all([1, 0, 0]),
        cantle.SettingError,
        "queries has the shape (3,); [queries, dimensions] is expected",
    ),
    (
        lambda: Exact().build(VECTORS).search_all([[1, 0]]),
        cantle.SettingError,
        "queries have 2 numbers, the index 3",
    ),
    (
        lambda: Exact().build(VECTORS).search([1, 0, 0], 0),
        cantle.SettingError,
        "k (0) must be at least 1",
    ),
    (
        lambda: Exact().build(VECTORS).search([1, 0, 0], True),
        TypeError,
        "k (True) must be a whole number",
    ),
    (
        lambda: Exact().build(VECTORS).search([1, 0, 0], ef=0),
        cantle.SettingError,
        "ef (0) must be at least 1",
    ),
    (
        lambda: Exact().build(VECTORS).search([1, 0, 0], allow=[True]),
        cantle.SettingError,
        "allow has 1 marks, the index 3 rows",
    ),
    (
        lambda: Exact().build(VECTORS).search([1, 0, 0], allow=[0.5]),
        TypeError,
        "allow (float64 (1,)) must be a mask, an array of rows, a slice or a range",
    ),
    (
        lambda: Exact().build(VECTORS).save("index", b"x" * 33),
        cantle.SettingError,
        "stamp has 33 bytes, at most 32 are kept",
    ),
    (
        lambda: Exact().build(VECTORS).save("index", "x"),
        TypeError,
        "stamp ('x') must be bytes",
    ),
]


@pytest.mark.parametrize(("call", "error", "words"), REFUSED, ids=[words for *_, words in REFUSED])
def test_what_is_refused(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == words
