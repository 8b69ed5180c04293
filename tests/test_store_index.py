"""The index beside a store is built anew where it is damaged, stale or that of another store."""

import random
import shutil
from pathlib import Path

import numpy as np
import pytest

import cantle
from cantle.index import hnsw
from stores import HNSW, QUERY, assert_found, assert_sound, filled, nearest, opened, rows_of, words


@pytest.fixture
def _by_graph(monkeypatch):
    """Have graphs searched though so few rows are scored sooner; all of them are candidates."""
    monkeypatch.setattr(hnsw, "_STEP", 0)


by_graph = pytest.mark.usefixtures("_by_graph")


def assert_right(path, rows):
    """Check that a store finds what its rows say, and by the graph where one has been built."""
    expected = nearest(rows, QUERY, 10)
    with opened(path, index=HNSW) as store:
        assert_found(store.search(vector=QUERY, k=10), expected)
        store.build_index(rebuild=False)
    for readonly in (False, True):
        with opened(path, readonly=readonly) as store:
            hits = store.search(vector=QUERY, k=10)
            assert hits.explain().startswith("hnsw (")
            assert_found(hits, expected)
            assert_sound(store)


@by_graph
def test_an_index_that_was_cut_off_or_overwritten_is_built_anew(path):
    rows = filled(path, index=HNSW)
    index = path.with_name(path.name + ".hnsw")
    whole = index.read_bytes()
    chosen = random.Random(7)
    for length in [0, 1, len(whole) - 1, *(chosen.randrange(len(whole)) for _ in range(4))]:
        index.write_bytes(whole[:length])
        assert_right(path, rows)
        assert index.stat().st_size > 0
    for _ in range(4):
        index.write_bytes(chosen.randbytes(len(whole)))
        assert_right(path, rows)
    index.unlink()
    assert_right(path, rows)


def test_check_reads_every_byte_of_the_index(path):
    filled(path, index=HNSW)
    file = Path(f"{path}.hnsw")
    whole = file.read_bytes()
    for at in range(0, len(whole), len(whole) // 40):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with opened(path) as store:
            assert [problem[:9] for problem in store.check()] == ["the index"]
    file.write_bytes(whole)
    with opened(path) as store:
        assert store.check() == []


@by_graph
def test_an_index_of_another_store_is_not_taken(tmp_path):
    rows = filled(tmp_path / "one", index=HNSW)
    filled(tmp_path / "two", docs=range(3, 33), index=HNSW)
    shutil.copy(tmp_path / "two.hnsw", tmp_path / "one.hnsw")
    assert_right(tmp_path / "one", rows)


@by_graph
def test_an_index_of_a_copy_that_went_its_own_way_is_not_taken(tmp_path):
    filled(tmp_path / "one", index=HNSW)
    shutil.copy(tmp_path / "one", tmp_path / "two")
    shutil.copy(tmp_path / "one.hnsw", tmp_path / "two.hnsw")
    filled(tmp_path / "two", version=1, index=HNSW)
    rows = filled(tmp_path / "one", docs=range(12), version=2, index=HNSW)
    for name, other in (("one", "two"), ("two", "one")):
        shutil.copy(tmp_path / f"{name}.hnsw", tmp_path / f"{other}.kept")
    (tmp_path / "one.kept").replace(tmp_path / "one.hnsw")
    (tmp_path / "two.kept").replace(tmp_path / "two.hnsw")
    assert_right(tmp_path / "one", rows)
    with opened(tmp_path / "two") as store:
        expected = nearest(rows_of(store), QUERY, 10)
        assert_found(store.search(vector=QUERY, k=10), expected)


def test_an_index_serves_on_while_little_changed(path):
    rows = filled(path, index=HNSW)
    with opened(path, index=HNSW) as store:
        store.load(words(3).split("entirely new", id="d3"), min_chars=0, embed=True)
        store.delete("d4")
        now = rows_of(store)
        assert now != rows
        assert store.search(vector=QUERY).explain().startswith("merge of 2 scans")
        assert_found(store.search(vector=QUERY, k=200), nearest(now, QUERY, 200))


def test_an_index_whose_blending_became_another_is_stale(path):
    # The weights follow from the chunks' mean size. Rows that were added, and questions, went by
    # others than the rows of the index did.
    def chunks(docs, size):
        given = [f"{doc:05d}" * (size // 5) + f"{doc + 500:05d}" * (size // 5) for doc in docs]
        return cantle.Window(890, 0, "chars").split_all(given, ids=[f"d{doc}" for doc in docs])

    with opened(path, index=HNSW, blend="auto") as store:
        store.load(chunks(range(30), 890), min_chars=0)
        store.backfill()
        assert store.info()["strategies"][0]["blend"] == []
        store.load(chunks([30], 50), min_chars=0, embed=True)
        assert store.info()["strategies"][0]["blend"] == [0.25]
        hits = store.search(vector=QUERY, k=20)
    with opened(path, index=cantle.index.Exact(), blend="auto") as store:
        expected = store.search(vector=QUERY, k=20)
    assert hits.ids == expected.ids
    np.testing.assert_allclose(hits.scores, expected.scores, atol=1e-6)
