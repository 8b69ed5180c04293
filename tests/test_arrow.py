"""Arrow in and out: every encoding, every library, and producers that lie or leave early."""

from __future__ import annotations

import copy
import gc
import json
import pickle
import subprocess
import sys
import threading
import tracemalloc
import weakref
from collections.abc import Iterator
from typing import Any

import datasets
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cantle
from cantle import _core

TEXTS = [
    "One short sentence. And another one.",
    "",
    None,
    "tiny",
    "exactly 12 b",
    "Ünï çödé: 漢字かな交じり文。😀 Und noch ein Satz, der länger ist.",
    "Lines\nof\n\ntext, 1234567890 and more words than one chunk can hold at all.",
    "tiny",
]
PLAIN = [text or "" for text in TEXTS]
SPLITTER = cantle.Recursive(12, 3, "chars")


def dictionary(keys: pa.DataType, values: pa.DataType) -> Any:
    return lambda texts: (
        pa.array(texts, pa.string()).dictionary_encode().cast(pa.dictionary(keys, values))
    )


ENCODINGS: dict[str, Any] = {
    "string": lambda texts: pa.array(texts, pa.string()),
    "large_string": lambda texts: pa.array(texts, pa.large_string()),
    "string_view": lambda texts: pa.array(texts, pa.string_view()),
    "binary": lambda texts: pa.array([t and t.encode() for t in texts], pa.binary()),
    "large_binary": lambda texts: pa.array([t and t.encode() for t in texts], pa.large_binary()),
    "binary_view": lambda texts: pa.array([t and t.encode() for t in texts], pa.binary_view()),
    "dictionary int8": dictionary(pa.int8(), pa.string()),
    "dictionary int32": dictionary(pa.int32(), pa.string()),
    "dictionary int64": dictionary(pa.int64(), pa.large_string()),
    "dictionary uint16": dictionary(pa.uint16(), pa.string()),
}


def null_in_dictionary(texts: list[str | None]) -> pa.Array:
    """A null that stands among the values, not among the keys."""
    values = list(dict.fromkeys(texts))
    keys = pa.array([values.index(text) for text in texts], pa.int32())
    return pa.DictionaryArray.from_arrays(keys, pa.array(values, pa.string()))


ENCODINGS["dictionary with a null value"] = null_in_dictionary


class Stream:
    """Any object with the stream half of the interface, and nothing else."""

    def __init__(self, source: Any) -> None:
        self.source = source

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.source.__arrow_c_stream__(requested_schema)


class Array:
    """The array half."""

    def __init__(self, source: Any) -> None:
        self.source = source

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        return self.source.__arrow_c_array__(requested_schema)


def layouts(make: Any) -> Iterator[tuple[str, Any, list[str]]]:
    whole = make(TEXTS)
    yield "array", Array(whole), PLAIN
    for start in range(len(TEXTS)):
        for length in (0, 1, 3, len(TEXTS) - start):
            part = slice(start, min(start + length, len(TEXTS)))
            yield f"slice {part}", Array(whole.slice(start, length)), PLAIN[part]
    parts = [whole.slice(2, 3), make([]), whole, whole.slice(5, 1)]
    want = PLAIN[2:5] + PLAIN + PLAIN[5:6]
    yield "chunked", Stream(pa.chunked_array(parts)), want
    yield "no chunk", Stream(pa.chunked_array([], whole.type)), []


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_layout_gives_the_chunks_of_str(encoding: str) -> None:
    for name, source, want in layouts(ENCODINGS[encoding]):
        chunks = SPLITTER.split_all(source)
        assert chunks == SPLITTER.split_all(want), name
        assert list(chunks.documents.texts) == want, name
        assert [chunk.text for chunk in chunks] == chunks.texts, name
        assert pickle.loads(pickle.dumps(chunks)) == chunks, name


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("unit", ["words", "cl100k_base", len])
def test_units_and_threads(unit: Any, threads: int) -> None:
    splitter = cantle.Sentence(9, 2, unit)
    texts = [text * 40 for text in PLAIN] * 3
    assert splitter.split_all(pa.array(texts), threads=threads) == splitter.split_all(texts)


