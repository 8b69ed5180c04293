"""Indexes that are asked for nothing, and files of indexes that others write meanwhile."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import cantle
from cantle import target
from cantle.index import METRICS, Exact, Hnsw, StaleIndex, file, graph, hnsw
from processes import in_fresh_process

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


def replacing(module: Any, name: str, patch: Any, replace: Any, times: int) -> None:
    """Have a function replace a file before it does its work, so many times."""
    real, left = getattr(module, name), [times]

    def act(*given: Any, **settings: Any) -> Any:
        if left[0]:
            left[0] -= 1
            replace()
        return real(*given, **settings)

    patch.setattr(module, name, act)


def test_an_index_is_of_one_file_though_it_is_replaced_meanwhile(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    # Rows were those of one file, and vectors those of the other.
    path, rows = tmp_path / "index", scattered(40)
    for kind in (Exact(), Hnsw(m=4, ef_construction=16)):
        first, second = kind.build(rows).without(range(20)), kind.build(rows[::-1])
        with monkeypatch.context() as patch:
            first.save(path, b"stamp")
            opens = (file.np, "memmap") if isinstance(kind, Exact) else (graph, "open_mapped")
            replacing(*opens, patch, lambda index=second: index.save(path, b"stamp"), 1)
            found = type(kind).open(path, b"stamp")
        wanted = first if isinstance(kind, Exact) else second
        assert found.unranked == wanted.unranked
        for query in rows:
            one, other = found.search(query, 3), wanted.search(query, 3)
            assert one.rows.tolist() == other.rows.tolist()
            assert one.scores.tolist() == other.scores.tolist()


@pytest.mark.parametrize(
    ("stamp", "times", "words"),
    [(b"other", 1, "an index with the stamp"), (b"stamp", 99, "index: replaced while it was")],
)
def test_an_index_that_is_replaced_by_another_or_always_is_stale(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any, stamp: bytes, times: int, words: str
) -> None:
    path, index = tmp_path / "index", Hnsw(m=4, ef_construction=16).build(scattered(40))
    index.save(path, b"stamp")
    replacing(graph, "open_mapped", monkeypatch, lambda: index.save(path, stamp), times)
    with pytest.raises(StaleIndex, match=words):
        Hnsw.open(path, b"stamp")


@pytest.fixture
def ended() -> int:
    """Return the number of a process that lives no longer."""
    return int(in_fresh_process("import os; print(os.getpid())"))


@pytest.mark.skipif(os.name != "posix", reason="whether a process lives cannot be told")
def test_what_a_killed_process_left_is_removed(tmp_path: Any, ended: int) -> None:
    home = target._home()
    gone, alive = f".index.{home}-{ended}.x.tmp", f".index.{home}-{os.getpid()}.x.tmp"
    others = [alive, ".index.x.tmp", f".other.{home}-{ended}.x.tmp", f".index.{home}-{ended}.x.txt"]
    for name in (gone, *others):
        (tmp_path / name).write_bytes(b"half")
    Exact().build(np.eye(2)).save(tmp_path / "index")
    assert {entry.name for entry in tmp_path.iterdir()} == {"index", *others}


@pytest.mark.skipif(os.name != "posix", reason="whether a process lives cannot be told")
def test_what_is_written_beside_files_of_like_names_or_elsewhere_stays(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any, ended: int
) -> None:
    # The number in the name of a file was taken for that of a process, and so was that of a process
    # in another container: what they wrote was gone when it was to be moved into its place.
    index = Exact().build(np.eye(2))
    home = target._home()
    names = [f"index.{ended}", f"index.{home}-{ended}", f"index.{home}-{ended}.x.tmp", "index"]
    for name in names:
        with monkeypatch.context() as patch:
            if name == "index":
                patch.setattr(target, "_home", lambda: "elsewhere")
                patch.setattr(os, "getpid", lambda: ended)
            written = target.Target(str(tmp_path / name))
        index.save(tmp_path / "index")
        written.commit()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == sorted(names)


@pytest.mark.parametrize(
    "name",
    ["x" * 255, "\u6f22" * 85, "\U0001f600" * 63, "a\udcff" * 99],
    ids=["ascii", "three bytes", "four bytes", "no text"],
)
def test_names_as_long_as_they_may_be(tmp_path: Any, name: str) -> None:
    # Of names that are not ASCII what stands beside had a name that was too long.
    index = Exact().build(np.eye(2))
    try:
        (tmp_path / name).write_bytes(b"")
    except OSError:
        pytest.skip("there can be no file of this name")
    index.save(tmp_path / name)
    assert os.listdir(tmp_path) == [name]
    assert len(Exact.open(tmp_path / name)) == 2
