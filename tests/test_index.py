"""Indexes: exact search equals the oracle, whatever the form of what is given; plans; extras."""

from __future__ import annotations

import builtins
import os
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cantle.index import METRICS, Auto, Exact, Hnsw
from index_vectors import VECTORS, clustered
from processes import in_fresh_process
from search_oracle import nearest

pytest.importorskip("faiss")


@st.composite
def searches(draw: Any) -> tuple[str, Any, Any, int, Any]:
    """Few small numbers: many rows are equal, zero, or multiples of others."""
    dimensions = draw(st.integers(1, 4))
    vector = st.lists(st.integers(-2, 2), min_size=dimensions, max_size=dimensions)
    rows = draw(st.lists(vector, min_size=1, max_size=40))
    scale = draw(st.sampled_from([1.0, 1e-20, 1e20, 0.125]))
    queries = draw(st.lists(vector, min_size=1, max_size=3))
    allow = draw(
        st.none() | st.lists(st.integers(-3, 50)) | st.lists(st.booleans(), min_size=len(rows))
    )
    if allow and isinstance(allow[0], bool):
        allow = np.array(allow[: len(rows)])
    return (
        draw(st.sampled_from(METRICS)),
        np.array(rows, np.float32) * np.float32(scale),
        np.array(queries, np.float32) * np.float32(scale),
        draw(st.integers(1, 12)),
        allow,
    )


