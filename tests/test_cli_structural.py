"""`cantle chunk` over documents with structure: headings, context, prefixes, and HTML."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import cantle
from cli_runs import cli, write
from test_cli_formats import packed

TABLE = "| h |\n|---|\n" + "| cell |\n" * 9
TEXT = f"# A\n\n## B, C\n\nfirst words\n\n{TABLE}"
CUT = ("--strategy", "structural,depth=all", "--size", "40", "--unit", "chars")


pytestmark = pytest.mark.usefixtures("in_own_folder")


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


def test_a_long_path_shows_its_inner_headings_on_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """A path over the width took as many lines as it needed, each of a few words."""
    monkeypatch.setenv("COLUMNS", "80")
    write("a.md", f"# {'Outer ' * 9}\n\n## Inner\n\nWords.\n\n## {'Long ' * 20}\n\nMore.\n")
    result = cli("a.md", "-s", "structural,depth=all", "--table", "--quiet")
    head, *lines = result.out.splitlines()
    assert len(lines) == 2
    assert "… > Inner  " in lines[0]
    assert "… > Long Long" in lines[1]
    assert all(len(line) <= 80 for line in (head, *lines))


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


PAGE = "<title>T\xfc</title><h1>Tea &amp; more</h1>\n<p>Warm the <b>pot</b>.<p>Pour.\n"
LOCATED = ("source_start", "source_end")


@pytest.mark.parametrize("strategy", ["structural,prefix=path", "recursive", "window", "whole"])
@pytest.mark.parametrize("name", ["a.html", "a.HTM", "a.xhtml.gz", "a.html.zst"])
def test_of_html_the_readable_text_is_cut_with_its_place_in_the_file(name, strategy) -> None:
    write(f"d/{name}", packed(PAGE.encode(), Path(name).suffix if "." in name[2:] else ""))
    write("d/b.md", TEXT)
    call = ("d", "--size", "40", "--unit", "chars", "--strategy", strategy)
    if strategy == "whole":
        call = ("d", "--strategy", strategy)
    result = cli(*call)
    assert result.status == 0
    rows = [row for row in result.rows if row["source"] == name]
    text = "\n\n".join(row["text"] for row in rows)
    assert " ".join(text.split()) == "Tea & more Warm the pot. Pour."
    data = PAGE.encode()
    for row in rows:
        part = data[row["source_start"] : row["source_end"]].decode()
        assert part[0] == row["text"][0]
        assert part[-1] == row["text"][-1]
    assert "amp;" in data[rows[0]["source_start"] : rows[0]["source_end"]].decode()
    if strategy.startswith("structural"):
        assert rows[0]["heading_path"] == ["Tea & more"]
        assert rows[0]["embed_text"].startswith("T\xfc > Tea & more\n\n")
    for row in result.rows:
        if row["source"] == "b.md":
            assert [row[column] for column in LOCATED] == [row["byte_start"], row["byte_end"]]
    for output in ("out.csv", "out.parquet"):
        assert cli(*call, "-o", output).status == 0
    table = pq.read_table("out.parquet")
    assert table.column_names == list(result.rows[0])
    assert table.select(LOCATED).to_pylist() == [
        {c: row[c] for c in LOCATED} for row in result.rows
    ]
    with open("out.csv", newline="") as file:
        records = list(csv.DictReader(file))
    assert [int(r["source_end"]) for r in records] == [row["source_end"] for row in result.rows]


def test_html_may_be_cut_as_it_is_written() -> None:
    write("a.html", PAGE)
    (row,) = cli("a.html", "--raw").rows
    assert row["text"] == PAGE.rstrip()
    assert not set(LOCATED) & set(row)
    result = cli("a.html", "--raw", "--strategy", "structural")
    assert result.status == 2
    assert "--raw means nothing to structural" in result.err


@pytest.mark.parametrize("strategy", ["structural", "recursive"])
def test_html_on_standard_input_is_named(strategy: str) -> None:
    (row,) = cli("-", "--format", "html", "--strategy", strategy, stdin=PAGE).rows
    assert row["text"] == "Tea & more\n\nWarm the pot.\n\nPour."
    assert row["source_start"] == PAGE.encode().index(b"Tea")
    chunk = cantle.Recursive().split(cantle.blocks(PAGE, format="html"), id="stdin")[0]
    if strategy == "recursive":
        assert row.items() <= chunk.as_dict().items()
    (row,) = cli("-", stdin=PAGE).rows
    assert row["text"] == PAGE.rstrip()


def test_a_folder_of_chunks_has_the_same_columns_everywhere() -> None:
    write("a.md", TEXT)
    write("b.html", PAGE)
    assert cli("a.md", "-o", "out/").status == 0
    result = cli("a.md", "b.html", "-o", "out/")
    assert result.status == 2
    assert "it holds chunks that were cut with other settings" in result.err


@pytest.mark.parametrize("ending", ["rst", "txt"])
def test_a_packed_file_is_read_by_the_ending_before(ending: str) -> None:
    text = "1. One\n======\n\nwords\n\n2. Two\n======\n\nmore\n"
    for name in (f"a.{ending}", f"a.{ending}.gz"):
        write(name, packed(text.encode(), ".gz" if name.endswith(".gz") else ""))
        rows = cli(name, "--strategy", "structural,depth=all").rows
        assert [row["heading_path"] for row in rows] == [["1. One"], ["2. Two"]]