def test_random_texts_agree_with_str() -> None:
    rng = np.random.default_rng(3)
    letters = list("abc  \n.é漢😀")
    for _ in range(60):
        texts = ["".join(rng.choice(letters, rng.integers(0, 40))) for _ in range(9)]
        for make in ENCODINGS.values():
            start = int(rng.integers(0, 9))
            want = SPLITTER.split_all(texts[start:])
            assert SPLITTER.split_all(make(texts).slice(start)) == want


# What libraries hand out.

FRAMES: dict[str, Any] = {
    "pyarrow table": lambda d: pa.table(d),
    "pyarrow batch": lambda d: pa.record_batch(d),
    "pyarrow reader": lambda d: pa.table(d).to_reader(max_chunksize=2),
    "polars": lambda d: pl.DataFrame(d),
    "duckdb": lambda d: duckdb.from_arrow(pa.table(d)),
    "pandas": lambda d: pd.DataFrame(d),
    "stream": lambda d: Stream(pa.table(d)),
}


@pytest.mark.parametrize("frame", FRAMES)
def test_tables(frame: str) -> None:
    data = {
        "name": ["a.md", "b.md", "c.md"],
        "body": ["One. Two.", "Three.", "Four. Five."],
        "year": [1999, 2004, 2026],
    }
    chunks = cantle.Sentence(1, 0, "words").split_all(
        FRAMES[frame](data), text="body", id="name", threads=1
    )
    assert chunks.texts == ["One.", "Two.", "Three.", "Four.", "Five."]
    assert chunks.ids[:3] == ["a.md_sentence_0", "a.md_sentence_1", "b.md_sentence_0"]
    assert chunks[4].metadata == {"year": 2026}
    assert pl.DataFrame(chunks)["year"].to_list() == [1999, 1999, 2004, 2026, 2026]
    assert chunks.documents.carried is not None
    assert chunks.documents.carried.column_names == ["year"]


@pytest.mark.parametrize("series", [pl.Series, lambda t: pd.Series(t, dtype="str"), pa.array])
def test_columns(series: Any) -> None:
    assert SPLITTER.split_all(series(PLAIN)) == SPLITTER.split_all(PLAIN)


def test_null_in_the_middle_keeps_the_numbers_of_documents() -> None:
    chunks = cantle.Whole(unit="chars").split_all(pa.array(["a", None, "b"]))
    assert chunks.doc.tolist() == [0, 2]
    assert chunks.ids == ["doc0_whole_0", "doc2_whole_0"]
    assert chunks.documents.texts[1] == ""


def test_chunks_are_a_table_of_texts_too() -> None:
    chunks = SPLITTER.split_all(PLAIN)
    again = cantle.Whole(unit="chars", trim=False).split_all(chunks, id="id")
    assert again.texts == chunks.texts
    assert [name.removesuffix("_whole_0") for name in again.ids] == chunks.ids


IDS: dict[str, Any] = {
    "string": pa.array(["x", "y", "z"]),
    "view": pa.array(["x", "y", "z"], pa.string_view()),
    "int8": pa.array([-1, 0, 1], pa.int8()),
    "uint64": pa.array([0, 1, 2**64 - 1], pa.uint64()),
    "dictionary": pa.array(["x", "y", "z"]).dictionary_encode(),
}


@pytest.mark.parametrize("kind", IDS)
def test_ids(kind: str) -> None:
    want = [str(name) for name in IDS[kind].to_pylist()]
    table = pa.table({"id": IDS[kind], "text": ["a", "b", "c"]})
    whole = cantle.Whole(unit="chars")
    for chunks in (
        whole.split_all(table, id="id"),
        whole.split_all(["a", "b", "c"], ids=IDS[kind]),
    ):
        assert [chunk.source for chunk in chunks] == want
        assert pa.table(chunks)["source"].to_pylist() == want
        assert pickle.loads(pickle.dumps(chunks)).ids == chunks.ids


def table(**columns: Any) -> pa.Table:
    return pa.table(columns)


