"""`Rows`: a chunk for each row, of every kind of table, with its header as context."""

from __future__ import annotations

import csv
import datetime
import io
import json
import zipfile

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cantle
from cli_runs import cli, write

TICKETS = "id,state,text\n17,open,The door sticks.\n18,closed,\n,,\n19,open,It leaks.\n"


def test_a_row_is_a_chunk_and_the_first_one_holds_the_header():
    chunks = cantle.Rows(20, unit="words").split(TICKETS, id="tickets.csv")
    assert chunks.texts == [
        "id,state,text\n17,open,The door sticks.",
        "18,closed,",
        ",,",
        "19,open,It leaks.",
    ]
    assert chunks.contexts == ["", *["id,state,text"] * 3]
    assert set(chunks.kind) == {"row"}
    assert not (chunks.flags & cantle.PART).any()
    assert chunks.embed_texts[3] == "id,state,text\n19,open,It leaks."


def test_a_row_without_a_value_is_reported():
    chunks = cantle.Rows(20, unit="words").split(TICKETS, id="tickets.csv")
    assert (chunks.flags & cantle.EMPTY).astype(bool).tolist() == [False, False, True, False]
    report = cantle.check(chunks, min_chars=0)
    assert report.verdict.tolist() == ["kept", "kept", "skip", "kept"]
    assert report.why(2) == ["a row of a table without a value"]


@pytest.mark.parametrize(
    ("text", "id"),
    [
        ("a;b\n1;2,5\n3;4\n", "x.csv"),
        ("a\tb\n1\t2\n3\t4\n", "x.tsv"),
        ("a|b\r\n1|2\r\n3|4\r\n", "x.csv"),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n", "x.md"),
        ("<table><tr><th>a<th>b<tr><td>1<td>2<tr><td>3<td>4</table>", "x.html"),
        ("+---+---+\n| a | b |\n+===+===+\n| 1 | 2 |\n+---+---+\n| 3 | 4 |\n+---+---+\n", "x.rst"),
    ],
)
def test_every_form_of_table(text, id):
    chunks = cantle.Rows(60, unit="chars").split_all([text], ids=[id])
    assert len(chunks) == 2
    assert set(chunks.kind) == {"row"}
    assert "1" in chunks[0].text
    assert "a" in chunks[0].text
    assert "4" in chunks[1].text
    assert "a" in chunks[1].context
    assert "1" not in chunks[1].embed_text


def test_records_keep_their_line_breaks():
    text = 'id,text\n1,"one\ntwo, three"\n2,four\n'
    chunks = cantle.Rows(9, unit="words").split(text, id="x.csv")
    assert chunks.texts == ['id,text\n1,"one\ntwo, three"', "2,four"]


def test_a_long_row_carries_its_key():
    long = " ".join(f"w{i}" for i in range(40))
    text = f"id,state,text,more\n17,open,{long},end\n18,open,short,end\n"
    chunks = cantle.Rows(15, unit="words", keys=2).split(text, id="x.csv")
    assert chunks[0].text.startswith("id,state,text,more\n17,open,")
    parts = chunks[1:-1]
    assert all(chunk.text.startswith("18") for chunk in chunks[-1:])
    assert (parts.flags & cantle.PART).all()
    assert set(parts.contexts) == {"id,state,text,more\n17,open"}
    assert chunks[0].context == ""
    assert chunks[-1].context == "id,state,text,more"
    assert not chunks[-1].flags & cantle.PART
    table = pa.table(chunks).to_pydict()
    assert table["context"][1] == "id,state,text,more\n17,open"
    one = cantle.Rows(15, unit="words").split(text, id="x.csv")
    assert one[1].context == "id,state,text,more\n17"


def test_values_of_marks_alone_are_rows():
    # They were taken for the rules of a drawn table, and went with the row before.
    text = "| f | win |\n|---|---|\n| x | + |\n| - | = |\n| + | + |\n|  | |\n"
    chunks = cantle.Rows(60, unit="words").split(text, id="a.md")
    assert [chunk.text for chunk in chunks[1:]] == ["| - | = |", "| + | + |", "|  | |"]
    assert (chunks.flags & cantle.EMPTY).tolist() == [0, 0, 0, cantle.EMPTY]


