"""`cantle chunk --strategy structural`: headings, context and prefixes on the way out."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import cantle
from cli_runs import cli, write

TABLE = "| h |\n|---|\n" + "| cell |\n" * 9
TEXT = f"# A\n\n## B, C\n\nfirst words\n\n{TABLE}"
CUT = ("--strategy", "structural,depth=all", "--size", "40", "--unit", "chars")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def expected(prefix: str | None = None) -> list[dict[str, object]]:
    strategy = cantle.Structural(40, unit="chars", depth="all", prefix=prefix)
    more = lambda chunk: {} if prefix is None else {"embed_text": chunk.embed_text}  # noqa: E731
    return [chunk.as_dict() | more(chunk) for chunk in strategy.split(TEXT, id="a.md")]


def test_json_lines_hold_kind_path_and_context() -> None:
    write("a.md", TEXT)
    result = cli("a.md", *CUT)
    assert (result.status, result.rows) == (0, expected())
    assert result.rows[-1]["heading_path"] == ["A", "B, C"]
    assert result.rows[-1]["context"] == "| h |\n|---|"


@pytest.mark.parametrize("prefix", [None, "path", "{path}"])
def test_files_hold_the_same(prefix: str | None) -> None:
    write("a.md", TEXT)
    more = () if prefix is None else ("--prefix", prefix)
    for output in ("out.jsonl", "out.csv", "out.parquet"):
        assert cli("a.md", *CUT, *more, "-o", output).status == 0
    rows = expected(prefix)
    assert [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()] == rows
    table = pq.read_table("out.parquet")
    assert table.column_names == list(rows[0])
    typed = [row | {"context": row["context"] or ""} for row in table.to_pylist()]
    assert typed == rows
    with open("out.csv", newline="") as file:
        records = list(csv.DictReader(file))
    assert list(records[0]) == list(rows[0])
    assert [json.loads(r["heading_path"]) for r in records] == [r["heading_path"] for r in rows]
    assert [r["context"] for r in records] == [r["context"] for r in rows]


def test_a_title_of_a_row_stands_before_its_chunks() -> None:
    row = {"text": "# A\n\nwords", "title": "T"}
    write("a.jsonl", json.dumps(row) + "\n")
    result = cli("a.jsonl", "--strategy", "structural", "--prefix", "path")
    assert result.rows[0]["embed_text"] == "T > A\n\n# A\n\nwords"


def test_the_table_shows_headings() -> None:
    write("a.md", TEXT)
    result = cli("a.md", *CUT, "--table", "--quiet", "-o", "out.jsonl")
    head, first = result.out.splitlines()[:2]
    assert head.split() == ["id", "characters", "size", "headings", "first", "words"]
    assert "A > B, C" in first


def test_a_prefix_means_nothing_to_other_strategies() -> None:
    write("a.md", TEXT)
    result = cli("a.md", "--prefix", "path")
    assert result.status == 2
    assert "--prefix means nothing to recursive" in result.err


def test_a_wrong_template_is_named() -> None:
    write("a.md", TEXT)
    result = cli("a.md", "--strategy", "structural", "--prefix", "{head}")
    assert result.status == 2
    assert "names {head}" in result.err
