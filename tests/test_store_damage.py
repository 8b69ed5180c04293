"""A damaged file, one of another kind, a full disk: words or a rebuild, and no wrong answer."""

import os
import random
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

import cantle
from cantle.store import database as database_module
from cantle.store import pieces
from conftest import SLOW
from processes import in_fresh_process
from stores import WIDTH, assert_found, assert_sound, nearest, opened, rows_of, vector_of, words

QUERY = np.linspace(1, -1, WIDTH, dtype=np.float32)
HNSW = cantle.index.Hnsw(m=4, ef_construction=16)


def texts(docs, version=0):
    return [" ".join(f"{doc}.{i}.{version}" for i in range(doc % 7 * 3 + 1)) for doc in docs]


def filled(path, docs=range(30), version=0, **settings):
    """Make a store of some documents; return its rows."""
    with opened(path, **settings) as store:
        chunks = words(3).split_all(texts(docs, version), ids=[f"d{doc}" for doc in docs])
        store.load(chunks, min_chars=0)
        store.backfill()
        return rows_of(store)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "kb.cantle"


# Files that are no store.


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"not a database at all" * 100, "damaged, or no store (file is not a database)"),
        (random.Random(1).randbytes(40_000), "damaged, or no store (file is not a database)"),
        (b"# A page\n", "damaged, or no store (it is too short)"),
    ],
)
@pytest.mark.parametrize("readonly", [True, False])
def test_a_file_that_is_no_database_is_left_as_it_is(path, data, message, readonly):
    path.write_bytes(data)
    with pytest.raises(cantle.StoreError) as caught:
        opened(path, readonly=readonly)
    assert str(caught.value) == f"{path}: {message}"
    assert path.read_bytes() == data
    assert os.listdir(path.parent) == [path.name]


def test_an_empty_file_becomes_a_store_but_is_none_to_a_reader(path):
    path.touch()
    with pytest.raises(cantle.StoreError, match=r"a SQLite file, but no store of cantle$"):
        opened(path, readonly=True)
    assert filled(path)


@pytest.mark.parametrize("readonly", [True, False])
def test_another_sqlite_file_is_left_as_it_is(path, readonly):
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE part (x)")
    connection.commit()
    connection.close()
    data = path.read_bytes()
    with pytest.raises(cantle.StoreError) as caught:
        opened(path, readonly=readonly)
    assert str(caught.value) == f"{path}: a SQLite file, but no store of cantle"
    assert path.read_bytes() == data


def test_a_later_version_is_not_read(path):
    filled(path)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 7")
    connection.close()
    with pytest.raises(cantle.StoreError) as caught:
        opened(path)
    assert str(caught.value) == (
        f"{path}: made by a later cantle (version 7 of its tables, this one knows "
        f"{database_module.VERSION})"
    )


# The tables that later versions added, by the version before.
ADDED = {1: ["more"]}


def as_of_version(path, version):
    """Make a file what it was in a version."""
    connection = sqlite3.connect(path)
    for step in range(version, database_module.VERSION):
        for table in ADDED[step]:
            connection.execute(f"DROP TABLE {table}")
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()


@pytest.mark.parametrize("version", range(1, database_module.VERSION))
def test_a_file_of_a_version_before_is_read_and_brought_up_to_date(path, version):
    rows = filled(path)
    as_of_version(path, version)
    before = path.read_bytes()
    with opened(path, readonly=True) as store:
        assert rows_of(store) == rows
        assert_sound(store)
        hits = store.search(vector=QUERY, k=5).as_dicts()
        assert store.info()["version"] == version  # Not that of the tables known here.
        assert store._database._connection.execute("PRAGMA user_version").fetchone() == (version,)
    assert path.read_bytes() == before
    with opened(path) as store:
        now = store._database._connection.execute("PRAGMA user_version").fetchone()
        assert now == (database_module.VERSION,)
        assert_sound(store)
        assert store.search(vector=QUERY, k=5).as_dicts() == hits
        store.add("d3", "window", "an added text")
        assert store.delete("d4") == 5
        assert_sound(store)
    with opened(path) as store:
        assert_sound(store)


@pytest.mark.parametrize("version", range(1, database_module.VERSION))
def test_a_reader_sees_what_a_version_before_was_brought_up_to(path, version, monkeypatch):
    # What stood in place of the table that it lacked hid the table: the store was damaged, it said.
    filled(path)
    as_of_version(path, version)
    monkeypatch.setattr(pieces, "PIECE", 64)
    with opened(path, readonly=True) as reader:
        reader.snapshot()
        with opened(path) as store:
            store.load(words(3).split_all(texts([3], 1), ids=["d3"]), embed=True, min_chars=0)
            wanted = rows_of(store)
            hits = store.search(vector=QUERY, k=5).as_dicts()
            assert_sound(store)
        assert rows_of(reader) == wanted
        assert reader.search(vector=QUERY, k=5).as_dicts() == hits
        assert_sound(reader)


