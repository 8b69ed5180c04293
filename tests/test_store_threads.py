"""Threads and processes read a store while one writes: every answer is of one moment."""

import multiprocessing
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import cantle
from processes import environment
from stores import Hashing, assert_sound, opened, rows_of, vector_of, words

ROUNDS = 12
DOCS = 6


def texts(version):
    """Return documents all of whose chunks tell the version: four chunks each."""
    return [" ".join(f"v{version} d{doc} c{chunk} x" for chunk in range(4)) for doc in range(DOCS)]


def cut(version):
    ids = [f"d{doc}" for doc in range(DOCS)]
    metadata = [{"version": version}] * DOCS
    return words(4).split_all(texts(version), ids=ids, metadata=metadata)


def assert_of_one_moment(store):
    """Check that an answer, its texts, its scores and its metadata are of one version."""
    query = vector_of("a question")
    hits = store.search(vector=query, k=100)
    versions = {text.split()[0] for text in hits.texts}
    assert len(versions) == 1
    assert len(hits) == DOCS * 4
    assert {f"v{hit.metadata['version']}" for hit in hits} == versions
    asked = query / np.linalg.norm(query)
    for hit in hits:
        own = vector_of(hit.text)
        assert hit.score == pytest.approx(float(own @ asked / np.linalg.norm(own)), abs=1e-5)
    return versions.pop()


def replaced(store, versions):
    """Replace all documents, in one transaction for each version."""
    for version in versions:
        store.load(cut(version), min_chars=0, embed=True)


@pytest.mark.parametrize("same", [True, False], ids=["one store", "two stores"])
@pytest.mark.parametrize("index", [cantle.index.Exact(), cantle.index.Hnsw(m=4)])
def test_readers_see_whole_versions(tmp_path, same, index):
    writer = opened(tmp_path / "kb", index=index)
    replaced(writer, [0])
    writer.build_index()
    reader = writer if same else opened(tmp_path / "kb")
    done = threading.Event()

    def read():
        seen = [assert_of_one_moment(reader)]
        while not done.is_set():
            seen.append(assert_of_one_moment(reader))
        return seen

    with ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(read) for _ in range(4)]
        try:
            for version in range(1, ROUNDS):
                replaced(writer, [version])
                if version % 4 == 0:
                    writer.build_index()
        finally:
            done.set()
        for future in futures:
            seen = [int(version[1:]) for version in future.result()]
            assert seen == sorted(seen)
    assert assert_of_one_moment(reader) == f"v{ROUNDS - 1}"
    assert_sound(writer)


@pytest.mark.parametrize("mode", ["text", "hybrid"])
def test_readers_by_words_see_whole_versions(tmp_path, mode):
    writer, reader = opened(tmp_path / "kb"), opened(tmp_path / "kb")
    replaced(writer, [0])
    done = threading.Event()

    def read():
        while not done.is_set():
            hits = reader.search("d1 and c2", k=30, mode=mode)
            assert len({text.split()[0] for text in hits.texts}) == 1
            passages = reader.retrieve("d1 and c2", budget=100, mode=mode)
            told = " ".join(passage.passage for passage in passages)
            assert len({word for word in told.split() if word.startswith("v")}) == 1

    with ThreadPoolExecutor(2) as pool:
        futures = [pool.submit(read) for _ in range(2)]
        try:
            replaced(writer, range(1, ROUNDS))
        finally:
            done.set()
        for future in futures:
            future.result()


def test_a_reader_is_not_starved_by_a_steady_writer(tmp_path):
    # Rows and vectors were read one after the other: a write between them made the reader begin
    # anew, at most eight times.
    writer, reader = opened(tmp_path / "kb"), opened(tmp_path / "kb")
    replaced(writer, [0])
    version = 0
    read = reader._database.read

    def reading():
        nonlocal version
        if not reader._database._depth:
            version += 1
            replaced(writer, [version])
        return read()

    reader._database.read = reading
    try:
        for _ in range(3):
            assert_of_one_moment(reader)
    finally:
        del reader._database.read
    assert version >= 3


