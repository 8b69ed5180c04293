"""`cantle inspect`: what documents hold, what the router chooses and what it costs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest
from rich.cells import cell_len

import cantle
from cantle.cli.table import figures
from cli_runs import cli, write

GUIDE = "# Guide\n\nWords of it.\n\n## One\n\nMore words.\n\n- a\n- b\n\n## Two\n\nEven more.\n"
SHEET = "port,days\nOslo,3\nBergen,4\n"
DEAL = "\n\n".join(f"{i}.1 The parties agree on point {i}, see clause 1.1." for i in range(1, 7))


@pytest.fixture
def folder(tmp_path):
    for name, text in {"guide.md": GUIDE, "ports.csv": SHEET, "deal.txt": DEAL}.items():
        write(tmp_path / "kb" / name, text)
    return tmp_path / "kb"


def inspect(*arguments):
    return cli(*arguments, "--size", "12", "--unit", "words", command="inspect")


def test_the_table_names_documents_routes_and_strategies(folder):
    result = inspect(folder, "--strategies", "routed,window:12:4")
    assert result.status == 0
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in result.out.splitlines()]
    rows = {line[0]: line for line in lines if line}
    heads = rows["document"]
    guide = dict(zip(heads, rows["guide.md"], strict=True))
    assert guide["headings"] == "3"
    assert guide["lists"] == "2"
    assert (guide["scripts"], guide["strategy"]) == ("Latin", "structural")
    assert rows["ports.csv"][8:] == ["rows", "2", "spreadsheet"]
    assert rows["deal.txt"][8:] == ["clauses", "6", "contract"]
    assert "clauses: four numbered clauses or more" in result.out
    window = dict(zip(rows["strategy"], rows["window:12:4"], strict=True))
    assert window["duplicated"] != "0%"
    assert window["mid-sentence"] != "0%"


def test_json_has_what_the_library_says(folder):
    result = inspect(folder, "--strategies", "structural,window", "--json", "-")
    told = json.loads(result.out)
    assert told["schema"] == 1
    assert told["totals"]["documents"] == 3
    assert told["routes"]["rows (spreadsheet)"] == 1
    (guide,) = [row for row in told["documents"] if row["id"] == "guide.md"]
    assert guide["headings"] == cantle.facts(GUIDE, id="guide.md").headings == 3
    assert guide["route"]["cost"]["chunks"] == guide["route"]["cost"]["embeddings"]
    texts = {"deal.txt": DEAL, "guide.md": GUIDE, "ports.csv": SHEET}
    for row, strategy in zip(told["strategies"], (cantle.Structural, cantle.Window), strict=True):
        chunks = strategy(12, unit="words").split_all(list(texts.values()), ids=list(texts))
        made, faults = row["made"], cantle.boundaries(chunks)
        assert made["chunks"] == made["embeddings"] == len(chunks)
        assert made["stored_bytes"] == sum(len(text.encode()) for text in chunks.texts)
        assert {name: fault["chunks"] for name, fault in made["faults"].items()} == faults.counts
        assert made["faulty"]["chunks"] == faults.any.sum()


def test_what_is_declared_decides(folder, tmp_path):
    sources = write(tmp_path / "sources.toml", '[[source]]\nglob = "*.md"\nstrategy = "sentence"\n')
    told = json.loads(inspect(folder, "--sources", sources, "--json", "-").out)
    (guide,) = [row for row in told["documents"] if row["id"] == "guide.md"]
    assert (guide["route"]["strategy"], guide["route"]["rule"]) == ("sentence", "declared")
    assert told["strategies"][0]["strategy"] == "routed"


def test_a_file_of_json_beside_the_table(folder, tmp_path):
    file = tmp_path / "facts.json"
    result = inspect(folder, "--json", file)
    assert "guide.md" in result.out
    assert json.loads(file.read_text())["totals"]["documents"] == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--strategies", "windows"], "strategy ('windows') must be one of"),
        (["--sources", "nowhere.toml"], "cannot read nowhere.toml"),
        (["--unit", "nothing"], "unit ('nothing') must be one of"),
    ],
)
def test_wrong_calls_are_refused(folder, arguments, message):
    result = cli(folder, *arguments, command="inspect")
    assert result.status == 2
    assert message in result.err


def test_what_cannot_be_read_is_named(folder):
    write(folder / "bad.txt", b"\xff\xfe")
    result = inspect(folder)
    assert result.status == 1
    assert "skipped" in result.err
    assert "guide.md" in result.out


def test_a_text_that_cannot_be_cut_leaves_the_others(folder):
    # It ended the run with a traceback.
    write(folder / "rows.jsonl", '{"text": "\\ud800 half"}\n{"text": "A whole one."}\n')
    result = inspect(folder / "rows.jsonl", "--json", "-")
    assert result.status == 1
    assert "rows.jsonl:1: cannot be cut (the text holds a lone surrogate at" in result.err
    told = json.loads(result.out)
    assert [document["id"] for document in told["documents"]] == ["rows.jsonl:2"]
    assert told["skipped"] == {"cannot be cut": 1}
    assert all(strategy["made"]["chunks"] == 1 for strategy in told["strategies"])


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs the device that is full")
@pytest.mark.parametrize("arguments", [[], ["--json", "-"]])
def test_standard_output_that_is_full_is_told_of(folder, arguments):
    # It ended in a traceback.
    call = [sys.executable, "-m", "cantle", "inspect", str(folder), "-q", *arguments]
    with open("/dev/full", "w") as full:
        done = subprocess.run(call, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    message = "cantle: cannot write standard output: No space left on device\n"
    assert (done.returncode, done.stderr) == (1, message)


def test_what_holds_nothing_has_no_table(tmp_path):
    result = cli(tmp_path / "no.md", command="inspect")
    assert (result.status, result.out) == (1, "")
    assert "no such file" in result.err


def test_rows_that_count_as_cut_tables_are_spoken_of(folder):
    said = "A chunk that is a row of a table is cut off its table on purpose"
    assert said in inspect(folder).out
    assert said not in inspect(folder / "guide.md").out


def test_a_narrow_terminal_gets_a_table_that_fits(monkeypatch, capsys):
    """Folded anywhere, as rich does, figures and words were broken in the middle."""
    heads, lines = ("document", "cuts a table", "form", "rule"), [("a" * 30, "1,234", "x", "why")]
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    for width, shown in ((200, "| document"), (44, "why"), (28, "1,234")):
        monkeypatch.setenv("COLUMNS", str(width))
        figures(heads, lines, spare=("rule", "form"))
        out = re.sub(r"\x1b\[\d*m", "", capsys.readouterr().out)
        assert all(cell_len(line) <= width for line in out.splitlines())
        assert shown in out
        assert "1,234" in out
        assert ("why" in out) == (width > 28)