def bad_utf8() -> pa.Array:
    data = pa.array([b"good", b"ab\xffcd"], pa.binary())
    return pa.Array.from_buffers(pa.string(), 2, data.buffers())


ERRORS: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
    (pa.array([1]), {}, TypeError, "texts must be an Arrow array of strings, not of Int64"),
    (
        pa.array([["a"]]),
        {},
        TypeError,
        "texts must be an Arrow array of strings, not of List(Utf8)",
    ),
    (
        table(body=["a"], n=[1]),
        {},
        cantle.SettingError,
        'text ("text") names no column of texts; its columns: "body" (Utf8), "n" (Int64)',
    ),
    (
        table(text=[1.5]),
        {},
        TypeError,
        'column "text" of texts must hold strings, not Float64',
    ),
    (
        table(text=["a"], id=[1.5]),
        {"id": "id"},
        TypeError,
        'column "id" of texts must hold strings or whole numbers as ids, not Float64',
    ),
    (
        table(text=["a"]),
        {"id": "key"},
        cantle.SettingError,
        'id ("key") names no column of texts; its columns: "text" (Utf8)',
    ),
    (
        pa.table([["a"], ["b"]], names=["text", "text"]),
        {},
        cantle.SettingError,
        'text ("text") names more than one column of texts',
    ),
    (
        pa.array(["a"]),
        {"id": "key"},
        cantle.SettingError,
        'id ("key") names a column, and texts is no table',
    ),
    (["a"], {"id": "key"}, cantle.SettingError, "id ('key') names a column, and texts is no table"),
    (
        table(text=["a"], id=["x"]),
        {"id": "id", "ids": ["x"]},
        cantle.SettingError,
        "id ('id') names a column, and ids are given as well",
    ),
    (
        table(text=["a", "b"], id=["x", None]),
        {"id": "id"},
        cantle.TextError,
        'column "id", row 1 is null',
    ),
    (
        table(text=["a", "b"], id=[1, None]),
        {"id": "id"},
        cantle.TextError,
        'column "id", row 1 is null',
    ),
    (
        table(text=["a", "b"], id=["x", "x"]),
        {"id": "id"},
        cantle.SettingError,
        "ids[1] ('x') is also ids[0]",
    ),
    (
        pa.array(["a"]),
        {"ids": pa.array([1.5])},
        TypeError,
        "ids must be an Arrow array of strings, not of Float64",
    ),
    (pa.array(["a"]), {"ids": pa.array([None], pa.string())}, cantle.TextError, "ids[0] is null"),
    (
        pa.array(["a"]),
        {"ids": ["x", "y"]},
        cantle.SettingError,
        "ids has 2 entries for 1 texts",
    ),
    (
        bad_utf8(),
        {},
        cantle.TextError,
        "texts[1] is not UTF-8: the byte 0xff at position 2 is out of place",
    ),
    (
        pa.chunked_array([pa.array(["a"] * 5), bad_utf8()]),
        {},
        cantle.TextError,
        "texts[6] is not UTF-8: the byte 0xff at position 2 is out of place",
    ),
    (
        pa.array([b"ok", b"\xc3"], pa.binary_view()),
        {},
        cantle.TextError,
        "texts[1] is not UTF-8: the byte 0xc3 at position 0 is out of place",
    ),
    (
        table(text=bad_utf8()),
        {},
        cantle.TextError,
        'column "text", row 1 is not UTF-8: the byte 0xff at position 2 is out of place',
    ),
]


@pytest.mark.parametrize(("texts", "options", "kind", "words"), ERRORS)
def test_errors(texts: Any, options: Any, kind: type[Exception], words: str) -> None:
    calls: list[Any] = [SPLITTER.split_all]
    if "ids has" not in words:  # A stream takes as many ids as it needs.
        calls.append(lambda *a, **k: list(SPLITTER.stream(*a, **k)))
    for call in calls:
        with pytest.raises(kind) as caught:
            call(texts, **options)
        assert str(caught.value) == words
        assert type(caught.value) is kind


