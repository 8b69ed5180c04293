"""What `cantle chunk` writes beside JSON Lines: Parquet, Arrow, CSV, packed files, the summary."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cantle
from cantle.cli import formats
from cantle.cli.carried import OWN
from cli_runs import TEXT, cli, write

CUT = ["--size", "6", "--unit", "words"]
SPECIAL = 'Ein "Wort", zwei;\r\n\r\nDrei \u2028 vier 🎉\t\x00.\n\n=SUM(A1)'
NUMBERS = ("ordinal", "byte_start", "byte_end", "char_start", "char_end", "size", "flags")


pytestmark = pytest.mark.usefixtures("in_own_folder")


def read(path: str) -> list[dict[str, Any]]:
    """Return the rows of an output, as a program would read them."""
    data = Path(path).read_bytes()
    if path.endswith(".gz"):
        data = gzip.decompress(data)
    if path.endswith(".zst"):
        data = formats.zstd().decompress(data)
    name = path.removesuffix(".gz").removesuffix(".zst")
    if name.endswith(".parquet"):
        return pq.read_table(path).to_pylist()
    if name.endswith((".arrow", ".feather", ".ipc")):
        with pa.ipc.open_file(path) as reader:
            return reader.read_all().to_pylist()
    if name.endswith(("csv", "tsv")):
        text = io.StringIO(data.decode(), newline="")
        rows: list[dict[str, Any]] = list(
            csv.DictReader(text, delimiter="," if name.endswith("csv") else "\t")
        )
        return [row | {key: int(row[key]) for key in NUMBERS} for row in rows]
    return [json.loads(line) for line in data.decode().split("\n") if line]


OUTPUTS = ["out.jsonl", "out.csv", "out.tsv"]
OUTPUTS = [*OUTPUTS, *(f"{name}{c}" for c in (".gz", ".zst") for name in OUTPUTS)]
TYPED = ["out.parquet", "out.arrow", "out.feather", "out.ipc"]


@pytest.mark.parametrize("output", OUTPUTS + TYPED)
def test_every_output_holds_what_the_api_gives(output: str) -> None:
    write("d/a.txt", TEXT * 20)
    write("d/b.md", SPECIAL * 3)
    write("d/empty.txt", "")
    texts = [TEXT * 20, SPECIAL * 3]
    chunks = cantle.Recursive(6, 0, "words").split_all(texts, ids=["a.txt", "b.md"])
    result = cli("d", *CUT, "-o", output)
    assert (result.status, result.out, result.problems) == (0, "", [])
    assert read(output) == [chunk.as_dict() for chunk in chunks]
    assert sorted(os.listdir()) == ["d", output]
    before = Path(output).read_bytes()
    cli("d", *CUT, "-o", output)
    assert Path(output).read_bytes() == before


def test_own_columns_are_those_of_a_row() -> None:
    assert (*cantle.split("x")[0].as_dict(),) == OWN


@pytest.mark.parametrize("output", TYPED)
def test_an_output_without_chunks_has_its_columns(output: str) -> None:
    write("a.txt", "")
    assert cli("a.txt", "-o", output).status == 0
    assert read(output) == []
    if output == "out.parquet":
        assert pq.read_schema(output).names == list(OWN)


def test_the_file_says_how_it_was_made() -> None:
    write("a.txt")
    cli("a.txt", *CUT, "-o", "out.parquet")
    settings = json.loads(pq.read_schema("out.parquet").metadata[b"cantle"])
    assert settings == {
        "strategy": "recursive",
        "size": 6,
        "overlap": 0,
        "unit": "words",
        "trim": True,
        "separators": None,
        "min_size": 0,
        "name": None,
        "fingerprint": cantle.Recursive(6, 0, "words").fingerprint,
    }


def test_carried_columns_keep_their_types() -> None:
    columns = {
        "text": [TEXT, None, "x"],
        "id": pa.array([7, 8, 9], pa.int16()),
        "at": pa.array([1, 2, 3], pa.timestamp("ns", "UTC")),
        "score": pa.array([0.5, None, float("nan")], pa.float32()),
        "kind": pa.array(["a", "b", "a"]).dictionary_encode(),
        "tags": [["a"], [], None],
        "blob": [b"\xff", b"", None],
    }
    pq.write_table(pa.table(columns), "a.parquet")
    result = cli("a.parquet", *CUT, "-o", "out.arrow")
    assert result.problems == [
        "cantle: skipped a.parquet:2: column 'text' is not text (it is null)"
    ]
    with pa.ipc.open_file("out.arrow") as reader:
        found = reader.read_all()
    expected = {"source_id": pa.int16(), "at": pa.timestamp("ns", "UTC")}
    expected |= {"score": pa.float32(), "kind": pa.string()}
    assert {n: found.schema.field(n).type for n in found.column_names[10:]} == expected
    assert found.column("source_id").to_pylist() == [7, 7, 9]
    assert found.column("at").cast(pa.int64()).to_pylist() == [1, 1, 3]
    assert found.column("kind").to_pylist() == ["a", "a", "a"]

    cli("a.parquet", *CUT, "-o", "out.parquet", "--id-column", "id", "--carry", "blob,tags")
    found = pq.read_table("out.parquet")
    assert found.column_names[10:] == ["blob", "tags"]
    assert found.column("source").to_pylist() == ["7", "7", "9"]
    assert found.column("tags").to_pylist() == [["a"], ["a"], None]
    assert found.column("blob").to_pylist() == [b"\xff", b"\xff", None]


MIXED = {
    "a.csv": b"text,n,only\none,1,o\n",
    "b.jsonl": b'{"text": "two", "n": 2, "tags": [true, null], "e": "\\ud800"}\n'
    b'{"text": "three"}\n',
    "d.txt": b"four",
}


@pytest.mark.parametrize("output", ["out.csv", "out.parquet", "out.arrow"])
def test_inputs_of_different_kinds_go_into_one_table(output: str) -> None:
    for name, content in MIXED.items():
        write(f"d/{name}", content)
    pq.write_table(pa.table({"text": ["five"], "n": [5], "x": [1.5]}), "d/e.parquet")
    assert cli("d", "-o", output).status == 0
    empty = "" if output == "out.csv" else None
    number = "1.5" if output == "out.csv" else 1.5
    rest = '{"tags": [true, null], "e": "\\ud800"}'
    keys = ("text", "n", "only", "x", "metadata")
    assert [tuple(row[key] for key in keys) for row in read(output)] == [
        ("one", "1", "o", empty, empty),
        ("two", "2", empty, empty, rest),
        ("three", empty, empty, empty, empty),
        ("four", empty, empty, empty, empty),
        ("five", "5", empty, number, empty),
    ]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (pa.array([1], pa.int32()), pa.array([2], pa.int64()), [1, 2]),
        (pa.array([1], pa.int64()), pa.array([0.5]), [1.0, 0.5]),
        (pa.array([1]), pa.array(["b"]), ["1", "b"]),
        (pa.nulls(1), pa.array([True]), [None, True]),
        (pa.array(["a"]), pa.array(["b"], pa.large_string()), ["a", "b"]),
        (pa.array([[1]]), pa.array(["b"]), ["[1]", "b"]),
        (pa.array(["a"]), None, ["a", None]),
    ],
)
def test_a_column_that_two_files_type_differently(
    one: pa.Array, other: pa.Array | None, expected: list[object]
) -> None:
    pq.write_table(pa.table({"text": ["x"], "c": one}), "a.parquet")
    second = {"text": ["y"]} | ({} if other is None else {"c": other})
    pq.write_table(pa.table(second), "b.parquet")
    carry = ["--carry", "c"] if pa.types.is_list(one.type) else []
    assert cli("a.parquet", "b.parquet", "-o", "out.parquet", *carry).status == 0
    assert [row["c"] for row in read("out.parquet")] == expected


def test_named_columns_of_json_are_columns_of_text() -> None:
    write("a.jsonl", '{"text": "x", "n": 1, "s": "a", "z": 0}\n{"text": "y", "s": null}\n')
    assert cli("a.jsonl", "-o", "out.parquet", "--carry", "s,n").status == 0
    rows = read("out.parquet")
    assert [tuple(row)[10:] for row in rows] == [("s", "n")] * 2
    assert [(row["s"], row["n"]) for row in rows] == [("a", "1"), (None, None)]


def test_row_groups_and_batches_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    write("a.jsonl", "".join(f'{{"text": "row {i}"}}\n' for i in range(1_000)))
    monkeypatch.setattr("cantle.cli.cutting._DOCUMENTS", 30)
    monkeypatch.setattr("cantle.cli.arrow_output._ROWS", 100)
    cli("a.jsonl", "-o", "out.parquet")
    cli("a.jsonl", "-o", "out.arrow")
    parquet = pq.ParquetFile("out.parquet").metadata
    groups = [parquet.row_group(i).num_rows for i in range(parquet.num_row_groups)]
    with pa.ipc.open_file("out.arrow") as reader:
        parts = [reader.get_batch(i).num_rows for i in range(reader.num_record_batches)]
    assert groups == parts == [120] * 8 + [40]


WRONG = [
    ("out.xlsx", "chunks are written as .jsonl .csv .tsv (also with .gz or .zst) .parquet .arrow"),
    ("out.parquet.gz", "no .gz around parquet: it compresses by itself"),
    ("no/out.parquet", "there is no folder no"),
]


@pytest.mark.parametrize(("output", "message"), WRONG)
def test_an_output_that_cannot_be(output: str, message: str) -> None:
    write("a.txt")
    result = cli("a.txt", "-o", output)
    assert (result.status, result.err) == (2, f"cantle: cannot write {output}: {message}\n")
    assert os.listdir() == ["a.txt"]


# The summary


def test_summary_for_a_program() -> None:
    write("d/a.txt")
    write("d/b.txt", b"\xff")
    write("d/c.jsonl", "{}\n{}\n")
    write("d/picture.png", b"\x89PNG")
    result = cli("d", *CUT, "-o", "out.parquet", "--summary", "s.json")
    assert result.status == 1
    summary = json.loads(Path("s.json").read_text(encoding="utf-8"))
    seconds = summary.pop("seconds")
    assert seconds > 0
    # Both are rounded to three places.
    rate = pytest.approx(len(TEXT) / 1e6 / seconds, rel=0.5, abs=0.001)
    assert summary.pop("mb_per_second") == rate
    assert summary.pop("versions").keys() >= {"cantle", "python", "numpy", "pyarrow"}
    assert summary.pop("settings")["fingerprint"] == cantle.Recursive(6, 0, "words").fingerprint
    assert summary == {
        "documents": 1,
        "chunks": 2,
        "over_limit": 0,
        "bytes": len(TEXT),
        "chunks_left_out": {},
        "chunks_warned": 0,
        "skipped": {"no column 'text'": 2, "not UTF-8": 1},
        "left_out": 1,
        "output": "out.parquet",
    }


@pytest.mark.parametrize(
    ("summary", "message"),
    [
        ("a.txt", "it is also an input"),
        ("no/s.json", "there is no folder no"),
        ("out.jsonl", "it is also the output"),
    ],
)
def test_a_summary_that_cannot_be_written(summary: str, message: str) -> None:
    write("a.txt")
    result = cli("a.txt", "-o", "out.jsonl", "--summary", summary)
    assert (result.status, result.err) == (2, f"cantle: cannot write {summary}: {message}\n")
    assert os.listdir() == ["a.txt"]