def test_threads_write_one_after_the_other(tmp_path):
    store = opened(tmp_path / "kb")

    def write(number):
        chunks = words(2).split(f"{number} a b c d {number}", id=f"d{number}")
        store.load(chunks, min_chars=0, embed=number % 2 == 0)
        store.add(f"d{number}", "window", f"added {number}")
        if number % 5 == 0:
            store.backfill()
        return store.search(f"added {number}", k=1).scores

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(40)))
    store.backfill()
    assert len(store.snapshot()) == 40 * 4
    assert store.info()["waiting"] == 0
    assert_sound(store)


def test_two_that_backfill_at_once_agree(tmp_path):
    stores = [opened(tmp_path / "kb") for _ in range(2)]
    given = [f"{doc} a b c {doc} d e f" for doc in range(40)]
    stores[0].load(words().split_all(given), min_chars=0)
    with ThreadPoolExecutor(2) as pool:
        counts = list(pool.map(lambda store: store.backfill(batch_size=1), stores))
    assert sum(counts) == 80
    assert_sound(stores[0])


@pytest.mark.parametrize("often", [1, 99])
@pytest.mark.parametrize("how", ["build_index", "backfill", "sync"])
def test_an_index_is_built_though_others_write_meanwhile(tmp_path, monkeypatch, often, how):
    # That the store was written while its vectors were read was raised.
    index = cantle.index.Hnsw(m=4, ef_construction=16)
    store, other = (opened(tmp_path / "kb", index=index) for _ in range(2))
    store.load(cut(0), min_chars=0, embed=True)
    version, real = 0, cantle.store.snapshot.Snapshot.vectors

    def vectors(snapshot, parts=None):
        nonlocal version
        if version < often and snapshot._database is store._database:
            version += 1
            other.load(cut(version), min_chars=0, embed=True)
        return real(snapshot, parts)

    monkeypatch.setattr(cantle.store.snapshot.Snapshot, "vectors", vectors)
    if how == "sync":
        store.sync(texts(0), ids=[f"d{doc}" for doc in range(DOCS)], strategy=words(4), min_chars=0)
    else:
        getattr(store, how)()
    assert version
    assert (tmp_path / "kb.hnsw").is_file()
    monkeypatch.undo()
    assert_of_one_moment(store)
    assert_sound(store)


def test_what_was_loaded_meanwhile_is_not_given_the_vectors_of_what_it_was(tmp_path):
    other = opened(tmp_path / "kb")

    class Slow(Hashing):
        def __call__(self, texts):
            if not self.texts:
                other.load(words().split("entirely other words here", id="a"), min_chars=0)
            return super().__call__(texts)

    store = opened(tmp_path / "kb", embedder=Slow())
    store.load(words().split("one two three four", id="a"), min_chars=0)
    assert store.backfill() == 0
    assert_sound(store)
    assert rows_of(store) == [("a_window_0", "entirely other words here")]
    assert store.info()["waiting"] == 1
    assert store.backfill() == 1
    assert_sound(store)


READER = """
import sys
from test_store_threads import assert_of_one_moment, opened
store = opened(sys.argv[1], readonly=sys.argv[2] == "readonly")
print("ready", flush=True)
count, seen = 0, []
import threading
done = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), done.set()), daemon=True).start()
while not done.is_set():
    seen.append(int(assert_of_one_moment(store)[1:]))
seen.append(int(assert_of_one_moment(store)[1:]))
assert seen == sorted(seen)
assert store.check() == []
print(seen[-1], flush=True)
"""


