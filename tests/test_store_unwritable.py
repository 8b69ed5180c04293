"""Where a store cannot be written it is read, and a full disk leaves what was there."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import cantle
from processes import in_fresh_process
from stores import HNSW, assert_sound, filled, numbered, opened, rows_of, words

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
    more = words(3).split_all(numbered(range(200), 9), ids=[f"n{doc}" for doc in range(200)])
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
                numbered(range(200), 9), ids=more.documents.ids, strategy=words(3), min_chars=0
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
    assert in_fresh_process(LIMITED, str(path), str(limit)) == said
    with opened(path) as store:
        assert_sound(store)
        if limit < 1 << 30:
            assert rows_of(store) == rows
    assert {entry.name for entry in path.parent.iterdir()} == {path.name, f"{path.name}.hnsw"}
