"""Indexes: exact search equals the oracle, and a graph finds nearly all, whatever is filtered."""

from __future__ import annotations

import builtins
import os
import pickle
import stat
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cantle
from cantle.index import METRICS, Auto, DamagedIndex, Exact, Hnsw, StaleIndex, file, hnsw
from processes import in_fresh_process
from search_oracle import nearest

pytest.importorskip("faiss")


def clustered(rows: int, dimensions: int = 16, seed: int = 1) -> tuple[Any, Any]:
    """Return float32 vectors in clusters, and the cluster of each."""
    rng = np.random.default_rng(seed)
    cluster = rng.integers(0, 40, rows)
    centres = rng.standard_normal((40, dimensions))
    return (centres[cluster] + 0.5 * rng.standard_normal((rows, dimensions))).astype("f4"), cluster


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


# ------------------------------------------------------------------------------- filters


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


# ------------------------------------------------------------ forms, state, threads, processes


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


@pytest.mark.parametrize("kind", [Exact(), Hnsw(), Hnsw(fp16=True)], ids=["exact", "hnsw", "half"])
def test_pickle_and_file_give_the_same(kind: Any, tmp_path: Any) -> None:
    rows, _ = clustered(400)
    rows[7], rows[9], rows[20:30] = 0, rows[8], rows[5]
    index = kind.build(rows).without([3])
    path = tmp_path / "an index"
    index.save(path, b"generation 7")
    again = [
        pickle.loads(pickle.dumps(index)),
        type(kind).open(path, b"generation 7"),
        type(kind).open(path, b"generation 7", whole=True),
        pickle.loads(pickle.dumps(type(kind).open(path, b"generation 7"))),
    ]
    for other in again:
        assert (len(other), other.unranked, other.dimensions) == (400, 2, 16)
        for allow in (None, range(100)):
            a, b = (one.search_all(rows[:30], 5, allow=allow) for one in (index, other))
            assert a.rows.tolist() == b.rows.tolist()
            assert a.scores.tolist() == b.scores.tolist()
            assert a.plans == b.plans
    assert pickle.dumps(again[0]) == pickle.dumps(pickle.loads(pickle.dumps(again[0])))
    assert os.listdir(tmp_path) == ["an index"]


@pytest.mark.parametrize("kind", [Exact(), Hnsw()], ids=["exact", "hnsw"])
def test_an_index_without_rows(kind: Any, tmp_path: Any) -> None:
    for vectors in ([], np.empty((0, 3)), np.zeros((4, 3))):
        index = kind.build(vectors)
        index.save(tmp_path / "index")
        for one in (index, type(kind).open(tmp_path / "index"), pickle.loads(pickle.dumps(index))):
            assert len(one.search([1, 2, 3], 2)) == 0
            assert [len(found) for found in one.search_all([[1, 2, 3]] * 40, 2)] == [0] * 40
            assert one.unranked == len(vectors)


def test_a_mapped_graph_survives_its_replacement(tmp_path: Any) -> None:
    first, second = clustered(400, seed=1)[0], clustered(300, seed=2)[0]
    path = tmp_path / "index"
    Hnsw().build(first).save(path)
    opened = Hnsw.open(path)
    before = opened.search_all(first[:20], 5).rows.tolist()
    Hnsw().build(second).save(path)
    assert opened.search_all(first[:20], 5).rows.tolist() == before
    assert len(Hnsw.open(path)) == 300


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


# --------------------------------------------------------------------------- damaged files


@pytest.fixture
def saved(tmp_path: Any) -> Any:
    rows, _ = clustered(500)
    for name, kind in (("hnsw", Hnsw()), ("exact", Exact())):
        kind.build(rows).save(tmp_path / name, b"right")
    return tmp_path


@pytest.mark.parametrize("kind", [Exact, Hnsw])
def test_a_file_that_was_cut_off_is_noticed(saved: Any, kind: Any) -> None:
    path = saved / kind.__name__.lower()
    data = path.read_bytes()
    for size in (0, 10, 200, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:size])
        with pytest.raises(DamagedIndex, match="no index"):
            kind.open(path, b"right")
    path.write_bytes(data + b"x")
    with pytest.raises(DamagedIndex, match="no index"):
        kind.open(path, b"right")


@pytest.mark.parametrize("kind", [Exact, Hnsw])
def test_a_changed_byte_is_noticed(saved: Any, kind: Any) -> None:
    path = saved / kind.__name__.lower()
    data = path.read_bytes()
    words = f"{path}: its contents are not as they were written"
    for at in np.linspace(0, len(data) - 1, 60).astype(int).tolist():
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        with pytest.raises((DamagedIndex, StaleIndex)) as raised:
            kind.open(path, b"right", whole=True)
        if at < len(data) - file._TAIL:
            assert str(raised.value) == words
    # The first page is among those that are always looked at.
    path.write_bytes(bytes([data[0] ^ 1]) + data[1:])
    with pytest.raises(DamagedIndex):
        kind.open(path, b"right")


def test_another_index_is_noticed(saved: Any) -> None:
    with pytest.raises(StaleIndex) as raised:
        Hnsw.open(saved / "hnsw", b"other")
    stamps = [stamp.ljust(32, b"\0").hex() for stamp in (b"right", b"other")]
    assert str(raised.value) == (
        f"{saved / 'hnsw'}: an index with the stamp {stamps[0]}, not {stamps[1]}"
    )
    with pytest.raises(StaleIndex, match="of the kind 'exact', not 'hnsw'"):
        Hnsw.open(saved / "exact", b"right")
    assert issubclass(StaleIndex, ValueError)
    assert issubclass(DamagedIndex, ValueError)


def test_another_version_is_noticed(saved: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file, "_VERSION", 2)
    with pytest.raises(StaleIndex, match="an index of version 1, not 2"):
        Exact.open(saved / "exact", b"right")


def test_a_missing_file_is_told(tmp_path: Any) -> None:
    with pytest.raises(FileNotFoundError):
        Hnsw.open(tmp_path / "none")


def test_a_folder_that_is_not_there_or_cannot_be_written(tmp_path: Any) -> None:
    index = Hnsw().build(clustered(50)[0])
    with pytest.raises(OSError, match="No such file") as caught:
        index.save(tmp_path / "none" / "index")
    # The message named a temporary file beside the one that was asked for.
    assert caught.value.filename == os.path.realpath(tmp_path / "none" / "index")
    if os.geteuid():
        tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
        with pytest.raises(PermissionError):
            index.save(tmp_path / "index")


_FULL = """
import resource, signal, sys
import numpy as np
from cantle.index import Exact, Hnsw
rows = np.random.default_rng(1).standard_normal((3000, 64)).astype(np.float32)
index = {"exact": Exact(), "hnsw": Hnsw(ef_construction=8)}[sys.argv[1]].build(rows)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
try:
    index.save(sys.argv[2])
except OSError as error:
    print(error.strerror)
"""


@pytest.mark.parametrize("kind", ["exact", "hnsw"])
def test_a_full_disk_leaves_what_was_there(saved: Any, kind: str) -> None:
    before = (saved / kind).read_bytes()
    assert in_fresh_process(_FULL, kind, str(saved / kind)) == "File too large\n"
    assert (saved / kind).read_bytes() == before
    assert sorted(os.listdir(saved)) == ["exact", "hnsw"]


# ------------------------------------------------------------------------------------ errors


VECTORS = np.eye(3, dtype=np.float32)
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