def test_the_row_of_a_stream_counts_from_its_start() -> None:
    reader = pa.table({"text": pa.chunked_array([["a"] * 5, bad_utf8()])}).to_reader()
    parts = SPLITTER.stream(reader, batch=3)
    assert len(next(parts)) == 3
    with pytest.raises(cantle.TextError, match='column "text", row 6 is not UTF-8'):
        list(parts)


def test_a_dictionary_value_nobody_uses_is_not_read() -> None:
    values = pa.Array.from_buffers(pa.string(), 2, pa.array([b"ok", b"\xff"]).buffers())
    used = pa.DictionaryArray.from_arrays(pa.array([0, 0], pa.int8()), values)
    assert SPLITTER.split_all(used).texts == ["ok", "ok"]
    bad = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), values)
    with pytest.raises(cantle.TextError, match=r"texts\[1\] is not UTF-8"):
        SPLITTER.split_all(bad)


OFFSETS = {
    "descending": [0, 4, 2],
    "negative": [0, -4, 2],
}


@pytest.mark.parametrize("kind", OFFSETS)
def test_offsets_that_lie(kind: str) -> None:
    offsets = np.array(OFFSETS[kind], np.int32)
    buffers = [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(b"abcdefgh")]
    liar = pa.Array.from_buffers(pa.string(), 2, buffers)
    with pytest.raises(cantle.TextError, match=r"texts\[\d\] lies outside its Arrow buffers"):
        SPLITTER.split_all(liar)


@pytest.mark.parametrize(("buffer", "offset"), [(7, 0), (0, 1_000), (2**31 - 1, 2**31 - 1)])
def test_views_that_lie(buffer: int, offset: int) -> None:
    view = np.array([20, 0, buffer, offset], np.uint32).tobytes()
    liar = pa.Array.from_buffers(
        pa.string_view(), 1, [None, pa.py_buffer(view), pa.py_buffer(b"x" * 20)]
    )
    with pytest.raises(cantle.TextError, match=r"texts\[0\] lies outside its Arrow buffers"):
        SPLITTER.split_all(liar)


def test_keys_that_lie() -> None:
    keys = pa.array([0, 9], pa.int8())
    liar = pa.DictionaryArray.from_arrays(keys, pa.array(["a"]), safe=False)
    with pytest.raises(cantle.TextError, match=r"texts\[1\] lies outside its Arrow buffers"):
        SPLITTER.split_all(liar)


# Producers.


class Twice:
    """Hands out one capsule again and again."""

    def __init__(self, source: Any, name: str) -> None:
        self.capsule = getattr(source, name)()
        setattr(type(self), name, lambda self, requested_schema=None: self.capsule)


def test_a_capsule_consumed_twice() -> None:
    stream = type("S", (Twice,), {})(pa.table({"text": ["a"]}), "__arrow_c_stream__")
    assert SPLITTER.split_all(stream).texts == ["a"]
    with pytest.raises(cantle.TextError, match=r"^texts: the Arrow stream was consumed before$"):
        SPLITTER.split_all(stream)
    array = type("A", (Twice,), {})(pa.array(["a"]), "__arrow_c_array__")
    assert SPLITTER.split_all(array).texts == ["a"]
    with pytest.raises(cantle.TextError, match=r"^texts: the Arrow array was released before$"):
        SPLITTER.split_all(array)


def test_a_reader_consumed_twice() -> None:
    reader = pa.table({"text": ["a"]}).to_reader()
    assert SPLITTER.split_all(reader).texts == ["a"]
    # The reader's own answer: it has come to its end.
    assert len(SPLITTER.split_all(reader).documents) == 0


def test_a_producer_that_fails_midway_says_why() -> None:
    def batches() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"text": ["a"]})
        raise RuntimeError("the disk is gone")

    schema = pa.schema({"text": pa.string()})
    with pytest.raises(cantle.TextError, match="the disk is gone"):
        SPLITTER.split_all(pa.RecordBatchReader.from_batches(schema, batches()))


