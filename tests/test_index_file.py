"""Files of indexes: they give the same, damage is noticed, and others may write them meanwhile."""

from __future__ import annotations

import os
import pickle
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cantle import target
from cantle.index import DamagedIndex, Exact, Hnsw, StaleIndex, file, graph
from index_vectors import clustered, scattered
from processes import in_fresh_process

pytest.importorskip("faiss")


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


@contextmanager
def nobody() -> Iterator[None]:
    """Act as a user who may not write everywhere, as root may."""
    user = os.geteuid()
    if not user:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)


def test_a_place_where_no_file_can_be_made_is_told() -> None:
    index = Hnsw().build(clustered(50)[0])
    # Not below pytest's folder, which others than its owner may not even look into.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(os.path.realpath(name))
        (folder / "file").touch()
        (folder / "folder").mkdir()
        folder.chmod(0o555)
        before = sorted(os.listdir(folder))
        for place, error in {
            "none/index": FileNotFoundError,
            "file/index": NotADirectoryError,
            "folder": IsADirectoryError,
            "index": PermissionError,
        }.items():
            with nobody(), pytest.raises(error) as caught:
                index.save(folder / place)
            # The message named a temporary file beside the one that was asked for.
            assert caught.value.filename == str(folder / place)
        assert sorted(os.listdir(folder)) == before
        folder.chmod(0o755)


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


# --------------------------------------------------------------------- written meanwhile


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