def test_a_version_before_is_brought_up_to_date(path, monkeypatch):
    filled(path)
    here = database_module.VERSION
    monkeypatch.setattr(database_module, "VERSION", here + 1)
    step = "CREATE TABLE later (x); UPDATE setting SET value = value WHERE name = 'index'"
    monkeypatch.setitem(database_module._MIGRATIONS, here, step)
    with opened(path) as store:
        assert_sound(store)
        with store._database.read() as connection:
            assert connection.execute("PRAGMA user_version").fetchone() == (here + 1,)
            assert connection.execute("SELECT count(*) FROM later").fetchone() == (0,)


def test_a_step_to_a_later_version_that_fails_changes_nothing(path, monkeypatch):
    filled(path)
    here = database_module.VERSION
    monkeypatch.setattr(database_module, "VERSION", here + 1)
    step = "CREATE TABLE x (y); CREATE TABLE x (y)"
    monkeypatch.setitem(database_module._MIGRATIONS, here, step)
    with pytest.raises(OSError, match="table x already exists"):
        opened(path)
    monkeypatch.undo()
    with opened(path) as store:
        assert_sound(store)


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        (".", IsADirectoryError, "a folder, no store"),
        ("no/such/folder/kb", OSError, "unable to open database file"),
    ],
)
def test_what_cannot_be_opened(tmp_path, name, error, message):
    with pytest.raises(error) as caught:
        opened(tmp_path / name)
    assert str(caught.value) == f"{tmp_path / name}: {message}"


def test_what_is_not_there_is_not_made_by_a_reader(path):
    with pytest.raises(FileNotFoundError, match=r"kb\.cantle: no such store$"):
        opened(path, readonly=True)
    assert not path.exists()


# Damage inside.


def answers(path):
    """Return what a store answers, or the words with which it does not."""
    try:
        with opened(path) as store:
            wrong = store.check()
            try:
                hits = store.search(vector=QUERY, k=1_000)
            except ValueError as error:
                return wrong, str(error)
            return wrong, list(zip(hits.ids, hits.texts, hits.scores.tolist(), strict=True))
    except (cantle.StoreError, OSError) as error:
        return [str(error)], None


def test_a_database_that_was_cut_off_is_noticed(path):
    rows = filled(path, index=cantle.index.Exact())
    expected = [name for name, _ in nearest(rows, QUERY, 1_000)]
    whole = path.read_bytes()
    chosen = random.Random(5)
    lengths = [1, 99, 100, 511, 16_383, 16_384, 16_385, len(whole) - 16_384, len(whole) - 1]
    lengths += [chosen.randrange(len(whole)) for _ in range(40 if SLOW else 6)]
    for length in lengths:
        path.write_bytes(whole[:length])
        wrong, found = answers(path)
        if isinstance(found, list):
            assert [name for name, *_ in found] == expected, length
        assert wrong or found, length


def test_changed_bytes_are_found_by_check_or_change_nothing(path):
    filled(path, index=cantle.index.Exact())
    right = answers(path)
    assert right[0] == []
    whole = path.read_bytes()
    chosen = random.Random(6)
    noticed = 0
    for _ in range(400 if SLOW else 60):
        data = bytearray(whole)
        at, many = chosen.randrange(len(data)), chosen.choice((1, 1, 16, 4096))
        data[at : at + many] = chosen.randbytes(len(data[at : at + many]))
        path.write_bytes(data)
        for beside in path.parent.glob("*-*"):
            beside.unlink()
        wrong, found = answers(path)
        noticed += bool(wrong)
        assert wrong or found == right[1], (at, many)
        path.write_bytes(whole)
    assert noticed > 5


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (
            "UPDATE source SET title = 'x' WHERE id = 'd3'",
            "document 'd3': it is not what was written",
        ),
        (
            "UPDATE source SET metadata = '{' WHERE id = 'd3'",
            "document 'd3': it is not what was written",
        ),
        (
            "UPDATE source SET characters = 5 WHERE id = 'd3'",
            "document 'd3': it has not 5 characters",
        ),
        (
            "UPDATE source SET text = x'ff' WHERE id = 'd3'",
            "document 'd3': it is not what was written",
        ),
        (
            "UPDATE part SET vectors = x'00' WHERE part = 4",
            "window of 'd3': it is not what was written",
        ),
        (
            "UPDATE part SET tables = '[' WHERE part = 4",
            "window of 'd3': it is not what was written",
        ),
        (
            "UPDATE part SET chunks = 7 WHERE part = 4",
            "window of 'd3': 7 chunks, and rows of another number",
        ),
        (
            "UPDATE part SET source = 999 WHERE part = 4",
            "the file: a row of part points to none of source",
        ),
    ],
)
def test_check_says_what_is_wrong(path, statement, message):
    filled(path)
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()
    with opened(path) as store:
        assert store.check() == [message]