@pytest.mark.parametrize("answer", [None, 3, (1, 2), ()])
def test_answers_that_are_no_capsules(answer: object) -> None:
    for name in ("__arrow_c_stream__", "__arrow_c_array__"):
        source = type("X", (), {name: lambda self, requested_schema=None: answer})()
        with pytest.raises(TypeError):
            SPLITTER.split_all(source)


def test_a_wrong_capsule() -> None:
    capsule = pa.array(["a"]).__arrow_c_array__()[0]
    source = type("X", (), {"__arrow_c_stream__": lambda self, requested_schema=None: capsule})()
    with pytest.raises(ValueError, match="PyCapsule_GetPointer"):
        SPLITTER.split_all(source)


def test_the_exception_of_a_producer_comes_out_unchanged() -> None:
    def export(self: object, requested_schema: object = None) -> object:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        SPLITTER.split_all(type("X", (), {"__arrow_c_stream__": export})())


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


# Streams.


@pytest.mark.parametrize("batch", [1, 2, 3, 7, 100])
@pytest.mark.parametrize("lengths", [[10], [1] * 10, [3, 0, 7], [9, 1]])
def test_stream_gives_batches_of_the_size_asked_for(batch: int, lengths: list[int]) -> None:
    names = [f"n{i}" for i in range(10)]
    texts = [f"text {i}. more" for i in range(10)]
    whole = pa.table({"text": texts, "id": names, "n": list(range(10))})
    parts, at = [], 0
    for length in lengths:
        parts.append(whole.slice(at, length).to_batches() or [])
        at += length
    reader = pa.RecordBatchReader.from_batches(whole.schema, (b for part in parts for b in part))
    found = list(SPLITTER.stream(reader, batch=batch, id="id"))
    assert [len(part.documents) for part in found] == [
        min(batch, 10 - at) for at in range(0, 10, batch)
    ]
    want = SPLITTER.split_all(texts, ids=names)
    assert [name for part in found for name in part.ids] == want.ids
    assert [text for part in found for text in part.texts] == want.texts
    assert [c.metadata["n"] for part in found for c in part] == want.doc.tolist()


def test_stream_reads_as_it_is_asked() -> None:
    asked = 0

    def batches() -> Iterator[pa.RecordBatch]:
        nonlocal asked
        for _ in range(100):
            asked += 1
            yield pa.record_batch({"text": ["a", "b"]})

    reader = pa.RecordBatchReader.from_batches(pa.schema({"text": pa.string()}), batches())
    stream = SPLITTER.stream(reader, batch=4)
    assert asked == 0
    assert next(stream).ids[0] == "doc0_recursive_0"
    assert asked == 2
    assert next(stream).ids[0] == "doc4_recursive_0"


# Chunks of Arrow texts.


def test_split_within_and_from_spans() -> None:
    arrow, plain = pa.array(TEXTS), PLAIN
    fine = cantle.Window(5, 1, "chars")
    assert fine.split_within(SPLITTER.split_all(arrow)) == fine.split_within(
        SPLITTER.split_all(plain)
    )
    spans = [[(0, len(text))] if text else [] for text in plain]
    assert cantle.Chunks.from_spans(arrow, spans) == cantle.Chunks.from_spans(plain, spans)


def test_rows_that_are_not_there() -> None:
    texts = SPLITTER.split_all(pa.array(["ab"])).documents.texts
    assert isinstance(texts, _core.ArrowTexts)
    assert texts[-1] == "ab"
    for row in (1, -2):
        with pytest.raises(IndexError, match=rf"^text {row} of 1$"):
            texts[row]
    with pytest.raises(ValueError, match=r"^0\.\.3 is no span of text 0$"):
        texts.slice(0, 0, 3)
    with pytest.raises(ValueError, match=r"^0\.\.1 is no span of text 5$"):
        texts.slices([5], [0], [1])


def test_pickles_are_the_same_bytes() -> None:
    nested = pa.array([{"a": [1, 2]}, {"a": None}, None])
    data = {"text": ["a b", "c", "d"], "id": [1, 2, 3], "tags": nested}
    chunks = [SPLITTER.split_all(pa.table(data), id="id") for _ in range(2)]
    first, second = (pickle.dumps(c) for c in chunks)
    assert first == second
    again = pickle.loads(first)
    assert again == chunks[0]
    assert again[0].metadata == {"tags": {"a": [1, 2]}}
    assert copy.deepcopy(chunks[0]) == chunks[0]
    assert pa.table(pickle.loads(pickle.dumps(again.to_arrow()))).equals(pa.table(chunks[0]))


