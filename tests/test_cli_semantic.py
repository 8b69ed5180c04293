"""Semantic strategies on the command line, and what they cost before anything is spent."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from cli_runs import cli, write

TEXT = "Warm the pot. Then pour the tea. Rain fell. The rain was cold."
KEYWORD = "keyword:tea pot|rain"


@pytest.mark.parametrize(
    ("strategy", "number"),
    [("semantic,distance=0.5", 2), ("optimal", 2), ("document_based", 1)],
)
def test_documents_are_cut_by_meaning(tmp_path, strategy, number):
    file = write(tmp_path / "a.txt", TEXT)
    result = cli(file, "-s", strategy, "--embedder", KEYWORD, "--unit", "words", "--size", "20")
    assert result.status == 0
    assert len(result.rows) == number
    assert result.rows[0]["text"].startswith("Warm the pot.")


LEVELS = "hierarchical:4:0:words,parent_sizes=20/8,distances=9/0.5,name=h"


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet", "arrow", "folder"])
def test_all_levels_are_written(tmp_path, ending):
    for name in "ab":
        write(tmp_path / f"{name}.txt", TEXT)
    inputs = (tmp_path / "a.txt", tmp_path / "b.txt")
    arguments = (*inputs, "-s", LEVELS, "--embedder", KEYWORD)
    rows = cli(*arguments).rows
    assert [(row["id"], row["level"], row["parent_id"]) for row in rows[:2]] == [
        ("a.txt_h_level1_0", 1, None),
        ("b.txt_h_level1_0", 1, None),
    ]
    ids = [row["id"] for row in rows]
    assert len(set(ids)) == len(ids) == 2 * (1 + 2 + 4)
    by_id = {row["id"]: row for row in rows}
    for row in rows[2:]:
        above = by_id[row["parent_id"]]
        assert above["level"] == row["level"] - 1
        assert row["text"] in above["text"]
    out = f"{tmp_path}/out/" if ending == "folder" else tmp_path / f"out.{ending}"
    result = cli(*arguments, "-o", out)
    assert (result.status, "8 chunks" in result.err) == (0, True)
    if ending == "jsonl":
        assert [json.loads(line) for line in out.read_text().splitlines()] == rows
        return
    if ending == "csv":
        found = list(csv.DictReader(out.read_text("utf-8").splitlines()))
        assert [row["parent_id"] for row in found] == [row["parent_id"] or "" for row in rows]
        assert [int(row["level"]) for row in found] == [row["level"] for row in rows]
        return
    pa = pytest.importorskip("pyarrow")
    if ending == "arrow":
        with pa.ipc.open_file(out) as file:
            table = file.read_all()
    else:
        parts = sorted(Path(out).glob("*.parquet")) if ending == "folder" else [out]
        read = pytest.importorskip("pyarrow.parquet").read_table
        table = pa.concat_tables([read(part) for part in parts])
    for name in ("id", "level", "parent_id", "text"):
        assert table.column(name).to_pylist() == [row[name] for row in rows]


def test_nested_needs_no_embedder_and_its_table_shows_the_levels(tmp_path):
    result = cli(write(tmp_path / "a.txt", TEXT), "-s", "nested:4:0:words", "--table")
    assert result.status == 0
    ids = [line.split()[0] for line in result.out.splitlines()[1:]]
    assert ids == ["a.txt_nested_level1_0", "a.txt_nested_level2_0", *ids[2:]]
    assert len(ids) == 2 + 4


def test_an_estimate_embeds_nothing(tmp_path):
    write(tmp_path / "a.txt", TEXT)
    write(tmp_path / "b" / "c.md", "# Tea\n\nPour it.\n")
    spec = "semantic:20:0:words,batch_size=3"
    result = cli(tmp_path / "a.txt", tmp_path / "b", "-s", spec, "--estimate", "--price", "100")
    assert result.status == 0
    assert result.out.splitlines() == [
        "documents  2",
        "texts      6",
        "size       17 words",
        "calls      2 of 3 texts at most",
        "price      0.0017",
    ]
    # A section that fits is not embedded.
    result = cli(tmp_path / "b", "-s", "document_based", "--estimate")
    assert "texts      0\n" in result.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--estimate"], "--estimate means nothing to recursive: it asks no model"),
        (["--price", "1"], "--price means nothing without --estimate"),
        (["-s", "semantic", "--estimate", "-o", "x.csv"], "-o means nothing with --estimate"),
        (["--embedder", KEYWORD], "--embedder means nothing to recursive"),
        (["-s", "semantic", "--embedder", "x"], "--embedder ('x') must be one of 'static'"),
    ],
)
def test_wrong_calls(tmp_path, arguments, message):
    result = cli(write(tmp_path / "a.txt", TEXT), *arguments)
    assert result.status == 2
    assert message in result.err


def test_a_missing_package_is_told_before_anything_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr("cantle.embed.static.find_spec", lambda name: None)
    result = cli(write(tmp_path / "a.txt", TEXT), "-s", "semantic")
    assert result.status == 2
    assert "embedder 'static' needs the word vectors" in result.err