def test_a_quote_inside_a_field_is_a_letter():
    text = 'a,b,c\n5" pipe,long and more,z\n'
    chunks = cantle.Rows(2, unit="words").split(text, id="a.csv")
    assert chunks[2].context == 'a,b,c\n5" pipe'
    semicolons = cantle.Rows(9, unit="words").split('5" a;b;c,\n1;2;3\n', id="a.csv")
    assert cantle.facts('5" a;b;c,\n1;2;3\n', id="a.csv").columns == 3
    assert len(semicolons) == 1
    assert cantle.facts('"notes, free; or\nnot"\nOne.\nTwo.\n', id="a.csv").columns == 1
    assert cantle.facts('"a,b"\t"c""d,"\n1\t2\n', id="a.tsv").columns == 2


def test_a_byte_order_mark_is_no_chunk():
    chunks = cantle.Rows(9, unit="words").split("\ufeffa,b\n1,2\n3,4\n", id="a.csv")
    assert chunks.texts == ["\ufeffa,b\n1,2", "3,4"]
    assert chunks.contexts == ["", "a,b"]


def test_prefix_and_row_keep_the_size():
    long = " ".join(f"w{i}" for i in range(40))
    text = f"# Tickets\n\n| id | text |\n|---|---|\n| 17 | {long} |\n| 18 | short |\n"
    chunks = cantle.Rows(30, unit="words", prefix="path").split(text, id="x.md")
    assert len(chunks) > 3
    for chunk in chunks:
        assert len(chunk.embed_text.split()) <= 30
        assert chunk.text in chunk.embed_text
    assert "| 17 |" in chunks[2].context
    assert not chunks[2].flags & cantle.SHORTENED


def test_without_a_header_the_first_record_is_a_row():
    chunks = cantle.Rows(9, unit="words", header=False).split("1,a\n2,b\n", id="x.csv")
    assert chunks.texts == ["1,a", "2,b"]
    assert chunks.contexts == ["", ""]


def test_text_around_tables_is_cut_at_its_blocks():
    text = "# Cost\n\nToday.\n\n## Tea\n\n| a | b |\n|--|--|\n| 1 | 2 |\n| 3 | 4 |\n\nIn euros.\n"
    chunks = cantle.Rows(30, unit="words").split(text, id="x.md")
    assert chunks.kind.tolist() == ["prose", "row", "row", "prose"]
    assert chunks[1].text == "## Tea\n\n| a | b |\n|--|--|\n| 1 | 2 |"
    assert chunks[2].heading_path == ("Cost", "Tea")


def test_workbooks_are_read_sheet_by_sheet(tmp_path):
    from openpyxl import Workbook

    book = Workbook()
    sheet = book.active
    sheet.title = "Ports"
    for row in (["port", "days", "since"], ["Oslo", 3.0, datetime.datetime(2024, 5, 1)]):
        sheet.append(row)
    sheet.append([None, None, None])
    sheet.append(["a|b", "two\nlines", True])
    book.create_sheet("Empty")
    path = tmp_path / "ports.xlsx"
    book.save(path)
    found = cantle.sheets(path)
    chunks = cantle.Rows(40, unit="words").split(found, id="ports.xlsx")
    assert chunks.texts == [
        "Ports\n\n| port | days | since |\n| Oslo | 3 | 2024-05-01 |",
        "|  |  |  |",
        r"| a\|b | two lines | true |",
    ]
    assert chunks.contexts == ["", *["| port | days | since |"] * 2]
    assert (chunks.flags & cantle.EMPTY).astype(bool).tolist() == [False, True, False]
    assert chunks[1].heading_path == ("Ports",)
    assert chunks.page.tolist() == [1, 1, 1]
    (tmp_path / "no.xlsx").write_bytes(b"not a workbook")
    with pytest.raises(cantle.TextError, match=r"no\.xlsx is no workbook: "):
        cantle.sheets(tmp_path / "no.xlsx")