def test_metadata_values() -> None:
    import datetime
    import decimal

    values: dict[str, Any] = {
        "none": None,
        "bool": True,
        "int": -5,
        "float": 1.5,
        "string": "é",
        "bytes": b"\x00\xff",
        "list": [1, None, 3],
        "struct": {"x": 1, "y": ["z"]},
        "date": datetime.date(1969, 12, 31),
        "naive": datetime.datetime(2026, 11, 29, 1, 2, 3, 456),
        "utc": datetime.datetime(1950, 1, 1, tzinfo=datetime.timezone.utc),
        "decimal": decimal.Decimal("-1.25"),
    }
    chunks = SPLITTER.split_all(pa.table({"text": ["a"], **{k: [v] for k, v in values.items()}}))
    assert chunks[0].metadata == values
    assert SPLITTER.split_all(
        pa.table({"text": ["a"], "k": pa.array(["x"]).dictionary_encode()}),
        metadata=[{"own": 1}],
    )[0].metadata == {"k": "x", "own": 1}
    odd = pa.table({"text": ["a"], "d": pa.array([1], pa.duration("s"))})
    with pytest.raises(TypeError, match=r'^column "d" is Duration\(s\), which has no Python value'):
        SPLITTER.split_all(odd)[0].metadata  # noqa: B018


# Out.

OURS = ["id", "source", "doc", "ordinal", "byte_start", "byte_end", "char_start", "char_end"]
OURS += ["size", "flags"]


@pytest.fixture(params=["str", "bytes", "arrow"])
def chunks(request: pytest.FixtureRequest) -> cantle.Chunks:
    texts: Any = PLAIN
    if request.param == "bytes":
        texts = [text.encode() for text in PLAIN]
    if request.param == "arrow":
        texts = pa.array(TEXTS)
    return SPLITTER.split_all(texts, ids=[f"n{i}" for i in range(len(PLAIN))])


def rows(chunks: cantle.Chunks) -> list[dict[str, Any]]:
    found = []
    for chunk in chunks:
        row = {"doc": chunk.doc, **chunk.as_dict()}
        found.append({name: row[name] for name in [*OURS, "text"]})
    return found


READERS: dict[str, Any] = {
    "pyarrow": lambda x: pa.table(x).to_pylist(),
    "polars": lambda x: pl.DataFrame(x).to_dicts(),
    "duckdb": lambda x: duckdb.sql("select * from x").to_arrow_table().to_pylist(),
    "pandas": lambda x: pd.DataFrame.from_arrow(x).to_dict("records"),
    "datasets": lambda x: datasets.Dataset(pa.table(x)).to_list(),
    "ipc": lambda x: through_ipc(pa.table(x)).to_pylist(),
    "parquet": lambda x: through_parquet(pa.table(x)).to_pylist(),
}


def through_ipc(table: pa.Table) -> pa.Table:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return pa.ipc.open_stream(sink.getvalue()).read_all()


def through_parquet(table: pa.Table) -> pa.Table:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return pq.read_table(pa.BufferReader(sink.getvalue()))


@pytest.mark.parametrize("texts", ["large", "view", None])
@pytest.mark.parametrize("reader", READERS)
def test_every_library_reads_it(reader: str, texts: Any, chunks: cantle.Chunks) -> None:
    want = rows(chunks)
    if texts is None:
        want = [{name: row[name] for name in OURS} for row in want]
    assert READERS[reader](chunks.to_arrow(texts)) == want
    if texts == "large":
        assert READERS[reader](chunks) == want


