"""Texts in Arrow: every encoding and layout, every library that hands them out, streams."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import cantle
from arrow_texts import PLAIN, SPLITTER, TEXTS


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