def test_a_text_that_is_not_what_was_written_is_not_shown(path):
    rows = filled(path)
    connection = sqlite3.connect(path)
    connection.execute("UPDATE source SET text = replace(text, '5.', '6.') WHERE id = 'd5'")
    connection.execute("UPDATE source SET text = CAST(text AS BLOB)")
    connection.commit()
    connection.close()
    with opened(path) as store:
        assert len(store.search(vector=QUERY, where={"source": "d4"})) == 5
        with pytest.raises(cantle.StoreError) as caught:
            store.search(vector=vector_of(dict(rows)["d5_window_0"]), k=1)
        assert str(caught.value) == (
            f"{path}: damaged, or no store (document 'd5' is not what was written)"
        )


def test_vectors_of_another_number_than_chunks_are_noticed(path):
    filled(path)
    connection = sqlite3.connect(path)
    connection.execute("UPDATE part SET vectors = x'00000000' WHERE part = 4")
    connection.commit()
    connection.close()
    with (
        opened(path) as store,
        pytest.raises(
            cantle.StoreError,
            match=r"damaged, or no store \(vectors of another number than chunks\)$",
        ),
    ):
        store.search(vector=QUERY)


# The index beside the file.


def assert_right(path, rows):
    """Check that a store finds what its rows say, whatever stands beside it."""
    with opened(path, index=HNSW) as store:
        assert_found(store.search(vector=QUERY, k=10), nearest(rows, QUERY, 10))
        store.build_index(rebuild=False)
        assert_found(store.search(vector=QUERY, k=10), nearest(rows, QUERY, 10))
        assert_sound(store)
    with opened(path, readonly=True) as store:
        assert "hnsw" in store.search(vector=QUERY, k=1).explain().lower() or len(rows) < 1_000


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


def test_an_index_of_another_store_is_not_taken(tmp_path):
    rows = filled(tmp_path / "one", index=HNSW)
    filled(tmp_path / "two", docs=range(3, 33), index=HNSW)
    shutil.copy(tmp_path / "two.hnsw", tmp_path / "one.hnsw")
    assert_right(tmp_path / "one", rows)


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


# Where nothing can be written.


# What is imported late is imported first: the user may not read Python's own files.
NOBODY = """
import os, sys
from stores import *
with opened() as store:
    store.load(words().split("one two three", id="a"), min_chars=0, embed=True)
    store.search("one two three")
    store.check()
os.setgid(65534)
os.setuid(65534)
"""


def as_nobody(code, *arguments):
    """Run code as a user that may write nowhere; root may write everywhere."""
    return in_fresh_process(f"{NOBODY}{code}", *map(str, arguments))


READ = """
store = opened(sys.argv[1], readonly=True)
print([name for name, _ in rows_of(store)], store.check(), len(store.search(vector=np.ones(WIDTH))))
"""


@pytest.fixture
def folder():
    """Return a folder that others than its owner may read; pytest keeps its own from them."""
    if os.getuid() != 0:
        pytest.skip("only root can become another user")
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield Path(name)


def test_a_folder_that_cannot_be_written_is_read(folder):
    filled(folder / "kb", docs=range(2))
    assert as_nobody(READ, folder / "kb") == "['d0_window_0', 'd1_window_0', 'd1_window_1'] [] 3\n"
    with pytest.raises(AssertionError, match=r"kb: attempt to write a readonly database"):
        as_nobody("opened(sys.argv[1])", folder / "kb")


def test_what_stands_beside_a_file_that_cannot_be_written_is_not_overlooked(folder):
    # It was: the folder's last writer was killed, and what it had committed was not read.
    store = opened(folder / "kb")
    store.load(words().split("one two three four", id="a"), min_chars=0, embed=True)
    left = folder / "left"
    left.mkdir()
    for name in ("kb", "kb-wal"):
        shutil.copy(folder / name, left / name)
    left.chmod(0o755)
    with pytest.raises(AssertionError) as caught:
        as_nobody(READ, left / "kb")
    assert (
        f"OSError: {left}/kb: unable to open database file; {left}/kb-wal holds what is not in it "
        "yet: open it once where it can be written"
    ) in str(caught.value)
    shutil.copy(folder / "kb-shm", left / "kb-shm")
    assert as_nobody(READ, left / "kb") == "['a_window_0'] [] 1\n"
    opened(left / "kb").close()
    assert as_nobody(READ, left / "kb") == "['a_window_0'] [] 1\n"