@pytest.mark.parametrize("texts", ["large", "view"])
def test_what_goes_out_is_valid(texts: Any, chunks: cantle.Chunks) -> None:
    for part in (
        chunks,
        chunks[::2],
        chunks[5:6],
        chunks[::-1],
        chunks[chunks.size > 5],
        chunks[:0],
    ):
        table = pa.table(part.to_arrow(texts))
        table.validate(full=True)
        assert table["text"].to_pylist() == part.texts
        assert table["id"].to_pylist() == part.ids
        assert table.schema == pa.table(chunks.to_arrow(texts)).schema


def test_the_schema() -> None:
    chunks = SPLITTER.split_all(PLAIN)
    schema = pa.schema(chunks)
    kinds = {"id": pa.large_string(), "source": pa.large_string(), "flags": pa.uint32()}
    kinds |= {"doc": pa.int32(), "ordinal": pa.int32(), "text": pa.large_string()}
    assert schema.names == [*OURS, "text"]
    assert all(field.type == kinds.get(field.name, pa.int64()) for field in schema)
    assert all(field.nullable for field in schema)
    about = json.loads(schema.metadata[b"cantle"])
    assert about == {"name": "recursive", "unit": "chars", "fingerprint": SPLITTER.fingerprint}
    assert pa.schema(chunks.to_arrow("view")).field("text").type == pa.string_view()
    assert pa.schema(chunks.to_arrow(None)).names == OURS
    assert repr(chunks.to_arrow("view")).endswith("size in chars, texts='view')")
    assert len(chunks.to_arrow()) == len(chunks)


def test_the_schema_does_not_depend_on_the_rows() -> None:
    parents = SPLITTER.split_all(PLAIN)
    fine = cantle.Window(5, 0, "chars")
    children = fine.split_within(parents)
    none = fine.split_within(parents[:0])
    assert len(none) == 0
    assert pa.schema(none) == pa.schema(children)
    assert "parent" in pa.schema(children).names
    assert pa.table(children)["parent"].to_pylist() == children.parent.tolist()
    with_entries = SPLITTER.split_all(["a", "b"], metadata=[{"k": 1}, {}])
    without = SPLITTER.split_all(["a"], metadata=[{}])
    assert pa.schema(with_entries) == pa.schema(without)
    assert pa.table(with_entries)["metadata"].to_pylist() == ['{"k": 1}', "{}"]
    carried = pa.table({"text": pa.array([], pa.string()), "n": pa.array([], pa.int8())})
    empty = SPLITTER.split_all(carried)
    assert pa.schema(empty).names == [*OURS, "text", "n"]
    assert pa.table(empty).num_rows == pl.DataFrame(empty).height == 0


def test_texts_that_are_no_choice() -> None:
    with pytest.raises(cantle.SettingError) as caught:
        SPLITTER.split("a").to_arrow("small")  # type: ignore[arg-type]
    assert str(caught.value) == "texts ('small') must be 'large', 'view' or None"


def test_names_that_are_taken() -> None:
    data = {"text": ["a"], "size": [1], "document_size": [2], "parent": ["p"], "metadata": ["m"]}
    table = pa.table(SPLITTER.split_all(pa.table(data)))
    assert table.schema.names[len(OURS) :] == [
        "text",
        "document_size",
        "document_document_size",
        "document_parent",
        "document_metadata",
    ]
    assert table["document_size"].to_pylist() == [1]


def test_metadata_is_repeated_by_document() -> None:
    entries = [{"k": "é", "n": 1}, {"k": 2}, {"k": "é", "n": 1}]
    chunks = cantle.Window(1, 0, "chars").split_all(["ab", "cd", "e"], metadata=entries)
    column = pa.table(chunks)["metadata"]
    assert column.type == pa.dictionary(pa.int32(), pa.large_string())
    assert column.chunk(0).dictionary.to_pylist() == ['{"k": "é", "n": 1}', '{"k": 2}']
    assert [json.loads(row) for row in column.to_pylist()] == [chunk.metadata for chunk in chunks]
    frame = pd.DataFrame.from_arrow(chunks)
    assert [json.loads(row) for row in frame["metadata"]] == [chunk.metadata for chunk in chunks]
    odd = SPLITTER.split("a", metadata={"k": object()})
    with pytest.raises(TypeError, match=r"^metadata\[0\] cannot be written as JSON: "):
        pa.table(odd)


