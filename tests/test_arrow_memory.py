"""Whose memory it is: texts are copied nowhere and freed once, in whatever thread that happens."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import tracemalloc
import weakref

import numpy as np
import polars as pl
import pyarrow as pa

import cantle
from arrow_texts import PLAIN, SPLITTER
from cantle import _core

# Texts that come in.


def test_texts_live_as_long_as_chunks() -> None:
    before = pa.total_allocated_bytes()
    source = pa.array([f"document number {i} with some words" for i in range(5_000)])
    held = pa.total_allocated_bytes()
    chunks = SPLITTER.split_all(source)
    del source
    gc.collect()
    # Nothing was copied, nothing was freed: all but the small parts around the text.
    assert before + 190_000 < pa.total_allocated_bytes() < held + 1_000
    assert chunks[0].text == "document"
    assert chunks.documents.texts[4_999] == "document number 4999 with some words"
    view = pa.table(chunks.to_arrow("view"))["text"]
    del chunks
    gc.collect()
    assert view[0].as_py() == "document"
    del view
    gc.collect()
    assert pa.total_allocated_bytes() < before + 1_000, "and then all was freed"


def test_no_python_object_is_made_per_text() -> None:
    count = 200_000
    source = pa.array(["some short text"] * count)
    tracemalloc.start()
    chunks = cantle.Whole(unit="chars").split_all(source)
    made = sum(stat.count for stat in tracemalloc.take_snapshot().statistics("filename"))
    tracemalloc.stop()
    assert len(chunks) == count
    assert made < 2_000


def test_two_gib_in_many_chunks() -> None:
    # One buffer seen 2,100 times: 2.1 GiB of text without the memory.
    part = pa.array(["word " * 200_000 + "the end."] * 1)
    source = pa.chunked_array([part] * 2_200)
    chunks = cantle.Whole(unit="bytes").split_all(source)
    assert len(chunks) == 2_200
    assert int(chunks.size.sum()) == 2_200 * 1_000_008 > 2**31
    assert chunks[2_199].text.endswith("the end.")


# Texts that go out.


def addresses(table: pa.Table) -> set[tuple[int, int]]:
    found = set()
    for chunk in table["text"].chunks:
        for buffer in chunk.buffers()[2:]:
            if buffer is not None:
                found.add((buffer.address, buffer.size))
    return found


def test_views_point_into_the_documents() -> None:
    source = pa.array(["one long sentence of words. and another long sentence." * 50] * 30)
    values = source.buffers()[2]
    chunks = cantle.Recursive(60, 0, "chars").split_all(source)
    before = pa.total_allocated_bytes()
    for address, size in addresses(pa.table(chunks.to_arrow("view"))):
        assert values.address <= address < address + size <= values.address + values.size
    assert pa.total_allocated_bytes() == before
    # Numbers are NumPy's own memory.
    column = pa.table(chunks)["byte_start"].chunk(0).buffers()[1]
    assert column.address == chunks.byte_start.ctypes.data
    # Python's texts as well: ASCII `str` and `bytes` hold their UTF-8 right behind a header.
    text = b"one long sentence of words. " * 50
    for source in (text, text.decode()):
        chunks = cantle.Recursive(60, 0, "chars").split(source)
        ((address, size),) = addresses(pa.table(chunks.to_arrow("view")))
        assert id(source) < address
        assert address + size <= id(source) + sys.getsizeof(source)


def test_views_show_no_more_than_their_rows() -> None:
    # Ten rows over IPC would otherwise ship the whole document.
    chunks = cantle.Recursive(60, 0, "chars").split("one long sentence of words. " * 5_000)
    ((_, size),) = addresses(pa.table(chunks[10:20].to_arrow("view")))
    assert size <= 700


def test_views_beyond_two_gib_get_another_buffer() -> None:
    text = b"word " * 450_000_000  # 2.25 GB
    spans = [(0, 50), (2**31 - 30, 2**31 + 30), (2**31 + 99, 2**31 + 199), (10**9, 10**9 + 50)]
    columns = {
        "byte_start": np.array([a for a, _ in spans]),
        "byte_end": np.array([b for _, b in spans]),
        "size": np.array([b - a for a, b in spans]),
        "doc": np.zeros(4, np.int32),
        "ordinal": np.arange(4, dtype=np.int32),
        "flags": np.zeros(4, np.uint32),
    }
    columns["char_start"], columns["char_end"] = columns["byte_start"], columns["byte_end"]
    documents = cantle.Documents([text])
    chunks = cantle.Chunks(columns, documents, name="spans", unit="bytes")
    table = pa.table(chunks.to_arrow("view"))
    table.validate(full=True)
    assert table["text"].to_pylist() == [text[a:b].decode() for a, b in spans]
    # One for each 2 GiB, and one more for the row that goes back before its buffer's start.
    assert len(addresses(table)) == 3


def test_an_owner_lives_until_its_last_buffer() -> None:
    class Watched(str):
        __slots__ = ("__weakref__",)

    text = Watched("some words that are long enough " * 9)
    alive = weakref.ref(text)
    chunks = cantle.Recursive(60, 0, "chars").split(text)
    table = pa.table(chunks.to_arrow("view"))
    want = chunks.texts
    del text, chunks
    gc.collect()
    assert alive() is not None
    assert table["text"].to_pylist() == want

    # Released on a thread that Python does not know, without the lock.
    thread = threading.Thread(target=lambda: None)
    thread.start()
    thread.join()
    frame = pl.DataFrame(table)
    del table
    frame = frame.lazy().filter(pl.col("size") < 0).collect()
    del frame
    gc.collect()
    assert alive() is None


# Threads.


def test_many_threads_read_one_table() -> None:
    chunks = cantle.Window(3, 0, "chars").split_all([text * 200 for text in PLAIN])
    want = pa.table(chunks)
    found: list[bool] = []

    def read() -> None:
        for texts in ("large", "view", "large"):
            got = pa.table(chunks.to_arrow(texts))  # type: ignore[arg-type]
            found.append(got["text"].to_pylist() == want["text"].to_pylist())

    threads = [threading.Thread(target=read) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 18


def test_threads_share_one_stream() -> None:
    source = pa.table({"text": [f"text {i}" for i in range(500)]}).to_reader(max_chunksize=7)
    reader = _core.ArrowReader(source, "texts", "text", None, True)
    seen: list[str] = []

    def read() -> None:
        while len(texts := reader.read(3)[0]):
            seen.extend(texts)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == sorted(f"text {i}" for i in range(500))


def test_interpreter_may_end_while_arrow_holds_texts() -> None:
    code = (
        "import cantle, pyarrow as pa\n"
        "c = cantle.Recursive(60, 0, 'chars').split('some words that are long enough ' * 9)\n"
        "t = pa.table(c.to_arrow('view')); s = c.__arrow_c_stream__()\n"
        "import builtins; builtins.kept = (t, s, c)\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