def test_a_reader_that_cannot_lock_sees_what_is_written_later(folder):
    filled(folder / "kb", docs=range(2))
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"{NOBODY}\n"
            "store = opened(sys.argv[1], readonly=True)\n"
            "for _ in range(3):\n"
            "    print(len(rows_of(store)), flush=True)\n"
            "    sys.stdin.readline()\n",
            str(folder / "kb"),
        ],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([*sys.path, os.path.dirname(__file__)])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    def said():
        return process.stdout.readline()

    assert said() == "3\n"
    with opened(folder / "kb") as store:
        store.load(words(3).split("one two", id="new"), min_chars=0)
        process.stdin.write("\n")
        process.stdin.flush()
        assert said() == "4\n"
        store.delete("d1")
    process.stdin.write("\n")
    process.stdin.flush()
    assert said() == "2\n"
    process.communicate("\n")
    assert process.returncode == 0


@pytest.mark.parametrize("act", ["load", "backfill", "delete", "add", "sync", "change_embedder"])
def test_a_reader_does_not_write(path, act):
    filled(path, docs=range(2))
    with opened(path, readonly=True) as store:
        acts = {
            "load": lambda: store.load(words(3).split("a b c", id="x"), min_chars=0),
            "backfill": lambda: store.backfill(),
            "delete": lambda: store.delete("d1"),
            "add": lambda: store.add("d1", "window", "a text"),
            "sync": lambda: store.sync(["a b c"], ids=["x"], strategy=words(3), min_chars=0),
            "change_embedder": lambda: store.change_embedder(lambda texts: None),
        }
        with pytest.raises(cantle.StoreError) as caught:
            acts[act]()
        assert str(caught.value) == f"{path}: opened to be read only"
        assert len(store.snapshot()) == 3


# A full disk.


@pytest.mark.parametrize("act", ["load", "embed", "backfill", "sync", "change_embedder"])
def test_a_full_disk_leaves_what_was_there(path, act):
    filled(path)
    more = words(3).split_all(texts(range(200), 9), ids=[f"n{doc}" for doc in range(200)])
    with opened(path) as store:
        if act == "backfill":
            store.load(more, min_chars=0)
        rows, embedded = rows_of(store), store.snapshot().embedded.tolist()
        with store._database.read() as connection:
            (pages,) = connection.execute("PRAGMA page_count").fetchone()
            (free,) = connection.execute("PRAGMA freelist_count").fetchone()
            connection.execute(f"PRAGMA max_page_count = {pages - free}")
        acts = {
            "load": lambda: store.load(more, min_chars=0),
            "embed": lambda: store.load(more, min_chars=0, embed=True),
            "backfill": lambda: store.backfill(),
            "sync": lambda: store.sync(
                texts(range(200), 9), ids=more.documents.ids, strategy=words(3), min_chars=0
            ),
            "change_embedder": lambda: store.change_embedder("keyword:a|b"),
        }
        if act == "change_embedder":
            acts[act]()  # It needs no room.
            assert store.info()["waiting"] == len(rows)
            return
        with pytest.raises(OSError, match=f"^{path}: database or disk is full$"):
            acts[act]()
        assert rows_of(store) == rows
        assert store.snapshot().embedded.tolist() == embedded
        assert_sound(store)
        with store._database.read() as connection:
            connection.execute("PRAGMA max_page_count = 100000")
        acts[act]()
        store.backfill()
        assert_sound(store)


LIMITED = """
import resource, sys, signal
from stores import *
import cantle
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = opened(sys.argv[1], index=cantle.index.Hnsw(m=4, ef_construction=16))
before = rows_of(store)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
given = [" ".join(f"{doc}.{i}" for i in range(40)) for doc in range(400)]
for act in (
    lambda: store.load(words(3).split_all(given), min_chars=0, embed=True),
    lambda: store.build_index(),
):
    try:
        act()
        print("done")
    except OSError as error:
        print("OSError", sys.argv[1] in str(error) or error)
    assert rows_of(store) == before or len(before) < len(rows_of(store))
    assert store.check() == []
    before = rows_of(store)
    assert len(store.search(vector=np.ones(WIDTH), k=3)) == 3
"""


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        (1_000, "OSError True\nOSError True\n"),
        (300_000, "OSError True\ndone\n"),
        (1 << 30, "done\ndone\n"),
    ],
)
def test_a_file_that_cannot_grow_is_told(path, limit, said):
    rows = filled(path, index=HNSW)
    assert resource.RLIMIT_FSIZE
    assert in_fresh_process(LIMITED, str(path), str(limit)) == said
    with opened(path) as store:
        assert_sound(store)
        if limit < 1 << 30:
            assert rows_of(store) == rows
    assert {entry.name for entry in path.parent.iterdir()} == {path.name, f"{path.name}.hnsw"}