def test_a_broken_workbook_is_named(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["a", "b"])
    book.save(tmp_path / "a.xlsx")
    with zipfile.ZipFile(tmp_path / "a.xlsx") as whole:
        parts = {name: whole.read(name) for name in whole.namelist()}
    assert cantle.sheets(tmp_path / "a.xlsx").text.endswith("| a | b |")
    for broken in ("xl/workbook.xml", "xl/worksheets/sheet1.xml", "[Content_Types].xml"):
        # The reader of XML has errors of its own, which came out as they were.
        with zipfile.ZipFile(tmp_path / "broken.xlsx", "w") as book:
            for name, data in parts.items():
                book.writestr(name, b"<a" if name == broken else data)
        with pytest.raises(cantle.TextError, match=r"broken\.xlsx is no workbook: "):
            cantle.sheets(tmp_path / "broken.xlsx")
    for path in (None, 5):
        with pytest.raises(TypeError, match=r"path \(.*\) must be a path"):
            cantle.sheets(path)


def test_the_command_cuts_a_table_at_its_rows(tmp_path):
    file = write(tmp_path / "tickets.csv", TICKETS)
    result = cli(file, "--strategy", "rows,keys=2", "--check")
    assert [row["text"] for row in result.rows] == [
        "id,state,text\n17,open,The door sticks.",
        "18,closed,",
        "19,open,It leaks.",
    ]
    assert result.rows[1]["context"] == "id,state,text"
    assert result.rows[1]["kind"] == "row"
    assert "left out tickets.csv_rows_2" in result.err


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        ({"keys": -1}, cantle.SettingError, "keys (-1) must not be negative"),
        ({"header": 1}, TypeError, "header (1) must be True or False"),
        ({"format": "x"}, cantle.SettingError, "format ('x') must be one of 'auto', "),
        ({"prefix": 3}, TypeError, "prefix (3) must be a template or None"),
    ],
)
def test_wrong_settings(call, error, message):
    with pytest.raises(error) as raised:
        cantle.Rows(**call)
    assert str(raised.value).startswith(message)


cells = st.text(st.sampled_from("ab ,;|\"\n\r'é"), max_size=6)


@given(
    table=st.lists(st.lists(cells, min_size=2, max_size=4), min_size=2, max_size=6),
    mark=st.sampled_from(",;\t"),
)
def test_the_rows_are_those_of_the_standard_library(table, mark):
    """The oracle is Python's own reader; blank records are none to either."""
    out = io.StringIO()
    csv.writer(out, delimiter=mark, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(table)
    text = out.getvalue()
    form = "tsv" if mark == "\t" else "csv"
    if form == "csv" and text.splitlines()[0].count(mark) < 1:
        return
    chunks = cantle.Rows(2**30, unit="chars", format=form).split(text)
    wanted = list(csv.reader(io.StringIO(text, newline=""), delimiter=mark))
    if mark == ";" and len(wanted[0]) - 1 <= text.partition("\n")[0].count(","):
        return
    assert len(chunks) == max(len(wanted) - 1, 1)
    for chunk, record in zip(chunks[1:], wanted[2:], strict=False):
        (seen,) = csv.reader(io.StringIO(chunk.text, newline=""), delimiter=mark)
        assert [cell.strip() for cell in seen] == [cell.strip() for cell in record]


@pytest.mark.parametrize("strategy", ["rows", "routed"])
def test_the_command_cuts_a_table_whose_name_does_not_tell(tmp_path, strategy):
    """`--format csv` told the reader, not the strategy: a table on standard input was one text."""
    told = write(tmp_path / "ports.csv", "port,days\nOslo,3\nBergen,4\nTurku,9\n")
    untold = write(tmp_path / "ports", told.read_text())
    rows = cli(told, "-s", strategy).rows
    assert [row["kind"] for row in rows] == ["row"] * 3
    keys = ("kind", "context", "text", "byte_start", "byte_end", "size")
    for arguments, stdin in (((untold,), None), (("-",), told.read_text())):
        found = cli(*arguments, "-s", strategy, "--format", "csv", stdin=stdin).rows
        assert [[row[key] for key in keys] for row in found] == [
            [row[key] for key in keys] for row in rows
        ]
        assert "source_start" not in found[0]
    seen = cli("-", "--format", "csv", "--json", "-", stdin=told.read_text(), command="inspect")
    assert json.loads(seen.out)["documents"][0]["route"]["strategy"] == "rows"
