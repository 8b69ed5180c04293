"""What `cantle chunk` reads beside texts and JSON Lines: tables, packed files, office files."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import sys
import zipfile
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cantle
from cantle.cli import formats
from cli_runs import TEXT, cli, ids, write

TEXTS = [TEXT * n for n in (3, 0, 1, 7)] + ["Grüße 🎉\r\n\r\n日本語の文です。", " \n "]
ROWS = [{"text": text, "key": f"k{i}", "n": i, "x": i / 2} for i, text in enumerate(TEXTS)]
CUT = ["--size", "12", "--unit", "words"]
STRATEGY = cantle.Recursive(12, 0, "words")


pytestmark = pytest.mark.usefixtures("in_own_folder")


def table(rows: list[dict[str, Any]] | None = None) -> pa.Table:
    return pa.Table.from_pylist(ROWS if rows is None else rows)


def as_csv(rows: list[dict[str, Any]], delimiter: str = ",") -> bytes:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def as_parquet(data: pa.Table, **options: Any) -> bytes:
    stream = io.BytesIO()
    pq.write_table(data, stream, **options)
    return stream.getvalue()


def as_arrow(data: pa.Table, *, stream: bool = False, **options: Any) -> bytes:
    file = io.BytesIO()
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(file, data.schema) as writer:
        writer.write_table(data, **options)
    return file.getvalue()


def packed(data: bytes, ending: str) -> bytes:
    return {"": bytes, ".gz": gzip.compress, ".zst": formats.zstd().compress}[ending](data)


def content(ending: str) -> bytes:
    if ending in (".csv", ".tsv"):
        return as_csv(ROWS, "\t" if ending == ".tsv" else ",")
    if ending in (".jsonl", ".ndjson"):
        return "".join(json.dumps(row) + "\n" for row in ROWS).encode()
    return as_parquet(table()) if ending == ".parquet" else as_arrow(table())


# Tables

ENDINGS = [".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".arrow", ".feather", ".ipc"]


@pytest.mark.parametrize("compression", ["", ".gz", ".zst"])
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_row_is_what_the_api_makes_of_it(ending: str, compression: str) -> None:
    name = f"a{ending}{compression}"
    write(f"d/{name}", packed(content(ending), compression))
    plain = str if ending in (".csv", ".tsv") else (lambda value: value)
    chunks = STRATEGY.split_all(
        TEXTS,
        ids=[row["key"] for row in ROWS],
        metadata=[{"n": plain(row["n"]), "x": plain(row["x"])} for row in ROWS],
    )
    result = cli("d", *CUT, "--id-column", "key")
    assert (result.status, result.problems) == (0, [])
    assert result.rows == [chunk.as_dict() for chunk in chunks]
    assert len(result.rows) > 8
    assert cli("d", *CUT, "--id-column", "key", "-j", "1").out == result.out


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_row_without_an_id_is_called_by_its_place(ending: str) -> None:
    write(f"a{ending}", content(ending))
    first = {".csv": 2, ".tsv": 2}.get(ending, 1)
    lines = {source: int(source.split(":")[1]) for source in ids(cli(f"a{ending}"))}
    assert min(lines.values()) == first
    assert list(lines) == [f"a{ending}:{line}" for line in lines.values()]


def test_a_record_of_csv_is_called_by_its_first_line() -> None:
    write("a.csv", 'text,n\n"one\r\ntwo",1\n\n\nthree,2\nfour,3\n')
    result = cli("a.csv")
    assert ids(result) == ["a.csv:2", "a.csv:6", "a.csv:7"]
    assert result.rows[0]["text"] == "one\r\ntwo"
    assert [row["metadata"]["n"] for row in result.rows] == ["1", "2", "3"]


@pytest.mark.parametrize("compression", ["", ".gz", ".zst"])
@pytest.mark.parametrize("ending", [".txt", ".md", ".rst"])
def test_texts_are_read_as_they_are(ending: str, compression: str) -> None:
    text = "<p>One &amp; two.</p>\r\n\r\nGrüße 🎉"
    write(f"d/a{ending}{compression}", packed(text.encode(), compression))
    (row,) = cli("d").rows
    assert (row["source"], row["text"]) == (f"a{ending}{compression}", text)


def test_packed_files_may_have_many_members() -> None:
    for compression in (".gz", ".zst"):
        write(f"a.txt{compression}", packed(b"one ", compression) + packed(b"two", compression))
        assert cli(f"a.txt{compression}").rows[0]["text"] == "one two"


@pytest.mark.parametrize("type", ["string", "large_string", "string_view", "dictionary"])
@pytest.mark.parametrize("form", ["parquet", "file", "stream"])
def test_text_of_every_arrow_type(type: str, form: str) -> None:
    kind = {
        "string": pa.string(),
        "large_string": pa.large_string(),
        "string_view": pa.string_view(),
        "dictionary": pa.dictionary(pa.int32(), pa.string()),
    }[type]
    data = pa.table({"text": pa.array(["one", "two", "two"]).cast(kind)})
    if form == "parquet":
        write("a.parquet", as_parquet(data))
    else:
        write("a.arrow", as_arrow(data, stream=form == "stream"))
    result = cli("a.parquet" if form == "parquet" else "a.arrow")
    assert [row["text"] for row in result.rows] == ["one", "two", "two"]


def test_values_that_json_lacks_are_carried_as_text() -> None:
    at = datetime(2024, 2, 3, 4, 5, 6, tzinfo=timezone.utc)
    columns = {
        "text": ["x"],
        "at": pa.array([at], pa.timestamp("us", "UTC")),
        "ns": pa.array([1_700_000_000_000_000_123], pa.timestamp("ns")),
        "day": pa.array([at.date()]),
        "span": pa.array([timedelta(seconds=2)], pa.duration("s")),
        "price": pa.array([Decimal("1.50")]),
        "nan": pa.array([float("nan")]),
        "kind": pa.array(["a"]).dictionary_encode(),
        "nothing": pa.nulls(1),
        "list": [[1]],
        "blob": [b"\xff"],
    }
    write("a.arrow", as_arrow(pa.table(columns)))
    (row,) = cli("a.arrow").rows
    assert row["metadata"] == {
        "at": "2024-02-03 04:05:06.000000Z",
        "ns": "2023-11-14 22:13:20.000000123",
        "day": "2024-02-03",
        "span": "2",
        "price": "1.50",
        "nan": None,
        "kind": "a",
        "nothing": None,
    }
    (row,) = cli("a.arrow", "--carry", "list,blob").rows
    assert row["metadata"] == {"list": [1], "blob": "/w=="}


@pytest.mark.parametrize("ending", ENDINGS)
def test_carry_names_what_goes_along(ending: str) -> None:
    write(f"a{ending}", content(ending))
    for names, expected in (("x", {"x"}), ("x,key", {"x", "key"}), ("", None)):
        row = cli(f"a{ending}", "--carry", names).rows[0]
        assert (set(row["metadata"]) if "metadata" in row else None) == expected


def test_limit_counts_rows() -> None:
    write("a.parquet", as_parquet(table()))
    write("b.jsonl", '{"text": "b", "key": "b"}\n')
    result = cli("b.jsonl", "a.parquet", "--id-column", "key", "--limit", "3")
    assert ids(result) == ["b", "k0"]  # The third, k1, is empty.
    assert result.err.startswith("3 documents, ")


def test_a_run_holds_a_bounded_number_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[int] = []
    cut = cantle.Recursive.split_all

    def count(self: Any, texts: list[str], **rest: Any) -> cantle.Chunks:
        held.append(len(texts))
        return cut(self, texts, **rest)

    monkeypatch.setattr(cantle.Recursive, "split_all", count)
    monkeypatch.setattr("cantle.cli.arrow_reading.ROWS", 100)
    rows = [{"text": f"row {i}"} for i in range(1_050)]
    write("a.parquet", as_parquet(table(rows), row_group_size=500))
    write("a.arrow", as_arrow(table(rows)))  # One batch of all rows.
    for name in ("a.parquet", "a.arrow"):
        held.clear()
        assert [row["text"] for row in cli(name).rows] == [row["text"] for row in rows]
        assert max(held) == 100
        assert sum(held) == 1_050
    # Fewer rows where they are long.
    monkeypatch.setattr("cantle.cli.arrow_reading._BYTES", 10_000)
    rows = [{"text": f"{i} " + "x" * 1_000} for i in range(100)]
    write("b.parquet", as_parquet(table(rows), use_dictionary=False, compression="none"))
    write("b.arrow", as_arrow(table(rows)))
    for name in ("b.parquet", "b.arrow"):
        held.clear()
        cli(name)
        assert max(held) <= 10
        assert sum(held) == 100


def test_only_the_columns_in_use_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []
    read = pq.ParquetFile.iter_batches

    def note(self: Any, size: int, columns: list[str]) -> Any:
        asked.append(columns)
        return read(self, size, columns=columns)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", note)
    write("a.parquet", as_parquet(table()))
    cli("a.parquet", "--carry", "x", "--id-column", "key")
    assert asked == [["text", "key", "x"]]


# Standard input


@pytest.mark.parametrize("format", ["jsonl", "csv", "tsv", "parquet", "arrow"])
@pytest.mark.parametrize("output", ["-", "out.parquet"])
def test_standard_input_of_every_format(format: str, output: str) -> None:
    result = cli("-", "--format", format, "-o", output, stdin=content(f".{format}"))
    assert (result.status, result.problems) == (0, [])
    rows = result.rows if output == "-" else pq.read_table(output).to_pylist()
    assert [row["text"] for row in rows] == [text for text in map(str.strip, TEXTS) if text]


def test_a_name_that_tells_nothing_is_what_format_says() -> None:
    write("data", "text,n\none,1\n")
    write("data.gz", gzip.compress(b"text,n\ntwo,2\n"))
    write("note.txt", "three")
    result = cli("data", "data.gz", "note.txt", "--format", "csv")
    assert [row["text"] for row in result.rows] == ["one", "two", "three"]
    result = cli("data", "--format", "xlsx")
    assert (result.status, result.err) == (
        2,
        "cantle: --format ('xlsx') must be one of text, html, jsonl, csv, tsv, parquet, arrow\n",
    )


# Office files


def office_files() -> None:
    import openpyxl
    import pptx

    book = openpyxl.Workbook()
    book.active.append(["name", "days"])
    book.active.append(["leave", 25])
    book.save("a.xlsx")
    slides = pptx.Presentation()
    slides.slides.add_slide(slides.slide_layouts[5]).shapes.title.text = "Annual leave"
    slides.save("a.pptx")
    body = "<w:p><w:r><w:t>Staff take leave.</w:t></w:r></w:p>"
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    package = "http://schemas.openxmlformats.org/package/2006"
    main = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
    with zipfile.ZipFile("a.docx", "w") as file:
        file.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{package}/content-types"><Default Extension="rels" ContentType='
            '"application/vnd.openxmlformats-package.relationships+xml"/><Override '
            f'PartName="/word/document.xml" ContentType="{main}"/></Types>',
        )
        file.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{package}/relationships"><Relationship Id="r" '
            f'Type="{relation}" Target="word/document.xml"/></Relationships>',
        )
        file.writestr(
            "word/document.xml", f"<w:document {space}><w:body>{body}</w:body></w:document>"
        )
    page = b"BT /F1 12 Tf 72 720 Td (Leave is for staff.) Tj ET"
    parts = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R"
        b"/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(page), page),
    ]
    data, places = b"%PDF-1.4\n", []
    for i, part in enumerate(parts, 1):
        places.append(len(data))
        data += b"%d 0 obj%s endobj\n" % (i, part)
    rows = b"".join(b"%010d 00000 n \n" % place for place in places)
    table = b"xref\n0 5\n0000000000 65535 f \n%strailer<</Size 5/Root 1 0 R>>\n" % rows
    write("a.pdf", data + table + b"startxref\n%d\n%%%%EOF" % len(data))


def test_office_files_are_read_as_the_markdown_they_convert_to() -> None:
    office_files()
    result = cli(".")
    assert (result.status, result.problems) == (0, [])
    texts = {row["source"]: row["text"] for row in result.rows}
    assert list(texts) == ["a.docx", "a.pdf", "a.pptx", "a.xlsx"]
    assert texts["a.docx"] == "Staff take leave."
    assert texts["a.pdf"] == "Leave is for staff."
    assert "# Annual leave" in texts["a.pptx"]
    assert "| leave | 25 |" in texts["a.xlsx"]


def test_a_damaged_office_file_is_named() -> None:
    write("a.docx", b"PK\x03\x04 not a zip")
    assert cli("a.docx").problems == [
        "cantle: skipped a.docx: cannot be read (markitdown cannot convert it: File is not a zip "
        "file)"
    ]


@pytest.mark.parametrize(
    ("name", "modules", "what"),
    [
        ("a.pdf", ["markitdown"], ("PDF and office files (.pdf .docx .pptx .xlsx)", "docs")),
        ("a.parquet", ["pyarrow"], ("Parquet and Arrow", "arrow")),
        ("a.arrow", ["pyarrow"], ("Parquet and Arrow", "arrow")),
        ("a.txt.zst", ["compression.zstd", "backports.zstd"], ("Zstandard (.zst)", "cli")),
    ],
)
def test_without_its_extra_a_format_names_it(
    name: str, modules: list[str], what: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from cantle.cli import converted

    for module in modules:
        monkeypatch.setitem(sys.modules, module, None)
    for module in ("cantle.cli.arrow_reading", "cantle.cli.arrow_output"):
        monkeypatch.delitem(sys.modules, module, raising=False)
        monkeypatch.delattr(f"cantle.cli.{module[11:]}", raising=False)
    converted._converter.cache_clear()
    write(f"d/{name}", b"x")
    write("d/b.txt")
    needs = f'{what[0]} needs more packages: pip install "cantle[{what[1]}]"'
    result = cli("d")
    assert (result.status, ids(result)) == (1, ["b.txt"])
    assert result.problems == [f"cantle: skipped d/{name}: cannot be read ({needs})"]
    if name != "a.pdf":
        result = cli("d/b.txt", "-o", f"out{name[1:].replace('txt', 'jsonl')}")
        assert result.status == 2
        assert result.err.startswith("cantle: cannot write out.")
        assert result.err.endswith(f": {needs}\n")
        assert sorted(os.listdir()) == ["d"]