def test_carried_columns_are_taken_across_batches() -> None:
    parts = [pa.record_batch({"text": [f"a{i} b"], "n": [i], "s": [f"s{i}"]}) for i in range(9)]
    source = pa.Table.from_batches(parts)
    chunks = cantle.Window(1, 0, "words").split_all(source)
    for part in (chunks, chunks[::-1], chunks[3:5], chunks[:1], chunks[[17, 0, 8, 8]]):
        table = pa.table(part)
        assert table["n"].to_pylist() == part.doc.tolist()
        assert table["s"].to_pylist() == [f"s{doc}" for doc in part.doc.tolist()]
    sliced = cantle.Window(1, 0, "words").split_all(source.slice(4, 3))
    assert pa.table(sliced)["n"].to_pylist() == [4, 4, 5, 5, 6, 6]
    kinds = pa.schema(chunks)
    assert (kinds.field("n").type, kinds.field("s").type) == (pa.int64(), pa.string())


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


def test_spans_that_lie_are_refused() -> None:
    columns = {name: np.array([0]) for name in OURS[2:]}
    for wrong in ({"byte_end": 9}, {"byte_start": -1}, {"doc": 7}, {"doc": -1}, {"byte_start": 1}):
        odd = columns | {"byte_end": np.array([2])}
        odd |= {name: np.array([value]) for name, value in wrong.items()}
        chunks = cantle.Chunks(odd, cantle.Documents(["é"]), name="x", unit="chars")
        for texts in ("large", "view"):
            with pytest.raises(pa.ArrowInvalid, match="chunk 0"):
                pa.table(chunks.to_arrow(texts))  # type: ignore[arg-type]


def test_batches_are_bounded() -> None:
    chunks = cantle.Window(1, 0, "chars", trim=False).split_all(["ab" * 50_000] * 2)
    lengths = [batch.num_rows for batch in pa.RecordBatchReader.from_stream(chunks)]
    assert lengths == [65_536, 65_536, 65_536, 3_392]
    large = cantle.Whole(unit="bytes").split_all(["x" * (1 << 24)] * 5)
    batches = list(pa.RecordBatchReader.from_stream(large))
    assert [batch.num_rows for batch in batches] == [2, 2, 1]


def test_every_reading_starts_anew() -> None:
    chunks = SPLITTER.split_all(PLAIN)
    table = chunks.to_arrow()
    assert pa.table(table) == pa.table(table) == pa.table(chunks)
    assert through_ipc(pa.table(chunks)) == through_ipc(pa.table(chunks))


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


def test_import_loads_no_library_of_arrow() -> None:
    code = (
        "import sys, cantle\n"
        "cantle.split('a b').to_arrow('view').__arrow_c_stream__()\n"
        "assert not {'pyarrow', 'polars', 'pandas', 'duckdb'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_structures_that_break_the_format() -> None:
    # A schema without a format, and an array without the buffers of its type: no crash, no panic.
    import ctypes

    class Schema(ctypes.Structure):
        _fields_ = [
            ("format", ctypes.c_char_p),
            ("name", ctypes.c_char_p),
            ("metadata", ctypes.c_char_p),
            ("flags", ctypes.c_int64),
            ("n_children", ctypes.c_int64),
            ("children", ctypes.c_void_p),
            ("dictionary", ctypes.c_void_p),
            ("release", ctypes.c_void_p),
            ("private_data", ctypes.c_void_p),
        ]

    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    for field, words in (("format", "break the rules"), ("release", "was released before")):
        schema, array = pa.array(["a"]).__arrow_c_array__()
        address = pointer(schema, b"arrow_schema")
        assert address is not None
        inside = Schema.from_address(address)
        kept = getattr(inside, field)
        setattr(inside, field, None)
        pair = (schema, array)
        source = type("X", (), {"__arrow_c_array__": lambda self, pair=pair: pair})()
        with pytest.raises(cantle.TextError, match=words):
            SPLITTER.split_all(source)
        if field == "release":
            inside.release = kept
