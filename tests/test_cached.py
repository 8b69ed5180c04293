"""`Cached`: files that are broken, foreign, shared or not writable, and embedders that fail."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading

import numpy as np
import pytest

import cantle
from cantle.embed import Cached, Keyword

TEA = Keyword(["tea"])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"batch_size": 0}, "batch_size (0) must be at least 1"),
        ({"batch_size": 1.5}, "batch_size (1.5) must be a whole number"),
        ({"path": 3}, "path (3) must be a path"),
        ({"path": b"x"}, "path (b'x') must be a path"),
        ({"path": ""}, "path ('') names no file"),
        ({"path": "a\0b"}, "path ('a\\x00b') names no file"),
        ({"embedder": 3}, "embedder (3) must be callable"),
        ({"model": ""}, "model ('') must be a string that is not empty"),
        # Two functions of one name, or one that calls another model now, were once the same.
        (
            {"embedder": lambda texts: [[1.0]] * len(texts)},
            "model (None) must name what the embedder returns: it has no fingerprint",
        ),
    ],
)
def test_settings_are_checked(settings, message):
    with pytest.raises((TypeError, cantle.SettingError)) as caught:
        Cached(**({"embedder": TEA, "path": "x"} | settings))
    assert str(caught.value) == message


def test_a_name_that_sqlite_keeps_in_memory_is_a_file_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert Cached(TEA, ":memory:")(["tea"]).tolist() == [[1]]
    assert (tmp_path / ":memory:").is_file()


def test_an_error_of_the_embedder_is_none_of_the_file(tmp_path):
    """An embedder that uses SQLite itself: its errors were once told of the cache."""

    def embedder(texts):
        raise sqlite3.OperationalError("mine")

    with pytest.raises(sqlite3.OperationalError, match=r"^mine$"):
        Cached(embedder, tmp_path / "v", model="m")(["a"])


def changed(path, statement, *values):
    with sqlite3.connect(path) as file:
        file.execute(statement, values)
    file.close()


@pytest.mark.parametrize(
    ("vector", "words"),
    [
        (b"abc", "is damaged: it has 3 bytes"),
        (b"", "is damaged: it has 0 bytes"),
        ("texts", "is damaged: it has 5 bytes"),
        (np.array([np.nan], "<f4").tobytes(), "is damaged"),
        (np.array([1, 2], "<f4").tobytes(), "vectors of 1 and 2 numbers under the model 'm'"),
    ],
)
def test_damaged_vectors_are_told(tmp_path, vector, words):
    path = tmp_path / "v"
    cached = Cached(TEA, path, model="m")
    cached(["a", "b"])
    first = "WHERE text = (SELECT min(text) FROM vectors)"
    changed(path, f"UPDATE vectors SET vector = ? {first}", vector)
    with pytest.raises(cantle.SettingError) as caught:
        cached(["a", "b"])
    assert words in str(caught.value)
    assert str(path) in str(caught.value)


def test_another_length_is_refused_before_it_is_kept(tmp_path):
    """It was once written first, and the file then failed for both models."""
    cached = Cached(TEA, tmp_path / "v", model="m")
    cached(["a", "b"])
    other = Cached(Keyword(["tea", "rain"]), tmp_path / "v", model="m")
    for texts in (["c"], ["a", "c"], ["c"]):
        with pytest.raises(cantle.SettingError, match="vectors of 1 and 2 numbers"):
            other(texts)
    assert cached(["a", "b", "c"]).shape == (3, 1)


@pytest.mark.parametrize("torn", [50, 120, 4_000, 9_000, -1])
def test_a_file_that_is_torn_is_told(tmp_path, torn):
    path = tmp_path / "v"
    texts = [f"text {i}" for i in range(2_000)]
    Cached(TEA, path)(texts)
    data = bytearray(path.read_bytes())
    if torn < 0:
        data[4_096:] = b"\xee" * (len(data) - 4_096)
        path.write_bytes(data)
    else:
        path.write_bytes(data[:torn])
    with pytest.raises(cantle.SettingError, match="no cache of vectors"):
        Cached(TEA, path)(texts)


def test_a_file_of_another_program_is_left_alone(tmp_path):
    path = tmp_path / "theirs"
    changed(path, "CREATE TABLE vectors (id INTEGER, content TEXT)")
    with pytest.raises(cantle.SettingError, match="no cache of vectors"):
        Cached(TEA, path)(["a"])
    with pytest.raises(OSError, match="unable to open database file"):
        Cached(TEA, tmp_path)(["a"])


def test_a_file_that_cannot_be_written_is_read_and_told_before_it_is_paid_for(tmp_path):
    path = tmp_path / "v"
    Cached(TEA, path, model="m")(["tea"])
    calls = []

    def paid(texts):
        calls.append(texts)
        return TEA(texts)

    original = sqlite3.connect

    def read_only(path, **settings):
        return original(f"file:{path}?mode=ro", uri=True, **settings)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite3, "connect", read_only)
        assert Cached(paid, path, model="m")(["tea"]).tolist() == [[1]]
        with pytest.raises(OSError, match="attempt to write a readonly database"):
            Cached(paid, path, model="m")(["tea", "new"])
    assert calls == []


_WORK = """
import sys
from cantle.embed import Cached

def embedder(texts):
    return [[float(len(text)), 1.0] for text in texts]

texts = [f"{i:05}" * (i % 7 + 1) for i in range(int(sys.argv[2]))]
found = Cached(embedder, sys.argv[1], model="m", batch_size=50)(texts)
assert found[:, 0].tolist() == [float(len(text)) for text in texts]
"""


def test_two_processes_and_threads_write_one_file(tmp_path):
    path = str(tmp_path / "v")
    both = [subprocess.Popen([sys.executable, "-c", _WORK, path, "3000"]) for _ in range(2)]
    assert [one.wait() for one in both] == [0, 0]
    seen = []
    cached = Cached(lambda texts: seen.append(texts), path, model="m")
    texts = [f"{i:05}" * (i % 7 + 1) for i in range(3_000)]
    found: list = [None] * 4

    def work(i):
        found[i] = cached(texts[i * 100 :])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(one) for one in found] == [3_000, 2_900, 2_800, 2_700]
    assert seen == [], "all of it was kept"


_KILLED = """
import os, signal, sys
from cantle.embed import Cached

calls = []

def embedder(texts):
    calls.append(texts)
    if len(calls) == 4:
        os.kill(os.getpid(), signal.SIGKILL)
    return [[float(text)] for text in texts]

Cached(embedder, sys.argv[1], model="m", batch_size=10)([str(i) for i in range(100)])
"""


def test_what_was_kept_before_the_process_was_killed_is_there(tmp_path):
    path = str(tmp_path / "v")
    done = subprocess.run([sys.executable, "-c", _KILLED, path], check=False)
    assert done.returncode == -signal.SIGKILL
    asked = []

    def embedder(texts):
        asked.extend(texts)
        return [[float(text)] for text in texts]

    found = Cached(embedder, path, model="m")([str(i) for i in range(100)])
    assert found[:, 0].tolist() == list(range(100))
    assert asked == [str(i) for i in range(30, 100)]
    assert os.listdir(tmp_path) == ["v"]