def test_processes_read_while_one_writes(tmp_path):
    writer = opened(tmp_path / "kb")
    replaced(writer, [0])
    readers = [
        subprocess.Popen(
            [sys.executable, "-c", READER, str(tmp_path / "kb"), how],
            env=environment()
            | {"PYTHONPATH": os.pathsep.join([*sys.path, os.path.dirname(__file__)])},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for how in ("readonly", "writable", "readonly")
    ]
    for reader in readers:
        assert reader.stdout.readline() == "ready\n"
    replaced(writer, range(1, ROUNDS))
    writer.build_index()
    for reader in readers:
        said, _ = reader.communicate("")
        assert (said, reader.returncode) == (f"{ROUNDS - 1}\n", 0)
    assert_sound(writer)


MAKER = """
import sys
from stores import opened, words
sys.stdin.readline()
number = sys.argv[2]
with opened(sys.argv[1]) as store:
    chunks = words(name=f"w{number}").split(f"{number} a b c", id=number)
    store.load(chunks, min_chars=0, embed=True)
"""


def test_processes_that_make_one_store_at_once_make_one(tmp_path):
    # One found a file that was being made, and called it no store.
    path = tmp_path / "kb"
    makers = [
        subprocess.Popen(
            [sys.executable, "-c", MAKER, str(path), str(number)],
            env=environment()
            | {"PYTHONPATH": os.pathsep.join([*sys.path, os.path.dirname(__file__)])},
            stdin=subprocess.PIPE,
            text=True,
        )
        for number in range(4)
    ]
    for maker in makers:
        maker.stdin.write("go\n")
        maker.stdin.flush()
    for maker in makers:
        maker.communicate()
        assert maker.returncode == 0
    with opened(path) as store:
        assert len(store.snapshot()) == 4
        assert_sound(store)


# Forks.

FORKS = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")


def forked(act):
    """Run something in a fork; return what it returned."""
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()

    def run():
        try:
            queue.put((True, act()))
        except BaseException as error:
            queue.put((False, repr(error)))

    process = context.Process(target=run)
    process.start()
    done, found = queue.get()
    process.join()
    assert done, found
    return found


@FORKS
def test_a_fork_reads_and_writes_beside_its_parent(tmp_path):
    # SQLite keeps what a process has locked in its memory: the fork believed to hold its parent's
    # locks, another process reset the file beside the store, and the fork's write was lost.
    store = opened(tmp_path / "kb")
    replaced(store, [0])
    here, there = os.pipe()
    back, forth = os.pipe()

    def child():
        first = assert_of_one_moment(store)
        os.write(there, b"x")
        os.read(back, 1)
        store.load(words().split("written by the fork", id="fork"), min_chars=0, embed=True)
        return first

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(forked, child)
        os.read(here, 1)
        store.close()
        with opened(tmp_path / "kb") as other:
            other.load(words().split("written by another", id="other"), min_chars=0, embed=True)
        os.write(forth, b"x")
        assert future.result() == "v0"
    for end in (here, there, back, forth):
        os.close(end)
    with opened(tmp_path / "kb") as store:
        assert {"fork", "other"} < {source.id for source in store.snapshot().sources}
        assert_sound(store)


@FORKS
def test_a_fork_has_what_was_in_memory():
    store = opened()
    replaced(store, [3])
    assert forked(lambda: assert_of_one_moment(store)) == "v3"
    assert forked(lambda: (replaced(store, [4]), assert_of_one_moment(store))[1]) == "v4"
    assert assert_of_one_moment(store) == "v3"


@FORKS
def test_a_fork_in_the_middle_of_other_threads_work_is_not_locked(tmp_path):
    store = opened(tmp_path / "kb")
    replaced(store, [0])
    done = threading.Event()

    def work():
        version = 0
        while not done.is_set():
            version += 1
            replaced(store, [version])
            assert_of_one_moment(store)

    with ThreadPoolExecutor(2) as pool:
        futures = [pool.submit(work) for _ in range(2)]
        try:
            for _ in range(5):
                forked(lambda: assert_of_one_moment(store))
        finally:
            done.set()
        for future in futures:
            future.result()
    assert_sound(store)


@FORKS
def test_a_closed_store_stays_closed_in_a_fork(tmp_path):
    store = opened(tmp_path / "kb")
    store.close()

    def child():
        with pytest.raises(cantle.StoreError, match="the store is closed"):
            store.search("anything")
        return True

    assert forked(child)


@FORKS
def test_a_file_that_is_gone_after_a_fork_is_not_made_anew(tmp_path):
    store = opened(tmp_path / "kb")
    replaced(store, [0])

    def child():
        os.unlink(tmp_path / "kb")
        with pytest.raises(FileNotFoundError, match="no longer there"):
            store.info()
        return (tmp_path / "kb").exists()

    assert forked(child) is False
