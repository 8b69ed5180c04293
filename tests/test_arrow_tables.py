"""Chunks as tables of Arrow: every library reads them, under one schema, with what they carry."""

from __future__ import annotations

import json
import subprocess
import sys
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
from arrow_texts import PLAIN, SPLITTER, TEXTS

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


def test_import_loads_no_library_of_arrow() -> None:
    code = (
        "import sys, cantle\n"
        "cantle.split('a b').to_arrow('view').__arrow_c_stream__()\n"
        "assert not {'pyarrow', 'polars', 'pandas', 'duckdb'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