@given(searches(), st.booleans())
def test_exact_search_is_the_oracle(case: Any, tile: bool) -> None:
    metric, rows, queries, k, allow = case
    if tile:  # so many rows that candidates are chosen by maxima of blocks
        rows = np.tile(rows, (7_000 // len(rows), 1))[:6_500]
        allow = None if isinstance(allow, np.ndarray) else allow
    index = Exact(metric).build(rows)
    all_ = index.search_all(queries, k, allow=allow)
    marked = allow
    if isinstance(allow, np.ndarray):
        marked = np.flatnonzero(allow).tolist()
    plain = rows.astype(float).tolist()
    for query, found in zip(queries, all_, strict=True):
        one = index.search(query, k, allow=allow)
        assert one.rows.tolist() == nearest(metric, plain, query.astype(float).tolist(), k, marked)
        assert one.rows.tolist() == found.rows.tolist()
        assert one.scores.tolist() == found.scores.tolist()
        assert np.isfinite(one.scores).all()


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("away", [0, 1e4])
def test_exact_search_over_many_rows(metric: str, away: float) -> None:
    """Far from the origin float32 tells the rows apart no more; the answer is the same."""
    rows, _ = clustered(9_000)
    rows = rows + np.float32(away)
    queries = rows[:20] + np.float32(0.01)
    out = np.arange(0, 9_000, 7)
    index = Exact(metric).build(rows).without(out)
    left = np.setdiff1d(np.arange(9_000), out)
    vectors, asked = rows.astype(np.float64), queries.astype(np.float64)
    if metric == "l2":
        scores = -np.sqrt(((asked[:, None, :] - vectors) ** 2).sum(axis=2))
    else:
        scores = asked @ vectors.T
    if metric == "cosine":
        scores /= np.linalg.norm(vectors, axis=1) * np.linalg.norm(asked, axis=1)[:, None]
        scores = np.rint(scores * 2**40) / 2**40
    for query, found in zip(scores, index.search_all(queries, 30), strict=True):
        order = left[np.lexsort((left, -query[left]))][:30]
        assert found.rows.tolist() == order.tolist()
        assert np.allclose(found.scores, query[order], rtol=1e-6)


# ------------------------------------------------------------------------ forms, processes

FORMS = {
    "float64": lambda v: v.astype(np.float64),
    "fortran": np.asfortranarray,
    "strided": lambda v: np.repeat(v, 2, axis=1)[:, ::2],
    "list": lambda v: v.tolist(),
    "big-endian": lambda v: v.astype(">f4"),
    "read-only": lambda v: np.frombuffer(v.tobytes(), np.float32).reshape(v.shape),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", [Exact(), Hnsw()], ids=["exact", "hnsw"])
def test_the_form_of_the_vectors_does_not_matter(kind: Any, form: str) -> None:
    vectors, _ = clustered(300)
    before = vectors.copy()
    given = FORMS[form](vectors)
    index, plain = kind.build(given), kind.build(vectors)
    found = index.search_all(FORMS[form](vectors[:5]), 4)
    assert found.rows.tolist() == plain.search_all(vectors[:5], 4).rows.tolist()
    assert found.scores.tolist() == plain.search_all(vectors[:5], 4).scores.tolist()
    assert (vectors == before).all()
    vectors[:] = 0  # The index has vectors of its own.
    assert plain.search_all(before[:5], 4).rows.tolist() == found.rows.tolist()


def test_a_read_only_matrix_is_not_copied() -> None:
    vectors, _ = clustered(10)
    vectors.flags.writeable = False
    assert np.shares_memory(Exact().build(vectors)._scan.vectors, vectors)


def test_integers_are_vectors() -> None:
    assert Exact("l2").build([[1, 2], [3, 4]]).search([3, 3], 1).rows.tolist() == [1]


def test_allowed_rows_in_every_form() -> None:
    index = Exact("ip").build(np.eye(6))
    forms = [
        ([4, 2, 3, 2, 99, -1], [2, 3, 4]),
        (slice(-4, -1), [2, 3, 4]),
        (range(4, 1, -1), [2, 3, 4]),
        (np.array([0, 0, 1, 1, 1, 0], np.bool_), [2, 3, 4]),
        (np.array([2, 4], np.uint8), [2, 4]),
        (range(0, 99, 4), [0, 4]),
        (range(-5, 2), [0, 1]),
        (slice(None, None, -3), [2, 5]),
        ([], []),
        (range(50, 60), []),
        (slice(4, 2), []),
    ]
    for allow, rows in forms:
        assert sorted(index.search([1] * 6, 6, allow=allow).rows.tolist()) == rows, allow


_FORK = """
import os, sys
import numpy as np
from cantle.index import Exact, Hnsw
rows = np.random.default_rng(1).standard_normal((3000, 32)).astype(np.float32)
index = {"exact": Exact, "hnsw": Hnsw}[sys.argv[1]]().build(rows)
before = index.search_all(rows[:100], 5).rows
child = os.fork()
if child == 0:
    same = (index.search_all(rows[:100], 5).rows == before).all()
    built = type(index).__name__ == "ExactIndex" or len(Hnsw(ef_construction=8).build(rows[:300]))
    os._exit(0 if same and built else 3)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here")
@pytest.mark.parametrize("kind", ["exact", "hnsw"])
def test_a_forked_child_searches_and_builds(kind: str) -> None:
    """Its parent had used threads: faiss would wait for them without an end."""
    assert in_fresh_process(_FORK, kind, timeout=120) == "0\n"


# ---------------------------------------------------------------------------- kinds, plans


def test_a_zero_query_has_no_cosine() -> None:
    for metric, rows in (("cosine", []), ("ip", [0, 1]), ("l2", [0, 1])):
        found = Exact(metric).build(VECTORS).search_all([[0, 0, 0], [0, 1, 0]], 2)
        assert found[0].rows.tolist() == rows
        assert found[1].rows.tolist() == [1, 0]
    zero = Exact().build(VECTORS).search([0, 0, 0])
    assert zero.plan.reason == "the query is zero: it has no cosine with any vector"


def test_without_faiss_exact_works_and_hnsw_names_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain = builtins.__import__

    def imported(name: str, *rest: Any) -> Any:
        if name.partition(".")[0] == "faiss":
            raise ModuleNotFoundError("No module named 'faiss'")
        return plain(name, *rest)

    monkeypatch.setattr(builtins, "__import__", imported)
    monkeypatch.setattr("cantle.index.graph._loaded", [])
    monkeypatch.setattr("cantle.index.auto.find_spec", lambda _: None)
    words = "Hnsw needs faiss (No module named 'faiss'): install cantle[search]"
    for call in (lambda: Hnsw().build(VECTORS), lambda: Hnsw.open("index")):
        with pytest.raises(ImportError) as raised:
            call()
        assert str(raised.value) == words
    found = Auto(2).build(VECTORS).search([0, 1, 0], 1)
    assert found.rows.tolist() == [1]
    assert found.plan.reason == "there is no graph: faiss is not installed, see cantle[search]"


def test_auto_chooses_by_rows() -> None:
    assert type(Auto(3).build(VECTORS)).__name__ == "ExactIndex"
    index = Auto(2, Hnsw(metric="l2")).build(VECTORS)
    assert type(index).__name__ == "HnswIndex"
    assert index.metric == "l2"


def test_a_plan_reads_like_a_databases() -> None:
    index = Exact().build([[1, 0], [0, 1], [0, 0]])
    assert str(index.search([1, 0], 1, allow=[0, 2]).plan) == (
        "exact over allowed rows (cosine, 2 dimensions, k 1)\n"
        "  rows      3: 1 unranked, 2 vectors\n"
        "  allowed   1 (0.333 of all rows)\n"
        "  because   the index is exact"
    )
    assert repr(index) == "ExactIndex(3 rows, 2 dimensions, cosine, 1 unranked)"
